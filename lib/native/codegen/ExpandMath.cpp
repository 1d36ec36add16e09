//===- ExpandMath.cpp - elementary functions in plain arithmetic ----------===//
//
// See ExpandMath.h; runtime/cpu/elementary.h says where the coefficients are
// from. Multiplications and additions stay apart, as they are there.
//
//===----------------------------------------------------------------------===//
#include "lib/native/codegen/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sol::native {
namespace {

/// Arithmetic on one type: f32, or a vector of it.
class Expansion {
public:
  Expansion(OpBuilder &builder, Location loc, Type type)
      : b(loc, builder), type(type), bits(likeType(b.getI32Type())) {}

  Value exp(Value x);
  Value tanh(Value x);
  Value erf(Value x);

private:
  Type likeType(Type element) const {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
  }
  Value constant(Type like, Attribute element) {
    auto vector = dyn_cast<VectorType>(like);
    return arith::ConstantOp::create(
        b, vector ? TypedAttr(DenseElementsAttr::get(vector, element))
                  : cast<TypedAttr>(element));
  }
  Value real(float value) { return constant(type, b.getF32FloatAttr(value)); }
  Value whole(int32_t value) {
    return constant(bits, b.getI32IntegerAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value less(Value x, float bound) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, real(bound));
  }
  Value greater(Value x, float bound) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, real(bound));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  /// `x` where it is not a number, `y` elsewhere.
  Value unlessNaN(Value x, Value y) {
    return select(arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x), x,
                  y);
  }
  Value toBits(Value x) { return arith::BitcastOp::create(b, bits, x); }
  Value fromBits(Value x) { return arith::BitcastOp::create(b, type, x); }
  Value magnitude(Value x) {
    return fromBits(arith::AndIOp::create(b, toBits(x), whole(0x7fffffff)));
  }
  Value withSign(Value x, Value sign) {
    Value low = arith::AndIOp::create(b, toBits(x), whole(0x7fffffff));
    Value high = arith::AndIOp::create(b, toBits(sign), whole(INT32_MIN));
    return fromBits(arith::OrIOp::create(b, low, high));
  }
  /// Horner's rule, the highest coefficient first.
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    Value sum = real(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = add(mul(sum, x), real(coefficient));
    return sum;
  }
  Value powerOfTwo(Value exponent) {
    Value biased = arith::AddIOp::create(b, exponent, whole(127));
    return fromBits(arith::ShLIOp::create(b, biased, whole(23)));
  }

  ImplicitLocOpBuilder b;
  Type type, bits;
};

Value Expansion::exp(Value x) {
  Value clamped = select(greater(x, -104.0f), x, real(-104.0f));
  clamped = select(less(clamped, 89.0f), clamped, real(89.0f));
  Value magic = real(0x1.8p23f);
  Value shifted = add(mul(clamped, real(0x1.715476p0f)), magic);
  Value n = arith::SubIOp::create(b, toBits(shifted), toBits(magic));
  Value wholePart = sub(shifted, magic);
  Value r = sub(sub(clamped, mul(wholePart, real(0x1.62e4p-1f))),
                mul(wholePart, real(1.42860682e-6f)));
  Value p = polynomial(r, {1.392677634e-3f, 8.363255675e-3f, 4.166654955e-2f,
                           1.666657653e-1f, 0.5f});
  p = add(real(1.0f), add(r, mul(p, mul(r, r))));
  Value half = arith::ShRSIOp::create(b, n, whole(1));
  Value rest = arith::SubIOp::create(b, n, half);
  Value result = mul(mul(p, powerOfTwo(half)), powerOfTwo(rest));
  return unlessNaN(x, result);
}

Value Expansion::tanh(Value x) {
  Value a = magnitude(x), z = mul(x, x);
  Value p = polynomial(z, {-6.610227825e-3f, 2.130938866e-2f, -5.390942883e-2f,
                           1.333311373e-1f, -3.333333201e-1f});
  Value small = withSign(add(x, mul(x, mul(z, p))), x);
  Value power = exp(mul(real(2.0f), a));
  Value large = sub(real(1.0f), div(real(2.0f), add(power, real(1.0f))));
  return select(less(a, 0.55f), small, unlessNaN(x, withSign(large, x)));
}

Value Expansion::erf(Value x) {
  Value a = magnitude(x), z = mul(x, x);
  Value p = polynomial(z, {-6.102687034e-4f, 5.014484151e-3f, -2.678071913e-2f,
                           1.128219409e-1f, -3.76125288e-1f});
  Value small = add(mul(x, mul(p, z)), mul(x, real(1.128379155f)));
  Value t = select(less(a, 4.0f), a, real(4.0f));
  Value q = polynomial(t, {1.643063656e-6f, -4.616385863e-5f, 5.975857702e-4f,
                           -4.762625833e-3f, 2.642763715e-2f, -1.100871665e-1f,
                           -6.318239181e-1f, -1.130231055f, 3.185396624e-4f});
  Value large = withSign(sub(real(1.0f), exp(q)), x);
  return select(less(a, 0.9f), small, unlessNaN(x, large));
}

} // namespace

void expandMath(Operation *root) {
  SmallVector<Operation *> found;
  root->walk([&](Operation *op) {
    if (isa<math::ExpOp, math::TanhOp, math::ErfOp>(op) &&
        getElementTypeOrSelf(op->getResult(0).getType()).isF32())
      found.push_back(op);
  });
  for (Operation *op : found) {
    OpBuilder builder(op);
    Value x = op->getOperand(0);
    Expansion expansion(builder, op->getLoc(), x.getType());
    Value result = isa<math::ExpOp>(op)    ? expansion.exp(x)
                   : isa<math::TanhOp>(op) ? expansion.tanh(x)
                                           : expansion.erf(x);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}

} // namespace sol::native
