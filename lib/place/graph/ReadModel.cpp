//===- ReadModel.cpp - a decoder's graph from its IR ----------------------===//
//
// See ReadModel.h.
//
//===----------------------------------------------------------------------===//
#include "lib/place/graph/ReadModel.h"

#include "lib/place/graph/BlockBuilder.h"
#include "lib/place/graph/StepReader.h"

using namespace mlir;

namespace sol::place {

FailureOr<ReadModel> readModel(func::FuncOp function) {
  FailureOr<StepList> list = StepReader(function).read();
  if (failed(list))
    return failure();
  ReadModel read;
  ModelGraph &graph = read.graph;
  graph.name = function.getName().str();
  auto fail = [&](const absl::Status &status) {
    return function.emitOpError()
           << "can't be placed: "
           << StringRef(status.message().data(), status.message().size());
  };
  if (list->steps.empty() || list->steps.front().kind != StepKind::Lookup)
    return fail(absl::InvalidArgumentError(
        "its tokens are not looked up in a table first"));
  graph.width = list->steps.front().n;
  graph.vocabulary = list->steps.back().n;
  absl::StatusOr<BlockList> blocks = makeBlocks(list->steps, graph.width);
  if (!blocks.ok())
    return fail(blocks.status());
  graph.blocks = std::move(blocks->blocks);
  for (const Block &block : graph.blocks)
    graph.layers = std::max(graph.layers, block.layer + 1);
  if (absl::Status status = graph.check(); !status.ok())
    return fail(status);
  for (const auto &[op, step] : list->stepOf)
    read.blockOf[op] = blocks->blockOf[step];
  return read;
}

} // namespace sol::place
