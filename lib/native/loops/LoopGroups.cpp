//===- LoopGroups.cpp - which operators become one loop -------------------===//
//
// Goes through a block in order; an operator joins the group of one of its
// operands if it runs over the same space and the group stays convex, and then
// draws in the groups of its other operands.
//
//===----------------------------------------------------------------------===//
#include "lib/native/loops/LoopGroups.h"

#include "lib/native/loops/RowOps.h"
#include "lib/native/loops/ScalarOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sol::native {
namespace {

/// Larger groups gain nothing and need more registers than there are.
constexpr size_t mostMembers = 48;
/// Loops over fewer elements than this are not worth a call.
constexpr int64_t fewestElements = 32;
constexpr size_t mostAxes = 8;

bool isKnown(const LoopSpace &space) {
  return !space.empty() && space.size() <= mostAxes &&
         llvm::none_of(space, [](const std::string &size) {
           return size.empty() || size == "0";
         });
}

bool isTiny(const LoopSpace &space) {
  int64_t count = 1;
  for (const std::string &size : space) {
    int64_t number;
    if (StringRef(size).getAsInteger(10, number))
      return false;
    count *= number;
  }
  return count < fewestElements;
}

/// The space with one element for each row.
LoopSpace rowSpace(LoopSpace space) {
  space.back() = "1";
  return space;
}

/// An operator by itself: what it would be in a group of its own.
struct Candidate {
  LoopMember member;
  LoopSpace space;
};

std::optional<Candidate> classify(Operation *op) {
  if (op->hasAttr("nn.size_code") || op->getNumRegions() > 0 ||
      op->getNumOperands() == 0)
    return std::nullopt;
  Candidate candidate;
  candidate.member.op = op;
  RankedTensorType type;
  if (std::optional<LoopLevel> level = rowOpLevel(op)) {
    candidate.member.level = *level;
    candidate.member.alongRows = true;
    type = cast<RankedTensorType>(op->getOperand(0).getType());
  } else if (isScalarOp(op)) {
    type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  }
  if (!type)
    return std::nullopt;
  candidate.space = spaceOf(type);
  if (!isKnown(candidate.space) || isTiny(candidate.space) ||
      (candidate.member.alongRows && candidate.space.back() == "1"))
    return std::nullopt;
  for (Value operand : loopOperands(candidate.member)) {
    auto operandType = dyn_cast<RankedTensorType>(operand.getType());
    if (!operandType || !axesInSpace(operandType, candidate.space))
      return std::nullopt;
  }
  return candidate;
}

/// Calls `visit` with each operation of `block` that `op` needs a value of.
void forEachNeeded(Block &block, Operation *op,
                   llvm::function_ref<void(Operation *)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *source = operand.getDefiningOp())
        if (Operation *ancestor = block.findAncestorOpInBlock(*source))
          if (ancestor != op)
            visit(ancestor);
  });
}

class Grouping {
public:
  explicit Grouping(Block &block) : block(block) {}

  SmallVector<LoopGroup> run() {
    for (Operation &op : block)
      if (std::optional<Candidate> candidate = classify(&op))
        add(*candidate);
    SmallVector<LoopGroup> found;
    for (LoopGroup &group : groups)
      if (group.members.size() > 1 ||
          (group.members.size() == 1 && group.members[0].alongRows))
        found.push_back(std::move(group));
    return found;
  }

private:
  void add(Candidate candidate) {
    llvm::SmallSetVector<int, 4> near;
    for (Value operand : loopOperands(candidate.member))
      if (auto known = groupOf.find(operand.getDefiningOp());
          known != groupOf.end())
        near.insert(known->second);
    int joined = -1;
    for (int index : near) {
      std::optional<LoopMember> member = memberOf(candidate, groups[index]);
      if (!member || groups[index].members.size() >= mostMembers)
        continue;
      LoopGroup larger = groups[index];
      larger.members.push_back(*member);
      if (!isConvex(larger))
        continue;
      replace(index, std::move(larger));
      joined = index;
      break;
    }
    if (joined < 0) {
      groups.push_back({candidate.space, {candidate.member}});
      groupOf[candidate.member.op] = static_cast<int>(groups.size()) - 1;
      return;
    }
    for (int index : near)
      if (index != joined)
        merge(joined, index);
  }

  /// How an operator would take part in a group, if it can.
  static std::optional<LoopMember> memberOf(const Candidate &candidate,
                                            const LoopGroup &group) {
    LoopMember member = candidate.member;
    if (candidate.space == group.space)
      return member;
    if (member.alongRows || group.space.back() == "1" ||
        candidate.space != rowSpace(group.space))
      return std::nullopt;
    // What is computed once for each row must come from one of the group.
    member.level = LoopLevel::Rows;
    for (const LoopMember &other : group.members)
      if (other.level == LoopLevel::Rows &&
          llvm::is_contained(member.op->getOperands(), other.op->getResult(0)))
        return member;
    return std::nullopt;
  }

  void merge(int into, int from) {
    LoopGroup all = groups[into];
    llvm::append_range(all.members, groups[from].members);
    if (groups[from].space != all.space || all.members.size() > mostMembers)
      return;
    llvm::sort(all.members, [](const LoopMember &a, const LoopMember &b) {
      return a.op->isBeforeInBlock(b.op);
    });
    if (!isConvex(all))
      return;
    groups[from].members.clear();
    replace(into, std::move(all));
  }

  void replace(int index, LoopGroup group) {
    for (const LoopMember &member : group.members)
      groupOf[member.op] = index;
    groups[index] = std::move(group);
  }

  /// Does no path lead out of the group and back into it? Other groups that are
  /// steps of their own count as one operation each.
  bool isConvex(const LoopGroup &group) {
    llvm::DenseSet<Operation *> members, seen;
    for (const LoopMember &member : group.members)
      members.insert(member.op);
    SmallVector<Operation *> open;
    auto push = [&](Operation *op) {
      if (members.contains(op) || !seen.insert(op).second)
        return;
      open.push_back(op);
      auto known = groupOf.find(op);
      if (known == groupOf.end())
        return;
      for (const LoopMember &other : groups[known->second].members)
        if (!members.contains(other.op) && seen.insert(other.op).second)
          open.push_back(other.op);
    };
    for (const LoopMember &member : group.members)
      forEachNeeded(block, member.op, push);
    bool convex = true;
    while (convex && !open.empty()) {
      Operation *op = open.pop_back_val();
      // Nothing before the first member can need one.
      if (op->isBeforeInBlock(group.members.front().op))
        continue;
      forEachNeeded(block, op, [&](Operation *needed) {
        convex &= !members.contains(needed);
        push(needed);
      });
    }
    return convex;
  }

  Block &block;
  SmallVector<LoopGroup> groups;
  llvm::DenseMap<Operation *, int> groupOf;
};

} // namespace

SmallVector<LoopGroup> findLoopGroups(Block &block) {
  return Grouping(block).run();
}

SmallVector<Value> loopOperands(const LoopMember &member) {
  return member.alongRows ? rowOperands(member.op) : scalarOperands(member.op);
}

bool isHeldByLoop(const LoopMember &member, Value operand) {
  if (member.alongRows || !constantElement(operand))
    return false;
  // A constant with more axes than the other operands makes the result's axes.
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  return llvm::any_of(loopOperands(member), [&](Value other) {
    return !constantElement(other) &&
           cast<RankedTensorType>(other.getType()).getRank() >= rank;
  });
}

} // namespace sol::native
