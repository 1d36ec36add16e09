//===- WireReader.h - walks protobuf messages without parsing them --------===//
//
// Protobuf's wire format as a sequence of fields. For messages that are too
// large to parse, and for those whose payload must not be copied.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SUPPORT_WIREREADER_H
#define SOL_LIB_SUPPORT_WIREREADER_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace sol {

/// How a field is encoded; groups are refused.
enum class WireType : uint8_t {
  Varint = 0,
  Fixed64 = 1,
  Bytes = 2,
  Fixed32 = 5
};

/// One field of a message. `value` holds numbers, `bytes` what is
/// length-delimited; `raw` is the whole field with its tag.
struct WireField {
  uint32_t number = 0;
  WireType type = WireType::Varint;
  uint64_t value = 0;
  llvm::StringRef bytes;
  llvm::StringRef raw;
};

/// Reads the fields of one message in order; never reads outside it.
class WireReader {
public:
  explicit WireReader(llvm::StringRef message) : message(message) {}

  /// Reads the next field. False at the end and at the first fault; then
  /// `problem` tells which.
  bool next(WireField &field);
  /// What is wrong with the message at `position`; empty if nothing is.
  llvm::StringRef problem() const { return fault; }
  /// Bytes read so far.
  size_t position() const { return at; }

  /// Reads one varint at the front of `text` and removes it; false if there is
  /// none of at most 64 bits.
  static bool takeVarint(llvm::StringRef &text, uint64_t &value);

private:
  bool fail(const char *what) {
    fault = what;
    return false;
  }
  bool readValue(WireField &field, llvm::StringRef rest);

  llvm::StringRef message;
  size_t at = 0;
  llvm::StringRef fault;
};

} // namespace sol

#endif // SOL_LIB_SUPPORT_WIREREADER_H
