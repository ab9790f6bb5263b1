"""What a step will find, as far as a capture can tell: an object like it, and where a run knows extents, one that is longer.

In: a function of Python's or of NumPy's, and what a step calls it with. Out: an example of its result; a `Varied` where two
runs may find unlike extents; MISSING where nothing is known. A function is computed twice: of ones, and of what is longer.
Where values say how much there is - `nonzero`, `unique`, a mask -, as many are made up here. Of a function that may act, or
that is given what may act, nothing is known: it is called by runs alone (`only_computing.py`).

>>> found = computed(np.nonzero, [Varied(np.ones(5), np.ones(5))], {})
>>> found.example, found.longer
((array([0, 0]),), (array([0, 0, 0]),))
>>> open_shape(computed(np.concatenate, [[Varied(np.ones(2), np.ones(3)), np.ones(4)]], {}))
('m',)
"""

import operator
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s.capture.containers import by_path, plain_kind
from d2s.capture.forms import COUNTS, Grown, Later, OneOf, Slot, Varied
from d2s.capture.guards import MISSING
from d2s.capture.only_computing import is_numpys, only_computes, own
from d2s.capture.symbolic import SymbolicTensor
from d2s.eager.tensor import Tensor
from d2s.ops.found import OPEN
from d2s.types import Shape, Type


def example_of(value: Any, which: int = 0) -> Any:
    """An object like the one a run will have, the longer one if `which` is 1; MISSING where that is not known."""
    if isinstance(value, Later | Varied):
        return value.longer if which else value.example
    if isinstance(value, SymbolicTensor):
        return _of_type(value.value.type, which)
    if isinstance(value, Tensor):
        return _of_type(Type(value.dtype, value.array.shape), which)
    if by_path(value):
        return _of_content(value.held, which) if plain_kind(value) is list else MISSING
    if isinstance(value, OneOf):
        return MISSING
    if plain_kind(value) in (list, tuple):
        parts = [example_of(part, which) for part in value]
        return MISSING if any(part is MISSING for part in parts) else plain_kind(value)(parts)
    return own(value)


def _of_content(held: Any, which: int) -> Any:
    """A list like one whose items depend on the path, or on a loop."""
    if not isinstance(held, Grown):
        return example_of(list(sorted(held.alternatives, key=len)[-2 + which]), which)
    return [_of_type(held.item.type, which)] * COUNTS[which] if isinstance(held.item, Slot) else MISSING


def _of_type(of: Type, which: int) -> Any:
    if of.python:
        return of.dtype.numpy.type(1 + which if of.dtype.kind != "b" else 1).item()
    return Tensor(np.ones([d if isinstance(d, int) else COUNTS[which] for d in of.shape], of.dtype.numpy))


def called(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a function that only a run has."""
    return function(*args, **kwargs)


def is_number(example: Any) -> bool:
    """Whether an example is one of a Python number."""
    return type(example_of(example)) in (bool, int, float)


def varied(example: Any, longer: Any) -> Any:
    """Two examples of one thing."""
    return example if longer is MISSING or example is MISSING else Varied(example, longer)


def computed(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What a function makes of examples, if it only computes."""
    example, longer = (_computed(function, args, kwargs, which, COUNTS[which]) for which in (0, 1))
    if longer is MISSING:  # what is longer need not fit what is not
        longer = _computed(function, args, kwargs, 0, COUNTS[1])
    if isinstance(longer, np.integer) and longer == example:  # it is a value, which any run may find to be another
        longer = longer + type(longer)(1)
    return varied(example, longer)


def _computed(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], which: int, count: int) -> Any:
    found = [example_of(value, which) for value in (*args, *kwargs.values())]
    if any(value is MISSING for value in found):
        return MISSING
    given, named = found[: len(args)], dict(zip(kwargs, found[len(args) :], strict=True))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if function is operator.getitem and isinstance(given[0], np.ndarray):
                return given[0][_without_masks(given[1], count)]
            return _counted(function, args, given, named, count)
    except Exception:  # of ones, or of objects like these: a run will tell
        return MISSING


def _without_masks(key: Any, count: int) -> Any:
    """A key of an array in which as many places stand as masks are to hold at."""
    keys: list[Any] = []
    for part in key if isinstance(key, tuple) else (key,):
        mask = isinstance(part, np.ndarray) and part.dtype == bool and part.ndim
        keys += [np.zeros(count, int)] * part.ndim if mask else [part]
    return tuple(keys) if isinstance(key, tuple) or len(keys) != 1 else keys[0]


def _counted(function: Any, args: Sequence[Any], given: Sequence[Any], named: dict[str, Any], count: int) -> Any:
    """What a function makes of examples; where values of these say how long it is, so many."""
    if function is called:
        function, args, given = given[0], args[1:], given[1:]
    else:
        function = _on_its_own(function)
    if function is MISSING or not only_computes(function):
        return MISSING
    found = function(*given, **named)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ndarray):  # a method of an array is the function of that name
        args, given = [Varied(owner, owner), *args], [owner, *given]
    name = getattr(function, "__name__", "")
    known = not any(isinstance(x, Later | SymbolicTensor | Tensor | Varied) for x in args)
    ways = _COUNTED.get(name) if (isinstance(owner, np.ndarray) or is_numpys(function)) and not known else None
    axes = ways(args, given, named) if ways else ()
    if not axes:
        return found
    if not isinstance(found, tuple):
        return _lengthened(found, axes[0], count)
    return tuple(
        _lengthened(part, axis, count) for part, axis in zip(found, axes * len(found) if len(axes) == 1 else axes, strict=True)
    )


def _on_its_own(function: Any) -> Any:
    """A function like one from outside, which changes nothing there: a method is that of a copy."""
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType | type | np.ufunc):
        return function
    return MISSING if (copy := own(owner)) is MISSING else getattr(copy, function.__name__)


def _lengthened(array: np.ndarray, axis: int | None, count: int) -> np.ndarray:
    """An array of another length, of values that may stand for places."""
    if axis is None:
        return array
    shape = list(array.shape)
    shape[axis] = count
    return np.full(shape, 0 if array.dtype.kind in "iu" else 1, array.dtype)


_Axes = tuple[int | None, ...]
_Ways = Callable[[Sequence[Any], Sequence[Any], dict[str, Any]], _Axes]


def _first(args: Sequence[Any], given: Sequence[Any], named: dict[str, Any]) -> _Axes:
    return (0,)


def _of_values(args: Sequence[Any], given: Sequence[Any], named: dict[str, Any]) -> _Axes:
    return (0,) if any(isinstance(x, Later) and isinstance(x.example, np.generic) for x in args) else ()


def _axis_at(place: int) -> _Ways:
    """That axis which an argument says; the values of all axes in a row are one."""

    def ways(args: Sequence[Any], given: Sequence[Any], named: dict[str, Any]) -> _Axes:
        axis = given[place] if len(given) > place else named.get("axis")
        return (0 if axis is None else axis,)

    return ways


def _where(args: Sequence[Any], given: Sequence[Any], named: dict[str, Any]) -> _Axes:
    return (0,) if len(given) + len(named) == 1 else ()


def _unique(args: Sequence[Any], given: Sequence[Any], named: dict[str, Any]) -> _Axes:
    """Values and, where they are asked for, their places, which of them each value is, and how often there is each."""
    flags = [given[k] if len(given) > k else named.get(name) for k, name in enumerate(_FLAGS, 1)]
    axes: list[int | None] = [_axis_at(4)(args, given, named)[0]]
    axes += [None if name == "return_inverse" else 0 for name, flag in zip(_FLAGS, flags, strict=True) if flag]
    return tuple(axes)


_FLAGS = ("return_index", "return_inverse", "return_counts")


def _by_argument(place: int, name: str, axis: _Ways) -> _Ways:
    """Where an argument is an array that only a run has."""

    def ways(args: Sequence[Any], given: Sequence[Any], named: dict[str, Any]) -> _Axes:
        counts = given[place] if len(given) > place else named.get(name)
        return axis(args, given, named) if isinstance(counts, np.ndarray) and counts.ndim else ()

    return ways


_COUNTED: dict[str, _Ways] = {
    "where": _where,
    **dict.fromkeys(("nonzero", "flatnonzero", "argwhere", "extract", "bincount", "trim_zeros"), _first),
    **dict.fromkeys(("intersect1d", "union1d", "setdiff1d", "setxor1d", "unique_values", "roots"), _first),
    "arange": _of_values,
    "compress": _axis_at(2),
    "unique": _unique,
    "repeat": _by_argument(1, "repeats", _axis_at(2)),
    "delete": _by_argument(1, "obj", _axis_at(2)),
}


def open_shape(example: Any) -> Shape:
    """The extents of an array that an example stands for, open where only a run knows them."""
    one, other = (np.shape(example_of(example, which)) for which in (0, 1))
    return tuple(a if a == b else OPEN for a, b in zip(one, other, strict=True)) if len(one) == len(other) else one
