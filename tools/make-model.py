#!/usr/bin/env python3
"""Make the ONNX graph of a decoder from its shape: targets/shapes/*.json, or a file like them.

  make-model.py targets/shapes/a.json --weights int8 --weightless -o a/model.onnx
  make-model.py targets/shapes/c.json --weights float32 --layers 2 --width 64 --heads 4 --kv-heads 2 \\
      --head-dim 16 --feed-forward 32 --experts 4 --experts-per-token 2 --vocabulary 256 -o small/model.onnx

The graph is spelled out as exporters write it: norms, rotary embeddings, grouped attention over a past that is
concatenated, gated networks, mixtures whose matrices are gathered for each token. It reaches the compiler as any model
does. Inputs: input_ids, attention_mask, position_ids, past_key_values.<layer>.key and .value; outputs: logits and
present.<layer>.key and .value.

Weights lie in a second file beside the model (<name>.data) and depend on the seed, the tensor's name and its sizes alone.
With --weightless that file isn't written: the graph can be planned and costed, not run. int8 weights are symmetric codes
with a scale for each output and a DequantizeLinear. Activations and cache are float32 for float32 weights, else float16,
unless --activations says otherwise.
"""
import argparse
import json
from pathlib import Path
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper

OPSET = 23
MOST_WEIGHTS = 16 << 30  # bytes to be made up; above it a model can only be weightless
CHUNK = 1 << 22  # elements that are made at a time
# What a shape holds: name, type, and what it may be left out as.
FIELDS = {
    "schema_version": (int, None), "name": (str, None), "description": (str, None), "layers": (int, None),
    "width": (int, None), "heads": (int, None), "kv_heads": (int, None), "head_dim": (int, None),
    "feed_forward": (int, None), "vocabulary": (int, None), "experts": (int, 0), "experts_per_token": (int, 0),
    "tied_embeddings": (bool, False), "attention_bias": (bool, False), "rotary_base": (float, None),
    "norm_epsilon": (float, None), "context": (int, None),
}
SHRINKABLE = ["layers", "width", "heads", "kv_heads", "head_dim", "feed_forward", "vocabulary", "experts", "experts_per_token"]
NUMPY = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16, TensorProto.INT8: np.int8, TensorProto.INT64: np.int64}
FORMATS = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "int8": TensorProto.INT8}


class ShapeError(Exception):
    """A shape that can't be; the text names the file and the field."""


def read_shape(path: Path, changes: dict) -> dict:
    """The shape of a file with some fields changed, checked."""
    try:
        shape = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ShapeError(f"{path}: {error}") from None
    if not isinstance(shape, dict):
        raise ShapeError(f"{path}: holds no JSON object")
    for name in shape:
        if name not in FIELDS:
            raise ShapeError(f"{path}: field `{name}`: isn't known: a shape has {', '.join(FIELDS)}")
    for name, (kind, default) in FIELDS.items():
        if name not in shape and default is None:
            raise ShapeError(f"{path}: field `{name}`: is missing")
        value = shape.setdefault(name, default)
        if isinstance(value, bool) != (kind is bool) or not isinstance(value, (kind, int) if kind is float else kind):
            raise ShapeError(f"{path}: field `{name}`: is {json.dumps(value)}, must be of type {kind.__name__}")
    shape.update({name: value for name, value in changes.items() if value is not None})
    for name, (kind, default) in FIELDS.items():
        if kind in (int, float) and (shape[name] < 0 or shape[name] == 0 and default is None):
            raise ShapeError(f"{path}: field `{name}`: is {shape[name]}, must be positive")
    if shape["schema_version"] != 1:
        raise ShapeError(f"{path}: field `schema_version`: is {shape['schema_version']}, this script reads 1")
    if shape["heads"] % shape["kv_heads"]:
        raise ShapeError(f"{path}: field `kv_heads`: is {shape['kv_heads']}, must divide `heads`, which is {shape['heads']}")
    if shape["head_dim"] % 2:
        raise ShapeError(f"{path}: field `head_dim`: is {shape['head_dim']}, must be even, as halves are rotated")
    if bool(shape["experts"]) != bool(shape["experts_per_token"]) or shape["experts_per_token"] > shape["experts"]:
        raise ShapeError(f"{path}: field `experts_per_token`: is {shape['experts_per_token']} of {shape['experts']} `experts`")
    return shape


class WeightFile:
    """The file beside the model: hands out places in it, and fills them unless the model is weightless."""

    def __init__(self, path: Path, seed: int, weightless: bool):
        self.path, self.seed, self.weightless = path, seed, weightless
        self.pieces = []  # (offset, bytes, function that writes to a stream)
        self.end = 0

    def place(self, name: str, sizes: list, kind: int, deviation: float, mean: float = 0.0) -> TensorProto:
        """An initializer of random numbers; int8 ones are spread over all codes."""
        count = int(np.prod(sizes, dtype=object))
        size = count * np.dtype(NUMPY[kind]).itemsize
        offset = -(-self.end // 64) * 64
        self.end = offset + size
        self.pieces.append((offset, lambda stream: self.write(stream, name, count, kind, deviation, mean)))
        tensor = TensorProto(name=name, data_type=kind, dims=sizes, data_location=TensorProto.EXTERNAL)
        for key, value in {"location": self.path.name, "offset": offset, "length": size}.items():
            tensor.external_data.add(key=key, value=str(value))
        return tensor

    def write(self, stream, name, count, kind, deviation, mean):
        random = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start)
            if kind == TensorProto.INT8:
                numbers = random.integers(-127, 128, size, dtype=np.int8)
            else:
                numbers = (random.standard_normal(size, dtype=np.float32) * deviation + mean).astype(NUMPY[kind])
            stream.write(numbers.tobytes())

    def finish(self):
        if self.weightless:
            return
        if self.end > MOST_WEIGHTS:
            raise ShapeError(f"the weights take {self.end / 2**30:.1f} GiB, at most {MOST_WEIGHTS >> 30} GiB are made up: "
                             "give --weightless, or shrink the shape with --layers and the like")
        with open(self.path, "wb") as stream:
            for offset, write in self.pieces:
                stream.write(b"\0" * (offset - stream.tell()))
                write(stream)


class Decoder:
    """Builds the graph. Values are named by their nodes, nodes by where they are in the model."""

    def __init__(self, shape: dict, weights: str, activations: str, file: WeightFile):
        self.shape, self.file = shape, file
        self.weights, self.kind = FORMATS[weights], FORMATS[activations]
        self.nodes, self.initializers, self.constants = [], [], {}

    # -- pieces of a graph

    def node(self, operator: str, inputs: list, name: str, outputs: int = 1, **attributes):
        results = [f"{name}_output_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, results, name=name, **attributes))
        return results[0] if outputs == 1 else results

    def integers(self, values) -> str:
        name = "ints_" + "_".join(map(str, np.atleast_1d(values))) + ("s" if np.ndim(values) == 0 else "")
        if name not in self.constants:
            self.constants[name] = onnx.numpy_helper.from_array(np.array(values, np.int64), name)
        return name.replace(" ", "")

    def number(self, value: float, kind: int) -> str:
        name = f"number_{kind}_{value:g}"
        self.constants[name] = onnx.numpy_helper.from_array(np.array(value, NUMPY[kind]), name)
        return name

    def cast(self, value: str, kind: int, name: str) -> str:
        return self.node("Cast", [value], name, to=kind)

    def matrix(self, name: str, sizes: list) -> str:
        """Weights of a product whose outputs are the last axis, as activations can be multiplied with."""
        # A sum over that many inputs keeps the inputs' magnitude.
        deviation = sizes[-2] ** -0.5
        if self.weights != TensorProto.INT8:
            self.initializers.append(self.file.place(name, sizes, self.weights, deviation))
            return name if self.weights == self.kind else self.cast(name, self.kind, name + "/Cast")
        self.initializers.append(self.file.place(name + "_quantized", sizes, TensorProto.INT8, 0))
        # Codes of -127 to 127 deviate by 73.3.
        self.initializers.append(
            self.file.place(name + "_scale", [sizes[-1]], self.kind, 0.02 * deviation / 73.3, deviation / 73.3))
        return self.node("DequantizeLinear", [name + "_quantized", name + "_scale"], name + "/DequantizeLinear",
                         axis=len(sizes) - 1)

    def linear(self, value: str, name: str, inputs: int, outputs: int, bias: bool = False) -> str:
        value = self.node("MatMul", [value, self.matrix(name + ".weight", [inputs, outputs])], name + "/MatMul")
        if bias:
            self.initializers.append(self.file.place(name + ".bias", [outputs], self.kind, 0.02))
            value = self.node("Add", [value, name + ".bias"], name + "/Add")
        return value

    def norm(self, value: str, name: str) -> str:
        """Root-mean-square norm, computed in float32 as exporters do."""
        float32 = TensorProto.FLOAT
        wide = value if self.kind == float32 else self.cast(value, float32, name + "/Cast")
        square = self.node("Pow", [wide, self.number(2, float32)], name + "/Pow")
        mean = self.node("ReduceMean", [square, self.integers([-1])], name + "/ReduceMean", keepdims=1)
        mean = self.node("Add", [mean, self.number(self.shape["norm_epsilon"], float32)], name + "/Add")
        root = self.node("Sqrt", [mean], name + "/Sqrt")
        inverse = self.node("Div", [self.number(1, float32), root], name + "/Div")
        value = self.node("Mul", [wide, inverse], name + "/Mul")
        if self.kind != float32:
            value = self.cast(value, self.kind, name + "/Cast_1")
        self.initializers.append(self.file.place(name + ".weight", [self.shape["width"]], self.kind, 0.1, 1.0))
        return self.node("Mul", [name + ".weight", value], name + "/Mul_1")

    # -- what layers share

    def tables(self):
        """Mask, cosines and sines."""
        shape = self.shape
        tokens = self.node("Shape", ["input_ids"], "/model/Shape", start=1, end=2)
        past = self.node("Shape", ["past_key_values.0.key"], "/model/Shape_1", start=2, end=3)
        total = self.node("Add", [past, tokens], "/model/Add")
        scalars = [self.node("Squeeze", [value], f"/model/Squeeze_{index}")
                   for index, value in enumerate((past, total))]
        one, zero = self.integers(1), self.integers(0)
        queries = self.node("Range", [scalars[0], scalars[1], one], "/model/Range")
        keys = self.node("Range", [zero, scalars[1], one], "/model/Range_1")
        queries = self.node("Unsqueeze", [queries, self.integers([0, 1, 3])], "/model/Unsqueeze")
        keys = self.node("Unsqueeze", [keys, self.integers([0, 1, 2])], "/model/Unsqueeze_1")
        causal = self.node("LessOrEqual", [keys, queries], "/model/LessOrEqual")
        given = self.cast("attention_mask", TensorProto.BOOL, "/model/Cast")
        given = self.node("Unsqueeze", [given, self.integers([1, 2])], "/model/Unsqueeze_2")
        self.mask = self.node("And", [causal, given], "/model/And")
        half = shape["head_dim"] // 2
        frequencies = (shape["rotary_base"] ** (-np.arange(half) / half)).astype(np.float32)
        self.constants["frequencies"] = onnx.numpy_helper.from_array(frequencies, "frequencies")
        positions = self.node("Unsqueeze", ["position_ids", self.integers([2])], "/model/rotary_emb/Unsqueeze")
        positions = self.cast(positions, TensorProto.FLOAT, "/model/rotary_emb/Cast")
        angles = self.node("Mul", [positions, "frequencies"], "/model/rotary_emb/Mul")
        angles = self.node("Concat", [angles, angles], "/model/rotary_emb/Concat", axis=-1)
        self.rotations = []
        for function in ("Cos", "Sin"):
            table = self.node(function, [angles], f"/model/rotary_emb/{function}")
            if self.kind != TensorProto.FLOAT:
                table = self.cast(table, self.kind, f"/model/rotary_emb/{function}_Cast")
            self.rotations.append(self.node("Unsqueeze", [table, self.integers([1])], f"/model/rotary_emb/{function}_Unsqueeze"))

    def rotate(self, value: str, name: str) -> str:
        half = self.shape["head_dim"] // 2
        first = self.node("Slice", [value, self.integers([0]), self.integers([half]), self.integers([3])], name + "/Slice")
        second = self.node("Slice", [value, self.integers([half]), self.integers([2**63 - 1]), self.integers([3])], name + "/Slice_1")
        turned = self.node("Concat", [self.node("Neg", [second], name + "/Neg"), first], name + "/Concat", axis=-1)
        return self.node("Add", [self.node("Mul", [value, self.rotations[0]], name + "/Mul"),
                                 self.node("Mul", [turned, self.rotations[1]], name + "/Mul_1")], name + "/Add")

    # -- a layer

    def attention(self, value: str, layer: int) -> str:
        shape, name = self.shape, f"/model/layers.{layer}/self_attn"
        weight = f"model.layers.{layer}.self_attn"
        parts = []
        for part, heads in (("q", shape["heads"]), ("k", shape["kv_heads"]), ("v", shape["kv_heads"])):
            item = self.linear(value, f"{weight}.{part}_proj", shape["width"], heads * shape["head_dim"], shape["attention_bias"])
            item = self.node("Reshape", [item, self.integers([0, 0, heads, shape["head_dim"]])], f"{name}/{part}_Reshape")
            parts.append(self.node("Transpose", [item], f"{name}/{part}_Transpose", perm=[0, 2, 1, 3]))
        query = self.rotate(parts[0], name + "/q_rotary")
        parts[1] = self.rotate(parts[1], name + "/k_rotary")
        for part, new in (("key", parts[1]), ("value", parts[2])):
            self.nodes.append(helper.make_node("Concat", [f"past_key_values.{layer}.{part}", new], [f"present.{layer}.{part}"],
                                               name=f"{name}/{part}_Concat", axis=2))
        mixed = self.node("Attention", [query, f"present.{layer}.key", f"present.{layer}.value", self.mask], name + "/Attention",
                          scale=shape["head_dim"] ** -0.5)
        mixed = self.node("Transpose", [mixed], name + "/Transpose", perm=[0, 2, 1, 3])
        mixed = self.node("Reshape", [mixed, self.integers([0, 0, shape["heads"] * shape["head_dim"]])], name + "/Reshape")
        return self.linear(mixed, weight + ".o_proj", shape["heads"] * shape["head_dim"], shape["width"])

    def silu(self, value: str, name: str) -> str:
        return self.node("Mul", [value, self.node("Sigmoid", [value], name + "/Sigmoid")], name + "/Mul")

    def network(self, value: str, layer: int) -> str:
        shape, name, weight = self.shape, f"/model/layers.{layer}/mlp", f"model.layers.{layer}.mlp"
        gate = self.linear(value, weight + ".gate_proj", shape["width"], shape["feed_forward"])
        up = self.linear(value, weight + ".up_proj", shape["width"], shape["feed_forward"])
        inner = self.node("Mul", [self.silu(gate, name + "/act_fn"), up], name + "/Mul")
        return self.linear(inner, weight + ".down_proj", shape["feed_forward"], shape["width"])

    def gathered(self, value: str, picks: str, name: str, sizes: list, place: str) -> str:
        """Rows times the matrices of their experts, kept as experts x outputs x inputs."""
        experts, inputs, outputs = sizes
        matrix = self.node("Transpose", [self.matrix(name, sizes)], place + "/Transpose", perm=[0, 2, 1])
        matrix = self.node("GatherND", [matrix, picks], place + "/GatherND")
        column = self.node("Unsqueeze", [value, self.integers([-1])], place + "/Unsqueeze")
        return self.node("Squeeze", [self.node("MatMul", [matrix, column], place + "/MatMul"), self.integers([-1])], place + "/Squeeze")

    def mixture(self, value: str, layer: int) -> str:
        shape, name, weight = self.shape, f"/model/layers.{layer}/mlp", f"model.layers.{layer}.mlp"
        width, inner, experts, chosen = (shape[key] for key in ("width", "feed_forward", "experts", "experts_per_token"))
        rows = self.node("Reshape", [value, self.integers([-1, width])], name + "/Reshape")
        router = self.linear(rows, weight + ".gate", width, experts)
        odds = self.node("Softmax", [router], name + "/Softmax", axis=-1)
        best, picks = self.node("TopK", [odds, self.integers([chosen])], name + "/TopK", outputs=2, axis=-1)
        total = self.node("ReduceSum", [best, self.integers([-1])], name + "/ReduceSum", keepdims=1)
        shares = self.node("Div", [best, total], name + "/Div")
        rows = self.node("Unsqueeze", [rows, self.integers([1])], name + "/Unsqueeze")
        rows = self.node("Expand", [rows, self.integers([1, chosen, 1])], name + "/Expand")
        rows = self.node("Reshape", [rows, self.integers([-1, width])], name + "/Reshape_1")
        picks = self.node("Reshape", [picks, self.integers([-1])], name + "/Reshape_2")
        picks = self.node("Unsqueeze", [picks, self.integers([-1])], name + "/Unsqueeze_1")
        both = self.gathered(rows, picks, weight + ".experts.gate_up_proj", [experts, width, 2 * inner], name + "/gate_up")
        gate, up = self.node("Split", [both], name + "/Split", outputs=2, axis=1, num_outputs=2)
        hidden = self.node("Mul", [self.silu(gate, name + "/act_fn"), up], name + "/Mul")
        result = self.gathered(hidden, picks, weight + ".experts.down_proj", [experts, inner, width], name + "/down")
        shares = self.node("Reshape", [shares, self.integers([-1])], name + "/Reshape_3")
        shares = self.node("Unsqueeze", [shares, self.integers([-1])], name + "/Unsqueeze_2")
        result = self.node("Mul", [result, shares], name + "/Mul_1")
        result = self.node("Reshape", [result, self.integers([-1, chosen, width])], name + "/Reshape_4")
        result = self.node("ReduceSum", [result, self.integers([1])], name + "/ReduceSum_1", keepdims=0)
        sizes = self.node("Shape", [value], name + "/Shape")
        return self.node("Reshape", [result, sizes], name + "/Reshape_5")

    # -- the whole

    def embed(self) -> str:
        shape, name = self.shape, "model.embed_tokens.weight"
        sizes = [shape["vocabulary"], shape["width"]]
        if self.weights == TensorProto.INT8:
            self.initializers.append(self.file.place(name + "_quantized", sizes, TensorProto.INT8, 0))
            codes = self.node("Gather", [name + "_quantized", "input_ids"], "/model/embed_tokens/Gather")
            return self.node("DequantizeLinear", [codes, self.number(1 / 73.3, self.kind)], "/model/embed_tokens/DequantizeLinear")
        self.initializers.append(self.file.place(name, sizes, self.weights, 1))
        value = self.node("Gather", [name, "input_ids"], "/model/embed_tokens/Gather")
        return value if self.weights == self.kind else self.cast(value, self.kind, "/model/embed_tokens/Cast")

    def head(self, value: str) -> str:
        shape = self.shape
        if not shape["tied_embeddings"] or self.weights == TensorProto.INT8:
            return self.linear(value, "lm_head", shape["width"], shape["vocabulary"])
        table = self.node("Transpose", ["model.embed_tokens.weight"], "/lm_head/Transpose", perm=[1, 0])
        if self.weights != self.kind:
            table = self.cast(table, self.kind, "/lm_head/Cast")
        return self.node("MatMul", [value, table], "/lm_head/MatMul")

    def build(self) -> onnx.ModelProto:
        shape = self.shape
        self.tables()
        value = self.embed()
        for layer in range(shape["layers"]):
            name = f"model.layers.{layer}"
            mixed = self.attention(self.norm(value, name + ".input_layernorm"), layer)
            value = self.node("Add", [value, mixed], f"/model/layers.{layer}/Add")
            inner = self.norm(value, name + ".post_attention_layernorm")
            inner = self.mixture(inner, layer) if shape["experts"] else self.network(inner, layer)
            value = self.node("Add", [value, inner], f"/model/layers.{layer}/Add_1")
        logits = self.head(self.norm(value, "model.norm"))
        self.nodes.append(helper.make_node("Cast", [logits], ["logits"], name="/lm_head/Cast_1", to=TensorProto.FLOAT))
        integer = lambda name, sizes: helper.make_tensor_value_info(name, TensorProto.INT64, sizes)
        inputs = [integer("input_ids", ["batch", "sequence"]), integer("attention_mask", ["batch", "past_sequence + sequence"]),
                  integer("position_ids", ["batch", "sequence"])]
        outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "sequence", shape["vocabulary"]])]
        for layer in range(shape["layers"]):
            for part in ("key", "value"):
                cache = lambda name, length: helper.make_tensor_value_info(
                    name, self.kind, ["batch", shape["kv_heads"], length, shape["head_dim"]])
                inputs.append(cache(f"past_key_values.{layer}.{part}", "past_sequence"))
                outputs.append(cache(f"present.{layer}.{part}", "past_sequence + sequence"))
        graph = helper.make_graph(self.nodes, shape["name"], inputs, outputs,
                                  list(self.constants.values()) + self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10,
                                 producer_name="make-model.py")


def parse(arguments) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", type=Path, help="the shape's JSON file")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the ONNX file")
    parser.add_argument("--weights", choices=FORMATS, required=True, help="how weights are held")
    parser.add_argument("--activations", choices=["float32", "float16"], help="how activations and cache are held")
    parser.add_argument("--weightless", action="store_true", help="don't write the weights' file")
    parser.add_argument("--seed", type=int, default=1, help="what the weights depend on (default: 1)")
    for name in SHRINKABLE:
        parser.add_argument("--" + name.replace("_", "-"), type=int, metavar="N", help=f"instead of the shape's `{name}`")
    options = parser.parse_args(arguments)
    options.activations = options.activations or ("float32" if options.weights == "float32" else "float16")
    return options


def main(arguments=None) -> int:
    options = parse(arguments)
    try:
        shape = read_shape(options.shape, {name: getattr(options, name) for name in SHRINKABLE})
        file = WeightFile(options.output.with_name(options.output.name + ".data"), options.seed, options.weightless)
        model = Decoder(shape, options.weights, options.activations, file).build()
        options.output.parent.mkdir(parents=True, exist_ok=True)
        file.finish()
        options.output.write_bytes(model.SerializeToString(deterministic=True))
    except (ShapeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{options.output}: {shape['layers']} layers, {file.end / 1e9:.3f} GB of weights"
          f"{' in no file' if options.weightless else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
