"""The attentions of com.microsoft, one node each: recognised or run by their kernels, the numbers are the documented ones.

The reference is attention written out in float64; where ONNX Runtime 1.32 computes these nodes on a CPU (not packed operands), it
agrees within 1e-6.
"""
from dataclasses import dataclass, field
import zlib

import numpy
import onnx
from onnx import TensorProto, helper
import pytest

import program
import tensors

BATCH, STEP, HEADS, SIZE, PAST, OTHER = 7, 3, 2, 8, 5, 6
WIDTH = HEADS * SIZE
FILTER = -10000.0


def attend(query, key, value, scale=None, causal=False, mask=None, bias=None, smooth=False):
    """[B, H, S, D] attention; `mask` is true where a key takes part, `bias` is added."""
    scores = query @ key.swapaxes(-1, -2) * (scale or 1 / numpy.sqrt(query.shape[-1]))
    if mask is not None:
        scores = scores + numpy.where(mask, 0, FILTER)
    if bias is not None:
        scores = scores + bias
    if causal:
        steps, keys = scores.shape[-2:]
        seen = numpy.arange(keys) <= numpy.arange(steps)[:, None] + keys - steps
        scores = numpy.where(seen, scores, -numpy.inf)
    largest = scores.max(-1, keepdims=True)
    weights = numpy.exp(scores - largest)
    total = weights.sum(-1, keepdims=True) + (numpy.exp(-largest) if smooth else 0)
    return weights / total @ value


def split(x, heads=HEADS):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def merge(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


@dataclass
class Case:
    """One node: inputs by name in order (an empty name is an absent one), outputs in order."""

    operator: str
    inputs: dict
    outputs: dict
    attributes: dict = field(default_factory=dict)
    constants: tuple = ()
    recognised: bool = True

    def model(self):
        def port(name, array):
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            # Sizes that depend on the call are symbols, so that nothing hangs on their being known.
            names = {BATCH: "batch", STEP: "step", PAST: "past", OTHER: "other", PAST + STEP: "past + step"}
            packed = array.ndim == 5 and name != "past"
            free = (0, 1 if packed else array.ndim - 2, *([array.ndim - 1] if name in ("key_mask", "added") else []))
            sizes = [names.get(size, size) if axis in free and name != "bias" else size for axis, size in enumerate(array.shape)]
            if name == "past":
                sizes[1] = "batch"
            return helper.make_tensor_value_info(name, kind, sizes)

        names = [name if array is not None else "" for name, array in self.inputs.items()]
        node = helper.make_node(self.operator, names, [name for name in self.outputs], name="node",
                                domain="com.microsoft", **self.attributes)
        given = [port(name, array) for name, array in self.inputs.items()
                 if array is not None and name not in self.constants]
        graph = helper.make_graph([node], "attention", given,
                                  [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                                                 [None] * array.ndim) for name, array in self.outputs.items()],
                                  [onnx.numpy_helper.from_array(self.inputs[name], name) for name in self.constants])
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21),
                                                                      helper.make_opsetid("com.microsoft", 1)])

    def feeds(self) -> dict:
        return {name: array for name, array in self.inputs.items() if array is not None and name not in self.constants}


def numbers(*shape, seed=""):
    random = numpy.random.default_rng(zlib.crc32(repr((shape, seed)).encode()))
    return random.standard_normal(shape).astype(numpy.float32)


def multi_head(kind: str, causal=False, mask=None, bias=False, added=None, past=False, scale=None, value_size=SIZE):
    """MultiHeadAttention with operands of `kind`: plain, packed, packed_keys or split (keys split into heads)."""
    keys = STEP if kind == "packed" or causal or past else OTHER
    q, k, v = numbers(BATCH, STEP, WIDTH, seed="q"), numbers(BATCH, keys, WIDTH, seed="k"), numbers(BATCH, keys, HEADS * value_size, seed="v")
    b = numbers(2 * WIDTH + HEADS * value_size, seed="b") if bias else None
    inputs = dict(query=q, key=k, value=v)
    if kind == "packed":
        inputs = dict(query=numpy.stack([split(x).swapaxes(1, 2) for x in (q, k, v)], axis=3), key=None, value=None)
    if kind == "packed_keys":
        inputs = dict(query=q, key=numpy.stack([split(x).swapaxes(1, 2) for x in (k, v)], axis=3), value=None)
    if kind == "split":
        inputs = dict(query=q, key=split(k), value=split(v))
    parts = [q, k, v]
    if bias:
        ends = numpy.cumsum([0, WIDTH, WIDTH, HEADS * value_size])
        counted = 1 if kind == "split" else 3
        parts = [x + b[ends[i]:ends[i + 1]] if i < counted else x for i, x in enumerate(parts)]
    query, key, value = (split(x.astype(numpy.float64)) for x in parts)
    past_key = past_value = None
    if past:
        past_key, past_value = numbers(BATCH, HEADS, PAST, SIZE, seed="pk"), numbers(BATCH, HEADS, PAST, SIZE, seed="pv")
        key, value = numpy.concatenate([past_key, key], 2), numpy.concatenate([past_value, value], 2)
    total = key.shape[2]
    keep = {None: None, "rows": numpy.arange(total) % 3 != 1, "counts": None,
            "each": (numpy.arange(STEP)[:, None] + numpy.arange(total)) % 3 != 1}[mask]
    key_mask = None
    if mask == "rows":
        keep = numpy.stack([numpy.roll(keep, row) for row in range(BATCH)])
        key_mask, keep = keep.astype(numpy.int32), keep[:, None, None]
    elif mask == "each":
        keep = numpy.stack([numpy.roll(keep, row, axis=1) for row in range(BATCH)])
        key_mask, keep = keep.astype(numpy.int32), keep[:, None]
    elif mask == "counts":
        key_mask = numpy.resize(numpy.array([total - 1, 2], numpy.int32), BATCH)
        keep = (numpy.arange(total) < key_mask[:, None])[:, None, None]
    extra = numbers(*added(total), seed="added") if added else None
    out = merge(attend(query, key, value, scale, causal, keep, extra)).astype(numpy.float32)
    outputs = {"output": out}
    if past:
        outputs.update(present_key=key.astype(numpy.float32), present_value=value.astype(numpy.float32))
    attributes = dict(num_heads=HEADS, unidirectional=int(causal), **({"scale": scale} if scale else {}))
    inputs.update(bias=b, key_mask=key_mask, added=extra, past_key=past_key, past_value=past_value)
    return Case("MultiHeadAttention", inputs, outputs, attributes)


def packed_attention(causal=False, past=False, mask=None, added=None):
    """Attention: one product makes queries, keys and values."""
    x, w, b = numbers(BATCH, STEP, 5, seed="x"), numbers(5, 3 * WIDTH, seed="w"), numbers(3 * WIDTH, seed="b")
    query, key, value = (split(part) for part in numpy.split(x.astype(numpy.float64) @ w + b, 3, axis=-1))
    pasts = numbers(2, BATCH, HEADS, PAST, SIZE, seed="past") if past else None
    if past:
        key, value = numpy.concatenate([pasts[0], key], 2), numpy.concatenate([pasts[1], value], 2)
    total = key.shape[2]
    keep = key_mask = None
    if mask == "rows":
        keep = numpy.stack([numpy.roll(numpy.arange(total) % 3 != 1, row) for row in range(BATCH)])
        key_mask, keep = keep.astype(numpy.int32), keep[:, None, None]
    extra = numbers(*added(total), seed="added") if added else None
    outputs = {"output": merge(attend(query, key, value, None, causal, keep, extra)).astype(numpy.float32)}
    if past:
        outputs["present"] = numpy.stack([key, value]).astype(numpy.float32)
    inputs = dict(x=x, w=w, b=b, key_mask=key_mask, past=pasts, added=extra)
    return Case("Attention", inputs, outputs, dict(num_heads=HEADS, unidirectional=int(causal)), ("w", "b"))


def smooth_group_query():
    """GroupQueryAttention of a first prompt whose softmax has one more summand of 1."""
    q, k, v = numbers(BATCH, STEP, WIDTH, seed="q"), numbers(BATCH, STEP, SIZE, seed="k"), numbers(BATCH, STEP, SIZE, seed="v")
    key, value = (numpy.repeat(split(x.astype(numpy.float64), 1), HEADS, axis=1) for x in (k, v))
    out = merge(attend(split(q.astype(numpy.float64)), key, value, causal=True, smooth=True)).astype(numpy.float32)
    inputs = dict(query=q, key=k, value=v, past_key=None, past_value=None,
                  seqlens_k=numpy.full(BATCH, STEP - 1, numpy.int32), total=numpy.array(STEP, numpy.int32))
    outputs = {"output": out, "present_key": split(k, 1), "present_value": split(v, 1)}
    return Case("GroupQueryAttention", inputs, outputs, dict(num_heads=HEADS, kv_num_heads=1, smooth_softmax=1))


CASES = {
    "plain": multi_head("plain"),
    "plain-scale": multi_head("plain", scale=0.3),
    "plain-bias": multi_head("plain", bias=True),
    "values-of-another-size": multi_head("plain", bias=True, value_size=3),
    "packed": multi_head("packed"),
    "packed-bias": multi_head("packed", bias=True),
    "packed-keys": multi_head("packed_keys"),
    "packed-keys-bias": multi_head("packed_keys", bias=True),
    "split-keys-bias": multi_head("split", bias=True),
    "mask-rows": multi_head("plain", mask="rows"),
    "mask-each": multi_head("plain", mask="each"),
    "mask-counts": multi_head("plain", mask="counts"),
    "added": multi_head("plain", added=lambda total: (1, HEADS, STEP, total)),
    "added-and-mask": multi_head("plain", mask="rows", added=lambda total: (BATCH, 1, STEP, total)),
    "causal": multi_head("plain", causal=True),
    "past": multi_head("plain", past=True),
    "past-causal-bias-mask": multi_head("plain", past=True, causal=True, bias=True, mask="rows"),
    "attention": packed_attention(),
    "attention-causal-past": packed_attention(causal=True, past=True),
    "attention-past-mask-added": packed_attention(past=True, mask="rows", added=lambda total: (BATCH, HEADS, STEP, total)),
    "group-query-smooth": smooth_group_query(),
}


def compute(case: Case, folder, tools, *flags):
    """The outputs, and the program as text."""
    onnx.save(case.model(), folder / "model.onnx")
    given = folder / "given"
    given.mkdir(exist_ok=True)
    for index, (name, array) in enumerate(case.feeds().items()):
        tensors.save(given / f"input_{index}.pb", array, name)
    plan = folder / "plan.bin"
    program.compile_model(tools, folder / "model.onnx", plan, *flags)
    program.succeed([tools / "sol-run", plan, "--inputs", given, "--outputs", folder / "out", "--quiet"])
    return tensors.load_all(folder / "out", "output"), program.succeed([tools / "sol-plan-dump", plan]).stdout


@pytest.mark.parametrize("name", CASES)
def test_numbers(name, tools, tmp_path):
    case = CASES[name]
    for flags in [(), ("--no-recognition",)]:
        got, text = compute(case, tmp_path, tools, *flags)
        for (output, want), array in zip(case.outputs.items(), got, strict=True):
            assert not (fault := tensors.differ(array, want, 1e-4, 1e-5)), f"{flags} {output}: {fault}"
        assert ("nn.attention(" in text) == (not flags), text


LOOK_ALIKES = {
    # Queries and keys of other numbers: the operator aligns them at the first of both.
    "causal-other-keys": (multi_head("plain"), dict(unidirectional=1)),
    "group-query-not-causal": (smooth_group_query(), dict(causal=0)),
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alikes_stay(name, tools, tmp_path):
    case, attributes = LOOK_ALIKES[name]
    case.attributes.update(attributes)
    with_kernel, text = compute(case, tmp_path, tools)
    assert "nn.attention(" not in text
    without, _ = compute(case, tmp_path, tools, "--no-recognition")
    for got, want in zip(with_kernel, without, strict=True):
        assert not tensors.differ(got, want, 0, 0)
