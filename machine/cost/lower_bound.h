//===- lower_bound.h - what no plan of a decoder beats -------------------===//
//
// A bound on the time of one token that depends on the model, its formats, its
// context, the target and the number of wafers, and on no plan. Each dependent
// step takes at least the least, over all rectangles of a wafer, of the largest
// of its arithmetic, its reads and its hops; each step may have the rectangle
// that suits it alone. Ramps, starts, words that follow each other and moves
// between steps are left out, so it is loose.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_COST_LOWER_BOUND_H
#define SOL_MACHINE_COST_LOWER_BOUND_H

#include "machine/cost/decode_estimate.h"

namespace sol {

/// A step as the bound sees it.
struct BoundStep {
  std::string name;
  double macs = 0;      ///< multiply-adds in all
  double readBytes = 0; ///< weights or cache, read once in all
  double rate = 1;      ///< most multiply-adds of a PE in a cycle
  /// Elements that are summed: they lie along a line of at most as many PEs. 0
  /// for steps without a sum.
  int64_t summed = 0;
  int64_t sums = 1;       ///< such sums; they lie across the line
  bool wholeLine = false; ///< every PE of the line needs the sum
  int64_t wafers = 1;     ///< over which the step may be split
};

/// min over s, u, t of max(macs / (s t rate wafers), readBytes / (s t ports
/// wafers), hops(s, u)): s PEs along the sum and u across share one sum, s u up
/// to `summed`; t PEs across in all, up to `sums` u; s x t a rectangle of the
/// wafer in either direction. hops(s, u) is floor(s / 2) + floor(u / 2), twice
/// if all that share a sum need it. In cycles.
double boundOfStep(const Target &target, const BoundStep &step);

/// The dependent steps of one layer, and those of the output matrix. Experts
/// and vocabulary may be split over all wafers, and so may cache positions.
std::vector<BoundStep> boundLayer(const Target &target,
                                  const DecoderShape &shape,
                                  const DecodeSetting &setting, int64_t wafers);
std::vector<BoundStep> boundHead(const Target &target,
                                 const DecoderShape &shape,
                                 const DecodeSetting &setting, int64_t wafers);

/// Seconds of one token: all layers' steps, the head's, the latency of the
/// crossings that `wafers` wafers can't avoid if each holds a part of the
/// model, and the host.
double boundDecodeSeconds(const Target &target, const DecoderShape &shape,
                          const DecodeSetting &setting, int64_t wafers);

} // namespace sol

#endif // SOL_MACHINE_COST_LOWER_BOUND_H
