//===- MovementRules.cpp - shapes of operators that move elements ---------===//
//
// Reshape, Transpose, Concat, Split, Slice, Expand and their kin, with the
// elements of small integer tensors that pass through them.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/rules/Rules.h"

using namespace mlir;

namespace sol::nn {

/// Bounds beyond this mean "to the end" whatever the size is.
static constexpr int64_t beyondAnySize = int64_t(1) << 62;

/// Copies followed elements of operand 0 where their order stays.
static void passElements(Node &node) {
  if (const Elements *known = node.operandElements(0))
    node.setElements(0, *known);
}

//===----------------------------------------------------------------------===//
// Same elements, another shape
//===----------------------------------------------------------------------===//

/// The size that -1 stands for.
static SymbolicSize inferRest(Node &node, const std::optional<Sizes> &operand,
                              ArrayRef<SymbolicSize> others) {
  if (!operand)
    return {};
  SymbolicSize total = elementCount(*operand), rest = elementCount(others);
  std::optional<int64_t> count = total.constant(), part = rest.constant();
  if (count && part && *part > 0 && *count % *part != 0) {
    node.error() << "gives " << *count << " elements of " << sizesText(*operand)
                 << " a shape whose other sizes have the product " << *part;
    return {};
  }
  return total.exactDiv(rest);
}

/// The sizes that `target` asks for; one unknown place may be the rest.
static std::optional<Sizes> reshapedSizes(Node &node, const Elements &target) {
  std::optional<Sizes> operand = node.operandSizes(0);
  bool allowZero = node.integer("allowzero", 0) != 0;
  Sizes result, others;
  std::optional<size_t> rest;
  for (auto [axis, wanted] : llvm::enumerate(target)) {
    std::optional<int64_t> number = wanted.constant();
    if (number && *number < -1) {
      node.error() << "asks for size " << *number << " on axis " << axis;
      return std::nullopt;
    }
    if (number && *number == -1) {
      if (rest) {
        node.error() << "leaves axes " << *rest << " and " << axis
                     << " open; only one can be";
        return std::nullopt;
      }
      rest = axis;
      result.emplace_back();
      continue;
    }
    SymbolicSize size = wanted.isNonNegative() ? wanted : SymbolicSize();
    if (number && *number == 0 && !allowZero) {
      if (operand && axis >= operand->size()) {
        node.error() << "copies axis " << axis << " of an operand of shape "
                     << sizesText(*operand);
        return std::nullopt;
      }
      size = operand ? (*operand)[axis] : SymbolicSize();
    }
    result.push_back(size);
    others.push_back(size);
  }
  if (rest) {
    result[*rest] = inferRest(node, operand, others);
    return result;
  }
  std::optional<int64_t> before =
      operand ? elementCount(*operand).constant() : std::nullopt;
  std::optional<int64_t> after = elementCount(result).constant();
  if (before && after && *before != *after)
    node.error() << "gives " << *before << " elements of "
                 << sizesText(*operand) << " the shape " << sizesText(result)
                 << " of " << *after;
  return result;
}

static void inferReshape(Node &node) {
  if (const Elements *target = node.operandElements(1))
    node.setSizes(0, reshapedSizes(node, *target));
  else if (std::optional<int64_t> rank = node.operandLength(1))
    node.setSizes(0, Sizes(*rank));
  passElements(node);
}

static void inferFlatten(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes)
    return;
  int64_t rank = static_cast<int64_t>(sizes->size());
  int64_t axis = node.integer("axis", 1);
  if (axis < -rank || axis > rank) {
    node.error() << "has axis " << axis << " for an operand of rank " << rank;
    return;
  }
  axis = axis < 0 ? axis + rank : axis;
  ArrayRef<SymbolicSize> all(*sizes);
  node.setSizes(0, Sizes{elementCount(all.take_front(axis)),
                         elementCount(all.drop_front(axis))});
  passElements(node);
}

static void inferSqueeze(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  passElements(node);
  if (!sizes)
    return;
  SmallVector<bool> dropped(sizes->size(), false);
  if (node.hasOperand(1)) {
    std::optional<SmallVector<int64_t>> axes = node.operandNumbers(1);
    if (!axes)
      return;
    for (int64_t given : *axes) {
      std::optional<int64_t> axis = node.axis(given, sizes->size());
      if (!axis)
        return;
      std::optional<int64_t> size = (*sizes)[*axis].constant();
      if (size && *size != 1) {
        node.error() << "removes axis " << *axis << " of size " << *size
                     << " from " << sizesText(*sizes);
        return;
      }
      dropped[*axis] = true;
    }
  } else {
    for (auto [axis, size] : llvm::enumerate(*sizes)) {
      if (!size.constant() && !size.isPositive())
        return; // whether it is 1 is not known
      dropped[axis] = size.isConstant(1);
      if (!size.constant() && size.lowerBound().value_or(0) < 2)
        return;
    }
  }
  Sizes result;
  for (auto [axis, size] : llvm::enumerate(*sizes))
    if (!dropped[axis])
      result.push_back(size);
  node.setSizes(0, Sizes(result));
}

static void inferUnsqueeze(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  std::optional<SmallVector<int64_t>> axes = node.operandNumbers(1);
  passElements(node);
  if (!sizes || !axes)
    return;
  int64_t rank = static_cast<int64_t>(sizes->size() + axes->size());
  SmallVector<bool> added(rank, false);
  for (int64_t given : *axes) {
    std::optional<int64_t> axis = node.axis(given, rank);
    if (!axis)
      return;
    if (added[*axis]) {
      node.error() << "inserts axis " << *axis << " twice";
      return;
    }
    added[*axis] = true;
  }
  Sizes result;
  auto *next = sizes->begin();
  for (bool isNew : added)
    result.push_back(isNew ? SymbolicSize(1) : *next++);
  node.setSizes(0, Sizes(result));
}

//===----------------------------------------------------------------------===//
// Other order, parts, repetition
//===----------------------------------------------------------------------===//

static void inferTranspose(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (sizes && sizes->size() <= 1)
    passElements(node);
  if (!sizes)
    return;
  size_t rank = sizes->size();
  SmallVector<int64_t> order;
  if (std::optional<ArrayRef<int64_t>> perm = node.integers("perm"))
    order.assign(perm->begin(), perm->end());
  else
    for (size_t i = 0; i < rank; ++i)
      order.push_back(static_cast<int64_t>(rank - 1 - i));
  SmallVector<int64_t> sorted = order;
  llvm::sort(sorted);
  bool isPermutation = order.size() == rank;
  for (size_t i = 0; i < sorted.size() && isPermutation; ++i)
    isPermutation = sorted[i] == static_cast<int64_t>(i);
  if (!isPermutation) {
    auto diagnostic = node.error();
    diagnostic << "has perm [";
    llvm::interleaveComma(order, diagnostic);
    diagnostic << "], which is no permutation of the " << rank
               << " axes of its operand of shape " << sizesText(*sizes);
    return;
  }
  Sizes result;
  for (int64_t axis : order)
    result.push_back((*sizes)[axis]);
  node.setSizes(0, Sizes(result));
}

/// Elements of a concatenation of operands of rank 1.
static void concatElements(Node &node) {
  Elements all;
  bool any = false;
  for (unsigned i = 0; i < node.operandCount(); ++i) {
    std::optional<int64_t> length = node.operandLength(i);
    if (!length || all.size() + *length > maxTrackedElements)
      return;
    if (const Elements *known = node.operandElements(i)) {
      all.insert(all.end(), known->begin(), known->end());
      any = true;
    } else {
      all.resize(all.size() + *length);
    }
  }
  if (any)
    node.setElements(0, std::move(all));
}

static void inferConcat(Node &node) {
  std::optional<Sizes> result;
  std::optional<int64_t> axis;
  SymbolicSize total = 0;
  for (unsigned i = 0; i < node.operandCount(); ++i) {
    std::optional<Sizes> sizes = node.operandSizes(i);
    if (!sizes) {
      total = {};
      continue;
    }
    if (!result) {
      result = sizes;
      axis = node.axis(node.integer("axis", 0), sizes->size());
      if (!axis)
        return;
    }
    if (sizes->size() != result->size()) {
      node.error() << "joins operands of shapes " << sizesText(*result)
                   << " and " << sizesText(*sizes);
      return;
    }
    total = total + (*sizes)[*axis];
    for (size_t other = 0; other < result->size(); ++other)
      if (static_cast<int64_t>(other) != *axis)
        (*result)[other] = node.agree((*result)[other], (*sizes)[other],
                                      "sizes of the operands on axis " +
                                          std::to_string(other));
  }
  if (!result)
    return;
  (*result)[*axis] = total;
  node.setSizes(0, result);
  if (result->size() == 1)
    concatElements(node);
}

/// Sizes of the pieces; unknown ones where they are not known.
static Sizes splitPieces(Node &node, const SymbolicSize &size, unsigned count) {
  if (node.hasOperand(1)) {
    const Elements *pieces = node.operandElements(1);
    if (!pieces)
      return Sizes(count);
    if (pieces->size() != count) {
      node.error() << "has " << count << " results, but `split` lists "
                   << pieces->size() << " sizes";
      return Sizes(count);
    }
    Sizes sizes(pieces->begin(), pieces->end());
    SymbolicSize total = 0;
    for (SymbolicSize &piece : sizes) {
      total = total + piece;
      piece = piece.isNonNegative() ? piece : SymbolicSize();
    }
    node.agree(total, size, "the sum of `split` and the size of the axis");
    return sizes;
  }
  // Equal pieces, the last one smaller if it must be.
  SymbolicSize piece = SymbolicSize::ceilDiv(size, count);
  Sizes sizes(count, piece);
  if (!size.exactDiv(count).isKnown()) {
    SymbolicSize last = size - piece * (count - 1);
    sizes.back() = last.isNonNegative() ? last : SymbolicSize();
  }
  return sizes;
}

static void inferSplit(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes)
    return;
  std::optional<int64_t> axis =
      node.axis(node.integer("axis", 0), sizes->size());
  if (!axis)
    return;
  unsigned count = node->getNumResults();
  Sizes pieces = splitPieces(node, (*sizes)[*axis], count);
  const Elements *known = node.operandElements(0);
  int64_t begin = 0;
  for (unsigned i = 0; i < count; ++i) {
    Sizes result = *sizes;
    result[*axis] = pieces[i];
    node.setSizes(i, Sizes(result));
    std::optional<int64_t> length = pieces[i].constant();
    if (!known || !length || sizes->size() != 1 ||
        begin + *length > static_cast<int64_t>(known->size())) {
      known = nullptr;
      continue;
    }
    node.setElements(
        i, Elements(known->begin() + begin, known->begin() + begin + *length));
    begin += *length;
  }
}

/// A slice bound for steps > 0, put into [0, size].
static SymbolicSize clampBound(const SymbolicSize &bound,
                               const SymbolicSize &size) {
  std::optional<int64_t> number = bound.constant();
  if (number && *number >= beyondAnySize)
    return size;
  if (number && *number <= -beyondAnySize)
    return 0;
  // Minus the size is the front even where the size is 0.
  if ((size + bound).isConstant(0))
    return 0;
  if (bound.upperBound().value_or(0) < 0)
    return SymbolicSize::max(size + bound, 0);
  return bound.isNonNegative() ? SymbolicSize::min(bound, size)
                               : SymbolicSize();
}

/// Number of elements that a slice takes of an axis of `size`.
static SymbolicSize slicedSize(const SymbolicSize &size,
                               const SymbolicSize &start,
                               const SymbolicSize &end,
                               const SymbolicSize &step) {
  std::optional<int64_t> stride = step.constant();
  if (!stride || *stride == 0)
    return {};
  if (*stride > 0) {
    // The last k elements; otherwise a start behind the end gives nothing, so
    // it need not be clamped from above.
    bool toEnd = end.constant().value_or(0) >= beyondAnySize;
    int64_t first = start.constant().value_or(0);
    if (toEnd && first < 0 && first > -beyondAnySize && *stride == 1)
      return SymbolicSize::min(size, -first);
    SymbolicSize from = start.isNonNegative() ? start : clampBound(start, size);
    SymbolicSize span = clampBound(end, size) - from;
    return SymbolicSize::ceilDiv(SymbolicSize::max(span, 0), *stride);
  }
  std::optional<int64_t> number = size.constant(), first = start.constant(),
                         last = end.constant();
  if (!first || !last)
    return {};
  if (number) {
    auto clamp = [&](int64_t bound) {
      bound = bound < -beyondAnySize ? -1 : bound < 0 ? bound + *number : bound;
      return std::clamp<int64_t>(bound, -1, *number - 1);
    };
    int64_t span = clamp(*first) - clamp(*last);
    return *stride < -beyondAnySize
               ? SymbolicSize(span > 0)
               : SymbolicSize((std::max<int64_t>(span, 0) - *stride - 1) /
                              -*stride);
  }
  bool isReversal = (*first == -1 || *first >= beyondAnySize) &&
                    *last <= -beyondAnySize && *stride == -1;
  return isReversal ? size : SymbolicSize();
}

/// Elements of a slice of an operand of rank 1 with known bounds.
static void sliceElements(Node &node, int64_t start, int64_t step) {
  const Elements *known = node.operandElements(0);
  std::optional<int64_t> count =
      node.resultSizes(0) ? elementCount(*node.resultSizes(0)).constant()
                          : std::nullopt;
  if (!known || !count)
    return;
  int64_t size = static_cast<int64_t>(known->size());
  start = start < -beyondAnySize ? 0 : start < 0 ? start + size : start;
  start = std::clamp<int64_t>(start, 0, step < 0 ? size - 1 : size);
  Elements part;
  for (int64_t i = 0; i < *count; ++i) {
    int64_t position = start + i * step;
    if (position < 0 || position >= size)
      return;
    part.push_back((*known)[position]);
  }
  node.setElements(0, std::move(part));
}

static void inferSlice(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes)
    return;
  int64_t rank = static_cast<int64_t>(sizes->size());
  std::optional<int64_t> count = node.operandLength(1);
  std::optional<SmallVector<int64_t>> axes;
  if (node.hasOperand(3)) {
    axes = node.operandNumbers(3);
  } else if (count) {
    axes.emplace();
    for (int64_t i = 0; i < *count; ++i)
      axes->push_back(i);
  }
  if (!axes) {
    node.setSizes(0, Sizes(rank));
    return;
  }
  const Elements *starts = node.operandElements(1);
  const Elements *ends = node.operandElements(2);
  const Elements *steps = node.operandElements(4);
  for (auto [i, given] : llvm::enumerate(*axes)) {
    std::optional<int64_t> axis = node.axis(given, rank);
    if (!axis)
      return;
    auto at = [&, i = i](const Elements *list) {
      return list && i < list->size() ? (*list)[i] : SymbolicSize();
    };
    SymbolicSize step = node.hasOperand(4) ? at(steps) : SymbolicSize(1);
    if (step.isConstant(0)) {
      node.error() << "has step 0 on axis " << *axis;
      return;
    }
    (*sizes)[*axis] = slicedSize((*sizes)[*axis], at(starts), at(ends), step);
  }
  node.setSizes(0, sizes);
  if (rank == 1 && axes->size() == 1 && starts && starts->size() == 1 &&
      (*starts)[0].constant()) {
    std::optional<int64_t> step =
        node.hasOperand(4)
            ? (steps && steps->size() == 1 ? (*steps)[0].constant()
                                           : std::nullopt)
            : std::optional<int64_t>(1);
    if (step && *step > -maxTrackedElements && *step < maxTrackedElements)
      sliceElements(node, *(*starts)[0].constant(), *step);
  }
}

static void inferExpand(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  const Elements *target = node.operandElements(1);
  std::optional<int64_t> length = node.operandLength(1);
  if (!sizes || !length)
    return;
  Sizes wanted(*length);
  for (size_t i = 0; target && i < target->size(); ++i)
    if ((*target)[i].isNonNegative())
      wanted[i] = (*target)[i];
  node.setSizes(0, node.broadcast(*sizes, wanted));
  const Elements *known = node.operandElements(0);
  const std::optional<Sizes> &result = node.resultSizes(0);
  std::optional<int64_t> count =
      result ? elementCount(*result).constant() : std::nullopt;
  if (known && known->size() == 1 && count && *count <= maxTrackedElements)
    node.setElements(0, Elements(*count, (*known)[0]));
}

static void inferTile(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes)
    return;
  const Elements *repeats = node.operandElements(1);
  std::optional<int64_t> length = node.operandLength(1);
  if (length && *length != static_cast<int64_t>(sizes->size())) {
    node.error() << "repeats " << *length << " axes of an operand of shape "
                 << sizesText(*sizes);
    return;
  }
  for (size_t axis = 0; axis < sizes->size(); ++axis) {
    SymbolicSize size =
        repeats ? (*sizes)[axis] * (*repeats)[axis] : SymbolicSize();
    (*sizes)[axis] = size.isNonNegative() ? size : SymbolicSize();
  }
  node.setSizes(0, sizes);
  // Repeating a rank-1 tensor repeats its elements.
  const Elements *known = node.operandElements(0);
  std::optional<int64_t> count = elementCount(*sizes).constant();
  if (!known || known->empty() || sizes->size() != 1 || !count ||
      *count > maxTrackedElements)
    return;
  Elements elements;
  for (int64_t i = 0; i < *count; ++i)
    elements.push_back((*known)[i % known->size()]);
  node.setElements(0, std::move(elements));
}

static void inferPad(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes)
    return;
  size_t rank = sizes->size();
  SmallVector<int64_t> axes;
  if (node.hasOperand(3)) {
    std::optional<SmallVector<int64_t>> given = node.operandNumbers(3);
    if (!given) {
      node.setSizes(0, Sizes(rank));
      return;
    }
    for (int64_t axis : *given)
      if (std::optional<int64_t> known = node.axis(axis, rank))
        axes.push_back(*known);
  } else {
    for (size_t i = 0; i < rank; ++i)
      axes.push_back(static_cast<int64_t>(i));
  }
  const Elements *pads = node.operandElements(1);
  if (pads && pads->size() != 2 * axes.size()) {
    node.error() << "has " << pads->size() << " pads, needs "
                 << 2 * axes.size();
    return;
  }
  for (auto [i, axis] : llvm::enumerate(axes)) {
    SymbolicSize size =
        pads ? (*sizes)[axis] + (*pads)[i] + (*pads)[i + axes.size()]
             : SymbolicSize();
    (*sizes)[axis] = size.isNonNegative() ? size : SymbolicSize();
  }
  node.setSizes(0, sizes);
}

/// So that its square is a number of channels.
static constexpr int64_t maxBlock = 1 << 20;

static void inferDepthToSpace(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes || !node.requireRank(0, 4))
    return;
  int64_t block = node.integer("blocksize", 1);
  if (block <= 0 || block > maxBlock) {
    node.error() << "has blocksize " << block << ", allowed are 1 to "
                 << maxBlock;
    return;
  }
  Sizes &s = *sizes;
  if (node->getName().stripDialect() == "DepthToSpace")
    node.setSizes(0, Sizes{s[0], s[1].exactDiv(block * block), s[2] * block,
                           s[3] * block});
  else
    node.setSizes(0, Sizes{s[0], s[1] * (block * block), s[2].exactDiv(block),
                           s[3].exactDiv(block)});
}

void addMovementRules(RuleTable &table) {
  table["onnx.Reshape"] = inferReshape;
  table["onnx.Flatten"] = inferFlatten;
  table["onnx.Squeeze"] = inferSqueeze;
  table["onnx.Unsqueeze"] = inferUnsqueeze;
  table["onnx.Transpose"] = inferTranspose;
  table["onnx.Concat"] = inferConcat;
  table["onnx.Split"] = inferSplit;
  table["onnx.Slice"] = inferSlice;
  table["onnx.Expand"] = inferExpand;
  table["onnx.Tile"] = inferTile;
  table["onnx.Pad"] = inferPad;
  table["onnx.DepthToSpace"] = inferDepthToSpace;
  table["onnx.SpaceToDepth"] = inferDepthToSpace;
}

} // namespace sol::nn
