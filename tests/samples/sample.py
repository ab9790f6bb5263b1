"""What an op is tried on: the records, shapes and values that the families' lists are written in."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s.types import DType

Shapes = tuple[tuple[int, ...], ...]
ONE: tuple[Shapes, ...] = tuple((s,) for s in [(), (0,), (1,), (7,), (3, 1), (2, 0, 3), (1, 1, 1), (2, 3, 4), (2, 1, 3, 1, 2)])
TWO: tuple[Shapes, ...] = (
    ((), ()),
    ((5,), (5,)),
    ((5,), ()),
    ((), (5,)),
    ((1,), (4,)),
    ((0,), (1,)),
    ((3, 1), (1, 4)),
    ((4,), (3, 4)),
    ((2, 1, 4), (3, 1)),
    ((2, 3), (1, 1, 1, 2, 3)),
    ((2, 1, 3, 1, 2), (5, 1, 2, 1)),
    ((0, 3), (3,)),
)
THREE: tuple[Shapes, ...] = (
    ((), (), ()),
    ((4,), (4,), (4,)),
    ((3, 1), (4,), ()),
    ((), (2, 1), (2, 3)),
    ((1, 3), (2, 1), (0, 1, 1)),
)
AXES = ({}, {"axis": None, "keepdim": True}, {"axis": 0}, {"axis": -1, "keepdim": True}, {"axis": (0, -1)}, {"axis": ()})


class Sample(NamedTuple):
    """An op with kernels."""

    reference: Callable[..., np.ndarray]
    shapes: Sequence[Shapes]
    kinds: str = "bif"
    attrs: Sequence[dict[str, Any]] = ({},)
    ulps: int = 0  # how far a float may be from NumPy's


class Structural(NamedTuple):
    """An op known to interpreter and plan by name: a Program, its inputs, its outputs."""

    text: str
    inputs: list[Any]
    outputs: list[Any]


class Listed(NamedTuple):
    """An op whose attributes go with its shapes: `cases(make)` lists inputs and attributes; `make(*shape)` gives values."""

    reference: Callable[..., Any]  # of arrays and attributes; a tuple of arrays where the op has several results
    cases: Callable[[Callable[..., np.ndarray]], Iterable[tuple[list[np.ndarray], dict[str, Any]]]]
    kinds: str = "bif"
    ulps: int = 0  # how far a float may be from the reference, relative to the largest of the result
    smooth: bool = True  # whether finite differences tell its gradient on the values of its cases


SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    np.inf,
    -np.inf,
    np.nan,
    3.0e38,
    -3.0e38,
    1e-40,
    127.0,
    128.0,
    255.5,
    -129.0,
    2.0**31,
    2.0**63,
]


def values(dtype: DType, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Numbers of a dtype, its extremes among them."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind == "i":
        limits = np.iinfo(dtype.numpy)
        pool = np.array([0, 1, 2, 3, 5, limits.max, limits.max - 1, limits.min, limits.min + 1], dtype.numpy)
    else:
        pool = np.array([*SPECIAL, *rng.standard_normal(20)], dtype.numpy)
    return np.asarray(rng.choice(pool, shape))


def fits(attrs: dict[str, Any], rank: int) -> bool:
    """Whether the axes an attribute names are axes of a tensor of that rank, none of them twice."""
    axis = attrs.get("axis")
    listed = [] if axis is None else list(axis) if isinstance(axis, tuple) else [axis]
    return all(-rank <= a < rank for a in listed) and len({a % rank for a in listed}) == len(listed)
