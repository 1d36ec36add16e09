//===- hidden_kernel.h - a faster `run` over a reference kernel -----------===//
//
// Overrides keep the reference kernel's checks and inference, and call its
// `run` for what they do not handle themselves.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_FAST_HIDDEN_KERNEL_H
#define SOL_RUNTIME_CPU_FAST_HIDDEN_KERNEL_H

#include "runtime/cpu/kernel.h"

namespace sol::fast {

/// Registers a copy of the kernel `name` with another `run`, and keeps the
/// hidden definition in `reference`. Does nothing if there is no such kernel.
void hideKernel(std::string_view name, KernelDefinition &reference,
                decltype(KernelDefinition::run) run);

} // namespace sol::fast

#endif // SOL_RUNTIME_CPU_FAST_HIDDEN_KERNEL_H
