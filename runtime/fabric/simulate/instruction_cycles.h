//===- instruction_cycles.h - what an instruction takes ------------------===//
//
// Cycles of the instructions that touch only a PE, from the cost library's
// constants of lanes and memory ports. Those of streams are words and starts.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_SIMULATE_INSTRUCTION_CYCLES_H
#define SOL_RUNTIME_FABRIC_SIMULATE_INSTRUCTION_CYCLES_H

#include "machine/cost/local_work.h"
#include "runtime/fabric/program/code_lists.h"

namespace sol::fabric {

/// At least 1. Registers decide counts, so ask before the instruction runs.
int64_t localCycles(const Target &target, const Step &step,
                    const int32_t *registers);

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_SIMULATE_INSTRUCTION_CYCLES_H
