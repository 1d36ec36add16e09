//===- hidden_kernel.cpp - a faster `run` over a reference kernel ---------===//
//
// See hidden_kernel.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/fast/hidden_kernel.h"

namespace sol::fast {

void hideKernel(std::string_view name, KernelDefinition &reference,
                decltype(KernelDefinition::run) run) {
  const KernelDefinition *known = findKernel(name);
  if (!known || known->run == run)
    return;
  reference = *known;
  KernelDefinition faster = *known;
  faster.run = run;
  registerKernel(faster);
}

} // namespace sol::fast
