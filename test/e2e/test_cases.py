"""Small graphs that broke other tools: each folder of test/data/cases as its expected.json says.

An error means: exit status 1, a line `error: …` that holds what `must_mention` lists, no signal, nothing written, in seconds
and little memory. Some cases come with more inputs or variants in their notes; those are the tests at the end.
"""
import json
import os
from pathlib import Path
import re
import shutil

import numpy
import onnx
from onnx import TensorProto, helper
import pytest

from conftest import CASES
import program
import tensors

SECONDS = 20  # of computing; on the clock three times as much, for the sake of busy machines
CLOCK_SECONDS = 3 * SECONDS
PEAK_BYTES = 2 * program.GIB

NAMES = sorted(path.parent.name for path in CASES.glob("*/expected.json"))
LATER = "quantized formats come with their kernels"
# Attempted all the same; counted as skipped only while they don't pass.
ATTEMPTED = {
    "17_dq_blocked_int4_axis": f"blocked int4: {LATER}",
    "18_matmulnbits_edges": f"odd block sizes and bit widths: {LATER}",
    "20_fp8_e4m3_saturate": f"fp8: {LATER}",
    "22_activation_outlier": f"int8 with outliers: {LATER}",
    "23_u8s8_saturation": f"int8 products: {LATER}",
}


class Wrong(AssertionError):
    """The tools' answer to a case isn't what expected.json says."""


def expect(condition, message):
    if not condition:
        raise Wrong(str(message))


def within_limits(outcome):
    expect(not outcome.timed_out and outcome.processor_seconds <= SECONDS, outcome)
    expect(outcome.peak_bytes <= PEAK_BYTES, outcome)
    return outcome


def refused(outcome, mentions: list, written: Path):
    """The outcome is a clear refusal, and `written` (a folder) holds nothing."""
    within_limits(outcome)
    expect(outcome.status == 1, f"expected a refusal with exit status 1: {outcome}")
    expect(re.search(r"(?m)^(?:\S+: )?error: \S", outcome.stderr), f"no line `error: …`: {outcome}")
    for mention in mentions:
        expect(mention in outcome.stderr, f"the message doesn't mention `{mention}`: {outcome}")
    left = [path.name for path in written.iterdir()]
    expect(not left, f"left behind after an error: {left}")


class Case:
    """A case's folder, and fresh folders for the plan and the outputs."""

    def __init__(self, folder: Path, tools: Path, scratch: Path):
        self.folder, self.tools = folder, tools
        self.expected = json.loads((folder / "expected.json").read_text())
        self.plan_folder, self.output_folder = scratch / "plan", scratch / "outputs"
        self.plan_folder.mkdir()
        self.output_folder.mkdir()
        self.plan = self.plan_folder / "plan.bin"
        self.mentions = self.expected.get("must_mention", [])

    def compile(self, cwd=None, model=None):
        return program.run([self.tools / "sol-compile", model or self.folder / "model.onnx", "-o", self.plan],
                           CLOCK_SECONDS, cwd)

    def compiled(self):
        outcome = within_limits(self.compile())
        expect(outcome.status == 0, outcome)

    def run(self, inputs=None):
        inputs = inputs or self.folder / "test_data_set_0"
        return program.run([self.tools / "sol-run", self.plan, "--inputs", inputs, "--outputs", self.output_folder],
                           CLOCK_SECONDS)

    def outputs(self, inputs=None) -> list:
        outcome = within_limits(self.run(inputs))
        expect(outcome.status == 0, outcome)
        return tensors.load_all(self.output_folder, "output")

    def compare(self, got: list, keep=None):
        want = tensors.load_all(self.folder / "test_data_set_0", "output")
        expect(len(got) == len(want), f"{len(got)} outputs, {len(want)} expected")
        for index, (have, given) in enumerate(zip(got, want)):
            fault = tensors.differ(have, given, self.expected["rtol"], self.expected["atol"], keep)
            expect(not fault, f"output {index}: {fault}")


def check_match(case: Case):
    case.compiled()
    if limit := case.expected.get("plan_bytes_max"):
        expect(case.plan.stat().st_size <= limit, f"the plan has {case.plan.stat().st_size} bytes, at most {limit} allowed")
    keep = None
    if "ignore_rows" in case.expected:
        expect(case.expected["ignore_rows"].startswith("y[0,:3]"), "the rows to ignore have changed")
        keep = numpy.ones((2, 5, 1), bool)
        keep[0, :3] = False
    got = case.outputs()
    if keep is not None:
        expect(numpy.isfinite(got[0]).all(), "padding rows must be finite")
    case.compare(got, keep)


def check_error(case: Case):
    refused(case.compile(), case.mentions, case.plan_folder)


def check_run_error(case: Case, inputs=None, mentions=None):
    mentions = case.mentions if mentions is None else mentions
    outcome = case.compile()
    if outcome.status != 0:
        refused(outcome, mentions, case.plan_folder)
    else:
        refused(case.run(inputs), mentions, case.output_folder)


def check_match_or_error(case: Case):
    outcome = case.compile()
    if outcome.status != 0:
        return refused(outcome, case.mentions, case.plan_folder)
    within_limits(outcome)
    outcome = case.run()
    if outcome.status != 0:
        return refused(outcome, case.mentions, case.output_folder)
    within_limits(outcome)
    value = float(case.expected["value_if_ok"].removeprefix("all "))
    got = tensors.load_all(case.output_folder, "output")
    expect(got and all((array == value).all() for array in got), f"every element must be {value}")


CHECKS = {"match": check_match, "error": check_error, "run_error": check_run_error, "match_or_error": check_match_or_error}


@pytest.mark.parametrize("name", NAMES)
def test_case(name, tools, tmp_path):
    case = Case(CASES / name, tools, tmp_path)
    try:
        CHECKS[case.expected["expect"]](case)
    except Wrong as wrong:
        if name not in ATTEMPTED:
            raise
        pytest.skip(f"{ATTEMPTED[name]} ({str(wrong).splitlines()[0]})")


def test_there_are_cases():
    assert len(NAMES) >= 60


def write_inputs(folder: Path, **arrays) -> Path:
    folder.mkdir()
    for index, (name, array) in enumerate(arrays.items()):
        tensors.save(folder / f"input_{index}.pb", array, name)
    return folder


@pytest.mark.parametrize("token", [-11, 2**40])
def test_gather_out_of_range_elsewhere(token, tools, tmp_path):
    inputs = write_inputs(tmp_path / "inputs", ids=numpy.array([token], numpy.int64))
    check_run_error(Case(CASES / "08_gather_out_of_range", tools, tmp_path), inputs)


@pytest.mark.parametrize("lengths", [[5, -1], [99, 3], [5, 20]])
def test_group_query_attention_lengths_out_of_range(lengths, tools, tmp_path):
    case = Case(CASES / "42_gqa_contrib_decode", tools, tmp_path)
    graph = onnx.load(str(case.folder / "model.onnx")).graph
    inputs = tmp_path / "inputs"
    shutil.copytree(case.folder / "test_data_set_0", inputs)
    position = [value.name for value in graph.input].index("sk")
    given = tensors.load(inputs / f"input_{position}.pb")
    tensors.save(inputs / f"input_{position}.pb", numpy.array(lengths, given.dtype).reshape(given.shape), "sk")
    check_run_error(case, inputs, mentions=[])


def test_padding_changes_no_row(tools, tmp_path):
    """A row of a left-padded batch equals the same row by itself."""
    case = Case(CASES / "27_left_padded_batch", tools, tmp_path)
    names = [value.name for value in onnx.load(str(case.folder / "model.onnx")).graph.input]
    arrays = dict(zip(names, tensors.load_all(case.folder / "test_data_set_0", "input"), strict=True))
    case.compiled()
    want = tensors.load(case.folder / "test_data_set_0/output_0.pb")[:1, 3:]
    got = case.outputs(write_inputs(tmp_path / "inputs", **{name: array[:1, 3:] for name, array in arrays.items()}))
    expect(not (fault := tensors.differ(got[0], want, case.expected["rtol"], case.expected["atol"])), fault)


@pytest.mark.parametrize("cwd, model", [(CASES / "29_external_data_layout", "model.onnx"),
                                        (CASES, "29_external_data_layout/model.onnx")], ids=["inside", "above"])
def test_external_data_from_any_folder(cwd, model, tools, tmp_path):
    case = Case(CASES / "29_external_data_layout", tools, tmp_path)
    outcome = case.compile(cwd=cwd, model=model)
    expect(outcome.status == 0, outcome)
    case.compare(case.outputs())


def external_model(folder: Path, location: str, **entries):
    """A model that adds `layers.0.weight`, four floats in another file, to its input."""
    tensor = TensorProto(name="layers.0.weight", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(value)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy"]
    node = helper.make_node("Add", ["x", "layers.0.weight"], ["y"], name="/add")
    graph = helper.make_graph([node], "g", values[:1], values[1:], [tensor])
    folder.mkdir()
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, str(folder / "model.onnx"))
    (folder / "expected.json").write_text(json.dumps({"expect": "error", "must_mention": ["layers.0.weight"]}))


def test_external_path_absolute(tools, tmp_path):
    secret = tmp_path / "secret.bin"
    secret.write_bytes(b"0123456789abcdef")
    external_model(tmp_path / "case", str(secret))
    check_error(Case(tmp_path / "case", tools, tmp_path))


def test_external_path_symbolic_link(tools, tmp_path):
    (tmp_path / "secret.bin").write_bytes(b"0123456789abcdef")
    external_model(tmp_path / "case", "link.bin")
    os.symlink("../secret.bin", tmp_path / "case/link.bin")
    check_error(Case(tmp_path / "case", tools, tmp_path))


@pytest.mark.parametrize("offset", [5 << 30, (5 << 30) + 2], ids=["aligned", "unaligned"])
def test_external_data_beyond_4_gib(offset, tools, tmp_path):
    """A sparse file: 5 GiB of nothing, then the weights."""
    external_model(tmp_path / "case", "weights.bin", offset=offset, length=16)
    weights = numpy.array([1, 2, 3, 4], "<f4")
    with open(tmp_path / "case/weights.bin", "wb") as file:
        file.seek(offset)
        file.write(weights.tobytes())
    case = Case(tmp_path / "case", tools, tmp_path)
    case.compiled()
    got = case.outputs(write_inputs(tmp_path / "inputs", x=numpy.zeros(4, numpy.float32)))
    expect(numpy.array_equal(got[0], weights), f"got {got[0]}, expected {weights}")
