//===- lifetime_check.h - are values there when steps read them? ----------===//
//
// Slots are memory that values share one after the other, and a plan says which
// value lies where. This makes sure that no step reads a value before it is
// made or after another took its memory, and that caches reach only what reads
// caches, so that no plan can lead the interpreter to memory that isn't there.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_PLAN_LIFETIME_CHECK_H
#define SOL_RUNTIME_PLAN_LIFETIME_CHECK_H

#include "runtime/plan/program.h"

#include "absl/status/status.h"

namespace sol {

/// Follows all steps in order, both branches of an If, and the body of a Loop
/// twice. InvalidArgument names the step and the value.
absl::Status checkLifetimes(const Program &program);

} // namespace sol

#endif // SOL_RUNTIME_PLAN_LIFETIME_CHECK_H
