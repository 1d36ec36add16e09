"""SmolLM2-135M-Instruct from all four exporters' graphs: the greedy text of greedy.json, word for word.

The expected continuations come from ONNX Runtime in float32. Graphs other than the main job's are made in the build
folder on the first run and kept there.
"""
import json
import os
from pathlib import Path
import pty
import re
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


@pytest.mark.xdist_group("text")
@pytest.mark.parametrize("flags", [("--chunk", "3"), ("--chunk", "1"), ("--threads", "1"), ("--threads", "2", "--chunk", "5")],
                         ids=" ".join)
def test_chunks_and_threads_change_nothing(flags, tools, build_folder):
    plan = make_plan(GRAPHS[0], build_folder, tools)
    prompt = PROMPTS[2]  # the closest race between two tokens
    same_text(greedy(tools, plan, prompt, "--raw", "--prompt", prompt["prompt"], *flags), prompt["text"])


def on_a_terminal(command: list) -> tuple:
    """Exit status, standard output, and what a terminal got that standard error goes to."""
    terminal, side = pty.openpty()
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=side)
    os.close(side)
    shown = []
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the last writer is gone
            break
        shown.append(piece)
    os.close(terminal)
    text = process.stdout.read().decode()
    return process.wait(), text, b"".join(shown).decode()


def test_progress_of_a_long_prompt(tools, build_folder):
    """How far the prompt is, on a terminal and not with --quiet; the line is taken away before the text comes."""
    plan = make_plan(GRAPHS[0], build_folder, tools)
    # Small chunks, so that the prompt takes seconds on any machine.
    command = [tools / "sol-run", plan, "--raw", "--prompt", "one two three four " * 100, "--max-tokens", "1", "--chunk", "4",
               "--threads", "1"]
    status, text, shown = on_a_terminal(command)
    assert status == 0
    told = re.findall(r"\rprompt: (\d+) of (\d+) tokens, (\d+) %\x1b\[K", shown)
    assert told, shown
    done = [int(number) for number, _, _ in told]
    assert done == sorted(set(done)) and all(int(percent) == 100 * int(n) // int(total) for n, total, percent in told)
    assert shown.rfind("\r\x1b[K") > shown.rfind("prompt: "), "the line stays"
    assert on_a_terminal([*command, "--quiet"]) == (0, text.removesuffix("\n"), "")
    redirected = program.succeed(command, seconds=300)
    assert "prompt: " not in redirected.stderr and redirected.stdout == text


@pytest.mark.xdist_group("text")
@pytest.mark.parametrize("budget", ["prompt", "generation"])
def test_context_limit(budget, tools, build_folder, tmp_path):
    """Beyond the context of the plan is an error that gives both numbers."""
    make_plan(GRAPHS[0], build_folder, tools)
    plan = tmp_path / "plan.bin"
    model = build_folder / "models/smollm2-135m-instruct/model.onnx"
    program.succeed([tools / "sol-compile", model, "-o", plan, "--context", "12"], seconds=300)
    prompt = PROMPTS[0]
    text = prompt["prompt"] if budget == "generation" else " ".join([prompt["prompt"]] * 4)
    outcome = program.run([tools / "sol-run", plan, "--raw", "--prompt", text, "--temperature", "0", "--max-tokens", "64"], 300)
    assert outcome.status == 1 and re.search(r"error: .*\b12\b", outcome.stderr), outcome
    numbers = set(re.findall(r"\d+", "".join(line for line in outcome.stderr.splitlines() if "error: " in line)))
    assert len(numbers) >= 2, f"the message must give both numbers: {outcome}"


@pytest.mark.xdist_group("text")
def test_a_plan_opens_at_once(tools, build_folder):
    """Half a gigabyte of weights is mapped, not read."""
    plan = make_plan(GRAPHS[0], build_folder, tools)
    outcome = program.succeed([tools / "sol-run", plan, "--describe"])
    assert outcome.processor_seconds < 0.5 and outcome.peak_bytes < 200 << 20, outcome


@pytest.mark.xdist_group("text")
def test_peak_memory_with_inline_weights(tools, build_folder, tmp_path):
    """A model that carries its weights in one file compiles within its largest tensor and 300 MiB."""
    make_plan(GRAPHS[0], build_folder, tools)
    folder = build_folder / "models/smollm2-135m-instruct"
    inline = tmp_path / "model.onnx"
    script = "import onnx, sys; onnx.save(onnx.load(sys.argv[1]), sys.argv[2])"
    subprocess.run([sys.executable, "-c", script, folder / "model.onnx", inline], check=True)
    table = json.loads((SOURCE / GRAPHS[0] / "weights.json").read_text())
    largest = max(entry["length"] for entry in table)
    outcome = program.compile_model(tools, inline, tmp_path / "plan.bin")
    inline.unlink()
    (tmp_path / "plan.bin").unlink()
    assert outcome.peak_bytes < largest + (300 << 20), outcome
