//===- NodeText.h - a node as errors name it ------------------------------===//
//
// One form for all that is said about a node of the model, whatever stage says
// it: name, operator, domain, opset and the types of what goes in, in ONNX's
// words. Also which operators are computed at all.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_SUPPORT_NODETEXT_H
#define SOL_LIB_SUPPORT_NODETEXT_H

#include "mlir/IR/Operation.h"

namespace sol {

/// `float32 [batch, past + 1, 64]`, `int64 [any rank]`; `none` for a missing
/// operand. What is no tensor is written as MLIR does.
std::string typeText(mlir::Type type);

/// What identifies a node to whoever exported the model.
struct NodeIdentity {
  llvm::StringRef name;                  ///< "" if it has none
  llvm::StringRef type;                  ///< ONNX's op_type
  llvm::StringRef domain;                ///< "" for ai.onnx
  int64_t opset = 0;                     ///< of the domain; 0 if not known
  llvm::SmallVector<std::string> inputs; ///< types
};

/// The head of an error about a node, without the colon:
///   node `/roi` (RoiAlign of ai.onnx, opset 18; inputs float32 [2], int64 [2])
std::string nodeText(const NodeIdentity &node);

/// The same for an operation. The opset is the one that the module's or
/// function's `onnx.opset_import` names.
std::string nodeText(mlir::Operation *op);

/// True if an operator of this operation name (`onnx.RoiAlign`) is computed:
/// by a kernel of that name, or by steps of the program's own, as `onnx.If` is.
bool isComputed(llvm::StringRef operationName);

/// What is wrong with a node whose operator is not computed, and what to do.
extern const char *const notComputedText;

} // namespace sol

#endif // SOL_LIB_SUPPORT_NODETEXT_H
