"""Tensors made of numbers.

A tensor of one number is that number expanded, so that no kernel depends on it.

>>> from d2s.types import float64
>>> ramp.infer([Type(float64), Type(float64)], {"count": 3})
(f64[3],)
"""

import math
from typing import Any

import numpy as np

from d2s import memory
from d2s.arguments import number
from d2s.default_dtype import default_dtype
from d2s.errors import ArgumentError, DTypeError, kind_of
from d2s.ops.compare import cast, where
from d2s.ops.dispatch import current
from d2s.ops.expand import broadcast_tensors, expand, expand_as
from d2s.ops.found import counted, extents_of, finds_extents
from d2s.ops.movement import CHUNK
from d2s.ops.op import Share, op
from d2s.ops.open_shapes import count_asked, full_of, is_open, one_by_one
from d2s.ops.shape import unsqueeze
from d2s.ops.shapes import tensor_type, unnamed, whole_number, whole_numbers
from d2s.types import NUMBERS, DType, Type, bool_, dtype, float64, int64

_dtype = dtype


def number_of(value: Any, of: DType) -> Any:
    """A single value of a dtype; of a float as an integer what `cast` makes of it."""
    handler = current()
    if handler.type_of(value) is not None:
        return cast(value, of)
    if not isinstance(value, NUMBERS):
        raise DTypeError("D2S0001", f"expected a number or a Tensor, got {kind_of(value)}")
    number = value.item() if isinstance(value, np.generic) else value
    if of.kind == "i" and isinstance(number, float):
        return cast(handler.constant(number, Type(float64)), of)
    return handler.constant(bool(number) if of.kind == "b" else number, Type(of))


def _extents(shape: Any, name: str) -> tuple[int, ...]:
    found = whole_numbers(shape, name, "shape")
    if any(isinstance(d, int) and d < 0 for d in found):
        raise ArgumentError("D2S0004", f"{name}(): 'shape' is {list(found)}, expected extents from 0")
    return found


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """A tensor of one number.

    >>> d2s.full([2], 7.5).numpy().tolist()
    [7.5, 7.5]
    """
    wanted = (bool_ if _is_bool(fill_value) else default_dtype()) if dtype is None else _dtype(dtype)
    value, shape = number_of(fill_value, wanted), one_by_one(shape)
    return full_of(value, shape) if is_open(shape) else expand(value, _extents(shape, "full"))


def _is_bool(value: Any) -> bool:
    """Whether a number is a Python bool, or one of run time."""
    held = current().type_of(value)
    return isinstance(value, bool) if held is None else held.python and held.dtype is bool_


def zeros(shape: Any, dtype: Any = None) -> Any:
    """A tensor of zeros.

    >>> d2s.zeros([2]).numpy().tolist()
    [0.0, 0.0]
    """
    return full(shape, 0, default_dtype() if dtype is None else dtype)


def ones(shape: Any, dtype: Any = None) -> Any:
    """A tensor of ones.

    >>> d2s.ones([2], "int32").numpy().tolist()
    [1, 1]
    """
    return full(shape, 1, default_dtype() if dtype is None else dtype)


def empty(shape: Any, dtype: Any = None) -> Any:
    """A tensor whose values do not matter: they are zeros, so that a program that reads them does so the same each time.

    >>> d2s.empty([2, 0]).shape
    [2, 0]
    """
    return zeros(shape, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Any:
    """A tensor of one number in the shape and dtype of another.

    >>> d2s.full_like(d2s.to_tensor([1, 2]), 7).numpy().tolist()
    [7, 7]
    """
    have = tensor_type(x, "full_like", "x")
    wanted = have.dtype if dtype is None else _dtype(dtype)
    number = number_of(fill_value, wanted)
    if all(isinstance(d, int) for d in have.shape):
        return expand(number, have.shape)
    # of `expand_as` x is an input, so that it would want a gradient as x does
    return full_of(number, extents_of(x)) if finds_extents() else expand_as(number, x)


def zeros_like(x: Any, dtype: Any = None) -> Any:
    """Zeros in the shape and dtype of another tensor.

    >>> d2s.zeros_like(d2s.to_tensor([1, 2])).numpy().tolist()
    [0, 0]
    """
    return full_like(x, 0, dtype)


def ones_like(x: Any, dtype: Any = None) -> Any:
    """Ones in the shape and dtype of another tensor.

    >>> d2s.ones_like(d2s.to_tensor([5, 6])).numpy().tolist()
    [1, 1]
    """
    return full_like(x, 1, dtype)


def empty_like(x: Any, dtype: Any = None) -> Any:
    """A tensor whose values do not matter, in the shape and dtype of another.

    >>> d2s.empty_like(d2s.to_tensor([5, 6])).shape
    [2]
    """
    return full_like(x, 0, dtype)


@op(paddle=None, onnx="Range")
def ramp(start, step, count: int):
    """start, start + step, start + 2 step, ...: so many of them.

    >>> d2s.ops.create.ramp(d2s.to_tensor(1), d2s.to_tensor(2), 3).numpy().tolist()
    [1, 3, 5]
    """


@ramp.rule("infer")
def _(start, step, count):
    if start.shape or start != step or start.dtype not in (int64, float64):
        raise DTypeError("D2S0003", f"ramp() does not take {start} and {step}")
    return Type(start.dtype, (count,))


@ramp.rule("kernel")
def _(start, step, out, count):
    return [(count,)], "for i in range(lo, hi):\n    out[i] = start[0] + T(i) * step[0]\n", Share("n0", str(CHUNK))


def _plain(value: Any, name: str, argument: str) -> Any:
    """A Python number; of a tensor its value, which a capture refuses to tell."""
    held = current().type_of(value)
    if held is not None:
        return value.item()
    if not isinstance(value, NUMBERS):
        raise DTypeError("D2S0001", f"{name}(): argument '{argument}' expects a number, got {kind_of(value)}")
    return value


def _stepped(start: Any, step: Any, count: int, of: DType) -> Any:
    """A ramp, computed in 64 bits."""
    wide = float64 if of.kind == "f" else int64
    found = ramp(number_of(start, wide), number_of(step, wide), count)
    return found if wide is of else cast(found, of)


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Numbers from start up to end, in steps; with one argument from 0 up to it.

    >>> d2s.arange(1, 10, 3).numpy().tolist()
    [1, 4, 7]
    """
    first, last = (0, start) if end is None else (start, end)
    if finds_extents() and any(current().type_of(v) is not None for v in (first, last)) and type(step) is int and step:
        return _counted(first, last, step, dtype)
    begin, stop, by = (_plain(v, "arange", n) for v, n in ((first, "start"), (last, "end"), (step, "step")))
    for name, value in (("start", begin), ("end", stop), ("step", by)):
        if not math.isfinite(number("arange", name, value)):
            raise ArgumentError("D2S0004", f"arange(): '{name}' is {value}, expected a finite number")
    ints = all(int(v) == v and not isinstance(v, float) for v in (begin, stop, by))
    of = (int64 if ints else default_dtype()) if dtype is None else _dtype(dtype)
    if of.kind == "i":
        begin, stop, by = int(begin), int(stop), int(by)
    if not by or not all(map(math.isfinite, (begin, stop, by))):
        raise ArgumentError("D2S0004", f"arange(): no numbers from {begin} to {stop} in steps of {by}")
    count = max(0, -((begin - stop) // by)) if of.kind == "i" else max(0, math.ceil((stop - begin) / by))
    return _stepped(begin, by, count, of)


def _counted(first: Any, last: Any, step: int, dtype: Any) -> Any:
    """The numbers from one up to another, in steps, where only a run knows these."""
    kinds = {held.dtype.kind if (held := current().type_of(v)) else "f" if isinstance(v, float) else "i" for v in (first, last)}
    if kinds != {"i"}:
        raise unnamed("arange", "how many numbers there are between floats")
    found = counted(first, last, step)
    return found if dtype is None else cast(found, _dtype(dtype))


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None) -> Any:
    """So many numbers from start to stop, both among them, at equal distances.

    >>> d2s.linspace(0, 1, 5).numpy().tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    of = default_dtype() if dtype is None else _dtype(dtype)
    return cast(_spaced("linspace", start, stop, num), of)


def _spaced(name: str, start: Any, stop: Any, num: Any) -> Any:
    """Numbers in float64, counted from the nearer end, so that both ends are exact."""
    begin, end = number(name, "start", _plain(start, name, "start")), number(name, "stop", _plain(stop, name, "stop"))
    count = whole_number(num, name, "num")
    if count < 0:
        raise ArgumentError("D2S0004", f"{name}(): 'num' is {count}, expected a number from 0")
    by = (end - begin) / (count - 1) if count > 1 else 0.0
    forward = _stepped(begin, by, count, float64)
    if count < 2:
        return forward
    backward = _stepped(end - by * (count - 1), by, count, float64)
    return where(_stepped(0, 1, count, int64) < (count + 1) // 2, forward, backward)


def logspace(start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: Any = None) -> Any:
    """A base to the powers `linspace(start, stop, num)`.

    >>> d2s.logspace(0, 2, 3).numpy().tolist()
    [1.0, 10.0, 100.0]
    """
    of = default_dtype() if dtype is None else _dtype(dtype)
    return cast(number_of(base, float64) ** _spaced("logspace", start, stop, num), of)


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = None) -> Any:
    """A matrix with ones on the main diagonal and zeros elsewhere.

    >>> d2s.eye(2, 3).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    if is_open([num_rows, num_columns]):
        lines = [counted(0, count_asked(num_rows if n is None else n, "eye")) for n in (num_rows, num_columns)]
        return cast(unsqueeze(lines[0], 1) == unsqueeze(lines[1], 0), default_dtype() if dtype is None else dtype)
    rows = whole_number(num_rows, "eye", "num_rows")
    columns = rows if num_columns is None else whole_number(num_columns, "eye", "num_columns")
    if rows < 0 or columns < 0:
        raise ArgumentError("D2S0004", f"eye(): {rows} rows and {columns} columns, expected numbers from 0")
    memory.check("eye", (rows, columns), np.dtype(bool))  # before the two lines it is made of
    down, right = (_stepped(0, 1, n, int64) for n in (rows, columns))
    return cast(unsqueeze(down, 1) == unsqueeze(right, 0), default_dtype() if dtype is None else dtype)


def meshgrid(*args: Any) -> list[Any]:
    """Vectors as the coordinates of a grid: each along an axis of its own.

    >>> [x.numpy().tolist() for x in d2s.meshgrid(d2s.to_tensor([1, 2]), d2s.to_tensor([3, 4]))]
    [[[1, 1], [2, 2]], [[3, 4], [3, 4]]]
    """
    vectors = list(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else list(args)
    if any(len(tensor_type(x, "meshgrid", "args").shape) > 1 for x in vectors):
        raise ArgumentError("D2S0002", "meshgrid(): 'args' expects vectors")
    return broadcast_tensors([_along(x, k, len(vectors)) for k, x in enumerate(vectors)])


def _along(x: Any, axis: int, rank: int) -> Any:
    have = current().type_of(x).shape  # type: ignore[union-attr]
    return unsqueeze(x, tuple(k for k in range(rank) if k != axis or not have))
