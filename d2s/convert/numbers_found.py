"""`clip` and draws with bounds and spreads that are Python numbers of run time: `x.clip(0.0, float(t))`.

In: what these are called with. Out: what they give; a run in which the numbers do not fit raises what eager code raises.

>>> from d2s.capture.symbolic import Tracer
>>> clipped(Tracer("f"), d2s.to_tensor([1.0, 5.0]), max=2.0).tolist()
[1.0, 2.0]
"""

from typing import Any, NoReturn

import numpy as np

from d2s.capture.branch import branch
from d2s.capture.forms import Later
from d2s.capture.steps import tell
from d2s.capture.symbolic import WAY_OUT, SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.convert.computing import of_ops
from d2s.convert.if_else import truth
from d2s.convert.logical import either
from d2s.eager import in_place_forms
from d2s.errors import ArgumentError, brief, kind_of
from d2s.ops.compare import greater_than, less_than, where
from d2s.ops.create import number_of
from d2s.ops.draw import float_dtype, is_tensor
from d2s.ops.extremes import clip
from d2s.ops.logic import logical_and
from d2s.ops.random import normal, uniform
from d2s.types import DType


def clipped(tracer: Tracer, x: Any, min: Any = None, max: Any = None) -> Any:
    """`clip`."""
    bounds = {"min": min, "max": max}
    if not any(map(_is_found, bounds.values())) or not _is_floats(x):
        return of_ops(clip, x, min, max)
    found_in_run = {name: bound for name, bound in bounds.items() if _is_found(bound)}
    bounds = clip.canonical([x.value.type], bounds | dict.fromkeys(found_in_run)) | found_in_run
    for name, bound in found_in_run.items():
        _demand(bound != bound, f"clip(): '{name}' is {{}}, expected a number or None", bound)
    low, high = (None if bounds[name] is None else number_of(bounds[name], x.dtype) for name in ("min", "max"))
    inside = [*([] if low is None else [greater_than(x, low)]), *([] if high is None else [less_than(x, high)])]
    found = where(inside[0] if len(inside) == 1 else logical_and(*inside), x, x.detach())  # only there a gradient passes
    found = found if low is None else where(less_than(x, low), low, found)
    return found if high is None else where(greater_than(found, high), high, found)


def _is_floats(x: Any) -> bool:
    return isinstance(x, SymbolicTensor) and x.dtype.kind == "f" and not x.value.type.python


def normals(tracer: Tracer, mean: Any = 0.0, std: Any = 1.0, shape: Any = None) -> Any:
    """`normal`."""
    floats = [v.dtype for v in (mean, std) if is_tensor(v) and v.dtype.kind == "f"]
    if len(floats) < sum(map(is_tensor, (mean, std))):
        return of_ops(normal, mean, std, shape)
    of = max(floats, key=lambda d: d.size, default=None) or float_dtype("normal", None)
    for name, value in (("mean", mean), ("std", std)):
        if _is_found(value):
            _demand_finite("normal", name, value, of)
    if _is_found(std):
        _demand(std < 0, "normal(): 'std' is {}, below 0", std)
    return of_ops(normal, mean, std, shape)


def spread(tracer: Tracer, shape: Any, dtype: Any = None, min: Any = -1.0, max: Any = 1.0, seed: Any = 0) -> Any:
    """`uniform`."""
    _demand_range(min, max, dtype)
    return of_ops(uniform, shape, dtype, min, max, seed)


def spread_in_place(tracer: Tracer, x: Any, min: Any = -1.0, max: Any = 1.0, seed: Any = 0) -> Any:
    """`uniform_`."""
    _demand_range(min, max, x.dtype)
    return of_ops(in_place_forms.uniform, x, min, max, seed)


def trials(tracer: Tracer, x: Any, probs: Any) -> Any:
    """`geometric_`."""
    if _is_found(probs):
        if probs.dtype.kind == "b":
            _refuse(kind_of(probs))
        wrong = either(lambda: probs != probs, lambda: probs <= 0.0, lambda: probs >= 1.0)
        _demand(wrong, "geometric_(): 'probs' is {}, expected a likelihood between 0 and 1", probs)
    return of_ops(in_place_forms.geometric, x, probs)


def in_brief(tracer: Tracer, value: Any) -> str:
    """A value as a message of ours shows it."""
    if _is_found(value) or isinstance(value, Later):
        _refuse("a number that only a run computes" if isinstance(value, Later) else kind_of(value))
    return brief(value)


def complaint(function: Any, *args: Any, **kwargs: Any) -> Any:
    """An exception of ours, which says at capture what it says."""
    if any(isinstance(value, Later) for value in args):
        _refuse("a number that only a run computes")
    return function(*args, **kwargs)


def _refuse(kind: str) -> NoReturn:
    refuse("D2S1003", f"an option is {kind}, and what it may be is asked before anything is computed", WAY_OUT)


def _is_found(value: Any) -> bool:
    return isinstance(value, SymbolicTensor) and value.value.type.python


def _largest(of: DType) -> float:
    return float(np.finfo(of.numpy).max)


def _demand_range(min: Any, max: Any, dtype: Any) -> None:
    """Has a run look at the ends between which `uniform` draws, where it finds one."""
    if not any(map(_is_found, (min, max))):
        return
    of = float_dtype("uniform", dtype)
    for name, value in (("min", min), ("max", max)):
        if _is_found(value):
            _demand_finite("uniform", name, value, of)
    wrong = either(lambda: min > max, lambda: max - min > _largest(of))
    _demand(wrong, f"uniform(): from {{}} to {{}} is no range of {of.name}s", min, max)


def _demand_finite(name: str, argument: str, value: Any, of: DType) -> None:
    wrong = either(lambda: value != value, lambda: value > _largest(of), lambda: value < -_largest(of))
    _demand(wrong, f"{name}(): '{argument}' is {{}}: not a finite {of.name}", value)


def _demand(wrong: Any, message: str, *values: Any) -> None:
    """Has a run in which something is wrong raise what eager code says of these values."""
    tracer = capturing()
    assert tracer is not None

    if tracer.catches():
        refuse("D2S1003", "a number that only a run computes may not fit here, in a `try`", "compute it in front of the `try`")

    def complain() -> list[Any]:
        region = capturing()
        assert region is not None
        tell(region, "complain", _complain, (message, *values), {})
        return []

    if isinstance(wrong, SymbolicTensor):
        branch(tracer, truth(tracer, wrong), (complain, list))
    elif wrong:
        complain()


def _complain(message: str, *values: Any) -> None:
    raise ArgumentError("D2S0004", message.format(*map(brief, values)))
