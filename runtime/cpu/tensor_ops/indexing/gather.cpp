//===- gather.cpp - Gather, GatherElements, GatherND ----------------------===//
//
// Indices are checked before anything is copied, so that an error is found
// before the work is cut into pieces.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/kernel_families.h"
#include "runtime/cpu/tensor_ops/indexing/indexing.h"

#include <algorithm>
#include <cstring>

namespace sol::ops {

absl::Status checkIndexType(const Tensor &indices, std::string_view name) {
  return nn::checkType(indices, name, {DType::I32, DType::I64});
}

absl::Status checkElementwiseIndices(const KernelCall &call, const Tensor &data,
                                     const Tensor &indices) {
  int64_t rank = data.rank();
  SOL_NN_TRY(nn::checkRank(indices, "indices", rank, rank));
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, rank));
  for (int64_t k = 0; k < rank; ++k)
    if (k != axis && indices.dims[k] > data.dims[k])
      return invalid("operand `indices` ", dimsToString(indices.dims),
                     " exceeds the data ", dimsToString(data.dims),
                     " along axis ", k);
  return absl::OkStatus();
}

absl::Status checkIndices(const Tensor &indices, int64_t axis, int64_t size) {
  for (int64_t i = 0, n = indices.size(); i < n; ++i) {
    int64_t index = indexAt(indices, i);
    if (index < -size || index >= size)
      return indexError(index, axis, size);
  }
  return absl::OkStatus();
}

absl::Status checkIndexTuples(const Tensor &indices,
                              absl::Span<const int64_t> dims, int64_t first) {
  int64_t width = indices.dims.back();
  for (int64_t i = 0, n = indices.size(); i < n; ++i) {
    int64_t axis = first + i % width, index = indexAt(indices, i);
    if (index < -dims[axis] || index >= dims[axis])
      return indexError(index, axis, dims[axis]);
  }
  return absl::OkStatus();
}

int64_t tupleOffset(const Tensor &indices, int64_t row,
                    absl::Span<const int64_t> dims, int64_t first) {
  int64_t width = indices.dims.back(), offset = 0;
  for (int64_t i = 0; i < width; ++i)
    offset = offset * dims[first + i] +
             frontIndexAt(indices, row * width + i, dims[first + i]);
  return offset * nn::product(dims, first + width, dims.size());
}

namespace {
absl::Status inferGather(const KernelCall &call, Inputs inputs,
                         Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_TRY(checkIndexType(inputs[1], "indices"));
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  const Dims &data = inputs[0].dims;
  Dims dims(data.begin(), data.begin() + axis);
  dims.insert(dims.end(), inputs[1].dims.begin(), inputs[1].dims.end());
  dims.insert(dims.end(), data.begin() + axis + 1, data.end());
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::Status runGather(const KernelCall &call, KernelContext &context,
                       Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  const Tensor &indices = inputs[1];
  int64_t size = inputs[0].dims[axis];
  SOL_NN_TRY(checkIndices(indices, axis, size));
  return onWholeWords(context, inputs, outputs, [&](Inputs in, Outputs out) {
    const Dims &dims = in[0].dims;
    int64_t bytes =
        wordBytes(in[0].type) * nn::product(dims, axis + 1, dims.size());
    int64_t places = indices.size(), outer = nn::product(dims, 0, axis);
    const char *source = in[0].as<char>();
    char *target = out[0].as<char>();
    int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(1, bytes));
    if (bytes == 0)
      return absl::OkStatus();
    context.parallelFor(outer * places, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t from =
            i / places * size + frontIndexAt(indices, i % places, size);
        std::memcpy(target + i * bytes, source + from * bytes, bytes);
      }
    });
    return absl::OkStatus();
  });
}

absl::Status inferGatherElements(const KernelCall &call, Inputs inputs,
                                 Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_TRY(checkIndexType(inputs[1], "indices"));
  SOL_NN_TRY(checkElementwiseIndices(call, inputs[0], inputs[1]));
  return nn::setOutput(outputs, 0, inputs[0].type, inputs[1].dims);
}

absl::Status runGatherElements(const KernelCall &call, KernelContext &context,
                               Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 0));
  SOL_NN_ASSIGN(axis, nn::frontAxis(axis, inputs[0].rank()));
  const Tensor &indices = inputs[1];
  int64_t size = inputs[0].dims[axis];
  SOL_NN_TRY(checkIndices(indices, axis, size));
  Dims steps = denseSteps(inputs[0].dims);
  return onWholeWords(context, inputs, outputs, [&](Inputs in, Outputs out) {
    withWord(in[0].type, [&](auto word) {
      using W = typename decltype(word)::Type;
      const W *source = in[0].as<W>();
      W *target = out[0].as<W>();
      const Dims &dims = indices.dims;
      context.parallelFor(
          indices.size(), 8192, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              int64_t rest = i, from = 0;
              for (size_t k = dims.size(); k-- > 0; rest /= dims[k])
                from += steps[k] * (static_cast<int64_t>(k) == axis
                                        ? frontIndexAt(indices, i, size)
                                        : rest % dims[k]);
              target[i] = source[from];
            }
          });
    });
    return absl::OkStatus();
  });
}

absl::Status inferGatherND(const KernelCall &call, Inputs inputs,
                           Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_TRY(checkIndexType(inputs[1], "indices"));
  SOL_NN_TRY(nn::checkRank(inputs[1], "indices", 1, 64));
  SOL_NN_ASSIGN(int64_t batch, call.attributes.integer("batch_dims", 0));
  const Dims &data = inputs[0].dims, &index = inputs[1].dims;
  int64_t rank = inputs[0].rank(), width = index.back();
  if (batch < 0 || batch >= inputs[1].rank() || batch + width > rank)
    return invalid("`batch_dims` ", batch, " with indices of shape ",
                   dimsToString(index), " do not fit data of shape ",
                   dimsToString(data));
  for (int64_t k = 0; k < batch; ++k)
    if (data[k] != index[k])
      return invalid("batch axis ", k, " has size ", data[k], " in `data` and ",
                     index[k], " in `indices`");
  Dims dims(index.begin(), index.end() - 1);
  dims.insert(dims.end(), data.begin() + batch + width, data.end());
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

absl::Status runGatherND(const KernelCall &call, KernelContext &context,
                         Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(int64_t batch, call.attributes.integer("batch_dims", 0));
  const Tensor &indices = inputs[1];
  SOL_NN_TRY(checkIndexTuples(indices, inputs[0].dims, batch));
  return onWholeWords(context, inputs, outputs, [&](Inputs in, Outputs out) {
    const Dims &dims = in[0].dims;
    int64_t width = indices.dims.back(), word = wordBytes(in[0].type);
    int64_t bytes = word * nn::product(dims, batch + width, dims.size());
    int64_t whole = nn::product(dims, batch, dims.size());
    int64_t rows = nn::product(indices.dims, 0, indices.dims.size() - 1);
    int64_t perBatch =
        nn::product(indices.dims, batch, indices.dims.size() - 1);
    const char *source = in[0].as<char>();
    char *target = out[0].as<char>();
    if (bytes == 0)
      return absl::OkStatus();
    int64_t grain = std::max<int64_t>(1, 65536 / bytes);
    context.parallelFor(rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t from =
            row / perBatch * whole + tupleOffset(indices, row, dims, batch);
        std::memcpy(target + row * bytes, source + from * word, bytes);
      }
    });
    return absl::OkStatus();
  });
}
} // namespace

void registerGatherKernels() {
  registerKernel(
      {.name = "onnx.Gather", .infer = inferGather, .run = runGather});
  registerKernel({.name = "onnx.GatherElements",
                  .infer = inferGatherElements,
                  .run = runGatherElements});
  registerKernel(
      {.name = "onnx.GatherND", .infer = inferGatherND, .run = runGatherND});
}

} // namespace sol::ops

namespace sol {
void registerIndexingKernels() {
  ops::registerGatherKernels();
  ops::registerScatterKernels();
  ops::registerSelectKernels();
  ops::registerSortKernels();
}
} // namespace sol
