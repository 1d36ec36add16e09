//===- size_expression.h - sizes of a plan's ports ------------------------===//
//
// Evaluates the texts that a plan gives for the sizes of its inputs and
// outputs: the canonical form that the compiler writes (docs/plan-format.md).
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_SESSION_SIZE_EXPRESSION_H
#define SOL_RUNTIME_SESSION_SIZE_EXPRESSION_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sol {

using SizeBindings = std::map<std::string, int64_t, std::less<>>;

/// The number that `text` stands for; nullopt if a symbol is not bound, the
/// text is no expression, a divisor is 0 or the arithmetic overflows. Example:
/// `2*past + step` under past = 3, step = 1 gives 7.
std::optional<int64_t> evaluateSize(std::string_view text,
                                    const SizeBindings &bindings);

/// The symbol's name if `text` is exactly one symbol.
std::optional<std::string> symbolOf(std::string_view text);

/// If all symbols of `text` but one are bound and it occurs once, as a summand
/// by itself, binds that one such that the expression gives `value`.
void solveSize(std::string_view text, int64_t value, SizeBindings &bindings);

} // namespace sol

#endif // SOL_RUNTIME_SESSION_SIZE_EXPRESSION_H
