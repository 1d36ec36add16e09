//===- StepReader.h - the steps of one function, operation by operation ---===//
//
// The first half of ReadModel: one list of steps over the whole function, with
// who takes what from whom. BlockBuilder.h makes blocks of it.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_PLACE_GRAPH_STEPREADER_H
#define SOL_LIB_PLACE_GRAPH_STEPREADER_H

#include "lib/place/graph/ModelGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>

namespace sol::place {

/// Steps whose `inputs` are indices into this list, and the step of each
/// operation that became one or rides on one.
struct StepList {
  std::vector<Step> steps;
  std::map<mlir::Operation *, int> stepOf;
};

/// Follows what depends on the tokens through a function.
class StepReader {
public:
  explicit StepReader(mlir::func::FuncOp function) : function(function) {}

  /// All steps from the lookup to the scores and the choice of a token.
  mlir::FailureOr<StepList> read();

private:
  using Producers = llvm::SmallVector<int, 2>;

  mlir::LogicalResult findTokens();
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitOnnx(mlir::Operation *op, llvm::StringRef name);
  bool visitLookup(mlir::Operation *op);
  mlir::LogicalResult visitProduct(mlir::Operation *op, mlir::Value matrix,
                                   int64_t k, int64_t n, mlir::Value bias);
  mlir::LogicalResult visitMatMul(mlir::Operation *op);
  mlir::LogicalResult visitTopK(mlir::Operation *op);
  /// Matrices of chosen experts, gathered for each token.
  bool visitExpertGather(mlir::Operation *op);
  mlir::LogicalResult visitExpertProduct(mlir::Operation *op, bool isLeft);
  mlir::LogicalResult visitBlockProduct(mlir::Operation *op);
  mlir::LogicalResult visitNorm(mlir::Operation *op, int64_t words);
  mlir::LogicalResult visitSkipNorm(mlir::Operation *op, int64_t words);
  mlir::LogicalResult visitAttention(mlir::Operation *op);
  mlir::LogicalResult visitExperts(mlir::Operation *op, bool quantized);
  /// Fills in what is stored for the experts' matrix that is operand `matrix`.
  mlir::LogicalResult setExperts(mlir::Operation *op, unsigned matrix,
                                 bool quantized, Step &step);
  mlir::LogicalResult visitLocal(mlir::Operation *op, int64_t passes);
  void visitMovement(mlir::Operation *op);
  /// What is known of `from`'s rows holds for `to`, which is made of it.
  void carryRows(mlir::Value from, mlir::Value to);
  mlir::LogicalResult finishAtScores();

  /// Steps that `op` takes results of.
  std::vector<int> inputsOf(mlir::Operation *op) const;
  bool isActive(mlir::Value value) const { return producers.contains(value); }
  /// Elements of a value for one token; nothing if its type doesn't say.
  std::optional<int64_t> elementsOf(mlir::Value value) const;
  /// Adds a step for `op` whose operands are `inputs`.
  int addStep(mlir::Operation *op, Step step, std::vector<int> inputs);
  /// Fills in what is stored for a matrix. Fails at `op`.
  mlir::LogicalResult setMatrix(mlir::Operation *op, mlir::Value matrix,
                                Step &step);
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why) const;

  mlir::func::FuncOp function;
  StepList list;
  llvm::DenseMap<mlir::Value, Producers> producers;
  llvm::DenseMap<mlir::Value, bool> tokenIds; ///< token numbers, moved about
  /// Results of a choice, moved about: how many are chosen.
  llvm::DenseMap<mlir::Value, int64_t> chosen;
  /// Values whose rows are a token's chosen experts: how many that is.
  llvm::DenseMap<mlir::Value, int64_t> rowsAToken;
  /// Matrices of chosen experts, and the matrices of all of them.
  llvm::DenseMap<mlir::Value, mlir::Value> expertMatrices;
  int64_t tokensPerRun = 1;
};

} // namespace sol::place

#endif // SOL_LIB_PLACE_GRAPH_STEPREADER_H
