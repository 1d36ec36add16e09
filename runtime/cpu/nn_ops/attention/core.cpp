//===- core.cpp - scaled dot-product attention on rows from anywhere ------===//
//
// Work is cut into groups of query rows that share a key head. Keys are taken
// sixteen at a time at absolute positions, so a score is the same chain of
// multiply-adds in whatever company; softmax sums in lanes by absolute key.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/attention/core.h"
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/operands.h"
#include "runtime/cpu/nn_ops/product/tile.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

#include <limits>

namespace sol::nn {
namespace {

constexpr int64_t groupRows = 16;

int64_t padded(int64_t size) {
  return (size + panelWidth - 1) / panelWidth * panelWidth;
}

int64_t groupCount(const AttentionSizes &s) {
  int64_t rows = s.queryHeads / s.keyHeads * s.queries;
  return s.batch * s.keyHeads * ((rows + groupRows - 1) / groupRows);
}

/// Elements that one group works in.
int64_t groupWorkspace(const AttentionSizes &s) {
  int64_t keys = padded(s.keys);
  return groupRows * (keys + s.headSize + panelWidth + padded(s.valueSize)) +
         panelWidth * std::max(keys, s.headSize) +
         std::max(s.headSize, s.valueSize);
}

int64_t pieceCount(int threads, const AttentionSizes &s) {
  return std::max<int64_t>(
      1, std::min<int64_t>(groupCount(s), 4 * int64_t(threads)));
}

/// Buffers and loops for one group of rows.
template <typename T> class Group {
public:
  Group(const AttentionProblem<T> &problem, T *buffer) : p(problem) {
    keys = padded(p.keys);
    scores = buffer;
    queries = scores + groupRows * keys;
    sums = queries + groupRows * p.headSize;
    panel = sums + groupRows * panelWidth;
    results = panel + panelWidth * std::max(keys, p.headSize);
    row = results + groupRows * padded(p.valueSize);
  }

  /// Rows [first, first + count) of the (head in group, query) pairs.
  void run(int64_t batch, int64_t keyHead, int64_t first, int64_t count) {
    b = batch;
    kvHead = keyHead;
    begin = p.keys;
    end = 0;
    for (int64_t r = 0; r < count; ++r) {
      Place &place = places[r];
      place.head =
          kvHead * (p.queryHeads / p.keyHeads) + (first + r) / p.queries;
      place.query = (first + r) % p.queries;
      place.range = p.visible(b, place.head, place.query);
      if (place.range.begin < place.range.end) {
        begin = std::min(begin, place.range.begin);
        end = std::max(end, place.range.end);
      }
      p.query(b, place.head, place.query, queries + r * p.headSize);
    }
    if (p.allScores) {
      begin = 0;
      end = p.keys;
    }
    begin = std::min(begin, end);
    scoreRows(count);
    for (int64_t r = 0; r < count; ++r)
      softmaxRow(places[r], scores + r * keys);
    weighRows(count);
    for (int64_t r = 0; r < count; ++r)
      p.store(b, places[r].head, places[r].query,
              results + r * padded(p.valueSize));
  }

private:
  struct Place {
    int64_t head, query;
    KeyRange range;
  };
  void scoreRows(int64_t count) {
    for (int64_t j = begin / panelWidth * panelWidth; j < end;
         j += panelWidth) {
      for (int64_t c = 0; c < panelWidth; ++c) {
        if (j + c >= begin && j + c < end)
          p.key(b, kvHead, j + c, row);
        else
          std::fill_n(row, p.headSize, T(0));
        for (int64_t d = 0; d < p.headSize; ++d)
          panel[d * panelWidth + c] = row[d];
      }
      multiplyTile(count, p.headSize, queries, p.headSize, panel, panelWidth,
                   sums);
      for (int64_t r = 0; r < count; ++r)
        for (int64_t c = 0; c < panelWidth; ++c)
          scores[r * keys + j + c] = sums[r * panelWidth + c] * p.scoreScale;
    }
  }

  /// Leaves probabilities in [begin, end), zero out of the row's range.
  void softmaxRow(const Place &place, T *s) {
    KeyRange range = place.range;
    auto watch = [&](int stage) {
      if (p.watched)
        p.scores(stage, b, place.head, place.query, s);
    };
    auto roundScores = [&] {
      if (p.scoreType != DType::None)
        roundThrough(p.scoreType, s + begin, end - begin);
    };
    roundScores();
    watch(0);
    if (p.softcap > 0) {
      for (int64_t j = begin; j < end; ++j)
        s[j] = p.softcap * elementary::tanh(s[j] / p.softcap);
      roundScores();
    }
    watch(1);
    bool seen = range.begin < range.end;
    if (seen && !p.plain)
      seen = p.bias(b, place.head, place.query, range, s);
    if (!p.plain)
      roundScores();
    constexpr T masked = -std::numeric_limits<T>::infinity();
    if (p.watched) {
      std::fill(s + begin, s + std::clamp(range.begin, begin, end), masked);
      std::fill(s + std::clamp(range.end, begin, end), s + end, masked);
      watch(2);
    }
    if (seen)
      normalize(place, s);
    else
      range = {begin, begin};
    std::fill(s + begin, s + std::max(begin, range.begin), T(0));
    std::fill(s + std::max(begin, range.end), s + end, T(0));
    if (range.begin < range.end)
      p.round(s + range.begin, range.end - range.begin);
    watch(3);
  }

  void normalize(const Place &place, T *s) {
    auto [from, to] = place.range;
    constexpr T masked = -std::numeric_limits<T>::infinity();
    T sink = p.sinks ? p.sinks[place.head] : masked;
    T most = sink;
    for (int64_t j = from; j < to; ++j)
      most = s[j] > most ? s[j] : most;
    if (most == masked) { // scores that are themselves -inf
      std::fill(s + from, s + to, T(0));
      return;
    }
    for (int64_t j = from; j < to; ++j)
      s[j] = elementary::exp(s[j] - most);
    // Lanes by absolute key, so that keys in front that are out of the window
    // leave the sum as it is.
    T lanes[8] = {};
    for (int64_t j = from; j < to; ++j)
      lanes[j % 8] += s[j];
    T sum = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
            ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
    if (p.sinks)
      sum += elementary::exp(sink - most);
    for (int64_t j = from; j < to; ++j)
      s[j] /= sum;
  }

  void weighRows(int64_t count) {
    int64_t width = padded(p.valueSize);
    for (int64_t column = 0; column < width; column += panelWidth) {
      int64_t columns = std::min(panelWidth, p.valueSize - column);
      for (int64_t j = begin; j < end; ++j) {
        T *to = panel + (j - begin) * panelWidth;
        p.value(b, kvHead, j, row);
        std::copy_n(row + column, columns, to);
        std::fill(to + columns, to + panelWidth, T(0));
      }
      multiplyTile(count, end - begin, scores + begin, keys, panel, panelWidth,
                   sums);
      for (int64_t r = 0; r < count; ++r)
        std::copy_n(sums + r * panelWidth, panelWidth,
                    results + r * width + column);
    }
  }

  const AttentionProblem<T> &p;
  int64_t b = 0, kvHead = 0, keys = 0, begin = 0, end = 0;
  T *scores, *queries, *sums, *panel, *results, *row;
  Place places[groupRows];
};

} // namespace

int64_t attendWorkspace(int threads, const AttentionSizes &sizes) {
  return sizes.keyHeads > 0 ? pieceCount(threads, sizes) * groupWorkspace(sizes)
                            : 0;
}

template <typename T>
absl::Status attend(KernelContext &context, const AttentionProblem<T> &problem,
                    T *workspace) {
  if (problem.batch * problem.queryHeads * problem.queries == 0)
    return absl::OkStatus();
  AttentionSizes sizes{problem.batch,    problem.queryHeads, problem.keyHeads,
                       problem.queries,  problem.keys,       problem.headSize,
                       problem.valueSize};
  int threads = context.threadCount();
  int64_t groups = groupCount(sizes), pieces = pieceCount(threads, sizes);
  int64_t each = groupWorkspace(sizes);
  int64_t rows = problem.queryHeads / problem.keyHeads * problem.queries;
  int64_t perHead = (rows + groupRows - 1) / groupRows;
  if (!workspace) {
    ScratchLayout layout;
    size_t buffers = layout.add<T>(attendWorkspace(threads, sizes));
    SOL_NN_TRY(layout.take(context));
    workspace = layout.at<T>(buffers);
  }
  context.parallelFor(pieces, 1, [&](int64_t firstPiece, int64_t lastPiece) {
    for (int64_t piece = firstPiece; piece < lastPiece; ++piece) {
      Group<T> group(problem, workspace + piece * each);
      for (int64_t g = groups * piece / pieces,
                   last = groups * (piece + 1) / pieces;
           g < last; ++g) {
        int64_t head = g / perHead, first = g % perHead * groupRows;
        group.run(head / problem.keyHeads, head % problem.keyHeads, first,
                  std::min(groupRows, rows - first));
      }
    }
  });
  return absl::OkStatus();
}

template absl::Status attend(KernelContext &, const AttentionProblem<float> &,
                             float *);
template absl::Status attend(KernelContext &, const AttentionProblem<double> &,
                             double *);

} // namespace sol::nn
