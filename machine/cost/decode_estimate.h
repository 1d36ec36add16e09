//===- decode_estimate.h - a token of a decoder, estimated by shape ------===//
//
// What one token takes on wafers that are cut into equal rectangles, a layer on
// each: the structure of the machine's published results, from shapes alone. A
// plan is costed from its own program; this is what the program is compared
// with, and a start for placement. One layer on a rectangle of w x h PEs: the
// activations lie along the columns or the rows in turn, each product reduces
// over the one and leaves its result along the other.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_COST_DECODE_ESTIMATE_H
#define SOL_MACHINE_COST_DECODE_ESTIMATE_H

#include "machine/cost/collective_model.h"
#include "machine/cost/decoder_shape.h"
#include "machine/cost/local_work.h"

#include <string>
#include <vector>

namespace sol {

/// How numbers of a decoder are held, and how much context it has.
struct DecodeSetting {
  NumberFormat weights = NumberFormat::Float16;
  NumberFormat activations = NumberFormat::Float16; ///< and the cache
  int64_t context = 4096;                           ///< positions in the cache
};

/// Where the cycles of a piece of work go.
struct WorkParts {
  int64_t arithmetic = 0; ///< products and vectors that lanes decide
  int64_t memory = 0;     ///< those that memory decides
  CycleParts fabric;      ///< collectives; starts are those of local work too

  int64_t cycles() const { return arithmetic + memory + fabric.cycles(); }
  /// The largest part's name: arithmetic, SRAM, words, hops, ramps or starts.
  std::string_view binding() const;
  WorkParts &operator+=(const WorkParts &other);
};

/// One dependent step of a layer.
struct StepEstimate {
  std::string name;
  WorkParts parts;
};

/// The steps of one layer for one token on width x height PEs.
std::vector<StepEstimate> estimateLayer(const Target &target,
                                        CollectiveModel &collectives,
                                        const DecoderShape &shape,
                                        const DecodeSetting &setting,
                                        int64_t width, int64_t height);

struct DecodeEstimate {
  int64_t wafers = 0, layersPerWafer = 0;
  int64_t width = 0, height = 0; ///< of a layer's rectangle
  double usedBytesPerPe = 0;     ///< weights and cache
  bool fits = false;             ///< in the memory that a plan may use
  WorkParts layer, head;
  double linkSeconds = 0, hostSeconds = 0, tokenSeconds = 0;

  double tokensPerSecond() const { return 1 / tokenSeconds; }
};

/// The fastest equal rectangles for `shape` on that many wafers.
DecodeEstimate estimateDecode(const Target &target,
                              CollectiveModel &collectives,
                              const DecoderShape &shape,
                              const DecodeSetting &setting, int64_t wafers);

} // namespace sol

#endif // SOL_MACHINE_COST_DECODE_ESTIMATE_H
