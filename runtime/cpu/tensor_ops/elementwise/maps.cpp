//===- maps.cpp - checks of elementwise operands; the family's list -------===//
#include "runtime/cpu/tensor_ops/elementwise/maps.h"

#include "runtime/cpu/kernel_families.h"

namespace sol::ops {

absl::Status checkDomain(const Tensor &tensor, std::string_view name,
                         Domain domain) {
  DType type = tensor.type;
  bool wide = bitWidth(type) >= 8;
  bool computable = type == DType::F32 || type == DType::F64 ||
                    type == DType::F16 || type == DType::BF16;
  bool integer = isInteger(type) && wide;
  bool good = false;
  std::string_view wanted;
  switch (domain) {
  case Domain::Floats:
    good = computable;
    wanted = "float16, bfloat16, float32 or float64";
    break;
  case Domain::Numbers:
    good = computable || integer;
    wanted = "an integer of 8 bits or more or a float of 16 bits or more";
    break;
  case Domain::Integers:
    good = integer;
    wanted = "an integer of 8 bits or more";
    break;
  case Domain::Bools:
    good = type == DType::Bool;
    wanted = "bool";
    break;
  case Domain::NumbersAndBools:
    good = computable || integer || type == DType::Bool;
    wanted = "bool, an integer of 8 bits or more or a float of 16 bits or more";
    break;
  }
  if (good)
    return absl::OkStatus();
  return invalid("operand `", std::string(name), "` has element type ",
                 std::string(dtypeName(type)), ", expected ",
                 std::string(wanted));
}

absl::Status inferBroadcastPair(Inputs inputs, Outputs outputs, Domain domain,
                                bool givesBool) {
  SOL_NN_TRY(nn::checkCount(inputs, 2, 2));
  SOL_NN_TRY(checkDomain(inputs[0], "A", domain));
  SOL_NN_TRY(nn::checkSameType(inputs[1], "B", inputs[0].type));
  SOL_NN_ASSIGN(Dims dims, nn::broadcastShapes(inputs[0].dims, inputs[1].dims));
  return nn::setOutput(outputs, 0, givesBool ? DType::Bool : inputs[0].type,
                       dims);
}

} // namespace sol::ops

namespace sol {
void registerElementwiseKernels() {
  ops::registerUnaryKernels();
  ops::registerActivationKernels();
  ops::registerArithmeticKernels();
  ops::registerComparisonKernels();
  ops::registerBitKernels();
  ops::registerVariadicKernels();
  ops::registerSelectionKernels();
}
} // namespace sol
