"""Looking inside, and going on from there: what `--dump-ir` writes is whole.

Every file parses in sol-opt, and compiling goes on from it to the same plan, byte for byte: nothing lives outside the IR.
"""
import pytest

from conftest import MODELS
import program

# One of each kind of content: weights that fold, 4-bit codes, float16, branches, no cache at all.
NAMES = ["llama-optimum-opset18", "llama-genai-int4-opset22", "llama-optimum-fp16-opset18",
         "t5-optimum-decoder-merged-opset18", "vit-optimum-opset18"]
STAGES = ["import", "nn", "native"]


@pytest.mark.parametrize("flags", [(), ("--no-recognition",)], ids=["recognition", "no-recognition"])
@pytest.mark.parametrize("name", NAMES)
def test_resume_at_every_stage(name, flags, tools, tmp_path):
    model = MODELS / name / "model.onnx"
    whole = tmp_path / "whole.bin"
    program.compile_model(tools, model, whole, f"--dump-ir={tmp_path / 'ir'}", *flags)
    files = sorted((tmp_path / "ir").iterdir())
    assert len(files) >= len(STAGES), files
    for file in files:
        program.succeed([tools / "sol-opt", file, "-o", tmp_path / "parsed.mlir"])
        resumed = tmp_path / "resumed.bin"
        program.compile_model(tools, file, resumed, *flags)
        assert resumed.read_bytes() == whole.read_bytes(), f"going on from {file.name} gives another plan"


@pytest.mark.parametrize("stage", STAGES)
def test_stop_after(stage, tools, tmp_path):
    """The IR after a stage, and no plan."""
    model = MODELS / NAMES[0] / "model.onnx"
    outcome = program.succeed([tools / "sol-compile", model, f"--stop-after={stage}"])
    assert outcome.stdout.strip() and "func" in outcome.stdout
    program.succeed([tools / "sol-compile", model, f"--stop-after={stage}", "-o", tmp_path / "stage.mlir"])
    assert (tmp_path / "stage.mlir").read_text() == outcome.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["stage.mlir"]
