"""One-node models of every older operator version, with ONNX Runtime's outputs, in the layout of the ONNX backend tests.

    pip install onnx==1.23.2 onnxruntime==1.32.0 numpy
    python older_versions.py OUT [OPERATOR…]

writes OUT/<operator>_<version>/{model.onnx,test_data_set_0/{input,output}_<i>.pb} for each version that some opset from 7
on selects and that is not the newest, and prints what ONNX Runtime does not run. Nothing is committed of it: the models
are made where the tests run.
"""
import pathlib
import sys

import numpy as np
import onnx
import onnx.defs as defs
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OLDEST_OPSET = 7
rng = np.random.default_rng(1)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def positive(*shape):
    return np.abs(floats(*shape)) + np.float32(0.5)


def ints(*values):
    return np.array(values, np.int64)


def bools(*shape):
    return rng.integers(0, 2, shape).astype(bool)


def node(*inputs, outputs=1, **attributes):
    """What a version's node looks like: arrays (None: not given), number of outputs, attributes."""
    return list(inputs), outputs, attributes


X = floats(2, 3, 4)
IMAGE = floats(1, 2, 6, 6)


def unary(make=lambda: X, **attributes):
    return lambda version: node(make(), **attributes)


def binary(make=floats):
    return lambda version: node(make(2, 3, 4), make(3, 1))


def reduction(to_input):
    return lambda version: node(X, axes=[1], keepdims=0) if version < to_input else node(X, ints(1), keepdims=0)


def axes(to_input, data, value):
    return lambda version: node(data, axes=[value]) if version < to_input else node(data, ints(value))


def batch_norm(version):
    return node(IMAGE, positive(2), floats(2), floats(2), positive(2), epsilon=1e-3)


def clip(version):
    return node(X, min=-0.5, max=0.5) if version < 11 else node(X, np.float32(-0.5), np.float32(0.5))


def pad(version):
    if version < 11:
        return node(X, pads=[0, 1, 0, 2, 0, 1], value=1.5)
    return node(X, ints(0, 1, 0, 2, 0, 1), np.float32(1.5))


def slice_(version):
    if version < 10:
        return node(X, starts=[1, -3], ends=[2**31, -1], axes=[1, 2])
    return node(X, ints(1, -3), ints(2**31, -1), ints(1, 2))


def split(version):
    if version < 13:
        return node(X, outputs=2, axis=2, split=[1, 3])
    return node(X, ints(1, 3), outputs=2, axis=2)


def top_k(version):
    return node(X, k=2, outputs=2, axis=1) if version < 10 else node(X, ints(2), outputs=2, axis=1)


def resize(version):
    scales = np.array([1, 1, 2, 2], np.float32)
    if version < 11:
        return node(IMAGE, scales, mode="linear")
    return node(IMAGE, np.zeros(0, np.float32), scales, mode="nearest")


def upsample(version):
    if version < 9:
        return node(IMAGE, mode="nearest", scales=[1.0, 1.0, 2.0, 2.0])
    return node(IMAGE, np.array([1, 1, 2, 2], np.float32), mode="nearest")


def value(name, kind, *shape):
    return helper.make_tensor_value_info(name, kind, shape)


def loop(version):
    """Doubles X three times and stacks what it was, negated."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["goes"]), helper.make_node("Add", ["x", "x"], ["twice"]),
         helper.make_node("Neg", ["x"], ["minus"])],
        "body", [value("i", TensorProto.INT64), value("going", TensorProto.BOOL), value("x", TensorProto.FLOAT, 2, 3, 4)],
        [value("goes", TensorProto.BOOL), value("twice", TensorProto.FLOAT, 2, 3, 4),
         value("minus", TensorProto.FLOAT, 2, 3, 4)])
    return node(np.array(3), np.array(True), X, outputs=2, body=body)


def scan(version):
    """Running sums; version 8 has a batch in front and, first, lengths."""
    body = helper.make_graph(
        [helper.make_node("Add", ["sum", "x"], ["next"]), helper.make_node("Identity", ["next"], ["kept"])], "body",
        [value("sum", TensorProto.FLOAT, 3), value("x", TensorProto.FLOAT, 3)],
        [value("next", TensorProto.FLOAT, 3), value("kept", TensorProto.FLOAT, 3)])
    if version < 9:
        return node(None, floats(1, 3), floats(1, 4, 3), outputs=2, num_scan_inputs=1, body=body)
    return node(floats(3), floats(4, 3), outputs=2, num_scan_inputs=1, body=body)


def dropout(version):
    return node(X, ratio=0.4) if version < 12 else node(X)


def quantize(version):
    return node(X, np.float32(0.1), np.uint8(3))


def recurrent(gates):
    return lambda version: node(floats(3, 2, 4), floats(1, gates * 5, 4), floats(1, gates * 5, 5), outputs=2, hidden_size=5)


def if_(version):
    def branch(name, op):
        return helper.make_graph([helper.make_node(op, ["x1"], [name])], name, [],
                                 [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])
    return node(np.bool_(True), X, then_branch=branch("t", "Neg"), else_branch=branch("e", "Abs"))


def grid_sample(version):
    return node(IMAGE, np.clip(floats(1, 3, 3, 2), -1, 1), mode="bilinear" if version < 20 else "linear")


FORMS = {
    **{op: unary() for op in ("Abs Ceil Cos Cosh Elu Erf Exp Floor HardSigmoid Identity IsInf IsNaN LeakyRelu Neg NonZero "
                              "Relu Round Selu Shape Sigmoid Sign Sin Sinh Size Softplus Softsign Tan Tanh "
                              "ThresholdedRelu Atan Asinh HardSwish Mish LpNormalization").split()},
    **{op: unary(lambda: positive(2, 3, 4)) for op in "Log Reciprocal Sqrt Acosh".split()},
    **{op: unary(lambda: np.tanh(X)) for op in "Acos Asin Atanh".split()},
    **{op: binary() for op in "Add Sub Mul Greater GreaterOrEqual Less LessOrEqual PRelu".split()},
    **{op: binary(positive) for op in "Div Pow".split()},
    **{op: (lambda version: node(floats(2, 3), floats(2, 3), floats(2, 3))) for op in "Max Min Mean Sum".split()},
    **{op: unary() for op in "Softmax LogSoftmax Hardmax Flatten Transpose Celu".split()},
    **{"Reduce" + kind: reduction(18) for kind in "L1 L2 LogSumExp Max Mean Min Prod SumSquare".split()},
    "ReduceLogSum": lambda v: node(positive(2, 3, 4), axes=[1]) if v < 18 else node(positive(2, 3, 4), ints(1)),
    "ReduceSum": reduction(13),
    **{op: unary(axis=1) for op in "ArgMax ArgMin".split()},
    **{op: unary(lambda: IMAGE, kernel_shape=[2, 2], strides=[2, 2]) for op in "AveragePool MaxPool LpPool".split()},
    **{op: unary(lambda: IMAGE) for op in "GlobalAveragePool GlobalMaxPool GlobalLpPool".split()},
    "And": binary(bools),
    "BatchNormalization": batch_norm,
    "BitShift": lambda v: node(np.array([1, 2, 200], np.uint8), np.array([1, 3, 2], np.uint8), direction="LEFT"),
    "Cast": unary(to=TensorProto.INT32),
    "CastLike": lambda v: node(X, np.float64(0)),
    "Clip": clip,
    "Compress": lambda v: node(X, np.array([False, True, True]), axis=1),
    "Concat": lambda v: node(X, X, axis=1),
    "ConstantOfShape": lambda v: node(ints(2, 3)),
    "Conv": lambda v: node(IMAGE, floats(3, 2, 3, 3), pads=[1, 1, 1, 1]),
    "ConvTranspose": lambda v: node(IMAGE, floats(2, 3, 3, 3)),
    "CumSum": lambda v: node(X, np.int32(1)),
    "DepthToSpace": unary(lambda: floats(1, 8, 2, 3), blocksize=2),
    "DequantizeLinear": lambda v: node(np.arange(6, dtype=np.uint8), np.float32(0.1), np.uint8(3)),
    "Det": unary(lambda: floats(2, 3, 3)),
    "Dropout": dropout,
    "Einsum": lambda v: node(floats(2, 3), floats(3, 4), equation="ij,jk->ik"),
    "Expand": lambda v: node(floats(3, 1), ints(2, 3, 4)),
    "Equal": lambda v: node(ints(1, 2, 3), ints(3, 2, 1)) if v < 11 else node(X, X),
    "EyeLike": unary(lambda: floats(3, 4)),
    "GRU": recurrent(3),
    "Gather": lambda v: node(X, ints(2, 0), axis=1),
    "GatherElements": lambda v: node(X, np.zeros((2, 3, 1), np.int64), axis=2),
    "GatherND": lambda v: node(X, np.array([[0, 1], [1, 2]], np.int64)),
    "Gemm": lambda v: node(floats(2, 3), floats(4, 3), floats(4), transB=1, alpha=0.5),
    "GridSample": grid_sample,
    "GroupNormalization": lambda v: node(floats(2, 4, 3), floats(4), floats(4), num_groups=2),
    "If": if_,
    "InstanceNormalization": lambda v: node(IMAGE, floats(2), floats(2)),
    "LRN": unary(lambda: IMAGE, size=3),
    "LSTM": recurrent(4),
    "MatMul": lambda v: node(X, floats(4, 5)),
    "MeanVarianceNormalization": unary(lambda: IMAGE),
    "Mod": lambda v: node(ints(7, -7, 5), ints(3, 3, -3)),
    "NegativeLogLikelihoodLoss": lambda v: node(floats(3, 5), ints(1, 0, 4), positive(5)),
    "OneHot": lambda v: node(ints(1, 3), ints(5), np.array([0, 1], np.float32)),
    "Pad": pad,
    "QLinearMatMul": lambda v: node(np.arange(6, dtype=np.uint8).reshape(2, 3), np.float32(0.1), np.uint8(2),
                                    np.arange(12, dtype=np.uint8).reshape(3, 4), np.float32(0.2), np.uint8(5),
                                    np.float32(0.05), np.uint8(100)),
    "QuantizeLinear": quantize,
    "RNN": recurrent(1),
    "Range": lambda v: node(np.float32(1), np.float32(5), np.float32(0.5)),
    "Reshape": lambda v: node(X, ints(0, -1)),
    "Resize": resize,
    "ReverseSequence": lambda v: node(X, ints(2, 1, 2), time_axis=0, batch_axis=1),
    "Scatter": lambda v: node(X, np.zeros((2, 1, 4), np.int64), floats(2, 1, 4), axis=1),
    "ScatterElements": lambda v: node(X, np.zeros((2, 1, 4), np.int64), floats(2, 1, 4), axis=1),
    "ScatterND": lambda v: node(X, np.array([[1, 2]], np.int64), floats(1, 4)),
    "Slice": slice_,
    "SoftmaxCrossEntropyLoss": lambda v: node(floats(3, 5), ints(1, 0, 4), outputs=2),
    "SpaceToDepth": unary(lambda: floats(1, 2, 4, 6), blocksize=2),
    "Split": split,
    "Squeeze": axes(13, floats(2, 1, 3), 1),
    "Tile": lambda v: node(X, ints(1, 2, 1)),
    "TopK": top_k,
    "Unique": lambda v: node(np.array([2, 1, 1, 3], np.float32), outputs=4),
    "Unsqueeze": axes(13, X, 1),
    "Upsample": upsample,
    "Where": lambda v: node(bools(2, 3, 4), X, floats(1)),
    "Attention": lambda v: node(floats(2, 4, 3, 8), floats(2, 2, 5, 8), floats(2, 2, 5, 8), is_causal=0),
    "Loop": loop,
    "Scan": scan,
    "Or": binary(bools),
    "Xor": binary(bools),
}


def older_versions(op):
    """(version, opset that selects it) of each version but the newest."""
    versions = sorted({s.since_version for s in defs.get_all_schemas_with_history() if s.name == op and s.domain == ""
                       and not s.deprecated})
    removed = [s.since_version for s in defs.get_all_schemas_with_history()
               if s.name == op and s.domain == "" and s.deprecated]
    for version, following in zip(versions, versions[1:] + (removed[:1] or [None])):
        if following is not None and following > OLDEST_OPSET:
            yield version, max(version, OLDEST_OPSET)


def make_model(op, version, opset):
    inputs, outputs, attributes = FORMS[op](version)
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(inputs)]
    feeds = {name: np.asarray(value) for name, value in zip(names, inputs) if name}
    # Sizes, axes and scales are constants where exporters make them so.
    constants = {name for name in feeds if name != "x0" and (feeds[name].dtype == np.int64 or op in ("Resize", "Upsample"))}
    direct = names[:1] if op == "If" else names
    made = helper.make_node(op, direct, [f"y{i}" for i in range(outputs)], name=f"/{op}", **attributes)
    graph = helper.make_graph(
        [made], op,
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(feeds[n].dtype), feeds[n].shape)
         for n in feeds if n not in constants],
        [helper.make_tensor_value_info(f"y{i}", TensorProto.UNDEFINED, None) for i in range(outputs)],
        [numpy_helper.from_array(feeds[n], n) for n in constants])
    for output in graph.output:
        output.ClearField("type")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 20 else 10)
    return model, {n: v for n, v in feeds.items() if n not in constants}


def write_case(folder, model, feeds, results):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for i, (name, value) in enumerate(feeds.items()):
        onnx.save_tensor(numpy_helper.from_array(value, name), data / f"input_{i}.pb")
    for i, value in enumerate(results):
        onnx.save_tensor(numpy_helper.from_array(np.asarray(value), f"y{i}"), data / f"output_{i}.pb")


def write_case_of(folder, op, version, opset):
    """Writes one case; if ONNX Runtime does not run the model, writes nothing and gives its reason."""
    model, feeds = make_model(op, version, opset)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results = session.run(None, feeds)
    except Exception as error:  # noqa: BLE001: whatever the reason, there is nothing to compare with
        return str(error).splitlines()[0]
    write_case(pathlib.Path(folder), model, feeds, results)
    return None


def main(out, only):
    count = 0
    for op in only or sorted(FORMS):
        for version, opset in older_versions(op):
            reason = write_case_of(pathlib.Path(out) / f"{op}_{version}", op, version, opset)
            if reason is None:
                count += 1
            else:
                print(f"{op}-{version} (opset {opset}): ONNX Runtime does not run it: {reason[:150]}")
    print(f"{count} models in {out}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
