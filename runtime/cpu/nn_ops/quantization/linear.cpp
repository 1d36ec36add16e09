//===- linear.cpp - quantizing and dequantizing by scale and zero point ---===//
//
// One scale for a tensor, an index of an axis, or a block along an axis; every
// element type of opset 25. Elements are taken in chunks that begin at whole
// bytes, so that workers never share one.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/elements.h"
#include "runtime/cpu/nn_ops/operands.h"
#include "runtime/cpu/nn_ops/quantization/dynamic_scale.h"
#include "runtime/cpu/nn_ops/quantization/families.h"
#include "runtime/cpu/nn_ops/scratch_layout.h"

namespace sol::nn {
namespace {

constexpr int64_t chunkLength = 256;

/// Which scale an element has.
struct ScaleMap {
  int64_t axisSize = 1, inner = 1, block = 0, blocks = 0;
  bool single = false;

  static absl::StatusOr<ScaleMap>
  create(const KernelCall &call, const Tensor &data, const Tensor &scale) {
    ScaleMap map;
    SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", 1));
    SOL_NN_ASSIGN(map.block, call.attributes.integer("block_size", 0));
    if (map.block < 0)
      return invalid("attribute `block_size` is ", map.block,
                     ", must not be negative");
    if (scale.rank() <= 1 && scale.size() == 1 &&
        (map.block == 0 || data.rank() != 1)) {
      map.single = true;
      return map;
    }
    SOL_NN_ASSIGN(axis, frontAxis(axis, data.rank()));
    map.axisSize = data.dims[axis];
    map.inner = product(data.dims, axis + 1, data.dims.size());
    if (map.block == 0) {
      SOL_NN_TRY(checkDims(scale, "scale", {map.axisSize}));
      return map;
    }
    Dims wanted = data.dims;
    map.blocks = map.axisSize / map.block + (map.axisSize % map.block != 0);
    wanted[axis] = map.blocks;
    SOL_NN_TRY(checkDims(scale, "scale", wanted));
    return map;
  }

  /// Fills `values` with the parameter of elements [first, first + count).
  void gather(const Tensor &parameter, int64_t first, int64_t count,
              float *values) const {
    if (single) {
      loadRow(parameter, 0, 1, values);
      std::fill_n(values + 1, count - 1, values[0]);
      return;
    }
    for (int64_t done = 0; done < count;) {
      int64_t element = first + done, i = element % inner;
      int64_t a = element / inner % axisSize,
              outer = element / inner / axisSize;
      int64_t run = inner - i;
      int64_t index = block ? (outer * blocks + a / block) * inner + i : a;
      bool steps = block && inner > 1;
      if (inner == 1) { // neighbours lie along the axis
        run = block ? std::min(block - a % block, axisSize - a) : axisSize - a;
        steps = !block;
      }
      run = std::min(run, count - done);
      loadRow(parameter, index, steps ? run : 1, values + done);
      if (!steps)
        std::fill_n(values + done + 1, run - 1, values[done]);
      done += run;
    }
  }
};

bool isQuantized(DType type) {
  switch (type) {
  case DType::U8:
  case DType::I8:
  case DType::U16:
  case DType::I16:
  case DType::U4:
  case DType::I4:
  case DType::U2:
  case DType::I2:
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F4E2M1:
    return true;
  default:
    return false;
  }
}

absl::Status checkZeroPoint(const Tensor *zero, const Tensor &scale) {
  if (!zero)
    return absl::OkStatus();
  // A scalar and a vector of one are both in use for one zero point.
  if (scale.size() == 1 && zero->size() == 1)
    return absl::OkStatus();
  return checkDims(*zero, "zero_point", scale.dims);
}

template <typename Body>
void forChunks(KernelContext &context, int64_t count, Body body) {
  int64_t chunks = (count + chunkLength - 1) / chunkLength;
  context.parallelFor(chunks, 16, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk)
      body(chunk * chunkLength,
           std::min(chunkLength, count - chunk * chunkLength));
  });
}

//===----------------------------------------------------------------------===//
// QuantizeLinear
//===----------------------------------------------------------------------===//

struct QuantizeCall {
  ScaleMap map;
  DType type = DType::U8, precision = DType::F32;
  bool saturate = true;
  const Tensor *zero = nullptr;
};

absl::StatusOr<QuantizeCall> describeQuantize(const KernelCall &call,
                                              Inputs in) {
  QuantizeCall result;
  SOL_NN_TRY(checkCount(in, 2, 3));
  SOL_NN_TRY(
      checkType(in[0], "x", {DType::F32, DType::F16, DType::BF16, DType::I32}));
  SOL_NN_TRY(checkType(
      in[1], "y_scale",
      {DType::F32, DType::F16, DType::BF16, DType::I32, DType::F8E8M0}));
  result.zero = operandAt(in, 2);
  SOL_NN_TRY(checkZeroPoint(result.zero, in[1]));
  SOL_NN_ASSIGN(int64_t type, call.attributes.integer("output_dtype", 0));
  if (result.zero)
    result.type = result.zero->type;
  else if (type != 0)
    result.type = isKnownDType(static_cast<int>(type))
                      ? static_cast<DType>(type)
                      : DType::None;
  if (result.zero && type != 0 && type != static_cast<int64_t>(result.type))
    return invalid("attribute `output_dtype` is ", type,
                   ", operand `y_zero_point` has type ", dtypeName(result.type),
                   ": they must agree");
  if (!isQuantized(result.type))
    return invalid("the output type ", dtypeName(result.type),
                   " (attribute `output_dtype` or operand `y_zero_point`) is "
                   "no quantized type");
  SOL_NN_ASSIGN(int64_t precision, call.attributes.integer("precision", 0));
  if (precision != 0 && precision != 1 && precision != 10 && precision != 16)
    return invalid("attribute `precision` is ", precision,
                   ", must be 1, 10 or 16");
  result.precision = precision ? static_cast<DType>(precision)
                     : isFloatStorage(in[1].type) ? in[1].type
                                                  : DType::F32;
  SOL_NN_ASSIGN(int64_t saturate, call.attributes.integer("saturate", 1));
  result.saturate = saturate != 0;
  SOL_NN_ASSIGN(result.map, ScaleMap::create(call, in[0], in[1]));
  return result;
}

absl::Status inferQuantize(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(QuantizeCall quantize, describeQuantize(call, in));
  return setOutput(out, 0, quantize.type, in[0].dims);
}

/// Stores whole numbers, clamped to the type's range.
void storeCode(int64_t value, Tensor &out, int64_t index) {
  int bits = bitWidth(out.type);
  bool isSigned = out.type == DType::I8 || out.type == DType::I16 ||
                  out.type == DType::I4 || out.type == DType::I2;
  int64_t least = isSigned ? -(int64_t(1) << (bits - 1)) : 0;
  int64_t most = least + (int64_t(1) << bits) - 1;
  value = std::clamp(value, least, most);
  if (bits == 16)
    out.as<uint16_t>()[index] = static_cast<uint16_t>(value);
  else if (bits == 8)
    out.as<uint8_t>()[index] = static_cast<uint8_t>(value);
  else
    setPackedCode(out.data, index, bits, static_cast<uint8_t>(value));
}

void quantizeChunk(const QuantizeCall &call, Inputs in, Tensor &out,
                   int64_t first, int64_t count) {
  float x[chunkLength], scale[chunkLength], zero[chunkLength] = {};
  loadRow(in[0], first, count, x);
  call.map.gather(in[1], first, count, scale);
  if (call.zero)
    call.map.gather(*call.zero, first, count, zero);
  for (int64_t i = 0; i < count; ++i)
    x[i] /= scale[i];
  roundThrough(call.precision, x, count);
  bool isSmallFloat = isFloat(out.type);
  for (int64_t i = 0; i < count; ++i) {
    if (!isSmallFloat) {
      int64_t whole = clampToInteger(roundEven(x[i]), -(int64_t(1) << 40),
                                     int64_t(1) << 40);
      storeCode(whole + static_cast<int64_t>(zero[i]), out, first + i);
      continue;
    }
    uint8_t code = f32ToSmallFloat(out.type, x[i] + zero[i], call.saturate);
    if (bitWidth(out.type) == 4)
      setPackedCode(out.data, first + i, 4, code);
    else
      out.as<uint8_t>()[first + i] = code;
  }
}

absl::Status runQuantize(const KernelCall &call, KernelContext &context,
                         Inputs in, Outputs out) {
  SOL_NN_ASSIGN(QuantizeCall quantize, describeQuantize(call, in));
  forChunks(context, in[0].size(), [&](int64_t first, int64_t count) {
    quantizeChunk(quantize, in, out[0], first, count);
  });
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// DequantizeLinear
//===----------------------------------------------------------------------===//

struct DequantizeCall {
  ScaleMap map;
  DType type = DType::F32;
  const Tensor *zero = nullptr;
};

absl::StatusOr<DequantizeCall> describeDequantize(const KernelCall &call,
                                                  Inputs in) {
  DequantizeCall result;
  SOL_NN_TRY(checkCount(in, 2, 3));
  if (!isQuantized(in[0].type) && in[0].type != DType::I32)
    return invalid("operand `x` has element type ", dtypeName(in[0].type),
                   ", which is no quantized type");
  SOL_NN_TRY(checkType(in[1], "x_scale",
                       {DType::F32, DType::F16, DType::BF16, DType::F8E8M0}));
  result.zero = operandAt(in, 2);
  if (result.zero)
    SOL_NN_TRY(checkSameType(*result.zero, "x_zero_point", in[0].type));
  SOL_NN_TRY(checkZeroPoint(result.zero, in[1]));
  SOL_NN_ASSIGN(int64_t type, call.attributes.integer("output_dtype", 0));
  result.type = in[1].type == DType::F8E8M0 ? DType::F32 : in[1].type;
  if (type != 0) {
    if (type != 1 && type != 10 && type != 16)
      return invalid("attribute `output_dtype` is ", type,
                     ", must be 1, 10 or 16");
    result.type = static_cast<DType>(type);
  }
  SOL_NN_ASSIGN(result.map, ScaleMap::create(call, in[0], in[1]));
  return result;
}

absl::Status inferDequantize(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(DequantizeCall dequantize, describeDequantize(call, in));
  return setOutput(out, 0, dequantize.type, in[0].dims);
}

absl::Status runDequantize(const KernelCall &call, KernelContext &context,
                           Inputs in, Outputs out) {
  SOL_NN_ASSIGN(DequantizeCall dequantize, describeDequantize(call, in));
  forChunks(context, in[0].size(), [&](int64_t first, int64_t count) {
    float x[chunkLength], scale[chunkLength], zero[chunkLength];
    loadRow(in[0], first, count, x);
    dequantize.map.gather(in[1], first, count, scale);
    if (dequantize.zero) {
      dequantize.map.gather(*dequantize.zero, first, count, zero);
      for (int64_t i = 0; i < count; ++i)
        x[i] -= zero[i];
    }
    for (int64_t i = 0; i < count; ++i)
      x[i] *= scale[i];
    storeRow(x, count, out[0], first);
  });
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// DynamicQuantizeLinear
//===----------------------------------------------------------------------===//

absl::Status inferDynamic(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 1, 1));
  SOL_NN_TRY(checkType(in[0], "x", {DType::F32, DType::F16, DType::BF16}));
  SOL_NN_TRY(setOutput(out, 0, DType::U8, in[0].dims));
  SOL_NN_TRY(setOutput(out, 1, in[0].type, {}));
  return setOutput(out, 2, DType::U8, {});
}

absl::Status runDynamic(const KernelCall &call, KernelContext &context,
                        Inputs in, Outputs out) {
  int64_t count = in[0].size();
  const float *values = in[0].as<float>();
  ScratchLayout layout;
  if (in[0].type != DType::F32) {
    size_t copy = layout.add<float>(count);
    SOL_NN_TRY(layout.take(context));
    float *wide = layout.at<float>(copy);
    loadRow(in[0], 0, count, wide);
    values = wide;
  }
  DynamicScale scale = dynamicScale(values, count);
  if (Tensor *codes = outputAt(out, 0))
    forChunks(context, count, [&](int64_t first, int64_t length) {
      for (int64_t i = first; i < first + length; ++i)
        codes->as<uint8_t>()[i] = scale.quantize(values[i]);
    });
  if (Tensor *target = outputAt(out, 1))
    storeRow(&scale.scale, 1, *target, 0);
  if (Tensor *target = outputAt(out, 2))
    target->as<uint8_t>()[0] = scale.zeroPoint;
  return absl::OkStatus();
}

} // namespace

void registerLinearQuantizationKernels() {
  for (const char *name :
       {"onnx.QuantizeLinear", "onnx.microsoft.QuantizeLinear"})
    registerKernel({name, nullptr, inferQuantize, runQuantize});
  for (const char *name :
       {"onnx.DequantizeLinear", "onnx.microsoft.DequantizeLinear"})
    registerKernel({name, nullptr, inferDequantize, runDequantize});
  registerKernel(
      {"onnx.DynamicQuantizeLinear", nullptr, inferDynamic, runDynamic});
}

} // namespace sol::nn
