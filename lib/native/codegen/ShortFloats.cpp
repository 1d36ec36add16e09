//===- ShortFloats.cpp - 16-bit floats in plain arithmetic ----------------===//
//
// See ShortFloats.h. Layouts: float16 has 1, 5 and 10 bits of sign, exponent
// and fraction (IEEE 754-2019, table 3.5), bfloat16 the upper half of a
// float32.
//
//===----------------------------------------------------------------------===//
#include "lib/native/codegen/ShortFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace sol::native {
namespace {

/// Integer arithmetic on the bits of f32, scalar or vector like `like`.
class Bits {
public:
  Bits(OpBuilder &builder, Location loc, Type like)
      : b(loc, builder), like(like), type(as(b.getI32Type())) {}

  Type as(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
  }
  Value number(uint32_t value) {
    Attribute element = b.getI32IntegerAttr(static_cast<int32_t>(value));
    auto vector = dyn_cast<VectorType>(type);
    return arith::ConstantOp::create(
        b, vector ? TypedAttr(DenseElementsAttr::get(vector, element))
                  : cast<TypedAttr>(element));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value mask(Value x, uint32_t y) {
    return arith::AndIOp::create(b, x, number(y));
  }
  Value join(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value left(Value x, uint32_t by) {
    return arith::ShLIOp::create(b, x, number(by));
  }
  Value right(Value x, uint32_t by) {
    return arith::ShRUIOp::create(b, x, number(by));
  }
  /// `x` where `value` is at least `bound`, both unsigned; `y` elsewhere.
  Value ifAtLeast(Value value, uint32_t bound, Value x, Value y) {
    Value is = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, value,
                                     number(bound));
    return arith::SelectOp::create(b, is, x, y);
  }
  Value toFloat(Value bits) {
    return arith::BitcastOp::create(b, as(b.getF32Type()), bits);
  }
  Value toBits(Value real) { return arith::BitcastOp::create(b, type, real); }
  Value widen(Value bits16) { return arith::ExtUIOp::create(b, type, bits16); }
  Value narrow(Value bits32) {
    return arith::TruncIOp::create(b, as(b.getI16Type()), bits32);
  }
  /// Adds what rounds the lowest `dropped` bits to nearest, ties to even.
  Value rounded(Value x, uint32_t dropped) {
    Value odd = mask(right(x, dropped), 1);
    return add(add(x, number((1u << (dropped - 1)) - 1)), odd);
  }

  ImplicitLocOpBuilder b;
  Type like, type;
};

constexpr uint32_t signBit = 0x80000000, infinity = 0x7f800000;
/// Exponents of float16 and float32 differ by 112 in their biases.
constexpr uint32_t rebias = 112u << 23;

Value widenFloat16(Bits &bits, Value code) {
  Value sign = bits.left(bits.mask(code, 0x8000), 16);
  Value low = bits.left(bits.mask(code, 0x7fff), 13);
  Value normal = bits.add(low, bits.number(rebias));
  Value special = bits.add(normal, bits.number(rebias));
  // Denormals: a float32 whose fraction is theirs, less its leading one.
  constexpr uint32_t leastNormal = 113u << 23;
  Value shifted = bits.toFloat(bits.add(low, bits.number(leastNormal)));
  Value leading = bits.toFloat(bits.number(leastNormal));
  Value small = bits.toBits(arith::SubFOp::create(bits.b, shifted, leading));
  Value result = bits.ifAtLeast(low, 0x0400u << 13, normal, small);
  result = bits.ifAtLeast(low, 0x7c00u << 13, special, result);
  return bits.toFloat(bits.join(result, sign));
}

Value narrowToFloat16(Bits &bits, Value values) {
  Value x = bits.toBits(values);
  Value sign = bits.right(bits.mask(x, signBit), 16);
  Value size = bits.mask(x, ~signBit);
  Value normal =
      bits.right(bits.sub(bits.rounded(size, 13), bits.number(rebias)), 13);
  // Below the least normal number, adding 1/2 leaves the denormal's bits.
  constexpr uint32_t half = 0x3f000000;
  Value sum = arith::AddFOp::create(bits.b, bits.toFloat(size),
                                    bits.toFloat(bits.number(half)));
  Value small = bits.sub(bits.toBits(sum), bits.number(half));
  Value result = bits.ifAtLeast(size, 0x38800000, normal, small);
  result = bits.ifAtLeast(size, 0x47800000, bits.number(0x7c00), result);
  result = bits.ifAtLeast(size, infinity + 1, bits.number(0x7e00), result);
  return bits.narrow(bits.join(result, sign));
}

Value narrowToBfloat16(Bits &bits, Value values) {
  Value x = bits.toBits(values);
  Value number = bits.right(bits.rounded(x, 16), 16);
  Value quiet = bits.join(bits.right(x, 16), bits.number(0x40));
  Value size = bits.mask(x, ~signBit);
  return bits.narrow(bits.ifAtLeast(size, infinity + 1, quiet, number));
}

} // namespace

bool isShortFloat(Type type) { return type.isF16() || type.isBF16(); }

Value widenShortFloat(OpBuilder &builder, Location loc, Value bits16,
                      Type type) {
  Bits bits(builder, loc, bits16.getType());
  Value code = bits.widen(bits16);
  return type.isF16() ? widenFloat16(bits, code)
                      : bits.toFloat(bits.left(code, 16));
}

Value narrowToShortFloat(OpBuilder &builder, Location loc, Value values,
                         Type type) {
  Bits bits(builder, loc, values.getType());
  return type.isF16() ? narrowToFloat16(bits, values)
                      : narrowToBfloat16(bits, values);
}

} // namespace sol::native
