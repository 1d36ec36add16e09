//===- TensorBytes.cpp - elements of constants as ONNX stores them --------===//
//
// MLIR keeps elements of less than a byte in a byte each, ONNX packs them.
//
//===----------------------------------------------------------------------===//
#include "lib/support/TensorBytes.h"

#include "dialects/onnx/OnnxSchema.h"
#include "lib/support/WireReader.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;

namespace sol {
namespace {
/// Bytes one after the other to packed elements of `bits` (2 or 4) each.
std::vector<char> pack(ArrayRef<char> elements, unsigned bits) {
  unsigned perByte = 8 / bits, mask = (1u << bits) - 1;
  std::vector<char> packed(llvm::divideCeil(elements.size(), perByte));
  for (size_t i = 0; i < elements.size(); ++i)
    packed[i / perByte] |=
        static_cast<char>((elements[i] & mask) << (i % perByte * bits));
  return packed;
}

/// The inverse of pack, for `count` elements.
std::vector<char> unpack(ArrayRef<char> packed, size_t count, unsigned bits) {
  unsigned perByte = 8 / bits, mask = (1u << bits) - 1;
  std::vector<char> elements(count);
  for (size_t i = 0; i < count; ++i)
    elements[i] = static_cast<char>(static_cast<uint8_t>(packed[i / perByte]) >>
                                        (i % perByte * bits) &
                                    mask);
  return elements;
}

std::vector<char> bytesOfBools(DenseElementsAttr value) {
  std::vector<char> bytes;
  bytes.reserve(value.getNumElements());
  for (bool element : value.getValues<bool>())
    bytes.push_back(element ? 1 : 0);
  return bytes;
}
} // namespace

unsigned packedBits(Type elementType) {
  int number = onnx::elementTypeNumber(elementType);
  if (!number)
    return 0;
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return bits == 1 ? 8 : bits;
}

std::optional<int64_t> packedSize(ShapedType type) {
  unsigned bits = packedBits(type.getElementType());
  if (!bits || !type.hasStaticShape())
    return std::nullopt;
  int64_t count = 1;
  bool overflow = false;
  for (int64_t size : type.getShape()) {
    if (size == 0)
      return 0;
    int64_t product;
    overflow |= __builtin_mul_overflow(count, size, &product) || product < 0;
    count = overflow ? 1 : product;
  }
  if (overflow || count > (int64_t(1) << 56))
    return std::nullopt;
  return static_cast<int64_t>(llvm::divideCeil(uint64_t(count) * bits, 8));
}

FailureOr<std::vector<char>> packedBytes(ElementsAttr value) {
  auto type = cast<ShapedType>(value.getType());
  unsigned bits = packedBits(type.getElementType());
  if (!bits)
    return failure();
  ArrayRef<char> raw;
  size_t count = type.getNumElements();
  std::vector<char> repeated;
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(value)) {
    if (type.getElementType().isInteger(1))
      return bytesOfBools(dense);
    raw = dense.getRawData();
    if (dense.isSplat()) {
      repeated.reserve(raw.size() * count);
      for (size_t i = 0; i < count; ++i)
        repeated.insert(repeated.end(), raw.begin(), raw.end());
      raw = repeated;
    }
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return failure();
    raw = blob->getData();
  } else {
    return failure();
  }
  if (raw.size() != count * std::max(bits, 8u) / 8)
    return failure();
  if (bits < 8)
    return pack(raw, bits);
  return std::vector<char>(raw.begin(), raw.end());
}

DenseElementsAttr elementsFromBytes(RankedTensorType type,
                                    ArrayRef<char> bytes) {
  std::optional<int64_t> size = packedSize(type);
  if (!size || static_cast<size_t>(*size) != bytes.size())
    return {};
  // The value's own type never carries symbolic sizes.
  auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
  size_t count = plain.getNumElements();
  if (plain.getElementType().isInteger(1)) {
    SmallVector<bool> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = bytes[i] != 0;
    return DenseElementsAttr::get(plain, values);
  }
  unsigned bits = packedBits(plain.getElementType());
  if (bits < 8)
    return DenseElementsAttr::getFromRawBuffer(plain,
                                               unpack(bytes, count, bits));
  return DenseElementsAttr::getFromRawBuffer(plain, bytes);
}

namespace {
/// Numbers of TensorProto's fields.
enum TensorField : uint32_t {
  floatData = 4,
  int32Data = 5,
  int64Data = 7,
  rawData = 9,
  doubleData = 10,
  uint64Data = 11
};

/// The field that holds elements of type `number`, and how many bytes of each
/// entry count (4-bit types: an entry holds a byte of two).
struct TypedField {
  uint32_t field;
  unsigned entryBytes;
};

TypedField typedFieldOf(int number) {
  switch (number) {
  case 1:
  case 14:
    return {floatData, 4};
  case 6:
    return {int32Data, 4};
  case 4:
  case 5:
  case 10:
  case 16:
    return {int32Data, 2};
  case 7:
    return {int64Data, 8};
  case 11:
  case 15:
    return {doubleData, 8};
  case 12:
    return {uint64Data, 4};
  case 13:
    return {uint64Data, 8};
  default:
    return {int32Data, 1};
  }
}

/// Appends the low `bytes` bytes of a number.
void append(std::vector<char> &out, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}

/// Appends the entries of one field: packed or a single one.
bool appendEntries(const WireField &field, TypedField typed,
                   std::vector<char> &out) {
  if (field.type != WireType::Bytes) {
    append(out, field.value, typed.entryBytes);
    return true;
  }
  if (typed.field == floatData || typed.field == doubleData) {
    if (field.bytes.size() % typed.entryBytes != 0)
      return false;
    out.insert(out.end(), field.bytes.begin(), field.bytes.end());
    return true;
  }
  StringRef rest = field.bytes;
  uint64_t value;
  while (!rest.empty()) {
    if (!WireReader::takeVarint(rest, value))
      return false;
    append(out, value, typed.entryBytes);
  }
  return true;
}
} // namespace

FailureOr<std::vector<char>> bytesOfTensorProto(ArrayRef<char> message,
                                                RankedTensorType type,
                                                EmitError error) {
  std::optional<int64_t> size = packedSize(type);
  int number = onnx::elementTypeNumber(type.getElementType());
  if (!size)
    return error() << "has the type " << type << ", which takes no bytes here";
  TypedField typed = typedFieldOf(number);
  std::vector<char> bytes;
  WireReader reader(StringRef(message.data(), message.size()));
  WireField field;
  while (reader.next(field)) {
    if (field.number == rawData && field.type == WireType::Bytes)
      bytes.insert(bytes.end(), field.bytes.begin(), field.bytes.end());
    else if (field.number == typed.field && !appendEntries(field, typed, bytes))
      return error() << "has elements that are cut off";
  }
  if (!reader.problem().empty())
    return error() << "is damaged: " << reader.problem();
  // Some writers store one 4-bit element an entry instead of two.
  unsigned bits = packedBits(type.getElementType());
  if (bits < 8 && bytes.size() == static_cast<size_t>(type.getNumElements()) &&
      bytes.size() != static_cast<size_t>(*size))
    bytes = pack(bytes, bits);
  if (bytes.size() != static_cast<size_t>(*size))
    return error() << "holds " << bytes.size() << " bytes, but " << type
                   << " takes " << *size;
  return bytes;
}

} // namespace sol
