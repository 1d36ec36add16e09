"""Compiles and runs the models of older_versions.py and compares with ONNX Runtime's outputs.

    python compare_older_versions.py MODELS TOOLS

MODELS is the folder that older_versions.py wrote, TOOLS the one with sol-compile and sol-run. A model may be refused (the
message is printed), never answered wrongly; exit status 1 if one is.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper


def is_equal(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    return np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=1e-4, atol=1e-5, equal_nan=True)


def answer(folder, tools, scratch):
    """"equal", "WRONG …" or the message of the tool that refused."""
    plan, out, data = scratch / "plan.bin", scratch / "out", folder / "test_data_set_0"
    for command in ([tools / "sol-compile", folder / "model.onnx", "-o", plan],
                    [tools / "sol-run", plan, "--inputs", data, "--outputs", out]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode:
            return f"{command[0].name}: {done.stderr.strip()[:400]}"
    for path in sorted(data.glob("output_*.pb")):
        want, got = (numpy_helper.to_array(onnx.load_tensor(p)) for p in (path, out / path.name))
        if not is_equal(got, want):
            return f"WRONG in {path.name}"
    return "equal"


def main(models, tools):
    answers = {}
    for folder in sorted(pathlib.Path(models).iterdir()):
        with tempfile.TemporaryDirectory() as scratch:
            answers[folder.name] = answer(folder, pathlib.Path(tools).resolve(), pathlib.Path(scratch))
        if answers[folder.name] != "equal":
            print(f"{folder.name}: {answers[folder.name]}", flush=True)
    wrong = sum(text.startswith("WRONG") for text in answers.values())
    print(f"{sum(text == 'equal' for text in answers.values())} of {len(answers)} equal, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
