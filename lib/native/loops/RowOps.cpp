//===- RowOps.cpp - operators along the last axis -------------------------===//
//
// See RowOps.h.
//
//===----------------------------------------------------------------------===//
#include "lib/native/loops/RowOps.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;

namespace sol::native {
namespace {

enum class Row {
  None,
  Sum,
  Mean,
  Max,
  Min,
  SumSquare,
  L2,
  Softmax,
  Layer,
  Rms
};

Row kindOf(Operation *op) {
  return llvm::StringSwitch<Row>(op->getName().getStringRef())
      .Case("onnx.ReduceSum", Row::Sum)
      .Case("onnx.ReduceMean", Row::Mean)
      .Case("onnx.ReduceMax", Row::Max)
      .Case("onnx.ReduceMin", Row::Min)
      .Case("onnx.ReduceSumSquare", Row::SumSquare)
      .Case("onnx.ReduceL2", Row::L2)
      .Case("onnx.Softmax", Row::Softmax)
      .Case("onnx.LayerNormalization", Row::Layer)
      .Case("onnx.RMSNormalization", Row::Rms)
      .Case("onnx.microsoft.SimplifiedLayerNormalization", Row::Rms)
      .Default(Row::None);
}

int64_t integer(Operation *op, StringRef name, int64_t value) {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : value;
}

/// Is `axis`, which may count from the end, the last of `rank` axes?
bool isLast(int64_t axis, int64_t rank) {
  return axis == -1 || axis == rank - 1;
}

/// Does a Reduce operator keep the axes and join the last one alone?
bool reducesLastAxis(Operation *op, int64_t rank) {
  if (op->getNumOperands() < 2 || integer(op, "keepdims", 1) != 1)
    return false;
  auto constant = op->getOperand(1).getDefiningOp<nn::ConstantOp>();
  auto axes =
      constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  return axes && axes.getNumElements() == 1 &&
         isLast((*axes.begin()).getSExtValue(), rank);
}

/// Are only the norm's own result used, and its statistics in f32?
bool isPlainNorm(Operation *op, int64_t rank) {
  for (Value statistic : op->getResults().drop_front())
    if (!statistic.use_empty())
      return false;
  return isLast(integer(op, "axis", -1), rank) &&
         integer(op, "stash_type", 1) == 1;
}

/// One operator in terms of a LoopBody.
class RowBuilder {
public:
  RowBuilder(LoopBody &body, OpBuilder &builder, Operation *op)
      : body(body), builder(builder), loc(op->getLoc()),
        type(builder.getF32Type()) {}

  using Pair = Value (*)(OpBuilder &, Location, Value, Value);

  template <typename Op>
  static Value make(OpBuilder &builder, Location loc, Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
  /// The winner of two, or what is not a number.
  template <arith::CmpFPredicate beats>
  static Value choose(OpBuilder &b, Location loc, Value joined, Value next) {
    Value wins = arith::CmpFOp::create(b, loc, beats, joined, next);
    Value odd = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, joined,
                                      joined);
    wins = arith::OrIOp::create(b, loc, wins, odd);
    return arith::SelectOp::create(b, loc, wins, joined, next);
  }
  /// As softmax has it: what is not a number never wins.
  static Value larger(OpBuilder &b, Location loc, Value joined, Value next) {
    Value wins =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, next, joined);
    return arith::SelectOp::create(b, loc, wins, next, joined);
  }

  LoopValue pair(LoopLevel level, LoopValue a, LoopValue b, Pair make) {
    return body.compute(loc, level, type, {a, b},
                        [&](OpBuilder &inner, ValueRange x) {
                          return make(inner, loc, x[0], x[1]);
                        });
  }
  LoopValue reduce(LoopValue x, double nothing, Pair join) {
    return body.reduce(loc, x, builder.getFloatAttr(type, nothing),
                       [&](OpBuilder &inner, ValueRange pair) {
                         return join(inner, loc, pair[0], pair[1]);
                       });
  }
  LoopValue sum(LoopValue x) { return reduce(x, 0, make<arith::AddFOp>); }
  LoopValue square(LoopValue x) {
    return pair(LoopLevel::Elements, x, x, make<arith::MulFOp>);
  }
  LoopValue overLength(LoopValue sum) {
    Value length = body.rowLength(loc);
    return body.compute(loc, LoopLevel::Rows, type, sum,
                        [&](OpBuilder &inner, ValueRange x) -> Value {
                          return arith::DivFOp::create(inner, loc, x[0],
                                                       length);
                        });
  }
  LoopValue root(LoopValue x, double epsilon) {
    return body.compute(loc, LoopLevel::Rows, type, x,
                        [&](OpBuilder &inner, ValueRange x) -> Value {
                          Value value = x[0];
                          if (epsilon != 0) {
                            Value small = arith::ConstantOp::create(
                                inner, loc, inner.getFloatAttr(type, epsilon));
                            value =
                                arith::AddFOp::create(inner, loc, value, small);
                          }
                          return math::SqrtOp::create(inner, loc, value);
                        });
  }
  LoopValue reciprocal(LoopValue x) {
    return body.compute(loc, LoopLevel::Rows, type, x,
                        [&](OpBuilder &inner, ValueRange x) -> Value {
                          Value one = arith::ConstantOp::create(
                              inner, loc, inner.getFloatAttr(type, 1));
                          return arith::DivFOp::create(inner, loc, one, x[0]);
                        });
  }
  LoopValue softmax(LoopValue x);
  LoopValue norm(ArrayRef<LoopValue> operands, double epsilon, bool centred);

private:
  LoopBody &body;
  OpBuilder &builder;
  Location loc;
  Type type;
};

LoopValue RowBuilder::softmax(LoopValue x) {
  LoopValue largest =
      reduce(x, -std::numeric_limits<double>::infinity(), larger);
  LoopValue power =
      body.compute(loc, LoopLevel::Elements, type, {x, largest},
                   [&](OpBuilder &inner, ValueRange x) -> Value {
                     Value shifted =
                         arith::SubFOp::create(inner, loc, x[0], x[1]);
                     return math::ExpOp::create(inner, loc, shifted);
                   });
  return pair(LoopLevel::Elements, power, sum(power), make<arith::DivFOp>);
}

LoopValue RowBuilder::norm(ArrayRef<LoopValue> operands, double epsilon,
                           bool centred) {
  LoopValue x = operands[0];
  if (centred)
    x = pair(LoopLevel::Elements, x, overLength(sum(x)), make<arith::SubFOp>);
  LoopValue deviation = root(overLength(sum(square(x))), epsilon);
  LoopValue y =
      centred ? pair(LoopLevel::Elements, x, reciprocal(deviation),
                     make<arith::MulFOp>)
              : pair(LoopLevel::Elements, x, deviation, make<arith::DivFOp>);
  y = pair(LoopLevel::Elements, y, operands[1], make<arith::MulFOp>);
  if (operands.size() > 2)
    y = pair(LoopLevel::Elements, y, operands[2], make<arith::AddFOp>);
  return y;
}

} // namespace

std::optional<LoopLevel> rowOpLevel(Operation *op) {
  Row kind = kindOf(op);
  if (kind == Row::None)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || !type.getElementType().isF32() || type.getRank() == 0)
    return std::nullopt;
  for (Value operand : rowOperands(op))
    if (!getElementTypeOrSelf(operand.getType()).isF32())
      return std::nullopt;
  if (kind == Row::Softmax)
    return isLast(integer(op, "axis", -1), type.getRank())
               ? std::optional(LoopLevel::Elements)
               : std::nullopt;
  if (kind == Row::Layer || kind == Row::Rms)
    return isPlainNorm(op, type.getRank()) && rowOperands(op).size() >= 2
               ? std::optional(LoopLevel::Elements)
               : std::nullopt;
  return reducesLastAxis(op, type.getRank()) ? std::optional(LoopLevel::Rows)
                                             : std::nullopt;
}

SmallVector<Value> rowOperands(Operation *op) {
  Row kind = kindOf(op);
  if (kind != Row::Layer && kind != Row::Rms)
    return {op->getOperand(0)};
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (!isa<NoneType>(operand.getType()))
      operands.push_back(operand);
  return operands;
}

LoopValue buildRowOp(LoopBody &body, OpBuilder &builder, Operation *op,
                     ArrayRef<LoopValue> operands) {
  RowBuilder row(body, builder, op);
  LoopValue x = operands[0];
  auto epsilon = op->getAttrOfType<FloatAttr>("epsilon");
  double small = epsilon ? epsilon.getValueAsDouble() : 1e-5f;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kindOf(op)) {
  case Row::Mean:
    return row.overLength(row.sum(x));
  case Row::Max:
    return row.reduce(x, -infinity,
                      RowBuilder::choose<arith::CmpFPredicate::OGT>);
  case Row::Min:
    return row.reduce(x, infinity,
                      RowBuilder::choose<arith::CmpFPredicate::OLT>);
  case Row::SumSquare:
    return row.sum(row.square(x));
  case Row::L2:
    return row.root(row.sum(row.square(x)), 0);
  case Row::Softmax:
    return row.softmax(x);
  case Row::Layer:
    return row.norm(operands, small, /*centred=*/true);
  case Row::Rms:
    return row.norm(operands, small, /*centred=*/false);
  case Row::Sum:
  case Row::None:
    break;
  }
  return row.sum(x);
}

} // namespace sol::native
