"""Paddle's flags: programs may set the ones that only steer how Paddle does its work; here most change nothing.

`FLAGS_check_nan_inf` does what it says (see `debug`). The knobs of d2s itself are in `config`.

>>> set_flags({"FLAGS_cudnn_deterministic": True})
>>> get_flags("FLAGS_cudnn_deterministic")
{'FLAGS_cudnn_deterministic': True}
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from d2s.errors import ArgumentError, DTypeError, brief

_flags: dict[str, Any] = {  # with the values that are Paddle's defaults
    "FLAGS_allocator_strategy": "auto_growth",
    "FLAGS_benchmark": False,
    "FLAGS_check_nan_inf": False,
    "FLAGS_conv_workspace_size_limit": 512,
    "FLAGS_cudnn_deterministic": False,
    "FLAGS_cudnn_exhaustive_search": False,
    "FLAGS_eager_delete_tensor_gb": 0.0,
    "FLAGS_embedding_deterministic": 0,
    "FLAGS_fraction_of_cpu_memory_to_use": 1.0,
    "FLAGS_fraction_of_gpu_memory_to_use": 0.92,
    "FLAGS_paddle_num_threads": 1,
    "FLAGS_use_mkldnn": False,
}
LISTENERS: dict[str, Callable[[Any], Any]] = {}  # of flags that do something


def set_flags(flags: Mapping[str, Any]) -> None:
    """Sets flags by name. Most are remembered only: d2s is deterministic and has no GPU. `FLAGS_check_nan_inf` finds nans.

    >>> d2s.set_flags({"FLAGS_benchmark": False})
    """
    if not isinstance(flags, Mapping):
        raise DTypeError("D2S0001", f"set_flags(): 'flags' expects a dict, got {type(flags).__name__}")
    for name, value in flags.items():
        known = _known(name)
        if not isinstance(value, bool | int | float | str):
            raise DTypeError("D2S0001", f"set_flags(): {known} expects a number or a string, got {type(value).__name__}")
    _flags.update(flags)
    for name in flags.keys() & LISTENERS.keys():
        LISTENERS[name](flags[name])


def get_flags(flags: str | Iterable[str]) -> dict[str, Any]:
    """The values of one flag, or of several.

    >>> d2s.get_flags(["FLAGS_benchmark"])
    {'FLAGS_benchmark': False}
    """
    if not isinstance(flags, str | list | tuple):
        raise DTypeError("D2S0001", f"get_flags(): 'flags' expects a name or a list of names, got {type(flags).__name__}")
    return {_known(name): _flags[name] for name in ([flags] if isinstance(flags, str) else flags)}


def _known(name: Any) -> str:
    if not isinstance(name, str) or name not in _flags:
        raise ArgumentError("D2S0004", f"{brief(name)} is not a flag", hint=f"one of {', '.join(_flags)}")
    return name
