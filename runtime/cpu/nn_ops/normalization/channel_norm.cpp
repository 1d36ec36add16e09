//===- channel_norm.cpp - norms over the pixels of a channel --------------===//
//
// BatchNormalization, InstanceNormalization and GroupNormalization. Statistics
// in float32 (float64 for float64 operands).
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/nn_ops/normalization/families.h"
#include "runtime/cpu/nn_ops/normalization/norm_row.h"
#include "runtime/cpu/nn_ops/normalization/rows.h"

namespace sol::nn {
namespace {

/// Sizes of [images, channels, pixels...].
struct Planes {
  int64_t images = 0, channels = 0, pixels = 1;
};

absl::StatusOr<Planes> describePlanes(const Tensor &x, int leastRank) {
  SOL_NN_TRY(checkFloat(x, "X"));
  SOL_NN_TRY(checkRank(x, "X", leastRank, 16));
  Planes planes;
  planes.images = x.dims[0];
  planes.channels = x.rank() > 1 ? x.dims[1] : 1;
  planes.pixels = x.rank() > 2 ? product(x.dims, 2, x.dims.size()) : 1;
  return planes;
}

/// Operands with one number for each channel.
absl::Status checkPerChannel(Inputs in, size_t from, size_t to,
                             const Planes &planes) {
  for (size_t i = from; i < to; ++i) {
    std::string name = absl::StrCat("operand ", i);
    SOL_NN_TRY(checkFloat(in[i], name));
    SOL_NN_TRY(checkDims(in[i], name, {planes.channels}));
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// InstanceNormalization and GroupNormalization: groups of channels of an image
//===----------------------------------------------------------------------===//

struct GroupedCall {
  Planes planes;
  int64_t groups = 0;
  float epsilon = 0;
};

absl::StatusOr<GroupedCall> describeGrouped(const KernelCall &call, Inputs in,
                                            bool grouped) {
  GroupedCall result;
  SOL_NN_TRY(checkCount(in, 3, 3));
  SOL_NN_ASSIGN(result.planes, describePlanes(in[0], 2));
  SOL_NN_TRY(checkPerChannel(in, 1, 3, result.planes));
  result.groups = result.planes.channels;
  if (grouped) {
    SOL_NN_ASSIGN(result.groups, call.attributes.integer("num_groups", 0));
    if (result.groups <= 0 || result.planes.channels % result.groups)
      return invalid("attribute `num_groups` is ", result.groups,
                     ", must divide the ", result.planes.channels, " channels");
  }
  SOL_NN_ASSIGN(result.epsilon, call.attributes.real("epsilon", 1e-5f));
  return result;
}

template <typename T>
absl::Status runGroups(const GroupedCall &call, KernelContext &context,
                       Inputs in, Tensor &out) {
  int64_t pixels = call.planes.pixels;
  int64_t perGroup = call.groups ? call.planes.channels / call.groups : 0;
  int64_t length = perGroup * pixels;
  return forRows<T>(
      context, call.planes.images * call.groups, length, 0, [](T *) {},
      [&](int64_t row, T *own) {
        loadRow(in[0], row * length, length, own);
        standardizeRow(own, length, T(call.epsilon));
        roundThrough(in[0].type, own, length);
        for (int64_t c = 0; c < perGroup; ++c) {
          int64_t channel = row % call.groups * perGroup + c;
          T scale, bias;
          loadRow(in[1], channel, 1, &scale);
          loadRow(in[2], channel, 1, &bias);
          for (int64_t i = 0; i < pixels; ++i)
            own[c * pixels + i] = own[c * pixels + i] * scale + bias;
        }
        storeRow(own, length, out, row * length);
      });
}

absl::Status inferInstance(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(describeGrouped(call, in, false).status());
  return setOutput(out, 0, in[0].type, in[0].dims);
}
absl::Status inferGroup(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_TRY(describeGrouped(call, in, true).status());
  return setOutput(out, 0, in[0].type, in[0].dims);
}
absl::Status runGrouped(const KernelCall &call, KernelContext &context,
                        Inputs in, Outputs out, bool grouped) {
  SOL_NN_ASSIGN(GroupedCall described, describeGrouped(call, in, grouped));
  if (in[0].type == DType::F64)
    return runGroups<double>(described, context, in, out[0]);
  return runGroups<float>(described, context, in, out[0]);
}
absl::Status runInstance(const KernelCall &call, KernelContext &context,
                         Inputs in, Outputs out) {
  return runGrouped(call, context, in, out, false);
}
absl::Status runGroup(const KernelCall &call, KernelContext &context, Inputs in,
                      Outputs out) {
  return runGrouped(call, context, in, out, true);
}

//===----------------------------------------------------------------------===//
// BatchNormalization
//===----------------------------------------------------------------------===//

struct BatchCall {
  Planes planes;
  float epsilon = 0, momentum = 0;
  bool training = false;
};

absl::StatusOr<BatchCall> describeBatch(const KernelCall &call, Inputs in) {
  BatchCall result;
  SOL_NN_TRY(checkCount(in, 5, 5));
  SOL_NN_ASSIGN(result.planes, describePlanes(in[0], 1));
  SOL_NN_TRY(checkPerChannel(in, 1, 5, result.planes));
  SOL_NN_ASSIGN(result.epsilon, call.attributes.real("epsilon", 1e-5f));
  SOL_NN_ASSIGN(result.momentum, call.attributes.real("momentum", 0.9f));
  SOL_NN_ASSIGN(int64_t training, call.attributes.integer("training_mode", 0));
  result.training = training != 0;
  return result;
}

absl::Status inferBatch(const KernelCall &call, Inputs in, Outputs out) {
  SOL_NN_ASSIGN(BatchCall batch, describeBatch(call, in));
  SOL_NN_TRY(setOutput(out, 0, in[0].type, in[0].dims));
  if (!batch.training && (outputAt(out, 1) || outputAt(out, 2)))
    return invalid("running statistics are given only where attribute "
                   "`training_mode` is 1");
  SOL_NN_TRY(setOutput(out, 1, in[3].type, in[3].dims));
  return setOutput(out, 2, in[4].type, in[4].dims);
}

/// Mean and variance of one channel over images and pixels.
template <typename T>
void channelMoments(const BatchCall &call, const Tensor &x, int64_t channel,
                    T *own, T &mean, T &variance) {
  const Planes &planes = call.planes;
  T count = static_cast<T>(planes.images * planes.pixels), sum = 0, square = 0;
  auto overPlanes = [&](auto term) {
    for (int64_t n = 0; n < planes.images; ++n) {
      loadRow(x, (n * planes.channels + channel) * planes.pixels, planes.pixels,
              own);
      term();
    }
  };
  overPlanes([&] {
    sum += laneSum<T>(planes.pixels, [&](int64_t i) { return own[i]; });
  });
  mean = sum / count;
  overPlanes([&] {
    square += laneSum<T>(planes.pixels, [&](int64_t i) {
      return (own[i] - mean) * (own[i] - mean);
    });
  });
  variance = square / count;
}

template <typename T>
absl::Status runChannels(const BatchCall &call, KernelContext &context,
                         Inputs in, Outputs out) {
  const Planes &planes = call.planes;
  return forRows<T>(
      context, planes.channels, planes.pixels, 0, [](T *) {},
      [&](int64_t channel, T *own) {
        T scale, bias, mean, variance;
        loadRow(in[1], channel, 1, &scale);
        loadRow(in[2], channel, 1, &bias);
        loadRow(in[3], channel, 1, &mean);
        loadRow(in[4], channel, 1, &variance);
        if (call.training) {
          T before = mean, spread = variance, kept = T(call.momentum);
          channelMoments(call, in[0], channel, own, mean, variance);
          T running[2] = {before * kept + mean * (1 - kept),
                          spread * kept + variance * (1 - kept)};
          for (size_t i : {0, 1})
            if (Tensor *target = outputAt(out, i + 1))
              storeRow(running + i, 1, *target, channel);
        }
        T root = std::sqrt(variance + T(call.epsilon));
        for (int64_t n = 0; n < planes.images; ++n) {
          int64_t first = (n * planes.channels + channel) * planes.pixels;
          loadRow(in[0], first, planes.pixels, own);
          for (int64_t i = 0; i < planes.pixels; ++i)
            own[i] = (own[i] - mean) / root * scale + bias;
          storeRow(own, planes.pixels, out[0], first);
        }
      });
}

absl::Status runBatch(const KernelCall &call, KernelContext &context, Inputs in,
                      Outputs out) {
  SOL_NN_ASSIGN(BatchCall batch, describeBatch(call, in));
  if (in[0].type == DType::F64)
    return runChannels<double>(batch, context, in, out);
  return runChannels<float>(batch, context, in, out);
}

} // namespace

void registerChannelNormKernels() {
  registerKernel({"onnx.BatchNormalization", nullptr, inferBatch, runBatch});
  registerKernel(
      {"onnx.InstanceNormalization", nullptr, inferInstance, runInstance});
  registerKernel({"onnx.GroupNormalization", nullptr, inferGroup, runGroup});
}

} // namespace sol::nn
