//===- parser.cpp - tokens to a tree --------------------------------------===//
// Recursive descent with Jinja's order of operators. Nesting is bounded; long
// chains loop.
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/text/jinja/builtins.h"
#include "runtime/text/jinja/lexer.h"
#include "runtime/text/jinja/syntax.h"

namespace sol::text::jinja {
namespace {

constexpr int maxDepth = 100;
constexpr size_t maxNodes = 1'000'000;

class Parser {
public:
  explicit Parser(std::vector<Token> tokens) : tokens(std::move(tokens)) {}

  absl::StatusOr<Tree> run() {
    tree.root = body({});
    if (!error.ok())
      return error;
    return std::move(tree);
  }

private:
  // Tokens.
  const Token &peek() const { return tokens[at]; }
  const Token &take() { return tokens[at + 1 < tokens.size() ? at++ : at]; }
  bool isOperator(std::string_view text) const {
    return peek().kind == TokenKind::Operator && peek().text == text;
  }
  bool isName(std::string_view text) const {
    return peek().kind == TokenKind::Name && peek().text == text;
  }
  bool takeOperator(std::string_view text) {
    bool matches = isOperator(text);
    if (matches)
      take();
    return matches;
  }
  bool takeName(std::string_view text) {
    bool matches = isName(text);
    if (matches)
      take();
    return matches;
  }
  void fail(absl::string_view what,
            absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
    if (error.ok())
      error = absl::Status(
          code, absl::StrCat("template line ", peek().line, ": ", what));
    at = tokens.size() - 1; // everything ends at the last token
  }
  void expectOperator(std::string_view text) {
    if (!takeOperator(text))
      fail(absl::StrCat("expected `", std::string(text), "`, got ", shown()));
  }
  std::string expectName() {
    if (peek().kind == TokenKind::Name)
      return take().text;
    fail(absl::StrCat("expected a name, got ", shown()));
    return {};
  }
  std::string shown() const {
    switch (peek().kind) {
    case TokenKind::End:
      return "the end of the template";
    case TokenKind::BlockEnd:
      return "`%}`";
    case TokenKind::PrintEnd:
      return "`}}`";
    default:
      return "`" + peek().text.substr(0, 40) + "`";
    }
  }

  // Nodes.
  Node *make(NodeKind kind) {
    if (tree.nodes.size() >= maxNodes)
      fail("the template is too long");
    tree.nodes.push_back(std::make_unique<Node>());
    tree.nodes.back()->kind = kind;
    tree.nodes.back()->line = peek().line;
    return tree.nodes.back().get();
  }
  Node *constant(Value value) {
    Node *node = make(NodeKind::Constant);
    node->constant = std::move(value);
    return node;
  }
  Node *binary(std::string text, const Node *left, const Node *right) {
    Node *node = make(NodeKind::Binary);
    node->text = std::move(text);
    node->children = {left, right};
    return node;
  }

  const Node *body(const std::vector<std::string_view> &ends);
  const Node *block();
  const Node *ifStatement();
  const Node *forStatement();
  const Node *setStatement();
  const Node *macroStatement();
  void endBlock();
  void expectEnd(std::string_view name);
  std::vector<std::string> targetNames();

  const Node *expression(bool withConditional = true);
  const Node *tupleOrExpression();
  const Node *conditional();
  const Node *orTerm();
  const Node *andTerm();
  const Node *notTerm();
  const Node *comparison();
  const Node *sum();
  const Node *concatenation();
  const Node *product();
  const Node *power();
  const Node *unary(bool withFilters);
  const Node *primary();
  const Node *named();
  const Node *parenthesized();
  const Node *listLiteral();
  const Node *dictLiteral();
  const Node *postfix(const Node *node);
  const Node *subscript(const Node *node);
  const Node *filters(const Node *node);
  const Node *oneFilter(const Node *node);
  const Node *test(const Node *node);
  std::vector<Argument> callArguments();

  struct Nest {
    explicit Nest(Parser &parser) : parser(parser) {
      if (++parser.depth > maxDepth)
        parser.fail("the template nests too deeply");
    }
    ~Nest() { --parser.depth; }
    Parser &parser;
  };

  std::vector<Token> tokens;
  size_t at = 0;
  int depth = 0;
  int loops = 0;
  Tree tree;
  absl::Status error;
};

// Statements up to a block whose name is in `ends` (its name is still to be
// taken), or to the template's end.
const Node *Parser::body(const std::vector<std::string_view> &ends) {
  Nest nest(*this);
  Node *node = make(NodeKind::Block);
  while (error.ok()) {
    if (peek().kind == TokenKind::End) {
      if (!ends.empty())
        fail(absl::StrCat("expected `{% ", std::string(ends.back()),
                          " %}` before the end of the template"));
      break;
    }
    if (peek().kind == TokenKind::Text) {
      Node *text = make(NodeKind::Text);
      text->text = take().text;
      node->children.push_back(text);
    } else if (peek().kind == TokenKind::PrintBegin) {
      Node *print = make(NodeKind::Print);
      take();
      print->children = {tupleOrExpression()};
      if (peek().kind != TokenKind::PrintEnd)
        fail(absl::StrCat("expected `}}`, got ", shown()));
      take();
      node->children.push_back(print);
    } else {
      take(); // BlockBegin
      for (std::string_view end : ends)
        if (isName(end))
          return node;
      if (const Node *made = block())
        node->children.push_back(made);
    }
  }
  return node;
}

void Parser::endBlock() {
  if (peek().kind != TokenKind::BlockEnd)
    fail(absl::StrCat("expected `%}`, got ", shown()));
  take();
}

void Parser::expectEnd(std::string_view name) {
  if (!takeName(name))
    fail(absl::StrCat("expected `", std::string(name), "`, got ", shown()));
  endBlock();
}

const Node *Parser::block() {
  std::string name = expectName();
  if (name == "if")
    return ifStatement();
  if (name == "for")
    return forStatement();
  if (name == "set")
    return setStatement();
  if (name == "macro")
    return macroStatement();
  if (name == "generation") { // marks what the model says, for training
    endBlock();
    const Node *inside = body({"endgeneration"});
    expectEnd("endgeneration");
    return inside;
  }
  if (name == "break" || name == "continue") {
    if (loops == 0)
      fail(absl::StrCat("`", name, "` outside a loop"));
    Node *node = make(name == "break" ? NodeKind::Break : NodeKind::Continue);
    endBlock();
    return node;
  }
  for (const char *known : {"include", "import", "from", "extends", "block",
                            "call", "filter", "with", "autoescape", "do"})
    if (name == known)
      fail(absl::StrCat("the statement `", name,
                        "` isn't supported in chat templates"),
           absl::StatusCode::kUnimplemented);
  fail(absl::StrCat("unknown statement `", name, "`"));
  return nullptr;
}

const Node *Parser::ifStatement() {
  Node *node = make(NodeKind::If);
  node->children.push_back(tupleOrExpression());
  endBlock();
  while (error.ok()) {
    node->children.push_back(body({"elif", "else", "endif"}));
    if (takeName("elif")) {
      node->children.push_back(tupleOrExpression());
      endBlock();
      continue;
    }
    if (takeName("else")) {
      endBlock();
      node->children.push_back(body({"endif"}));
    }
    expectEnd("endif");
    break;
  }
  return node;
}

// One name, or several that a tuple is spread over.
std::vector<std::string> Parser::targetNames() {
  bool parenthesis = takeOperator("(");
  std::vector<std::string> names{expectName()};
  while (takeOperator(",") && peek().kind == TokenKind::Name && !isName("in"))
    names.push_back(expectName());
  if (parenthesis)
    expectOperator(")");
  return names;
}

const Node *Parser::forStatement() {
  Node *node = make(NodeKind::For);
  node->targets = targetNames();
  if (!takeName("in"))
    fail(absl::StrCat("expected `in`, got ", shown()));
  const Node *iterable = nullptr;
  {
    const Node *first = expression(/*withConditional=*/false);
    if (isOperator(",")) {
      Node *tuple = make(NodeKind::TupleLiteral);
      tuple->children.push_back(first);
      while (takeOperator(","))
        tuple->children.push_back(expression(false));
      first = tuple;
    }
    iterable = first;
  }
  const Node *filter = takeName("if") ? expression() : nullptr;
  if (isName("recursive"))
    fail("recursive loops aren't supported in chat templates",
         absl::StatusCode::kUnimplemented);
  endBlock();
  ++loops;
  const Node *inside = body({"else", "endfor"});
  --loops;
  const Node *otherwise = nullptr;
  if (takeName("else")) {
    endBlock();
    otherwise = body({"endfor"});
  }
  expectEnd("endfor");
  node->children = {iterable, filter, inside, otherwise};
  return node;
}

const Node *Parser::setStatement() {
  Node *node = make(NodeKind::Set);
  if (peek().kind == TokenKind::Name &&
      tokens[at + 1].kind == TokenKind::Operator &&
      tokens[at + 1].text == ".") {
    node->text = expectName();
    take();
    node->attribute = expectName();
  } else {
    node->targets = targetNames();
  }
  if (takeOperator("=")) {
    node->children = {tupleOrExpression()};
    endBlock();
    return node;
  }
  node->kind = NodeKind::SetBlock;
  const Node *filter = nullptr;
  while (takeOperator("|"))
    filter = oneFilter(filter);
  endBlock();
  node->children = {body({"endset"}), filter};
  expectEnd("endset");
  return node;
}

const Node *Parser::macroStatement() {
  Node *node = make(NodeKind::Macro);
  node->text = expectName();
  expectOperator("(");
  while (error.ok() && !isOperator(")")) {
    std::string name = expectName();
    node->arguments.push_back(
        {name, takeOperator("=") ? expression() : nullptr});
    if (!takeOperator(","))
      break;
  }
  expectOperator(")");
  endBlock();
  int outer = loops;
  loops = 0;
  node->children = {body({"endmacro"})};
  loops = outer;
  expectEnd("endmacro");
  return node;
}

const Node *Parser::tupleOrExpression() {
  const Node *first = expression();
  if (!isOperator(","))
    return first;
  Node *tuple = make(NodeKind::TupleLiteral);
  tuple->children.push_back(first);
  while (takeOperator(",")) {
    if (peek().kind == TokenKind::BlockEnd ||
        peek().kind == TokenKind::PrintEnd)
      break;
    tuple->children.push_back(expression());
  }
  return tuple;
}

const Node *Parser::expression(bool withConditional) {
  Nest nest(*this);
  if (!error.ok())
    return constant(Value());
  return withConditional ? conditional() : orTerm();
}

const Node *Parser::conditional() {
  const Node *value = orTerm();
  while (takeName("if")) {
    Node *node = make(NodeKind::Conditional);
    const Node *condition = orTerm();
    node->children = {value, condition,
                      takeName("else") ? expression() : nullptr};
    value = node;
  }
  return value;
}

const Node *Parser::orTerm() {
  const Node *left = andTerm();
  while (takeName("or"))
    left = binary("or", left, andTerm());
  return left;
}

const Node *Parser::andTerm() {
  const Node *left = notTerm();
  while (takeName("and"))
    left = binary("and", left, notTerm());
  return left;
}

const Node *Parser::notTerm() {
  if (!takeName("not"))
    return comparison();
  Nest nest(*this);
  Node *node = make(NodeKind::Unary);
  node->text = "not";
  node->children = {notTerm()};
  return node;
}

const Node *Parser::comparison() {
  const Node *first = sum();
  Node *node = nullptr;
  while (error.ok()) {
    std::string op;
    for (const char *text : {"==", "!=", "<", "<=", ">", ">="})
      if (isOperator(text))
        op = text;
    if (!op.empty() || isName("in"))
      op = take().text;
    else if (isName("not") && tokens[at + 1].kind == TokenKind::Name &&
             tokens[at + 1].text == "in") {
      take();
      take();
      op = "not in";
    } else
      break;
    if (!node) {
      node = make(NodeKind::Compare);
      node->children.push_back(first);
    }
    node->operators.push_back(op);
    node->children.push_back(sum());
  }
  return node ? node : first;
}

const Node *Parser::sum() {
  const Node *left = concatenation();
  while (isOperator("+") || isOperator("-")) {
    std::string op = take().text;
    left = binary(op, left, concatenation());
  }
  return left;
}

const Node *Parser::concatenation() {
  const Node *left = product();
  while (takeOperator("~"))
    left = binary("~", left, product());
  return left;
}

const Node *Parser::product() {
  const Node *left = power();
  while (isOperator("*") || isOperator("/") || isOperator("//") ||
         isOperator("%")) {
    std::string op = take().text;
    left = binary(op, left, power());
  }
  return left;
}

const Node *Parser::power() {
  const Node *left = unary(true);
  while (takeOperator("**"))
    left = binary("**", left, unary(true));
  return left;
}

const Node *Parser::unary(bool withFilters) {
  Nest nest(*this);
  const Node *node = nullptr;
  if (isOperator("-") || isOperator("+")) {
    Node *made = make(NodeKind::Unary);
    made->text = take().text;
    made->children = {unary(false)};
    node = made;
  } else {
    node = primary();
  }
  node = postfix(node);
  return withFilters ? filters(node) : node;
}

const Node *Parser::primary() {
  switch (peek().kind) {
  case TokenKind::Name:
    return named();
  case TokenKind::String: {
    std::string text = take().text;
    while (peek().kind == TokenKind::String)
      text += take().text;
    return constant(Value::of(std::move(text)));
  }
  case TokenKind::Integer: {
    int64_t number = 0;
    if (!absl::SimpleAtoi(peek().text, &number))
      fail(absl::StrCat("the number ", peek().text.substr(0, 40),
                        " needs more than 64 bits"));
    take();
    return constant(Value::of(number));
  }
  case TokenKind::Float: {
    double number = 0;
    if (!absl::SimpleAtod(peek().text, &number))
      fail("a number isn't valid");
    take();
    return constant(Value::of(number));
  }
  default:
    if (takeOperator("("))
      return parenthesized();
    if (takeOperator("["))
      return listLiteral();
    if (takeOperator("{"))
      return dictLiteral();
    fail(absl::StrCat("expected an expression, got ", shown()));
    return constant(Value());
  }
}

const Node *Parser::named() {
  Node *node = make(NodeKind::Name);
  std::string text = take().text;
  node->text = text;
  if (text == "true" || text == "True" || text == "false" || text == "False") {
    node->kind = NodeKind::Constant;
    node->constant = Value::of(text[0] == 't' || text[0] == 'T');
  } else if (text == "none" || text == "None") {
    node->kind = NodeKind::Constant;
    node->constant = Value::none();
  }
  return node;
}

const Node *Parser::parenthesized() {
  Node *tuple = make(NodeKind::TupleLiteral);
  if (takeOperator(")"))
    return tuple;
  tuple->children.push_back(expression());
  bool isTuple = false;
  while (error.ok() && takeOperator(",")) {
    isTuple = true;
    if (isOperator(")"))
      break;
    tuple->children.push_back(expression());
  }
  expectOperator(")");
  return isTuple ? tuple : tuple->children[0];
}

const Node *Parser::listLiteral() {
  Node *node = make(NodeKind::ListLiteral);
  while (error.ok() && !isOperator("]")) {
    node->children.push_back(expression());
    if (!takeOperator(","))
      break;
  }
  expectOperator("]");
  return node;
}

const Node *Parser::dictLiteral() {
  Node *node = make(NodeKind::DictLiteral);
  while (error.ok() && !isOperator("}")) {
    node->children.push_back(expression());
    expectOperator(":");
    node->children.push_back(expression());
    if (!takeOperator(","))
      break;
  }
  expectOperator("}");
  return node;
}

const Node *Parser::postfix(const Node *node) {
  while (error.ok()) {
    if (takeOperator(".")) {
      Node *made = make(NodeKind::Attribute);
      if (peek().kind == TokenKind::Integer) { // a.0 is a[0]
        made->kind = NodeKind::Subscript;
        made->children = {node, primary()};
      } else {
        made->text = expectName();
        made->children = {node};
      }
      node = made;
    } else if (takeOperator("[")) {
      node = subscript(node);
    } else if (isOperator("(")) {
      Node *made = make(NodeKind::Call);
      made->arguments = callArguments();
      made->children = {node};
      node = made;
    } else {
      break;
    }
  }
  return node;
}

const Node *Parser::subscript(const Node *node) {
  Node *made = make(NodeKind::Subscript);
  made->children = {node};
  auto bound = [&]() -> const Node * {
    return isOperator(":") || isOperator("]") ? nullptr : expression();
  };
  const Node *first = bound();
  if (takeOperator(":")) {
    made->kind = NodeKind::Slice;
    const Node *stop = bound();
    const Node *step = takeOperator(":") ? bound() : nullptr;
    made->children = {node, first, stop, step};
  } else {
    if (!first) {
      fail("expected an expression in `[]`");
      first = constant(Value());
    }
    made->children.push_back(first);
  }
  expectOperator("]");
  return made;
}

std::vector<Argument> Parser::callArguments() {
  std::vector<Argument> arguments;
  expectOperator("(");
  while (error.ok() && !isOperator(")")) {
    if (isOperator("*") || isOperator("**"))
      fail("`*` in arguments isn't supported in chat templates",
           absl::StatusCode::kUnimplemented);
    std::string name;
    if (peek().kind == TokenKind::Name &&
        tokens[at + 1].kind == TokenKind::Operator &&
        tokens[at + 1].text == "=") {
      name = take().text;
      take();
    }
    arguments.push_back({name, expression()});
    if (!takeOperator(","))
      break;
  }
  expectOperator(")");
  return arguments;
}

const Node *Parser::filters(const Node *node) {
  while (error.ok()) {
    if (takeOperator("|"))
      node = oneFilter(node);
    else if (takeName("is"))
      node = test(node);
    else if (isOperator("(")) {
      Node *made = make(NodeKind::Call);
      made->arguments = callArguments();
      made->children = {node};
      node = made;
    } else
      break;
  }
  return node;
}

const Node *Parser::oneFilter(const Node *node) {
  Node *made = make(NodeKind::Filter);
  made->text = expectName();
  if (error.ok() && !isFilter(made->text))
    fail(absl::StrCat("no filter named `", made->text, "`"));
  if (isOperator("("))
    made->arguments = callArguments();
  made->children = {node};
  return made;
}

const Node *Parser::test(const Node *node) {
  Node *made = make(NodeKind::Test);
  made->negated = takeName("not");
  made->text = expectName();
  if (error.ok() && !isTest(made->text))
    fail(absl::StrCat("no test named `", made->text, "`"));
  if (isOperator("(")) {
    made->arguments = callArguments();
  } else {
    TokenKind kind = peek().kind;
    bool startsValue = kind == TokenKind::Name || kind == TokenKind::String ||
                       kind == TokenKind::Integer || kind == TokenKind::Float ||
                       isOperator("[") || isOperator("{");
    bool isWord = isName("else") || isName("or") || isName("and") ||
                  isName("is") || isName("if") || isName("in") || isName("not");
    if (startsValue && !isWord)
      made->arguments.push_back({"", postfix(primary())});
  }
  made->children = {node};
  return made;
}

} // namespace

absl::StatusOr<Tree> parseTemplate(std::string_view source) {
  absl::StatusOr<std::vector<Token>> tokens = tokenize(source);
  if (!tokens.ok())
    return tokens.status();
  return Parser(*std::move(tokens)).run();
}

} // namespace sol::text::jinja
