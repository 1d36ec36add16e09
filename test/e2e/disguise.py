"""The same graph under other names and in another order: what a compiler that goes by data flow can't tell apart.

Renames every node, value, input and output, in subgraphs too, and shuffles the nodes into another topological order.
"""
import random

import onnx


def captured_names(graph: onnx.GraphProto) -> set:
    """Values that a subgraph takes from outside."""
    known = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    used = set()
    for node in graph.node:
        used |= {name for name in node.input if name} | node_captures(node)
        known |= set(node.output)
    return (used | {value.name for value in graph.output}) - known


def node_captures(node: onnx.NodeProto) -> set:
    names = set()
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            names |= captured_names(attribute.g)
    return names


def shuffle(graph: onnx.GraphProto, source: random.Random):
    waiting = list(graph.node)
    produced = {name for node in waiting for name in node.output if name}
    needs = {id(node): [*node.input, *node_captures(node)] for node in waiting}
    ordered, done = [], set()
    while waiting:
        ready = [node for node in waiting
                 if all(name in done or name not in produced for name in needs[id(node)])]
        node = source.choice(ready)
        waiting = [other for other in waiting if other is not node]
        ordered.append(node)
        done.update(node.output)
    for node in ordered:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                shuffle(attribute.g, source)
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in ordered]
    del graph.node[:]
    graph.node.extend(copies)


class Renamer:
    def __init__(self):
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def rename(self, graph: onnx.GraphProto, outer: dict):
        """`outer` maps the names that are visible here from outside."""
        names = dict(outer)
        for item in [*graph.input, *graph.initializer]:
            if item.name not in names or names[item.name] is outer.get(item.name):
                names[item.name] = self.fresh()
        for node in graph.node:
            for output in node.output:
                if output:
                    names[output] = self.fresh()
        for item in [*graph.input, *graph.initializer, *graph.output, *graph.value_info]:
            item.name = names.get(item.name, item.name)
        for node in graph.node:
            node.name = self.fresh()
            node.doc_string = ""
            del node.metadata_props[:]
            for index, name in enumerate(node.input):
                node.input[index] = names.get(name, name)
            for index, name in enumerate(node.output):
                node.output[index] = names.get(name, name)
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    self.rename(attribute.g, names)


def disguise(source_path, target_path, seed: int):
    """Writes the disguised model; inputs and outputs keep their order."""
    model = onnx.load(str(source_path))
    shuffle(model.graph, random.Random(seed))
    Renamer().rename(model.graph, {})
    onnx.save(model, str(target_path))
