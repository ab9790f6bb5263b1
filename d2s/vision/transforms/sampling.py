"""New pixels from old ones: sizes changed, and the picture rotated, sheared, or seen from aside.

Arrays are resized as OpenCV does it (an output pixel's middle is looked up between the middles of its neighbours), up to the
last bit of a byte. Warps go the way back: each output pixel's middle is mapped into the picture, as Pillow does.

>>> resized(np.array([[0.0], [1.0]], "float32")[:, :, None], (4, 1), "bilinear")[:, 0, 0].tolist()
[0.0, 0.25, 0.75, 1.0]
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

METHODS = ("nearest", "bilinear", "bicubic", "area", "lanczos", "box", "hamming")
Kernel = Callable[[np.ndarray], np.ndarray]


def _linear(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(x), 0)


def _cubic(x: np.ndarray) -> np.ndarray:
    x, a = np.abs(x), -0.75
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((x - 5) * x + 8) * a * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _lanczos(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < 4, np.sinc(x) * np.sinc(x / 4), 0)


KERNELS: dict[str, tuple[int, Kernel]] = {"bilinear": (1, _linear), "bicubic": (2, _cubic), "lanczos": (4, _lanczos)}


def resized(array: np.ndarray, wanted: tuple[int, int], method: str) -> np.ndarray:
    """An array (height, width, colours) with another height and width."""
    if array.shape[:2] == wanted:
        return array.copy()
    if method == "nearest":
        rows, columns = (_nearest(n, m) for n, m in zip(array.shape[:2], wanted, strict=True))
        return array[rows][:, columns]
    found = array.astype(np.float64 if array.dtype == np.float64 else np.float32)
    for axis in (1, 0):
        places, weights = _taps(array.shape[axis], wanted[axis], method)
        found = _gathered(found, axis, places, weights.astype(found.dtype))
    return as_dtype(found, array.dtype)


def as_dtype(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Values rounded to the nearest that a dtype holds."""
    if dtype.kind == "f":
        return values.astype(dtype)
    if dtype.kind == "b":
        return values >= 0.5
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)


def _nearest(old: int, new: int) -> np.ndarray:
    return np.minimum(np.floor(np.arange(new) * (old / new)).astype(int), old - 1)


def _taps(old: int, new: int, method: str) -> tuple[np.ndarray, np.ndarray]:
    """For each new pixel of an axis, which old ones it is made of and their shares."""
    if method in ("area", "box", "hamming") and new < old:
        return _covered(old, new)
    reach, kernel = KERNELS.get(method, KERNELS["bilinear"])
    middles = (np.arange(new) + 0.5) * (old / new) - 0.5
    places = np.floor(middles).astype(int)[:, None] + np.arange(1 - reach, reach + 1)
    weights = kernel(middles[:, None] - places)
    return np.clip(places, 0, old - 1), weights / weights.sum(1, keepdims=True)


def _covered(old: int, new: int) -> tuple[np.ndarray, np.ndarray]:
    begins = np.arange(new) * (old / new)
    places = np.floor(begins).astype(int)[:, None] + np.arange(math.ceil(old / new) + 1)
    shares = np.minimum(places + 1, begins[:, None] + old / new) - np.maximum(places, begins[:, None])
    shares = np.maximum(shares, 0)
    return np.minimum(places, old - 1), shares / shares.sum(1, keepdims=True)


def _gathered(array: np.ndarray, axis: int, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    spread = (slice(None), None, None) if axis == 0 else (None, slice(None), None)
    total = np.take(array, places[:, 0], axis) * weights[:, 0][spread]
    for k in range(1, places.shape[1]):
        total += np.take(array, places[:, k], axis) * weights[:, k][spread]
    return total


def warped(array: np.ndarray, back: Sequence[float], wanted: tuple[int, int], method: str, fill: Any) -> np.ndarray:
    """A picture seen through a map of places: `back` has the 8 numbers that lead from new places to old ones."""
    a, b, c, d, e, f, g, h = back
    y, x = np.mgrid[: wanted[0], : wanted[1]] + 0.5
    depth = g * x + h * y + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        old_x, old_y = (a * x + b * y + c) / depth, (d * x + e * y + f) / depth
    inside = (old_x >= 0) & (old_x < array.shape[1]) & (old_y >= 0) & (old_y < array.shape[0])
    found = np.empty((*wanted, array.shape[2]), array.dtype)
    found[...] = filling(fill, array)
    found[inside] = _looked_up(array, old_x[inside], old_y[inside], method)
    return found


def _looked_up(array: np.ndarray, x: np.ndarray, y: np.ndarray, method: str) -> np.ndarray:
    if method == "nearest":
        return array[y.astype(int), x.astype(int)]
    reach, kernel = KERNELS.get(method, KERNELS["bilinear"])
    columns, rows = (np.floor(at - 0.5).astype(int)[:, None] + np.arange(1 - reach, reach + 1) for at in (x, y))
    across, down = kernel(x[:, None] - 0.5 - columns), kernel(y[:, None] - 0.5 - rows)
    columns, rows = np.clip(columns, 0, array.shape[1] - 1), np.clip(rows, 0, array.shape[0] - 1)
    values = array[rows[:, :, None], columns[:, None, :]].astype(np.float64)
    return as_dtype(np.einsum("nij...,ni,nj->n...", values, down, across), array.dtype)


def filling(fill: Any, array: np.ndarray) -> np.ndarray:
    """What is put where there is no picture: a number, or one per colour."""
    values = np.asarray(fill, np.float64).reshape(-1)
    return as_dtype(values if values.size == array.shape[2] else np.resize(values, array.shape[2]), array.dtype)
