//===- attributes.h - a step's constant parameters ------------------------===//
//
// The attributes of an operator as a plan carries them: name to integer, float,
// string, or list. Reading one with the wrong kind is an error that names it,
// because a plan is a file and files can lie.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_ATTRIBUTES_H
#define SOL_RUNTIME_CPU_ATTRIBUTES_H

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sol {

using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>,
                 std::vector<float>, std::vector<std::string>>;

/// An ordered map of attributes. Example: `attributes.integer("axis", -1)`.
class Attributes {
public:
  void set(std::string name, AttributeValue value) {
    values[std::move(name)] = std::move(value);
  }
  bool has(std::string_view name) const {
    return values.find(name) != values.end();
  }

  /// The value, or `fallback` if absent; InvalidArgument if of another kind.
  absl::StatusOr<int64_t> integer(std::string_view name,
                                  int64_t fallback) const;
  absl::StatusOr<float> real(std::string_view name, float fallback) const;
  absl::StatusOr<std::string> text(std::string_view name,
                                   std::string_view fallback) const;
  /// Lists: an empty span if absent. The span lives as long as this object.
  absl::StatusOr<absl::Span<const int64_t>>
  integers(std::string_view name) const;
  absl::StatusOr<absl::Span<const float>> reals(std::string_view name) const;

  const std::map<std::string, AttributeValue, std::less<>> &all() const {
    return values;
  }

private:
  std::map<std::string, AttributeValue, std::less<>> values;
};

} // namespace sol

#endif // SOL_RUNTIME_CPU_ATTRIBUTES_H
