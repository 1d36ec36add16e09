//===- LowerLoop.cpp - from a cpu.native to a function of vectors ---------===//
//
// One loop over rows; inside it one loop along the row for each stage, eight
// elements at a time. What is left of a row is done by the same code under a
// mask. A sum has eight lanes, by index mod 8, which are joined in a fixed
// tree: so its value depends neither on the instruction set nor on where a row
// is cut.
//
//===----------------------------------------------------------------------===//
#include "lib/native/codegen/LowerLoop.h"

#include "lib/native/codegen/RowStages.h"
#include "lib/native/codegen/ShortFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sol::native {
namespace {

/// Elements that are computed together, on every instruction set.
constexpr int64_t lanes = 8;

/// The type that an element is computed with: 16-bit floats are their bits.
Type valueType(Type element) {
  return isShortFloat(element) ? IntegerType::get(element.getContext(), 16)
                               : element;
}

/// The type that an element has in memory: a bool is a byte.
Type memoryType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                              : valueType(element);
}

int64_t memoryBytes(Type element) {
  return memoryType(element).getIntOrFloatBitWidth() / 8;
}

/// Where the rows of one tensor are.
struct TensorMemory {
  Value pointer; ///< first element
  TensorAxes axes;
  Type element;
  Value row; ///< first element of the row that is being computed
};

/// The elements [at, at + lanes) of a row, or the first few of them.
struct Chunk {
  Value at;
  Value mask; ///< null for whole chunks
};

class LoopLowering {
public:
  LoopLowering(cpu::NativeOp op, const LoopNest &nest, func::FuncOp func)
      : op(op), nest(nest), stages(op, nest), func(func),
        b(op.getLoc(), func.getContext()) {}

  int64_t lower();

private:
  // The frame: arguments, rows, and where a row lies in each tensor.
  void readArguments();
  void lowerRows();
  void lowerRow(Value row, Value first, Value end);
  void findRow(TensorMemory &memory, ArrayRef<Value> indices);
  bool hasGroup(const TensorAxes &axes, int64_t group) const;

  // One stage: whole chunks, the rest, the joining of lanes.
  void lowerStage(unsigned stage, Value first, Value end);
  SmallVector<Value> lowerChunk(unsigned stage, Chunk chunk, ValueRange joined);
  Value joinLanes(linalg::GenericOp generic, Value vector);
  void computePerRow(unsigned readyFor);

  // Values.
  Value elementsOf(Value tensor, const Chunk &chunk);
  Value loadOne(const TensorMemory &memory);
  Value outerValueOf(Value value);
  Value apply(linalg::GenericOp generic, ValueRange arguments);
  Value convertShortFloat(Operation &inner, const IRMapping &mapping);
  Value splat(Value scalar);
  Value load(Value row, Type element, const Chunk &chunk);
  void store(Value vector, Value row, Type element, const Chunk &chunk);
  Value keptRow(linalg::GenericOp generic);

  // Plumbing.
  Value number(int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  }
  Type pointerType() { return LLVM::LLVMPointerType::get(b.getContext()); }
  Value elementPointer(Value base, Type element, Value index) {
    return LLVM::GEPOp::create(b, pointerType(), memoryType(element), base,
                               index);
  }
  Value field(Value base, int64_t bytes, Type type) {
    Value at = LLVM::GEPOp::create(b, pointerType(), b.getI8Type(), base,
                                   number(bytes));
    return LLVM::LoadOp::create(b, type, at);
  }
  Type vectorOf(Type element) { return VectorType::get({lanes}, element); }

  cpu::NativeOp op;
  const LoopNest &nest;
  RowStages stages;
  func::FuncOp func;
  ImplicitLocOpBuilder b;

  SmallVector<Value> sizes;
  SmallVector<TensorMemory> operands, results;
  Value scratch;
  int64_t scratchBytes = 0;
  /// Bytes into a row's scratch memory, for each element of the row.
  llvm::DenseMap<Operation *, int64_t> scratchOf;
  /// Of the row at hand: values of which there is one, by the body's tensors.
  llvm::DenseMap<Value, Value> rowValues;
  /// Of the chunk at hand.
  llvm::DenseMap<Value, Value> chunkValues;
};

int64_t LoopLowering::lower() {
  b.setInsertionPointToStart(func.addEntryBlock());
  for (auto generic : op.getBody().getOps<linalg::GenericOp>())
    if (stages.isReadLater(generic) &&
        !llvm::is_contained(op.getBody().front().getTerminator()->getOperands(),
                            generic.getResult(0))) {
      scratchOf[generic] = scratchBytes;
      scratchBytes +=
          memoryBytes(getElementTypeOrSelf(generic.getResult(0).getType()));
    }
  readArguments();
  lowerRows();
  Value done = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  func::ReturnOp::create(b, done);
  return scratchBytes;
}

/// NativeArguments: sizes, pointers, scratch.
void LoopLowering::readArguments() {
  Value arguments = func.getArgument(0);
  Value sizesAt = field(arguments, 0, pointerType());
  Value pointersAt = field(arguments, 8, pointerType());
  scratch = field(arguments, 16, pointerType());
  for (unsigned i = 0; i < nest.sizes; ++i)
    sizes.push_back(field(sizesAt, int64_t{8} * i, b.getI64Type()));
  int64_t offset = 0;
  auto read = [&](Type type, const TensorAxes &axes) {
    Value pointer = field(pointersAt, offset, pointerType());
    offset += 8;
    return TensorMemory{pointer, axes, getElementTypeOrSelf(type), Value()};
  };
  for (auto [argument, axes] :
       llvm::zip(op.getBody().getArguments(), nest.operands))
    operands.push_back(read(argument.getType(), axes));
  for (auto [result, axes] : llvm::zip(op.getResults(), nest.results))
    results.push_back(read(result.getType(), axes));
}

void LoopLowering::lowerRows() {
  Value begin = func.getArgument(1), end = func.getArgument(2);
  Value length = sizes.back(), one = number(1);
  Value firstRow = begin, endRow = end;
  if (!nest.byRows) {
    firstRow = arith::DivUIOp::create(b, begin, length);
    endRow = arith::CeilDivUIOp::create(b, end, length);
  }
  auto rows = scf::ForOp::create(b, firstRow, endRow, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  Value row = rows.getInductionVar(), first = number(0), last = length;
  if (!nest.byRows) {
    Value before = arith::MulIOp::create(b, row, length);
    first = arith::MaxSIOp::create(b, first,
                                   arith::SubIOp::create(b, begin, before));
    last =
        arith::MinSIOp::create(b, last, arith::SubIOp::create(b, end, before));
  }
  lowerRow(row, first, last);
}

void LoopLowering::lowerRow(Value row, Value first, Value end) {
  // The row's number, taken apart: the last size changes fastest.
  SmallVector<Value> indices(nest.sizes - 1);
  for (int64_t i = int64_t(indices.size()) - 1; i >= 0; --i) {
    indices[i] = i == 0 ? row : arith::RemUIOp::create(b, row, sizes[i]);
    if (i > 0)
      row = arith::DivUIOp::create(b, row, sizes[i]);
  }
  for (auto [argument, memory] :
       llvm::zip(op.getBody().getArguments(), operands)) {
    findRow(memory, indices);
    if (!nest.runsAlongRows(memory.axes))
      rowValues[argument] = loadOne(memory);
  }
  for (TensorMemory &memory : results)
    findRow(memory, indices);
  for (unsigned stage = 0; stage <= stages.count(); ++stage) {
    computePerRow(stage);
    if (stage < stages.count())
      lowerStage(stage, first, end);
  }
}

bool LoopLowering::hasGroup(const TensorAxes &axes, int64_t group) const {
  return llvm::any_of(axes, [&](int64_t axis) {
    return axis >= 0 && nest.groups[axis] == group;
  });
}

void LoopLowering::findRow(TensorMemory &memory, ArrayRef<Value> indices) {
  Value offset = number(0), step = number(1);
  if (hasGroup(memory.axes, nest.sizes - 1))
    step = sizes.back();
  for (int64_t i = int64_t(indices.size()) - 1; i >= 0; --i) {
    if (!hasGroup(memory.axes, i))
      continue;
    Value part = arith::MulIOp::create(b, indices[i], step);
    offset = arith::AddIOp::create(b, offset, part);
    step = arith::MulIOp::create(b, step, sizes[i]);
  }
  memory.row = elementPointer(memory.pointer, memory.element, offset);
}

void LoopLowering::lowerStage(unsigned stage, Value first, Value end) {
  SmallVector<linalg::GenericOp> joins;
  SmallVector<Value> nothing;
  for (auto generic : op.getBody().getOps<linalg::GenericOp>())
    if (joinsRows(generic) && stages.stageOf(generic) == stage) {
      joins.push_back(generic);
      auto fill = generic.getOutputs()[0].getDefiningOp<linalg::FillOp>();
      nothing.push_back(splat(outerValueOf(fill.getInputs()[0])));
    }
  Value length = arith::SubIOp::create(b, end, first);
  Value left = arith::AndIOp::create(b, length, number(lanes - 1));
  Value whole = arith::SubIOp::create(b, end, left);
  auto chunks = scf::ForOp::create(b, first, whole, number(lanes), nothing);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(chunks.getBody());
    SmallVector<Value> joined = lowerChunk(
        stage, {chunks.getInductionVar(), Value()}, chunks.getRegionIterArgs());
    if (!joined.empty())
      scf::YieldOp::create(b, joined);
  }
  Value some =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, left, number(0));
  auto rest = scf::IfOp::create(b, chunks.getResultTypes(), some,
                                /*withElseRegion=*/!joins.empty());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rest.thenBlock());
    SmallVector<int32_t> places;
    for (int32_t lane = 0; lane < lanes; ++lane)
      places.push_back(lane);
    Value index = arith::ConstantOp::create(b, b.getI32VectorAttr(places));
    Value limit = arith::TruncIOp::create(b, b.getI32Type(), left);
    Value mask = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index,
                                       splat(limit));
    SmallVector<Value> joined =
        lowerChunk(stage, {whole, mask}, chunks.getResults());
    if (!joins.empty()) {
      scf::YieldOp::create(b, joined);
      b.setInsertionPointToStart(rest.elseBlock());
      scf::YieldOp::create(b, chunks.getResults());
    }
  }
  for (auto [generic, vector] : llvm::zip(joins, rest.getResults()))
    rowValues[generic.getResult(0)] = joinLanes(generic, vector);
}

/// Computes what the stage has to; stores come last, as a result may lie in the
/// memory of an operand.
SmallVector<Value> LoopLowering::lowerChunk(unsigned stage, Chunk chunk,
                                            ValueRange joined) {
  chunkValues.clear();
  SmallVector<Value> joinedNow;
  auto yielded = op.getBody().front().getTerminator()->getOperands();
  struct Store {
    Value vector, row;
    Type element;
  };
  SmallVector<Store> storing;
  for (auto generic : op.getBody().getOps<linalg::GenericOp>()) {
    bool joins = joinsRows(generic);
    if (stages.stageOf(generic) != stage ||
        (stages.isPerRow(generic) && !joins))
      continue;
    SmallVector<Value> arguments;
    for (Value input : generic.getInputs())
      arguments.push_back(elementsOf(input, chunk));
    if (joins) {
      Value before = joined[joinedNow.size()];
      arguments.push_back(before);
      Value after = apply(generic, arguments);
      joinedNow.push_back(
          chunk.mask ? arith::SelectOp::create(b, chunk.mask, after, before)
                     : after);
      continue;
    }
    arguments.push_back(Value()); // what was in the result before
    Value vector = apply(generic, arguments);
    Value tensor = generic.getResult(0);
    chunkValues[tensor] = vector;
    Type element = getElementTypeOrSelf(tensor.getType());
    for (auto [value, memory] : llvm::zip(yielded, results))
      if (value == tensor)
        storing.push_back({vector, memory.row, element});
    if (scratchOf.contains(generic))
      storing.push_back({vector, keptRow(generic), element});
  }
  for (const Store &item : storing)
    store(item.vector, item.row, item.element, chunk);
  return joinedNow;
}

/// ((0 4) (2 6)) ((1 5) (3 7)), as the runtime's kernels join theirs.
Value LoopLowering::joinLanes(linalg::GenericOp generic, Value vector) {
  SmallVector<Value> lane;
  for (int64_t i = 0; i < lanes; ++i)
    lane.push_back(vector::ExtractOp::create(b, vector, i));
  auto join = [&](Value x, Value y) { return apply(generic, {y, x}); };
  Value even = join(join(lane[0], lane[4]), join(lane[2], lane[6]));
  Value odd = join(join(lane[1], lane[5]), join(lane[3], lane[7]));
  return join(even, odd);
}

/// Computes what there is once for each row and can be from stage `readyFor`
/// on, and stores it, and sums that are results, if the row is theirs.
void LoopLowering::computePerRow(unsigned readyFor) {
  auto yielded = op.getBody().front().getTerminator()->getOperands();
  for (auto generic : op.getBody().getOps<linalg::GenericOp>()) {
    if (!stages.isPerRow(generic))
      continue;
    Value tensor = generic.getResult(0);
    bool joins = joinsRows(generic);
    if (stages.stageOf(generic) + (joins ? 1 : 0) != readyFor)
      continue;
    if (!joins) {
      SmallVector<Value> arguments;
      for (Value input : generic.getInputs())
        arguments.push_back(rowValues.lookup(input));
      arguments.push_back(Value());
      rowValues[tensor] = apply(generic, arguments);
    }
    for (auto [value, memory] : llvm::zip(yielded, results))
      if (value == tensor) {
        Value scalar = rowValues[tensor];
        if (memory.element.isInteger(1))
          scalar = arith::ExtUIOp::create(b, b.getI8Type(), scalar);
        LLVM::StoreOp::create(b, scalar, memory.row);
      }
  }
}

/// Eight elements of a tensor of the body.
Value LoopLowering::elementsOf(Value tensor, const Chunk &chunk) {
  auto known = chunkValues.find(tensor);
  if (known != chunkValues.end())
    return known->second;
  Value vector;
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    const TensorMemory &memory = operands[argument.getArgNumber()];
    vector = nest.runsAlongRows(memory.axes)
                 ? load(memory.row, memory.element, chunk)
                 : splat(rowValues.lookup(tensor));
  } else {
    auto generic = tensor.getDefiningOp<linalg::GenericOp>();
    vector = stages.isPerRow(generic)
                 ? splat(rowValues.lookup(tensor))
                 : load(keptRow(generic),
                        getElementTypeOrSelf(tensor.getType()), chunk);
  }
  chunkValues[tensor] = vector;
  return vector;
}

Value LoopLowering::loadOne(const TensorMemory &memory) {
  Value value = LLVM::LoadOp::create(b, memoryType(memory.element), memory.row);
  if (memory.element.isInteger(1))
    value = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, value,
        arith::ConstantOp::create(b, b.getI8IntegerAttr(0)));
  return value;
}

/// Where an earlier stage left the elements of the row.
Value LoopLowering::keptRow(linalg::GenericOp generic) {
  auto known = scratchOf.find(generic);
  if (known != scratchOf.end()) {
    Value bytes = arith::MulIOp::create(b, sizes.back(), number(known->second));
    return LLVM::GEPOp::create(b, pointerType(), b.getI8Type(), scratch, bytes);
  }
  auto yielded = op.getBody().front().getTerminator()->getOperands();
  return results[std::distance(yielded.begin(),
                               llvm::find(yielded, generic.getResult(0)))]
      .row;
}

/// A scalar that the body computes outside of its generics: constants, and the
/// length of a row.
Value LoopLowering::outerValueOf(Value value) {
  Operation *source = value.getDefiningOp();
  if (auto cast = dyn_cast<arith::IndexCastOp>(source))
    if (cast.getIn().getDefiningOp<tensor::DimOp>())
      return sizes.back();
  IRMapping mapping;
  for (Value operand : source->getOperands())
    mapping.map(operand, outerValueOf(operand));
  return b.clone(*source, mapping)->getResult(0);
}

/// The body of a generic on the given values, scalars or vectors; the last one
/// is what has been joined so far.
Value LoopLowering::apply(linalg::GenericOp generic, ValueRange arguments) {
  Block &body = generic.getRegion().front();
  bool vector = isa<VectorType>(arguments.front().getType());
  IRMapping mapping;
  for (auto [parameter, argument] : llvm::zip(body.getArguments(), arguments))
    if (argument)
      mapping.map(parameter, argument);
  auto lift = [&](Value value) { return vector ? splat(value) : value; };
  for (Operation &inner : body.without_terminator()) {
    for (Value operand : inner.getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, lift(outerValueOf(operand)));
    if (isa<arith::ConstantOp>(inner)) {
      mapping.map(inner.getResult(0), lift(b.clone(inner)->getResult(0)));
      continue;
    }
    if (Value converted = convertShortFloat(inner, mapping)) {
      mapping.map(inner.getResult(0), converted);
      continue;
    }
    Operation *copy = b.clone(inner, mapping);
    for (OpResult result : copy->getResults()) {
      Type type = valueType(result.getType());
      result.setType(vector ? vectorOf(type) : type);
    }
  }
  Value result = body.getTerminator()->getOperand(0);
  return mapping.contains(result) ? mapping.lookup(result)
                                  : lift(outerValueOf(result));
}

/// The result of a conversion from or to a 16-bit float; null for others.
Value LoopLowering::convertShortFloat(Operation &inner,
                                      const IRMapping &mapping) {
  if (!isa<arith::ExtFOp, arith::TruncFOp>(inner))
    return {};
  Type from = inner.getOperand(0).getType(), to = inner.getResult(0).getType();
  Value operand = mapping.lookup(inner.getOperand(0));
  if (isShortFloat(from))
    return widenShortFloat(b, b.getLoc(), operand, from);
  return isShortFloat(to) ? narrowToShortFloat(b, b.getLoc(), operand, to)
                          : Value();
}

Value LoopLowering::splat(Value scalar) {
  return vector::BroadcastOp::create(b, vectorOf(scalar.getType()), scalar);
}

Value LoopLowering::load(Value row, Type element, const Chunk &chunk) {
  Type type = memoryType(element);
  Value at = elementPointer(row, element, chunk.at);
  // Scratch memory of narrow elements leaves wider ones unaligned.
  Value vector;
  if (chunk.mask) {
    Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(vectorOf(type)));
    vector = LLVM::MaskedLoadOp::create(b, vectorOf(type), at, chunk.mask,
                                        zeros, /*alignment=*/1);
  } else {
    vector = LLVM::LoadOp::create(b, vectorOf(type), at, /*alignment=*/1);
  }
  if (!element.isInteger(1))
    return vector;
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(vectorOf(type)));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, vector, zeros);
}

void LoopLowering::store(Value vector, Value row, Type element,
                         const Chunk &chunk) {
  Value at = elementPointer(row, element, chunk.at);
  if (element.isInteger(1))
    vector = arith::ExtUIOp::create(b, vectorOf(b.getI8Type()), vector);
  if (chunk.mask)
    LLVM::MaskedStoreOp::create(b, vector, at, chunk.mask, /*alignment=*/1);
  else
    LLVM::StoreOp::create(b, vector, at, /*alignment=*/1);
}

} // namespace

int64_t lowerLoop(cpu::NativeOp op, const LoopNest &nest, StringRef symbol,
                  ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type index = builder.getI64Type();
  auto func = func::FuncOp::create(
      builder, op.getLoc(), symbol,
      builder.getFunctionType({pointer, index, index}, builder.getI32Type()));
  return LoopLowering(op, nest, func).lower();
}

} // namespace sol::native
