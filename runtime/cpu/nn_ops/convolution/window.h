//===- window.h - where a sliding window lies in its input ----------------===//
//
// Sizes, strides, dilations and padding of convolutions and pools, for any
// number of spatial axes, checked once.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_CPU_NN_OPS_CONVOLUTION_WINDOW_H
#define SOL_RUNTIME_CPU_NN_OPS_CONVOLUTION_WINDOW_H

#include "runtime/cpu/nn_ops/operands.h"

namespace sol::nn {

struct Window {
  Dims input, output, kernel, strides, dilations, before, after;

  /// Reads strides, dilations, pads, auto_pad and ceil_mode; `kernel` and
  /// `input` are spatial sizes. Sets `output`.
  static absl::StatusOr<Window> create(const KernelCall &call,
                                       absl::Span<const int64_t> input,
                                       absl::Span<const int64_t> kernel);
  /// The same for ConvTranspose, where `input` is what is spread out.
  static absl::StatusOr<Window>
  createTransposed(const KernelCall &call, absl::Span<const int64_t> input,
                   absl::Span<const int64_t> kernel);

  size_t rank() const { return input.size(); }
  int64_t inputPixels() const { return elementCount(input); }
  int64_t outputPixels() const { return elementCount(output); }
  int64_t kernelPixels() const { return elementCount(kernel); }
  /// Pixel of the input under kernel position `position` for output pixel
  /// `pixel`, or -1 where that is padding.
  int64_t inputPixel(int64_t position, int64_t pixel) const;
  /// Pixel of the input that kernel position `position` spreads to output pixel
  /// `pixel` of a transposed convolution, or -1.
  int64_t spreadPixel(int64_t position, int64_t pixel) const;
};

} // namespace sol::nn

#endif // SOL_RUNTIME_CPU_NN_OPS_CONVOLUTION_WINDOW_H
