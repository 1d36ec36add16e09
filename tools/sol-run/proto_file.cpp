//===- proto_file.cpp - tensors as ONNX writes them -----------------------===//
//
// `.pb` files: serialized TensorProto messages, as the ONNX backend tests use.
//
//===----------------------------------------------------------------------===//
#include "tools/sol-run/tensor_value.h"

#include "lib/import/onnx.pb.h"

namespace sol::run {
namespace {

/// Appends each element of a typed field as one of `T`.
template <typename T, typename Field>
void appendField(const Field &field, std::vector<char> &bytes) {
  for (auto element : field) {
    T value = static_cast<T>(element);
    const char *data = reinterpret_cast<const char *>(&value);
    bytes.insert(bytes.end(), data, data + sizeof(T));
  }
}

/// The elements of a tensor that has no raw_data (onnx.proto says which field
/// holds which type).
void readTypedFields(const onnx::TensorProto &proto, std::vector<char> &bytes) {
  switch (proto.data_type()) {
  case onnx::TensorProto::FLOAT:
    return appendField<float>(proto.float_data(), bytes);
  case onnx::TensorProto::DOUBLE:
    return appendField<double>(proto.double_data(), bytes);
  case onnx::TensorProto::INT64:
    return appendField<int64_t>(proto.int64_data(), bytes);
  case onnx::TensorProto::UINT32:
    return appendField<uint32_t>(proto.uint64_data(), bytes);
  case onnx::TensorProto::UINT64:
    return appendField<uint64_t>(proto.uint64_data(), bytes);
  case onnx::TensorProto::INT32:
    return appendField<int32_t>(proto.int32_data(), bytes);
  case onnx::TensorProto::UINT16:
  case onnx::TensorProto::INT16:
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
    return appendField<uint16_t>(proto.int32_data(), bytes);
  default:
    return appendField<uint8_t>(proto.int32_data(), bytes);
  }
}

} // namespace

TensorValue readProto(const std::string &path) {
  std::string content = readFile(path);
  onnx::TensorProto proto;
  if (!proto.ParseFromString(content))
    throw Failure(path + ": is no serialized TensorProto");
  TensorValue value;
  value.name = proto.name();
  value.type = proto.data_type();
  value.sizes.assign(proto.dims().begin(), proto.dims().end());
  if (proto.has_raw_data())
    value.bytes.assign(proto.raw_data().begin(), proto.raw_data().end());
  else
    readTypedFields(proto, value.bytes);
  int64_t wanted = bytesFor(value.type, value.sizes);
  if (wanted < 0 || static_cast<size_t>(wanted) != value.bytes.size())
    throw Failure(path + ": holds " + std::to_string(value.bytes.size()) +
                  " bytes of elements, its type and sizes take " +
                  std::to_string(wanted));
  return value;
}

void writeProto(const std::string &path, const sol_tensor &tensor) {
  onnx::TensorProto proto;
  proto.set_name(tensor.name);
  proto.set_data_type(tensor.type);
  for (int32_t i = 0; i < tensor.rank; ++i)
    proto.add_dims(tensor.sizes[i]);
  proto.set_raw_data(tensor.data, tensor.bytes);
  writeFile(path, proto.SerializeAsString());
}

} // namespace sol::run
