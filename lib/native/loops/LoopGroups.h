//===- LoopGroups.h - which operators become one loop ---------------------===//
//
// Operators of one block that run over one space of elements, each reading what
// another one of its group computes. A group is convex: nothing outside lies
// between its members, so it can run as one step.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NATIVE_LOOPS_LOOPGROUPS_H
#define SOL_LIB_NATIVE_LOOPS_LOOPGROUPS_H

#include "lib/native/loops/LoopBody.h"

namespace sol::native {

/// One operator of a group.
struct LoopMember {
  mlir::Operation *op = nullptr;
  LoopLevel level = LoopLevel::Elements; ///< of its result
  bool alongRows = false;                ///< joins or normalizes rows
};

struct LoopGroup {
  LoopSpace space;
  llvm::SmallVector<LoopMember> members; ///< in the block's order

  bool contains(mlir::Operation *op) const {
    return llvm::any_of(
        members, [&](const LoopMember &member) { return member.op == op; });
  }
};

/// The groups of a block that are worth a loop: two operators or more, or one
/// along rows.
llvm::SmallVector<LoopGroup> findLoopGroups(mlir::Block &block);

/// The operands that a member's loop reads.
llvm::SmallVector<mlir::Value> loopOperands(const LoopMember &member);

/// True if an operand is so small a constant that the loop holds it itself.
bool isHeldByLoop(const LoopMember &member, mlir::Value operand);

} // namespace sol::native

#endif // SOL_LIB_NATIVE_LOOPS_LOOPGROUPS_H
