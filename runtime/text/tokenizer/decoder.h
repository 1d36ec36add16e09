//===- decoder.h - tokens back to text, a piece at a time -----------------===//
// The `decoder` part of tokenizer.json. Each step of the file becomes a stage
// through which tokens flow; a stage emits what no later token can change any
// more. Decoding everything at once is the same flow with one flush at the end,
// so streamed and whole text cannot differ.
#pragma once

#include "runtime/text/json_fields.h"
#include <functional>
#include <memory>
#include <vector>

namespace sol::text {

/// Receives a piece of a token, or of the whole text behind a stage that joins.
using Sink = std::function<void(std::string_view)>;

/// One step, with its state for the text in progress.
class DecodeStage {
public:
  virtual ~DecodeStage() = default;
  virtual void push(std::string_view piece, const Sink &out) = 0;
  virtual void finish(const Sink &out) = 0;
};

/// The stages of one text in progress.
class DecodeChain {
public:
  explicit DecodeChain(std::vector<std::unique_ptr<DecodeStage>> stages)
      : stages(std::move(stages)) {}
  /// Appends to `text` what `token` makes certain.
  void push(std::string_view token, std::string &text) {
    pushFrom(0, token, text);
  }
  /// Appends what is held back.
  void finish(std::string &text);

private:
  void pushFrom(size_t stage, std::string_view piece, std::string &text);
  std::vector<std::unique_ptr<DecodeStage>> stages;
};

/// The decoder of a tokenizer; makes a chain for each text.
class Decoder {
public:
  /// Reads the field; null joins tokens by spaces, as the reference does.
  static absl::StatusOr<Decoder> read(const Field &field);
  std::unique_ptr<DecodeChain> start() const;

private:
  using Maker = std::function<std::unique_ptr<DecodeStage>()>;
  absl::Status readInto(const Field &field, int depth, bool &joined);
  absl::Status readReplace(const Field &field, bool joined);
  absl::Status readStrip(const Field &field, bool joined);
  std::vector<Maker> makers;
};

} // namespace sol::text
