"""Recognition goes by data flow: other names and another order of nodes change neither what is recognised nor any output."""
from collections import Counter
import re

import pytest

from conftest import MODELS
from disguise import disguise
import program
from test_models import Judge, NAMES, data_sets
import tensors

OPERATION = re.compile(r'^\s*(?:%[^=]*=\s*)?"?((?:nn|onnx)\.[\w.]+)"?', re.M)


def operations(tools, model) -> Counter:
    """How often each operation stands in the IR after the stage `nn`."""
    outcome = program.succeed([tools / "sol-compile", model, "--stop-after=nn"])
    return Counter(OPERATION.findall(outcome.stdout))


@pytest.mark.parametrize("name", NAMES)
def test_disguised_model(name, tools, tmp_path):
    folder, disguised = MODELS / name, tmp_path / "model.onnx"
    disguise(folder / "model.onnx", disguised, seed=7)
    before, after = operations(tools, folder / "model.onnx"), operations(tools, disguised)
    changed = {key: (before[key], after[key]) for key in before | after if before[key] != after[key]}
    assert before and not changed, f"operations whose number changed, before and after: {changed}"

    plan, outputs, data_set = tmp_path / "plan.bin", tmp_path / "outputs", data_sets(folder)[-1]
    program.compile_model(tools, disguised, plan)
    # The data sets' tensors carry the original names: inputs go by their number here.
    program.run_data_set(tools, plan, data_set, outputs)
    inputs, given = tensors.load_all(data_set, "input"), tensors.load_all(data_set, "output")
    faults = Judge(folder).faults(inputs, given, tensors.load_all(outputs, "output"))
    assert not faults, "\n".join(faults[:6])
