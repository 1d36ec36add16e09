#!/usr/bin/env python3
"""Runs ONNX's own operator cases (onnx.backend.test.case.node) through sol-compile and sol-run.

    pip install onnx==1.23.2 numpy ml_dtypes
    python node_suite.py --build BUILD [--only REGEX] [--no-recognition] [--json FILE] [--cases DIR] [--jobs N]

Each case is a model and the outputs that the standard's reference gives. A case ends in one of four lists:

  passed   outputs have the reference's types, sizes and values, within the case's tolerance
  refused  a tool ended with exit status 1 and a message that starts with `error:` or holds a located ` error: `
  wrong    the tools answered, but otherwise than the reference
  crashed  a signal, another exit status, a failure without a message, or more than TIMEOUT seconds

Prints a line per case that isn't passed, then the counts; --json writes the four lists with their messages. Exit status
is 1 if anything is wrong or crashed beyond what EXPECTED names. --cases keeps the cases' files, so that a second run
needn't make them again.
"""
import argparse
import concurrent.futures
import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

TIMEOUT = 60

# Cases whose reference outputs no implementation can be held to, and why.
EXPECTED = {
    "test_attention_4d_causal_fp16": "in float16, the reference's own rounding is farther from the exact value than ours",
    "test_bernoulli": "draws random numbers",
    "test_bernoulli_double": "draws random numbers",
    "test_bernoulli_double_expanded": "draws random numbers",
    "test_bernoulli_expanded": "draws random numbers",
    "test_bernoulli_seed": "draws random numbers",
    "test_bernoulli_seed_expanded": "draws random numbers",
}


def write_value(path, value):
    """An input or output as the backend tests store it: a proto, or an array or list that becomes one."""
    if not hasattr(value, "SerializeToString"):
        if isinstance(value, (list, tuple)):
            value = numpy_helper.from_list(list(value))
        elif value is None:
            value = onnx.OptionalProto()
        else:
            value = numpy_helper.from_array(np.asarray(value))
    path.write_bytes(value.SerializeToString())


def write_cases(folder):
    """Writes every case as folder/NAME/{model.onnx,input,expected,tolerance.json}."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    for case in cases:
        place = folder / case.name
        (place / "input").mkdir(parents=True, exist_ok=True)
        (place / "expected").mkdir(exist_ok=True)
        (place / "model.onnx").write_bytes(case.model.SerializeToString())
        inputs, outputs = case.data_sets[0]
        for i, value in enumerate(inputs):
            write_value(place / "input" / f"input_{i}.pb", value)
        for i, value in enumerate(outputs):
            write_value(place / "expected" / f"output_{i}.pb", value)
        (place / "tolerance.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
    (folder / "complete").touch()


def difference(got, want, rtol, atol):
    """What is wrong with an output, or None."""
    if got.dtype != want.dtype:
        return f"type {got.dtype}, not {want.dtype}"
    if got.shape != want.shape:
        return f"sizes {got.shape}, not {want.shape}"
    if want.dtype == object:
        return None if np.array_equal(got, want) else "strings differ"
    if want.dtype.kind in "iub":
        return None if np.array_equal(got, want) else f"{np.count_nonzero(got != want)} of {got.size} integers differ"
    if want.dtype.name == "bfloat16":
        rtol = max(rtol, 2**-6)
    if want.dtype.kind != "c":
        got, want = got.astype(np.float64), want.astype(np.float64)
    near = np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    if near.all():
        return None
    first = tuple(np.argwhere(~near)[0]) if near.ndim else ()
    return f"{np.count_nonzero(~near)} of {near.size} values differ, at {[int(i) for i in first]}: {got[first]}, not {want[first]}"


def command_failure(command):
    """(list, message) if the command fails, None if it succeeds."""
    name = pathlib.Path(command[0]).name
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                              timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return "crashed", f"{name}: more than {TIMEOUT} s"
    if done.returncode == 0:
        return None
    message = f"{name}: {done.stderr.strip()[:400]}"
    if done.returncode == 1 and re.search(r"(^|\s)error: ", done.stderr):
        return "refused", message
    return "crashed", f"exit status {done.returncode}, {message}"


def read_output(folder, file_name, output_name):
    """An output of sol-run, None if missing; a model without inputs gets its outputs as .npy files."""
    if (folder / file_name).is_file():
        return numpy_helper.to_array(onnx.load_tensor(folder / file_name))
    array_file = folder / f"{output_name}.npy"
    return np.load(array_file) if array_file.is_file() else None


def run_case(options, place):
    """The case's list and message."""
    build = pathlib.Path(options.build).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        plan, outputs = scratch / "plan.bin", scratch / "out"
        flags = ["--no-recognition"] if options.no_recognition else []
        failure = (command_failure([build / "bin/sol-compile", place / "model.onnx", "-o", plan, *flags])
                   or command_failure([build / "bin/sol-run", plan, "--inputs", place / "input", "--outputs", outputs]))
        if failure:
            return failure
        tolerance = json.loads((place / "tolerance.json").read_text())
        model = onnx.load(place / "model.onnx", load_external_data=False)
        for i, output in enumerate(model.graph.output):
            name = f"output_{i}.pb"
            if not output.type.HasField("tensor_type"):
                return "wrong", f"{name}: answered, but {output.name} is no tensor"
            got = read_output(outputs, name, output.name)
            if got is None:
                return "wrong", f"{name}: missing"
            want = numpy_helper.to_array(onnx.load_tensor(place / "expected" / name))
            text = difference(got, want, **tolerance)
            if text:
                return "wrong", f"{name}: {text}"
    return "passed", ""


def run_all(options, folder):
    places = [place for place in sorted(folder.iterdir()) if place.is_dir() and re.search(options.only, place.name)]
    lists = {"passed": {}, "refused": {}, "wrong": {}, "crashed": {}}
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        answers = pool.map(functools.partial(run_case, options), places, chunksize=4)
        for place, (kind, message) in zip(places, answers):
            lists[kind][place.name] = message
            if kind != "passed":
                print(f"{kind} {place.name}: {message}", flush=True)
    return lists


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="build folder with bin/sol-compile and bin/sol-run")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose name holds a match")
    parser.add_argument("--no-recognition", action="store_true", help="compile with --no-recognition")
    parser.add_argument("--json", metavar="FILE", help="write the four lists here")
    parser.add_argument("--cases", metavar="DIR", help="keep the cases' files here, or use those kept here")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.cases or scratch)
        if not (folder / "complete").is_file():
            write_cases(folder)
        lists = run_all(options, folder)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(lists, indent=1) + "\n")
    total = sum(len(names) for names in lists.values())
    print(f"{total} cases: " + ", ".join(f"{len(names)} {kind}" for kind, names in lists.items()))
    bad = [name for kind in ("wrong", "crashed") for name in lists[kind] if name not in EXPECTED]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
