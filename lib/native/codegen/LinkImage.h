//===- LinkImage.h - from an object file to an image for the plan ---------===//
//
// Links in process and checks what came out: one read-only, executable piece
// that can lie anywhere in memory, imports nothing and needs no relocation.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_CODEGEN_LINKIMAGE_H
#define SOL_LIB_NATIVE_CODEGEN_LINKIMAGE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <string>

namespace sol::native {

struct LinkedImage {
  std::string bytes;
  llvm::StringMap<uint64_t> entries; ///< where each function begins
};

/// Links one ELF object for x86-64. Errors say what makes it unfit.
llvm::Expected<LinkedImage> linkImage(llvm::StringRef object);

} // namespace sol::native

#endif // SOL_LIB_NATIVE_CODEGEN_LINKIMAGE_H
