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
struct ShiftLeft {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return b < 64 ? a << b : 0;
  }
};
struct ShiftRight {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return b < 64 ? a >> b : 0;
  }
};

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
    return runBits<ShiftLeft>(call, context, inputs, outputs);
  if (direction == "RIGHT")
    return runBits<ShiftRight>(call, context, inputs, outputs);
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
                  .infer = inferBinary<Domain::Unsigned>,
                  .run = runBitShift,
                  .inPlace = 0});
  registerKernel({.name = "onnx.BitwiseNot",
                  .infer = inferUnary<Domain::Integers>,
                  .run = runBitwiseNot,
                  .inPlace = 0});
}

} // namespace sol::ops
