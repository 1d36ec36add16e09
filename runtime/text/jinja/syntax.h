//===- syntax.h - the parsed form of a template ---------------------------===//
// Nodes are owned by their template, in one list, so that a deep tree is freed
// without recursion.
#pragma once

#include "absl/status/statusor.h"
#include "runtime/text/jinja/value.h"
#include <memory>
#include <string>
#include <vector>

namespace sol::text::jinja {

/// An argument of a call, filter or test; `name` is empty for a positional one.
struct Node;
struct Argument {
  std::string name;
  const Node *value;
};

enum class NodeKind {
  // Expressions: what the fields hold.
  Constant,    // constant
  Name,        // text
  ListLiteral, // children
  TupleLiteral,
  DictLiteral, // children: key, value, key, value
  Unary,       // text: - + not; children[0]
  Binary,      // text: + - * / // % ** ~ and or; children[0..1]
  Compare,     // children; operators between them
  Conditional, // children: value, condition, other (may be null)
  Attribute,   // children[0], text
  Subscript,   // children[0], children[1]
  Slice,       // children[0], then start, stop, step, each may be null
  Call,        // children[0], arguments
  Filter,      // children[0], text, arguments
  Test,        // children[0], text, arguments; negated
  // Statements.
  Text,  // text
  Print, // children[0]
  If,    // children: condition, body, condition, body …, [body]
  For,   // targets; children: iterable, filter (may be null), body, else body
         // (may be null)
  Set,   // targets (or text and attribute of a namespace); children[0]
  SetBlock, // targets; children[0]: body; arguments: filters applied, as Filter
            // nodes over a null child
  Macro,    // text; arguments: parameters with defaults (may be null);
            // children[0]: body
  Block,    // children: statements
  Break,
  Continue,
};

struct Node {
  NodeKind kind;
  int line = 0;
  std::string text;
  std::string attribute;
  bool negated = false;
  Value constant;
  std::vector<const Node *> children;
  std::vector<std::string> operators;
  std::vector<std::string> targets;
  std::vector<Argument> arguments;
};

/// A template's nodes; `root` is a Block.
struct Tree {
  std::vector<std::unique_ptr<Node>> nodes;
  const Node *root = nullptr;
};

/// Parses a template; errors carry the line.
absl::StatusOr<Tree> parseTemplate(std::string_view source);

} // namespace sol::text::jinja
