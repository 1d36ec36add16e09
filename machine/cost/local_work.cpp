//===- local_work.cpp - what a PE computes on its own --------------------===//
//
// See local_work.h for formulas and sources.
//
//===----------------------------------------------------------------------===//
#include "machine/cost/local_work.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sol {
namespace {

/// Operands of a block that registers hold, of a kind.
constexpr int64_t blockSide = 4;

double lanesOf(const Target &target, NumberFormat format) {
  switch (format) {
  case NumberFormat::Float32:
    return target.float32Macs;
  case NumberFormat::Float16:
    return target.float16Macs;
  case NumberFormat::Int8:
    break;
  }
  return target.int8Macs;
}

int64_t cyclesAt(double work, double rate) {
  return static_cast<int64_t>(std::ceil(work / rate - 1e-9));
}

} // namespace

int64_t bytesOf(NumberFormat format) {
  switch (format) {
  case NumberFormat::Float32:
    return 4;
  case NumberFormat::Float16:
    return 2;
  case NumberFormat::Int8:
    break;
  }
  return 1;
}

std::string_view numberFormatName(NumberFormat format) {
  switch (format) {
  case NumberFormat::Float32:
    return "float32";
  case NumberFormat::Float16:
    return "float16";
  case NumberFormat::Int8:
    break;
  }
  return "int8";
}

int64_t wordsOf(const Target &target, NumberFormat format, int64_t elements) {
  return (elements * bytesOf(format) + target.wordBytes - 1) / target.wordBytes;
}

double laneRate(const Target &target, NumberFormat weights,
                NumberFormat activations) {
  NumberFormat wider =
      bytesOf(weights) > bytesOf(activations) ? weights : activations;
  return lanesOf(target, wider) * target.laneFraction;
}

double memoryRate(const Target &target, const LocalProduct &product) {
  // A matrix-vector product keeps nothing: each weight is new, and so is each
  // element of the vector for the sum in question.
  int64_t kept = product.vectors == 1
                     ? 1
                     : std::min({product.vectors, product.outputs, blockSide});
  double reads = static_cast<double>(bytesOf(product.weights) +
                                     bytesOf(product.activations)) /
                 static_cast<double>(kept);
  double writes = 0;
  if (product.accumulators != Accumulators::Registers) {
    // The element of the vector stays, and the sums come and go.
    double sum = product.accumulators == Accumulators::MemoryFloat32 ? 4 : 2;
    reads = static_cast<double>(bytesOf(product.weights)) + sum;
    writes = sum;
  }
  double rate = std::min(target.readBytesPerCycle / reads,
                         target.trafficBytesPerCycle / (reads + writes));
  return writes > 0 ? std::min(rate, target.writeBytesPerCycle / writes) : rate;
}

LocalCost productCycles(const Target &target, const LocalProduct &product) {
  double macs = static_cast<double>(product.inputs) *
                static_cast<double>(product.outputs) *
                static_cast<double>(product.vectors);
  double lanes = laneRate(target, product.weights, product.activations);
  double memory = memoryRate(target, product);
  return {cyclesAt(macs, std::min(lanes, memory)),
          memory < lanes ? LocalLimit::Memory : LocalLimit::Arithmetic};
}

LocalCost vectorCycles(const Target &target, NumberFormat format,
                       int64_t elements, int64_t operations, int64_t reads,
                       int64_t writes) {
  double count = static_cast<double>(elements);
  double bytes = count * static_cast<double>(bytesOf(format));
  double arithmetic = count * static_cast<double>(operations) /
                      (lanesOf(target, format) * target.laneFraction);
  double memory =
      std::max({bytes * static_cast<double>(reads) / target.readBytesPerCycle,
                bytes * static_cast<double>(writes) / target.writeBytesPerCycle,
                bytes * static_cast<double>(reads + writes) /
                    target.trafficBytesPerCycle});
  return {cyclesAt(std::max(arithmetic, memory), 1),
          memory > arithmetic ? LocalLimit::Memory : LocalLimit::Arithmetic};
}

} // namespace sol
