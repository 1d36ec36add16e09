//===- WireScan.cpp - splits a model file into structure and payloads -----===//
//
// Follows only the fields that lead to tensors; every other field is copied as
// it is. Nesting is limited below protobuf's own limit.
//
//===----------------------------------------------------------------------===//
#include "lib/import/WireScan.h"

#include "lib/support/WireReader.h"

#include "llvm/Support/Endian.h"

using namespace mlir;

namespace sol {
namespace {
/// The messages that lead to tensors.
enum class Message {
  Leaf,
  Dropped,
  Model,
  Graph,
  Node,
  Attribute,
  Tensor,
  Sparse,
  Function
};

/// What the message in field `number` of `parent` is.
Message childMessage(Message parent, uint32_t number) {
  switch (parent) {
  case Message::Model:
    return number == 7    ? Message::Graph
           : number == 25 ? Message::Function
           : number == 20 ? Message::Dropped
                          : Message::Leaf;
  case Message::Graph:
    return number == 1    ? Message::Node
           : number == 5  ? Message::Tensor
           : number == 15 ? Message::Sparse
                          : Message::Leaf;
  case Message::Node:
    return number == 5                  ? Message::Attribute
           : number == 6 || number == 9 ? Message::Dropped
                                        : Message::Leaf;
  case Message::Attribute:
    return number == 5 || number == 10    ? Message::Tensor
           : number == 6 || number == 11  ? Message::Graph
           : number == 22 || number == 23 ? Message::Sparse
                                          : Message::Leaf;
  case Message::Sparse:
    return number <= 2 ? Message::Tensor : Message::Leaf;
  case Message::Function:
    return number == 7    ? Message::Node
           : number == 11 ? Message::Attribute
                          : Message::Leaf;
  default:
    return Message::Leaf;
  }
}

bool isTypedPayload(uint32_t number) {
  return number == 4 || number == 5 || number == 7 || number == 10 ||
         number == 11;
}

void appendVarint(std::string &out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void appendBytesField(std::string &out, uint32_t number, StringRef bytes) {
  appendVarint(out, uint64_t(number) << 3 | 2);
  appendVarint(out, bytes.size());
  out.append(bytes.data(), bytes.size());
}

/// One walk over a file.
class Scanner {
public:
  explicit Scanner(StringRef file) : file(file) {}

  /// Appends the skeleton of `message` to `out`; false after a fault.
  bool scan(Message kind, StringRef message, std::string &out, unsigned depth);

  ModelSkeleton skeleton;
  std::string fault;
  uint64_t faultOffset = 0;

private:
  uint64_t offsetOf(StringRef part) const { return part.data() - file.data(); }
  bool scanTensor(StringRef message, std::string &out);
  bool fail(StringRef what, uint64_t offset) {
    fault = what.str();
    faultOffset = offset;
    return false;
  }

  StringRef file;
};

bool Scanner::scan(Message kind, StringRef message, std::string &out,
                   unsigned depth) {
  // Protobuf's parser stops at 100 levels.
  if (depth > 90)
    return fail("graphs are nested too deep", offsetOf(message));
  if (kind == Message::Tensor)
    return scanTensor(message, out);
  WireReader reader(message);
  WireField field;
  std::string inner;
  while (reader.next(field)) {
    Message child = childMessage(kind, field.number);
    if (child == Message::Dropped)
      continue;
    if (child == Message::Leaf || field.type != WireType::Bytes) {
      out.append(field.raw.data(), field.raw.size());
      continue;
    }
    inner.clear();
    if (!scan(child, field.bytes, inner, depth + 1))
      return false;
    appendBytesField(out, field.number, inner);
  }
  if (!reader.problem().empty())
    return fail(reader.problem(), offsetOf(message) + reader.position());
  return true;
}

bool Scanner::scanTensor(StringRef message, std::string &out) {
  WireReader reader(message);
  WireField field;
  PayloadSpan span;
  bool hasRaw = false, hasTyped = false;
  while (reader.next(field)) {
    if (field.number == 9 && field.type == WireType::Bytes) {
      hasRaw = true;
      span.offset = offsetOf(field.bytes);
      span.length = field.bytes.size();
    } else if (isTypedPayload(field.number)) {
      hasTyped = true;
    } else if (field.number != 6) { // strings are refused by their type
      out.append(field.raw.data(), field.raw.size());
    }
  }
  if (!reader.problem().empty())
    return fail(reader.problem(), offsetOf(message) + reader.position());
  if (!hasRaw && !hasTyped)
    return true;
  if (hasTyped) {
    span.offset = offsetOf(message);
    span.length = message.size();
    span.isProto = true;
  }
  char index[8];
  llvm::support::endian::write64le(index, skeleton.payloads.size());
  appendBytesField(out, 9, StringRef(index, 8));
  skeleton.payloads.push_back(span);
  return true;
}
} // namespace

std::string describeWrongFile(StringRef file) {
  if (file.empty())
    return "is empty";
  if (file.starts_with("version https://git-lfs"))
    return "is a Git LFS pointer, not the model itself; fetch it with `git lfs "
           "pull`";
  StringRef head = file.take_front(512).ltrim();
  if (head.starts_with_insensitive("<!doctype") ||
      head.starts_with_insensitive("<html"))
    return "is an HTML page, probably an error message of a download; download "
           "the model again";
  if (file.starts_with("PK\x03\x04"))
    return "is a zip archive; unpack the model first";
  if (file.starts_with("GGUF"))
    return "is a GGUF file, not an ONNX model; export the model to ONNX";
  if (file.starts_with("\x1f\x8b"))
    return "is gzip-compressed; unpack the model first";
  bool isText = llvm::all_of(file.take_front(512), [](char c) {
    return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t';
  });
  return isText ? "is text, not an ONNX model" : "";
}

FailureOr<ModelSkeleton> scanModel(StringRef file, EmitError error) {
  if (file.empty())
    return error() << describeWrongFile(file);
  Scanner scanner(file);
  if (scanner.scan(Message::Model, file, scanner.skeleton.bytes, 0))
    return std::move(scanner.skeleton);
  std::string kind = describeWrongFile(file);
  if (!kind.empty())
    return error() << kind;
  return error() << "is no ONNX model, or is cut off or damaged: at byte "
                 << scanner.faultOffset << " of " << file.size() << ", "
                 << scanner.fault;
}

std::optional<uint64_t> payloadIndex(const std::string &rawData) {
  if (rawData.size() != 8)
    return std::nullopt;
  return llvm::support::endian::read64le(rawData.data());
}

} // namespace sol
