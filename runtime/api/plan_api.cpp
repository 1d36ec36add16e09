//===- plan_api.cpp - the C interface: plans and errors -------------------===//
//
// A thin face on runtime/plan and runtime/session; see include/sol/runtime.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/api/handles.h"
#include "runtime/session/size_expression.h"
#include "sol/version.h"

#include "absl/strings/str_join.h"

#include <cstdlib>
#include <cstring>

using namespace sol;

sol_status *sol::toStatus(const absl::Status &status) {
  if (status.ok())
    return nullptr;
  auto code = static_cast<sol_status_code>(status.code());
  if (status.code() == absl::StatusCode::kUnavailable ||
      status.code() == absl::StatusCode::kUnknown)
    code = SOL_INTERNAL;
  return new sol_status{code, std::string(status.message())};
}

sol_status_code sol_status_get_code(const sol_status *status) {
  return status->code;
}
const char *sol_status_message(const sol_status *status) {
  return status->message.c_str();
}
void sol_status_free(sol_status *status) { delete status; }

namespace {

/// The C form of ports; strings belong to the program.
std::vector<PortView> viewPorts(const Program &program,
                                const std::vector<ProgramPort> &ports) {
  std::vector<PortView> views;
  for (const ProgramPort &port : ports) {
    PortView view;
    for (const std::string &size : port.sizes)
      view.sizes.push_back(size.c_str());
    view.port.name = port.name.c_str();
    view.port.type = static_cast<int32_t>(port.type);
    view.port.rank =
        port.hasRank ? static_cast<int32_t>(port.sizes.size()) : -1;
    view.port.role = port.role.c_str();
    view.port.partner = port.partner;
    view.port.is_state = program.values[port.value].kind == fb::ValueKind_State;
    views.push_back(std::move(view));
  }
  return views;
}

} // namespace

sol_status *sol_plan_open(const char *path, const sol_plan_options *options,
                          sol_plan **plan) {
  PlanOpenOptions openOptions;
  openOptions.verifyWeights = !(options && options->skip_weight_verification);
  absl::StatusOr<std::shared_ptr<const Plan>> opened =
      Plan::open(path, openOptions);
  if (!opened.ok())
    return toStatus(opened.status());
  auto result = std::make_unique<sol_plan>();
  result->plan = *std::move(opened);
  for (const Program &program : result->plan->functions()) {
    result->inputs.push_back(viewPorts(program, program.inputs));
    result->outputs.push_back(viewPorts(program, program.outputs));
  }
  *plan = result.release();
  return nullptr;
}

void sol_plan_close(sol_plan *plan) { delete plan; }

size_t sol_plan_function_count(const sol_plan *plan) {
  return plan->plan->functions().size();
}
const char *sol_plan_function_name(const sol_plan *plan, size_t function) {
  return plan->plan->functions()[function].name.c_str();
}
int64_t sol_plan_context(const sol_plan *plan, size_t function) {
  return plan->plan->functions()[function].context;
}
size_t sol_plan_input_count(const sol_plan *plan, size_t function) {
  return plan->inputs[function].size();
}
size_t sol_plan_output_count(const sol_plan *plan, size_t function) {
  return plan->outputs[function].size();
}

/// The sizes' pointer is set on the way out, as views may have moved.
static sol_port portOf(const PortView &view) {
  sol_port port = view.port;
  port.sizes = view.sizes.data();
  return port;
}
sol_port sol_plan_input(const sol_plan *plan, size_t function, size_t index) {
  return portOf(plan->inputs[function][index]);
}
sol_port sol_plan_output(const sol_plan *plan, size_t function, size_t index) {
  return portOf(plan->outputs[function][index]);
}

int64_t sol_size_value(const char *text, const char *const *names,
                       const int64_t *values, size_t count) {
  SizeBindings bindings;
  for (size_t i = 0; i < count; ++i)
    bindings[names[i]] = values[i];
  std::optional<int64_t> size = evaluateSize(text, bindings);
  return size && *size >= 0 ? *size : -1;
}

size_t sol_plan_link_count(const sol_plan *plan) {
  return plan->plan->links().size();
}
sol_link sol_plan_link(const sol_plan *plan, size_t index) {
  const ProgramLink &link = plan->plan->links()[index];
  return {static_cast<size_t>(link.fromFunction),
          static_cast<size_t>(link.fromOutput),
          static_cast<size_t>(link.toFunction),
          static_cast<size_t>(link.toInput)};
}

const char *sol_plan_compiler(const sol_plan *plan) {
  const flatbuffers::String *text = plan->plan->description().compiler();
  return text ? text->c_str() : "";
}

const char *sol_plan_resource(const sol_plan *plan, const char *name,
                              size_t *bytes) {
  absl::StatusOr<std::string_view> resource = plan->plan->resource(name);
  *bytes = resource.ok() ? resource->size() : 0;
  return *bytes == 0 ? nullptr : resource->data();
}

const char *sol_runtime_version(void) {
  static const std::string text = versionText("libsol_runtime");
  return text.c_str();
}
