"""What can't be compiled: everything that is wrong with a model is told in one run, each fault once, nothing is written.

Where Sol is at fault and not the model, what shows it is left behind.
"""
import re

from onnx import TensorProto, helper
import onnx
import pytest

import program


def value(name, shape, element=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def save(folder, name, nodes, between=(), opsets=(("", 18),)):
    """A model of these nodes from `x` (batch x 2 x 4 x 4) and `g` (batch x 4 x 4 x 2) to `y`; `between` are declared values."""
    graph = helper.make_graph(nodes, "g", [value("x", ["batch", 2, 4, 4]), value("g", ["batch", 4, 4, 2])],
                              [value("y", None)], value_info=list(between))
    graph.output[0].ClearField("type")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*opset) for opset in opsets], ir_version=10)
    path = folder / name
    onnx.save(model, str(path))
    return path


def refuse(tools, folder, *models):
    """Compiles; gives the lines `error: …` of a refusal that leaves nothing behind."""
    plan_folder = folder / "plan"
    plan_folder.mkdir()
    outcome = program.run([tools / "sol-compile", *models, "-o", plan_folder / "plan.bin"])
    assert outcome.status == 1, outcome
    assert not list(plan_folder.iterdir()), outcome
    lines = outcome.stderr.splitlines()
    assert all(line.startswith("error: ") for line in lines), outcome
    return lines


def one_about(lines, node, *mentions):
    about = [line for line in lines if f"`{node}`" in line]
    assert len(about) == 1, lines
    for mention in mentions:
        assert mention in about[0], about[0]


SAMPLE = helper.make_node("GridSample", ["x", "g"], ["sampled"], name="/eyes/GridSample")


def test_three_faults_in_one_run(tools, tmp_path):
    """An operator that nobody knows, one that nothing computes, and an attribute of the wrong kind."""
    nodes = [
        helper.make_node("FancyGate", ["x"], ["gated"], name="/mlp/FancyGate", domain="com.acme"),
        helper.make_node("FancyGate", ["gated"], ["again"], name="/mlp/FancyGate_1", domain="com.acme"),
        SAMPLE,
        helper.make_node("Softmax", ["sampled"], ["soft"], name="/head/Softmax", axis="last"),
        helper.make_node("Add", ["again", "soft"], ["y"], name="/head/Add"),
    ]
    model = save(tmp_path, "model.onnx", nodes, [value("gated", ["batch", 2, 4, 4])], [("", 18), ("com.acme", 3)])
    lines = refuse(tools, tmp_path, model)
    assert len(lines) == 4, lines
    one_about(lines, "/mlp/FancyGate", "(FancyGate of com.acme, opset 3; inputs float32 [batch, 2, 4, 4]): ",
              "the operator is not known; export")
    # Its input has no value, but the exporter said what it would be.
    one_about(lines, "/mlp/FancyGate_1", "inputs float32 [batch, 2, 4, 4]): ")
    one_about(lines, "/eyes/GridSample",
              "(GridSample of ai.onnx, opset 18; inputs float32 [batch, 2, 4, 4], float32 [batch, 4, 4, 2]): ",
              "no kernel computes this operator; express it")
    one_about(lines, "/head/Softmax", "(Softmax of ai.onnx, opset 18; inputs ", "axis")


def test_shapes_and_operators_in_one_run(tools, tmp_path):
    """Shapes that contradict each other are found later than operators that nothing computes; both are told."""
    nodes = [SAMPLE, helper.make_node("MatMul", ["x", "g"], ["product"], name="/MatMul"),
             helper.make_node("Add", ["sampled", "product"], ["y"], name="/Add")]
    lines = refuse(tools, tmp_path, save(tmp_path, "model.onnx", nodes))
    assert len(lines) == 2, lines
    one_about(lines, "/eyes/GridSample", "(GridSample of ai.onnx, opset 18; ", "no kernel computes this operator")
    one_about(lines, "/MatMul", "(MatMul of ai.onnx, opset 18; inputs float32 [batch, 2, 4, 4], float32 [batch, 4, 4, 2]): ",
              "has shapes [batch, 2] and [batch, 4] that do not broadcast")


def test_two_models_in_one_run(tools, tmp_path):
    nodes = {name: [helper.make_node(name, ["x"], ["y"], name=f"/{name}", domain="com.acme")] for name in ("One", "Two")}
    models = [save(tmp_path, f"{name}.onnx", nodes[name]) for name in nodes]
    lines = refuse(tools, tmp_path, *models)
    assert len(lines) == 2, lines
    for name in nodes:
        one_about(lines, f"/{name}", f"({name} of com.acme")


@pytest.mark.parametrize("use", ["none", "constant branch"])
def test_what_no_run_needs_is_not_refused(use, tools, tmp_path):
    """An operator that nothing computes is no fault where nothing needs its result."""
    nodes = [SAMPLE, helper.make_node("Neg", ["x"], ["y"], name="/Neg")]
    if use == "constant branch":
        branches = [helper.make_graph([node], name, [], [value(node.output[0], None)])
                    for name, node in (("then", helper.make_node("Neg", ["x"], ["a"])), ("else", SAMPLE))]
        nodes = [helper.make_node("Constant", [], ["yes"], value=helper.make_tensor("v", TensorProto.BOOL, [], [True])),
                 helper.make_node("If", ["yes"], ["y"], name="/If", then_branch=branches[0], else_branch=branches[1])]
    program.compile_model(tools, save(tmp_path, "model.onnx", nodes), tmp_path / "plan.bin")


def test_only_the_first_are_told_in_full(tools, tmp_path):
    nodes = [helper.make_node("FancyGate", [f"v{i}" if i else "x"], [f"v{i + 1}" if i < 29 else "y"], name=f"/gate{i}",
                              domain="com.acme") for i in range(30)]
    lines = refuse(tools, tmp_path, save(tmp_path, "model.onnx", nodes))
    assert len(lines) == 21 and re.fullmatch(r"error: and 10 more errors", lines[-1]), lines


# As the stage `nn` would leave it, had it not checked its promise: nothing computes Det.
BROKEN_PROMISE = """
module attributes {sol.stage = "nn", sol.model_folder = "."} {
  func.func @model(%x: tensor<2x2xf32> {nn.name = "x", nn.role = "other"}) -> (tensor<f32> {nn.name = "y"}) {
    %0 = "onnx.Neg"(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/Neg")
    %1 = "onnx.Det"(%0) : (tensor<2x2xf32>) -> tensor<f32> loc("/Det")
    return %1 : tensor<f32>
  }
}
"""


@pytest.mark.parametrize("output", ["plan.bin", None], ids=["beside the plan", "among temporary files"])
def test_a_failed_pass_leaves_a_reproducer(output, tools, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "broken.mlir").write_text(BROKEN_PROMISE)
    target = ["-o", tmp_path / "out" / output] if output else ["--stop-after=native"]
    (tmp_path / "out").mkdir()
    outcome = program.run([tools / "sol-compile", tmp_path / "broken.mlir", *target])
    assert outcome.status == 1 and "`/Det`" in outcome.stderr, outcome
    left = [*(tmp_path / "out").iterdir(), *(tmp_path / "temporary").iterdir()]
    assert len(left) == 1, left
    if output:
        assert left[0].name == f"{output}.reproducer.mlir"
    assert re.search(rf"error: pass `native-lower-to-cpu` failed, .*`sol-opt {re.escape(str(left[0]))} --run-reproducer`",
                     outcome.stderr), outcome
    # The IR before the pass, and the pass: it fails alike.
    assert '"onnx.Neg"' in left[0].read_text() and 'loc("/Neg")' in left[0].read_text()
    again = program.run([tools / "sol-opt", left[0], "--run-reproducer", "-o", tmp_path / "out.mlir"])
    assert again.status == 1 and "no kernel computes `onnx.Det`" in again.stderr, again
