//===- BufferState.cpp - caches that are buffers of a fixed length --------===//
//
// Three operators write into a buffer: TensorScatter names where each row's
// step begins, ScatterElements repeats the positions for every element, and
// ScatterND wants the positions' axis in front, so that transpositions stand
// around it. Writing in place is the same for any positions; that a session can
// tell them from the number of tokens it holds decides what is taken.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/recognize/state/BufferState.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace sol::nn::recognize {
namespace {

constexpr StringLiteral roleAttr = "nn.role";

/// Numbers of an input, and what they are there for.
struct FromInput {
  BlockArgument input;
  StringRef role;
};

/// One write into a buffer.
struct BufferWrite {
  BlockArgument past;
  Operation *scatter = nullptr;
  Operation *reader = nullptr;     ///< the one that takes `past`
  Value present;                   ///< with the axes of `past`
  SmallVector<Operation *> copies; ///< that give the present once more
  Value updates;             ///< what is written, as the operator takes it
  SmallVector<int64_t> perm; ///< from the axes of `past` to the operator's
  Value positions;           ///< step length or batch numbers, of any shape
  bool starts = false;       ///< one number a row: where its step begins
  FromInput source;
  unsigned result = 0; ///< which of the function's results is the present
};

bool isBufferWrite(Operation *op) {
  return isOnnx(op, "TensorScatter") || isOnnx(op, "ScatterND") ||
         isOnnx(op, "ScatterElements");
}

/// Whether `op` gives the numbers of its first operand, in their order; one of
/// them many times, if it repeats.
bool keepsNumbers(Operation *op) {
  if (isOnnx(op, "Cast"))
    return isa<IntegerType>(getElementTypeOrSelf(op->getOperand(0)));
  return isOnnx(op, "Identity") || isOnnx(op, "Unsqueeze") ||
         isOnnx(op, "Squeeze") || isOnnx(op, "Reshape") ||
         isOnnx(op, "Flatten");
}

/// Whether `op` takes what comes first along an axis of its operand.
bool takesFirst(Operation *op) {
  if (isOnnx(op, "Gather")) {
    auto index = intConstant(op->getOperand(1));
    return index && index->size() == 1 && (*index)[0] == 0;
  }
  if (!isOnnx(op, "Slice"))
    return false;
  auto start = intConstant(operandOrNull(op, 1)),
       end = intConstant(operandOrNull(op, 2));
  return start && end && *start == ArrayRef<int64_t>{0} &&
         *end == ArrayRef<int64_t>{1} && rankOf(op->getOperand(0)) == 1;
}

/// Whether `value` is 0, 1, 2, …
bool countsFromZero(Value value) {
  if (Operation *range = madeBy(value, "Range"))
    return scalarConstant(range->getOperand(0), 0) == 0.0 &&
           scalarConstant(range->getOperand(2), 0) == 1.0;
  auto numbers = intConstant(value);
  if (!numbers || rankOf(value) != 1)
    return false;
  for (auto [i, number] : llvm::enumerate(*numbers))
    if (number != int64_t(i))
      return false;
  return true;
}

/// The integer input whose numbers `value` has, through operators that keep
/// them. `first` tells whether only the first one was taken.
BlockArgument inputOf(Value value, Block &block, bool &first,
                      bool mayRepeat = false) {
  while (Operation *op = value.getDefiningOp()) {
    bool takes = takesFirst(op);
    first |= takes;
    if (!takes && !keepsNumbers(op) && !(mayRepeat && isOnnx(op, "Expand")))
      return {};
    value = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &block &&
                 isa<IntegerType>(getElementTypeOrSelf(value)) &&
                 !getElementTypeOrSelf(value).isInteger(1)
             ? argument
             : BlockArgument();
}

/// Where numbers for each row come from: an input that has them, or an input of
/// positions of which they are the first.
FromInput sourceOfStarts(Value value, Block &block) {
  bool first = false;
  BlockArgument input = inputOf(value, block, first, /*mayRepeat=*/true);
  if (!input || rankOf(input) > (first ? 2 : 1))
    return {};
  return {input, first ? "positions" : "offsets"};
}

/// Where one number for each entry of a step comes from: an input that has
/// them, or an input that has the first, from which they are counted.
FromInput sourceOfPositions(Value value, Block &block) {
  Value numbers = value;
  while (numbers.getDefiningOp() && keepsNumbers(numbers.getDefiningOp()))
    numbers = numbers.getDefiningOp()->getOperand(0);
  if (Operation *add = madeBy(numbers, "Add")) {
    auto found = inEitherOrder(
        add, [](Value, Value counted) { return countsFromZero(counted); });
    bool isNumber =
        found &&
        (rankOf(found->first) == 0 ||
         (rankOf(found->first) == 1 && staticSize(found->first, 0) == 1));
    return isNumber ? sourceOfStarts(found->first, block) : FromInput();
  }
  if (Operation *range = madeBy(numbers, "Range"))
    return scalarConstant(range->getOperand(2), 0) == 1.0
               ? sourceOfStarts(range->getOperand(0), block)
               : FromInput();
  bool firstRow = false;
  BlockArgument input = inputOf(numbers, block, firstRow);
  if (!input || rankOf(input) < 1 || rankOf(input) > 2 ||
      (firstRow && rankOf(input) != 2))
    return {};
  return {input, "positions"};
}

/// The positions that `indices` repeats over all axes but the third, or null.
Value beforeRepetition(Value indices) {
  Operation *expand = madeBy(indices, "Expand");
  if (!expand)
    return {};
  Value narrow = skipNoOps(expand->getOperand(0));
  int64_t rank = rankOf(narrow);
  if (rank < 2 || rank > 4)
    return {};
  for (int64_t axis = 4 - rank; axis < 4; ++axis) {
    int64_t own = axis - (4 - rank);
    if (axis == lengthAxis ? !sameSize(narrow, own, indices, lengthAxis)
                           : staticSize(narrow, own) != 1)
      return {};
  }
  return narrow;
}

/// Reads what is particular to TensorScatter; why not, if it is no such write.
StringRef readTensorScatter(BufferWrite &write, Block &block) {
  Operation *op = write.scatter;
  if (auto mode = op->getAttrOfType<StringAttr>("mode");
      mode && mode.getValue() != "linear")
    return "it begins again at the buffer's front when it is full";
  if (fromStart(intAttr(op, "axis", -2), 4) != lengthAxis)
    return "it doesn't write along its third axis";
  write.updates = op->getOperand(1);
  write.positions = operandOrNull(op, 2);
  write.starts = true;
  if (!write.positions)
    return "it always writes at the buffer's front";
  if (rankOf(write.positions) != 1)
    return "it doesn't say where each row's step begins";
  write.source = sourceOfStarts(write.positions, block);
  return {};
}

StringRef readScatterElements(BufferWrite &write, Block &block) {
  Operation *op = write.scatter;
  if (fromStart(intAttr(op, "axis", 0), 4) != lengthAxis)
    return "it doesn't write along its third axis";
  write.updates = op->getOperand(2);
  if (!sameShape(op->getOperand(1), write.updates))
    return "it doesn't write all that it is given";
  write.positions = beforeRepetition(op->getOperand(1));
  if (!write.positions)
    return "it writes at other positions in each row, head or element";
  write.source = sourceOfPositions(write.positions, block);
  return {};
}

StringRef readScatterND(BufferWrite &write, Block &block) {
  Operation *op = write.scatter;
  Value indices = op->getOperand(1);
  if (rankOf(indices) != 2 || staticSize(indices, 1) != 1 ||
      write.perm[0] != lengthAxis)
    return "it doesn't write along its third axis";
  write.updates = op->getOperand(2);
  if (!sameSize(write.updates, 0, indices, 0))
    return "it doesn't write all that it is given";
  write.positions = indices;
  write.source = sourceOfPositions(indices, block);
  return {};
}

/// Fills perm, reader and present from what stands around the scatter.
StringRef readSurroundings(BufferWrite &write, Value given) {
  Operation *op = write.scatter;
  write.present = given;
  write.reader = op;
  write.perm = {0, 1, 2, 3};
  Operation *front = madeBy(op->getOperand(0), "Transpose"),
            *back = madeBy(given, "Transpose");
  if (!front && !back)
    return {};
  if (!front || !back)
    return "past and present have their axes in different order";
  write.reader = front;
  write.perm = intsAttr(front, "perm");
  SmallVector<int64_t> inverse = intsAttr(back, "perm");
  if (write.perm.size() != 4 || inverse.size() != 4 ||
      inverse != invertPermutationVector(write.perm))
    return "past and present have their axes in different order";
  StringRef used = "the buffer is used while its axes are in another order";
  if (op->getOperand(0) != front->getResult(0) ||
      back->getOperand(0) != op->getResult(0) ||
      !front->getResult(0).hasOneUse())
    return used;
  for (Operation *user : op->getUsers()) {
    if (!isOnnx(user, "Transpose") || intsAttr(user, "perm") != inverse)
      return used;
    if (user != back)
      write.copies.push_back(user);
  }
  return {};
}

/// Whether the input may have the role: it has none yet, or the same.
bool mayHaveRole(func::FuncOp function, const FromInput &source) {
  auto role = function.getArgAttrOfType<StringAttr>(source.input.getArgNumber(),
                                                    roleAttr);
  return !role || role.getValue() == source.role;
}

/// Why the write can't be one into state; empty if it can.
StringRef readWrite(BufferWrite &write, Value given, func::FuncOp function) {
  Operation *op = write.scatter;
  Block &block = function.getBody().front();
  if (rankOf(write.past) != 4 || rankOf(given) != 4)
    return "the buffer doesn't have four axes";
  if (auto reduction = op->getAttrOfType<StringAttr>("reduction");
      reduction && reduction.getValue() != "none")
    return "it combines what it writes with what the buffer holds";
  if (StringRef why = readSurroundings(write, given); !why.empty())
    return why;
  StringRef why = isOnnx(op, "TensorScatter") ? readTensorScatter(write, block)
                  : isOnnx(op, "ScatterElements")
                      ? readScatterElements(write, block)
                      : readScatterND(write, block);
  if (!why.empty())
    return why;
  if (!isOnnx(op, "ScatterND") && write.reader != op)
    return "it doesn't write along its third axis";
  if (staticSize(write.past, 1) < 1 || staticSize(write.past, 3) < 1 ||
      !sizeText(ranked(write.past), lengthAxis))
    return "its number or size of heads isn't known";
  if (!sameShape(write.past, write.present))
    return "past and present differ in size";
  Value data = op->getOperand(0);
  for (int64_t axis = 0; axis < 4; ++axis)
    if (rankOf(write.updates) != 4 ||
        (write.perm[axis] != lengthAxis &&
         !sameSize(write.updates, axis, data, axis)))
      return "it doesn't write whole positions";
  if (!servesOnlyFor(write.reader, write.past))
    return "the past is used otherwise than for its shape";
  if (!write.source.input)
    return "the positions that it writes at are not those of an input";
  if (!mayHaveRole(function, write.source))
    return "the input of its positions has another part, too";
  return {};
}

/// int64 numbers along one axis.
Value asList(Value numbers, StringAttr size, OpBuilder &builder) {
  Location loc = numbers.getLoc();
  Type integer = builder.getIntegerType(64);
  if (!getElementTypeOrSelf(numbers).isInteger(64))
    numbers = createOnnx(
        builder, loc, "Cast", numbers, ranked(numbers).clone(integer),
        builder.getNamedAttr("to", builder.getI64IntegerAttr(/*INT64*/ 7)));
  if (rankOf(numbers) == 1)
    return numbers;
  return createOnnx(builder, loc, "Reshape",
                    {numbers, createInts(builder, loc, {-1})},
                    typeOf({size}, integer));
}

/// What is written, as batch x heads x step x size.
Value stepOf(const BufferWrite &write, OpBuilder &builder) {
  if (write.reader == write.scatter)
    return write.updates;
  if (Operation *move = madeBy(write.updates, "Transpose");
      move && intsAttr(move, "perm") == write.perm)
    return move->getOperand(0);
  return createTranspose(builder, write.scatter->getLoc(), write.updates,
                         invertPermutationVector(write.perm));
}

void makeState(const BufferWrite &write, func::FuncOp function) {
  Block &block = function.getBody().front();
  Operation *end = block.getTerminator(), *op = write.scatter;
  end->setOperand(write.result, write.present);
  // What comes in the present's place stands in front of all of them.
  for (Operation *copy : write.copies) {
    copy->getResult(0).replaceAllUsesWith(write.present);
    copy->erase();
  }
  Operation *last = write.present.getDefiningOp();
  OpBuilder builder(op);
  Value step = stepOf(write, builder);
  StringAttr size = write.starts ? sizeText(ranked(write.past), 0)
                                 : sizeText(ranked(step), lengthAxis);
  Value positions = asList(write.positions, size, builder);
  makeCache(write.past);
  auto written =
      CacheWriteOp::create(builder, op->getLoc(), cacheType(write.present),
                           write.past, step, positions, write.starts);
  replaceShapes(write.present, written, builder);
  replacePresent(write.present, written, end, builder);
  remarkFound(written, "cache");
  if (last != op)
    last->erase();
  op->erase();
  if (write.reader != op)
    write.reader->erase();
  function.setArgAttr(write.source.input.getArgNumber(), roleAttr,
                      builder.getStringAttr(write.source.role));
  function.setArgAttr(write.past.getArgNumber(), roleAttr,
                      builder.getStringAttr("buffer"));
}

/// Gives the role to an input of one number a row: how much of a buffer is in
/// use, after the step.
void assignLengths(Value counts, func::FuncOp function) {
  bool first = false;
  BlockArgument input = inputOf(counts, function.getBody().front(), first);
  if (!input || first || rankOf(input) > 1 ||
      function.getArgAttr(input.getArgNumber(), roleAttr))
    return;
  function.setArgAttr(input.getArgNumber(), roleAttr,
                      StringAttr::get(function.getContext(), "lengths"));
}

/// Finds the counts of an attention over a buffer: the position of its first
/// query is the count less the step, or its mask compares positions with them.
void assignLengths(AttentionOp attention, func::FuncOp function) {
  if (Value offsets = attention.getOffsets())
    if (Operation *sub = madeBy(offsets, "Sub"))
      assignLengths(sub->getOperand(0), function);
  SmallVector<Value> masks{attention.getMask()};
  while (!masks.empty()) {
    Operation *op = masks.pop_back_val().getDefiningOp();
    if (isOnnx(op, "Unsqueeze") || isOnnx(op, "Reshape") ||
        isOnnx(op, "Where") || isOnnx(op, "Expand"))
      masks.push_back(op->getOperand(0));
    else if (isOnnx(op, "And"))
      llvm::append_range(masks, op->getOperands());
    else if (isOnnx(op, "Less") && countsFromZero(op->getOperand(0)))
      assignLengths(op->getOperand(1), function);
  }
}

} // namespace

void convertBuffers(func::FuncOp function, CachePorts &pairs) {
  Block &block = function.getBody().front();
  Operation *end = block.getTerminator();
  bool anyBuffer = false;
  for (unsigned i = 0; i < end->getNumOperands(); ++i) {
    Value given = skipNoOps(end->getOperand(i));
    auto beforeMove = [](Value value) {
      Operation *move = madeBy(value, "Transpose");
      return skipNoOps(move ? move->getOperand(0) : value);
    };
    BufferWrite write;
    write.scatter = beforeMove(given).getDefiningOp();
    write.result = i;
    if (!isBufferWrite(write.scatter) || write.scatter->getBlock() != &block)
      continue;
    write.past =
        dyn_cast<BlockArgument>(beforeMove(write.scatter->getOperand(0)));
    if (!write.past || write.past.getOwner() != &block || rankOf(given) < 3)
      continue;
    StringRef why = readWrite(write, given, function);
    if (llvm::count_if(end->getOperands(), [&](Value value) {
          return skipNoOps(value) == given;
        }) > 1)
      why = "the present is given more than once";
    if (!why.empty()) {
      remarkMissed(write.scatter, "cache", why);
      continue;
    }
    makeState(write, function);
    pairs.push_back({i, write.past.getArgNumber()});
    anyBuffer = true;
  }
  if (anyBuffer)
    function.walk([&](AttentionOp attention) {
      if (attention.getKey().getDefiningOp<CacheWriteOp>())
        assignLengths(attention, function);
    });
}

} // namespace sol::nn::recognize
