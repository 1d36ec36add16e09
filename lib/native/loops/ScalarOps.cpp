//===- ScalarOps.cpp - elementwise operators on one element ---------------===//
//
// See ScalarOps.h. One table: an operator's name, what it takes, and how it is
// built.
//
//===----------------------------------------------------------------------===//
#include "lib/native/loops/ScalarOps.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace sol::native {
namespace {

/// Builds scalar arithmetic at one place.
class Scalars {
public:
  Scalars(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value number(Type type, double value) {
    TypedAttr attribute = isa<FloatType>(type)
                              ? TypedAttr(builder.getFloatAttr(type, value))
                              : TypedAttr(builder.getIntegerAttr(
                                    type, static_cast<int64_t>(value)));
    return arith::ConstantOp::create(builder, loc, attribute);
  }
  Value add(Value a, Value b) {
    return byType<arith::AddFOp, arith::AddIOp>(a, b);
  }
  Value sub(Value a, Value b) {
    return byType<arith::SubFOp, arith::SubIOp>(a, b);
  }
  Value mul(Value a, Value b) {
    return byType<arith::MulFOp, arith::MulIOp>(a, b);
  }
  Value div(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }
  Value negate(Value a) {
    if (isa<FloatType>(a.getType()))
      return arith::NegFOp::create(builder, loc, a);
    return sub(number(a.getType(), 0), a);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value compare(arith::CmpFPredicate real, arith::CmpIPredicate whole, Value a,
                Value b) {
    if (isa<FloatType>(a.getType()))
      return arith::CmpFOp::create(builder, loc, real, a, b);
    return arith::CmpIOp::create(builder, loc, whole, a, b);
  }
  Value less(Value a, Value b) {
    return compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, a, b);
  }
  Value greater(Value a, Value b) {
    return compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, a, b);
  }
  Value isNaN(Value a) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, a, a);
  }
  template <typename Op> Value math(Value a) {
    return Op::create(builder, loc, a);
  }
  /// `a` if it beats `b` or is NaN.
  Value winner(Value beats, Value a, Value b) {
    if (isa<FloatType>(a.getType()))
      beats = arith::OrIOp::create(builder, loc, beats, isNaN(a));
    return select(beats, a, b);
  }
  Value sigmoid(Value x) {
    Value one = number(x.getType(), 1);
    return div(one, add(one, math<math::ExpOp>(negate(x))));
  }
  Value cast(Value x, Type to);

  OpBuilder &builder;
  Location loc;

private:
  template <typename Real, typename Whole> Value byType(Value a, Value b) {
    if (isa<FloatType>(a.getType()))
      return Real::create(builder, loc, a, b);
    return Whole::create(builder, loc, a, b);
  }
};

Value Scalars::cast(Value x, Type to) {
  Type from = x.getType();
  if (from == to)
    return x;
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()
               ? Value(arith::ExtFOp::create(builder, loc, to, x))
               : Value(arith::TruncFOp::create(builder, loc, to, x));
  if (to.isInteger(1))
    return compare(arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, x,
                   number(from, 0));
  if (from.isInteger(1))
    return isa<FloatType>(to)
               ? Value(arith::UIToFPOp::create(builder, loc, to, x))
               : Value(arith::ExtUIOp::create(builder, loc, to, x));
  if (isa<FloatType>(to))
    return arith::SIToFPOp::create(builder, loc, to, x);
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(builder, loc, to, x);
  return arith::TruncIOp::create(builder, loc, to, x);
}

double real(Operation *op, StringRef name, double value) {
  auto attribute = op->getAttrOfType<FloatAttr>(name);
  return attribute ? attribute.getValueAsDouble() : value;
}

/// The exponent of a power, if it is known and one that is a product.
std::optional<double> fixedExponent(Operation *op) {
  if (op->getNumOperands() != 2)
    return std::nullopt;
  TypedAttr exponent = constantElement(op->getOperand(1));
  std::optional<double> value;
  if (auto number = dyn_cast_or_null<FloatAttr>(exponent))
    value = number.getValueAsDouble();
  if (auto number = dyn_cast_or_null<IntegerAttr>(exponent))
    value = static_cast<double>(number.getInt());
  if (value && *value != 1 && *value != 2 && *value != 3)
    value.reset();
  return value;
}

Value power(Scalars &s, Operation *op, Value x) {
  double exponent = *fixedExponent(op);
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return s.mul(x, x);
  // Through float64, so that the result is rounded once.
  Type wide = s.builder.getF64Type();
  Value y = arith::ExtFOp::create(s.builder, s.loc, wide, x);
  return arith::TruncFOp::create(s.builder, s.loc, x.getType(),
                                 s.mul(s.mul(y, y), y));
}

Value gelu(Scalars &s, Operation *op, Value x) {
  Type type = x.getType();
  auto number = [&](double value) { return s.number(type, value); };
  auto approximate = op->getAttrOfType<StringAttr>("approximate");
  if (approximate && approximate.getValue() == "tanh") {
    Value cube = s.mul(s.mul(x, x), x);
    Value inner = s.mul(number(0.79788456080286536),
                        s.add(x, s.mul(number(0.044715), cube)));
    return s.mul(s.mul(number(0.5), x),
                 s.add(number(1), s.math<math::TanhOp>(inner)));
  }
  Value scaled = s.mul(x, number(0.70710678118654752));
  return s.mul(s.mul(number(0.5), x),
               s.add(number(1), s.math<math::ErfOp>(scaled)));
}

/// Which operand types an operator takes here, all operands alike unless said.
enum class Takes {
  Reals,    ///< f32
  Numbers,  ///< f32, i64, i32
  Anything, ///< i1 too
  Bools,
  Choice,   ///< i1, then two alike of any type, f16 and bf16 too
  Converts, ///< any type to any, but no real number to an integer; f32 to and
            ///< from f16 and bf16
  Power     ///< f32 with a known exponent of 1, 2 or 3
};

using Build = Value (*)(Scalars &, Operation *, ValueRange);

struct ScalarOp {
  Takes takes;
  unsigned least, most; ///< operands
  Build build;
};

#define SOL_BUILD(expression)                                                  \
  [](Scalars &s, Operation *op, ValueRange x) -> Value { return expression; }
#define SOL_RELATION(real, whole)                                              \
  SOL_BUILD(s.compare(arith::CmpFPredicate::real, arith::CmpIPredicate::whole, \
                      x[0], x[1]))

template <typename Op> Value fold(Scalars &s, ValueRange x, Op join) {
  Value result = x[0];
  for (Value other : x.drop_front())
    result = join(result, other);
  return result;
}

Value largest(Scalars &s, Operation *, ValueRange x) {
  return fold(
      s, x, [&](Value a, Value b) { return s.winner(s.greater(a, b), a, b); });
}
Value smallest(Scalars &s, Operation *, ValueRange x) {
  return fold(s, x,
              [&](Value a, Value b) { return s.winner(s.less(a, b), a, b); });
}
Value sum(Scalars &s, Operation *, ValueRange x) {
  return fold(s, x, [&](Value a, Value b) { return s.add(a, b); });
}

Value clip(Scalars &s, Operation *op, ValueRange x) {
  Value result = x[0];
  size_t next = 1;
  if (op->getNumOperands() > 1 && !isa<NoneType>(op->getOperand(1).getType())) {
    Value low = x[next++];
    result = s.select(s.less(result, low), low, result);
  }
  if (next < x.size())
    result = s.select(s.greater(result, x[next]), x[next], result);
  return result;
}

using Table = llvm::StringMap<ScalarOp>;

/// Adds an operator of a fixed number of operands.
class Entries {
public:
  explicit Entries(Table &table) : table(table) {}
  void operator()(StringRef name, Takes takes, unsigned operands,
                  Build build) const {
    table[("onnx." + name).str()] = {takes, operands, operands, build};
  }

private:
  Table &table;
};

void addArithmetic(const Entries &add) {
  add("Add", Takes::Numbers, 2, SOL_BUILD(s.add(x[0], x[1])));
  add("Sub", Takes::Numbers, 2, SOL_BUILD(s.sub(x[0], x[1])));
  add("Mul", Takes::Numbers, 2, SOL_BUILD(s.mul(x[0], x[1])));
  add("Div", Takes::Reals, 2, SOL_BUILD(s.div(x[0], x[1])));
  add("Pow", Takes::Power, 2, SOL_BUILD(power(s, op, x[0])));
  add("Neg", Takes::Numbers, 1, SOL_BUILD(s.negate(x[0])));
  add("Abs", Takes::Reals, 1, SOL_BUILD(s.math<math::AbsFOp>(x[0])));
  add("Sqrt", Takes::Reals, 1, SOL_BUILD(s.math<math::SqrtOp>(x[0])));
}

void addFunctions(const Entries &add) {
  add("Exp", Takes::Reals, 1, SOL_BUILD(s.math<math::ExpOp>(x[0])));
  add("Tanh", Takes::Reals, 1, SOL_BUILD(s.math<math::TanhOp>(x[0])));
  add("Erf", Takes::Reals, 1, SOL_BUILD(s.math<math::ErfOp>(x[0])));
  add("Sigmoid", Takes::Reals, 1, SOL_BUILD(s.sigmoid(x[0])));
  add("Gelu", Takes::Reals, 1, SOL_BUILD(gelu(s, op, x[0])));
  add("Reciprocal", Takes::Reals, 1,
      SOL_BUILD(s.div(s.number(x[0].getType(), 1), x[0])));
  add("Swish", Takes::Reals, 1,
      SOL_BUILD(s.mul(
          x[0], s.sigmoid(s.mul(s.number(x[0].getType(), real(op, "alpha", 1)),
                                x[0])))));
  add("Relu", Takes::Numbers, 1, [](Scalars &s, Operation *, ValueRange x) {
    Value zero = s.number(x[0].getType(), 0);
    return s.select(s.less(x[0], zero), zero, x[0]);
  });
  add("LeakyRelu", Takes::Reals, 1,
      [](Scalars &s, Operation *op, ValueRange x) {
        Type type = x[0].getType();
        Value below = s.mul(s.number(type, real(op, "alpha", 0.01)), x[0]);
        return s.select(s.less(x[0], s.number(type, 0)), below, x[0]);
      });
}

void addChoices(const Entries &add) {
  add("IsNaN", Takes::Reals, 1, SOL_BUILD(s.isNaN(x[0])));
  add("Equal", Takes::Anything, 2, SOL_RELATION(OEQ, eq));
  add("Less", Takes::Numbers, 2, SOL_RELATION(OLT, slt));
  add("LessOrEqual", Takes::Numbers, 2, SOL_RELATION(OLE, sle));
  add("Greater", Takes::Numbers, 2, SOL_RELATION(OGT, sgt));
  add("GreaterOrEqual", Takes::Numbers, 2, SOL_RELATION(OGE, sge));
  add("And", Takes::Bools, 2,
      SOL_BUILD(arith::AndIOp::create(s.builder, s.loc, x[0], x[1])));
  add("Or", Takes::Bools, 2,
      SOL_BUILD(arith::OrIOp::create(s.builder, s.loc, x[0], x[1])));
  add("Xor", Takes::Bools, 2,
      SOL_BUILD(arith::XOrIOp::create(s.builder, s.loc, x[0], x[1])));
  add("Not", Takes::Bools, 1,
      SOL_BUILD(arith::XOrIOp::create(s.builder, s.loc, x[0],
                                      s.number(x[0].getType(), 1))));
  add("Where", Takes::Choice, 3, SOL_BUILD(s.select(x[0], x[1], x[2])));
  add("Cast", Takes::Converts, 1,
      SOL_BUILD(
          s.cast(x[0], getElementTypeOrSelf(op->getResult(0).getType()))));
}

const ScalarOp *findScalarOp(StringRef name) {
  static const Table table = [] {
    Table ops;
    Entries add(ops);
    addArithmetic(add);
    addFunctions(add);
    addChoices(add);
    ops["onnx.Clip"] = {Takes::Numbers, 1, 3, clip};
    ops["onnx.Max"] = {Takes::Numbers, 1, 8, largest};
    ops["onnx.Min"] = {Takes::Numbers, 1, 8, smallest};
    ops["onnx.Sum"] = {Takes::Numbers, 1, 8, sum};
    return ops;
  }();
  auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

/// 16-bit floats are converted and selected, never computed with.
bool isStoredFloat(Type type) { return type.isF16() || type.isBF16(); }

bool isNumber(Type type) {
  return type.isF32() || type.isInteger(64) || type.isInteger(32);
}

/// Do the operands' element types suit?
bool suits(Takes takes, Operation *op, ArrayRef<Type> types) {
  bool alike = llvm::all_equal(types);
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  switch (takes) {
  case Takes::Reals:
    return alike && types[0].isF32();
  case Takes::Numbers:
    return alike && isNumber(types[0]);
  case Takes::Anything:
    return alike && isLoopElementType(types[0]);
  case Takes::Bools:
    return alike && types[0].isInteger(1);
  case Takes::Choice:
    return types.size() == 3 && types[0].isInteger(1) && types[1] == types[2] &&
           (isLoopElementType(types[1]) || isStoredFloat(types[1]));
  case Takes::Converts:
    if (isStoredFloat(types[0]) || isStoredFloat(result))
      return types[0].isF32() || result.isF32();
    return isLoopElementType(types[0]) && isLoopElementType(result) &&
           (!types[0].isF32() || result.isF32() || result.isInteger(1));
  case Takes::Power:
    return types[0].isF32() && fixedExponent(op);
  }
  return false;
}

} // namespace

bool isLoopElementType(Type type) {
  return type.isF32() || type.isSignlessInteger(64) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(1);
}

TypedAttr constantElement(Value value) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  auto elements =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!elements || elements.getNumElements() != 1 ||
      !isLoopElementType(elements.getElementType()))
    return {};
  return dyn_cast<TypedAttr>(*elements.value_begin<Attribute>());
}

SmallVector<Value> scalarOperands(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (!isa<NoneType>(operand.getType()))
      operands.push_back(operand);
  const ScalarOp *scalar = findScalarOp(op->getName().getStringRef());
  if (scalar && scalar->takes == Takes::Power)
    operands.pop_back();
  return operands;
}

bool isScalarOp(Operation *op) {
  const ScalarOp *scalar = findScalarOp(op->getName().getStringRef());
  if (!scalar || op->getNumResults() != 1 ||
      op->getNumOperands() < scalar->least ||
      op->getNumOperands() > scalar->most ||
      isa<NoneType>(op->getOperand(0).getType()))
    return false;
  SmallVector<Type> types;
  for (Value operand : op->getOperands())
    if (!isa<NoneType>(operand.getType()))
      types.push_back(getElementTypeOrSelf(operand.getType()));
  return suits(scalar->takes, op, types);
}

Value buildScalarOp(OpBuilder &builder, Operation *op, ValueRange elements) {
  Scalars scalars(builder, op->getLoc());
  return findScalarOp(op->getName().getStringRef())
      ->build(scalars, op, elements);
}

} // namespace sol::native
