//===- port_check.h - do a caller's tensors fit the plan? -----------------===//
//
// Compares tensors with the sizes that a function declares and finds what its
// symbols stand for.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_SESSION_PORT_CHECK_H
#define SOL_RUNTIME_SESSION_PORT_CHECK_H

#include "runtime/plan/program.h"
#include "runtime/session/size_expression.h"

#include "absl/status/statusor.h"

namespace sol {

/// Checks element types, ranks and sizes of `tensors`, one for each of `ports`;
/// gives the values of the symbols. An error names the input, the axis, both
/// sizes, and where a symbol got its value.
absl::StatusOr<SizeBindings> checkPorts(const std::vector<ProgramPort> &ports,
                                        absl::Span<const Tensor> tensors);

} // namespace sol

#endif // SOL_RUNTIME_SESSION_PORT_CHECK_H
