//===- bits.cpp - operators on the bits of integers -----------------------===//
#include "runtime/cpu/tensor_ops/elementwise/maps.h"

namespace sol::ops {

namespace {
// Two's complement makes sign extension harmless, so uint64 serves all widths:
// the store keeps the low bits.
template <typename Op>
absl::Status runBits(const KernelCall &, KernelContext &context, Inputs inputs,
                     Outputs outputs) {
  mapBinary<uint64_t>(context, inputs, outputs[0], Op());
  return absl::OkStatus();
}

struct BitAnd {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a & b; }
};
struct BitOr {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a | b; }
};
struct BitXor {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a ^ b; }
};
// A negative amount, or one beyond the width, leaves the sign's extension
// alone.
struct ShiftLeft {
  template <typename C> C operator()(C a, C b) const {
    return static_cast<uint64_t>(b) < 64
               ? static_cast<C>(static_cast<uint64_t>(a) << b)
               : C(0);
  }
};
struct ShiftRight {
  template <typename C> C operator()(C a, C b) const {
    if (static_cast<uint64_t>(b) < 64)
      return a >> b;
    return std::is_signed_v<C> && a < C(0) ? C(-1) : C(0);
  }
};

template <typename Op>
absl::Status runShift(KernelContext &context, Inputs inputs, Outputs outputs) {
  // Signed types need the sign, so that here two arithmetics are needed.
  if (inputs[0].type == DType::I8 || inputs[0].type == DType::I16 ||
      inputs[0].type == DType::I32 || inputs[0].type == DType::I64)
    mapBinary<int64_t>(context, inputs, outputs[0], Op());
  else
    mapBinary<uint64_t>(context, inputs, outputs[0], Op());
  return absl::OkStatus();
}

absl::Status runBitwiseNot(const KernelCall &, KernelContext &context,
                           Inputs inputs, Outputs outputs) {
  mapUnary<uint64_t>(context, inputs[0], outputs[0], cheapGrain,
                     [](uint64_t x) { return ~x; });
  return absl::OkStatus();
}

absl::Status runBitShift(const KernelCall &call, KernelContext &context,
                         Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(std::string direction, call.attributes.text("direction", ""));
  if (direction == "LEFT")
    return runShift<ShiftLeft>(context, inputs, outputs);
  if (direction == "RIGHT")
    return runShift<ShiftRight>(context, inputs, outputs);
  return invalid("attribute `direction` is `", direction,
                 "`, expected `LEFT` or `RIGHT`");
}

void add(std::string_view name,
         absl::Status (*run)(const KernelCall &, KernelContext &, Inputs,
                             Outputs)) {
  registerKernel({.name = name,
                  .infer = inferBinary<Domain::Integers>,
                  .run = run,
                  .inPlace = 0});
}
} // namespace

void registerBitKernels() {
  add("onnx.BitwiseAnd", runBits<BitAnd>);
  add("onnx.BitwiseOr", runBits<BitOr>);
  add("onnx.BitwiseXor", runBits<BitXor>);
  registerKernel({.name = "onnx.BitShift",
                  .infer = inferBinary<Domain::Integers>,
                  .run = runBitShift,
                  .inPlace = 0});
  registerKernel({.name = "onnx.BitwiseNot",
                  .infer = inferUnary<Domain::Integers>,
                  .run = runBitwiseNot,
                  .inPlace = 0});
}

} // namespace sol::ops
