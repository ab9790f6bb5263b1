"""Memory shared with other libraries through DLPack, by way of NumPy's.

In: an array, or whatever another library hands over. Out: a capsule, or an array that kernels take. Memory is shared where
it is in row-major order, aligned, writable, in this machine's memory and of a dtype d2s has; else it is copied.

>>> x = np.zeros(3, "float32")
>>> y = taken(x, None, "from_dlpack")
>>> y[1] = 7
>>> x.tolist()
[0.0, 7.0, 0.0]
"""

import ctypes
from typing import Any

import numpy as np

from d2s import memory, types
from d2s.errors import DTypeError, ExchangeError, brief

CPU = (1, 0)
VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # NumPy knows of DLPack 1.0, which can say "read-only"
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))


def handed_over(array: np.ndarray, stream: Any, max_version: Any, dl_device: Any, copy: bool | None) -> Any:
    """A capsule of the array's memory."""
    if stream is not None:
        raise ExchangeError("D2S3003", f"__dlpack__(): the CPU has no streams, got {brief(stream)}")
    if dl_device is not None and (not isinstance(dl_device, tuple) or tuple(dl_device) != CPU):
        raise ExchangeError("D2S3003", f"__dlpack__(): the tensor is on the CPU, not on device {brief(dl_device)}")
    if max_version is not None and not _is_pair(max_version):
        raise ExchangeError("D2S3003", f"__dlpack__(): 'max_version' is {brief(max_version)}, expected two ints")
    if copy is False and not array.flags.writeable:
        raise ExchangeError("D2S3003", "__dlpack__(): read-only memory is handed over as a copy")
    if copy or not array.flags.writeable:
        array = array.copy()
    return array.__dlpack__(max_version=max_version) if VERSIONED and max_version is not None else array.__dlpack__()


def _is_pair(found: Any) -> bool:
    return isinstance(found, tuple) and len(found) == 2 and all(isinstance(n, int) for n in found)


def taken(source: Any, copy: bool | None, name: str) -> np.ndarray:
    """The memory of `source` as an array that kernels take; of its own where that cannot be, or `copy` asks for it."""
    found = source if type(source) is np.ndarray else _imported(source, name)
    held = _dtype(found, name)
    flags = found.flags
    shared = flags.c_contiguous and flags.aligned and flags.writeable and found.dtype.isnative
    if copy is False and not shared:
        raise ExchangeError("D2S3003", f"{name}(): this memory cannot be shared: it is strided, read-only or not aligned")
    if shared and not copy:
        return found
    memory.check(name, found.shape, held.numpy)
    return np.array(found, held.numpy, order="C")


def _dtype(found: np.ndarray, name: str) -> types.DType:
    try:
        return types.dtype(found.dtype)
    except DTypeError as error:
        raise ExchangeError("D2S3003", f"{name}(): {error.message}", hint=error.hint) from None


def _imported(source: Any, name: str) -> np.ndarray:
    try:
        capsule = source if type(source).__name__ == "PyCapsule" else _capsule(source, name)
        versioned = bool(_is_capsule(capsule, b"dltensor_versioned"))
        if not versioned and not _is_capsule(capsule, b"dltensor"):
            kind = type(capsule).__name__
            got = "a capsule that is used up, or none of DLPack" if kind == "PyCapsule" else f"an object of class {kind}"
            raise ExchangeError("D2S3003", f"{name}(): expects a tensor or a fresh capsule, got {got}")
        found: np.ndarray = np.from_dlpack(_Handed(capsule))  # type: ignore[arg-type]
    except ExchangeError:
        raise
    except Exception as error:  # whatever it is that the other side does
        raise ExchangeError("D2S3003", f"{name}(): {type(error).__name__}: {error}") from error
    return found if versioned else _writable(found)


def _capsule(source: Any, name: str) -> Any:
    if not hasattr(source, "__dlpack__") or not hasattr(source, "__dlpack_device__"):
        got = type(source).__name__
        raise ExchangeError("D2S3003", f"{name}(): expects an object with __dlpack__, or a capsule, got {got}")
    device = source.__dlpack_device__()
    if not isinstance(device, tuple) or len(device) != 2 or device[0] != CPU[0]:
        raise ExchangeError("D2S3003", f"{name}(): the tensor is on device {brief(device)}, not on the CPU")
    if not VERSIONED:
        return source.__dlpack__()
    try:
        return source.__dlpack__(max_version=(1, 0))
    except TypeError:  # of a library from before DLPack 1.0
        return source.__dlpack__()


class _Handed:
    """A capsule in the form NumPy takes."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


class _Described:
    """Memory that NumPy takes for read-only because the capsule could not say otherwise; `of` keeps it alive."""

    def __init__(self, of: np.ndarray) -> None:
        self.of = of
        self.__array_interface__ = {**of.__array_interface__, "data": (of.__array_interface__["data"][0], False)}


def _writable(array: np.ndarray) -> np.ndarray:
    """The memory of a capsule from before DLPack 1.0 is written to, as by every library that shares memory through one."""
    return array if array.flags.writeable or not array.size else np.asarray(_Described(array))
