//===- einsum.cpp - Einsum ------------------------------------------------===//
//
// Any equation, as loops over its labels: one fused multiply-add chain for each
// element of the result. Matrix products written so are meant to be recognised
// before they come here.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/tensor_ops/elementwise/maps.h"
#include "runtime/cpu/tensor_ops/reduction/reduction.h"

#include "absl/strings/ascii.h"

#include <string>
#include <vector>

namespace sol::ops {

namespace {
/// Labels are characters; the axes of an ellipsis are numbered from the right
/// as -1, -2, …
using Labels = absl::InlinedVector<int, 8>;

struct Equation {
  std::vector<Labels> inputs;
  Labels result;                              ///< the output's axes
  Labels summed;                              ///< labels that only inputs have
  std::vector<std::pair<int, int64_t>> sizes; ///< of each label

  int64_t *sizeOf(int label) {
    for (auto &entry : sizes)
      if (entry.first == label)
        return &entry.second;
    return nullptr;
  }
};

absl::Status badEquation(const std::string &text, std::string_view why) {
  return invalid("attribute `equation` `", text, "` ", std::string(why));
}

/// The labels of one term; `ellipsis` axes stand for `...`.
absl::StatusOr<Labels> labelsOf(const std::string &text, std::string_view term,
                                int64_t ellipsis) {
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (absl::ascii_isalpha(term[i])) {
      labels.push_back(term[i]);
    } else if (std::string(term.substr(i, 3)) == "..." && ellipsis >= 0) {
      for (int64_t axis = ellipsis; axis > 0; --axis)
        labels.push_back(-static_cast<int>(axis));
      i += 2;
    } else {
      return badEquation(text, "holds a term that is no list of letters");
    }
  }
  return labels;
}

/// Adds an operand's labels and sizes.
absl::Status addOperand(Equation &equation, const std::string &text,
                        std::string_view term, const Tensor &operand,
                        size_t number) {
  int64_t letters = std::count_if(
      term.begin(), term.end(), [](char c) { return absl::ascii_isalpha(c); });
  SOL_NN_ASSIGN(Labels labels, labelsOf(text, term, operand.rank() - letters));
  if (static_cast<int>(labels.size()) != operand.rank())
    return invalid("attribute `equation` `", text, "` gives operand ", number,
                   " ", labels.size(), " axes, its shape is ",
                   dimsToString(operand.dims));
  for (size_t axis = 0; axis < labels.size(); ++axis) {
    int64_t dim = operand.dims[axis], *size = equation.sizeOf(labels[axis]);
    if (!size)
      equation.sizes.emplace_back(labels[axis], dim);
    else if (*size == 1)
      *size = dim;
    else if (dim != 1 && dim != *size)
      return invalid("axis ", axis, " of operand ", number, " has size ", dim,
                     ", the same label elsewhere ", *size);
  }
  equation.inputs.push_back(labels);
  return absl::OkStatus();
}

absl::StatusOr<Equation> parseEquation(const KernelCall &call, Inputs inputs) {
  SOL_NN_ASSIGN(std::string text, call.attributes.text("equation", ""));
  std::string plain;
  for (char c : text)
    if (c != ' ')
      plain += c;
  size_t arrow = plain.find("->");
  std::string left = plain.substr(0, arrow);
  Equation equation;
  size_t begin = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    size_t end = std::min(left.find(',', begin), left.size());
    if (begin > left.size())
      return badEquation(text, "has fewer terms than the node operands");
    SOL_NN_TRY(addOperand(equation, text,
                          std::string_view(left).substr(begin, end - begin),
                          inputs[k], k));
    begin = end + 1;
  }
  if (begin <= left.size())
    return badEquation(text, "has more terms than the node operands");
  int64_t ellipsis = 0;
  for (const auto &entry : equation.sizes)
    ellipsis = std::max<int64_t>(ellipsis, entry.first < 0 ? -entry.first : 0);
  if (arrow != std::string::npos) {
    SOL_NN_ASSIGN(
        equation.result,
        labelsOf(text, std::string_view(plain).substr(arrow + 2), ellipsis));
  } else {
    // The ellipsis, then the letters that occur once, in their order.
    for (int64_t axis = ellipsis; axis > 0; --axis)
      equation.result.push_back(-static_cast<int>(axis));
    for (int c = 'A'; c <= 'z'; ++c)
      if (std::count(left.begin(), left.end(), static_cast<char>(c)) == 1 &&
          absl::ascii_isalpha(c))
        equation.result.push_back(c);
  }
  for (size_t i = 0; i < equation.result.size(); ++i) {
    int label = equation.result[i];
    if (!equation.sizeOf(label))
      return badEquation(text, "names a result axis that no operand has");
    if (std::count(equation.result.begin(), equation.result.end(), label) > 1)
      return badEquation(text, "names a result axis twice");
  }
  for (const auto &entry : equation.sizes)
    if (std::find(equation.result.begin(), equation.result.end(),
                  entry.first) == equation.result.end())
      equation.summed.push_back(entry.first);
  return equation;
}

absl::Status inferEinsum(const KernelCall &call, Inputs inputs,
                         Outputs outputs) {
  SOL_NN_TRY(nn::checkCount(inputs, 1, inputs.size()));
  for (size_t k = 0; k < inputs.size(); ++k) {
    std::string name = absl::StrCat("Inputs ", k);
    SOL_NN_TRY(checkDomain(inputs[k], name, Domain::Numbers));
    SOL_NN_TRY(nn::checkSameType(inputs[k], name, inputs[0].type));
  }
  SOL_NN_ASSIGN(Equation equation, parseEquation(call, inputs));
  Dims dims;
  for (int label : equation.result)
    dims.push_back(*equation.sizeOf(label));
  return nn::setOutput(outputs, 0, inputs[0].type, dims);
}

/// For each operand its step along each of `labels`; repeated labels add up,
/// which walks a diagonal.
std::vector<Dims> stepsAlong(const Equation &equation, const Labels &labels,
                             Inputs inputs) {
  std::vector<Dims> steps;
  for (size_t k = 0; k < inputs.size(); ++k) {
    Dims dense = denseSteps(inputs[k].dims);
    Dims along(labels.size(), 0);
    for (size_t i = 0; i < labels.size(); ++i)
      for (size_t axis = 0; axis < dense.size(); ++axis)
        if (equation.inputs[k][axis] == labels[i] && inputs[k].dims[axis] != 1)
          along[i] += dense[axis];
    steps.push_back(along);
  }
  return steps;
}

template <typename C> C multiplyAdd(C a, C b, C sum) {
  if constexpr (std::is_floating_point_v<C>)
    return std::fma(a, b, sum);
  else
    return static_cast<C>(uint64_t(a) * uint64_t(b) + uint64_t(sum));
}

/// The elements of all operands in one arithmetic, in scratch memory where they
/// are stored otherwise; null if there is no memory.
template <typename C>
const C *wholeOperand(KernelContext &context, const Tensor &tensor) {
  if (isStoredAs<C>(tensor.type))
    return tensor.as<C>();
  auto *memory = static_cast<C *>(context.scratch(tensor.size() * sizeof(C)));
  if (memory)
    loadElements(tensor.type, tensor.data, 0, tensor.size(), memory);
  return memory;
}

template <typename C>
absl::Status sumProducts(KernelContext &context, Equation &equation,
                         Inputs inputs, Tensor &output) {
  std::vector<const C *> data;
  for (const Tensor &input : inputs) {
    data.push_back(wholeOperand<C>(context, input));
    if (!data.back() && input.size() > 0)
      return absl::ResourceExhaustedError(absl::StrCat(
          "no memory for an operand of ", input.size(), " elements"));
  }
  Dims summed;
  for (int label : equation.summed)
    summed.push_back(*equation.sizeOf(label));
  auto outer = stepsAlong(equation, equation.result, inputs);
  auto inner = stepsAlong(equation, equation.summed, inputs);
  int64_t terms = elementCount(summed);
  auto element = [&](int64_t number) {
    absl::InlinedVector<int64_t, 4> at(inputs.size(), 0);
    int64_t rest = number;
    for (size_t axis = output.dims.size(); axis-- > 0;) {
      int64_t place = rest % output.dims[axis];
      rest /= output.dims[axis];
      for (size_t k = 0; k < inputs.size(); ++k)
        at[k] += place * outer[k][axis];
    }
    absl::InlinedVector<int64_t, 8> place(summed.size(), 0);
    C sum = 0;
    for (int64_t term = 0; term < terms; ++term) {
      C product = 1;
      for (size_t k = 0; k + 1 < inputs.size(); ++k)
        product =
            k ? multiplyAdd<C>(product, data[k][at[k]], 0) : data[k][at[k]];
      sum = multiplyAdd(product, data.back()[at.back()], sum);
      for (size_t axis = summed.size(); axis-- > 0;) {
        bool wraps = ++place[axis] == summed[axis];
        for (size_t k = 0; k < inputs.size(); ++k)
          at[k] += inner[k][axis] * (wraps ? 1 - summed[axis] : 1);
        if (!wraps)
          break;
        place[axis] = 0;
      }
    }
    storeElements(output.type, &sum, 1, output.data, number);
  };
  int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, terms));
  context.parallelFor(output.size(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t number = begin; number < end; ++number)
      element(number);
  });
  return absl::OkStatus();
}

absl::Status runEinsum(const KernelCall &call, KernelContext &context,
                       Inputs inputs, Outputs outputs) {
  SOL_NN_ASSIGN(Equation equation, parseEquation(call, inputs));
  return withArithmetic(inputs[0].type, [&](auto arithmetic) {
    using C = typename decltype(arithmetic)::Type;
    return sumProducts<C>(context, equation, inputs, outputs[0]);
  });
}
} // namespace

void registerEinsumKernels() {
  registerKernel(
      {.name = "onnx.Einsum", .infer = inferEinsum, .run = runEinsum});
}

} // namespace sol::ops
