"""Every older version of every accepted operator, alone in a model: the answer of ONNX Runtime, or a refusal that is listed.

The models are made here, by test/import/older_versions.py.
"""
import sys

import pytest

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "test/import"))
import compare_older_versions  # noqa: E402
import older_versions  # noqa: E402

# What Sol refuses, and what its message says. All others must be answered rightly.
NO_KERNEL = "no kernel computes this operator"
REFUSED = {
    "Det-11": NO_KERNEL,
    "GRU-7": NO_KERNEL,
    "GRU-14": NO_KERNEL,
    "GridSample-16": NO_KERNEL,
    "GridSample-20": NO_KERNEL,
    "LSTM-7": NO_KERNEL,
    "LSTM-14": NO_KERNEL,
    "RNN-7": NO_KERNEL,
    "RNN-14": NO_KERNEL,
    "Resize-10": NO_KERNEL,
    "Resize-11": NO_KERNEL,
    "Resize-13": NO_KERNEL,
    "Resize-18": NO_KERNEL,
    "Scan-8": "version 8 of `Scan` is not supported",
    "Upsample-7": NO_KERNEL,
    "Upsample-9": NO_KERNEL,
}

CASES = {f"{op}-{version}": (op, version, opset)
         for op in sorted(older_versions.FORMS) for version, opset in older_versions.older_versions(op)}


@pytest.mark.parametrize("name", CASES)
def test_older_version(name, tools, tmp_path):
    without_reference = older_versions.write_case_of(tmp_path / "case", *CASES[name])
    assert not without_reference, f"ONNX Runtime doesn't run it: {without_reference}"
    (tmp_path / "scratch").mkdir()
    answer = compare_older_versions.answer(tmp_path / "case", tools, tmp_path / "scratch")
    if name in REFUSED:
        assert answer.startswith("sol-compile: error: ") and REFUSED[name] in answer, answer
    else:
        assert answer == "equal", answer


def test_the_list_is_of_what_is_there():
    assert len(CASES) >= 200 and {*REFUSED} <= {*CASES}
