//===- sort.cpp - TopK and Unique -----------------------------------------===//
//
// NaN counts as larger than any number, as NumPy sorts. Among equals the lower
// index comes first.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/tensor_ops/broadcast.h"
#include "runtime/cpu/tensor_ops/indexing/indexing.h"

#include <numeric>
#include <vector>

namespace sol::ops {

namespace {
template <typename C> bool below(C a, C b) {
  return a < b || (b != b && a == a);
}

absl::Status inferTopK(const KernelCall &call, Inputs inputs, Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -1));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  SOL_NN_ASSIGN(int64_t k, readInteger(inputs[1], "K"));
  Dims dims = inputs[0].dims;
  if (k < 0 || k > dims[axis])
    return invalid("operand `K` is ", k, ", axis ", axis, " has size ",
                   dims[axis]);
  dims[axis] = k;
  if (outputs[0].present())
    SOL_NN_TRY(nn::setOutput(outputs, 0, inputs[0].type, dims));
  if (outputs.size() > 1 && outputs[1].present())
    SOL_NN_TRY(nn::setOutput(outputs, 1, DType::I64, dims));
  return absl::OkStatus();
}

template <typename C>
void topK(KernelContext &context, const Tensor &input, Outputs outputs,
          int64_t axis, int64_t k, bool largest) {
  int64_t n = input.dims[axis];
  int64_t inner = nn::product(input.dims, axis + 1, input.dims.size());
  int64_t rows = nn::product(input.dims, 0, axis) * inner;
  bool indices = outputs.size() > 1 && outputs[1].present();
  int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, n));
  context.parallelFor(rows, grain, [&](int64_t begin, int64_t end) {
    std::vector<C> row(n);
    std::vector<int64_t> order(n);
    for (int64_t r = begin; r < end; ++r) {
      int64_t from = r / inner * n * inner + r % inner;
      if (inner == 1)
        loadElements(input.type, input.data, from, n, row.data());
      else
        for (int64_t i = 0; i < n; ++i)
          loadElements(input.type, input.data, from + i * inner, 1, &row[i]);
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(
          order.begin(), order.begin() + k, order.end(),
          [&](int64_t a, int64_t b) {
            if (largest ? below(row[b], row[a]) : below(row[a], row[b]))
              return true;
            bool equal = !below(row[a], row[b]) && !below(row[b], row[a]);
            return equal && a < b;
          });
      int64_t to = r / inner * k * inner + r % inner;
      for (int64_t i = 0; i < k; ++i) {
        if (outputs[0].present())
          storeElements(outputs[0].type, &row[order[i]], 1, outputs[0].data,
                        to + i * inner);
        if (indices)
          outputs[1].as<int64_t>()[to + i * inner] = order[i];
      }
    }
  });
}

absl::Status runTopK(const KernelCall &call, KernelContext &context,
                     Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -1));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  SOL_NN_ASSIGN(int64_t largest, call.attributes.integer("largest", 1));
  SOL_NN_ASSIGN(int64_t k, readInteger(inputs[1], "K"));
  if (k > 0)
    withArithmetic(inputs[0].type, [&](auto arithmetic) {
      using C = typename decltype(arithmetic)::Type;
      topK<C>(context, inputs[0], outputs, axis, k, largest != 0);
    });
  return absl::OkStatus();
}

/// What Unique finds among the slices along its axis.
struct Distinct {
  std::vector<int64_t> first;   ///< first slice of each distinct value
  std::vector<int64_t> inverse; ///< for each slice, which value it is
  std::vector<int64_t> counts;
};

/// The tensor as [outer, slices, inner]; one slice an element without `axis`.
struct Slices {
  int64_t outer, count, inner;
  int64_t length() const { return outer * inner; }
  int64_t place(int64_t slice, int64_t i) const {
    return (i / inner * count + slice) * inner + i % inner;
  }
};

absl::StatusOr<Slices> slicesOf(const KernelCall &call, const Tensor &input) {
  if (!call.attributes.has("axis"))
    return Slices{1, input.size(), 1};
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, input.rank()));
  return Slices{nn::product(input.dims, 0, axis), input.dims[axis],
                nn::product(input.dims, axis + 1, input.dims.size())};
}

template <typename C>
Distinct distinctSlices(const Tensor &input, const Slices &slices,
                        bool sorted) {
  std::vector<C> values(input.size());
  loadElements(input.type, input.data, 0, input.size(), values.data());
  auto compare = [&](int64_t a, int64_t b) {
    for (int64_t i = 0; i < slices.length(); ++i) {
      C x = values[slices.place(a, i)], y = values[slices.place(b, i)];
      if (below(x, y))
        return -1;
      if (below(y, x))
        return 1;
    }
    return 0;
  };
  std::vector<int64_t> order(slices.count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    int order = compare(a, b);
    return order < 0 || (order == 0 && a < b);
  });
  Distinct result;
  result.inverse.resize(slices.count);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) {
      result.first.push_back(order[i]);
      result.counts.push_back(0);
    }
    ++result.counts.back();
    result.inverse[order[i]] = result.first.size() - 1;
  }
  if (sorted)
    return result;
  // In order of appearance instead.
  std::vector<int64_t> appearance(result.first.size());
  std::iota(appearance.begin(), appearance.end(), 0);
  std::sort(appearance.begin(), appearance.end(), [&](int64_t a, int64_t b) {
    return result.first[a] < result.first[b];
  });
  Distinct renamed = result;
  std::vector<int64_t> newName(appearance.size());
  for (size_t i = 0; i < appearance.size(); ++i) {
    renamed.first[i] = result.first[appearance[i]];
    renamed.counts[i] = result.counts[appearance[i]];
    newName[appearance[i]] = i;
  }
  for (int64_t &name : renamed.inverse)
    name = newName[name];
  return renamed;
}

absl::StatusOr<Distinct> findDistinct(const KernelCall &call, Inputs inputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, 1));
  if (inputs[0].size() > 0 && !inputs[0].data)
    return invalid("the elements of operand `X` must be known to infer the "
                   "result's shape");
  SOL_NN_ASSIGN(Slices slices, slicesOf(call, inputs[0]));
  SOL_NN_ASSIGN(int64_t sorted, call.attributes.integer("sorted", 1));
  return withArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    return distinctSlices<C>(inputs[0], slices, sorted != 0);
  });
}

absl::Status inferUnique(const KernelCall &call, Inputs inputs,
                         Outputs outputs) {
  SOL_NN_ASSIGN(Distinct distinct, findDistinct(call, inputs));
  int64_t count = distinct.first.size(), slices = distinct.inverse.size();
  Dims dims = {count};
  if (call.attributes.has("axis")) {
    SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
    SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
    dims = inputs[0].dims;
    dims[axis] = count;
  }
  for (size_t k = 0; k < outputs.size(); ++k)
    if (outputs[k].present())
      SOL_NN_TRY(nn::setOutput(outputs, k, k ? DType::I64 : inputs[0].type,
                               k == 0   ? dims
                               : k == 2 ? Dims{slices}
                                        : Dims{count}));
  return absl::OkStatus();
}

absl::Status runUnique(const KernelCall &call, KernelContext &context,
                       Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(Distinct distinct, findDistinct(call, inputs));
  SOL_NN_ASSIGN(Slices slices, slicesOf(call, inputs[0]));
  const std::vector<int64_t> *lists[] = {nullptr, &distinct.first,
                                         &distinct.inverse, &distinct.counts};
  for (size_t k = 1; k < outputs.size(); ++k)
    if (outputs[k].present())
      std::copy(lists[k]->begin(), lists[k]->end(), outputs[k].as<int64_t>());
  if (!outputs[0].present())
    return absl::OkStatus();
  Slices target = slices;
  target.count = distinct.first.size();
  return onWholeWords(
      context, inputs, outputs.subspan(0, 1), [&](Inputs in, Outputs out) {
        withWord(in[0].type, [&](auto word) {
          using W = typename decltype(word)::Type;
          for (int64_t v = 0; v < target.count; ++v)
            for (int64_t i = 0; i < slices.length(); ++i)
              out[0].as<W>()[target.place(v, i)] =
                  in[0].as<W>()[slices.place(distinct.first[v], i)];
        });
        return absl::OkStatus();
      });
}
} // namespace

void registerSortKernels() {
  registerKernel({.name = "onnx.TopK", .infer = inferTopK, .run = runTopK});
  registerKernel(
      {.name = "onnx.Unique", .infer = inferUnique, .run = runUnique});
}

} // namespace sol::ops
