//===- stop.cpp - ending a text at given strings --------------------------===//
// A stop string and the text are both whole characters, so a match, and a held
// tail, begin where a character begins.
#include "runtime/text/stop.h"

#include "absl/strings/str_cat.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>

namespace sol::text {

absl::StatusOr<StopMatcher>
StopMatcher::create(std::vector<std::string> stops) {
  for (size_t i = 0; i < stops.size(); ++i) {
    if (stops[i].empty())
      return absl::InvalidArgumentError(
          absl::StrCat("stop string ", i + 1, " is empty"));
    if (absl::Status status =
            checkUtf8(stops[i], "stop string " + std::to_string(i + 1));
        !status.ok())
      return status;
  }
  StopMatcher matcher;
  matcher.stops = std::move(stops);
  return matcher;
}

std::string StopMatcher::push(std::string_view piece) {
  if (found)
    return {};
  held.append(piece);
  // The stop string that is complete first decides, whatever the cut into
  // pieces; of several, the longest.
  size_t first = std::string::npos, firstEnd = std::string::npos;
  for (const std::string &stop : stops) {
    size_t begin = held.find(stop),
           end = begin == std::string::npos ? begin : begin + stop.size();
    if (end < firstEnd || (end == firstEnd && begin < first)) {
      first = begin;
      firstEnd = end;
    }
  }
  if (first != std::string::npos) {
    found = true;
    std::string before = held.substr(0, first);
    held.clear();
    return before;
  }
  size_t keep = 0;
  for (const std::string &stop : stops)
    for (size_t length = std::min(stop.size() - 1, held.size()); length > keep;
         --length)
      if (held.compare(held.size() - length, length, stop, 0, length) == 0)
        keep = length;
  std::string certain = held.substr(0, held.size() - keep);
  held.erase(0, certain.size());
  return certain;
}

std::string StopMatcher::finish() {
  std::string rest = std::move(held);
  held.clear();
  return rest;
}

} // namespace sol::text
