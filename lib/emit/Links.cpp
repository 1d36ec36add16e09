//===- Links.cpp - outputs that feed inputs of other functions ------------===//
//
// See Links.h.
//
//===----------------------------------------------------------------------===//
#include "lib/emit/Links.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sol {
namespace {

StringRef textOf(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.getValue() : StringRef();
}

bool takesStates(func::FuncOp func, unsigned argument) {
  return textOf(func.getArgAttr(argument, "nn.role")) == "encoder_states";
}

bool isDecoder(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (takesStates(func, i))
      return true;
  return false;
}

bool isPast(func::FuncOp func, unsigned argument) {
  StringRef role = textOf(func.getArgAttr(argument, "nn.role"));
  return role == "past" || role == "buffer";
}

/// Whether some past of `func` is given by none of its own results: it can't
/// begin a text.
bool goesOnOnly(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (isPast(func, i) && func.getArgAttr(i, "nn.fixed") &&
        !func.getArgAttr(i, "nn.fed_by"))
      return true;
  return false;
}

/// Whether `func` gives logits without a past.
bool begins(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (isPast(func, i))
      return false;
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (textOf(func.getResultAttr(i, "nn.role")) == "logits")
      return true;
  return false;
}

/// Whether exporters' names say that the one is the other's next value.
bool isPresentOf(StringRef present, StringRef past) {
  return past.consume_front("past_key_values.") &&
         (present.consume_front("present.") ||
          present.consume_front("present_key_values.")) &&
         present == past;
}

/// Whether values of type `from` may be given where `to` is wanted: sizes that
/// are known on both sides are equal.
bool fits(Type from, Type to) {
  if (auto cache = dyn_cast<nn::CacheType>(to))
    to = cache.getTensor();
  auto given = dyn_cast<RankedTensorType>(from);
  auto wanted = dyn_cast<RankedTensorType>(to);
  if (!given || !wanted || given.getElementType() != wanted.getElementType() ||
      given.getRank() != wanted.getRank())
    return false;
  return llvm::all_of(llvm::zip(given.getShape(), wanted.getShape()),
                      [](auto sizes) {
                        auto [left, right] = sizes;
                        return ShapedType::isDynamic(left) ||
                               ShapedType::isDynamic(right) || left == right;
                      });
}

/// What exporters call the states that an encoder gives: the more telling, the
/// higher.
int telling(StringRef output, StringRef input) {
  if (output == input)
    return 3;
  if (output == "last_hidden_state")
    return 2;
  return output.contains("hidden_state") ? 1 : 0;
}

class LinkSearch {
public:
  explicit LinkSearch(ModuleOp module)
      : functions(llvm::to_vector(module.getOps<func::FuncOp>())) {}

  std::vector<FunctionLink> run() {
    std::vector<FunctionLink> links;
    for (auto [to, func] : llvm::enumerate(functions))
      for (unsigned input = 0; input < func.getNumArguments(); ++input)
        if (takesStates(func, input))
          addLink(static_cast<int>(to), static_cast<int>(input), links);
    for (auto [to, func] : llvm::enumerate(functions))
      if (goesOnOnly(func))
        addBeginning(static_cast<int>(to), links);
    return links;
  }

private:
  /// The presents of `from` for all pasts of `to`; empty if one is missing.
  std::vector<FunctionLink> beginningOf(int to, int from) {
    std::vector<FunctionLink> links;
    func::FuncOp target = functions[to], source = functions[from];
    for (unsigned input = 0; input < target.getNumArguments(); ++input) {
      if (!isPast(target, input))
        continue;
      StringRef past =
          textOf(target.getArgAttr(input, nn::NnDialect::nameAttr));
      size_t before = links.size();
      for (unsigned output = 0; output < source.getNumResults(); ++output) {
        StringRef present =
            textOf(source.getResultAttr(output, nn::NnDialect::nameAttr));
        if (links.size() == before && isPresentOf(present, past) &&
            fits(source.getResultTypes()[output],
                 target.getArgumentTypes()[input]))
          links.push_back(
              {from, static_cast<int>(output), to, static_cast<int>(input)});
      }
      if (links.size() == before)
        return {};
    }
    return links;
  }

  void addBeginning(int to, std::vector<FunctionLink> &links) {
    std::vector<FunctionLink> found;
    unsigned candidates = 0;
    for (auto [from, source] : llvm::enumerate(functions)) {
      if (static_cast<int>(from) == to || !begins(source))
        continue;
      std::vector<FunctionLink> pasts = beginningOf(to, static_cast<int>(from));
      candidates += !pasts.empty();
      if (!pasts.empty())
        found = std::move(pasts);
    }
    if (candidates == 1) {
      links.insert(links.end(), found.begin(), found.end());
      return;
    }
    func::FuncOp target = functions[to];
    target.emitRemark()
        << "function `" << target.getName()
        << "` goes on with pasts that it can't begin with; " << candidates
        << " other functions give logits and a present for each of them";
  }

  void addLink(int to, int input, std::vector<FunctionLink> &links) {
    func::FuncOp target = functions[to];
    StringRef name = textOf(target.getArgAttr(input, nn::NnDialect::nameAttr));
    std::vector<FunctionLink> best;
    int bestRank = -1;
    for (auto [from, source] : llvm::enumerate(functions)) {
      if (isDecoder(source))
        continue;
      for (unsigned output = 0; output < source.getNumResults(); ++output) {
        if (!textOf(source.getResultAttr(output, "nn.role")).empty() ||
            !fits(source.getResultTypes()[output],
                  target.getArgumentTypes()[input]))
          continue;
        int rank = telling(
            textOf(source.getResultAttr(output, nn::NnDialect::nameAttr)),
            name);
        if (rank > bestRank)
          best.clear();
        bestRank = std::max(bestRank, rank);
        if (rank == bestRank)
          best.push_back(
              {static_cast<int>(from), static_cast<int>(output), to, input});
      }
    }
    if (best.size() == 1)
      links.push_back(best.front());
    else if (functions.size() > 1)
      remarkMissed(target, name, best);
  }

  void remarkMissed(func::FuncOp target, StringRef name,
                    const std::vector<FunctionLink> &candidates) {
    InFlightDiagnostic remark = target.emitRemark();
    remark << "input `" << name << "` of function `" << target.getName()
           << "` is linked to no encoder: ";
    if (candidates.empty())
      remark << "no output of another function has its element type and sizes";
    else
      remark << candidates.size() << " outputs have its element type and sizes";
    for (const FunctionLink &candidate : candidates) {
      func::FuncOp source = functions[candidate.fromFunction];
      remark << ", `" << source.getName() << "."
             << textOf(source.getResultAttr(candidate.fromOutput,
                                            nn::NnDialect::nameAttr))
             << "`";
    }
  }

  SmallVector<func::FuncOp> functions;
};

} // namespace

std::vector<FunctionLink> findLinks(ModuleOp module) {
  return LinkSearch(module).run();
}

} // namespace sol
