"""Names of scripts for many devices: settings that are kept and change nothing, since every program is compiled for the CPU.

>>> strategy = BuildStrategy()
>>> strategy.fuse_all_reduce_ops = True
>>> with device_guard("cpu"):
...     print(strategy.fuse_all_reduce_ops, cuda_places())
True []
"""

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from d2s.arguments import expect


class BuildStrategy(SimpleNamespace):
    """How programs are to be built: any attribute may be set."""

    class ReduceStrategy:
        AllReduce, Reduce = 0, 1

    class GradientScaleStrategy:
        CoeffNumDevice, One, Customized = 0, 1, 2


class ExecutionStrategy(SimpleNamespace):
    """How programs are to be run: any attribute may be set."""


@contextlib.contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Declares what runs on a device; there is one.

    >>> with d2s.static.device_guard("cpu"):
    ...     pass
    """
    expect("device_guard", "device", device, str | None, "a str")
    yield


def cuda_places(device_ids: Any = None) -> list[Any]:
    """The GPUs: none.

    >>> d2s.static.cuda_places()
    []
    """
    return []


def xpu_places(device_ids: Any = None) -> list[Any]:
    """The other accelerators: none.

    >>> d2s.static.xpu_places()
    []
    """
    return []
