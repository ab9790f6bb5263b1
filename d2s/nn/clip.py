"""Limits on gradients, against steps that are too long. In: pairs of parameters and gradients. Out: pairs, limited.

An optimizer takes a limit as `grad_clip`. It asks for the text of it (`element`) and the numbers of a step (`limits`), so
that limiting happens where a gradient is read anyway.

>>> p = d2s.nn.Layer().create_parameter([2])
>>> limited = ClipGradByNorm(1.0)([(p, d2s.to_tensor([3.0, 4.0]))])
>>> [round(v, 6) for v in limited[0][1].tolist()]
[0.6, 0.8]
"""

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

from d2s.arguments import number
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.ops.dispatch import OPS

Pairs = Sequence[tuple[Any, Any]]


class ClipGradBase:
    """The base of limits. A subclass of the user's defines `_dygraph_clip(params_grads)`, which returns the pairs, limited."""

    numbers: tuple[str, ...] = ()
    element = ""

    def __call__(self, params_grads: Pairs) -> list[tuple[Any, Any]]:
        """The pairs with gradients within the limit; a parameter with need_clip=False keeps its own."""
        return self._dygraph_clip(params_grads)

    def _dygraph_clip(self, params_grads: Pairs) -> list[tuple[Any, Any]]:
        limits = self.limits(params_grads)
        pairs = zip(params_grads, limits, strict=True)
        return [(p, g if limit is None else self.limited(g, limit)) for (p, g), limit in pairs]

    def limits(self, params_grads: Pairs) -> list[tuple[float, ...] | None]:
        """What `numbers` are for each pair; None where there is no limit."""
        raise NotImplementedError(f"{type(self).__name__} defines no _dygraph_clip()")

    def limited(self, gradient: Tensor, limit: tuple[float, ...]) -> Tensor:
        """A gradient within a limit: what `element` says, in ops."""
        found: Tensor = gradient * limit[0]
        return found


class ClipGradByValue(ClipGradBase):
    """Every element between `min` and `max`; `min` is `-max` where it is not given.

    >>> clip = d2s.nn.ClipGradByValue(max=1.0)
    >>> clip([(d2s.nn.Linear(1, 2).bias, d2s.to_tensor([-3.0, 0.5]))])[0][1].tolist()
    [-1.0, 0.5]
    """

    numbers = ("least", "most")
    element = "g = select(g < least, least, select(g > most, most, g))\n"

    def __init__(self, max: float, min: float | None = None) -> None:
        self.max = number("ClipGradByValue", "max", max)
        self.min = -self.max if min is None else number("ClipGradByValue", "min", min)
        if self.max < 0 and min is None:
            raise ArgumentError("D2S0004", f"ClipGradByValue(): 'max' is {max}; below 0 it needs a 'min'")

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"

    def limits(self, params_grads: Pairs) -> list[tuple[float, ...] | None]:
        return [(self.min, self.max) if _wanted(p) and g is not None else None for p, g in params_grads]

    def limited(self, gradient: Tensor, limit: tuple[float, ...]) -> Tensor:
        found: Tensor = OPS["clip"](gradient, *limit)
        return found


class ClipGradByNorm(ClipGradBase):
    """Each gradient of a norm above `clip_norm` is made as much shorter as it is too long.

    >>> adam = d2s.optimizer.Adam(parameters=d2s.nn.Linear(1, 2).parameters(), grad_clip=d2s.nn.ClipGradByNorm(1.0))
    """

    numbers, element = ("shrink",), "g = g * shrink\n"

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = number("ClipGradByNorm", "clip_norm", clip_norm)

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"

    def limits(self, params_grads: Pairs) -> list[tuple[float, ...] | None]:
        return [self._limit(g) if _wanted(p) and g is not None else None for p, g in params_grads]

    def _limit(self, gradient: Tensor) -> tuple[float, ...] | None:
        norm = math.sqrt(_squares(gradient))
        return (self.clip_norm / norm,) if norm > self.clip_norm else None


class ClipGradByGlobalNorm(ClipGradBase):
    """All gradients together are made as much shorter as the norm of all of them is above `clip_norm`.

    >>> clip = d2s.nn.ClipGradByGlobalNorm(1.0)
    >>> layer = d2s.nn.Linear(1, 1)
    >>> pairs = clip([(layer.weight, d2s.to_tensor([[3.0]])), (layer.bias, d2s.to_tensor([4.0]))])
    >>> [round(g.item(), 6) for _, g in pairs]
    [0.6, 0.8]
    """

    numbers, element = ("shrink",), "g = g * shrink\n"

    def __init__(self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False) -> None:
        self.clip_norm = number("ClipGradByGlobalNorm", "clip_norm", clip_norm)
        self.group_name, self.auto_skip_clip = group_name, auto_skip_clip

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"

    def limits(self, params_grads: Pairs) -> list[tuple[float, ...] | None]:
        squares = [_squares(g) for p, g in params_grads if _wanted(p) and g is not None]
        norm = math.sqrt(functools.reduce(operator.add, squares, 0.0))  # Python's sum() rounds otherwise since 3.12
        if norm <= self.clip_norm:
            return [None] * len(params_grads)
        shrink = (self.clip_norm / norm,)
        return [shrink if _wanted(p) and g is not None else None for p, g in params_grads]


def _wanted(parameter: Any) -> bool:
    return getattr(parameter, "need_clip", True)


def _squares(gradient: Tensor) -> float:
    """The sum of an array's squares."""
    return float(OPS["sum"](OPS["square"](gradient.detach())).item())
