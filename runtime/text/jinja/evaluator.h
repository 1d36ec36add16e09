//===- evaluator.h - running a parsed template ----------------------------===//
// One evaluator renders one template once. The first error sticks: evaluation
// then goes on with undefined values until the loops notice, so that
// expressions need no checks of their own.
#pragma once

#include "runtime/text/chat_template.h"
#include "runtime/text/jinja/builtins.h"
#include "runtime/text/jinja/syntax.h"
#include <deque>

namespace sol::text::jinja {

/// Names of one block; lookups go on in `outer`.
struct Scope {
  absl::flat_hash_map<std::string, Value> names;
  Scope *outer = nullptr;
};

/// Arguments of a call, evaluated.
struct Arguments {
  List positional;
  std::vector<std::pair<std::string, Value>> named;
  /// The argument at `position` or called `name`, or null.
  const Value *find(size_t position, std::string_view name) const;
};

class Evaluator {
public:
  Evaluator(const RenderOptions &options, Value variables);
  absl::StatusOr<std::string> render(const Node *root);

  // For the built-in functions.
  bool ok() const { return status.ok(); }
  /// Records an error (with the line) unless there is one already; gives an
  /// undefined value.
  Value fail(absl::string_view what,
             absl::StatusCode code = absl::StatusCode::kInvalidArgument);
  /// Counts work and bytes; fails beyond the bounds.
  bool spend(int64_t steps, int64_t bytes = 0);
  /// A string, after counting it.
  Value text(std::string text);
  /// The items that a loop over `value` gives; fails for what can't be
  /// iterated.
  List iterate(const Value &value);
  Value getAttribute(const Value &value, const std::string &name);
  Value getItem(const Value &value, const Value &key);
  Value call(const Value &callee, const Arguments &arguments);
  Namespace *newNamespace() { return &namespaces.emplace_back(); }
  int64_t now() const;

private:
  enum class Flow { Next, Break, Continue };
  Flow execute(const Node *node, Scope &scope, std::string &out);
  Flow executeKind(const Node *node, Scope &scope, std::string &out);
  Flow executeIf(const Node *node, Scope &scope, std::string &out);
  Flow executeFor(const Node *node, Scope &scope, std::string &out);
  void executeSet(const Node *node, Scope &scope);
  void assign(const std::vector<std::string> &targets, const Value &value,
              Scope &scope);
  Value loopObject(const List &items, size_t index, Scope &scope);

  Value evaluate(const Node *node, Scope &scope);
  Value evaluateKind(const Node *node, Scope &scope);
  Value lookUp(const std::string &name, const Scope &scope);
  Value literal(const Node *node, Scope &scope);
  Value unary(const Node *node, Scope &scope);
  Value binary(const Node *node, Scope &scope);
  Value arithmetic(const std::string &op, const Value &left,
                   const Value &right);
  Value integerArithmetic(char op, int64_t left, int64_t right);
  Value compareChain(const Node *node, Scope &scope);
  bool compareOnce(const std::string &op, const Value &left,
                   const Value &right);
  bool contains(const Value &container, const Value &item);
  Value slice(const Node *node, Scope &scope);
  Value callNode(const Node *node, Scope &scope);
  Value callMacro(const Callable &callable, const Arguments &arguments);
  Arguments evaluateArguments(const Node *node, Scope &scope);

  const RenderOptions &options;
  absl::Status status;
  int line = 0;
  int depth = 0;
  int64_t steps = 0, bytes = 0;
  std::deque<Scope> scopes; // macros keep theirs, so all live until the end
  std::deque<Namespace> namespaces;
  Scope *global;
};

} // namespace sol::text::jinja
