//===- stop.h - ending a text at given strings ----------------------------===//
// Text streams in; text that cannot belong to a stop string any more streams
// out.
#pragma once

#include "absl/status/statusor.h"
#include <string>
#include <string_view>
#include <vector>

namespace sol::text {

/// Watches a stream for the first of several stop strings. The stop string
/// itself is never given out.
class StopMatcher {
public:
  /// InvalidArgument if a stop string is empty or isn't UTF-8.
  static absl::StatusOr<StopMatcher> create(std::vector<std::string> stops);

  /// Takes the next piece and returns the text that is certain to come before
  /// any stop string. Pieces of whole characters give whole characters. After a
  /// stop string was found, returns nothing.
  std::string push(std::string_view piece);
  /// Returns what is held back: the text ended before the stop string was
  /// complete.
  std::string finish();
  /// Whether a stop string was found.
  bool stopped() const { return found; }

private:
  std::vector<std::string> stops;
  std::string held;
  bool found = false;
};

} // namespace sol::text
