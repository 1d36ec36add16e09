//===- rows.cpp - nn.rms_norm, nn.rotary, nn.gate -------------------------===//
//
// Operators that work row by row, in float32 whatever the storage type.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/families.h"
#include "runtime/cpu/fast/operands.h"
#include "runtime/cpu/kernel.h"

#include <algorithm>

namespace sol::fast {
namespace {

using simd::simdKernels;
using simd::Storage;

/// Elements converted at a time where rows may be long.
constexpr int64_t chunk = 1024;

char *elementAt(const Tensor &tensor, int64_t index) {
  return static_cast<char *>(tensor.data) + index * (bitWidth(tensor.type) / 8);
}

absl::Status inferRmsNorm(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 1, 2));
  SOL_NN_TRY(checkStorage(in[0], "x"));
  SOL_NN_TRY(call.attributes.real("epsilon", 0).status());
  if (in[0].rank() < 1)
    return invalid("operand `x` is a scalar, must have rank 1 or more");
  if (const Tensor *scale = operandAt(in, 1)) {
    SOL_NN_TRY(checkStorage(*scale, "scale"));
    SOL_NN_TRY(nn::checkElements(*scale, "scale", in[0].dims.back()));
  }
  return setOutput(out, 0, in[0].type, in[0].dims);
}

absl::Status runRmsNorm(const KernelCall &call, KernelContext &context,
                        Inputs in, Outputs out) {
  const Tensor &x = in[0], *scale = operandAt(in, 1);
  if (x.size() == 0)
    return absl::OkStatus();
  SOL_NN_ASSIGN(float epsilon, call.attributes.real("epsilon", 0));
  int64_t width = x.dims.back(), rows = x.size() / width;
  bool convert = x.type != DType::F32;
  bool widenScale = scale && scale->type != DType::F32;
  ScratchLayout layout;
  size_t rowsAt = layout.add<float>(convert ? x.size() : 0);
  size_t scaleAt = layout.add<float>(widenScale ? width : 0);
  if (convert || widenScale)
    SOL_NN_TRY(layout.take(context));
  const float *factors = scale ? scale->as<float>() : nullptr;
  if (widenScale) {
    factors = layout.at<float>(scaleAt);
    simdKernels().widen(storageOf(scale->type), scale->data,
                        layout.at<float>(scaleAt), width);
  }
  auto normalise = [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float *from = x.as<float>() + row * width;
      float *to = out[0].as<float>() + row * width;
      if (convert) {
        to = layout.at<float>(rowsAt) + row * width;
        from = to;
        simdKernels().widen(storageOf(x.type), elementAt(x, row * width), to,
                            width);
      }
      simdKernels().rmsNormRow(from, factors, to, width, epsilon);
      if (convert)
        simdKernels().narrow(storageOf(x.type), to,
                             elementAt(out[0], row * width), width);
    }
  };
  context.parallelFor(rows, rowGrain(width), normalise);
  return absl::OkStatus();
}

/// The angle tables as [batch, 1, step, R] with steps of the table's own axes.
absl::StatusOr<Dims> tableSteps(const Tensor &x, const Tensor &table,
                                const char *name) {
  SOL_NN_TRY(checkStorage(table, name));
  SOL_NN_TRY(checkRank(table, name, 1, 4));
  int64_t pairs = table.dims.back();
  if (2 * pairs > x.dims[3])
    return invalid("operand `", name, "` turns ", 2 * pairs,
                   " entries, heads have ", x.dims[3]);
  return nn::broadcastSteps(table.dims, {x.dims[0], 1, x.dims[2], pairs}, name);
}

absl::Status inferRotary(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 3, 3));
  SOL_NN_TRY(checkStorage(in[0], "x"));
  SOL_NN_TRY(checkRank(in[0], "x", 4, 4));
  SOL_NN_TRY(call.attributes.integer("interleaved", 0).status());
  SOL_NN_TRY(tableSteps(in[0], in[1], "cos").status());
  SOL_NN_TRY(tableSteps(in[0], in[2], "sin").status());
  if (in[1].dims.back() != in[2].dims.back())
    return invalid("operands `cos` and `sin` have ", in[1].dims.back(), " and ",
                   in[2].dims.back(), " angles, must be equal");
  return setOutput(out, 0, in[0].type, in[0].dims);
}

absl::Status runRotary(const KernelCall &call, KernelContext &context,
                       Inputs in, Outputs out) {
  const Tensor &x = in[0];
  if (x.size() == 0)
    return absl::OkStatus();
  SOL_NN_ASSIGN(int64_t interleaved, call.attributes.integer("interleaved", 0));
  SOL_NN_ASSIGN(Dims cosSteps, tableSteps(x, in[1], "cos"));
  SOL_NN_ASSIGN(Dims sinSteps, tableSteps(x, in[2], "sin"));
  int64_t heads = x.dims[1], steps = x.dims[2], size = x.dims[3];
  int64_t pairs = in[1].dims.back(), rows = x.size() / size;
  bool convert = x.type != DType::F32;
  bool widenCos = in[1].type != DType::F32, widenSin = in[2].type != DType::F32;
  ScratchLayout layout;
  size_t rowsAt = layout.add<float>(convert ? 2 * x.size() : 0);
  size_t cosAt = layout.add<float>(widenCos ? in[1].size() : 0);
  size_t sinAt = layout.add<float>(widenSin ? in[2].size() : 0);
  if (convert || widenCos || widenSin)
    SOL_NN_TRY(layout.take(context));
  auto table = [&](const Tensor &tensor, bool widen, size_t at) {
    if (!widen)
      return tensor.as<float>();
    simdKernels().widen(storageOf(tensor.type), tensor.data,
                        layout.at<float>(at), tensor.size());
    return static_cast<const float *>(layout.at<float>(at));
  };
  const float *cosine = table(in[1], widenCos, cosAt);
  const float *sine = table(in[2], widenSin, sinAt);
  auto rotate = [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t b = row / (heads * steps), s = row % steps;
      const float *from = x.as<float>() + row * size;
      float *to = out[0].as<float>() + row * size;
      if (convert) {
        float *wide = layout.at<float>(rowsAt) + 2 * row * size;
        simdKernels().widen(storageOf(x.type), elementAt(x, row * size), wide,
                            size);
        from = wide;
        to = wide + size;
      }
      simdKernels().rotateRow(from, cosine + b * cosSteps[0] + s * cosSteps[2],
                              sine + b * sinSteps[0] + s * sinSteps[2], to,
                              pairs, interleaved != 0);
      std::copy(from + 2 * pairs, from + size, to + 2 * pairs);
      if (convert)
        simdKernels().narrow(storageOf(x.type), to,
                             elementAt(out[0], row * size), size);
    }
  };
  context.parallelFor(rows, rowGrain(size), rotate);
  return absl::OkStatus();
}

absl::StatusOr<simd::Gate> gateOf(const KernelCall &call) {
  SOL_NN_ASSIGN(std::string name, call.attributes.text("activation", ""));
  constexpr std::pair<std::string_view, simd::Gate> gates[] = {
      {"silu", simd::Gate::Silu},
      {"gelu", simd::Gate::Gelu},
      {"gelu_tanh", simd::Gate::GeluTanh},
      {"relu", simd::Gate::Relu},
      {"sigmoid", simd::Gate::Sigmoid}};
  for (const auto &[known, gate] : gates)
    if (name == known)
      return gate;
  return invalid("attribute `activation` is \"", name,
                 "\", must be silu, gelu, gelu_tanh, relu or sigmoid");
}

absl::Status inferGate(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 2, 2));
  SOL_NN_TRY(checkStorage(in[0], "gate"));
  SOL_NN_TRY(nn::checkSameType(in[1], "up", in[0].type));
  SOL_NN_TRY(checkDims(in[1], "up", in[0].dims));
  SOL_NN_TRY(gateOf(call).status());
  return setOutput(out, 0, in[0].type, in[0].dims);
}

absl::Status runGate(const KernelCall &call, KernelContext &context, Inputs in,
                     Outputs out) {
  SOL_NN_ASSIGN(simd::Gate gate, gateOf(call));
  const Tensor &x = in[0], &up = in[1];
  auto body = [&](int64_t begin, int64_t end) {
    if (x.type == DType::F32) {
      simdKernels().gateRow(gate, x.as<float>() + begin, up.as<float>() + begin,
                            out[0].as<float>() + begin, end - begin);
      return;
    }
    Storage type = storageOf(x.type);
    float wide[2 * chunk];
    for (int64_t i = begin; i < end; i += chunk) {
      int64_t count = std::min(chunk, end - i);
      simdKernels().widen(type, elementAt(x, i), wide, count);
      simdKernels().widen(type, elementAt(up, i), wide + chunk, count);
      simdKernels().gateRow(gate, wide, wide + chunk, wide, count);
      simdKernels().narrow(type, wide, elementAt(out[0], i), count);
    }
  };
  context.parallelFor(x.size(), 4096, body);
  return absl::OkStatus();
}

} // namespace

void registerRowKernels() {
  registerKernel({"nn.rms_norm", nullptr, inferRmsNorm, runRmsNorm, 0});
  registerKernel({"nn.rotary", nullptr, inferRotary, runRotary});
  registerKernel({"nn.gate", nullptr, inferGate, runGate, 0});
}

} // namespace sol::fast
