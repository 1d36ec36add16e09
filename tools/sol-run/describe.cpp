//===- describe.cpp - plans, sessions, and what they say of themselves ----===//
//
// See run_options.h.
//
//===----------------------------------------------------------------------===//
#include "tools/sol-run/run_options.h"
#include "tools/sol-run/tensor_value.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace sol::run {

OpenPlan::OpenPlan(const RunOptions &options) {
  sol_plan_options planOptions = {options.skipVerification};
  check(sol_plan_open(options.plan.c_str(), &planOptions, &plan));
  if (options.function.empty())
    return;
  for (size_t i = 0; i < sol_plan_function_count(plan); ++i)
    if (options.function == sol_plan_function_name(plan, i))
      function = i;
}

OpenSession::OpenSession(const OpenPlan &plan, const RunOptions &options) {
  sol_session_options sessionOptions = {options.threads, 0, options.verbose};
  check(sol_session_open(
      plan.plan, options.function.empty() ? nullptr : options.function.c_str(),
      &sessionOptions, &session));
}

static const char *typeName(int32_t type) {
  static constexpr const char *names[] = {
      "none",           "float32",    "uint8",
      "int8",           "uint16",     "int16",
      "int32",          "int64",      "string",
      "bool",           "float16",    "float64",
      "uint32",         "uint64",     "complex64",
      "complex128",     "bfloat16",   "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",          "int4",       "float4e2m1",
      "float8e8m0",     "uint2",      "int2"};
  return type >= 0 && type < static_cast<int32_t>(std::size(names))
             ? names[type]
             : "?";
}

static void describePort(const char *direction, const sol_port &port) {
  std::cout << "  " << direction << " " << port.name << ": "
            << typeName(port.type) << " [";
  if (port.rank < 0)
    std::cout << "any rank";
  for (int32_t i = 0; i < port.rank; ++i)
    std::cout << (i ? ", " : "") << port.sizes[i];
  std::cout << "]";
  if (*port.role)
    std::cout << ", " << port.role;
  if (port.is_state)
    std::cout << ", kept by sessions";
  std::cout << "\n";
}

static void describeLinks(const sol_plan *plan) {
  for (size_t i = 0; i < sol_plan_link_count(plan); ++i) {
    sol_link link = sol_plan_link(plan, i);
    std::cout
        << "output "
        << sol_plan_output(plan, link.from_function, link.from_output).name
        << " of " << sol_plan_function_name(plan, link.from_function)
        << " feeds input "
        << sol_plan_input(plan, link.to_function, link.to_input).name << " of "
        << sol_plan_function_name(plan, link.to_function) << "\n";
  }
}

void describe(const OpenPlan &open) {
  const sol_plan *plan = open.plan;
  std::cout << "made by " << sol_plan_compiler(plan) << "\n";
  for (size_t f = 0; f < sol_plan_function_count(plan); ++f) {
    std::cout << "function " << sol_plan_function_name(plan, f);
    if (int64_t context = sol_plan_context(plan, f))
      std::cout << ", context of " << context << " tokens";
    std::cout << "\n";
    for (size_t i = 0; i < sol_plan_input_count(plan, f); ++i)
      describePort("input", sol_plan_input(plan, f, i));
    for (size_t i = 0; i < sol_plan_output_count(plan, f); ++i)
      describePort("output", sol_plan_output(plan, f, i));
  }
  describeLinks(plan);
}

void printProfile(const OpenSession &session) {
  struct Line {
    std::string node, kernel;
    int64_t calls;
    double seconds;
  };
  std::vector<Line> lines;
  sol_session_profile(
      session.session,
      [](const sol_profile_entry *entry, void *user) {
        static_cast<std::vector<Line> *>(user)->push_back(
            {entry->node, entry->kernel, entry->calls, entry->seconds});
      },
      &lines);
  std::sort(lines.begin(), lines.end(),
            [](const Line &a, const Line &b) { return a.seconds > b.seconds; });
  double total = 0;
  for (const Line &line : lines)
    total += line.seconds;
  for (const Line &line : lines)
    std::fprintf(stderr, "%9.3f ms %5.1f %% %6lld x %-28s %s\n",
                 line.seconds * 1e3, total > 0 ? 100 * line.seconds / total : 0,
                 static_cast<long long>(line.calls), line.kernel.c_str(),
                 line.node.c_str());
}

} // namespace sol::run
