//===- port_check.cpp - do a caller's tensors fit the plan? ---------------===//
//
// See port_check.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/session/port_check.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace sol {
namespace {

/// A decoder for both the first and later calls reads its pasts in later calls
/// only; in the first, callers give placeholders of any size.
bool mayBePlaceholder(const std::vector<ProgramPort> &ports,
                      const ProgramPort &port) {
  return (port.role == "past" || port.role == "encoder_past") &&
         std::any_of(ports.begin(), ports.end(), [](const ProgramPort &other) {
           return other.role == "use_cache";
         });
}

absl::Status checkType(const ProgramPort &port, const Tensor &tensor) {
  if (tensor.type != port.type)
    return absl::InvalidArgumentError(
        absl::StrCat("input `", port.name, "` is ", dtypeName(tensor.type),
                     ", the plan wants ", dtypeName(port.type)));
  // A scalar may come as a tensor of one element, as exporters' samples have
  // it.
  bool isScalar = port.sizes.empty() && tensor.size() == 1;
  if (port.hasRank && tensor.dims.size() != port.sizes.size() && !isScalar)
    return absl::InvalidArgumentError(absl::StrCat(
        "input `", port.name, "` has sizes ", dimsToString(tensor.dims),
        ", the plan wants ", port.sizes.size(), " axes"));
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<SizeBindings> checkPorts(const std::vector<ProgramPort> &ports,
                                        absl::Span<const Tensor> tensors) {
  SizeBindings bindings;
  std::map<std::string, std::string> origins;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (absl::Status status = checkType(ports[i], tensors[i]); !status.ok())
      return status;
    for (size_t axis = 0; axis < ports[i].sizes.size(); ++axis)
      if (std::optional<std::string> symbol = symbolOf(ports[i].sizes[axis]))
        if (bindings.emplace(*symbol, tensors[i].dims[axis]).second)
          origins[*symbol] = ports[i].name;
  }
  // Formulas come second, as another input may define their symbols.
  for (size_t i = 0; i < ports.size(); ++i)
    for (size_t axis = 0; axis < ports[i].sizes.size(); ++axis)
      solveSize(ports[i].sizes[axis], tensors[i].dims[axis], bindings);
  for (size_t i = 0; i < ports.size(); ++i)
    for (size_t axis = 0; axis < ports[i].sizes.size(); ++axis) {
      if (mayBePlaceholder(ports, ports[i]))
        break;
      const std::string &text = ports[i].sizes[axis];
      std::optional<int64_t> wanted = evaluateSize(text, bindings);
      if (!wanted || *wanted == tensors[i].dims[axis])
        continue;
      std::string because;
      if (std::optional<std::string> symbol = symbolOf(text))
        because = absl::StrCat(" as in input `", origins[*symbol], "`");
      return absl::InvalidArgumentError(absl::StrCat(
          "axis ", axis, " of input `", ports[i].name, "` has size ",
          tensors[i].dims[axis], ", but `", text, "` is ", *wanted, because));
    }
  return bindings;
}

} // namespace sol
