//===- NodeOrder.cpp - an order in which nodes can be imported ------------===//
//
// Depth-first search without recursion: graphs have chains of many thousand
// nodes.
//
//===----------------------------------------------------------------------===//
#include "lib/import/NodeOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace sol {
namespace {
using UseName = llvm::function_ref<void(llvm::StringRef)>;

void namesUsedByNode(const ::onnx::NodeProto &node, UseName use);

/// Names that a graph takes from outside of it.
void namesUsedByGraph(const ::onnx::GraphProto &graph, UseName use) {
  llvm::StringSet<> own;
  for (const auto &input : graph.input())
    own.insert(input.name());
  for (const auto &tensor : graph.initializer())
    own.insert(tensor.name());
  for (const auto &node : graph.node())
    for (const auto &output : node.output())
      own.insert(output);
  auto useOuter = [&](llvm::StringRef name) {
    if (!own.contains(name))
      use(name);
  };
  for (const auto &node : graph.node())
    namesUsedByNode(node, useOuter);
  for (const auto &output : graph.output())
    useOuter(output.name());
}

void namesUsedByNode(const ::onnx::NodeProto &node, UseName use) {
  for (const auto &input : node.input())
    if (!input.empty())
      use(input);
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g())
      namesUsedByGraph(attribute.g(), use);
    for (const auto &graph : attribute.graphs())
      namesUsedByGraph(graph, use);
  }
}

/// One depth-first search over the nodes that each node uses.
class Search {
public:
  explicit Search(std::vector<std::vector<int>> uses)
      : uses(std::move(uses)), state(this->uses.size(), State::New) {}

  NodeOrder run() {
    for (size_t node = 0; node < uses.size(); ++node)
      if (state[node] == State::New)
        visit(static_cast<int>(node));
    return std::move(result);
  }

private:
  enum class State : char { New, Open, Done };
  struct Frame {
    int node;
    size_t next;
  };

  void visit(int root) {
    path.push_back({root, 0});
    state[root] = State::Open;
    while (!path.empty()) {
      Frame &frame = path.back();
      if (frame.next == uses[frame.node].size()) {
        state[frame.node] = State::Done;
        result.order.push_back(frame.node);
        path.pop_back();
        continue;
      }
      int used = uses[frame.node][frame.next++];
      if (state[used] == State::New) {
        state[used] = State::Open;
        path.push_back({used, 0});
      } else if (state[used] == State::Open) {
        noteCycle(used);
      }
    }
  }

  void noteCycle(int first) {
    std::vector<int> cycle;
    for (const Frame &frame : llvm::reverse(path)) {
      cycle.push_back(frame.node);
      if (frame.node == first)
        break;
    }
    result.cycles.push_back(std::move(cycle));
  }

  std::vector<std::vector<int>> uses;
  std::vector<State> state;
  std::vector<Frame> path;
  NodeOrder result;
};
} // namespace

NodeOrder orderNodes(const Nodes &nodes) {
  llvm::StringMap<int> producers;
  for (int index = 0; index < nodes.size(); ++index)
    for (const auto &output : nodes[index].output())
      if (!output.empty())
        producers.try_emplace(output, index);
  std::vector<std::vector<int>> uses(nodes.size());
  for (int index = 0; index < nodes.size(); ++index)
    namesUsedByNode(nodes[index], [&](llvm::StringRef name) {
      auto found = producers.find(name);
      if (found != producers.end())
        uses[index].push_back(found->second);
    });
  return Search(std::move(uses)).run();
}

} // namespace sol
