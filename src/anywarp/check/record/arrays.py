"""Arrays of any library as a recording keeps them: dtype, shape and bytes on the host, or figures where the values are not wanted."""

# pyright: basic
from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from anywarp import __version__
from anywarp.check.bundle.blob import SIZES
from anywarp.check.bundle.entries import Entry
from anywarp.check.record.session import Session
from anywarp.numerics.operation import Operation

TERMS = 4096
"""How long sums are taken to be where nobody says: of named buffers, and of ONNX Runtime's results."""
_NAMES = {"float8_e4m3": "float8_e4m3fn"}


@dataclass(frozen=True)
class Host:
    """An array's values on the host: contiguous, little-endian."""

    dtype: str
    shape: tuple[int, ...]
    content: bytes


def to_host(value: Any) -> Host:
    """Return the values of an array: a tensor of PyTorch, what has `__array__`, `__cuda_array_interface__` or DLPack, or numbers.

    TypeError where it is none of these, or of a dtype that a recording cannot hold.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_torch(value)
    import numpy as np

    if not isinstance(value, np.ndarray):
        value = _as_numpy(value, np)
    kind = str(value.dtype.name)
    name = _NAMES.get(kind, kind)
    if name not in SIZES:
        raise TypeError(f"an array of {name[:40]} cannot be recorded")
    if value.dtype.byteorder == ">":
        value = value.astype(value.dtype.newbyteorder("<"))
    return Host(name, tuple(value.shape), value.tobytes())


def _of_torch(tensor: Any) -> Host:
    from anywarp.check.record.torch import values

    found, why = values.plain(tensor)
    if found is None or values.name_of(found.dtype) not in SIZES:
        raise TypeError(f"a tensor that is {why or values.name_of(tensor.dtype)} cannot be recorded")
    return Host(values.name_of(found.dtype), tuple(found.shape), values.bytes_of(found))


def _as_numpy(value: Any, np: Any) -> Any:
    device = getattr(value, "__cuda_array_interface__", None)
    if isinstance(device, Mapping):
        return _from_device(device, np)
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value, device="cpu")
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise TypeError(f"its DLPack does not come to the host: {str(error)[:100]}") from None
    found = np.asarray(value)
    if found.dtype == object or found.dtype.kind not in "biufcV":
        raise TypeError(f"{type(value).__name__} is no array of numbers")
    return found


def _from_device(found: Mapping[str, Any], np: Any) -> Any:
    """Copy an array of device memory by the driver that the program runs on (CUDA Array Interface, version 3), after all that its context was given."""
    dtype, shape = np.dtype(found["typestr"]), tuple(found["shape"])
    address, strides = found["data"][0], found.get("strides")
    if not all(shape):
        return np.empty(shape, dtype)
    steps = strides or tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) * dtype.itemsize for i in range(len(shape)))
    least = sum(min(0, step * (extent - 1)) for step, extent in zip(steps, shape))
    span = sum(abs(step) * (extent - 1) for step, extent in zip(steps, shape)) + dtype.itemsize
    room = np.empty(span, np.uint8)
    driver = ctypes.CDLL("libcuda.so.1")
    status = driver.cuCtxSynchronize()
    if not status:
        copy = driver.cuMemcpyDtoH_v2
        status = copy(ctypes.c_void_p(room.ctypes.data), ctypes.c_uint64(address + least), ctypes.c_size_t(span))
    if status:
        raise TypeError(f"its device memory cannot be copied: CUDA's error {status}")
    return np.ndarray(shape, dtype, room.data, -least, steps)


def versions(*names: str) -> dict[str, str]:
    """Return the versions of Python and of the modules named, where they are imported."""
    found = {"anywarp": __version__, "python": platform.python_version()}
    loaded = {name: getattr(sys.modules.get(name), "__version__", None) for name in ("numpy", *names)}
    return found | {name: version for name, version in loaded.items() if isinstance(version, str)}


def composed(host: Host, terms: int = TERMS) -> dict[str, Any]:
    """Return the operation of a result of which no more is known than how long its sums are; whole numbers are exact."""
    wide = "float64" if host.dtype in ("float64", "complex128") else "float32"
    return asdict(Operation("composite", terms, host.dtype, wide, host.dtype))


def entry(
    session: Session, key: tuple[str, int, str, str], host: Host, *, operation: dict[str, Any] | None = None, run: str = "propagated"
) -> Entry:  # fmt: skip
    """Return the entry of an array under (name, call, role, slot): its statistics, and its values where the mode and the budget have room for them."""
    name, call, role, slot = key
    blob, dropped = None, ""
    if session.plan.mode == "tensors":
        blob = session.writer.keep(f"{name} {slot}", host.dtype, host.shape, host.content)
        dropped = "" if blob else "budget"
    known = figures(host, session.plan.seed, session.plan.sample) if run == "propagated" else {}
    return Entry(0, call, name, role, slot[:200], host.dtype, host.shape, 0, run, None, known, blob, dropped, operation)


def figures(host: Host, seed: int, sample: int) -> dict[str, Any]:
    """Return the statistics of an array, of which larger ones are sampled."""
    import numpy as np

    from anywarp.check.numbers.statistics import measure
    from anywarp.check.record.kept import flat

    if host.dtype.startswith("complex"):
        return {}
    values = np.asarray(flat(memoryview(host.content), host.dtype), np.float64)
    return asdict(measure(values, host.dtype, seed=seed, most=sample))
