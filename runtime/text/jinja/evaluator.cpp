//===- evaluator.cpp - statements of a template ---------------------------===//
// Scopes follow Jinja: a loop's or macro's assignments stay inside, those in an
// if or a block do not.
#include "runtime/text/jinja/evaluator.h"

#include "absl/strings/str_cat.h"
#include <ctime>

namespace sol::text {

struct ChatTemplate::Parsed {
  jinja::Tree tree;
};

absl::StatusOr<ChatTemplate> ChatTemplate::parse(std::string_view source) {
  absl::StatusOr<jinja::Tree> tree = jinja::parseTemplate(source);
  if (!tree.ok())
    return tree.status();
  ChatTemplate made;
  made.parsed = std::make_shared<const Parsed>(Parsed{*std::move(tree)});
  return made;
}

absl::StatusOr<std::string>
ChatTemplate::render(const nlohmann::ordered_json &variables,
                     const RenderOptions &options) const {
  if (!variables.is_object())
    return absl::InvalidArgumentError(
        "the variables of a chat template are no JSON object");
  absl::StatusOr<jinja::Value> value = jinja::fromJson(variables);
  if (!value.ok())
    return value.status();
  return jinja::Evaluator(options, *std::move(value)).render(parsed->tree.root);
}

namespace {

// Copying recurses, so the depth is looked at first; each level is one array or
// object.
bool isDeep(const nlohmann::json &json, int depth) {
  if (!json.is_structured())
    return false;
  if (depth >= jinja::maxValueDepth)
    return true;
  for (const auto &item : json)
    if (isDeep(item, depth + 1))
      return true;
  return false;
}

} // namespace

absl::StatusOr<std::string>
ChatTemplate::render(const nlohmann::json &variables,
                     const RenderOptions &options) const {
  if (isDeep(variables, 0))
    return absl::InvalidArgumentError("the variables nest too deeply");
  return render(nlohmann::ordered_json(variables), options);
}

namespace jinja {
namespace {

constexpr int maxDepth = 600;

} // namespace

const Value *Arguments::find(size_t position, std::string_view name) const {
  if (position < positional.size())
    return &positional[position];
  for (const auto &[key, value] : named)
    if (key == name)
      return &value;
  return nullptr;
}

Evaluator::Evaluator(const RenderOptions &options, Value variables)
    : options(options) {
  global = &scopes.emplace_back();
  for (const auto &[name, value] : variables.dict().entries)
    global->names[name] = value;
}

absl::StatusOr<std::string> Evaluator::render(const Node *root) {
  std::string out;
  execute(root, *global, out);
  if (!status.ok())
    return status;
  return out;
}

Value Evaluator::fail(absl::string_view what, absl::StatusCode code) {
  if (status.ok())
    status =
        absl::Status(code, absl::StrCat("template line ", line, ": ", what));
  return Value();
}

bool Evaluator::spend(int64_t moreSteps, int64_t moreBytes) {
  steps += moreSteps;
  bytes += moreBytes;
  if (steps > options.maxSteps)
    fail(absl::StrCat("the template takes more than ", options.maxSteps,
                      " steps"),
         absl::StatusCode::kResourceExhausted);
  if (bytes > options.maxBytes)
    fail(absl::StrCat("the template makes more than ", options.maxBytes,
                      " bytes"),
         absl::StatusCode::kResourceExhausted);
  return status.ok();
}

Value Evaluator::text(std::string made) {
  if (!spend(1, static_cast<int64_t>(made.size()) + 64))
    return Value();
  return Value::of(std::move(made));
}

int64_t Evaluator::now() const {
  return options.now ? *options.now : static_cast<int64_t>(std::time(nullptr));
}

Evaluator::Flow Evaluator::execute(const Node *node, Scope &scope,
                                   std::string &out) {
  if (!node || !ok() || !spend(1))
    return Flow::Next;
  line = node->line;
  if (depth >= maxDepth) { // statements inside macros that call each other
    fail("statements nest too deeply", absl::StatusCode::kResourceExhausted);
    return Flow::Next;
  }
  ++depth;
  Flow flow = executeKind(node, scope, out);
  --depth;
  return flow;
}

Evaluator::Flow Evaluator::executeKind(const Node *node, Scope &scope,
                                       std::string &out) {
  switch (node->kind) {
  case NodeKind::Block:
    for (const Node *child : node->children)
      if (Flow flow = execute(child, scope, out); flow != Flow::Next || !ok())
        return flow;
    return Flow::Next;
  case NodeKind::Text:
    spend(0, static_cast<int64_t>(node->text.size()));
    out += node->text;
    return Flow::Next;
  case NodeKind::Print: {
    std::string made = toText(evaluate(node->children[0], scope));
    if (spend(0, static_cast<int64_t>(made.size())))
      out += made;
    return Flow::Next;
  }
  case NodeKind::If:
    return executeIf(node, scope, out);
  case NodeKind::For:
    return executeFor(node, scope, out);
  case NodeKind::Set:
  case NodeKind::SetBlock:
    executeSet(node, scope);
    return Flow::Next;
  case NodeKind::Macro: {
    auto macro = std::make_shared<Callable>();
    macro->name = node->text;
    macro->macro = node;
    macro->scope = &scope;
    scope.names[node->text] =
        Value::of(std::shared_ptr<const Callable>(std::move(macro)));
    return Flow::Next;
  }
  case NodeKind::Break:
    return Flow::Break;
  case NodeKind::Continue:
    return Flow::Continue;
  default:
    fail("a statement is malformed");
    return Flow::Next;
  }
}

Evaluator::Flow Evaluator::executeIf(const Node *node, Scope &scope,
                                     std::string &out) {
  size_t i = 0;
  for (; i + 1 < node->children.size(); i += 2) {
    bool taken = isTrue(evaluate(node->children[i], scope));
    if (!ok())
      return Flow::Next;
    if (taken)
      return execute(node->children[i + 1], scope, out);
  }
  return i < node->children.size() ? execute(node->children[i], scope, out)
                                   : Flow::Next;
}

Value Evaluator::loopObject(const List &items, size_t index, Scope &scope) {
  auto count = static_cast<int64_t>(items.size()),
       at = static_cast<int64_t>(index);
  Namespace *loop = scope.names["loop"].is(Kind::Namespace)
                        ? scope.names["loop"].space()
                        : newNamespace();
  auto &values = loop->values;
  values["index"] = Value::of(at + 1);
  values["index0"] = Value::of(at);
  values["revindex"] = Value::of(count - at);
  values["revindex0"] = Value::of(count - at - 1);
  values["first"] = Value::of(at == 0);
  values["last"] = Value::of(at + 1 == count);
  values["length"] = Value::of(count);
  // Only a recursive loop, which isn't supported, goes deeper.
  values["depth"] = Value::of(int64_t{1});
  values["depth0"] = Value::of(int64_t{0});
  values["previtem"] =
      index > 0 ? items[index - 1] : Value::undefined("loop.previtem");
  values["nextitem"] = index + 1 < items.size()
                           ? items[index + 1]
                           : Value::undefined("loop.nextitem");
  return Value::of(loop);
}

Evaluator::Flow Evaluator::executeFor(const Node *node, Scope &scope,
                                      std::string &out) {
  const Node *filter = node->children[1], *inside = node->children[2],
             *otherwise = node->children[3];
  List items = iterate(evaluate(node->children[0], scope));
  if (!spend(static_cast<int64_t>(items.size()),
             static_cast<int64_t>(items.size() * sizeof(Value))))
    return Flow::Next;
  if (filter) {
    List kept;
    Scope probe;
    probe.outer = &scope;
    for (const Value &item : items) {
      assign(node->targets, item, probe);
      if (isTrue(evaluate(filter, probe)))
        kept.push_back(item);
      if (!ok())
        return Flow::Next;
    }
    items = std::move(kept);
  }
  if (items.empty())
    return execute(otherwise, scope, out);
  Value loop;
  for (size_t i = 0; i < items.size() && ok(); ++i) {
    // Each round begins without the names that the last one set. A macro may
    // keep the scope.
    if (!spend(1, sizeof(Scope)))
      break;
    Scope &round = scopes.emplace_back();
    round.outer = &scope;
    if (i > 0)
      round.names["loop"] = loop;
    loop = loopObject(items, i, round);
    round.names["loop"] = loop;
    assign(node->targets, items[i], round);
    Flow flow = execute(inside, round, out);
    if (flow == Flow::Break)
      break;
  }
  return Flow::Next;
}

void Evaluator::assign(const std::vector<std::string> &targets,
                       const Value &value, Scope &scope) {
  if (targets.size() == 1) {
    scope.names[targets[0]] = value;
    return;
  }
  List parts = iterate(value);
  if (!ok())
    return;
  if (parts.size() != targets.size()) {
    fail(absl::StrCat("cannot spread ", parts.size(), " values over ",
                      targets.size(), " names"));
    return;
  }
  for (size_t i = 0; i < targets.size(); ++i)
    scope.names[targets[i]] = parts[i];
}

void Evaluator::executeSet(const Node *node, Scope &scope) {
  Value value;
  if (node->kind == NodeKind::Set) {
    value = evaluate(node->children[0], scope);
  } else {
    std::string made;
    Scope &inside = scopes.emplace_back();
    inside.outer = &scope;
    execute(node->children[0], inside, made);
    value = text(std::move(made));
    // The filters hang from the last to the first; each works on the one below
    // it.
    std::vector<const Node *> filters;
    for (const Node *filter = node->children[1]; filter;
         filter = filter->children[0])
      filters.push_back(filter);
    for (auto filter = filters.rbegin(); filter != filters.rend() && ok();
         ++filter)
      value = applyFilter(*this, (*filter)->text, value,
                          evaluateArguments(*filter, scope));
  }
  if (!ok())
    return;
  if (node->attribute.empty())
    return assign(node->targets, value, scope);
  Value space = lookUp(node->text, scope);
  if (!space.is(Kind::Namespace)) {
    fail(absl::StrCat("cannot set `", node->text, ".", node->attribute,
                      "`: only a namespace can change"));
    return;
  }
  space.space()->values[node->attribute] = value;
}

Value Evaluator::callMacro(const Callable &callable,
                           const Arguments &arguments) {
  const Node *macro = callable.macro;
  if (arguments.positional.size() > macro->arguments.size())
    return fail(absl::StrCat("macro `", macro->text, "` takes ",
                             macro->arguments.size(), " arguments, got ",
                             arguments.positional.size()));
  for (const auto &[name, value] : arguments.named) {
    bool known = false;
    for (const Argument &parameter : macro->arguments)
      known |= parameter.name == name;
    if (!known)
      return fail(absl::StrCat("macro `", macro->text, "` has no parameter `",
                               name, "`"));
  }
  if (++depth > maxDepth) {
    --depth;
    return fail("macros call each other too deeply",
                absl::StatusCode::kResourceExhausted);
  }
  spend(1, sizeof(Scope));
  Scope &scope = scopes.emplace_back();
  scope.outer = callable.scope;
  for (size_t i = 0; i < macro->arguments.size(); ++i) {
    const Argument &parameter = macro->arguments[i];
    const Value *given = arguments.find(i, parameter.name);
    Value value = given             ? *given
                  : parameter.value ? evaluate(parameter.value, scope)
                                    : Value::undefined(parameter.name);
    scope.names[parameter.name] = value;
  }
  std::string out;
  execute(macro->children[0], scope, out);
  --depth;
  return text(std::move(out));
}

// Every value passes here, so depth and nesting are bounded in one place.
Value Evaluator::evaluate(const Node *node, Scope &scope) {
  if (!ok() || !spend(1))
    return Value();
  if (depth >= maxDepth)
    return fail("expressions nest too deeply",
                absl::StatusCode::kResourceExhausted);
  ++depth;
  line = node->line;
  Value value = evaluateKind(node, scope);
  --depth;
  if (value.depth() > maxValueDepth)
    return fail("lists nest too deeply", absl::StatusCode::kResourceExhausted);
  return value;
}

} // namespace jinja
} // namespace sol::text
