//===- builtins.h - filters, tests, functions and methods -----------------===//
// Each family in its own file, found by name.
#pragma once

#include "runtime/text/jinja/value.h"

namespace sol::text::jinja {

class Evaluator;
struct Arguments;

/// Whether there is such a filter (test, function, method of this type).
bool isFilter(std::string_view name);
bool isTest(std::string_view name);
bool isFunction(std::string_view name);
bool isMethod(Kind type, std::string_view name);

/// Applies one; errors go to the evaluator.
Value applyFilter(Evaluator &evaluator, const std::string &name,
                  const Value &value, const Arguments &arguments);
bool applyTest(Evaluator &evaluator, const std::string &name,
               const Value &value, const Arguments &arguments);
Value callFunction(Evaluator &evaluator, const std::string &name,
                   const Arguments &arguments);
Value callMethod(Evaluator &evaluator, const Value &self,
                 const std::string &name, const Arguments &arguments);

/// Python's str.strip with the characters of `characters`, or white space if it
/// is null. `sides`: 1 left, 2 right.
std::string stripText(const std::string &text, const std::string *characters,
                      int sides);
/// Python's case functions, one character at a time.
std::string upperText(const std::string &text);
std::string lowerText(const std::string &text);
std::string capitalizeText(const std::string &text);

} // namespace sol::text::jinja
