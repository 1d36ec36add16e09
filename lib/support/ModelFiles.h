//===- ModelFiles.h - the files that hold a model's weights ---------------===//
//
// Maps files of the model's folder on demand and hands out the bytes of spans.
// Never reads outside the folder, whatever a model or a stage's file names.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SUPPORT_MODELFILES_H
#define SOL_LIB_SUPPORT_MODELFILES_H

#include "dialects/nn/NnDialect.h"
#include "lib/support/TensorBytes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

#include <memory>
#include <string>
#include <vector>

namespace sol {

/// Bytes of a tensor: a view of a mapped file, or of `storage` where they had
/// to be decoded. Movable; the view stays valid.
struct TensorData {
  llvm::ArrayRef<char> bytes;
  std::vector<char> storage;
};

/// The files of one model, mapped read-only as they are asked for. Not
/// thread-safe.
class ModelFiles {
public:
  /// `folder` holds the model; `modelFile`, a name in it, may be a link to
  /// elsewhere, because the user named it.
  explicit ModelFiles(std::string folder, std::string modelFile = "");
  /// The files of the model at `path`.
  static ModelFiles ofModel(llvm::StringRef path);

  const std::string &folder() const { return folderPath; }
  const std::string &modelFile() const { return modelName; }

  /// Maps a whole file; `name` is relative to the folder. Fails, saying why,
  /// for an absolute or empty name, a way out of the folder (`..`, links), a
  /// file that is not there or is no regular file.
  mlir::FailureOr<llvm::ArrayRef<char>> map(llvm::StringRef name,
                                            EmitError error);

  /// True if `name` stays inside the folder and no such file is there.
  bool isMissing(llvm::StringRef name);

  /// The bytes of a span as they are in the file.
  mlir::FailureOr<llvm::ArrayRef<char>> bytes(nn::SpanAttr span,
                                              EmitError error);

  /// The elements of a tensor of `type` in ONNX's form (TensorBytes.h).
  mlir::FailureOr<TensorData>
  read(nn::SpanAttr span, mlir::RankedTensorType type, EmitError error);

  /// The span with its XXH3 64-bit hash filled in.
  mlir::FailureOr<nn::SpanAttr> withHash(nn::SpanAttr span, EmitError error);

  /// Lets the system drop the pages of all mapped files from memory; they are
  /// read again when used.
  void dropPages();

private:
  std::string folderPath;
  std::string modelName;
  llvm::StringMap<std::unique_ptr<llvm::sys::fs::mapped_file_region>> mapped;
};

} // namespace sol

#endif // SOL_LIB_SUPPORT_MODELFILES_H
