//===- tensor_value.h - tensors that sol-run reads and writes -------------===//
//
// An owned tensor, and the files that it comes from and goes to.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TOOLS_SOL_RUN_TENSOR_VALUE_H
#define SOL_TOOLS_SOL_RUN_TENSOR_VALUE_H

#include "sol/runtime.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace sol::run {

/// What is wrong, for the user; caught in main, which prints `error: …`.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws Failure with the status' message, freeing it; does nothing for null.
void check(sol_status *status);

/// A tensor that owns its bytes; element types are TensorProto's.
struct TensorValue {
  std::string name;
  int32_t type = 0;
  std::vector<int64_t> sizes;
  std::vector<char> bytes;

  /// A view for the runtime, valid as long as this value is unchanged.
  sol_tensor view() const;
};

/// Bytes that a tensor takes; -1 for an unknown type or impossible sizes.
int64_t bytesFor(int32_t type, const std::vector<int64_t> &sizes);

/// A serialized TensorProto (`.pb`). Throws Failure naming the file.
TensorValue readProto(const std::string &path);
void writeProto(const std::string &path, const sol_tensor &tensor);

/// NumPy's formats. An `.npz` gives one value for each array in it.
TensorValue readNpy(const std::string &path);
std::vector<TensorValue> readNpz(const std::string &path);
/// Throws Failure for element types that NumPy lacks.
void writeNpy(const std::string &path, const sol_tensor &tensor);

/// The whole file; throws Failure naming it.
std::string readFile(const std::string &path);
/// Writes under a temporary name and renames, so that no half file is left.
void writeFile(const std::string &path, const std::string &content);

} // namespace sol::run

#endif // SOL_TOOLS_SOL_RUN_TENSOR_VALUE_H
