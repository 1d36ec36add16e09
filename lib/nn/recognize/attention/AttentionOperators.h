//===- AttentionOperators.h - operators that are an attention -------------===//
//
// Patterns for the operators of ONNX and com.microsoft that compute a whole
// attention.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_ATTENTIONOPERATORS_H
#define SOL_LIB_NN_RECOGNIZE_ATTENTIONOPERATORS_H

#include "mlir/IR/PatternMatch.h"

namespace sol::nn::recognize {

/// Adds the patterns that turn onnx.Attention and the attentions of
/// com.microsoft into nn operators.
void populateAttentionOperators(mlir::RewritePatternSet &patterns);

/// The part of them for com.microsoft's MultiHeadAttention and Attention.
void populateMicrosoftAttention(mlir::RewritePatternSet &patterns);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_ATTENTIONOPERATORS_H
