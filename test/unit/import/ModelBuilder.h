//===- ModelBuilder.h - small models for tests of the import --------------===//
//
// Builds a model in memory, writes it to a folder of its own and imports it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TEST_UNIT_IMPORT_MODELBUILDER_H
#define SOL_TEST_UNIT_IMPORT_MODELBUILDER_H

#include "lib/import/onnx.pb.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sol {

/// What an import gave: the module as text, or the messages.
struct Imported {
  bool isOk = false;
  std::string ir;
  std::string errors;
};

/// A model with one opset import and a folder that lives as long as it does.
class ModelBuilder {
public:
  explicit ModelBuilder(int64_t opset = 21);
  ~ModelBuilder();
  ModelBuilder(const ModelBuilder &) = delete;

  /// Declares a graph input or output of this element type; a size of -1 is
  /// open.
  ModelBuilder &input(const std::string &name, std::vector<int64_t> shape,
                      int type = ::onnx::TensorProto::FLOAT);
  ModelBuilder &output(const std::string &name);
  /// Adds a node to the graph; its name is "/" + the operator's.
  ::onnx::NodeProto &node(const std::string &type,
                          std::vector<std::string> inputs,
                          std::vector<std::string> outputs);
  /// Adds an initializer without data.
  ::onnx::TensorProto &tensor(const std::string &name,
                              std::vector<int64_t> shape,
                              int type = ::onnx::TensorProto::FLOAT);
  /// Imports the model, or `bytes` in its place.
  Imported import(bool weightless = false);
  Imported importBytes(const std::string &bytes);

  std::filesystem::path folder;
  ::onnx::ModelProto model;
};

/// Whether `text` contains `part`, does not, or has a match of `pattern`.
bool holds(const std::string &text, const std::string &part);
bool lacks(const std::string &text, const std::string &part);
bool matches(const std::string &text, const std::string &pattern);

/// Sets an attribute of a node.
void setInt(::onnx::NodeProto &node, const std::string &name, int64_t value);
void setInts(::onnx::NodeProto &node, const std::string &name,
             std::vector<int64_t> values);
void setFloat(::onnx::NodeProto &node, const std::string &name, float value);
void setString(::onnx::NodeProto &node, const std::string &name,
               const std::string &value);
/// Makes the tensor refer to a file; empty keys are left out.
void setExternal(::onnx::TensorProto &tensor, const std::string &location,
                 const std::string &offset = "",
                 const std::string &length = "");

} // namespace sol

#endif // SOL_TEST_UNIT_IMPORT_MODELBUILDER_H
