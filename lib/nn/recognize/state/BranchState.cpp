//===- BranchState.cpp - caches that a condition decides on ---------------===//
//
// A merged decoder chooses by a condition: one branch computes from the tokens
// alone and gives the first keys and values, the other takes a past. Both
// become changes of one cache. What the first branch computes from the
// encoder's states belongs to the past that the other branch's attention reads
// with the same matrix for its queries: neither names nor the order of operands
// say so.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/state/BranchState.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace sol::nn::recognize {
namespace {

/// A branch with the past, and the one without.
struct Branches {
  Operation *op;
  Block *later, *first;
};

/// A past of the later branch, and what the first one gives instead.
struct BranchedPast {
  BlockArgument past;
  unsigned result = 0;         ///< of the If
  Operation *concat = nullptr; ///< null if the past is only read
  Value begin;                 ///< in the first branch
  bool comesBack = false;      ///< the later branch gives it as it is
};

/// The argument of the function that `value` is, or null.
BlockArgument argumentOf(Value value, Block &body) {
  auto argument = dyn_cast_or_null<BlockArgument>(value);
  return argument && argument.getOwner() == &body ? argument : BlockArgument();
}

bool isFloatCache(Value value) {
  return ranked(value) && rankOf(value) == 4 &&
         isa<FloatType>(getElementTypeOrSelf(value)) &&
         staticSize(value, 1) > 0 && staticSize(value, 3) > 0;
}

/// Whether a cache of `past` can hold `begin`, whose length may be another.
bool holds(Value past, Value begin) {
  return isFloatCache(past) && isFloatCache(begin) &&
         getElementTypeOrSelf(past) == getElementTypeOrSelf(begin) &&
         sameSize(past, 0, begin, 0) && sameSize(past, 1, begin, 1) &&
         sameSize(past, 3, begin, 3);
}

/// Whether result `index` of the If goes to the function's end and nowhere
/// else.
bool isSoleResult(Operation *branches, unsigned index, Operation *end) {
  Value result = branches->getResult(index);
  return result.hasOneUse() && *result.getUsers().begin() == end;
}

//===----------------------------------------------------------------------===//
// Caches that grow
//===----------------------------------------------------------------------===//

StringRef whyNotGrowing(const Branches &branches, const BranchedPast &found,
                        Operation *end) {
  if (StringRef why = whyNoCache(found.past, found.concat); !why.empty())
    return why;
  if (found.concat->getBlock() != branches.later)
    return "it doesn't grow in every run of its branch";
  if (!holds(found.past, found.begin))
    return "the other branch gives another shape";
  if (!isSoleResult(branches.op, found.result, end))
    return "the present is given more than once";
  unsigned given = llvm::count_if(
      branches.later->getTerminator()->getOperands(),
      [&](Value value) { return madeBy(value, "Concat") == found.concat; });
  return given == 1 ? StringRef() : "the present is given more than once";
}

void findGrowing(const Branches &branches, Block &body,
                 SmallVectorImpl<BranchedPast> &pasts) {
  Operation *later = branches.later->getTerminator(),
            *first = branches.first->getTerminator();
  for (unsigned i = 0; i < branches.op->getNumResults(); ++i) {
    Operation *concat = madeBy(later->getOperand(i), "Concat");
    if (!concat || concat->getNumOperands() == 0)
      continue;
    BlockArgument past = argumentOf(skipNoOps(concat->getOperand(0)), body);
    if (!past)
      continue;
    BranchedPast found{past, i, concat, first->getOperand(i)};
    StringRef why = whyNotGrowing(branches, found, body.getTerminator());
    if (why.empty())
      pasts.push_back(found);
    else
      remarkMissed(concat, "cache", why);
  }
}

//===----------------------------------------------------------------------===//
// Caches that are read
//===----------------------------------------------------------------------===//

/// The known matrix that `value` was multiplied with last; null if something
/// else than moves, scales and rotations lies between.
Value matrixBehind(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isOnnx(op, "MatMul") || isOnnx(op, "Gemm") || isa<LinearOp>(op) ||
        isOnnx(op, "microsoft.MatMulNBits")) {
      Value matrix = skipNoOps(op->getOperand(1));
      return isKnown(matrix) ? matrix : Value();
    }
    static constexpr StringLiteral passing[] = {
        "Transpose", "Reshape", "Mul", "Div", "Add", "Cast", "Identity"};
    bool passes =
        isa<RotaryOp>(op) ||
        llvm::any_of(passing, [&](StringRef name) { return isOnnx(op, name); });
    if (!passes)
      return {};
    bool second = op->getNumOperands() > 1 && isKnown(op->getOperand(0));
    value = op->getOperand(second ? 1 : 0);
  }
  return {};
}

bool isSameConstant(Value a, Value b) {
  if (!a || !b)
    return false;
  auto left = a.getDefiningOp<WeightOp>(), right = b.getDefiningOp<WeightOp>();
  if (left && right)
    return left.getSpan() == right.getSpan() && a.getType() == b.getType();
  return a == b || OperationEquivalence::isEquivalentTo(
                       a.getDefiningOp(), b.getDefiningOp(),
                       OperationEquivalence::IgnoreLocations);
}

/// Whether two values are one, or made alike from the same operands.
bool isSameValue(Value a, Value b) {
  a = skipNoOps(a);
  b = skipNoOps(b);
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  return a == b || (left && right && left->getNumResults() == 1 &&
                    OperationEquivalence::isEquivalentTo(
                        left, right, OperationEquivalence::IgnoreLocations));
}

/// The one attention of `block` whose queries come from `matrix`; null if there
/// are several or none.
AttentionOp attentionOf(Value matrix, Block *block) {
  AttentionOp found;
  for (auto attention : block->getOps<AttentionOp>()) {
    if (!isSameConstant(matrixBehind(attention.getQuery()), matrix))
      continue;
    if (found)
      return {};
    found = attention;
  }
  return found;
}

/// The attention of the later branch that alone reads `past`, as operand
/// `operand`; null if there is none. `comesBack` gets the result that is the
/// past as it came, or -1.
AttentionOp soleReader(const Branches &branches, BlockArgument past,
                       unsigned &operand, int &comesBack) {
  AttentionOp reader;
  comesBack = -1;
  for (OpOperand &use : past.getUses()) {
    Operation *user = use.getOwner();
    if (isOnnx(user, "Shape"))
      continue;
    if (user == branches.later->getTerminator() && comesBack < 0) {
      comesBack = use.getOperandNumber();
      continue;
    }
    auto attention = dyn_cast<AttentionOp>(user);
    operand = use.getOperandNumber();
    if (!attention || reader || attention->getBlock() != branches.later ||
        (operand != 1 && operand != 2))
      return {};
    reader = attention;
  }
  if (reader)
    operand = reader->getOperand(1) == past ? 1 : 2;
  return reader;
}

/// Whether the size is that of a sequence of states among the arguments: a
/// session makes room for as many positions.
bool isLengthOfStates(StringAttr length, Block &body) {
  return length && llvm::any_of(body.getArguments(), [&](Value argument) {
           return rankOf(argument) == 3 &&
                  isa<FloatType>(getElementTypeOrSelf(argument)) &&
                  sizeText(ranked(argument), 1) == length;
         });
}

bool isEmptyConstant(Value value) {
  auto type = ranked(value);
  return isKnown(skipNoOps(value)) && type && type.hasStaticShape() &&
         type.getNumElements() == 0;
}

/// Fills `found` but for the past; why not, if the two don't belong together.
StringRef whyNotFixed(const Branches &branches, Block &body,
                      BranchedPast &found) {
  unsigned operand = 0;
  int comesBack = -1;
  AttentionOp reader = soleReader(branches, found.past, operand, comesBack);
  if (!reader)
    return "something else than one attention reads the past";
  Value matrix = matrixBehind(reader.getQuery());
  if (!matrix || attentionOf(matrix, branches.later) != reader)
    return "several attentions have the same queries' matrix, or none is known";
  AttentionOp other = attentionOf(matrix, branches.first);
  if (!other)
    return "no attention of the other branch has the same queries' matrix";
  found.begin = other->getOperand(operand);
  if (!holds(found.past, found.begin) ||
      !isLengthOfStates(sizeText(ranked(found.begin), lengthAxis), body))
    return "the other branch reads keys or values of another shape";
  Operation *first = branches.first->getTerminator(),
            *later = branches.later->getTerminator();
  for (unsigned i = 0; i < first->getNumOperands(); ++i) {
    if (!isSameValue(first->getOperand(i), found.begin) ||
        !isSoleResult(branches.op, i, body.getTerminator()))
      continue;
    found.comesBack = static_cast<int>(i) == comesBack;
    if (!found.comesBack &&
        (comesBack >= 0 || !isEmptyConstant(later->getOperand(i))))
      continue;
    found.result = i;
    return {};
  }
  return "no result is what it begins with";
}

void findFixed(const Branches &branches, Block &body,
               SmallVectorImpl<BranchedPast> &pasts) {
  for (BlockArgument argument : body.getArguments()) {
    bool isRead = llvm::any_of(argument.getUsers(), [&](Operation *user) {
      return isa<AttentionOp>(user) && user->getBlock() == branches.later;
    });
    if (!isRead || !isFloatCache(argument))
      continue;
    BranchedPast found;
    found.past = argument;
    StringRef why = whyNotFixed(branches, body, found);
    if (why.empty())
      pasts.push_back(found);
    else
      remarkMissed(branches.op, "cache", why);
  }
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// Two pasts may not begin with one result, nor one past with two.
bool areDistinct(ArrayRef<BranchedPast> pasts) {
  llvm::SmallDenseSet<unsigned> results, arguments;
  return llvm::all_of(pasts, [&](const BranchedPast &found) {
    return results.insert(found.result).second &&
           arguments.insert(found.past.getArgNumber()).second;
  });
}

void makeBranchState(const Branches &branches, const BranchedPast &found,
                     func::FuncOp function, CachePorts &pairs) {
  Operation *later = branches.later->getTerminator(),
            *first = branches.first->getTerminator();
  Value result = branches.op->getResult(found.result);
  unsigned port = result.use_begin()->getOperandNumber(),
           argument = found.past.getArgNumber();
  makeCache(found.past);
  OpBuilder atEnd(first);
  Value filled =
      CacheFillOp::create(atEnd, found.begin.getLoc(), cacheType(found.begin),
                          found.past, found.begin);
  if (found.concat) {
    later->setOperand(found.result, found.concat->getResult(0));
    appendInstead(found.concat, found.past, later);
  } else {
    remarkFound(filled.getDefiningOp(), "cache");
    function.setArgAttr(argument, "nn.fixed", atEnd.getUnitAttr());
  }
  if (!found.concat && !found.comesBack) {
    function.setArgAttr(argument, "nn.fed_by", atEnd.getI64IntegerAttr(port));
    return;
  }
  if (found.comesBack)
    later->setOperand(found.result, found.past);
  first->setOperand(found.result, filled);
  result.setType(cacheType(result));
  pairs.push_back({port, argument});
}

} // namespace

void convertBranches(func::FuncOp function, CachePorts &pairs) {
  Block &body = function.getBody().front();
  SmallVector<Operation *> conditions;
  for (Operation &op : body)
    if (isOnnx(&op, "If") && op.getNumRegions() == 2 &&
        op.getRegion(0).hasOneBlock() && op.getRegion(1).hasOneBlock())
      conditions.push_back(&op);
  for (Operation *op : conditions)
    for (bool laterIsSecond : {false, true}) {
      Branches branches{op, &op->getRegion(laterIsSecond).front(),
                        &op->getRegion(!laterIsSecond).front()};
      SmallVector<BranchedPast> growing, fixed;
      findGrowing(branches, body, growing);
      // What is only read is a cache where something grows.
      if (growing.empty())
        continue;
      findFixed(branches, body, fixed);
      growing.append(fixed);
      if (!areDistinct(growing)) {
        remarkMissed(op, "cache", "two pasts share a result");
        continue;
      }
      for (const BranchedPast &found : growing)
        makeBranchState(branches, found, function, pairs);
    }
}

void convertFixedPasts(func::FuncOp function, bool hasCaches) {
  if (!hasCaches)
    return;
  Block &body = function.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    if (!isFloatCache(argument) || staticSize(argument, lengthAxis) >= 0)
      continue;
    Operation *reader = nullptr;
    bool isOnlyRead = true;
    for (OpOperand &use : argument.getUses()) {
      Operation *user = use.getOwner();
      bool reads = isa<AttentionOp>(user) && user->getBlock() == &body &&
                   (use.getOperandNumber() == 1 || use.getOperandNumber() == 2);
      if (reads)
        reader = user;
      isOnlyRead &= reads || isOnnx(user, "Shape");
    }
    if (!reader || !isOnlyRead)
      continue;
    makeCache(argument);
    function.setArgAttr(argument.getArgNumber(), "nn.fixed",
                        UnitAttr::get(function.getContext()));
    remarkFound(reader, "cache");
  }
}

} // namespace sol::nn::recognize
