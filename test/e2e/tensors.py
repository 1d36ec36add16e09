"""Read tensors of test data sets, and compare them.

A comparison returns None when the tensors agree, and otherwise a sentence that says where they differ.
"""
from pathlib import Path

import numpy
import onnx
from onnx import numpy_helper


def load(path: Path):
    return numpy_helper.to_array(onnx.load_tensor(str(path)))


def save(path: Path, array, name: str):
    onnx.save_tensor(numpy_helper.from_array(numpy.asarray(array), name), str(path))


def load_all(folder: Path, kind: str) -> list:
    """All `<kind>_<i>.pb` of a folder, in order."""
    return [load(folder / f"{kind}_{index}.pb") for index in range(len(list(folder.glob(f"{kind}_*.pb"))))]


def is_exact(array) -> bool:
    return array.dtype.kind in "biu" or array.dtype == object


def same_kind(got, want):
    if got.shape != want.shape:
        return f"shape {list(got.shape)}, expected {list(want.shape)}"
    if got.dtype != want.dtype:
        return f"element type {got.dtype}, expected {want.dtype}"
    return None


def first_difference(bad, got, want) -> str:
    where = tuple(int(index) for index in numpy.argwhere(bad)[0])
    return f"{int(bad.sum())} of {bad.size} elements differ, first at {list(where)}: {got[where]}, expected {want[where]}"


def differ(got, want, relative: float, absolute: float, keep=None):
    """Element by element: |got - want| <= absolute + relative * |want|; NaN only where NaN is; integers exactly.

    `keep`: a mask that broadcasts to the tensor; where it is False nothing is compared.
    """
    if fault := same_kind(got, want):
        return fault
    if is_exact(want):
        bad = numpy.asarray(got != want)
    else:
        wide_got, wide_want = got.astype(numpy.float64), want.astype(numpy.float64)
        bad = ~numpy.isclose(wide_got, wide_want, rtol=relative, atol=absolute, equal_nan=True)
        # isclose takes equal infinities for close, and so they are.
    if keep is not None:
        bad = bad & numpy.broadcast_to(keep, bad.shape)
    return first_difference(bad, got, want) if bad.any() else None


def kept(array, keep):
    """The compared elements as one float64 vector."""
    wide = array.astype(numpy.float64)
    return wide.ravel() if keep is None else wide[numpy.broadcast_to(keep, wide.shape)]


def distance(got, want, keep=None) -> float:
    """Relative L2 distance of the compared elements; infinite when anything is not finite on one side only."""
    a, b = kept(got, keep), kept(want, keep)
    if not numpy.array_equal(numpy.isfinite(a), numpy.isfinite(b)):
        return float("inf")
    finite = numpy.isfinite(b)
    norm = numpy.linalg.norm(b[finite])
    error = numpy.linalg.norm(a[finite] - b[finite])
    return error / norm if norm else error


def padding_mask(attention_mask, output):
    """Which elements of an output belong to real tokens, or None for all.

    attention_mask [B, T] marks real tokens with 1. An output [B, H, T, D] is a cache, one row a token; an output
    [B, S, ...] belongs to the last S tokens. Anything else isn't one row a token.
    """
    if attention_mask is None or attention_mask.ndim != 2 or (attention_mask == 1).all():
        return None
    batch, total = attention_mask.shape
    mask = attention_mask == 1
    if output.ndim == 4 and output.shape[0] == batch and output.shape[2] == total:
        return mask[:, None, :, None]
    if output.ndim == 3 and output.shape[0] == batch and output.shape[1] <= total:
        return mask[:, total - output.shape[1] :, None]
    return None
