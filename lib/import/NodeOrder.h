//===- NodeOrder.h - an order in which nodes can be imported --------------===//
//
// Nodes of a graph after the nodes whose results they use.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_LIB_IMPORT_NODEORDER_H
#define SOL_LIB_IMPORT_NODEORDER_H

#include "lib/import/onnx.pb.h"

#include <vector>

namespace sol {

using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// The order of a graph's nodes and the cycles that stand in its way.
struct NodeOrder {
  std::vector<int> order; ///< all nodes; a sorted graph stays as it is
  std::vector<std::vector<int>>
      cycles; ///< each: nodes that use each other's results
};

/// Orders nodes, counting what the graphs in their attributes use.
NodeOrder orderNodes(const Nodes &nodes);

} // namespace sol

#endif // SOL_LIB_IMPORT_NODEORDER_H
