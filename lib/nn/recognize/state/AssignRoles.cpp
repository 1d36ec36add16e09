//===- AssignRoles.cpp - what each input of a model is for ----------------===//
//
// Roles of arguments and results, for those who drive a text generator. Data
// flow decides where it can: caches, conditions, what looks up an embedding
// table, what becomes angles. Two inputs that flow alike (token and segment
// numbers, the masks of encoder and decoder) are told apart by the names that
// all exporters give them.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/match/Match.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNASSIGNROLESPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

constexpr StringLiteral roleAttr = "nn.role", fedByAttr = "nn.fed_by",
                        stateOfAttr = "nn.state_of", fixedAttr = "nn.fixed";

/// What becomes of an integer argument.
struct Flow {
  Value table;           ///< the known float table that it looks up
  bool toAngles = false; ///< reaches a cosine, or a rotary operator's positions
  bool toCondition = false; ///< decides an If
};

/// Operators that an index, a position or a mask keeps its meaning through.
bool passesOn(Operation *op) {
  static constexpr StringLiteral names[] = {
      "Cast",    "Identity", "Unsqueeze", "Squeeze", "Reshape",
      "Flatten", "Mul",      "MatMul",    "Expand",  "Transpose",
      "Concat",  "Add",      "Slice",     "Clip"};
  return llvm::any_of(names, [&](StringRef name) { return isOnnx(op, name); });
}

/// A matrix of numbers that the model brings along.
bool isFloatTable(Value value) {
  return rankOf(value) == 2 && isa<FloatType>(getElementTypeOrSelf(value)) &&
         !isa<BlockArgument>(value);
}

/// Follows `argument` through operators that keep its meaning.
Flow flowOf(BlockArgument argument) {
  Flow flow;
  SmallVector<Value> values{argument};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      unsigned index = use.getOperandNumber();
      bool looksUp =
          isOnnx(op, "Gather") || isOnnx(op, "microsoft.GatherBlockQuantized");
      if (looksUp && index == 1) {
        Value table = op->getOperand(0);
        bool dequantized = llvm::any_of(op->getUsers(), [](Operation *user) {
          return isOnnx(user, "DequantizeLinear");
        });
        if (isFloatTable(table) || dequantized || !isOnnx(op, "Gather"))
          flow.table = table;
      }
      flow.toAngles |= isOnnx(op, "Cos") || isOnnx(op, "Sin") ||
                       (isOnnx(op, "RotaryEmbedding") && index == 3) ||
                       (isOnnx(op, "microsoft.RotaryEmbedding") && index == 1);
      flow.toCondition |= isOnnx(op, "If") && index == 0;
      if (passesOn(op) && seen.insert(op).second)
        llvm::append_range(values, op->getResults());
    }
  }
  return flow;
}

struct RoleAssignment {
  func::FuncOp function;
  Builder builder;

  StringRef name(unsigned argument) {
    auto attr =
        function.getArgAttrOfType<StringAttr>(argument, NnDialect::nameAttr);
    return attr ? attr.getValue() : StringRef();
  }
  StringRef resultName(unsigned result) {
    auto attr =
        function.getResultAttrOfType<StringAttr>(result, NnDialect::nameAttr);
    return attr ? attr.getValue() : StringRef();
  }
  void set(unsigned argument, StringRef role) {
    function.setArgAttr(argument, roleAttr, builder.getStringAttr(role));
  }

  bool roleIs(unsigned argument, StringRef role) {
    auto attr = function.getArgAttrOfType<StringAttr>(argument, roleAttr);
    return attr && attr.getValue() == role;
  }

  void setPast(unsigned argument, unsigned result) {
    set(argument, "past");
    function.setArgAttr(argument, fedByAttr, builder.getI64IntegerAttr(result));
  }

  bool isFreeTensor(Type type, DictionaryAttr attributes, StringRef taken) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 4 &&
           isa<FloatType>(tensor.getElementType()) &&
           !(attributes && attributes.contains(taken));
  }

  /// Keys and values of an encoder come back as they are or not at all: what is
  /// left of both kinds belongs together, in order. They keep the value that
  /// the first run gives; another function's first run, where no result is left
  /// and only names tell them from images.
  void assignFixedPasts() {
    SmallVector<unsigned> arguments, results;
    llvm::SmallDenseSet<int64_t> fed;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (auto by = function.getArgAttrOfType<IntegerAttr>(i, fedByAttr))
        fed.insert(by.getInt());
      if (isFreeTensor(function.getArgumentTypes()[i],
                       function.getArgAttrDict(i), roleAttr))
        arguments.push_back(i);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (!fed.contains(i) &&
          isFreeTensor(function.getResultTypes()[i],
                       function.getResultAttrDict(i), stateOfAttr))
        results.push_back(i);
    if (results.empty() && !fed.empty())
      for (unsigned argument : arguments)
        if (name(argument).starts_with("past_key_values.")) {
          set(argument, "past");
          function.setArgAttr(argument, fixedAttr, builder.getUnitAttr());
        }
    if (arguments.size() != results.size())
      return;
    for (auto [argument, result] : llvm::zip(arguments, results)) {
      setPast(argument, result);
      function.setArgAttr(argument, fixedAttr, builder.getUnitAttr());
    }
  }

  /// Marks arguments that results of the same function feed. Caches know
  /// theirs.
  void assignPasts() {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isa<CacheType>(function.getArgumentTypes()[i]) &&
          !function.getArgAttr(i, roleAttr))
        set(i, "past");
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto of = function.getResultAttrOfType<IntegerAttr>(i, stateOfAttr)) {
        bool isBuffer = roleIs(of.getInt(), "buffer");
        setPast(of.getInt(), i);
        if (isBuffer)
          set(of.getInt(), "buffer");
      }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      if (function.getResultAttr(i, stateOfAttr))
        continue;
      auto past = pastByFlow(i);
      bool grows = past.has_value();
      if (!past)
        past = pastByName(resultName(i));
      // A scalar that comes back is a setting of the cache, not its content.
      if (!past || function.getArgAttr(*past, roleAttr) ||
          rankOf(function.getArgument(*past)) == 0 ||
          getElementTypeOrSelf(function.getArgumentTypes()[*past]) !=
              getElementTypeOrSelf(function.getResultTypes()[i]))
        continue;
      setPast(*past, i);
      Value given = function.getBody().front().getTerminator()->getOperand(i);
      if (!grows && madeBy(given, "If"))
        function.setArgAttr(*past, fixedAttr, builder.getUnitAttr());
    }
  }

  /// The argument that is the first part of a result, or its attention's past;
  /// in a branch, if a condition decides.
  std::optional<unsigned> pastByFlow(unsigned result) {
    Value given = skipNoOps(
        function.getBody().front().getTerminator()->getOperand(result));
    Operation *branches = given.getDefiningOp();
    if (!isOnnx(branches, "If"))
      return pastOf(given);
    for (Region &region : branches->getRegions()) {
      unsigned index = cast<OpResult>(given).getResultNumber();
      Operation *end = region.empty() ? nullptr : &region.front().back();
      if (!end || index >= end->getNumOperands())
        continue;
      if (auto past = pastOf(skipNoOps(end->getOperand(index))))
        return past;
    }
    return std::nullopt;
  }

  std::optional<unsigned> pastOf(Value given) {
    Operation *op = given.getDefiningOp();
    Value past;
    if (isOnnx(op, "Concat") && rankOf(given) == 4)
      past = skipNoOps(op->getOperand(0));
    else if (isOnnx(op, "microsoft.GroupQueryAttention"))
      past = operandOrNull(op, cast<OpResult>(given).getResultNumber() + 2);
    else if (isOnnx(op, "Attention"))
      past = operandOrNull(op, cast<OpResult>(given).getResultNumber() + 3);
    auto argument = dyn_cast_or_null<BlockArgument>(past);
    if (!argument || argument.getOwner() != &function.getBody().front())
      return std::nullopt;
    return argument.getArgNumber();
  }

  /// `present.0.key` feeds `past_key_values.0.key`, `output.x` feeds `input.x`.
  std::optional<unsigned> pastByName(StringRef present) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      StringRef past = name(i), rest = past, other = present;
      bool pair =
          (rest.consume_front("past_key_values.") &&
           (other.consume_front("present_key_values.") ||
            other.consume_front("present."))) ||
          (rest.consume_front("input.") && other.consume_front("output."));
      if (pair && rest == other)
        return i;
    }
    return std::nullopt;
  }

  /// Roles of what is no past. `tokens` gets the table that tokens look up.
  Value assignInputs() {
    unsigned tokens = ~0u;
    Value tokenTable;
    SmallVector<Flow> flows;
    for (BlockArgument argument : function.getArguments()) {
      flows.push_back(flowOf(argument));
      Value table = flows.back().table;
      if (!table || rankOf(argument) != 2 ||
          function.getArgAttr(argument.getArgNumber(), roleAttr))
        continue;
      // A name ends the tie between several that look up tables; else the
      // larger table is the vocabulary.
      bool named = name(argument.getArgNumber()).ends_with("input_ids");
      bool larger =
          !tokenTable || staticSize(table, 0) > staticSize(tokenTable, 0);
      bool previousNamed = tokens != ~0u && name(tokens).ends_with("input_ids");
      if ((named && !previousNamed) || (larger && !previousNamed)) {
        tokens = argument.getArgNumber();
        tokenTable = table;
      }
    }
    for (BlockArgument argument : function.getArguments()) {
      unsigned i = argument.getArgNumber();
      if (function.getArgAttr(i, roleAttr))
        continue;
      set(i,
          i == tokens ? "tokens" : roleOf(argument, flows[i], tokens != ~0u));
    }
    return tokenTable;
  }

  StringRef roleOf(BlockArgument argument, const Flow &flow, bool hasTokens) {
    Type element = getElementTypeOrSelf(argument.getType());
    int64_t rank = rankOf(argument);
    StringRef called = name(argument.getArgNumber());
    if (element.isInteger(1) && flow.toCondition)
      return "use_cache";
    if (isa<FloatType>(element)) {
      if (rank == 4)
        return "pixels";
      return rank == 3 && hasTokens ? "encoder_states" : "other";
    }
    if (rank == 0)
      return "window";
    if (rank > 2)
      return "other";
    if (flow.toAngles || called.contains("position"))
      return "positions";
    if (rank != 2)
      return "other";
    if (flow.table) // segments of a pair of texts
      return "other";
    return called.starts_with("encoder_") ? "encoder_mask" : "attention_mask";
  }

  /// One number for each entry of the vocabulary, for each token.
  void assignLogits(Value tokenTable) {
    int64_t vocabulary = tokenTable ? staticSize(tokenTable, 0) : -1;
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[i]);
      if (!type || type.getRank() != 3 ||
          !isa<FloatType>(type.getElementType()))
        continue;
      bool fits = vocabulary > 0 && type.getDimSize(2) == vocabulary;
      if (!fits && resultName(i) != "logits")
        continue;
      function.setResultAttr(i, roleAttr, builder.getStringAttr("logits"));
      return;
    }
  }
};

struct AssignRolesPass : sol::nn::impl::NnAssignRolesPassBase<AssignRolesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.getBody().hasOneBlock())
        continue;
      RoleAssignment assignment{function, Builder(function.getContext())};
      assignment.assignPasts();
      assignment.assignFixedPasts();
      assignment.assignLogits(assignment.assignInputs());
    }
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
