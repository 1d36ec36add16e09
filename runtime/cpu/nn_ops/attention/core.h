//===- core.h - scaled dot-product attention on rows from anywhere --------===//
//
// The arithmetic that every attention operator shares: scores of a few query
// rows against all visible keys, soft cap, bias, softmax with an optional sink,
// and the weighted sum of values. How queries, keys and values are stored,
// which keys a row sees and where results go is the caller's business.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_ATTENTION_CORE_H
#define SOL_RUNTIME_CPU_NN_OPS_ATTENTION_CORE_H

#include "runtime/cpu/kernel.h"
#include "runtime/cpu/tensor.h"

namespace sol::nn {

/// Keys [begin, end) of a row.
struct KeyRange {
  int64_t begin = 0, end = 0;
};

/// One attention. T is float or double. Callbacks may be called from any
/// worker, and more than once for the same row.
template <typename T> struct AttentionProblem {
  int64_t batch = 0, queryHeads = 0, keyHeads = 0, queries = 0;
  int64_t keys = 0; ///< of the longest row
  int64_t headSize = 0, valueSize = 0;
  T scoreScale = 1; ///< on q.k; 1 if the rows come scaled
  T softcap = 0;    ///< 0: none
  /// Scores are rounded to this type after each step; None: not at all.
  DType scoreType = DType::None;
  /// Compute scores of keys out of the range too, for `scores`.
  bool allScores = false;

  absl::FunctionRef<void(int64_t b, int64_t head, int64_t i, T *row)> query;
  absl::FunctionRef<void(int64_t b, int64_t head, int64_t j, T *row)> key;
  absl::FunctionRef<void(int64_t b, int64_t head, int64_t j, T *row)> value;
  /// Keys that a query may see; within [0, keys).
  absl::FunctionRef<KeyRange(int64_t b, int64_t head, int64_t i)> visible;
  /// Adds to scores[begin..end) what masks and biases say; returns false if the
  /// row is fully masked by that: its result is zero. `plain` true means that
  /// there is no bias at all and it is never called.
  bool plain = true;
  absl::FunctionRef<bool(int64_t b, int64_t head, int64_t i, KeyRange range,
                         T *scores)>
      bias;
  /// The logit of a head's sink, or null: one more term of the softmax's sum.
  const T *sinks = nullptr;
  /// Rounds softmax results (in place) if storage is narrower; may do nothing.
  absl::FunctionRef<void(T *row, int64_t count)> round;
  /// Sees each row's scores: stage 0 raw, 1 after soft cap, 2 with bias, 3
  /// probabilities. Called only if `watched`.
  bool watched = false;
  absl::FunctionRef<void(int stage, int64_t b, int64_t head, int64_t i,
                         const T *scores)>
      scores;
  absl::FunctionRef<void(int64_t b, int64_t head, int64_t i, const T *row)>
      store;
};

/// Sizes that say how much workspace an attention needs.
struct AttentionSizes {
  int64_t batch, queryHeads, keyHeads, queries, keys, headSize, valueSize;
};
/// Elements of workspace for `attend` with that many workers.
int64_t attendWorkspace(int threads, const AttentionSizes &sizes);

/// Runs on all workers; sums do not depend on how rows are grouped. `workspace`
/// holds `attendWorkspace` elements; without it the context is asked for them.
template <typename T>
absl::Status attend(KernelContext &context, const AttentionProblem<T> &problem,
                    T *workspace = nullptr);

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_ATTENTION_CORE_H
