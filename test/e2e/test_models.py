"""Every exporter's graph, compiled once and run on all its data sets, with and without recognition.

What counts as right depends on the arithmetic that the graph asks for:
  float32          each element within 1e-4 relative, 1e-5 absolute of the given outputs (MatMulNBits and DequantizeLinear too)
  dynamic int8     relative L2 distance to the given outputs at most 1e-3: which int8 code a value rounds to depends on the
                   last bit of its float sum
  float16          distance to the same graph in float64 at most twice that of the given outputs
  quantized experts (gpt-oss-genai011-int4)  as float32, against a dequantized computation in float64: a runtime may
                   route a token differently when its own activations are rounded
Rows of padding are not compared: exporters leave different things there.
"""
import json
from pathlib import Path
import shutil

import pytest

from conftest import MODELS
from float64_reference import Float64Reference
import program
import tensors

RELATIVE, ABSOLUTE = 1e-4, 1e-5
INT8_DISTANCE = 1e-3
FLOAT16_FACTOR = 2
# What is left of a distance when two float16 tensors are equal but the reference isn't representable.
FLOAT16_FLOOR = 1e-6

NAMES = sorted(path.parent.name for path in MODELS.glob("*/fixture.json"))


def tolerance_class(folder: Path) -> str:
    operators = json.loads((folder / "fixture.json").read_text())["ops"]
    if "DynamicQuantizeLinear" in operators:
        return "int8"
    if "com.microsoft.QMoE" in operators:
        return "dequantized"
    float_outputs = [array for array in tensors.load_all(folder / "test_data_set_0", "output") if array.dtype.kind == "f"]
    return "float16" if any(array.dtype == "float16" for array in float_outputs) else "float32"


def output_names(folder: Path) -> list:
    import onnx

    graph = onnx.load(str(folder / "model.onnx"), load_external_data=False).graph
    return [value.name for value in graph.input], [value.name for value in graph.output]


class Judge:
    """Says of one output of one data set whether it is right."""

    def __init__(self, folder: Path):
        self.kind = tolerance_class(folder)
        self.input_names, self.output_names = output_names(folder)
        self.reference = Float64Reference(folder / "model.onnx") if self.kind in ("float16", "dequantized") else None

    def faults(self, inputs: list, given: list, got: list) -> list:
        mask = dict(zip(self.input_names, inputs)).get("attention_mask")
        exact = self.reference.outputs(inputs) if self.reference else [None] * len(given)
        faults = []
        for name, want, have, true in zip(self.output_names, given, got, exact, strict=True):
            if fault := self.fault(want, have, true, tensors.padding_mask(mask, want)):
                faults.append(f"output `{name}`: {fault}")
        return faults

    def fault(self, want, got, true, keep):
        if fault := tensors.same_kind(got, want):
            return fault
        if tensors.is_exact(want) or self.kind == "float32":
            return tensors.differ(got, want, RELATIVE, ABSOLUTE, keep)
        if self.kind == "dequantized":
            return tensors.differ(got, true.astype(want.dtype), RELATIVE, ABSOLUTE, keep)
        if self.kind == "int8":
            distance, allowed = tensors.distance(got, want, keep), INT8_DISTANCE
        else:
            distance = tensors.distance(got, true, keep)
            allowed = FLOAT16_FACTOR * tensors.distance(want, true, keep) + FLOAT16_FLOOR
        return None if distance <= allowed else f"relative L2 distance {distance:.2e}, at most {allowed:.2e} allowed"


def data_sets(folder: Path) -> list:
    return sorted(folder.glob("test_data_set_*"), key=lambda path: int(path.name.rpartition("_")[2]))


@pytest.mark.parametrize("flags", [(), ("--no-recognition",)], ids=["recognition", "no-recognition"])
@pytest.mark.parametrize("name", NAMES)
def test_model(name, flags, tools, tmp_path):
    folder = MODELS / name
    plan = tmp_path / "plan.bin"
    program.compile_model(tools, folder / "model.onnx", plan, *flags)
    judge = Judge(folder)
    runs = [data["run"] for data in json.loads((folder / "fixture.json").read_text())["sets"]]
    faults = []
    for data_set, run in zip(data_sets(folder), runs, strict=True):
        outputs = tmp_path / data_set.name
        outputs.mkdir()
        outcome = program.run([tools / "sol-run", plan, "--inputs", data_set, "--outputs", outputs])
        if outcome.status != 0:
            faults.append(f"{data_set.name} ({run}): {outcome}")
            continue
        inputs, given = tensors.load_all(data_set, "input"), tensors.load_all(data_set, "output")
        got = tensors.load_all(outputs, "output")
        if len(got) != len(given):
            faults.append(f"{data_set.name} ({run}): {len(got)} outputs written, {len(given)} expected")
            continue
        faults += [f"{data_set.name} ({run}): {fault}" for fault in judge.faults(inputs, given, got)]
    assert not faults, f"{name}, {judge.kind}: {len(faults)} faults\n" + "\n".join(faults[:12])


def test_encoder_and_decoder_in_one_plan(tools, tmp_path):
    """Two graphs become two functions of a plan; each gives what it gives alone."""
    names = {"encoder": "t5-optimum-encoder-opset18", "decoder": "t5-optimum-decoder-merged-opset18"}
    for function, name in names.items():
        shutil.copyfile(MODELS / name / "model.onnx", tmp_path / f"{function}.onnx")
    plan = tmp_path / "plan.bin"
    program.succeed([tools / "sol-compile", tmp_path / "encoder.onnx", tmp_path / "decoder.onnx", "-o", plan])
    for function, name in names.items():
        data_set, outputs = MODELS / name / "test_data_set_0", tmp_path / function
        outputs.mkdir()
        program.succeed([tools / "sol-run", plan, "--function", function, "--inputs", data_set, "--outputs", outputs])
        inputs, given = tensors.load_all(data_set, "input"), tensors.load_all(data_set, "output")
        faults = Judge(MODELS / name).faults(inputs, given, tensors.load_all(outputs, "output"))
        assert not faults, f"{function}: {faults}"


def test_there_are_models():
    assert len(NAMES) >= 50
