//===- TensorImport.cpp - tensors of the model file as constants ----------===//
//
// Every number that a file gives (sizes, offsets, lengths) is checked before it
// is used.
//
//===----------------------------------------------------------------------===//
#include "lib/import/TensorImport.h"

#include "dialects/onnx/OnnxSchema.h"
#include "lib/support/TensorBytes.h"

using namespace mlir;

namespace sol {

FailureOr<RankedTensorType>
TensorImporter::typeOf(const ::onnx::TensorProto &tensor, EmitError error) {
  int number = tensor.data_type();
  Type element = onnx::elementType(number, context);
  if (!element) {
    StringRef name = onnx::elementTypeName(number);
    auto diagnostic = error() << "has elements of type ";
    if (name.empty())
      diagnostic << "number " << number;
    else
      diagnostic << name;
    return diagnostic << ", which is not supported";
  }
  SmallVector<int64_t> shape;
  for (int64_t size : tensor.dims()) {
    if (size < 0)
      return error() << "has a size of " << size;
    shape.push_back(size);
  }
  return RankedTensorType::get(shape, element);
}

FailureOr<TensorImporter::Source>
TensorImporter::locate(const ::onnx::TensorProto &tensor, EmitError error) {
  FailureOr<RankedTensorType> type = typeOf(tensor, error);
  if (failed(type))
    return failure();
  if (tensor.has_segment())
    return error() << "is stored in segments, which are not supported";
  std::optional<int64_t> size = packedSize(*type);
  if (!size)
    return error() << "has the type " << *type
                   << ", which takes more bytes than can be addressed";
  Source source{*type, {}, false};
  if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL)
    return locateExternal(tensor, source, *size, error);
  if (!tensor.has_raw_data()) {
    if (*size != 0)
      return error() << "has no data, but " << *type << " takes " << *size
                     << " bytes";
    return source;
  }
  std::optional<uint64_t> index = payloadIndex(tensor.raw_data());
  if (!index || *index >= payloads.size())
    return error() << "has no readable data";
  const PayloadSpan &payload = payloads[*index];
  if (!payload.isProto && payload.length != static_cast<uint64_t>(*size))
    return error() << "holds " << payload.length << " bytes, but " << *type
                   << " takes " << *size;
  source.span = nn::SpanAttr::get(
      context, StringAttr::get(context, files.modelFile()),
      static_cast<int64_t>(payload.offset),
      static_cast<int64_t>(payload.length), payload.isProto, 0);
  return source;
}

FailureOr<TensorImporter::Source>
TensorImporter::locateExternal(const ::onnx::TensorProto &tensor, Source source,
                               int64_t size, EmitError error) {
  StringRef location;
  uint64_t offset = 0;
  uint64_t length = static_cast<uint64_t>(size);
  for (const auto &entry : tensor.external_data()) {
    uint64_t *number = entry.key() == "offset"   ? &offset
                       : entry.key() == "length" ? &length
                                                 : nullptr;
    if (entry.key() == "location")
      location = entry.value();
    else if (number && StringRef(entry.value()).getAsInteger(10, *number))
      return error() << "has external data whose " << entry.key() << " is `"
                     << entry.value() << "`, which is no number of bytes";
  }
  if (location.empty())
    return error() << "has external data without a location; export the model "
                      "again with its weights";
  if (length != static_cast<uint64_t>(size))
    return error() << "has external data of length " << length << ", but "
                   << source.type << " takes " << size << " bytes";
  if (offset > static_cast<uint64_t>(INT64_MAX) - length)
    return error() << "has external data at offset " << offset
                   << ", which is outside of any file";
  source.span = nn::SpanAttr::get(context, StringAttr::get(context, location),
                                  static_cast<int64_t>(offset), size, false, 0);
  if (weightless && files.isMissing(location)) {
    source.isAbsent = true;
    return source;
  }
  // Reads nothing, but maps the file and checks the range.
  if (failed(files.bytes(source.span, error)))
    return failure();
  return source;
}

FailureOr<DenseElementsAttr> TensorImporter::readElements(const Source &source,
                                                          EmitError error) {
  if (!source.span)
    return elementsFromBytes(source.type, {});
  FailureOr<TensorData> data = files.read(source.span, source.type, error);
  if (failed(data))
    return failure();
  return elementsFromBytes(source.type, data->bytes);
}

FailureOr<DenseElementsAttr>
TensorImporter::elements(const ::onnx::TensorProto &tensor, EmitError error) {
  FailureOr<Source> source = locate(tensor, error);
  if (failed(source))
    return failure();
  if (source->isAbsent || *packedSize(source->type) > largestConstant)
    return error() << "holds a tensor of type " << source->type << "; at most "
                   << largestConstant << " bytes are supported in an attribute";
  return readElements(*source, error);
}

FailureOr<Value> TensorImporter::import(const ::onnx::TensorProto &tensor,
                                        StringRef name, OpBuilder &builder,
                                        Location location, EmitError error) {
  FailureOr<Source> source = locate(tensor, error);
  if (failed(source))
    return failure();
  if (!source->isAbsent && *packedSize(source->type) <= largestConstant) {
    FailureOr<DenseElementsAttr> value = readElements(*source, error);
    if (failed(value))
      return failure();
    return nn::ConstantOp::create(builder, location, source->type, *value)
        .getResult();
  }
  return nn::WeightOp::create(builder, location, source->type, source->span,
                              name.empty() ? StringAttr()
                                           : builder.getStringAttr(name))
      .getResult();
}

} // namespace sol
