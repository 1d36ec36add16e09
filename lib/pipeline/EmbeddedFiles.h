//===- EmbeddedFiles.h - what travels in a plan beside the program --------===//
//
// The tokenizer, chat template and settings that lie beside a model, so that
// plan.bin alone is enough to chat.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PIPELINE_EMBEDDEDFILES_H
#define SOL_LIB_PIPELINE_EMBEDDEDFILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sol {

using NamedContents = std::vector<std::pair<std::string, std::string>>;

/// Adds each of the files that plans carry and `folder` has: name and content.
llvm::LogicalResult embedFiles(llvm::StringRef folder, NamedContents &files);

/// The model's own limit of positions, from config.json or genai_config.json
/// among `files`; 0 if none is given.
int64_t contextLimit(const NamedContents &files);

} // namespace sol

#endif // SOL_LIB_PIPELINE_EMBEDDEDFILES_H
