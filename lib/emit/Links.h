//===- Links.h - outputs that feed inputs of other functions --------------===//
//
// Finds which function of a plan is the encoder of which decoder, and which one
// computes the first tokens for a decoder that only goes on, so that a runtime
// can drive them together.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_EMIT_LINKS_H
#define SOL_LIB_EMIT_LINKS_H

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace sol {

/// An output that feeds an input; functions count in the module's order.
struct FunctionLink {
  int fromFunction, fromOutput, toFunction, toInput;
};

/// The links of all functions of `module`: to each input of role
/// `encoder_states`, from the only output of a function without such an input
/// that has its element type and sizes. Names decide between several. To each
/// past of a function that has fixed ones and gives none of those itself, from
/// the output of that name (`present.X` for `past_key_values.X`) of the only
/// function with logits and without pasts that has one for each. Where none or
/// several are left there is no link, and a remark says so.
std::vector<FunctionLink> findLinks(mlir::ModuleOp module);

} // namespace sol

#endif // SOL_LIB_EMIT_LINKS_H
