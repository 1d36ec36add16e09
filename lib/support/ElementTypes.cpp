//===- ElementTypes.cpp - element types of IR and of the runtime ----------===//
//
// See ElementTypes.h.
//
//===----------------------------------------------------------------------===//
#include "lib/support/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace sol {

static DType integerTypeOf(IntegerType type) {
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return DType::Bool;
  case 2:
    return isUnsigned ? DType::U2 : DType::I2;
  case 4:
    return isUnsigned ? DType::U4 : DType::I4;
  case 8:
    return isUnsigned ? DType::U8 : DType::I8;
  case 16:
    return isUnsigned ? DType::U16 : DType::I16;
  case 32:
    return isUnsigned ? DType::U32 : DType::I32;
  case 64:
    return isUnsigned ? DType::U64 : DType::I64;
  default:
    return DType::None;
  }
}

DType dtypeOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integerTypeOf(integer);
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3FN;
  if (isa<Float8E4M3FNUZType>(type))
    return DType::F8E4M3FNUZ;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  if (isa<Float8E5M2FNUZType>(type))
    return DType::F8E5M2FNUZ;
  if (isa<Float8E8M0FNUType>(type))
    return DType::F8E8M0;
  if (isa<Float4E2M1FNType>(type))
    return DType::F4E2M1;
  return DType::None;
}

Type elementTypeOf(DType type, MLIRContext *context) {
  auto integer = [&](unsigned width, bool isUnsigned = false) {
    return IntegerType::get(context, width,
                            isUnsigned ? IntegerType::Unsigned
                                       : IntegerType::Signless);
  };
  switch (type) {
  case DType::None:
    return {};
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DType::F8E8M0:
    return Float8E8M0FNUType::get(context);
  case DType::F4E2M1:
    return Float4E2M1FNType::get(context);
  case DType::Bool:
    return integer(1);
  case DType::I2:
  case DType::U2:
    return integer(2, type == DType::U2);
  case DType::I4:
  case DType::U4:
    return integer(4, type == DType::U4);
  case DType::I8:
  case DType::U8:
    return integer(8, type == DType::U8);
  case DType::I16:
  case DType::U16:
    return integer(16, type == DType::U16);
  case DType::I32:
  case DType::U32:
    return integer(32, type == DType::U32);
  case DType::I64:
  case DType::U64:
    return integer(64, type == DType::U64);
  }
  return {};
}

} // namespace sol
