//===- kernel.cpp - the registry of kernels -------------------------------===//
//
// One table for the process, filled by registerAllKernels and read by name.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/kernel.h"

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include <deque>
#include <unordered_map>

namespace sol {

namespace {
struct Registry {
  absl::Mutex mutex;
  /// A deque, so that pointers handed out stay valid while it grows.
  std::deque<KernelDefinition> definitions ABSL_GUARDED_BY(mutex);
  std::unordered_map<std::string_view, const KernelDefinition *>
      byName ABSL_GUARDED_BY(mutex);
};

Registry &registry() {
  // Never destroyed: kernels may be looked up while the process exits.
  static Registry *instance = new Registry;
  return *instance;
}
} // namespace

const KernelDefinition *findKernel(std::string_view name) {
  Registry &table = registry();
  absl::ReaderMutexLock lock(&table.mutex);
  auto it = table.byName.find(name);
  return it == table.byName.end() ? nullptr : it->second;
}

void registerKernel(const KernelDefinition &definition) {
  Registry &table = registry();
  absl::MutexLock lock(&table.mutex);
  table.definitions.push_back(definition);
  const KernelDefinition *stored = &table.definitions.back();
  // Erased first, so that the key views the name that lives with the value.
  table.byName.erase(stored->name);
  table.byName.emplace(stored->name, stored);
}

} // namespace sol
