"""Tokens a second of sol-run beside ONNX Runtime's, on the same model file, in turn in one run.

Both decode greedily from the same prompt with a growing cache, on the same number of threads. Prints the median of
each figure over the rounds and the ratio (more than 1: Sol is faster).

Use: python tools/bench/compare-onnxruntime.py MODEL_FOLDER [--rounds 3] [--tokens 64] [--threads 2]
in an environment with `pip install onnxruntime==1.32.0 tokenizers==0.23.3`.
MODEL_FOLDER holds model.onnx, plan.bin and tokenizer.json (build/models/smollm2-135m-instruct, say).
"""
import argparse
import json
from pathlib import Path
import re
from statistics import median
import subprocess
import sys
import time

import numpy
import onnxruntime

PROMPT = "Once upon a time, in a small village by the sea, there lived an old man who "
ROOT = Path(__file__).resolve().parents[2]


class OnnxRuntime:
    """Greedy decoding with past and present tensors, as an exported decoder asks for it."""

    def __init__(self, model: Path, threads: int):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.outputs = [output.name for output in self.session.get_outputs()]

    def feeds(self, tokens, past: dict, held: int) -> dict:
        feeds = dict(past)
        for value in self.session.get_inputs():
            if value.name == "input_ids":
                feeds[value.name] = numpy.array([tokens], dtype=numpy.int64)
            elif value.name == "attention_mask":
                feeds[value.name] = numpy.ones((1, held + len(tokens)), dtype=numpy.int64)
            elif value.name == "position_ids":
                feeds[value.name] = numpy.arange(held, held + len(tokens), dtype=numpy.int64)[None]
            elif value.name not in feeds:
                sizes = [size if isinstance(size, int) else 0 for size in value.shape]
                feeds[value.name] = numpy.zeros([1, sizes[1], 0, sizes[3]], dtype=numpy.float32)
        return feeds

    def run(self, prompt: list, count: int):
        """Seconds to the first token, and tokens a second after it."""
        tokens, past, held = prompt, {}, 0
        start = time.perf_counter()
        first = None
        for _ in range(count):
            results = dict(zip(self.outputs, self.session.run(None, self.feeds(tokens, past, held))))
            held += len(tokens)
            tokens = [int(results["logits"][0, -1].argmax())]
            past = {name.replace("present", "past_key_values"): value for name, value in results.items() if "present" in name}
            first = first or time.perf_counter()
        return first - start, (count - 1) / (time.perf_counter() - first)


def run_sol(build: Path, plan: Path, count: int, threads: int):
    command = [build / "bin/sol-run", plan, "--raw", "--prompt", PROMPT, "--max-tokens", str(count),
               "--threads", str(threads)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    found = re.search(r"time to first token ([0-9.]+) s; (\d+) tokens, ([0-9.]+) tokens/s", text)
    return float(found[1]), float(found[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder (default: build/)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    from tokenizers import Tokenizer

    prompt = Tokenizer.from_file(str(arguments.folder / "tokenizer.json")).encode(PROMPT).ids
    reference = OnnxRuntime(arguments.folder / "model.onnx", arguments.threads)
    sol, other = [], []
    for _ in range(arguments.rounds):
        sol.append(run_sol(arguments.build, arguments.folder / "plan.bin", arguments.tokens, arguments.threads))
        other.append(reference.run(prompt, arguments.tokens))
    result = {}
    for index, name in enumerate(["time_to_first_token_s", "decode_tokens_per_s"]):
        mine, theirs = median(row[index] for row in sol), median(row[index] for row in other)
        result[name] = {"sol": round(mine, 4), "onnxruntime": round(theirs, 4),
                        "ratio": round(theirs / mine if index == 0 else mine / theirs, 3)}
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
