//===- Rules.h - how an operator's results follow from its operands -------===//
//
// A rule reads what is known of a node's operands and states what follows for
// its results: sizes, and elements of small integer tensors. It states only
// what holds in every run in which the node succeeds, and reports operands that
// the operator can never accept.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_NN_SHAPE_RULES_H
#define SOL_LIB_NN_SHAPE_RULES_H

#include "lib/nn/shape/Facts.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

namespace sol::nn {

/// One operator as a rule sees it.
class Node {
public:
  Node(mlir::Operation *op, const ElementFacts &facts)
      : op(op), facts(facts), sizes(op->getNumResults()),
        elements(op->getNumResults()) {}

  mlir::Operation *operator->() const { return op; }
  mlir::Operation *operation() const { return op; }

  /// Number of operands, missing optional ones in the middle included.
  unsigned operandCount() const { return op->getNumOperands(); }
  /// False if operand `index` is left out.
  bool hasOperand(unsigned index) const;
  /// False if result `index` is left out.
  bool hasResult(unsigned index) const;
  /// Sizes of an operand; nullopt if it is absent or of unknown rank.
  std::optional<Sizes> operandSizes(unsigned index) const;
  /// Elements of an operand if they are followed, else null.
  const Elements *operandElements(unsigned index) const;
  /// Elements of an operand as numbers if all of them are.
  std::optional<llvm::SmallVector<int64_t>>
  operandNumbers(unsigned index) const;
  /// Number of elements of a rank-1 operand (how many axes a `shape` names), if
  /// they could be followed: no tensor has more axes.
  std::optional<int64_t> operandLength(unsigned index) const;

  int64_t integer(llvm::StringRef name, int64_t fallback) const;
  /// The list, or null if it is not there.
  std::optional<llvm::ArrayRef<int64_t>> integers(llvm::StringRef name) const;
  llvm::StringRef text(llvm::StringRef name, llvm::StringRef fallback) const;
  bool hasAttribute(llvm::StringRef name) const { return op->hasAttr(name); }

  /// States the sizes of result `index`; ignored if it is left out.
  void setSizes(unsigned index, std::optional<Sizes> value);
  void setElements(unsigned index, Elements value);

  /// Reports a contradiction at the node.
  mlir::InFlightDiagnostic error();
  bool hasFailed() const { return failed; }

  /// `axis` counted from the front; an error and nullopt if there is no such
  /// one.
  std::optional<int64_t> axis(int64_t axis, int64_t rank);
  /// Reports operand `index` if its rank is known and not `rank`.
  bool requireRank(unsigned index, int64_t rank);
  /// The one size that two axes must share: the most precise of both; an error
  /// that starts with `what` if both are numbers and differ.
  SymbolicSize agree(const SymbolicSize &a, const SymbolicSize &b,
                     llvm::StringRef what);
  /// Multidirectional broadcast; nullopt after an error.
  std::optional<Sizes> broadcast(llvm::ArrayRef<SymbolicSize> a,
                                 llvm::ArrayRef<SymbolicSize> b);

  const std::optional<Sizes> &resultSizes(unsigned index) const {
    return sizes[index];
  }
  std::optional<Elements> &resultElements(unsigned index) {
    return elements[index];
  }

private:
  mlir::Operation *op;
  const ElementFacts &facts;
  llvm::SmallVector<std::optional<Sizes>, 2> sizes;
  llvm::SmallVector<std::optional<Elements>, 2> elements;
  bool failed = false;
};

using Rule = void (*)(Node &);
/// Rules by operation name (`onnx.Add`, `nn.linear`).
using RuleTable = llvm::StringMap<Rule>;

// One function for each family; each is in the file of that name.
void addElementwiseRules(RuleTable &table);
void addReductionRules(RuleTable &table);
void addMovementRules(RuleTable &table);
void addIndexingRules(RuleTable &table);
void addProductRules(RuleTable &table);
void addAttentionRules(RuleTable &table);
void addNnRules(RuleTable &table);

/// All rules; made once.
const RuleTable &allRules();

/// The result of a broadcast of one axis; unknown if it can't be proved.
SymbolicSize broadcastSize(const SymbolicSize &a, const SymbolicSize &b);

/// A number tells more (3) than a symbol of the caller (2), that more than one
/// of data (1); unknown is 0.
int precisionOf(const SymbolicSize &size);

} // namespace sol::nn

#endif // SOL_LIB_NN_SHAPE_RULES_H
