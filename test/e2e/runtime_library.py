"""include/sol/runtime.h for Python: what an embedder of libsol_runtime.so does, by ctypes."""
import ctypes
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy

INVALID_ARGUMENT, NOT_FOUND, OUT_OF_RANGE, DATA_LOSS = 3, 5, 11, 15

# TensorProto.DataType of the element types that the test models have.
TYPES = {1: numpy.float32, 2: numpy.uint8, 3: numpy.int8, 6: numpy.int32, 7: numpy.int64, 9: numpy.bool_, 10: numpy.float16,
         11: numpy.float64, 16: ml_dtypes.bfloat16}
NUMBERS = {numpy.dtype(kind): number for number, kind in TYPES.items()}


class PlanOptions(ctypes.Structure):
    _fields_ = [("skip_weight_verification", c_int)]


class Port(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int32), ("rank", c_int32), ("sizes", POINTER(c_char_p)), ("role", c_char_p),
                ("partner", c_int32), ("is_state", c_int32)]


class CTensor(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int32), ("rank", c_int32), ("sizes", POINTER(c_int64)), ("data", c_void_p),
                ("bytes", c_size_t)]


class SessionOptions(ctypes.Structure):
    _fields_ = [("threads", c_int32), ("memory_limit_bytes", c_int64), ("profile", c_int32)]


class ProfileEntry(ctypes.Structure):
    _fields_ = [("node", c_char_p), ("kernel", c_char_p), ("calls", c_int64), ("seconds", c_double)]


# Result and arguments of each function; `status` ones return null or an object to read and free.
SIGNATURES = {
    "sol_status_get_code": (c_int, [c_void_p]),
    "sol_status_message": (c_char_p, [c_void_p]),
    "sol_status_free": (None, [c_void_p]),
    "sol_plan_open": (c_void_p, [c_char_p, POINTER(PlanOptions), POINTER(c_void_p)]),
    "sol_plan_close": (None, [c_void_p]),
    "sol_plan_context": (c_int64, [c_void_p, c_size_t]),
    "sol_plan_input_count": (c_size_t, [c_void_p, c_size_t]),
    "sol_plan_output_count": (c_size_t, [c_void_p, c_size_t]),
    "sol_plan_input": (Port, [c_void_p, c_size_t, c_size_t]),
    "sol_plan_output": (Port, [c_void_p, c_size_t, c_size_t]),
    "sol_session_open": (c_void_p, [c_void_p, c_char_p, POINTER(SessionOptions), POINTER(c_void_p)]),
    "sol_session_close": (None, [c_void_p]),
    "sol_session_run": (c_void_p, [c_void_p, POINTER(CTensor), c_size_t, POINTER(POINTER(CTensor)), POINTER(c_size_t)]),
    "sol_session_feed": (c_void_p, [c_void_p, POINTER(c_int64), c_size_t, POINTER(CTensor)]),
    "sol_session_length": (c_int64, [c_void_p]),
    "sol_session_truncate": (c_void_p, [c_void_p, c_int64]),
    "sol_session_allocations": (c_int64, [c_void_p]),
}


class Failure(Exception):
    """An error that the library reported."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


@dataclass
class PortInfo:
    name: str
    type: int
    sizes: list  # of texts; None if the rank is known at run time only
    role: str
    partner: int
    is_state: bool


class Library:
    def __init__(self, build: Path):
        self.c = ctypes.CDLL(str(build / "lib/libsol_runtime.so"))
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(self.c, name)
            function.restype, function.argtypes = result, arguments

    def check(self, status):
        if status is None:
            return
        failure = Failure(self.c.sol_status_get_code(status), self.c.sol_status_message(status).decode())
        self.c.sol_status_free(status)
        raise failure


class Plan:
    """An open plan. Close its sessions before; `with` does it in the right order."""

    def __init__(self, library: Library, path: Path, skip_weight_verification=False):
        self.library, self.handle = library, c_void_p()
        options = PlanOptions(int(skip_weight_verification))
        library.check(library.c.sol_plan_open(str(path).encode(), byref(options), byref(self.handle)))
        c = library.c
        self.inputs = [self.port(c.sol_plan_input(self.handle, 0, i)) for i in range(c.sol_plan_input_count(self.handle, 0))]
        self.outputs = [self.port(c.sol_plan_output(self.handle, 0, i)) for i in range(c.sol_plan_output_count(self.handle, 0))]
        self.context = c.sol_plan_context(self.handle, 0)

    @staticmethod
    def port(port: Port) -> PortInfo:
        sizes = None if port.rank < 0 else [port.sizes[axis].decode() for axis in range(port.rank)]
        return PortInfo(port.name.decode(), port.type, sizes, port.role.decode(), port.partner, bool(port.is_state))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.c.sol_plan_close(self.handle)


def to_array(tensor: CTensor):
    """A copy of a tensor of the library."""
    sizes = [tensor.sizes[axis] for axis in range(tensor.rank)]
    if tensor.bytes == 0:
        return numpy.zeros(sizes, TYPES[tensor.type])
    return numpy.frombuffer(ctypes.string_at(tensor.data, tensor.bytes), TYPES[tensor.type]).reshape(sizes)


class Session:
    def __init__(self, plan: Plan, threads=1, memory_limit=0):
        self.library, self.handle = plan.library, c_void_p()
        options = SessionOptions(threads, memory_limit, 0)
        self.library.check(self.library.c.sol_session_open(plan.handle, None, byref(options), byref(self.handle)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.c.sol_session_close(self.handle)

    def run(self, inputs: dict) -> dict:
        """One explicit run; arrays by name."""
        tensors, kept = (CTensor * len(inputs))(), []
        for tensor, (name, array) in zip(tensors, inputs.items()):
            array = numpy.asarray(array, order="C")
            sizes = (c_int64 * max(array.ndim, 1))(*array.shape)
            kept += [array, sizes]
            tensor.name, tensor.type, tensor.rank, tensor.sizes = name.encode(), NUMBERS[array.dtype], array.ndim, sizes
            tensor.data, tensor.bytes = array.ctypes.data, array.nbytes
        return self.run_tensors(tensors)

    def run_tensors(self, tensors) -> dict:
        outputs, count = POINTER(CTensor)(), c_size_t()
        self.library.check(
            self.library.c.sol_session_run(self.handle, tensors, len(tensors), byref(outputs), byref(count)))
        return {outputs[i].name.decode(): to_array(outputs[i]) for i in range(count.value)}

    def feed(self, tokens) -> numpy.ndarray:
        """Logits, positions x vocabulary."""
        tokens = [int(token) for token in tokens]
        logits = CTensor()
        self.library.check(
            self.library.c.sol_session_feed(self.handle, (c_int64 * len(tokens))(*tokens), len(tokens), byref(logits)))
        return to_array(logits)

    def truncate(self, length: int):
        self.library.check(self.library.c.sol_session_truncate(self.handle, length))

    @property
    def length(self) -> int:
        return self.library.c.sol_session_length(self.handle)

    @property
    def allocations(self) -> int:
        return self.library.c.sol_session_allocations(self.handle)
