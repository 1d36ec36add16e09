"""Decoders whose past is a buffer of a fixed length that new keys and values are written into.

Three conventions, each as one small decoder: TensorScatter with Attention and its counts of keys in use, ScatterND between
transpositions as PyTorch's index_put is exported, and ScatterElements as its index_copy is. With explicit tensors they give
what ONNX's reference gives; sessions begin without a buffer and compute positions themselves.
"""
import numpy
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
import pytest

import program
import runtime_library
from runtime_library import OUT_OF_RANGE, Failure, Plan, Session
import tensors

VOCABULARY, HEADS, SIZE, CAPACITY, LAYERS = 50, 2, 4, 12, 2
WIDTH = HEADS * SIZE
TOKENS = [7, 3, 49, 0, 11, 11, 30]
RELATIVE, ABSOLUTE = 1e-4, 1e-5


class Graph:
    """Nodes under construction; every call gives the name of its result."""

    def __init__(self, seed: int):
        self.nodes, self.initializers, self.random = [], [], numpy.random.default_rng(seed)

    def weight(self, *sizes) -> str:
        return self.constant(self.random.standard_normal(sizes, dtype=numpy.float32) * 0.5)

    def constant(self, array) -> str:
        name = f"c{len(self.initializers)}"
        self.initializers.append(onnx.numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def __call__(self, kind: str, *inputs, **attributes) -> str:
        name = f"{kind}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def heads(self, value: str) -> str:
        split = self("Reshape", value, self.constant([0, 0, HEADS, SIZE]))
        return self("Transpose", split, perm=[0, 2, 1, 3])

    def products(self, query: str, keys: str, values: str, mask: str) -> str:
        turned = self("Transpose", keys, perm=[0, 1, 3, 2])
        scores = self("Mul", self("MatMul", query, turned), self.constant(numpy.float32(SIZE**-0.5)))
        weights = self("Softmax", self("Add", scores, mask), axis=-1)
        return self("MatMul", weights, values)


def tensor_scatter(graph: Graph, past: str, step: str) -> str:
    return graph("TensorScatter", past, step, "write_indices", axis=-2)


def scatter_nd(graph: Graph, past: str, step: str) -> str:
    front = [graph("Transpose", value, perm=[2, 0, 1, 3]) for value in (past, step)]
    indices = graph("Unsqueeze", "cache_position", graph.constant([-1]))
    written = graph("ScatterND", front[0], indices, front[1])
    return graph("Transpose", written, perm=[1, 2, 0, 3])


def scatter_elements(graph: Graph, past: str, step: str) -> str:
    column = graph("Unsqueeze", "cache_position", graph.constant([0, 1, 3]))
    indices = graph("Expand", column, graph("Shape", step))
    return graph("ScatterElements", past, indices, step, axis=2)


WRITES = {"TensorScatter": tensor_scatter, "ScatterND": scatter_nd, "ScatterElements": scatter_elements}


def causal_mask(graph: Graph, kind: str) -> str:
    """0 where the buffer's position is at most the query's own, a low number elsewhere; one decoder also has a mask of the
    whole buffer as an input."""
    places = graph("Range", graph.constant(numpy.int64(0)),
                   graph("Squeeze", graph("Shape", "key0", start=2, end=3)), graph.constant(numpy.int64(1)))
    seen = graph("LessOrEqual", places, graph("Unsqueeze", "cache_position", graph.constant([1])))
    if kind == "ScatterElements":
        taken = graph("Unsqueeze", graph("Cast", "attention_mask", to=TensorProto.BOOL), graph.constant([1, 2]))
        seen = graph("And", seen, taken)
    low = graph.constant(numpy.float32(numpy.finfo(numpy.float32).min))
    return graph("Where", seen, graph.constant(numpy.float32(0)), low)


def make_model(kind: str, capacity=CAPACITY) -> onnx.ModelProto:
    graph = Graph(seed=5)
    hidden = graph("Gather", graph.weight(VOCABULARY, WIDTH), "input_ids")
    by_count = kind == "TensorScatter"
    mask = None if by_count else causal_mask(graph, kind)
    presents = []
    for layer in range(LAYERS):
        query, *steps = (graph.heads(graph("MatMul", hidden, graph.weight(WIDTH, WIDTH))) for _ in range(3))
        keys, values = (WRITES[kind](graph, f"{name}{layer}", step) for name, step in zip(("key", "value"), steps))
        presents += [keys, values]
        if by_count:
            mixed = graph("Attention", query, keys, values, "", "", "", "lengths", is_causal=1)
        else:
            mixed = graph.products(query, keys, values, mask)
        flat = graph("Reshape", graph("Transpose", mixed, perm=[0, 2, 1, 3]), graph.constant([0, 0, WIDTH]))
        hidden = graph("Add", hidden, graph("MatMul", flat, graph.weight(WIDTH, WIDTH)))
    logits = graph("MatMul", hidden, graph.weight(WIDTH, VOCABULARY))
    info, buffer = helper.make_tensor_value_info, ["batch", HEADS, capacity, SIZE]
    rows = ["write_indices", "lengths"] if by_count else []
    inputs = [info("input_ids", TensorProto.INT64, ["batch", "step"])]
    inputs += [info(name, TensorProto.INT64, ["batch"]) for name in rows]
    inputs += [] if by_count else [info("cache_position", TensorProto.INT64, ["step"])]
    inputs += [info("attention_mask", TensorProto.INT64, ["batch", capacity])] if kind == "ScatterElements" else []
    names = [f"{name}{layer}" for layer in range(LAYERS) for name in ("key", "value")]
    inputs += [info(name, TensorProto.FLOAT, buffer) for name in names]
    outputs = [info("logits", TensorProto.FLOAT, ["batch", "step", VOCABULARY])]
    for name, present in zip(names, presents):
        graph.nodes.append(helper.make_node("Identity", [present], ["new_" + name]))
        outputs.append(info("new_" + name, TensorProto.FLOAT, buffer))
    logits_node = helper.make_node("Identity", [logits], ["logits"])
    made = helper.make_graph([*graph.nodes, logits_node], "decoder", inputs, outputs, graph.initializers)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)


def inputs_at(kind: str, tokens, past: int, buffers: dict) -> dict:
    rows, step = tokens.shape
    inputs = {"input_ids": tokens, **buffers}
    if kind == "TensorScatter":
        return {**inputs, "write_indices": numpy.full(rows, past), "lengths": numpy.full(rows, past + step)}
    if kind == "ScatterElements":
        inputs["attention_mask"] = numpy.tile(numpy.arange(CAPACITY) < past + step, (rows, 1)).astype(numpy.int64)
    return {**inputs, "cache_position": numpy.arange(past, past + step)}


@pytest.fixture(scope="module")
def library(build_folder):
    return runtime_library.Library(build_folder)


@pytest.fixture
def compiled(tools, tmp_path):
    def compile_kind(kind, *flags, capacity=CAPACITY):
        model = make_model(kind, capacity)
        onnx.save(model, tmp_path / "model.onnx")
        program.compile_model(tools, tmp_path / "model.onnx", tmp_path / "plan.bin", *flags)
        return model, tmp_path / "plan.bin"

    return compile_kind


def feed_in_chunks(session, tokens, chunk: int):
    return numpy.concatenate([session.feed(tokens[at : at + chunk]) for at in range(0, len(tokens), chunk)])


KINDS = pytest.mark.parametrize("kind", WRITES)


@KINDS
@pytest.mark.parametrize("flags", [(), ("--no-recognition",)], ids=["recognition", "no-recognition"])
def test_explicit_buffers(kind, flags, compiled, library):
    """Two runs, the second on what the first handed back, as the reference computes them; the first buffer is not empty."""
    model, path = compiled(kind, *flags)
    reference, random = ReferenceEvaluator(model), numpy.random.default_rng(1)
    sizes = (2, HEADS, CAPACITY, SIZE)
    names = [f"{name}{layer}" for layer in range(LAYERS) for name in ("key", "value")]
    wanted = given = {name: random.standard_normal(sizes, dtype=numpy.float32) for name in names}
    with Plan(library, path) as plan, Session(plan) as session:
        assert [port.is_state for port in plan.inputs].count(True) == (0 if flags else 2 * LAYERS)
        for past, step in ((0, 5), (5, 2)):
            tokens = random.integers(0, VOCABULARY, (2, step))
            got = session.run(inputs_at(kind, tokens, past, given))
            want = dict(zip(got, reference.run(list(got), inputs_at(kind, tokens, past, wanted))))
            for name in want:
                assert not (fault := tensors.differ(got[name], want[name], RELATIVE, ABSOLUTE)), (name, fault)
            given, wanted = ({name: values["new_" + name] for name in names} for values in (got, want))


@KINDS
@pytest.mark.parametrize("capacity", [CAPACITY, "room"], ids=["number", "symbol"])
def test_any_chunks(kind, capacity, compiled, library):
    """A session makes the buffers, of the type's capacity or the plan's context, and gives the same bits for any chunks:
    those of an explicit run on buffers of zeros. Going back leaves nothing of what was written."""
    model, path = compiled(kind, "--context", str(CAPACITY), capacity=capacity)
    with Plan(library, path) as plan:
        assert plan.context == CAPACITY
        roles = {port.name: port.role for port in plan.inputs}
        assert roles["key0"] == "buffer" and roles["input_ids"] == "tokens"
        if kind == "TensorScatter":
            assert (roles["write_indices"], roles["lengths"]) == ("offsets", "lengths")
        else:
            assert roles["cache_position"] == "positions"
        with Session(plan, 2) as session:
            whole = session.feed(TOKENS)
            for chunk in (3, 1):
                session.truncate(0)
                assert feed_in_chunks(session, TOKENS, chunk).tobytes() == whole.tobytes(), chunk
            session.truncate(4)
            session.feed([1, 2, 3, 4])
            session.truncate(4)
            assert session.feed(TOKENS[4:]).tobytes() == whole[4:].tobytes()
            buffers = {name: numpy.zeros((1, HEADS, CAPACITY, SIZE), numpy.float32)
                       for name, role in roles.items() if role == "buffer"}
            got = session.run(inputs_at(kind, numpy.asarray([TOKENS]), 0, buffers))
            assert got["logits"][0].tobytes() == whole.tobytes()
            assert not got["new_key0"][:, :, len(TOKENS) :].any() and got["new_key0"].any()
            assert session.feed(TOKENS).tobytes() == whole.tobytes()


@KINDS
def test_no_more_than_the_buffer(kind, compiled, library):
    _, path = compiled(kind)
    with Plan(library, path) as plan, Session(plan) as session:
        full = [1] * CAPACITY
        assert len(session.feed(full)) == CAPACITY
        with pytest.raises(Failure, match=f"{CAPACITY + 1} tokens is beyond the {CAPACITY}") as failure:
            session.feed([1])
        assert failure.value.code == OUT_OF_RANGE and session.length == CAPACITY
        inputs = inputs_at(kind, numpy.ones((1, 2), numpy.int64), CAPACITY - 1,
                           {port.name: numpy.zeros((1, HEADS, CAPACITY, SIZE), numpy.float32)
                            for port in plan.inputs if port.role == "buffer"})
        with pytest.raises(Failure) as failure:
            session.run(inputs)
        assert failure.value.code == OUT_OF_RANGE


@pytest.mark.parametrize("mask", [None, numpy.bool_, numpy.float32], ids=["no-mask", "booleans", "numbers"])
@pytest.mark.parametrize("attributes", [{}, {"is_causal": 1}, {"is_causal": 1, "left_window_size": 2}],
                         ids=["all", "causal", "window"])
def test_counts(mask, attributes, tools, tmp_path, library):
    """Attention with counts of keys in use, unequal and from none to all, beside a mask: what the reference gives."""
    rows, step, random = 4, 3, numpy.random.default_rng(2)
    sizes = {"query": (rows, HEADS, step, SIZE), "key": (rows, HEADS, CAPACITY, SIZE), "value": (rows, HEADS, CAPACITY, SIZE)}
    inputs = {name: random.standard_normal(shape, dtype=numpy.float32) for name, shape in sizes.items()}
    inputs["lengths"] = numpy.asarray([0, 2, 7, CAPACITY])
    if mask:
        kept = random.random((step, CAPACITY)) < 0.7
        inputs["mask"] = kept if mask is numpy.bool_ else numpy.where(kept, 0, -3e38).astype(mask)
    info = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in inputs.items()]
    node = helper.make_node("Attention", ["query", "key", "value", "mask" if mask else "", "", "", "lengths"], ["y"],
                            **attributes)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, sizes["query"])
    model = helper.make_model(helper.make_graph([node], "attention", info, [result]),
                              opset_imports=[helper.make_opsetid("", 24)], ir_version=11)
    onnx.save(model, tmp_path / "model.onnx")
    program.compile_model(tools, tmp_path / "model.onnx", tmp_path / "plan.bin")
    text = program.succeed([tools / "sol-compile", tmp_path / "model.onnx", "--stop-after=nn"]).stdout
    assert text.count("= nn.attention ") == 1
    with Plan(library, tmp_path / "plan.bin") as plan, Session(plan) as session:
        got = session.run(inputs)["y"]
    assert not (fault := tensors.differ(got, ReferenceEvaluator(model).run(["y"], inputs)[0], RELATIVE, ABSOLUTE)), fault


def test_buffers_that_do_not_fit(compiled, library):
    _, path = compiled("ScatterND", "--context", str(1 << 60), capacity="room")
    with Plan(library, path) as plan, Session(plan) as session:
        with pytest.raises(Failure, match="compile with a smaller --context"):
            session.feed([1])


@KINDS
def test_steps_write_in_place_and_read_where_it_lies(kind, tools, tmp_path):
    """Nothing but attention reads the buffers, and nothing writes them as tensors."""
    onnx.save(make_model(kind), tmp_path / "model.onnx")
    text = program.succeed([tools / "sol-compile", tmp_path / "model.onnx", "--stop-after=nn"]).stdout
    assert (text.count("= nn.cache_write "), text.count("= nn.attention ")) == (2 * LAYERS, LAYERS)
    assert "= nn.cache_read" not in text and '"onnx.TensorScatter"' not in text and '"onnx.Scatter' not in text
