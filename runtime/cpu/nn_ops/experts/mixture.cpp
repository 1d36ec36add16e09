//===- mixture.cpp - MoE and QMoE of com.microsoft ------------------------===//
#include "runtime/cpu/nn_ops/experts/families.h"
namespace sol::nn {
void registerExpertMixtureKernels() {}
} // namespace sol::nn
