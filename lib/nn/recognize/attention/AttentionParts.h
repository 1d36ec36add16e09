//===- AttentionParts.h - the parts that an attention is made of ----------===//
//
// What recognisers of attention know about its parts: keys and values before
// their heads were repeated, masks before they became numbers.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_RECOGNIZE_ATTENTIONPARTS_H
#define SOL_LIB_NN_RECOGNIZE_ATTENTIONPARTS_H

#include "lib/nn/recognize/match/Match.h"

namespace sol::nn::recognize {

/// A mask, and what a row gives in which it allows nothing.
struct Mask {
  mlir::Value value;     ///< float to add or bool; null if there is none
  bool inverted = false; ///< bool that is true where a key is excluded
  llvm::StringRef maskedRows = "nan";
};

/// Everything that nn.attention takes.
struct AttentionParts {
  mlir::Value query;      ///< batch x heads x step x head size
  mlir::Value key, value; ///< batch x key heads x length x head size
  Mask mask;
  mlir::Value sinks; ///< one number for each query head
  double scale = 1, softcap = 0;
};

/// batch x heads x length x head size before each head was repeated (Unsqueeze,
/// Expand, Reshape), or null if `value` is not that.
mlir::Value beforeRepeatedHeads(mlir::Value value);

/// The mask that is added to scores as the numbers in `added`: the condition of
/// a choice between 0 and a number so low that nothing is left of a key, or the
/// numbers themselves.
Mask maskFromNumbers(mlir::Value added);

/// The bool mask of scores where excluded ones are replaced by a low number.
/// `scores` is set to the scores before; nullopt if `value` is not that.
std::optional<Mask> maskFromChoice(mlir::Value value, mlir::Value &scores);

/// The mask, if `condition` is true exactly for rows that `mask` allows nothing
/// in.
bool isEmptyRowTest(mlir::Value condition, const Mask &mask);

/// Whether every axis of the mask is 1 or the axis of batch x heads x step x
/// length.
bool maskFits(mlir::Value mask, mlir::Value query, mlir::Value key);

/// Creates nn.attention; the mask is inverted first where it has to be.
AttentionOp createAttention(mlir::OpBuilder &builder, mlir::Location loc,
                            const AttentionParts &parts, mlir::Type type);

} // namespace sol::nn::recognize

#endif // SOL_LIB_NN_RECOGNIZE_ATTENTIONPARTS_H
