"""Where tensors lie: in the memory of the CPU. Places of GPUs can be named, and are refused where they would be used.

>>> x = d2s.to_tensor([1.0], place=d2s.CPUPlace())
>>> x.place, d2s.get_device(), d2s.is_compiled_with_cuda()
(Place(cpu), 'cpu', False)
"""

import dataclasses
import re

from d2s.errors import ArgumentError, DTypeError, brief

_DEVICE = re.compile(r"(cpu|gpu|cuda|xpu|npu|dcu)(?::(\d+))?", re.ASCII)


@dataclasses.dataclass(frozen=True)
class Place:
    """A device, and which of its kind."""

    device: str = "cpu"
    index: int = 0

    def is_cpu_place(self) -> bool:
        return self.device == "cpu"

    def is_gpu_place(self) -> bool:
        return self.device == "gpu"

    def __repr__(self) -> str:
        return "Place(cpu)" if self.is_cpu_place() else f"Place({self.device}:{self.index})"


class CPUPlace(Place):
    """The memory of the CPU.

    >>> d2s.CPUPlace()
    Place(cpu)
    """

    def __init__(self) -> None:
        super().__init__()


class CUDAPlace(Place):
    """A GPU, so that programs that name one can be read; using it says that there is none.

    >>> d2s.CUDAPlace(0)
    Place(gpu:0)
    """

    def __init__(self, id: int = 0) -> None:
        if not isinstance(id, int) or isinstance(id, bool) or id < 0:
            raise ArgumentError("D2S0004", f"CUDAPlace(): 'id' is {brief(id)}, expected the number of a GPU")
        super().__init__("gpu", id)


_CPU = CPUPlace()


def is_device(text: str) -> bool:
    """Whether a string is how a device is called.

    >>> is_device("gpu:0"), is_device("float32")
    (True, False)
    """
    return _DEVICE.fullmatch(text.lower()) is not None


def usable(place: object, name: str) -> Place:
    """The CPU, which `place` must name: a Place, a string such as 'cpu', or None."""
    device = "cpu" if place is None else place.device if isinstance(place, Place) else place
    if not isinstance(device, str):
        raise DTypeError("D2S0001", f"{name}(): a place is a string such as 'cpu', or a Place, not {type(place).__name__}")
    found = _DEVICE.fullmatch(device.lower())
    if found is None:
        raise ArgumentError("D2S0004", f"{name}(): {brief(device)} is no device", hint="'cpu'")
    if found[1] != "cpu":
        raise ArgumentError("D2S0004", f"{name}(): there is no GPU here: d2s computes on the CPU", hint="'cpu'")
    return _CPU


def set_device(device: str) -> Place:
    """Computes on `device` from now on, which is to be 'cpu'.

    >>> d2s.set_device("cpu")
    Place(cpu)
    """
    return usable(device, "set_device")


def get_device() -> str:
    """The name of the device that computes.

    >>> d2s.get_device()
    'cpu'
    """
    return _CPU.device


def is_compiled_with_cuda() -> bool:
    """Whether there are kernels for GPUs: no.

    >>> d2s.is_compiled_with_cuda()
    False
    """
    return False
