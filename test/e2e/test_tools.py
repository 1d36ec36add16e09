"""What scripts rely on in every tool: version, exit statuses, and plans that are whole, equal and free of leftovers."""
import re
import shutil
import subprocess

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


@pytest.mark.parametrize("flags", [(), ("--no-recognition",)], ids=["recognition", "no-recognition"])
def test_compiling_twice_gives_the_same_bytes(flags, tools, tmp_path):
    """From another folder too: a plan says nothing about where it was made."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copyfile(GRAPH, elsewhere / "model.onnx")
    program.compile_model(tools, GRAPH, tmp_path / "first.bin", *flags)
    program.compile_model(tools, elsewhere / "model.onnx", tmp_path / "second.bin", *flags)
    assert (tmp_path / "first.bin").read_bytes() == (tmp_path / "second.bin").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "first.bin", "second.bin"]


def test_a_failed_compile_keeps_the_old_plan(tools, tmp_path):
    plan = tmp_path / "plan.bin"
    program.compile_model(tools, GRAPH, plan)
    before = plan.read_bytes()
    (tmp_path / "broken.onnx").write_bytes(GRAPH.read_bytes()[:5000])
    assert program.run([tools / "sol-compile", tmp_path / "broken.onnx", "-o", plan]).status == 1
    assert plan.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.onnx", "plan.bin"]


@pytest.mark.parametrize("damage", ["cut", "version", "flipped"])
def test_a_damaged_plan_is_refused(damage, tools, tmp_path):
    plan = tmp_path / "plan.bin"
    program.compile_model(tools, GRAPH, plan)
    data = bytearray(plan.read_bytes())
    if damage == "cut":
        del data[len(data) // 2 :]
    elif damage == "version":
        data[8] ^= 0x40
    else:
        for position in range(0, len(data), max(1, len(data) // 64)):
            data[position] ^= 0xFF
    plan.write_bytes(data)
    outcome = program.run([tools / "sol-run", plan, "--inputs", GRAPH.parent / "test_data_set_0", "--outputs", tmp_path])
    assert outcome.status == 1 and "error: " in outcome.stderr, outcome


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
