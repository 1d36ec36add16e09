//===- chat_template.h - messages to a prompt -----------------------------===//
// Interprets the subset of the Jinja language that chat templates are written
// in, with the meaning and the settings that the `transformers` package gives
// it (trim_blocks, lstrip_blocks, an immutable sandbox). Debian has no C++
// library for it. Left out: template inheritance, includes and imports, call
// and filter blocks, recursive loops, user-defined filters, and everything that
// would change a list or dictionary.
//
//   auto chat = ChatTemplate::parse(source);
//   auto prompt = chat->render({{"messages", messages},
//   {"add_generation_prompt", true}, {"bos_token", "<s>"}});
#pragma once

#include "absl/status/statusor.h"
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace sol::text {

/// Bounds on what a template may do, against hostile ones, and the clock it
/// sees.
struct RenderOptions {
  /// Expressions and statements evaluated.
  int64_t maxSteps = 20'000'000;
  /// Bytes of text and lists made on the way, and of the result.
  int64_t maxBytes = int64_t{1} << 30;
  /// What strftime_now takes for now, in seconds since 1970; the machine's
  /// clock if unset.
  std::optional<int64_t> now = std::nullopt;
};

/// A parsed template. Immutable; may be rendered from several threads at once.
class ChatTemplate {
public:
  /// InvalidArgument with the line for a template that isn't valid;
  /// Unimplemented for what is left out.
  static absl::StatusOr<ChatTemplate> parse(std::string_view source);

  /// Renders with `variables`, an object. Dictionaries of an `ordered_json`
  /// keep their order, which `tojson` and loops show. InvalidArgument with the
  /// line for what the template rejects (raise_exception), for undefined names
  /// used and wrong types; ResourceExhausted beyond the bounds.
  absl::StatusOr<std::string> render(const nlohmann::ordered_json &variables,
                                     const RenderOptions &options = {}) const;
  absl::StatusOr<std::string> render(const nlohmann::json &variables,
                                     const RenderOptions &options = {}) const;

private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed;
};

} // namespace sol::text
