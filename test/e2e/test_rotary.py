"""Rotary embeddings written out, in the ways of exporters: found, and the numbers are those of the graph.

The reference is onnx's own evaluator. Look-alikes that differ in one detail are not found, and have the same numbers, too.
"""
import json

import numpy
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
import pytest

import program
import tensors

BATCH, STEP, HEADS, SIZE, PAIRS = 2, 5, 3, 8, 4
LAST = 2**63 - 1


class Graph:
    """A graph under construction: `op` adds a node and gives its output, `keep` an initializer."""

    def __init__(self, exchanged=False, size=SIZE):
        self.nodes, self.initializers = [], []
        self.exchanged = exchanged
        sizes = ["batch", "step", HEADS, size] if exchanged else ["batch", HEADS, "step", size]
        self.inputs = {"x": (onnx.TensorProto.FLOAT, sizes), "at": (onnx.TensorProto.INT64, ["batch", "step"])}
        random = numpy.random.default_rng(5)
        shape = (BATCH, STEP, HEADS, size) if exchanged else (BATCH, HEADS, STEP, size)
        self.feeds = {"x": random.standard_normal(shape).astype(numpy.float32),
                      "at": random.integers(0, 8, (BATCH, STEP))}

    def op(self, kind, *inputs, **attributes):
        names = [name if isinstance(name, str) else self.keep(name) for name in inputs]
        self.nodes.append(helper.make_node(kind, names, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def keep(self, array):
        array = numpy.asarray(array)
        self.initializers.append(numpy_helper.from_array(array, f"k{len(self.initializers)}"))
        return self.initializers[-1].name

    def model(self, result):
        given = [helper.make_tensor_value_info(name, kind, sizes) for name, (kind, sizes) in self.inputs.items()]
        self.nodes.append(helper.make_node("Identity", [result], ["y"]))
        graph = helper.make_graph(self.nodes, "rotary", given,
                                  [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [None] * 4)],
                                  self.initializers)
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])
        onnx.checker.check_model(model)
        return model

    def cut(self, x, start, end, step=1):
        return self.op("Slice", x, [start], [end], [-1], [step])

    def with_heads(self, table):
        """[batch, step, n] with an axis for heads."""
        return self.op("Unsqueeze", table, [2 if self.exchanged else 1])

    def angles(self, positions="at"):
        """[batch, step, PAIRS]"""
        column = self.op("Cast", self.op("Unsqueeze", positions, [-1]), to=onnx.TensorProto.FLOAT)
        return self.op("Mul", column, (0.1 + numpy.arange(PAIRS) / 7).astype(numpy.float32))

    def doubled(self, value, neighbours, rank=3):
        if not neighbours:
            return self.op("Concat", value, value, axis=-1)
        repeated = self.op("Tile", self.op("Unsqueeze", value, [-1]), [1] * rank + [2])
        return self.op("Reshape", repeated, [0] * (rank - 1) + [-1])


def evens_and_odds(graph, x):
    return graph.cut(x, 0, LAST, 2), graph.cut(x, 1, LAST, 2)


def chosen_pairs(graph, x):
    pairs = graph.op("Reshape", x, [0, 0, 0, -1, 2])
    return [graph.op("Gather", pairs, numpy.int64(index), axis=-1) for index in (0, 1)]


def halves(graph, x):
    return graph.cut(x, 0, PAIRS), graph.cut(x, PAIRS, LAST)


def joined(graph, first, second, neighbours):
    if not neighbours:
        return graph.op("Concat", first, second, axis=-1)
    pairs = graph.op("Concat", graph.op("Unsqueeze", first, [-1]), graph.op("Unsqueeze", second, [-1]), axis=-1)
    return graph.op("Reshape", pairs, [0, 0, 0, -1])


def by_sum(graph, x, cos, sin, split=evens_and_odds):
    """x * cos + joined(-second, first) * sin"""
    first, second = split(graph, x)
    turned = joined(graph, graph.op("Neg", second), first, split is not halves)
    return graph.op("Add", graph.op("Mul", x, cos), graph.op("Mul", turned, sin))


def by_parts(graph, x, cos, sin, split=evens_and_odds, cos_of_second=None):
    """joined(first * cos - second * sin, second * cos + first * sin)"""
    first, second = split(graph, x)
    a = graph.op("Sub", graph.op("Mul", first, cos), graph.op("Mul", second, sin))
    b = graph.op("Add", graph.op("Mul", second, cos_of_second or cos), graph.op("Mul", first, sin))
    return joined(graph, a, b, split is not halves)


def sum_case(split, exchanged=False, double_last=False):
    """Angles are doubled before their cosines are taken, or each table afterwards."""
    graph = Graph(exchanged)
    neighbours = split is not halves
    angles = graph.angles()
    if double_last:
        tables = [graph.doubled(graph.with_heads(graph.op(kind, angles)), neighbours, 4) for kind in ("Cos", "Sin")]
    else:
        angles = graph.doubled(angles, neighbours)
        tables = [graph.with_heads(graph.op("Mul", graph.op(kind, angles), numpy.float32(0.9))) for kind in ("Cos", "Sin")]
    result = by_sum(graph, "x", *tables, split)
    return graph, graph.op("Transpose", result, perm=[0, 2, 1, 3]) if exchanged else result


def parts_case(split):
    graph = Graph()
    angles = graph.with_heads(graph.angles())
    return graph, by_parts(graph, "x", graph.op("Cos", angles), graph.op("Sin", angles), split)


def passing_case(rotate, exchanged=False, perm=(0, 2, 1, 3)):
    """Two entries of each head pass by."""
    graph = Graph(exchanged, SIZE + 2)
    angles = graph.angles()
    front, rest = graph.cut("x", 0, SIZE), graph.cut("x", SIZE, LAST)
    tables = [graph.with_heads(graph.op(kind, graph.doubled(angles, True) if rotate is by_sum else angles))
              for kind in ("Cos", "Sin")]
    result = graph.op("Concat", rotate(graph, front, *tables), rest, axis=-1)
    return graph, graph.op("Transpose", result, perm=list(perm)) if exchanged else result


def table_case(split, rows, folded=False, spoiled=False, other_rows=False):
    """Rows of tables that repeat each angle; `rows` says whether the tables are small."""
    graph = Graph()
    angles = numpy.outer(numpy.arange(rows), 0.1 + numpy.arange(PAIRS) / 7).astype(numpy.float32)
    tables = []
    for function in (numpy.cos, numpy.sin):
        if folded:
            table = graph.doubled(graph.keep(function(angles)), split is not halves, 2)
        else:
            table = numpy.repeat(function(angles), 2, -1) if split is not halves else numpy.tile(function(angles), 2)
            if spoiled:
                table[3, 5] += 0.5
            table = graph.keep(table)
        positions = "at" if function is numpy.cos or not other_rows else graph.op("Sub", numpy.int64(7), "at")
        tables.append(graph.with_heads(graph.op("Gather", table, positions)))
    return graph, by_sum(graph, "x", *tables, split)


FOUND = {
    "sum-neighbours": lambda: sum_case(evens_and_odds),
    "sum-neighbours-doubled-last": lambda: sum_case(evens_and_odds, double_last=True),
    "sum-chosen": lambda: sum_case(chosen_pairs),
    "sum-halves": lambda: sum_case(halves),
    "parts-neighbours": lambda: parts_case(evens_and_odds),
    "parts-chosen": lambda: parts_case(chosen_pairs),
    "parts-halves": lambda: parts_case(halves),
    "passing-sum": lambda: passing_case(by_sum),
    "passing-parts": lambda: passing_case(by_parts),
    "exchanged": lambda: sum_case(evens_and_odds, exchanged=True),
    "exchanged-doubled-last": lambda: sum_case(evens_and_odds, exchanged=True, double_last=True),
    "exchanged-halves": lambda: sum_case(halves, exchanged=True),
    "exchanged-passing": lambda: passing_case(by_sum, exchanged=True),
    "exchanged-passing-keys": lambda: passing_case(by_parts, exchanged=True, perm=(0, 2, 3, 1)),
    "table-halves": lambda: table_case(halves, 16),
    "table-neighbours": lambda: table_case(evens_and_odds, 16),
    "table-folded-halves": lambda: table_case(halves, 300, folded=True),
    "table-folded-neighbours": lambda: table_case(evens_and_odds, 300, folded=True),
    # Not an embedding of one position, but what nn.rotary computes all the same.
    "table-sines-of-other-rows": lambda: table_case(halves, 16, other_rows=True),
}


def swapped(graph, x):
    return reversed(evens_and_odds(graph, x))


def halves_as_neighbours(graph, x):
    return halves(graph, x)


def cosines_of_other_positions():
    graph = Graph()
    here = graph.with_heads(graph.angles())
    there = graph.op("Cos", graph.with_heads(graph.angles(graph.op("Sub", numpy.int64(9), "at"))))
    return graph, by_parts(graph, "x", graph.op("Cos", here), graph.op("Sin", here), cos_of_second=there)


def sign_on_the_other():
    graph = Graph()
    angles = graph.with_heads(graph.doubled(graph.angles(), True))
    first, second = evens_and_odds(graph, "x")
    turned = joined(graph, second, graph.op("Neg", first), True)
    return graph, graph.op("Add", graph.op("Mul", "x", graph.op("Cos", angles)), graph.op("Mul", turned, graph.op("Sin", angles)))


def doubled_otherwise(split):
    """Tables double the other way than entries are paired."""
    graph = Graph()
    angles = graph.with_heads(graph.doubled(graph.angles(), split is halves))
    return graph, by_sum(graph, "x", graph.op("Cos", angles), graph.op("Sin", angles), split)


LOOK_ALIKES = {
    "pairs-swapped": lambda: sum_case(swapped),
    "parts-swapped": lambda: parts_case(swapped),
    "halves-joined-in-turn": lambda: sum_case(halves_as_neighbours),
    "cosines-of-other-positions": cosines_of_other_positions,
    "sign-on-the-other": sign_on_the_other,
    "neighbours-doubled-as-halves": lambda: doubled_otherwise(evens_and_odds),
    "halves-doubled-as-neighbours": lambda: doubled_otherwise(halves),
    "table-spoiled-halves": lambda: table_case(halves, 16, spoiled=True),
    "table-spoiled-neighbours": lambda: table_case(evens_and_odds, 16, spoiled=True),
    # Weights are not read.
    "table-of-a-weight": lambda: table_case(halves, 300),
}


def check(case, found: int, tools, folder):
    graph, result = case()
    model = graph.model(result)
    onnx.save(model, folder / "model.onnx")
    for index, (name, array) in enumerate(graph.feeds.items()):
        tensors.save(folder / f"input_{index}.pb", array, name)
    want, = ReferenceEvaluator(model).run(None, graph.feeds)

    meaning = program.succeed([tools / "sol-compile", folder / "model.onnx", "--stop-after=nn"]).stdout
    (folder / "nn.mlir").write_text(meaning)
    counts = program.succeed([tools / "sol-opt", folder / "nn.mlir", "--nn-print-recognized", "-o", "/dev/null"]).stdout
    assert json.loads(counts)["rotary"] == found, meaning
    if found:
        assert "onnx.Mul" not in meaning.split("nn.rotary")[1], meaning

    for flags in [(), ("--no-recognition",)]:
        plan = folder / "plan.bin"
        program.compile_model(tools, folder / "model.onnx", plan, *flags)
        program.succeed([tools / "sol-run", plan, "--inputs", folder, "--outputs", folder / "out", "--quiet"])
        got = tensors.load(folder / "out/output_0.pb")
        assert not (fault := tensors.differ(got, want, 1e-5, 1e-6)), f"{flags}: {fault}"


@pytest.mark.parametrize("name", FOUND)
def test_found(name, tools, tmp_path):
    check(FOUND[name], 1, tools, tmp_path)


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alikes_stay(name, tools, tmp_path):
    check(LOOK_ALIKES[name], 0, tools, tmp_path)
