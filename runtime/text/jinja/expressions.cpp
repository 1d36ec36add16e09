//===- expressions.cpp - expressions of a template ------------------------===//
// Operators, names, attributes, items and slices, with Python's meaning.
#include "absl/strings/str_cat.h"
#include "runtime/text/jinja/evaluator.h"
#include "runtime/text/unicode/utf8.h"
#include <algorithm>
#include <cmath>

namespace sol::text::jinja {

Value Evaluator::evaluateKind(const Node *node, Scope &scope) {
  switch (node->kind) {
  case NodeKind::Constant:
    return node->constant;
  case NodeKind::Name:
    return lookUp(node->text, scope);
  case NodeKind::ListLiteral:
  case NodeKind::TupleLiteral:
  case NodeKind::DictLiteral:
    return literal(node, scope);
  case NodeKind::Unary:
    return unary(node, scope);
  case NodeKind::Binary:
    return binary(node, scope);
  case NodeKind::Compare:
    return compareChain(node, scope);
  case NodeKind::Conditional: {
    bool condition = isTrue(evaluate(node->children[1], scope));
    if (condition)
      return evaluate(node->children[0], scope);
    return node->children[2] ? evaluate(node->children[2], scope)
                             : Value::undefined("conditional");
  }
  case NodeKind::Attribute:
    return getAttribute(evaluate(node->children[0], scope), node->text);
  case NodeKind::Subscript: {
    Value container = evaluate(node->children[0], scope);
    return getItem(container, evaluate(node->children[1], scope));
  }
  case NodeKind::Slice:
    return slice(node, scope);
  case NodeKind::Call:
    return callNode(node, scope);
  case NodeKind::Filter: {
    Value value = evaluate(node->children[0], scope);
    Arguments arguments = evaluateArguments(node, scope);
    return ok() ? applyFilter(*this, node->text, value, arguments) : Value();
  }
  case NodeKind::Test: {
    Value value = evaluate(node->children[0], scope);
    Arguments arguments = evaluateArguments(node, scope);
    return ok() ? Value::of(applyTest(*this, node->text, value, arguments) !=
                            node->negated)
                : Value();
  }
  default:
    return fail("an expression is malformed");
  }
}

Value Evaluator::lookUp(const std::string &name, const Scope &scope) {
  for (const Scope *at = &scope; at; at = at->outer)
    if (auto found = at->names.find(name); found != at->names.end())
      return found->second;
  if (!isFunction(name))
    return Value::undefined(name);
  auto function = std::make_shared<Callable>();
  function->name = name;
  return Value::of(std::shared_ptr<const Callable>(std::move(function)));
}

Value Evaluator::literal(const Node *node, Scope &scope) {
  if (node->kind == NodeKind::DictLiteral) {
    auto dict = std::make_shared<Dict>();
    for (size_t i = 0; i + 1 < node->children.size() && ok(); i += 2) {
      Value key = evaluate(node->children[i], scope);
      dict->set(toText(key), evaluate(node->children[i + 1], scope));
    }
    spend(0, static_cast<int64_t>(dict->entries.size()) * 64);
    return Value::of(std::shared_ptr<const Dict>(std::move(dict)));
  }
  List items;
  for (const Node *child : node->children)
    items.push_back(evaluate(child, scope));
  spend(0, static_cast<int64_t>(items.size() * sizeof(Value)));
  return Value::of(std::move(items), node->kind == NodeKind::TupleLiteral);
}

Value Evaluator::unary(const Node *node, Scope &scope) {
  Value value = evaluate(node->children[0], scope);
  if (!ok())
    return Value();
  if (node->text == "not")
    return Value::of(!isTrue(value));
  if (value.isInteger()) {
    if (node->text == "+")
      return Value::of(value.integer());
    return integerArithmetic('-', 0, value.integer());
  }
  if (value.is(Kind::Float))
    return Value::of(node->text == "-" ? -value.real() : value.real());
  return fail(
      absl::StrCat("`", node->text, "` needs a number, got ", typeName(value)));
}

Value Evaluator::binary(const Node *node, Scope &scope) {
  const std::string &op = node->text;
  Value left = evaluate(node->children[0], scope);
  if (op == "and")
    return isTrue(left) ? evaluate(node->children[1], scope) : left;
  if (op == "or")
    return isTrue(left) ? left : evaluate(node->children[1], scope);
  Value right = evaluate(node->children[1], scope);
  if (!ok())
    return Value();
  if (op == "~")
    return text(toText(left) + toText(right));
  return arithmetic(op, left, right);
}

Value Evaluator::arithmetic(const std::string &op, const Value &left,
                            const Value &right) {
  if (op == "+" && left.is(Kind::String) && right.is(Kind::String))
    return text(left.string() + right.string());
  if (op == "+" && left.isList() && left.kind() == right.kind()) {
    List joined = left.list();
    joined.insert(joined.end(), right.list().begin(), right.list().end());
    spend(static_cast<int64_t>(joined.size()),
          static_cast<int64_t>(joined.size() * sizeof(Value)));
    return Value::of(std::move(joined), left.is(Kind::Tuple));
  }
  if (op == "*" && (left.is(Kind::String) || right.is(Kind::String)) &&
      (left.isInteger() || right.isInteger())) {
    const std::string &unit =
        left.is(Kind::String) ? left.string() : right.string();
    int64_t count = std::max<int64_t>(
        0, left.is(Kind::String) ? right.integer() : left.integer());
    if (!unit.empty() &&
        count > options.maxBytes / static_cast<int64_t>(unit.size()))
      return fail("a repeated string is too long",
                  absl::StatusCode::kResourceExhausted);
    if (!spend(1, count * static_cast<int64_t>(unit.size())))
      return Value();
    std::string made;
    for (int64_t i = 0; i < count && !unit.empty(); ++i)
      made += unit;
    return Value::of(std::move(made));
  }
  for (const Value *side : {&left, &right})
    if (side->is(Kind::Undefined))
      return fail(absl::StrCat("`", side->undefinedName(), "` is undefined"));
  if (!left.isNumber() || !right.isNumber())
    return fail(absl::StrCat("`", op, "` doesn't apply to ", typeName(left),
                             " and ", typeName(right)));
  if (left.isInteger() && right.isInteger() && op != "/" &&
      !(op == "**" && right.integer() < 0))
    return integerArithmetic(op == "//"   ? '/'
                             : op == "**" ? '^'
                                          : op[0],
                             left.integer(), right.integer());
  double a = left.real(), b = right.real();
  if ((op == "/" || op == "//" || op == "%") && b == 0)
    return fail("division by zero");
  if (op == "+")
    return Value::of(a + b);
  if (op == "-")
    return Value::of(a - b);
  if (op == "*")
    return Value::of(a * b);
  if (op == "/")
    return Value::of(a / b);
  if (op == "//")
    return Value::of(std::floor(a / b));
  if (op == "%")
    return Value::of(a - b * std::floor(a / b));
  return Value::of(std::pow(a, b));
}

// `/` rounds down, as Python does; `^` is the power.
Value Evaluator::integerArithmetic(char op, int64_t left, int64_t right) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
  case '+':
    overflow = __builtin_add_overflow(left, right, &result);
    break;
  case '-':
    overflow = __builtin_sub_overflow(left, right, &result);
    break;
  case '*':
    overflow = __builtin_mul_overflow(left, right, &result);
    break;
  case '/':
  case '%': {
    if (right == 0)
      return fail("division by zero");
    if (right == -1) { // the quotient of the smallest integer would not fit
      overflow = op == '/' && __builtin_sub_overflow(int64_t{0}, left, &result);
      break;
    }
    int64_t quotient = left / right, rest = left % right;
    bool down = rest != 0 && (rest < 0) != (right < 0);
    result = op == '/' ? quotient - down : rest + (down ? right : 0);
    break;
  }
  default:
    result = 1;
    if (left == 0 || left == 1 || left == -1) {
      result = right == 0 ? 1 : left == -1 ? (right % 2 == 0 ? 1 : -1) : left;
      break;
    }
    for (int64_t i = 0; i < right && !overflow; ++i)
      overflow = __builtin_mul_overflow(result, left, &result);
  }
  if (overflow)
    return fail("a number needs more than 64 bits");
  return Value::of(result);
}

Value Evaluator::compareChain(const Node *node, Scope &scope) {
  Value left = evaluate(node->children[0], scope);
  for (size_t i = 0; i < node->operators.size() && ok(); ++i) {
    Value right = evaluate(node->children[i + 1], scope);
    if (!ok() || !compareOnce(node->operators[i], left, right))
      return Value::of(false);
    left = right;
  }
  return Value::of(true);
}

bool Evaluator::compareOnce(const std::string &op, const Value &left,
                            const Value &right) {
  if (op == "==" || op == "!=") {
    spend(static_cast<int64_t>(left.isList() ? left.list().size() : 1));
    return equal(left, right) == (op == "==");
  }
  if (op == "in")
    return contains(right, left);
  if (op == "not in")
    return !contains(right, left);
  for (const Value *side : {&left, &right})
    if (side->is(Kind::Undefined)) {
      fail(absl::StrCat("`", side->undefinedName(), "` is undefined"));
      return false;
    }
  absl::StatusOr<int> order = compare(left, right);
  if (!order.ok()) {
    fail(order.status().message());
    return false;
  }
  return op == "<"    ? *order < 0
         : op == "<=" ? *order <= 0
         : op == ">"  ? *order > 0
                      : *order >= 0;
}

bool Evaluator::contains(const Value &container, const Value &item) {
  if (container.is(Kind::String)) {
    if (!item.is(Kind::String)) {
      fail(absl::StrCat("`in` a string needs a string, got ", typeName(item)));
      return false;
    }
    spend(1 + static_cast<int64_t>(container.string().size() / 64));
    return container.string().find(item.string()) != std::string::npos;
  }
  if (container.is(Kind::Dict))
    return item.is(Kind::String) && container.dict().find(item.string());
  if (container.is(Kind::Undefined))
    return false;
  if (container.is(Kind::Namespace))
    return item.is(Kind::String) &&
           container.space()->values.contains(item.string());
  if (!container.isList()) {
    fail(absl::StrCat("`in` doesn't apply to ", typeName(container)));
    return false;
  }
  spend(static_cast<int64_t>(container.list().size()));
  return std::any_of(container.list().begin(), container.list().end(),
                     [&](const Value &entry) { return equal(entry, item); });
}

List Evaluator::iterate(const Value &value) {
  if (value.isList())
    return value.list();
  List items;
  if (value.is(Kind::Dict)) {
    for (const auto &entry : value.dict().entries)
      items.push_back(Value::of(entry.first));
  } else if (value.is(Kind::String)) {
    const std::string &text = value.string();
    if (!spend(static_cast<int64_t>(text.size()),
               static_cast<int64_t>(text.size()) * 64))
      return {};
    for (size_t at = 0; at < text.size();) {
      size_t begin = at;
      nextCodePoint(text, at);
      items.push_back(Value::of(text.substr(begin, at - begin)));
    }
  } else if (!value.is(Kind::Undefined)) {
    fail(absl::StrCat("a value of type ", typeName(value),
                      " can't be looped over"));
  }
  return items;
}

Value Evaluator::getAttribute(const Value &value, const std::string &name) {
  if (!ok())
    return Value();
  if (value.is(Kind::Undefined))
    return fail(absl::StrCat("`", value.undefinedName(),
                             "` is undefined, so it has no `", name, "`"));
  if (value.is(Kind::Namespace)) {
    auto found = value.space()->values.find(name);
    if (found != value.space()->values.end())
      return found->second;
  }
  if (isMethod(value.kind(), name)) {
    auto method = std::make_shared<Callable>();
    method->name = name;
    method->self = value;
    return Value::of(std::shared_ptr<const Callable>(std::move(method)));
  }
  if (value.is(Kind::Dict))
    if (const Value *found = value.dict().find(name))
      return *found;
  return Value::undefined(name);
}

Value Evaluator::getItem(const Value &value, const Value &key) {
  if (!ok())
    return Value();
  if (value.is(Kind::Undefined))
    return fail(absl::StrCat("`", value.undefinedName(),
                             "` is undefined, so it has no items"));
  if (value.is(Kind::Dict) && !key.is(Kind::Undefined)) {
    if (const Value *found = value.dict().find(toText(key)))
      return *found;
  }
  if (key.is(Kind::String))
    return getAttribute(value, key.string());
  if (!key.isInteger())
    return Value::undefined("item");
  int64_t index = key.integer();
  if (value.isList()) {
    auto size = static_cast<int64_t>(value.list().size());
    index += index < 0 ? size : 0;
    if (index >= 0 && index < size)
      return value.list()[static_cast<size_t>(index)];
  }
  if (value.is(Kind::String)) {
    const std::string &text = value.string();
    spend(1 + static_cast<int64_t>(text.size() / 64));
    index += index < 0 ? static_cast<int64_t>(countCodePoints(text)) : 0;
    for (size_t at = 0; at < text.size() && index >= 0; --index) {
      size_t begin = at;
      nextCodePoint(text, at);
      if (index == 0)
        return Value::of(text.substr(begin, at - begin));
    }
  }
  return Value::undefined("item");
}

namespace {

// The indices that Python's slice takes of `size` items.
std::vector<int64_t> sliceIndices(int64_t size, const int64_t *start,
                                  const int64_t *stop, int64_t step) {
  auto clamp = [&](int64_t index, int64_t low, int64_t high) {
    if (index < 0)
      index = index < -size ? -1 : index + size;
    return std::min(std::max(index, low), high);
  };
  std::vector<int64_t> indices;
  if (step > 0) {
    int64_t end = stop ? clamp(*stop, 0, size) : size;
    for (int64_t i = start ? clamp(*start, 0, size) : 0; i < end;
         i += std::min(step, size + 1))
      indices.push_back(i);
  } else {
    int64_t end = stop ? clamp(*stop, -1, size - 1) : -1;
    for (int64_t i = start ? clamp(*start, -1, size - 1) : size - 1; i > end;
         i += std::max(step, -size - 1))
      indices.push_back(i);
  }
  return indices;
}

} // namespace

Value Evaluator::slice(const Node *node, Scope &scope) {
  Value value = evaluate(node->children[0], scope);
  int64_t bounds[3];
  const int64_t *given[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    if (!node->children[i + 1])
      continue;
    Value bound = evaluate(node->children[i + 1], scope);
    if (!ok())
      return Value();
    if (bound.is(Kind::None))
      continue;
    if (!bound.isInteger())
      return fail(
          absl::StrCat("a slice needs integers, got ", typeName(bound)));
    bounds[i] = bound.integer();
    given[i] = &bounds[i];
  }
  if (!ok())
    return Value();
  int64_t step = given[2] ? *given[2] : 1;
  if (step == 0)
    return fail("a slice's step is zero");
  if (value.is(Kind::Undefined))
    return fail(absl::StrCat("`", value.undefinedName(),
                             "` is undefined, so it has no items"));
  if (!value.isList() && !value.is(Kind::String))
    return fail(
        absl::StrCat("a value of type ", typeName(value), " can't be sliced"));
  bool isText = value.is(Kind::String);
  List items = iterate(value);
  if (!ok())
    return Value();
  List taken;
  std::string joined;
  for (int64_t index : sliceIndices(static_cast<int64_t>(items.size()),
                                    given[0], given[1], step)) {
    if (isText)
      joined += items[static_cast<size_t>(index)].string();
    else
      taken.push_back(items[static_cast<size_t>(index)]);
  }
  spend(static_cast<int64_t>(items.size()),
        static_cast<int64_t>(taken.size() * sizeof(Value)));
  return isText ? text(std::move(joined))
                : Value::of(std::move(taken), value.is(Kind::Tuple));
}

Arguments Evaluator::evaluateArguments(const Node *node, Scope &scope) {
  Arguments arguments;
  for (const Argument &argument : node->arguments) {
    Value value = evaluate(argument.value, scope);
    if (argument.name.empty())
      arguments.positional.push_back(std::move(value));
    else
      arguments.named.emplace_back(argument.name, std::move(value));
  }
  return arguments;
}

Value Evaluator::callNode(const Node *node, Scope &scope) {
  Value callee = evaluate(node->children[0], scope);
  if (!ok())
    return Value();
  Arguments arguments = evaluateArguments(node, scope);
  if (!ok())
    return Value();
  line = node->line;
  return call(callee, arguments);
}

Value Evaluator::call(const Value &callee, const Arguments &arguments) {
  if (callee.is(Kind::Undefined))
    return fail(absl::StrCat("`", callee.undefinedName(),
                             "` is undefined, so it can't be called"));
  if (!callee.is(Kind::Callable))
    return fail(
        absl::StrCat("a value of type ", typeName(callee), " can't be called"));
  const Callable &callable = callee.callable();
  if (callable.macro)
    return callMacro(callable, arguments);
  if (callable.self.is(Kind::Undefined))
    return callFunction(*this, callable.name, arguments);
  return callMethod(*this, callable.self, callable.name, arguments);
}

} // namespace sol::text::jinja
