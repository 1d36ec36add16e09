"""A merged decoder taken apart into the two files that exporters write as well.

The branch without a past becomes a model that takes tokens and the encoder's states and gives every present; the other one
takes pasts and gives the presents that grew. Inputs that a branch doesn't use are left out, as exporters leave them out.
"""
from pathlib import Path

import onnx


def used_names(graph) -> set:
    names = set()
    for node in graph.node:
        names.update(node.input)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                names |= used_names(attribute.g)
    return names | {output.name for output in graph.output}


def branch_model(merged, branch, drop_fixed: bool):
    """The branch as a model with the names of the merged graph's inputs and outputs."""
    graph = onnx.GraphProto(name="decoder")
    condition = [node for node in merged.graph.node if node.op_type == "If"][0]
    graph.node.extend(node for node in merged.graph.node if node is not condition)
    graph.initializer.extend([*merged.graph.initializer, *branch.initializer])
    graph.node.extend(branch.node)
    for given, output in zip(branch.output, merged.graph.output):
        if drop_fixed and ".encoder." in output.name:
            continue
        if given.name != output.name:
            graph.node.append(onnx.helper.make_node("Identity", [given.name], [output.name], name=f"give {output.name}"))
        graph.output.append(output)
    used = used_names(graph)
    graph.input.extend(value for value in merged.graph.input if value.name in used)
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return onnx.helper.make_model(graph, opset_imports=merged.opset_import, ir_version=merged.ir_version)


def split(source: Path, folder: Path) -> tuple:
    """Writes both models into `folder`; their paths, the one that begins first."""
    merged = onnx.load(source)
    condition = [node for node in merged.graph.node if node.op_type == "If"][0]
    branches = {attribute.name: attribute.g for attribute in condition.attribute}
    paths = folder / "decoder_model.onnx", folder / "decoder_with_past_model.onnx"
    onnx.save(branch_model(merged, branches["else_branch"], False), paths[0])
    onnx.save(branch_model(merged, branches["then_branch"], True), paths[1])
    return paths
