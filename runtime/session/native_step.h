//===- native_step.h - runs the compiled loops of a plan ------------------===//
//
// Inference and execution of a compiled loop, in the two halves that a kernel
// has: the first says what the results will be, the second computes them on
// all workers.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_SESSION_NATIVE_STEP_H
#define SOL_RUNTIME_SESSION_NATIVE_STEP_H

#include "runtime/plan/program.h"

#include "absl/status/status.h"

namespace sol {

/// Sets types and sizes of `outputs` (one for each result) from the operands'
/// sizes. InvalidArgument names the operand, the axis and both sizes where two
/// operands disagree, ResourceExhausted a space of more than 2^63 elements.
/// Example: operands {0, -1} of [3, 1] and {1} of [4] make a result {0, 1} of
/// [3, 4].
absl::Status inferNativeLoop(const ProgramNativeLoop &loop, Inputs inputs,
                             Outputs outputs);

/// Computes the outputs, whose memory is there as inference said. An output
/// may lie where an operand of the same axes and bit width does. Does nothing
/// if no output has an element.
absl::Status runNativeLoop(const ProgramNativeLoop &loop,
                           KernelContext &context, Inputs inputs,
                           Outputs outputs);

} // namespace sol

#endif // SOL_RUNTIME_SESSION_NATIVE_STEP_H
