"""A graph's outputs in float64: what a rounded answer should be near to.

Every floating-point tensor, constant and conversion of the graph becomes float64, holding the values that the graph stores
(a float16 weight keeps its rounding); quantized weights are dequantized. Evaluated by onnx's reference evaluator.
"""
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator

import contrib_ops

NARROW = {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16}


def widen_tensor(tensor: onnx.TensorProto):
    if tensor.data_type in NARROW:
        wide = numpy_helper.from_array(numpy_helper.to_array(tensor).astype(numpy.float64), tensor.name)
        tensor.CopyFrom(wide)


def widen_node(node: onnx.NodeProto):
    for index, name in enumerate(node.output):
        if not name:  # the evaluator would store it under "", where absent inputs are looked up
            node.output[index] = f"{node.output[0]}/unused_{index}"
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.TENSOR:
            widen_tensor(attribute.t)
        elif attribute.type == onnx.AttributeProto.GRAPH:
            widen_graph(attribute.g)
        elif attribute.name in ("to", "dtype") and attribute.i in NARROW:
            attribute.i = TensorProto.DOUBLE


def widen_graph(graph: onnx.GraphProto):
    for tensor in graph.initializer:
        widen_tensor(tensor)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type in NARROW:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in graph.node:
        widen_node(node)


class Float64Reference:
    def __init__(self, model: Path):
        proto = onnx.load(str(model))
        widen_graph(proto.graph)
        self.inputs = [value.name for value in proto.graph.input]
        self.evaluator = ReferenceEvaluator(proto, new_ops=contrib_ops.ALL)

    def outputs(self, inputs: list) -> list:
        """The outputs for one data set's inputs, both in the graph's order."""
        def wide(array):
            return array if array.dtype.kind in "biu" else array.astype(numpy.float64)

        with numpy.errstate(all="ignore"):
            feeds = {name: wide(array) for name, array in zip(self.inputs, inputs, strict=True)}
            return self.evaluator.run(None, feeds)
