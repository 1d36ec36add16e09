//===- ExpertLoops.cpp - mixtures with a block for each expert ------------===//
//
// For each expert: the tokens that chose it are looked up, go through a gated
// network, are weighted, and are added to the result at their places. All
// blocks together become one operator if there is one for each expert and they
// differ in their matrices only.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/experts/ExpertEntries.h"
#include "lib/nn/recognize/experts/ExpertParts.h"

using namespace mlir;

namespace sol::nn::recognize {
namespace {

/// A product of an expert's rows, and its operands.
struct Product {
  Value rows, weights, bias;
  bool transposed = false;
};

/// One expert's block.
struct Contribution {
  int64_t expert = 0;
  Value tokens, weights, picks;
  Gated gated;
  bool interleaved = false;
  Product first, up, second; ///< `up` without weights: it is part of `first`
};

/// Reads a product of rows with a known matrix.
Product matchProduct(Value value) {
  auto linear = beforeUnitAxes(value).getDefiningOp<LinearOp>();
  if (!linear || linear.getPacked())
    return {};
  Value bias = linear.getBias();
  return {beforeUnitAxes(linear.getX()), linear.getWeight(),
          isa<NoneType>(bias.getType()) ? Value() : bias,
          !linear.getTransposed()};
}

/// The elements of a small integer vector, each a value of one element; null
/// where an element is known and stands in `numbers`.
struct SizeElements {
  SmallVector<Value> values;
  SmallVector<int64_t> numbers;
};
SizeElements elementsOf(Value vector) {
  SizeElements elements;
  if (auto numbers = intConstant(vector)) {
    elements.numbers = *numbers;
    elements.values.resize(numbers->size());
  } else if (Operation *concat = madeBy(vector, "Concat")) {
    for (Value operand : concat->getOperands()) {
      SizeElements part;
      if (intConstant(operand))
        part = elementsOf(operand);
      else if (staticSize(operand, 0) == 1)
        part = {{skipNoOps(operand)}, {0}};
      else
        return {};
      elements.values.append(part.values);
      elements.numbers.append(part.numbers);
    }
  }
  return elements;
}

/// The number of rows of `zeros` as its maker was given it; null if unknown.
Value rowsOperand(Value zeros) {
  Operation *filled = madeBy(zeros, "ConstantOfShape");
  SizeElements sizes =
      filled ? elementsOf(filled->getOperand(0)) : SizeElements();
  return sizes.values.size() == 2 ? sizes.values[0] : Value();
}

/// What an Expand that leaves its operand, rows x `width`, as it is was given.
/// Exporters expand rows to min(1, number of rows of the result); where that is
/// 0 there are no rows.
Value beforeExpand(Value value, int64_t width, Value zeros) {
  value = skipNoOps(value);
  Operation *expand = madeBy(value, "Expand");
  if (!expand)
    return value;
  SizeElements sizes = elementsOf(expand->getOperand(1));
  Value from = skipNoOps(expand->getOperand(0));
  bool widthStays = sizes.values.size() == 2 && !sizes.values[1] &&
                    (sizes.numbers[1] == 1 || sizes.numbers[1] == width);
  if (rankOf(from) != 2 || staticSize(from, 1) != width || !widthStays)
    return {};
  if (!sizes.values[0])
    return sizes.numbers[0] == 1 ? from : Value();
  Operation *least = madeBy(sizes.values[0], "Min");
  Value rows = rowsOperand(zeros);
  bool stays = least && rows && inEitherOrder(least, [&](Value one, Value all) {
                 return oneInt(one) == 1 && skipNoOps(all) == rows;
               });
  return stays ? from : Value();
}

/// Whether `index` names the entries' tokens, once for each of the columns.
bool indexesTokens(Value index, const ExpertEntries &entries) {
  index = skipNoOps(index);
  if (Operation *expand = madeBy(index, "Expand")) {
    Value column = skipNoOps(expand->getOperand(0));
    return rankOf(column) == 2 && staticSize(column, 1) == 1 &&
           rankOf(index) == 2 && entries.areTokens(column);
  }
  return false;
}

/// Reads the network of one expert off its rows' results.
bool readNetwork(Value value, Contribution &block) {
  block.second = matchProduct(value);
  auto gated = block.second.rows ? matchGated(block.second.rows) : std::nullopt;
  if (!gated)
    return false;
  block.gated = *gated;
  if (Value product = branchesOfOneProduct(*gated, block.interleaved)) {
    block.first = matchProduct(product);
    return block.first.rows != nullptr;
  }
  block.interleaved = false;
  block.first = matchProduct(gated->gate);
  block.up = matchProduct(gated->up);
  return block.first.rows && block.first.rows == block.up.rows;
}

/// Reads `updates`, which are put to the places of tokens.
std::optional<Contribution> matchUpdates(Value updates,
                                         const ExpertEntries &entries) {
  Operation *mul = madeBy(updates, "Mul");
  if (!mul || rankOf(entries.picks) != 2)
    return std::nullopt;
  Contribution block;
  auto found = inEitherOrder(mul, [&](Value, Value column) {
    if (rankOf(column) != 2 || staticSize(column, 1) != 1)
      return false;
    block.weights =
        selectedWeights(column, entries, staticSize(entries.picks, 1));
    return block.weights != nullptr;
  });
  if (!found || !readNetwork(found->first, block))
    return std::nullopt;
  block.tokens = selectedTokens(block.first.rows, entries);
  block.expert = entries.expert;
  block.picks = entries.picks;
  return block.tokens ? std::optional(block) : std::nullopt;
}

/// The entries whose tokens `index` has.
std::optional<ExpertEntries> entriesOf(Value index) {
  Operation *expand = madeBy(index, "Expand");
  Coordinates found =
      coordinatesOf(expand ? expand->getOperand(0) : skipNoOps(index));
  return found.nonZero ? matchEntries(found.nonZero) : std::nullopt;
}

/// Reads one term of the sum. A scatter that adds to an earlier sum gives that
/// one in `rest`.
std::optional<Contribution> matchTerm(Operation *scatter, Value &rest) {
  auto attr = scatter->getAttrOfType<StringAttr>("reduction");
  StringRef reduction = attr ? attr.getValue() : "none";
  Value before = skipNoOps(scatter->getOperand(0)),
        index = scatter->getOperand(1);
  bool elements = isOnnx(scatter, "ScatterElements");
  // An expert is chosen once by a token at most: to put is to add to zero.
  if (reduction == "add")
    rest = before;
  else if (reduction != "none" || !isZero(before))
    return std::nullopt;
  if (elements && fromStart(intAttr(scatter, "axis", 0), rankOf(before)) != 0)
    return std::nullopt;
  auto entries = entriesOf(index);
  if (!entries ||
      !(elements ? indexesTokens(index, *entries)
                 : rankOf(index) == 2 && staticSize(index, 1) == 1 &&
                       entries->areTokens(index)))
    return std::nullopt;
  Value updates =
      beforeExpand(scatter->getOperand(2), staticSize(before, 1), before);
  if (!updates || rankOf(updates) != 2 ||
      staticSize(updates, 1) != staticSize(before, 1))
    return std::nullopt;
  return matchUpdates(updates, *entries);
}

/// The terms of the sum `value`; false if one of them is nothing of the kind.
bool readTerms(Value value, SmallVectorImpl<Contribution> &blocks) {
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = skipNoOps(open.pop_back_val());
    if (isZero(next))
      continue;
    Operation *op = next.getDefiningOp();
    if (isOnnx(op, "Add")) {
      if (!sameShape(op->getOperand(0), value) ||
          !sameShape(op->getOperand(1), value))
        return false;
      open.append({op->getOperand(0), op->getOperand(1)});
      continue;
    }
    if (!isOnnx(op, "ScatterElements") && !isOnnx(op, "ScatterND"))
      return false;
    Value rest;
    auto block = matchTerm(op, rest);
    if (!block)
      return false;
    blocks.push_back(*block);
    if (rest)
      open.push_back(rest);
  }
  return !blocks.empty();
}

/// Whether two blocks differ in the expert and its matrices only.
bool alike(const Contribution &a, const Contribution &b) {
  auto sameForm = [](const Product &x, const Product &y) {
    return x.transposed == y.transposed && !x.bias == !y.bias &&
           !x.weights == !y.weights;
  };
  return a.tokens == b.tokens && a.weights == b.weights && a.picks == b.picks &&
         a.gated.alpha == b.gated.alpha && a.gated.beta == b.gated.beta &&
         a.gated.limit == b.gated.limit && a.interleaved == b.interleaved &&
         sameForm(a.first, b.first) && sameForm(a.up, b.up) &&
         sameForm(a.second, b.second);
}

ExpertMatrix matrixOf(ArrayRef<Contribution> blocks,
                      Product Contribution::*which) {
  ExpertMatrix matrix;
  matrix.transposed = (blocks.front().*which).transposed;
  for (const Contribution &block : blocks) {
    const Product &product = block.*which;
    if (product.weights)
      matrix.weights.push_back(product.weights);
    if (product.bias)
      matrix.bias.push_back(product.bias);
  }
  return matrix;
}

std::optional<Mixture> matchMixture(Value result) {
  SmallVector<Contribution> blocks;
  if (rankOf(result) != 2 || !readTerms(result, blocks))
    return std::nullopt;
  auto router = matchRouter(blocks.front().weights);
  if (!router || router->top->getResult(1) != blocks.front().picks ||
      router->experts != int64_t(blocks.size()))
    return std::nullopt;
  llvm::sort(blocks, [](const Contribution &a, const Contribution &b) {
    return a.expert < b.expert;
  });
  for (auto [expert, block] : llvm::enumerate(blocks))
    if (block.expert != int64_t(expert) || !alike(block, blocks.front()))
      return std::nullopt;
  Mixture mixture;
  mixture.tokens = blocks.front().tokens;
  mixture.router = *router;
  mixture.gated = blocks.front().gated;
  mixture.interleaved = blocks.front().interleaved;
  mixture.first = matrixOf(blocks, &Contribution::first);
  mixture.up = matrixOf(blocks, &Contribution::up);
  mixture.second = matrixOf(blocks, &Contribution::second);
  bool good =
      sameSize(router->logits, 0, mixture.tokens, 0) && fits(mixture, result);
  return good ? std::optional(mixture) : std::nullopt;
}

} // namespace

void populateExpertLoops(RewritePatternSet &patterns) {
  for (StringRef root : {"onnx.Add", "onnx.ScatterElements", "onnx.ScatterND"})
    addMixturePattern(patterns, root, [](Operation *last) {
      return matchMixture(last->getResult(0));
    });
}

} // namespace sol::nn::recognize
