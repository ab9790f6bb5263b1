"""How often values occur: how many results there are only the values tell. Of these functions, graphs hold `unique`.

In: a tensor. Out: tensors of its different values, or of how many fall into each of some bins.

>>> unique(d2s.to_tensor([3, 1, 3])).tolist(), bincount(d2s.to_tensor([3, 1, 3])).tolist()
([1, 3], [0, 1, 0, 2])
"""

import math
from typing import Any

import numpy as np

from d2s import memory, types
from d2s.eager.indexing import known_now
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.ops import OPS
from d2s.ops.compare import cast
from d2s.ops.extremes import maximum
from d2s.ops.found import finds_places, places_along
from d2s.ops.gather import take_at
from d2s.ops.op import flag
from d2s.ops.scan import cumsum
from d2s.ops.scatter import put_at
from d2s.ops.shapes import fitting, one_axis, tensor_type, whole_number
from d2s.ops.sort import argsort


def unique(
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    sorted: bool = True,
) -> Any:
    """The different values in order, or the different slices along an axis; where each stands first, which of them stands
    at each place, how often each occurs.

    >>> [t.tolist() for t in d2s.unique(d2s.to_tensor([3, 1, 3]), return_inverse=True, return_counts=True)]
    [[1, 3], [1, 0, 1], [1, 2]]
    """
    have = tensor_type(x, "unique", "x")
    wanted = [
        flag(v, n)
        for v, n in ((return_index, "return_index"), (return_inverse, "return_inverse"), (return_counts, "return_counts"))
    ]
    along = None if axis is None else one_axis(axis, len(have.shape), "unique")
    if finds_places() and along is None:
        return _unique(x, wanted, _integers("unique", dtype))
    known_now("how many values are different")
    found = np.unique(x.array, return_index=True, return_inverse=True, return_counts=True, axis=along, equal_nan=False)
    values, *others = found
    kind = _integers("unique", dtype)
    kept = [Tensor(o.reshape(-1).astype(kind.numpy)) for o, keep in zip(others, wanted, strict=True) if keep]
    return (Tensor(np.ascontiguousarray(values)), *kept) if kept else Tensor(np.ascontiguousarray(values))


def _unique(x: Any, wanted: list[bool], kind: types.DType) -> Any:
    """The same where a run finds how many values are different: of all in order those that differ from the one before."""
    flat = OPS["flatten"](OPS["detached"](x))
    order = argsort(flat, stable=True)
    values, ones = take_at(flat, order, axes=(0,)), cast(order >= 0, types.int64)
    places = cumsum(ones) - 1
    new = OPS["bitwise_or"](places == 0, values != take_at(values, maximum(places - 1, 0), axes=(0,)))
    (begins,) = places_along(new)
    numbers = cumsum(cast(new, types.int64)) - 1
    inverse = put_at(numbers, numbers, order, axes=(0,))
    counts = OPS["add_at"](begins * 0, ones, numbers, axes=(0,))
    others = take_at(order, begins, axes=(0,)), inverse, counts
    kept = [cast(o, kind) for o, keep in zip(others, wanted, strict=True) if keep]
    result = take_at(values, begins, axes=(0,))
    return (result, *kept) if kept else result


def unique_consecutive(
    x: Any, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None, dtype: Any = "int64"
) -> Any:
    """The values, or slices along an axis, that differ from the one before.

    >>> d2s.unique_consecutive(d2s.to_tensor([1, 1, 2, 1])).tolist()
    [1, 2, 1]
    """
    have, kind = tensor_type(x, "unique_consecutive", "x"), _integers("unique_consecutive", dtype)
    along = None if axis is None else one_axis(axis, len(have.shape), "unique_consecutive")
    known_now("how many values differ from the one before")
    rows = x.array.reshape(-1) if along is None else np.moveaxis(x.array, along, 0)
    flat = rows.reshape(len(rows), -1) if rows.size else rows.reshape(len(rows), 0)
    new = np.ones(len(rows), bool)
    new[1:] = (flat[1:] != flat[:-1]).any(1)
    values = rows[new] if along is None else np.moveaxis(rows[new], 0, along)
    counts = np.diff(np.append(np.flatnonzero(new), len(rows)))
    others = [(return_inverse, np.cumsum(new) - 1), (return_counts, counts)]
    kept = [Tensor(o.astype(kind.numpy)) for keep, o in others if flag(keep, "return_inverse")]
    return (Tensor(np.ascontiguousarray(values)), *kept) if kept else Tensor(np.ascontiguousarray(values))


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number from 0 to the largest occurs, or the sum of the weights that stand with it.

    >>> d2s.bincount(d2s.to_tensor([1, 1, 3]), minlength=5).tolist()
    [0, 2, 0, 1, 0]
    """
    have, least = tensor_type(x, "bincount", "x"), whole_number(minlength, "bincount", "minlength")
    if have.dtype.kind != "i" or len(have.shape) != 1:
        raise DTypeError("D2S0003", f"bincount(): 'x' is {have}, expected a vector of integers")
    if least < 0:
        raise ArgumentError("D2S0004", f"bincount(): 'minlength' is {least}, expected a number from 0")
    known_now("which number is the largest")
    if x.array.size and int(x.array.min()) < 0:
        raise ArgumentError("D2S0004", f"bincount(): 'x' holds {int(x.array.min())}, expected numbers from 0")
    memory.check("bincount", [max(least, int(x.array.max()) + 1 if x.array.size else 0)], np.dtype("int64"))
    if weights is None:
        return Tensor(np.bincount(x.array.astype(np.int64), minlength=least))
    fitting("bincount", "weights", tensor_type(weights, "bincount", "weights").shape, have.shape)
    total = np.bincount(x.array.astype(np.int64), weights.array, least)
    return Tensor(total.astype(weights.array.dtype if weights.dtype.kind == "f" else np.float64))


def histogram(
    input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0, weight: Any = None, density: bool = False
) -> Any:
    """How many values fall into each of `bins` equal parts of [min, max], or of the range of values where both are 0.

    >>> d2s.histogram(d2s.to_tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist()
    [0, 2, 1, 0]
    """
    have, count = tensor_type(input, "histogram", "input"), whole_number(bins, "histogram", "bins")
    if have.dtype.kind == "b":
        raise DTypeError("D2S0003", "histogram(): 'input' is bool, expected numbers")
    if count < 1 or not all(isinstance(n, (int, float)) and math.isfinite(n) for n in (min, max)) or min > max:
        raise ArgumentError("D2S0004", f"histogram(): {brief(bins)} bins from {brief(min)} to {brief(max)}")
    known_now("how many values fall into each bin")
    memory.check("histogram", [count], np.dtype("float64"))
    low, high = _range(input.array, float(min), float(max))
    shares = None
    if weight is not None:
        fitting("histogram", "weight", tensor_type(weight, "histogram", "weight").shape, have.shape)
        shares = weight.array.reshape(-1)
    inside = input.array.reshape(-1)
    found = np.histogram(inside, count, (low, high), weights=shares, density=flag(density, "density"))[0]
    return Tensor(found.astype(np.int64 if weight is None and not density else np.float32))


def _range(values: np.ndarray, low: float, high: float) -> tuple[float, float]:
    if low == high == 0.0 and values.size:
        low, high = float(values.min()), float(values.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ShapeError("D2S0004", f"histogram(): the values reach from {low} to {high}, expected finite ones")
    return (low - 1.0, high + 1.0) if low == high else (low, high)


def _integers(name: str, dtype: Any) -> types.DType:
    found = types.dtype(dtype)
    if found not in (types.int32, types.int64):
        raise DTypeError("D2S0003", f"{name}(): 'dtype' is {found.name}, expected int32 or int64")
    return found


for _function in (unique, unique_consecutive, bincount, histogram):
    setattr(Tensor, _function.__name__, _function)
