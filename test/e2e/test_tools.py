"""What scripts rely on in every tool: version, exit statuses, installation. test_plan_files.py looks at the plans."""
import re
import subprocess

import numpy as np
import pytest

from conftest import MODELS
import program

TOOLS = ["sol-compile", "sol-run", "sol-opt", "sol-lsp-server", "sol-reduce", "sol-plan-dump"]
GRAPH = MODELS / "llama-optimum-opset18/model.onnx"


@pytest.mark.parametrize("tool", TOOLS)
def test_version(tool, tools):
    outcome = program.succeed([tools / tool, "--version"])
    assert re.search(rf"{tool} \d+\.\d+\.\d+ \(commit \w+, LLVM 22\.[\d.]+, plan format \d+\)", outcome.stdout), outcome


@pytest.mark.parametrize("tool", ["sol-compile", "sol-run", "sol-plan-dump"])
@pytest.mark.parametrize("arguments", [[], ["--no-such-flag"]], ids=["nothing", "unknown flag"])
def test_wrong_usage(tool, arguments, tools):
    outcome = program.run([tools / tool, *arguments])
    assert outcome.status == 2 and outcome.stderr.strip(), outcome


@pytest.mark.parametrize("tool", ["sol-compile", "sol-run", "sol-plan-dump"])
def test_missing_file(tool, tools, tmp_path):
    extra = {"sol-compile": ["-o", tmp_path / "plan.bin"], "sol-run": ["--describe"], "sol-plan-dump": []}[tool]
    outcome = program.run([tools / tool, tmp_path / "absent", *extra])
    assert outcome.status == 1 and "error: " in outcome.stderr and "absent" in outcome.stderr, outcome
    assert not list(tmp_path.iterdir())


def test_runtime_links_no_compiler(tools, build_folder):
    programs = [tools / "sol-run", *build_folder.glob("lib/libsol_runtime.so*")]
    assert len(programs) > 1, "libsol_runtime.so isn't in the build folder's lib"
    for path in programs:
        linked = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        assert not re.search(r"LLVM|MLIR|clang", linked), linked


def test_install(build_folder, tmp_path):
    """An installed tree works by itself, wherever it is."""
    subprocess.run(["cmake", "--install", build_folder, "--prefix", tmp_path / "sol"], check=True, capture_output=True)
    plan = tmp_path / "plan.bin"
    program.compile_model(tmp_path / "sol/bin", GRAPH, plan)
    program.run_data_set(tmp_path / "sol/bin", plan, GRAPH.parent / "test_data_set_0", tmp_path / "outputs")
    assert (tmp_path / "sol/include/sol/runtime.h").is_file() and (tmp_path / "sol/share/doc/sol/LICENSE").is_file()


def test_random_inputs(tools, tmp_path):
    """Symbols decide every size, formulas over them too; a symbol that is left out is named."""
    plan = tmp_path / "plan.bin"
    program.compile_model(tools, GRAPH, plan)
    sizes = ["--dim", "batch_size=2", "--dim", "sequence_length=3"]
    command = [tools / "sol-run", plan, "--quiet", "--random-inputs", *sizes]
    program.succeed([*command, "--dim", "past_sequence_length=4", "--outputs", tmp_path / "out"])
    assert np.load(tmp_path / "out/present.0.key.npy").shape == (2, 2, 7, 16)
    outcome = program.run([*command, "--outputs", tmp_path / "none"])
    assert outcome.status == 1 and "`past_sequence_length" in outcome.stderr and not (tmp_path / "none").exists()
    for text in ("batch_size=", "batch_size", "batch_size=-1", "batch_size=99999999999999999999"):
        assert "is not NAME=SIZE" in program.run([*command, "--dim", text, "--outputs", tmp_path / "none"]).stderr
