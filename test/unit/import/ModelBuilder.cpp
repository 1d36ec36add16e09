//===- ModelBuilder.cpp - small models for tests of the import ------------===//
//
// See ModelBuilder.h.
//
//===----------------------------------------------------------------------===//
#include "test/unit/import/ModelBuilder.h"

#include "lib/import/Import.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <fstream>
#include <regex>
#include <unistd.h>

namespace sol {

ModelBuilder::ModelBuilder(int64_t opset) {
  static std::atomic<int> count{0};
  folder = std::filesystem::temp_directory_path() /
           ("sol-import-" + std::to_string(::getpid()) + "-" +
            std::to_string(count++));
  std::filesystem::create_directories(folder);
  model.set_ir_version(10);
  auto *import = model.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  model.mutable_graph()->set_name("g");
}

ModelBuilder::~ModelBuilder() { std::filesystem::remove_all(folder); }

ModelBuilder &ModelBuilder::input(const std::string &name,
                                  std::vector<int64_t> shape, int type) {
  auto *info = model.mutable_graph()->add_input();
  info->set_name(name);
  auto *tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (int64_t size : shape) {
    auto *dim = tensor->mutable_shape()->add_dim();
    if (size >= 0)
      dim->set_dim_value(size);
  }
  return *this;
}

ModelBuilder &ModelBuilder::output(const std::string &name) {
  model.mutable_graph()->add_output()->set_name(name);
  return *this;
}

::onnx::NodeProto &ModelBuilder::node(const std::string &type,
                                      std::vector<std::string> inputs,
                                      std::vector<std::string> outputs) {
  auto *node = model.mutable_graph()->add_node();
  node->set_op_type(type);
  node->set_name("/" + type);
  for (const std::string &name : inputs)
    node->add_input(name);
  for (const std::string &name : outputs)
    node->add_output(name);
  return *node;
}

::onnx::TensorProto &ModelBuilder::tensor(const std::string &name,
                                          std::vector<int64_t> shape,
                                          int type) {
  auto *tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (int64_t size : shape)
    tensor->add_dims(size);
  return *tensor;
}

namespace {
Imported importFile(const std::string &path, bool weightless) {
  mlir::MLIRContext context;
  Imported result;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    result.errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  ImportOptions options;
  options.weightless = weightless;
  auto module = importOnnx(path, context, options);
  result.isOk = succeeded(module);
  if (result.isOk) {
    llvm::raw_string_ostream out(result.ir);
    (*module)->print(out);
  }
  return result;
}
} // namespace

Imported ModelBuilder::import(bool weightless) {
  std::ofstream(folder / "model.onnx", std::ios::binary)
      << model.SerializeAsString();
  return importFile(folder / "model.onnx", weightless);
}

Imported ModelBuilder::importBytes(const std::string &bytes) {
  std::ofstream(folder / "model.onnx", std::ios::binary) << bytes;
  return importFile(folder / "model.onnx", false);
}

namespace {
::onnx::AttributeProto &
addAttribute(::onnx::NodeProto &node, const std::string &name,
             ::onnx::AttributeProto::AttributeType type) {
  auto *attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return *attribute;
}
} // namespace

bool holds(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

bool lacks(const std::string &text, const std::string &part) {
  return !holds(text, part);
}

bool matches(const std::string &text, const std::string &pattern) {
  return std::regex_search(text, std::regex(pattern));
}

void setInt(::onnx::NodeProto &node, const std::string &name, int64_t value) {
  addAttribute(node, name, ::onnx::AttributeProto::INT).set_i(value);
}

void setInts(::onnx::NodeProto &node, const std::string &name,
             std::vector<int64_t> values) {
  auto &attribute = addAttribute(node, name, ::onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attribute.add_ints(value);
}

void setFloat(::onnx::NodeProto &node, const std::string &name, float value) {
  addAttribute(node, name, ::onnx::AttributeProto::FLOAT).set_f(value);
}

void setString(::onnx::NodeProto &node, const std::string &name,
               const std::string &value) {
  addAttribute(node, name, ::onnx::AttributeProto::STRING).set_s(value);
}

void setExternal(::onnx::TensorProto &tensor, const std::string &location,
                 const std::string &offset, const std::string &length) {
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  auto set = [&](const char *key, const std::string &value) {
    if (value.empty())
      return;
    auto *entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  set("location", location);
  set("offset", offset);
  set("length", length);
}

} // namespace sol
