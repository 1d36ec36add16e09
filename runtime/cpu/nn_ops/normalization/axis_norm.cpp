//===- axis_norm.cpp - norms along one axis or several --------------------===//
//
// LpNormalization, MeanVarianceNormalization and LRN.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/elementary.h"
#include "runtime/cpu/nn_ops/normalization/families.h"
#include "runtime/cpu/nn_ops/normalization/norm_row.h"
#include "runtime/cpu/nn_ops/normalization/rows.h"

namespace sol::nn {
namespace {

/// Runs with float or double by the operand's type.
template <typename Run> absl::Status byType(DType type, Run run) {
  return type == DType::F64 ? run(double()) : run(float());
}

/// Elements of a tensor gathered along some axes: the groups that share a norm.
struct AxisGroups {
  Dims outerDims, outerSteps, innerDims, innerSteps;

  static AxisGroups create(const Dims &dims, absl::Span<const int64_t> axes) {
    AxisGroups groups;
    int64_t step = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      bool inside =
          std::find(axes.begin(), axes.end(), int64_t(i)) != axes.end();
      Dims &sizes = inside ? groups.innerDims : groups.outerDims;
      Dims &steps = inside ? groups.innerSteps : groups.outerSteps;
      sizes.insert(sizes.begin(), dims[i]);
      steps.insert(steps.begin(), step);
      step *= dims[i];
    }
    return groups;
  }
  int64_t count() const { return elementCount(outerDims); }
  int64_t length() const { return elementCount(innerDims); }
  int64_t at(int64_t group, int64_t i) const {
    return steppedOffset(group, outerDims, outerSteps) +
           steppedOffset(i, innerDims, innerSteps);
  }
};

/// Gathers each group, lets `body(row, length)` change it, stores it.
template <typename T, typename Body>
absl::Status changeGroups(KernelContext &context, const AxisGroups &groups,
                          const Tensor &x, Tensor &out, Body body) {
  int64_t length = groups.length();
  return forRows<T>(
      context, groups.count(), length, 0, [](T *) {},
      [&](int64_t group, T *own) {
        for (int64_t i = 0; i < length; ++i)
          loadRow(x, groups.at(group, i), 1, own + i);
        body(own, length);
        for (int64_t i = 0; i < length; ++i)
          storeRow(own + i, 1, out, groups.at(group, i));
      });
}

absl::Status inferSame(Inputs in, Outputs out) {
  SOL_NN_TRY(checkCount(in, 1, 1));
  SOL_NN_TRY(checkFloat(in[0], "X"));
  return setOutput(out, 0, in[0].type, in[0].dims);
}

//===----------------------------------------------------------------------===//
// LpNormalization
//===----------------------------------------------------------------------===//

struct LpCall {
  int64_t axis = 0, power = 2;
};

absl::StatusOr<LpCall> describeLp(const KernelCall &call, const Tensor &x) {
  LpCall lp;
  SOL_NN_ASSIGN(int64_t axis, call.attributes.integer("axis", -1));
  SOL_NN_ASSIGN(lp.axis, frontAxis(axis, x.rank()));
  SOL_NN_ASSIGN(lp.power, call.attributes.integer("p", 2));
  if (lp.power != 1 && lp.power != 2)
    return invalid("attribute `p` is ", lp.power, ", must be 1 or 2");
  return lp;
}

absl::Status inferLp(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(inferSame(in, out));
  return describeLp(call, in[0]).status();
}

absl::Status runLp(const KernelCall &call, KernelContext &context, Inputs in,
                   Outputs out) {
  SOL_NN_ASSIGN(LpCall lp, describeLp(call, in[0]));
  AxisGroups groups = AxisGroups::create(in[0].dims, {lp.axis});
  return byType(in[0].type, [&](auto zero) {
    using T = decltype(zero);
    return changeGroups<T>(
        context, groups, in[0], out[0], [&](T *row, int64_t length) {
          T norm = laneSum<T>(length, [&](int64_t i) {
            return lp.power == 1 ? std::abs(row[i]) : row[i] * row[i];
          });
          if (lp.power == 2)
            norm = std::sqrt(norm);
          // A group of zeros stays one.
          for (int64_t i = 0; i < length; ++i)
            row[i] = norm == 0 ? T(0) : row[i] / norm;
        });
  });
}

//===----------------------------------------------------------------------===//
// MeanVarianceNormalization
//===----------------------------------------------------------------------===//

absl::StatusOr<AxisGroups> describeVariance(const KernelCall &call,
                                            const Tensor &x) {
  SOL_NN_ASSIGN(absl::Span<const int64_t> given,
                call.attributes.integers("axes"));
  Dims axes(given.begin(), given.end());
  if (!call.attributes.has("axes"))
    axes = {0, 2, 3};
  for (int64_t &axis : axes) {
    SOL_NN_ASSIGN(axis, frontAxis(axis, x.rank()));
  }
  return AxisGroups::create(x.dims, axes);
}

absl::Status inferVariance(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(inferSame(in, out));
  return describeVariance(call, in[0]).status();
}

absl::Status runVariance(const KernelCall &call, KernelContext &context,
                         Inputs in, Outputs out) {
  SOL_NN_ASSIGN(AxisGroups groups, describeVariance(call, in[0]));
  return byType(in[0].type, [&](auto zero) {
    using T = decltype(zero);
    return changeGroups<T>(
        context, groups, in[0], out[0], [](T *row, int64_t length) {
          T mean =
              laneSum<T>(length, [&](int64_t i) { return row[i]; }) / T(length);
          for (int64_t i = 0; i < length; ++i)
            row[i] -= mean;
          T square =
              laneSum<T>(length, [&](int64_t i) { return row[i] * row[i]; });
          // The text adds its epsilon to the deviation.
          T deviation = std::sqrt(square / T(length)) + T(1e-9);
          for (int64_t i = 0; i < length; ++i)
            row[i] /= deviation;
        });
  });
}

//===----------------------------------------------------------------------===//
// LRN
//===----------------------------------------------------------------------===//

struct LrnCall {
  int64_t size = 1;
  float alpha = 0, beta = 0, bias = 0;
};

absl::StatusOr<LrnCall> describeLrn(const KernelCall &call, const Tensor &x) {
  LrnCall lrn;
  SOL_NN_TRY(checkRank(x, "X", 2, 16));
  SOL_NN_ASSIGN(lrn.size, call.attributes.integer("size", 0));
  if (lrn.size <= 0)
    return invalid("attribute `size` is ", lrn.size, ", must be positive");
  SOL_NN_ASSIGN(lrn.alpha, call.attributes.real("alpha", 1e-4f));
  SOL_NN_ASSIGN(lrn.beta, call.attributes.real("beta", 0.75f));
  SOL_NN_ASSIGN(lrn.bias, call.attributes.real("bias", 1.0f));
  return lrn;
}

absl::Status inferLrn(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(inferSame(in, out));
  return describeLrn(call, in[0]).status();
}

/// The channels of one pixel at a time, each against its neighbours.
absl::Status runLrn(const KernelCall &call, KernelContext &context, Inputs in,
                    Outputs out) {
  SOL_NN_ASSIGN(LrnCall lrn, describeLrn(call, in[0]));
  int64_t channels = in[0].dims[1];
  int64_t pixels = product(in[0].dims, 2, in[0].dims.size());
  int64_t before = std::min((lrn.size - 1) / 2, channels);
  int64_t after = std::min(lrn.size - 1 - (lrn.size - 1) / 2, channels);
  return byType(in[0].type, [&](auto zero) {
    using T = decltype(zero);
    return forRows<T>(
        context, in[0].dims[0] * pixels, channels, 0, [](T *) {},
        [&](int64_t row, T *own) {
          int64_t first = row / pixels * channels * pixels + row % pixels;
          for (int64_t c = 0; c < channels; ++c)
            loadRow(in[0], first + c * pixels, 1, own + c);
          for (int64_t c = 0; c < channels; ++c) {
            T sum = 0;
            for (int64_t i = std::max<int64_t>(0, c - before),
                         end = std::min(channels - 1, c + after);
                 i <= end; ++i)
              sum += own[i] * own[i];
            T base = T(lrn.bias) + T(lrn.alpha) / T(lrn.size) * sum;
            T value = own[c] / elementary::pow(base, T(lrn.beta));
            storeRow(&value, 1, out[0], first + c * pixels);
          }
        });
  });
}

} // namespace

void registerAxisNormKernels() {
  registerKernel({"onnx.LpNormalization", nullptr, inferLp, runLp});
  registerKernel(
      {"onnx.MeanVarianceNormalization", nullptr, inferVariance, runVariance});
  registerKernel({"onnx.LRN", nullptr, inferLrn, runLrn});
}

} // namespace sol::nn
