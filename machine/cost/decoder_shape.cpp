//===- decoder_shape.cpp - a decoder by its sizes ------------------------===//
//
// Reads shape files. Fields that only a graph needs are read and dropped.
//
//===----------------------------------------------------------------------===//
#include "machine/cost/decoder_shape.h"

#include "machine/target/json_file.h"
#include "sol/target.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sol {

absl::StatusOr<DecoderShape> loadShape(const std::string &path) {
  absl::StatusOr<nlohmann::ordered_json> json = readJsonFile(path);
  if (!json.ok())
    return json.status();
  JsonObject top(path, "", *json);
  if (int64_t version = top.integer("schema_version", 1, 1 << 30); version != 1)
    top.fail("schema_version",
             absl::StrCat("is ", version, ", this Sol reads 1"));
  constexpr int64_t most = 1 << 24;
  DecoderShape shape;
  shape.name = top.text("name");
  top.text("description");
  shape.layers = top.integer("layers", 1, 4096);
  shape.width = top.integer("width", 1, most);
  shape.heads = top.integer("heads", 1, 65536);
  shape.kvHeads = top.integer("kv_heads", 1, 65536);
  shape.headDim = top.integer("head_dim", 1, 65536);
  shape.feedForward = top.integer("feed_forward", 1, most);
  shape.vocabulary = top.integer("vocabulary", 1, most);
  if (top.has("experts") || top.has("experts_per_token")) {
    shape.experts = top.integer("experts", 0, 65536);
    shape.expertsPerToken = top.integer("experts_per_token", 0, shape.experts);
  }
  for (const char *name : {"tied_embeddings", "attention_bias", "rotary_base",
                           "norm_epsilon", "context"})
    if (top.has(name))
      top.member(name);
  if (shape.heads % shape.kvHeads != 0)
    top.fail("kv_heads",
             absl::StrCat("is ", shape.kvHeads,
                          ", must divide `heads`, which is ", shape.heads));
  if (absl::Status status = top.status(); !status.ok())
    return status;
  return shape;
}

absl::StatusOr<DecoderShape> findShape(const std::string &nameOrFile) {
  if (absl::StrContains(nameOrFile, '/') || absl::EndsWith(nameOrFile, ".json"))
    return loadShape(nameOrFile);
  return loadShape(targetFolder() + "/shapes/" + nameOrFile + ".json");
}

} // namespace sol
