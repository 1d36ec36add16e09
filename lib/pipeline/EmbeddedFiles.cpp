//===- EmbeddedFiles.cpp - what travels in a plan beside the program ------===//
//
// See EmbeddedFiles.h.
//
//===----------------------------------------------------------------------===//
#include "lib/pipeline/EmbeddedFiles.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

namespace sol {
namespace {

constexpr const char *fileNames[] = {
    "tokenizer.json",     "tokenizer_config.json",   "chat_template.jinja",
    "chat_template.json", "special_tokens_map.json", "generation_config.json",
    "config.json",        "genai_config.json"};

/// The first of `keys` that `object` has as a positive integer; 0 if none.
int64_t positiveInteger(const nlohmann::json &object,
                        std::initializer_list<const char *> keys) {
  if (!object.is_object())
    return 0;
  for (const char *key : keys) {
    auto found = object.find(key);
    if (found != object.end() && found->is_number_integer() &&
        found->get<int64_t>() > 0)
      return found->get<int64_t>();
  }
  return 0;
}

} // namespace

llvm::LogicalResult embedFiles(llvm::StringRef folder, NamedContents &files) {
  for (const char *name : fileNames) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    if (!llvm::sys::fs::exists(path))
      continue;
    auto content = llvm::MemoryBuffer::getFile(path);
    if (!content) {
      llvm::errs() << "error: " << path << ": " << content.getError().message()
                   << "\n";
      return llvm::failure();
    }
    files.emplace_back(name, (*content)->getBuffer().str());
  }
  return llvm::success();
}

int64_t contextLimit(const NamedContents &files) {
  for (const auto &[name, content] : files) {
    auto json = nlohmann::json::parse(content, nullptr, false);
    int64_t limit = 0;
    if (name == "config.json")
      limit = positiveInteger(
          json, {"max_position_embeddings", "n_positions", "n_ctx"});
    else if (name == "genai_config.json" && json.is_object() &&
             json.contains("model"))
      limit = positiveInteger(json["model"], {"context_length"});
    if (limit > 0)
      return limit;
  }
  return 0;
}

} // namespace sol
