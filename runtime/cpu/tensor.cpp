//===- tensor.cpp - element types and sizes -------------------------------===//
//
// The facts about element types, and size arithmetic that cannot overflow:
// sizes come from files and from data.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/tensor.h"

namespace sol {

namespace {
struct DTypeFacts {
  int bits;
  bool floating;
  bool integral;
  const char *name;
};

DTypeFacts factsOf(DType type) {
  switch (type) {
  case DType::None:
    break;
  case DType::F32:
    return {32, true, false, "float32"};
  case DType::U8:
    return {8, false, true, "uint8"};
  case DType::I8:
    return {8, false, true, "int8"};
  case DType::U16:
    return {16, false, true, "uint16"};
  case DType::I16:
    return {16, false, true, "int16"};
  case DType::I32:
    return {32, false, true, "int32"};
  case DType::I64:
    return {64, false, true, "int64"};
  case DType::Bool:
    return {8, false, false, "bool"};
  case DType::F16:
    return {16, true, false, "float16"};
  case DType::F64:
    return {64, true, false, "float64"};
  case DType::U32:
    return {32, false, true, "uint32"};
  case DType::U64:
    return {64, false, true, "uint64"};
  case DType::BF16:
    return {16, true, false, "bfloat16"};
  case DType::F8E4M3FN:
    return {8, true, false, "float8e4m3fn"};
  case DType::F8E4M3FNUZ:
    return {8, true, false, "float8e4m3fnuz"};
  case DType::F8E5M2:
    return {8, true, false, "float8e5m2"};
  case DType::F8E5M2FNUZ:
    return {8, true, false, "float8e5m2fnuz"};
  case DType::U4:
    return {4, false, true, "uint4"};
  case DType::I4:
    return {4, false, true, "int4"};
  case DType::F4E2M1:
    return {4, true, false, "float4e2m1"};
  case DType::F8E8M0:
    return {8, true, false, "float8e8m0"};
  case DType::U2:
    return {2, false, true, "uint2"};
  case DType::I2:
    return {2, false, true, "int2"};
  }
  return {0, false, false, "none"};
}
} // namespace

int bitWidth(DType type) { return factsOf(type).bits; }
const char *dtypeName(DType type) { return factsOf(type).name; }
bool isFloat(DType type) { return factsOf(type).floating; }
bool isInteger(DType type) { return factsOf(type).integral; }

bool isKnownDType(int code) {
  return code > 0 && code < 256 && bitWidth(static_cast<DType>(code)) != 0;
}

int64_t elementCount(absl::Span<const int64_t> dims) {
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return -1;
    empty |= dim == 0;
  }
  // [0, 2^40, 2^40] has no elements, though its other sizes overflow.
  if (empty)
    return 0;
  int64_t count = 1;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(count, dim, &count))
      return -1;
  return count;
}

int64_t byteCount(DType type, int64_t count) {
  int64_t bits = bitWidth(type), bytes = 0;
  if (count < 0)
    return -1;
  if (bits >= 8)
    return __builtin_mul_overflow(count, bits / 8, &bytes) ? -1 : bytes;
  if (bits == 0)
    return 0;
  int64_t perByte = 8 / bits;
  return count / perByte + (count % perByte != 0);
}

std::string dimsToString(absl::Span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i)
      text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

} // namespace sol
