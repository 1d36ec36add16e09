//===- Scans.cpp - Scan as a Loop -----------------------------------------===//
//
// onnx.Scan becomes an onnx.Loop whose body picks its pieces of the scanned
// operands with a Gather; outputs that are stacked along another axis than the
// first are transposed behind it. An iteration from the end counts with the
// counter's complement: ~i is -1 - i. Outputs in reverse, axes outside of the
// rank and operands of unknown rank stay as they are, and are refused later.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/fold/Rewrites.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sol::nn {
namespace {

Operation *createOnnx(OpBuilder &builder, Location loc, StringRef name,
                      ValueRange operands, Type type,
                      ArrayRef<NamedAttribute> attributes = {}) {
  OperationState state(loc, ("onnx." + name).str());
  state.addOperands(operands);
  state.addTypes(type);
  state.addAttributes(attributes);
  return builder.create(state);
}

/// Element `index` of a list attribute, or `absent` if it isn't there.
int64_t entryOf(Operation *op, StringRef name, size_t index, int64_t absent) {
  auto list = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return list && index < static_cast<size_t>(list.size())
             ? list.asArrayRef()[index]
             : absent;
}

/// An entry as an axis counted from the front, or nothing.
std::optional<int64_t> axisOf(Operation *op, StringRef name, size_t index,
                              int64_t rank) {
  int64_t axis = entryOf(op, name, index, 0);
  axis = axis < 0 ? axis + rank : axis;
  return axis >= 0 && axis < rank ? std::optional(axis) : std::nullopt;
}

RankedTensorType ofRank(int64_t rank, Type element) {
  return RankedTensorType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic),
                               element);
}

/// A Scan taken apart; `read` says whether it has the form of one.
struct Scan {
  Operation *op;
  unsigned states = 0;
  SmallVector<int64_t> inputAxes;  ///< of each scanned operand
  SmallVector<int64_t> outputAxes; ///< of each stacked result

  explicit Scan(Operation *op) : op(op) {}

  Block &body() const { return op->getRegion(0).front(); }

  bool read() {
    auto count = op->getAttrOfType<IntegerAttr>("num_scan_inputs");
    int64_t operands = op->getNumOperands();
    if (!count || count.getInt() < 1 || count.getInt() > operands ||
        op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock() ||
        body().getNumArguments() != operands ||
        body().getTerminator()->getNumOperands() != op->getNumResults())
      return false;
    states = operands - count.getInt();
    return op->getNumResults() >= states && readInputs() && readOutputs();
  }

  bool readInputs() {
    for (unsigned i = states; i < op->getNumOperands(); ++i) {
      auto type = dyn_cast<RankedTensorType>(op->getOperand(i).getType());
      std::optional<int64_t> axis =
          type ? axisOf(op, "scan_input_axes", i - states, type.getRank())
               : std::nullopt;
      if (!axis)
        return false;
      inputAxes.push_back(*axis);
    }
    return true;
  }

  bool readOutputs() {
    for (unsigned i = states; i < op->getNumResults(); ++i) {
      if (entryOf(op, "scan_output_directions", i - states, 0) != 0)
        return false;
      if (entryOf(op, "scan_output_axes", i - states, 0) == 0) {
        outputAxes.push_back(0);
        continue;
      }
      auto piece = dyn_cast<RankedTensorType>(
          body().getTerminator()->getOperand(i).getType());
      std::optional<int64_t> axis =
          piece
              ? axisOf(op, "scan_output_axes", i - states, piece.getRank() + 1)
              : std::nullopt;
      if (!axis)
        return false;
      outputAxes.push_back(*axis);
    }
    return true;
  }
};

/// The loop's body: Scan's, with counter and condition in front.
void fillBody(const Scan &scan, Region &region) {
  Operation *op = scan.op;
  Location loc = op->getLoc();
  region.takeBody(op->getRegion(0));
  Block &body = region.front();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&body);
  auto number = RankedTensorType::get({}, builder.getI64Type());
  Value counter = body.insertArgument(0u, number, loc);
  Value condition = body.insertArgument(
      1u, RankedTensorType::get({}, builder.getI1Type()), loc);
  for (unsigned i = op->getNumOperands(); i-- > scan.states;) {
    unsigned piece = i - scan.states;
    bool isReversed = entryOf(op, "scan_input_directions", piece, 0) != 0;
    Value index = counter;
    if (isReversed)
      index =
          createOnnx(builder, loc, "BitwiseNot", counter, number)->getResult(0);
    BlockArgument argument = body.getArgument(i + 2);
    NamedAttribute axis = builder.getNamedAttr(
        "axis", builder.getI64IntegerAttr(scan.inputAxes[piece]));
    Value picked =
        createOnnx(builder, loc, "Gather", {op->getOperand(i), index},
                   argument.getType(), axis)
            ->getResult(0);
    argument.replaceAllUsesWith(picked);
    body.eraseArgument(i + 2);
  }
  body.getTerminator()->insertOperands(0, condition);
}

/// Moves the stacked axis of a result from the front to `axis`.
Value moveAxis(OpBuilder &builder, Location loc, Value stacked, int64_t axis,
               Type type) {
  int64_t rank = cast<RankedTensorType>(stacked.getType()).getRank();
  SmallVector<int64_t> perm;
  for (int64_t i = 1; i < rank; ++i)
    perm.push_back(i);
  perm.insert(perm.begin() + axis, 0);
  return createOnnx(
             builder, loc, "Transpose", stacked, type,
             builder.getNamedAttr("perm", builder.getDenseI64ArrayAttr(perm)))
      ->getResult(0);
}

void replaceScan(const Scan &scan) {
  Operation *op = scan.op;
  Location loc = op->getLoc();
  OpBuilder builder(op);
  SmallVector<Type> types(op->getResultTypes());
  Operation *end = scan.body().getTerminator();
  for (unsigned i = scan.states; i < types.size(); ++i)
    if (int64_t axis = scan.outputAxes[i - scan.states];
        axis != 0 && !isa<NoneType>(types[i])) {
      auto piece = cast<RankedTensorType>(end->getOperand(i).getType());
      types[i] = ofRank(piece.getRank() + 1, piece.getElementType());
    }
  int64_t axis = scan.inputAxes[0];
  Value count =
      createOnnx(
          builder, loc, "Shape", op->getOperand(scan.states),
          RankedTensorType::get({1}, builder.getI64Type()),
          {builder.getNamedAttr("start", builder.getI64IntegerAttr(axis)),
           builder.getNamedAttr("end", builder.getI64IntegerAttr(axis + 1))})
          ->getResult(0);
  Value none =
      createOnnx(builder, loc, "none", {}, builder.getNoneType())->getResult(0);
  SmallVector<Value> operands{count, none};
  llvm::append_range(operands, op->getOperands().take_front(scan.states));
  OperationState state(loc, "onnx.Loop");
  state.addOperands(operands);
  state.addTypes(types);
  fillBody(scan, *state.addRegion());
  Operation *loop = builder.create(state);
  for (auto [index, result] : llvm::enumerate(loop->getResults())) {
    Value value = result;
    Type type = op->getResult(index).getType();
    if (index >= scan.states && scan.outputAxes[index - scan.states] != 0 &&
        !isa<NoneType>(type))
      value = moveAxis(builder, loc, result,
                       scan.outputAxes[index - scan.states], type);
    op->getResult(index).replaceAllUsesWith(value);
  }
  op->erase();
}

} // namespace

void replaceScans(func::FuncOp function) {
  // Inner ones come first in the list: a Scan's body is moved, not copied.
  SmallVector<Operation *> scans;
  function.walk([&](Operation *op) {
    if (op->getName().getStringRef() == "onnx.Scan")
      scans.push_back(op);
  });
  for (Operation *op : scans)
    if (Scan scan(op); scan.read())
      replaceScan(scan);
}

} // namespace sol::nn
