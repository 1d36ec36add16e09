"""Compiled loops against the kernels that they replace: the same bytes, on every level, thread count and data set."""
import json

import pytest

from conftest import MODELS
import program

NAMES = sorted(folder.name for folder in MODELS.iterdir() if (folder / "test_data_set_0").is_dir())
LEVELS = "x86-64,x86-64-v3"
# Each takes another way through the same plan: the best level, the plain one, one thread.
RUNS = {"best": ({}, ()), "plain": ({"SOL_CPU": "portable"}, ()), "one-thread": ({}, ("--threads", "1"))}


def outputs(tools, plan, data, folder, environment=None, flags=()):
    program.succeed([tools / "sol-run", plan, "--quiet", "--inputs", data, "--outputs", folder, *flags],
                    environment=environment)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", NAMES)
def test_loops_give_the_kernels_bits(name, tools, tmp_path):
    model = MODELS / name / "model.onnx"
    compiled, kernels = tmp_path / "compiled.bin", tmp_path / "kernels.bin"
    program.compile_model(tools, model, compiled, "--no-recognition", f"--native={LEVELS}")
    program.compile_model(tools, model, kernels, "--no-recognition", "--native=none")
    shown = json.loads(program.succeed([tools / "sol-plan-dump", "--json", compiled]).stdout)
    assert [image["level"] for image in shown["native"]["images"]] == LEVELS.split(",")
    assert shown["native"]["loops"], "nothing was fused in a graph full of elementwise operators"
    sets = sorted((MODELS / name).glob("test_data_set_*"))
    for data in {sets[0], sets[-1]}:
        expected = outputs(tools, kernels, data, tmp_path / f"kernels-{data.name}")
        for run, (environment, flags) in RUNS.items():
            actual = outputs(tools, compiled, data, tmp_path / f"{run}-{data.name}", environment, flags)
            assert actual == expected, f"{data.name}: {run} differs from the kernels"


def test_no_native_code_when_told_so(tools, tmp_path):
    plan = tmp_path / "plan.bin"
    program.compile_model(tools, MODELS / NAMES[0] / "model.onnx", plan, "--native=none")
    shown = json.loads(program.succeed([tools / "sol-plan-dump", "--json", plan]).stdout)
    assert not shown["native"]["images"] and not shown["native"]["loops"]


def test_loops_without_a_level_are_refused(tools, tmp_path):
    """IR that already holds loops can't become a plan without machine code."""
    model = MODELS / "llama-optimum-opset18" / "model.onnx"
    program.compile_model(tools, model, tmp_path / "plan.bin", "--no-recognition", f"--dump-ir={tmp_path / 'ir'}")
    outcome = program.run([tools / "sol-compile", tmp_path / "ir/2-native.mlir", "--native=none", "-o",
                           tmp_path / "other.bin"])
    assert outcome.status == 1 and "--native" in outcome.stderr
    assert not (tmp_path / "other.bin").exists()
