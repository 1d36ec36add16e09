//===- cache_operand.h - operands that are caches -------------------------===//
//
// A cache reaches a kernel as a Tensor whose data is a KvCache (kv_cache.h).
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_FAST_CACHE_OPERAND_H
#define SOL_RUNTIME_CPU_FAST_CACHE_OPERAND_H

#include "runtime/cpu/kv_cache.h"

#include "absl/status/status.h"

#include <string_view>

namespace sol::fast {

/// The operand has rank 4 and its cache, where there is one already, the same
/// type, batch, heads and head size; an error with both otherwise.
absl::Status checkCache(const Tensor &tensor, const char *name);

} // namespace sol::fast

#endif // SOL_RUNTIME_CPU_FAST_CACHE_OPERAND_H
