"""SmolLM2-135M-Instruct from all four exporters' graphs: the greedy text of greedy.json, word for word.

The expected continuations come from ONNX Runtime in float32. Graphs other than the main job's are made in the build
folder on the first run and kept there.
"""
import json
import os
from pathlib import Path
import subprocess
import sys

import pytest

from conftest import MODELS, REPOSITORY
import program

SOURCE = MODELS / "smollm2-135m-instruct"
PROMPTS = json.loads((SOURCE / "greedy.json").read_text())
GRAPHS = ["optimum-opset18", "dynamo-opset18", "dynamo-opset23", "genai-fp32"]
END_TOKENS = {2}


def make_plan(graph: str, build: Path, tools: Path) -> Path:
    """The plan of one exporter's graph. The default graph is the main job's own model."""
    name = "smollm2-135m-instruct" if graph == GRAPHS[0] else f"smollm2-135m-instruct-{graph}"
    folder = build / "models" / name
    if not (folder / "model.onnx").is_file():
        script = REPOSITORY / "tools/models/make-smollm2.py"
        subprocess.run([sys.executable, script, folder, "--graph", graph], check=True)
    plan = folder / "plan.bin"
    compiler = tools / "sol-compile"
    if not plan.is_file() or plan.stat().st_mtime < max(os.stat(compiler).st_mtime, os.stat(folder / "model.onnx").st_mtime):
        program.succeed([compiler, folder / "model.onnx", "-o", plan], seconds=300)
    return plan


def greedy(tools: Path, plan: Path, prompt: dict, *flags) -> str:
    """The text for as many tokens as greedy.json has; its last one may be the end token, which isn't text."""
    command = [tools / "sol-run", plan, *flags, "--temperature", "0", "--max-tokens", len(prompt["greedy_ids"]), "--quiet"]
    outcome = program.succeed(command, seconds=300)
    assert outcome.stderr == "", f"--quiet prints nothing on standard error: {outcome}"
    return outcome.stdout


def same_text(got: str, want: str):
    # A line end after the text is for the terminal's sake.
    assert got.removesuffix("\n") == want.removesuffix("\n")


@pytest.mark.xdist_group("text")
@pytest.mark.parametrize("graph", GRAPHS)
def test_greedy_raw(graph, tools, build_folder):
    """The prompt as it is: for chat prompts too, where the template's text is already in it."""
    plan = make_plan(graph, build_folder, tools)
    wrong = []
    for prompt in PROMPTS:
        got = greedy(tools, plan, prompt, "--raw", "--prompt", prompt["prompt"])
        if got.removesuffix("\n") != prompt["text"].removesuffix("\n"):
            wrong.append(f"{prompt['prompt']!r}\n  got      {got!r}\n  expected {prompt['text']!r}")
    assert not wrong, f"{graph}: {len(wrong)} of {len(PROMPTS)} prompts\n" + "\n".join(wrong)


@pytest.mark.xdist_group("text")
@pytest.mark.parametrize("prompt", [prompt for prompt in PROMPTS if prompt["kind"] == "chat"], ids=lambda prompt: prompt["user"][:24])
def test_greedy_chat(prompt, tools, build_folder):
    """The user's words, put into the model's own chat template."""
    plan = make_plan(GRAPHS[0], build_folder, tools)
    same_text(greedy(tools, plan, prompt, "--prompt", prompt["user"]), prompt["text"])


@pytest.mark.xdist_group("text")
def test_prompt_file_equals_prompt(tools, build_folder, tmp_path):
    plan = make_plan(GRAPHS[0], build_folder, tools)
    prompt = PROMPTS[0]
    (tmp_path / "prompt.txt").write_text(prompt["prompt"])
    same_text(greedy(tools, plan, prompt, "--raw", "--prompt-file", tmp_path / "prompt.txt"), prompt["text"])


@pytest.mark.xdist_group("text")
def test_statistics_on_standard_error(tools, build_folder):
    plan = make_plan(GRAPHS[0], build_folder, tools)
    prompt = PROMPTS[0]
    outcome = program.succeed([tools / "sol-run", plan, "--raw", "--prompt", prompt["prompt"], "--temperature", "0",
                               "--max-tokens", "8"], seconds=300)
    assert prompt["text"].startswith(outcome.stdout.removesuffix("\n"))
    assert "time to first token" in outcome.stderr and "tokens/s" in outcome.stderr, outcome
