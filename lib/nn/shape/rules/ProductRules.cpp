//===- ProductRules.cpp - shapes of products, convolutions and pools ------===//
//
// Matrix products in all their forms, convolutions and pooling.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/shape/rules/Rules.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;

namespace sol::nn {

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Shape of the product of a stack of matrices with another, NumPy's matmul.
static void inferProduct(Node &node, std::optional<Sizes> a,
                         std::optional<Sizes> b) {
  if (!a || !b)
    return;
  if (a->empty() || b->empty()) {
    node.error() << "multiplies shapes " << sizesText(*a) << " and "
                 << sizesText(*b) << "; none may be a scalar";
    return;
  }
  bool dropsRow = a->size() == 1, dropsColumn = b->size() == 1;
  if (dropsRow)
    a->insert(a->begin(), 1);
  if (dropsColumn)
    b->push_back(1);
  const SymbolicSize &inner = a->back(), &other = (*b)[b->size() - 2];
  if (inner.constant() && other.constant() &&
      *inner.constant() != *other.constant()) {
    node.error() << "multiplies shapes " << sizesText(*a) << " and "
                 << sizesText(*b) << ", whose inner sizes " << *inner.constant()
                 << " and " << *other.constant() << " differ";
    return;
  }
  ArrayRef<SymbolicSize> left(*a), right(*b);
  std::optional<Sizes> result =
      node.broadcast(left.drop_back(2), right.drop_back(2));
  if (!result)
    return;
  if (!dropsRow)
    result->push_back((*a)[a->size() - 2]);
  if (!dropsColumn)
    result->push_back(b->back());
  node.setSizes(0, result);
}

static void inferMatMul(Node &node) {
  inferProduct(node, node.operandSizes(0), node.operandSizes(1));
}

static void swapLastAxes(std::optional<Sizes> &sizes) {
  if (sizes && sizes->size() >= 2)
    std::swap((*sizes)[sizes->size() - 1], (*sizes)[sizes->size() - 2]);
}

static void inferFusedMatMul(Node &node) {
  std::optional<Sizes> a = node.operandSizes(0), b = node.operandSizes(1);
  // Swapping batch axes as well is a rare form that the kernel alone handles.
  if (node.integer("transBatchA", 0) || node.integer("transBatchB", 0))
    return;
  if (node.integer("transA", 0))
    swapLastAxes(a);
  if (node.integer("transB", 0))
    swapLastAxes(b);
  inferProduct(node, a, b);
}

/// The operands after the first come in triples: value, scale, zero point.
static void inferQLinearMatMul(Node &node) {
  inferProduct(node, node.operandSizes(0), node.operandSizes(3));
}

static void inferGemm(Node &node) {
  if (!node.requireRank(0, 2) || !node.requireRank(1, 2))
    return;
  std::optional<Sizes> a = node.operandSizes(0), b = node.operandSizes(1);
  if (node.integer("transA", 0))
    swapLastAxes(a);
  if (node.integer("transB", 0))
    swapLastAxes(b);
  inferProduct(node, a, b);
}

/// Operand 0 with its last axis replaced by the attribute `N`.
static void inferMatMulNBits(Node &node) {
  std::optional<Sizes> sizes = node.operandSizes(0);
  if (!sizes || sizes->empty())
    return;
  node.agree(sizes->back(), node.integer("K", 0),
             "the last size of operand 0 and K");
  sizes->back() = node.integer("N", 0);
  node.setSizes(0, sizes);
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {
/// One term of an einsum equation; `ellipsis` is where `...` stands, or -1.
struct EinsumTerm {
  std::string letters;
  int64_t ellipsis = -1;
};
} // namespace

static EinsumTerm einsumTerm(StringRef text) {
  EinsumTerm term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("...")) {
      term.ellipsis = static_cast<int64_t>(term.letters.size());
      i += 2;
    } else if (llvm::isAlpha(text[i])) {
      term.letters += text[i];
    }
  }
  return term;
}

static void inferEinsum(Node &node) {
  StringRef equation = node.text("equation", "");
  auto [left, right] = equation.split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != node.operandCount()) {
    node.error() << "has equation `" << equation << "` for "
                 << node.operandCount() << " operands";
    return;
  }
  std::map<char, SymbolicSize> sizes;
  std::map<char, int> uses;
  Sizes batch;
  for (auto [i, part] : llvm::enumerate(parts)) {
    EinsumTerm term = einsumTerm(part);
    std::optional<Sizes> operand = node.operandSizes(i);
    if (!operand)
      return;
    int64_t extra = static_cast<int64_t>(operand->size()) -
                    static_cast<int64_t>(term.letters.size());
    if (extra < 0 || (extra > 0 && term.ellipsis < 0)) {
      node.error() << "has term `" << part << "` for an operand of shape "
                   << sizesText(*operand);
      return;
    }
    ArrayRef<SymbolicSize> all(*operand);
    if (term.ellipsis >= 0) {
      std::optional<Sizes> joined =
          node.broadcast(batch, all.slice(term.ellipsis, extra));
      if (!joined)
        return;
      batch = *joined;
    }
    for (auto [k, letter] : llvm::enumerate(term.letters)) {
      bool behind =
          term.ellipsis >= 0 && static_cast<int64_t>(k) >= term.ellipsis;
      const SymbolicSize &size = all[k + (behind ? extra : 0)];
      ++uses[letter];
      auto [it, isNew] = sizes.try_emplace(letter, size);
      if (!isNew)
        it->second = broadcastSize(it->second, size);
    }
  }
  EinsumTerm result = einsumTerm(right);
  if (!equation.contains("->")) {
    result.ellipsis = 0;
    for (auto [letter, count] : uses)
      if (count == 1)
        result.letters += letter;
  }
  Sizes out;
  for (size_t k = 0; k <= result.letters.size(); ++k) {
    if (static_cast<int64_t>(k) == result.ellipsis)
      out.append(batch.begin(), batch.end());
    if (k < result.letters.size())
      out.push_back(sizes[result.letters[k]]);
  }
  node.setSizes(0, Sizes(out));
}

//===----------------------------------------------------------------------===//
// Convolutions and pools
//===----------------------------------------------------------------------===//

/// Windows of `kernel` elements that fit, given pads and strides.
static SymbolicSize windowCount(Node &node, size_t axis, size_t axes,
                                const SymbolicSize &size,
                                const SymbolicSize &kernel) {
  auto at = [&](StringRef name, size_t i, int64_t fallback) {
    std::optional<ArrayRef<int64_t>> list = node.integers(name);
    return list && i < list->size() ? (*list)[i] : fallback;
  };
  int64_t stride = at("strides", axis, 1), dilation = at("dilations", axis, 1);
  if (stride < 1 || dilation < 1)
    return {};
  StringRef automatic = node.text("auto_pad", "NOTSET");
  if (automatic.starts_with("SAME"))
    return SymbolicSize::ceilDiv(size, stride);
  SymbolicSize padded = size;
  if (automatic == "NOTSET")
    padded = size + at("pads", axis, 0) + at("pads", axis + axes, 0);
  SymbolicSize free = padded - (kernel - 1) * dilation - 1;
  SymbolicSize count = node.integer("ceil_mode", 0)
                           ? SymbolicSize() // the last window depends on pads
                           : SymbolicSize::floorDiv(free, stride) + 1;
  return count.isNonNegative() ? count : SymbolicSize();
}

static void inferWindows(Node &node, const std::optional<Sizes> &input,
                         ArrayRef<SymbolicSize> kernel,
                         const SymbolicSize &channels) {
  if (!input || input->size() < 3 || kernel.size() != input->size() - 2)
    return;
  Sizes result{(*input)[0], channels};
  for (size_t axis = 0; axis < kernel.size(); ++axis)
    result.push_back(windowCount(node, axis, kernel.size(), (*input)[axis + 2],
                                 kernel[axis]));
  for (unsigned i = 0; i < node->getNumResults(); ++i)
    node.setSizes(i, Sizes(result));
}

static void inferConvolution(Node &node, unsigned weightIndex) {
  std::optional<Sizes> input = node.operandSizes(0);
  std::optional<Sizes> weight = node.operandSizes(weightIndex);
  if (!input || !weight)
    return;
  if (input->size() != weight->size() || input->size() < 3) {
    node.error() << "convolves shape " << sizesText(*input)
                 << " with weights of shape " << sizesText(*weight);
    return;
  }
  int64_t groups = node.integer("group", 1);
  node.agree((*input)[1], (*weight)[1] * groups,
             "the channels of the input and of the weights times group");
  ArrayRef<SymbolicSize> all(*weight);
  inferWindows(node, input, all.drop_front(2), (*weight)[0]);
}

static void inferConv(Node &node) { inferConvolution(node, 1); }
static void inferQLinearConv(Node &node) { inferConvolution(node, 3); }

static void inferPool(Node &node) {
  std::optional<Sizes> input = node.operandSizes(0);
  std::optional<ArrayRef<int64_t>> kernel = node.integers("kernel_shape");
  if (!input || !kernel || input->size() < 3)
    return;
  Sizes sizes(kernel->begin(), kernel->end());
  inferWindows(node, input, sizes, (*input)[1]);
}

static void inferGlobalPool(Node &node) {
  std::optional<Sizes> input = node.operandSizes(0);
  if (!input || input->size() < 2)
    return;
  for (size_t axis = 2; axis < input->size(); ++axis)
    (*input)[axis] = 1;
  node.setSizes(0, input);
}

void addProductRules(RuleTable &table) {
  for (StringRef name : {"MatMul", "MatMulInteger"})
    table[("onnx." + name).str()] = inferMatMul;
  for (StringRef name : {"DynamicQuantizeMatMul", "MatMulIntegerToFloat"})
    table[("onnx.microsoft." + name).str()] = inferMatMul;
  table["onnx.microsoft.FusedMatMul"] = inferFusedMatMul;
  table["onnx.microsoft.FusedGemm"] = inferGemm;
  table["onnx.Gemm"] = inferGemm;
  table["onnx.QLinearMatMul"] = inferQLinearMatMul;
  table["onnx.microsoft.MatMulNBits"] = inferMatMulNBits;
  table["onnx.Einsum"] = inferEinsum;
  table["onnx.Conv"] = inferConv;
  table["onnx.ConvInteger"] = inferConv;
  table["onnx.QLinearConv"] = inferQLinearConv;
  for (StringRef name : {"MaxPool", "AveragePool", "LpPool"})
    table[("onnx." + name).str()] = inferPool;
  for (StringRef name : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
    table[("onnx." + name).str()] = inferGlobalPool;
}

} // namespace sol::nn
