//===- comparison.cpp - comparisons and logic -----------------------------===//
#include "runtime/cpu/tensor_ops/elementwise/maps.h"

namespace sol::ops {

namespace {
#define SOL_RELATION(Name, symbol)                                             \
  struct Name {                                                                \
    template <typename C> bool operator()(C a, C b) const {                    \
      return a symbol b;                                                       \
    }                                                                          \
  };
SOL_RELATION(Equal, ==)
SOL_RELATION(Less, <)
SOL_RELATION(LessOrEqual, <=)
SOL_RELATION(Greater, >)
SOL_RELATION(GreaterOrEqual, >=)
#undef SOL_RELATION

/// bool is stored as bytes, which no arithmetic shares; compare to a small
/// buffer and store it.
template <typename Relation>
absl::Status runRelation(const KernelCall &, KernelContext &context,
                         Inputs inputs, Outputs outputs) {
  withArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    BroadcastPlan plan = planBroadcast(outputs[0].dims, inputs);
    uint8_t *out = outputs[0].as<uint8_t>();
    auto body = [&](int64_t begin, int64_t end) {
      C bufferA[chunkSize], bufferB[chunkSize];
      forEachPiece(
          plan, begin, end,
          [&](int64_t first, int64_t count, const int64_t *offsets) {
            int64_t stepA = plan.step(0), stepB = plan.step(1);
            const C *a =
                viewElements(inputs[0], offsets[0], stepA ? count : 1, bufferA);
            const C *b =
                viewElements(inputs[1], offsets[1], stepB ? count : 1, bufferB);
            binaryRow(a, stepA, b, stepB, out + first, count, Relation());
          });
    };
    context.parallelFor(outputs[0].size(), cheapGrain, body);
  });
  return absl::OkStatus();
}

struct And {
  template <typename C> C operator()(C a, C b) const { return a & b; }
};
struct Or {
  template <typename C> C operator()(C a, C b) const { return a | b; }
};
struct Xor {
  template <typename C> C operator()(C a, C b) const { return a ^ b; }
};

template <typename Op>
absl::Status runLogic(const KernelCall &, KernelContext &context, Inputs inputs,
                      Outputs outputs) {
  mapBinary<uint64_t>(context, inputs, outputs[0], Op());
  return absl::OkStatus();
}

absl::Status runNot(const KernelCall &, KernelContext &context, Inputs inputs,
                    Outputs outputs) {
  mapUnary<uint64_t>(context, inputs[0], outputs[0], cheapGrain,
                     [](uint64_t x) { return uint64_t(x == 0); });
  return absl::OkStatus();
}

template <typename Op> void addRelation(std::string_view name) {
  registerKernel({.name = name,
                  .infer = inferBinary<Domain::NumbersAndBools, true>,
                  .run = runRelation<Op>});
}
template <typename Op> void addLogic(std::string_view name) {
  registerKernel({.name = name,
                  .infer = inferBinary<Domain::Bools, true>,
                  .run = runLogic<Op>,
                  .inPlace = 0});
}
} // namespace

void registerComparisonKernels() {
  addRelation<Equal>("onnx.Equal");
  addRelation<Less>("onnx.Less");
  addRelation<LessOrEqual>("onnx.LessOrEqual");
  addRelation<Greater>("onnx.Greater");
  addRelation<GreaterOrEqual>("onnx.GreaterOrEqual");
  addLogic<And>("onnx.And");
  addLogic<Or>("onnx.Or");
  addLogic<Xor>("onnx.Xor");
  registerKernel({.name = "onnx.Not",
                  .infer = inferUnary<Domain::Bools>,
                  .run = runNot,
                  .inPlace = 0});
}

} // namespace sol::ops
