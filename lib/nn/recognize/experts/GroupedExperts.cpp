//===- GroupedExperts.cpp - mixtures with rows sorted by expert -----------===//
//
// All choices of all tokens are sorted by expert; the rows of their tokens, in
// this order, go through products that take each expert's matrix for its run of
// rows; the results are weighted, put back into the order of tokens, and summed
// over a token's choices. Where runs end is counted: a histogram and its sums.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/experts/ExpertParts.h"

#include <cmath>

using namespace mlir;

namespace sol::nn::recognize {
namespace {

/// The choices of all tokens in order, sorted by expert.
struct Sorted {
  Value picks;   ///< tokens x count, as TopK gave them
  Value experts; ///< the vector of sorted experts
  Value places;  ///< where in `picks` each of them stands, counted through
  int64_t count = 0, expertCount = 0;
};

/// The source of rows that stand at `index`, a vector, in it: by Gather, or
/// GatherND with the vector as a column. Null if it is nothing of the kind.
Value gatheredRows(Value value, llvm::function_ref<bool(Value)> isIndex) {
  value = skipNoOps(value);
  Operation *op = value.getDefiningOp();
  bool nd = isOnnx(op, "GatherND");
  if (!nd && !isOnnx(op, "Gather"))
    return {};
  Value index = op->getOperand(1);
  bool good =
      nd ? intAttr(op, "batch_dims", 0) == 0 && rankOf(index) == 2 &&
               staticSize(index, 1) == 1
         : fromStart(intAttr(op, "axis", 0), rankOf(op->getOperand(0))) == 0 &&
               rankOf(index) == 1;
  Value vector = good ? beforeUnitAxes(index) : Value();
  return vector && isIndex(vector) ? skipNoOps(op->getOperand(0)) : Value();
}

/// One entry of a vector: by Split into single entries, Gather or Slice.
struct Entry {
  Value vector;
  int64_t index = -1;
};
Entry entryOf(Value value) {
  value = beforeUnitAxes(value);
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() == 0 || rankOf(op->getOperand(0)) != 1)
    return {};
  Value vector = skipNoOps(op->getOperand(0));
  if (isOnnx(op, "Split"))
    return int64_t(op->getNumResults()) == staticSize(vector, 0)
               ? Entry{vector, int64_t(cast<OpResult>(value).getResultNumber())}
               : Entry{};
  if (isOnnx(op, "Gather"))
    return {vector, oneInt(op->getOperand(1)).value_or(-1)};
  auto from = isOnnx(op, "Slice") ? oneInt(operandOrNull(op, 1)) : std::nullopt;
  auto to = from ? oneInt(operandOrNull(op, 2)) : std::nullopt;
  return to && *to == *from + 1 && *from >= 0 ? Entry{vector, *from} : Entry{};
}

/// `value` before conversions between integers.
Value beforeIntegerCasts(Value value) {
  value = skipNoOps(value);
  while (Operation *cast = madeBy(value, "Cast")) {
    if (!isa<IntegerType>(getElementTypeOrSelf(cast->getOperand(0))) ||
        getElementTypeOrSelf(value).getIntOrFloatBitWidth() < 32)
      break;
    value = skipNoOps(cast->getOperand(0));
  }
  return value;
}

/// Whether `bins` equals `sorted.experts`, or is the bin of each of them in a
/// histogram whose bins are the experts.
bool areBins(Value bins, const Sorted &sorted) {
  double low = -INFINITY, high = INFINITY;
  bins = beforeIntegerCasts(bins);
  if (bins == sorted.experts)
    return true;
  if (Operation *clip = madeBy(bins, "Clip")) {
    auto least = scalarConstant(operandOrNull(clip, 1), 0);
    auto most = scalarConstant(operandOrNull(clip, 2), 0);
    if (!least || !most)
      return false;
    low = *least;
    high = *most;
    bins = clip->getOperand(0);
  }
  Operation *down = madeBy(bins, "Cast");
  Operation *div = down ? madeBy(down->getOperand(0), "Div") : nullptr;
  Operation *up = div ? madeBy(div->getOperand(0), "Cast") : nullptr;
  auto width = up ? scalarConstant(div->getOperand(1), 1) : std::nullopt;
  if (!width || *width <= 0 || !getElementTypeOrSelf(bins).isInteger(64) ||
      !getElementTypeOrSelf(up->getResult(0)).isF32() ||
      skipNoOps(up->getOperand(0)) != sorted.experts)
    return false;
  for (int64_t expert = 0; expert < sorted.expertCount; ++expert) {
    double bin = std::trunc(float(expert) / float(*width));
    if (std::clamp(bin, low, high) != double(expert))
      return false;
  }
  return true;
}

/// Whether `ends` has, for each expert, where its run of rows ends.
bool areRunEnds(Value ends, const Sorted &sorted) {
  Operation *sums = madeBy(beforeIntegerCasts(ends), "CumSum");
  if (!sums || intAttr(sums, "exclusive", 0) != 0 ||
      intAttr(sums, "reverse", 0) != 0)
    return false;
  Value counts = beforeIntegerCasts(sums->getOperand(0));
  if (Operation *whole = madeBy(counts, "Cast"))
    counts = whole->getOperand(0); // Counts in floats are whole numbers.
  Operation *scatter = madeBy(counts, "ScatterElements");
  auto reduction =
      scatter ? scatter->getAttrOfType<StringAttr>("reduction") : nullptr;
  if (!reduction || reduction.getValue() != "add" ||
      !isZero(scatter->getOperand(0)) || rankOf(scatter->getOperand(0)) != 1 ||
      staticSize(scatter->getOperand(0), 0) != sorted.expertCount)
    return false;
  Value ones = skipNoOps(scatter->getOperand(2));
  if (Operation *expand = madeBy(ones, "Expand"))
    ones = expand->getOperand(0);
  auto one = uniformConstant(ones);
  return one && *one == 1 && areBins(scatter->getOperand(1), sorted);
}

/// Whether `range` counts through the rows of `expert`.
bool isRun(Value range, int64_t expert, const Sorted &sorted) {
  Operation *op = madeBy(range, "Range");
  if (!op || oneInt(op->getOperand(2)) != 1)
    return false;
  Entry end = entryOf(op->getOperand(1)), start = entryOf(op->getOperand(0));
  bool startFits =
      expert == 0 ? oneInt(op->getOperand(0)) == 0
                  : start.vector == end.vector && start.index == expert - 1;
  return startFits && end.vector && end.index == expert &&
         areRunEnds(end.vector, sorted);
}

/// `value` as the product of sorted rows with their experts' matrices and a
/// bias. `rows` is set to the other factor.
std::optional<ExpertMatrix> matchProduct(Value value, const Sorted &sorted,
                                         Value &rows) {
  ExpertMatrix matrix;
  value = skipNoOps(value);
  if (Operation *add = madeBy(value, "Add")) {
    // All rows belong to an expert, so both sides have as many.
    auto found = inEitherOrder(add, [&](Value product, Value bias) {
      Value all = gatheredRows(
          bias, [&](Value index) { return index == sorted.experts; });
      if (!all || !isKnown(all) || rankOf(all) != 2 ||
          staticSize(all, 1) != staticSize(product, 1))
        return false;
      matrix.bias = {all};
      return true;
    });
    if (!found)
      return std::nullopt;
    value = skipNoOps(found->first);
  }
  Operation *concat = madeBy(value, "Concat");
  if (!concat || fromStart(intAttr(concat, "axis", 0), 2) != 0 ||
      int64_t(concat->getNumOperands()) != sorted.expertCount)
    return std::nullopt;
  rows = {};
  for (auto [expert, run] : llvm::enumerate(concat->getOperands())) {
    auto linear = skipNoOps(run).getDefiningOp<LinearOp>();
    if (!linear || linear.getPacked() ||
        !isa<NoneType>(linear.getBias().getType()) ||
        (expert > 0 && linear.getTransposed() == matrix.transposed))
      return std::nullopt;
    matrix.transposed = !linear.getTransposed();
    Value from = gatheredRows(linear.getX(), [&](Value range) {
      return isRun(range, int64_t(expert), sorted);
    });
    if (!from || (expert > 0 && from != rows))
      return std::nullopt;
    rows = from;
    matrix.weights.push_back(linear.getWeight());
  }
  return rows ? std::optional(matrix) : std::nullopt;
}

/// Whether `correction` is certainly zero: a conjunction with "place < 0".
bool isNoCorrection(Value correction, Value places) {
  Operation *cast = madeBy(correction, "Cast");
  Operation *both = cast ? madeBy(cast->getOperand(0), "And") : nullptr;
  return both && inEitherOrder(both, [&](Value negative, Value) {
           Operation *less = madeBy(negative, "Less");
           if (Operation *equal = madeBy(negative, "Equal")) {
             auto truth = uniformConstant(equal->getOperand(1));
             less = truth && *truth != 0 ? madeBy(equal->getOperand(0), "Less")
                                         : nullptr;
           }
           return less && skipNoOps(less->getOperand(0)) == places &&
                  oneInt(less->getOperand(1)) == 0;
         });
}

/// Whether `tokens` has the token of each place: place / count, rounded down.
bool areTokensOf(Value tokens, const Sorted &sorted) {
  Operation *div = madeBy(tokens, "Div");
  if (Operation *sub = madeBy(tokens, "Sub"))
    div = isNoCorrection(sub->getOperand(1), sorted.places)
              ? madeBy(sub->getOperand(0), "Div")
              : nullptr;
  return div && skipNoOps(div->getOperand(0)) == sorted.places &&
         oneInt(div->getOperand(1)) == sorted.count;
}

/// The permutation of which `inverse` is the inverse: counting numbers put at
/// its places.
Value inverseOf(Value inverse) {
  inverse = skipNoOps(inverse);
  Operation *scatter = inverse.getDefiningOp();
  bool nd = isOnnx(scatter, "ScatterND");
  if ((!nd && !isOnnx(scatter, "ScatterElements")) || rankOf(inverse) != 1)
    return {};
  auto reduction = scatter->getAttrOfType<StringAttr>("reduction");
  Value places = beforeUnitAxes(scatter->getOperand(1));
  Operation *range = madeBy(scatter->getOperand(2), "Range");
  bool good = range && (!reduction || reduction.getValue() == "none") &&
              oneInt(range->getOperand(0)) == 0 &&
              oneInt(range->getOperand(2)) == 1 && rankOf(places) == 1 &&
              (!nd || staticSize(scatter->getOperand(1), -1) == 1) &&
              sameSize(range->getResult(0), 0, places, 0) &&
              sameSize(inverse, 0, places, 0);
  return good ? places : Value();
}

/// Reads how choices are sorted off the TopK that gives `places`.
std::optional<Sorted> matchSorted(Value places) {
  Operation *sort = madeBy(places, "TopK");
  if (!sort || places != sort->getResult(1) || rankOf(places) != 1 ||
      intAttr(sort, "largest", 1) != 0 || intAttr(sort, "sorted", 1) != 1 ||
      !sameSize(places, 0, sort->getOperand(0), 0))
    return std::nullopt;
  Sorted sorted{beforeColumn(sort->getOperand(0)), sort->getResult(0), places};
  if (!sorted.picks || rankOf(sorted.picks) != 2)
    return std::nullopt;
  sorted.count = staticSize(sorted.picks, 1);
  return sorted;
}

/// Reads everything off the sum over a token's choices.
std::optional<Mixture> matchMixture(Operation *sum) {
  auto axis = oneInt(operandOrNull(sum, 1));
  Operation *split = madeBy(sum->getOperand(0), "Reshape");
  if (!axis || intAttr(sum, "keepdims", 1) != 0 || !split ||
      rankOf(split->getResult(0)) != 3 || fromStart(*axis, 3) != 1)
    return std::nullopt;
  Value places;
  Value weighted = gatheredRows(split->getOperand(0), [&](Value inverse) {
    places = inverseOf(inverse);
    return places != nullptr;
  });
  auto sorted = weighted ? matchSorted(places) : std::nullopt;
  Operation *mul = sorted ? madeBy(weighted, "Mul") : nullptr;
  if (!mul || staticSize(split->getResult(0), 1) != sorted->count)
    return std::nullopt;
  std::optional<Router> router;
  auto found = inEitherOrder(mul, [&](Value, Value column) {
    if (rankOf(column) != 2 || staticSize(column, 1) != 1)
      return false;
    Value flat = gatheredRows(beforeUnitAxes(column), [&](Value index) {
      return index == sorted->places;
    });
    Value weights = flat ? beforeColumn(flat) : Value();
    router = weights ? matchRouter(weights) : std::nullopt;
    return router && router->top->getResult(1) == sorted->picks;
  });
  if (!found)
    return std::nullopt;
  sorted->expertCount = router->experts;
  Value inner, rows;
  auto second = matchProduct(found->first, *sorted, inner);
  auto gated = second ? matchGated(inner) : std::nullopt;
  Mixture mixture;
  Value product =
      gated ? branchesOfOneProduct(*gated, mixture.interleaved) : Value();
  auto first = product ? matchProduct(product, *sorted, rows) : std::nullopt;
  if (!first)
    return std::nullopt;
  mixture.tokens = gatheredRows(
      rows, [&](Value tokens) { return areTokensOf(tokens, *sorted); });
  mixture.router = *router;
  mixture.gated = *gated;
  mixture.first = *first;
  mixture.second = *second;
  bool good = mixture.tokens && rankOf(mixture.tokens) == 2 &&
              sameSize(router->logits, 0, mixture.tokens, 0) &&
              fits(mixture, sum->getResult(0));
  return good ? std::optional(mixture) : std::nullopt;
}

} // namespace

void populateGroupedExperts(RewritePatternSet &patterns) {
  addMixturePattern(patterns, "onnx.ReduceSum", matchMixture);
}

} // namespace sol::nn::recognize
