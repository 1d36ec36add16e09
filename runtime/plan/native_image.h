//===- native_image.h - machine code inside a plan ------------------------===//
//
// Verifies the images of a plan, chooses one for this processor and makes it
// executable. The code is trusted as far as its hash goes: a plan is a program.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_PLAN_NATIVE_IMAGE_H
#define SOL_RUNTIME_PLAN_NATIVE_IMAGE_H

#include "runtime/plan/plan_generated.h"

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include <memory>
#include <string_view>
#include <vector>

namespace sol {

/// A section of a plan: `bytes` bytes at `offset` of the file.
struct FileRange {
  std::string_view what; ///< for messages: `the weights`
  uint64_t offset = 0, bytes = 0;
};

/// Checks each image: it has a level of its own, begins at a multiple of 4096,
/// lies in `file`, has its hash, and shares no byte with another image or with
/// `others`. A level that this runtime doesn't know is no error.
/// InvalidArgument names the image.
absl::Status checkNativeImages(const fb::Plan &plan, std::string_view file,
                               absl::Span<const FileRange> others);

/// The levels whose code this process can run, best first, down to `x86-64`:
/// those that processor and system have all of. None on other machines.
/// `SOL_CPU=portable` in the environment leaves `x86-64` alone.
std::vector<std::string_view> runnableLevels();

/// Index of the image to use. FailedPrecondition names the levels that are
/// there and this processor's, and says what to do.
absl::StatusOr<int> chooseNativeImage(const fb::Plan &plan);

/// Code that can be called; it is readable and never writable.
class NativeCode {
public:
  virtual ~NativeCode() = default;
  /// Makes `bytes` of a read-only mapping executable where they lie; copies
  /// them where the system refuses that (a file system mounted without exec) or
  /// they don't begin with a page. The mapping must outlive the object.
  static absl::StatusOr<std::unique_ptr<NativeCode>>
  create(std::string_view bytes);
  /// The first byte.
  virtual const char *data() const = 0;
};

} // namespace sol

#endif // SOL_RUNTIME_PLAN_NATIVE_IMAGE_H
