//===- WireReader.cpp - walks protobuf messages without parsing them ------===//
//
// Every length is checked against what is left of the message.
//
//===----------------------------------------------------------------------===//
#include "lib/support/WireReader.h"

#include "llvm/Support/Endian.h"

namespace sol {

bool WireReader::takeVarint(llvm::StringRef &text, uint64_t &value) {
  value = 0;
  for (unsigned i = 0; i < text.size() && i < 10; ++i) {
    auto byte = static_cast<uint8_t>(text[i]);
    if (i == 9 && byte > 1)
      return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      text = text.drop_front(i + 1);
      return true;
    }
  }
  return false;
}

bool WireReader::next(WireField &field) {
  if (!fault.empty() || at == message.size())
    return false;
  llvm::StringRef rest = message.drop_front(at);
  uint64_t tag;
  if (!takeVarint(rest, tag))
    return fail("a field's tag is cut off or too long");
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
    return fail("a field has an impossible number");
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  return readValue(field, rest);
}

bool WireReader::readValue(WireField &field, llvm::StringRef rest) {
  switch (field.type) {
  case WireType::Varint:
    if (!takeVarint(rest, field.value))
      return fail("a number is cut off or too long");
    break;
  case WireType::Fixed64:
    if (rest.size() < 8)
      return fail("a number is cut off");
    field.value = llvm::support::endian::read64le(rest.data());
    rest = rest.drop_front(8);
    break;
  case WireType::Fixed32:
    if (rest.size() < 4)
      return fail("a number is cut off");
    field.value = llvm::support::endian::read32le(rest.data());
    rest = rest.drop_front(4);
    break;
  case WireType::Bytes: {
    uint64_t length;
    if (!takeVarint(rest, length))
      return fail("a length is cut off or too long");
    if (length > rest.size())
      return fail("a field is longer than what is left of its message");
    field.bytes = rest.take_front(length);
    rest = rest.drop_front(length);
    break;
  }
  default:
    return fail("a field has an encoding that ONNX does not use");
  }
  size_t end = message.size() - rest.size();
  field.raw = message.slice(at, end);
  at = end;
  return true;
}

} // namespace sol
