//===- scratch_layout.h - several workspaces in one request ---------------===//
//
// A kernel asks its context for temporary memory once; this lays several arrays
// out in that one piece.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_SCRATCH_LAYOUT_H
#define SOL_RUNTIME_CPU_NN_OPS_SCRATCH_LAYOUT_H

#include "runtime/cpu/kernel.h"

#include "absl/strings/str_cat.h"

namespace sol::nn {

/// Example:
///   ScratchLayout layout;
///   size_t left = layout.add<float>(rows * depth);
///   SOL_NN_TRY(layout.take(context));
///   float *values = layout.at<float>(left);
class ScratchLayout {
public:
  /// Reserves room for `count` elements; returns what `at` takes.
  template <typename T> size_t add(int64_t count) {
    size_t offset = total;
    size_t elements = count > 0 ? static_cast<size_t>(count) : 0;
    if (elements > (size_t(1) << 50) / sizeof(T))
      tooLarge = true;
    else
      total += (elements * sizeof(T) + 63) / 64 * 64;
    return offset;
  }
  /// Asks for the memory; ResourceExhausted if there is none.
  absl::Status take(KernelContext &context) {
    if (!tooLarge && total == 0)
      return absl::OkStatus();
    if (!tooLarge)
      base = static_cast<char *>(context.scratch(total));
    if (!base)
      return absl::ResourceExhaustedError(absl::StrCat(
          "needs ", total, " bytes of temporary memory, which are not there"));
    return absl::OkStatus();
  }
  template <typename T> T *at(size_t offset) const {
    return reinterpret_cast<T *>(base + offset);
  }

private:
  size_t total = 0;
  bool tooLarge = false;
  char *base = nullptr;
};

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_SCRATCH_LAYOUT_H
