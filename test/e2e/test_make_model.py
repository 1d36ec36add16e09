"""tools/make-model.py: graphs made from shapes go through the importer as any model, and mean what they should."""
import json
from pathlib import Path
import re
import subprocess
import sys

import numpy as np
import onnx
import pytest

from conftest import REPOSITORY
import program

SHAPES = REPOSITORY / "targets/shapes"
SMALL = {"layers": 2, "width": 64, "heads": 4, "kv-heads": 2, "head-dim": 16, "feed-forward": 96, "vocabulary": 288}
EXPERTS = {"experts": 8, "experts-per-token": 2}


def make(output: Path, shape: str, *flags, **changes):
    sizes = [part for name, value in changes.items() for part in ("--" + name.replace("_", "-"), str(value))]
    return subprocess.run([sys.executable, REPOSITORY / "tools/make-model.py", SHAPES / f"{shape}.json", "-o", output, *flags, *sizes],
                          capture_output=True, text=True)


def make_small(folder: Path, shape: str, *flags) -> Path:
    model = folder / "model.onnx"
    more = EXPERTS if shape in "cd" else {}
    made = make(model, shape, *flags, **SMALL, **more)
    assert made.returncode == 0, made.stderr
    onnx.checker.check_model(str(model))
    return model


def write_inputs(model: Path, folder: Path, tokens: int, past: int):
    """A data set for a model: random tokens behind a random past."""
    random = np.random.default_rng(7)
    folder.mkdir()
    sizes = {"batch": 1, "sequence": tokens, "past_sequence": past, "past_sequence + sequence": past + tokens}
    for index, port in enumerate(onnx.load(model, load_external_data=False).graph.input):
        dims = [sizes.get(dim.dim_param, dim.dim_value) for dim in port.type.tensor_type.shape.dim]
        if port.name == "input_ids":
            value = random.integers(0, 288, dims)
        elif port.name == "attention_mask":
            value = np.ones(dims, np.int64)
        elif port.name == "position_ids":
            value = np.arange(past, past + tokens).reshape(dims)
        else:
            value = random.standard_normal(dims).astype(onnx.helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type))
        (folder / f"input_{index}.pb").write_bytes(onnx.numpy_helper.from_array(value, port.name).SerializeToString())


def logits(tools, model: Path, inputs: Path, name: str, *flags):
    plan = model.with_name(name + ".bin")
    program.compile_model(tools, model, plan, *flags)
    program.run_data_set(tools, plan, inputs, model.with_name(name))
    tensor = onnx.TensorProto.FromString((model.with_name(name) / "output_0.pb").read_bytes())
    return onnx.numpy_helper.to_array(tensor)


@pytest.mark.parametrize("weights", ["float32", "float16", "int8"])
@pytest.mark.parametrize("shape", ["a", "c"])
def test_small_models_mean_the_same_recognised_or_not(shape, weights, tools, tmp_path):
    """The operators as they stand are the reference; tokens and numbers agree with what recognition makes of them."""
    model = make_small(tmp_path, shape, "--weights", weights)
    write_inputs(model, tmp_path / "inputs", tokens=5, past=7)
    whole = logits(tools, model, tmp_path / "inputs", "whole")
    plain = logits(tools, model, tmp_path / "inputs", "plain", "--no-recognition")
    assert whole.shape == (1, 5, 288) and whole.std() > 0.1
    np.testing.assert_allclose(whole, plain, atol=2e-5 if weights == "float32" else 2e-2)
    if weights == "float32":
        assert (whole.argmax(-1) == plain.argmax(-1)).all()


@pytest.mark.parametrize("shape", ["a", "c"])
def test_every_layer_is_recognised(shape, tools, tmp_path):
    model = make_small(tmp_path, shape, "--weights", "float32")
    program.succeed([tools / "sol-compile", model, "-o", tmp_path / "plan.bin", f"--dump-ir={tmp_path / 'ir'}"])
    counted = program.succeed([tools / "sol-opt", tmp_path / "ir/1-nn.mlir", "--nn-print-recognized", "-o", tmp_path / "out.mlir"])
    found = json.loads(re.search(r"\{.*\}", counted.stdout + counted.stderr)[0])
    assert found["attention"] == 2 and found["cache"] == 4 and found["norm"] == 5 and found["rotary"] == 4, found
    assert found["experts"] == (2 if shape == "c" else 0), found


def test_the_same_seed_makes_the_same_bytes(tmp_path):
    made = []
    for name, flags in {"one": [], "again": [], "other": ["--seed", "2"]}.items():
        model = make_small(tmp_path / name, "a", "--weights", "int8", *flags)
        made.append((model.read_bytes(), model.with_name("model.onnx.data").read_bytes()))
    assert made[0] == made[1]
    assert made[0][0] == made[2][0] and made[0][1] != made[2][1]


@pytest.mark.parametrize("shape", [path.stem for path in sorted(SHAPES.glob("*.json"))])
def test_whole_shapes_without_weights(shape, tmp_path):
    """All shapes become graphs of a few MB, in seconds, with the sizes that the shape says."""
    model = tmp_path / "model.onnx"
    made = make(model, shape, "--weights", "int8", "--weightless")
    assert made.returncode == 0, made.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"] and model.stat().st_size < 8 << 20
    sizes = json.loads((SHAPES / f"{shape}.json").read_text())
    graph = onnx.load(model, load_external_data=False).graph
    assert sum(node.op_type == "Attention" for node in graph.node) == sizes["layers"]
    weights = {tensor.name: tensor for tensor in graph.initializer}
    inner = sizes["feed_forward"]
    name, dims = ("experts.down_proj", [sizes["experts"], inner, sizes["width"]]) if sizes.get("experts") else (
        "down_proj.weight", [inner, sizes["width"]])
    last = weights[f"model.layers.{sizes['layers'] - 1}.mlp.{name}_quantized"]
    assert list(last.dims) == dims and last.data_location == onnx.TensorProto.EXTERNAL


def test_wrong_shapes_are_named(tmp_path):
    shape = json.loads((SHAPES / "a.json").read_text())
    for change, words in [({"heads": 7}, "`kv_heads`: is 8, must divide `heads`, which is 7"), ({"heads": "x"}, "`heads`: is \"x\""),
                          ({"wings": 2}, "`wings`: isn't known"), ({"layers": 0}, "`layers`: is 0"), ({"head_dim": 15}, "`head_dim`: is 15"),
                          ({"experts": 4}, "`experts_per_token`: is 0 of 4"), ({"schema_version": 9}, "`schema_version`: is 9")]:
        path = tmp_path / "shape.json"
        path.write_text(json.dumps(shape | change))
        made = subprocess.run([sys.executable, REPOSITORY / "tools/make-model.py", path, "--weights", "int8", "-o", tmp_path / "m.onnx"],
                              capture_output=True, text=True)
        assert made.returncode == 1 and words in made.stderr and "shape.json" in made.stderr, made.stderr
    made = make(tmp_path / "m.onnx", "d", "--weights", "int8")
    assert made.returncode == 1 and "--weightless" in made.stderr and not (tmp_path / "m.onnx").exists()
