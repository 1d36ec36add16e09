//===- Import.cpp - from an ONNX file to the onnx dialect -----------------===//
//
// The model as a whole: the file, the function that the graph becomes, its
// interface, and what the module keeps of the model's head.
//
//===----------------------------------------------------------------------===//
#include "lib/import/Import.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/onnx/OnnxDialect.h"
#include "lib/import/GraphImport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace sol {
namespace {
/// Imports one model file.
class ModelImporter {
public:
  ModelImporter(StringRef path, MLIRContext &context,
                const ImportOptions &options)
      : path(path), context(context), options(options),
        files(ModelFiles::ofModel(path)), unknown(UnknownLoc::get(&context)) {}

  FailureOr<OwningOpRef<ModuleOp>> run();

private:
  LogicalResult parse();
  LogicalResult checkIsModel();
  void importGraph(ModuleOp module);
  Type typeOfValue(const ::onnx::ValueInfoProto &info, StringRef what);
  void addArguments(func::FuncOp function, Scope &scope);
  void addResults(func::FuncOp function, GraphImporter &importer,
                  const Scope &scope, OpBuilder &builder);
  void describeModel(ModuleOp module);
  InFlightDiagnostic fileError() {
    InFlightDiagnostic diagnostic = problems.error(unknown);
    diagnostic << "model `" << path << "` ";
    return diagnostic;
  }

  StringRef path;
  MLIRContext &context;
  const ImportOptions &options;
  ModelFiles files;
  Location unknown;
  Problems problems;
  std::vector<PayloadSpan> payloads;
  ::onnx::ModelProto model;
  Opsets opsets;
};

/// Reads the file and parses all of it but the payloads.
LogicalResult ModelImporter::parse() {
  auto emit = [&]() { return fileError(); };
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return fileError() << "cannot be opened: " << code.message();
  if (status.type() == llvm::sys::fs::file_type::directory_file)
    return fileError() << "is a folder; name the .onnx file in it";
  FailureOr<ArrayRef<char>> contents = files.map(files.modelFile(), emit);
  if (failed(contents))
    return failure();
  StringRef file(contents->data(), contents->size());
  FailureOr<ModelSkeleton> skeleton = scanModel(file, emit);
  if (failed(skeleton))
    return failure();
  payloads = std::move(skeleton->payloads);
  const std::string &bytes = skeleton->bytes;
  if (bytes.size() > INT32_MAX)
    return fileError() << "has " << bytes.size()
                       << " bytes besides its weights; 2 GiB are the most";
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fileError() << "is no ONNX model, or is damaged: protobuf cannot "
                          "parse it";
  if (!model.has_ir_version() || !model.has_graph()) {
    std::string kind = describeWrongFile(file);
    return fileError() << (kind.empty()
                               ? "is no ONNX model, or is cut off: it has no "
                                 "graph or no IR version"
                               : kind);
  }
  return success();
}

LogicalResult ModelImporter::checkIsModel() {
  auto emit = [&]() { return fileError(); };
  if (failed(readOpsets(model.opset_import(), opsets, emit)))
    return failure();
  if (!opsets.contains(""))
    return fileError() << "does not say which opset of ai.onnx it uses "
                          "(opset_import); export it again";
  return success();
}

/// The tensor type that a graph declares for an input or output, with the names
/// of its sizes; null, after an error, if it declares none.
Type ModelImporter::typeOfValue(const ::onnx::ValueInfoProto &info,
                                StringRef what) {
  auto emit = [&]() -> InFlightDiagnostic {
    InFlightDiagnostic diagnostic =
        problems.error(NameLoc::get(StringAttr::get(&context, info.name())));
    diagnostic << what << " `" << info.name() << "` ";
    return diagnostic;
  };
  if (!info.has_type() || !info.type().has_tensor_type()) {
    emit() << (info.has_type() ? "is no tensor; only tensors are supported"
                               : "has no type; export the model again");
    return {};
  }
  int number = info.type().tensor_type().elem_type();
  if (!onnx::elementType(number, &context)) {
    StringRef name = onnx::elementTypeName(number);
    emit() << "has elements of type "
           << (name.empty() ? "number " + std::to_string(number) : name.str())
           << ", which is not supported";
    return {};
  }
  return declaredTensor(info, &context);
}

/// Gives the function an argument for each input of the graph. An input that
/// has an initializer too is a constant: callers cannot override it.
void ModelImporter::addArguments(func::FuncOp function, Scope &scope) {
  llvm::StringMap<bool> isConstant;
  for (const auto &tensor : model.graph().initializer())
    isConstant[tensor.name()] = true;
  Block *entry = function.addEntryBlock();
  unsigned numConstantInputs = 0;
  for (const auto &input : model.graph().input()) {
    if (isConstant.contains(input.name())) {
      ++numConstantInputs;
      continue;
    }
    auto name = StringAttr::get(&context, input.name());
    auto location = NameLoc::get(name);
    if (scope.values.contains(input.name())) {
      problems.error(location)
          << "input `" << input.name() << "` has the name of another input";
      continue;
    }
    Type type = typeOfValue(input, "input");
    scope.values[input.name()] = Value();
    if (!type)
      continue;
    unsigned index = function.getNumArguments();
    auto attributes = DictionaryAttr::get(
        &context,
        NamedAttribute(StringAttr::get(&context, nn::NnDialect::nameAttr),
                       name));
    (void)function.insertArgument(index, type, attributes, location);
    scope.values[input.name()] = entry->getArgument(index);
  }
  // Up to IR version 3 every initializer had to be an input as well.
  if (numConstantInputs && model.ir_version() >= 4)
    emitRemark(unknown) << numConstantInputs
                        << " inputs of the graph have initializers; they are "
                           "constants that a run cannot override";
}

/// Ends the function with the graph's outputs.
void ModelImporter::addResults(func::FuncOp function, GraphImporter &importer,
                               const Scope &scope, OpBuilder &builder) {
  SmallVector<Value> results;
  SmallVector<Attribute> resultAttributes;
  for (const auto &output : model.graph().output()) {
    auto name = builder.getStringAttr(output.name());
    Value value =
        importer.outputValue(output.name(), scope, NameLoc::get(name));
    if (!value)
      continue;
    if (!isa<TensorType>(value.getType()))
      problems.error(unknown)
          << "output `" << output.name() << "` is no tensor";
    NamedAttrList attributes;
    attributes.set(nn::NnDialect::nameAttr, name);
    if (output.has_type() && output.type().has_tensor_type())
      if (Type declared = typeOfValue(output, "output"))
        attributes.set("nn.declared", TypeAttr::get(declared));
    results.push_back(value);
    resultAttributes.push_back(attributes.getDictionary(&context));
  }
  func::ReturnOp::create(builder, unknown, results);
  function.setType(FunctionType::get(&context, function.getArgumentTypes(),
                                     ValueRange(results).getTypes()));
  function.setResAttrsAttr(builder.getArrayAttr(resultAttributes));
}

/// Keeps what the model says about itself.
void ModelImporter::describeModel(ModuleOp module) {
  Builder builder(&context);
  module->setAttr("onnx.ir_version",
                  builder.getI64IntegerAttr(model.ir_version()));
  if (!model.producer_name().empty())
    module->setAttr("onnx.producer",
                    builder.getStringAttr(model.producer_name()));
  if (!model.producer_version().empty())
    module->setAttr("onnx.producer_version",
                    builder.getStringAttr(model.producer_version()));
  NamedAttrList imports;
  for (const auto &opset : opsets)
    imports.set(opset.getKey().empty() ? "ai.onnx" : opset.getKey(),
                builder.getI64IntegerAttr(opset.getValue()));
  module->setAttr("onnx.opset_import", imports.getDictionary(&context));
}

void ModelImporter::importGraph(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(builder, unknown, options.functionName,
                                       builder.getFunctionType({}, {}));
  Scope scope;
  scope.opsets = &opsets;
  addArguments(function, scope);
  builder.setInsertionPointToEnd(&function.getBody().front());
  TensorImporter tensors(files, payloads, options.weightless, &context);
  GraphImporter importer(model, tensors, problems, &context);
  importer.importBody(model.graph(), scope, builder);
  if (model.graph().node().empty() && model.graph().output().empty())
    fileError() << "has a graph without nodes and outputs";
  addResults(function, importer, scope, builder);
}

FailureOr<OwningOpRef<ModuleOp>> ModelImporter::run() {
  context.loadDialect<func::FuncDialect, nn::NnDialect, onnx::OnnxDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  if (failed(parse()) || failed(checkIsModel()))
    return failure();
  describeModel(*module);
  importGraph(*module);
  if (problems.any()) {
    problems.finish(unknown);
    return failure();
  }
  if (failed(verify(*module)))
    return failure();
  return std::move(module);
}
} // namespace

FailureOr<OwningOpRef<ModuleOp>>
importOnnx(StringRef path, MLIRContext &context, const ImportOptions &options) {
  return ModelImporter(path, context, options).run();
}

} // namespace sol
