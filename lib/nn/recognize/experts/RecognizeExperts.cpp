//===- RecognizeExperts.cpp - mixtures of experts from their arithmetic ---===//
//
// Whatever way a mixture is written in, it becomes com.microsoft's MoE. Each
// way has a file of its own; ExpertParts.h has what they share.
//
//===----------------------------------------------------------------------===//
#include "lib/nn/Passes.h"
#include "lib/nn/recognize/experts/ExpertParts.h"

using namespace mlir;

namespace sol::nn {
#define GEN_PASS_DEF_NNRECOGNIZEEXPERTSPASS
#include "lib/nn/Passes.h.inc"

namespace recognize {
namespace {

struct RecognizeExpertsPass
    : sol::nn::impl::NnRecognizeExpertsPassBase<RecognizeExpertsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateBatchedExperts(patterns);
    populateDenseExperts(patterns);
    populateExpertLoops(patterns);
    populateGroupedExperts(patterns);
    applyRecognisers(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace recognize
} // namespace sol::nn
