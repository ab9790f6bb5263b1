"""What a `for` can run over whose length or items only a run knows: how many, and which is the one at a place.

In: tensors, `range` of numbers of run time, lists whose length only a run will tell, and `enumerate`, `zip` and `reversed` of
these. Out: recipes, which `convert.for_loop` turns into loops of the graph; what is an iterator goes on where it was left.
"""

import dataclasses
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s.capture.alternatives import whole_by_path
from d2s.capture.by_path import opened
from d2s.capture.forms import Later, OneOf
from d2s.capture.growing import asked, get, is_grown, length
from d2s.capture.heap import Place
from d2s.capture.steps import ask, attempted, number_of
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError
from d2s.ops import OPS
from d2s.ops.item import get_item
from d2s.ops.rows import extent, row


@dataclasses.dataclass(frozen=True, eq=False)
class Recipe:
    """`length` is read once, before the first trip; that of a list, a function, before each."""

    kind: str
    length: Any
    item: Callable[[Any], Any]

    def now(self) -> Any:
        """The length."""
        return self.length() if callable(self.length) else self.length

    def rest(self) -> "Recipe":
        """What is left of it."""
        return self


@dataclasses.dataclass(frozen=True, eq=False)
class Onward(Recipe):
    """An iterator. `place` holds how many of its items were taken; None where something else takes them."""

    place: Place

    def rest(self) -> Recipe:
        taken = self.place.held()
        if taken is None or isinstance(taken, OneOf):
            message = f"this {self.kind} goes on where something else has left it, or goes over it still"
            refuse("D2S1003", message, "make a list of it first, and go over that")
        if isinstance(taken, int) and not taken:
            return Recipe(self.kind, self.length, self.item)
        length = self.length if callable(self.length) or self.length is math.inf else self.length - taken
        return Recipe(self.kind, (lambda: self.now() - taken) if callable(length) else length, lambda k: self.item(k + taken))

    def take(self, taken: Any) -> None:
        """Notes how many were taken."""
        tracer = capturing()
        assert tracer is not None
        tracer.root.heap.set(self.place, taken)


class Walked(Onward):
    """An iterator over items that Python knows, one of several by the path."""

    def __iter__(self) -> Iterator[Any]:
        return _one_by_one(self)


for _kind in (Recipe, Onward, Walked):
    _kind.__name__ = "sequence of items that a run takes"  # what messages call them
_CLASSES = {"enumerate": enumerate, "zip": zip, "range": range, "count": itertools.count}
_CLASSES |= {f"{kind.__name__}_reverseiterator": type(reversed(kind())) for kind in (list, dict)}


def class_of(recipe: Recipe) -> Any:
    """What `type(...)` gives of it."""
    if recipe.kind not in _CLASSES:
        refuse("D2S1003", f"the class of this {recipe.kind}, whose items a run takes", "ask what it is made of")
    return _CLASSES[recipe.kind]


def onward(tracer: Tracer, kind: str, length: Any, item: Callable[[Any], Any]) -> Onward:
    """An iterator that nothing was taken from."""
    return Onward(kind, length, item, Place(0, tracer.root.heap.here()))


def counted(recipe: Recipe) -> Any:
    """`len(...)` of it."""
    if isinstance(recipe, Onward):
        raise TypeError(f"object of type '{recipe.kind}' has no len()")
    return recipe.length


def iter_(tracer: Tracer, value: Any) -> Onward:
    """`iter(...)` of what only a run can count."""
    if isinstance(value, Onward):
        return value
    recipe = recipe_of(tracer, value)
    assert recipe is not None
    return onward(tracer, f"{recipe.kind}_iterator", recipe.length, recipe.item)


def in_order(value: Any) -> Any:
    """The items of what a capture can count, such as `enumerate(x)`, for Python's functions to go over."""
    if not isinstance(value, Recipe) or not isinstance(value.rest().length, int):
        return value
    return _one_by_one(value) if isinstance(value, Onward) else map(value.item, range(value.length))


def _one_by_one(items: Onward) -> Iterator[Any]:
    while items.rest().length > 0:
        taken = items.place.held()
        items.take(taken + 1)
        yield items.item(taken)


def _taken_over(tracer: Tracer, value: Any) -> Recipe | None:
    """The same as `recipe_of`, for something else that takes the items from now on."""
    found = recipe_of(tracer, value)
    if isinstance(value, Onward) and found is not None:
        value.take(None)
    return found


def recipe_of(tracer: Tracer, value: Any, counted: bool = False) -> Recipe | None:
    """How to iterate what only a run can; None for what Python can. `counted`: also a range that Python could."""
    if isinstance(value, Walked):
        return None
    if isinstance(value, Recipe):
        return value.rest()
    if is_grown(value):
        return Recipe("list", lambda: length(value), lambda k: get(value, k))
    if isinstance(value, Later) and isinstance(value.example, _COUNTED):
        return Recipe(
            "object", ask(tracer, "len", len, (value,), {}, 0, True), lambda k: attempted("item", operator.getitem, value, k)
        )
    if isinstance(value, Tensor | SymbolicTensor):
        symbol = tracer.symbol_of(value)
        assert symbol is not None
        return _rows(symbol)
    return _range(value.start, value.stop, value.step) if counted else None


_COUNTED = (np.ndarray, list, tuple, str, bytes)  # of whose objects a run can tell how many items they have


def _rows(x: SymbolicTensor) -> Recipe:
    if x.value.type.python:
        name = {"b": "bool", "i": "int", "f": "float"}[x.dtype.kind]
        raise TypeError(f"'{name}' object is not iterable")
    if not x.value.type.shape:
        raise DTypeError("D2S0001", "iteration over a 0-D tensor")
    first = x.value.type.shape[0]
    length = first if isinstance(first, int) else extent(x, axis=0)
    return Recipe("tensor", length, lambda k: get_item(x, k) if isinstance(k, int) else row(x, OPS["cast"](k, "int64")))


def range_(tracer: Tracer, *bounds: Any) -> Any:
    """`range(...)`: Python's where all is known."""
    bounds = tuple(map(_counting, bounds))
    if not any(isinstance(b, SymbolicTensor | Tensor) for b in bounds):
        return range(*bounds)
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return _range(*(_index(tracer, b) for b in (start, stop, step)))


def _counting(value: Any) -> Any:
    """A number of NumPy's that places or counts, as Python's own; one that a run has, or the path tells, as one of run time."""
    if isinstance(value, Later) and isinstance(value.example, int | np.integer):
        return number_of(value)
    return whole_by_path(value)


def _index(tracer: Tracer, value: Any) -> Any:
    """What `range` makes of its arguments."""
    symbol = tracer.symbol_of(value) if isinstance(value, SymbolicTensor | Tensor) else None
    value = int(value) if isinstance(value, np.integer) else value
    return value if symbol is None else as_index(symbol, "'float' object cannot be interpreted as an integer")


def as_index(key: SymbolicTensor, of_float: str) -> SymbolicTensor:
    """What Python makes of a number that counts or places: an int of run time; `of_float` is what it says of a float."""
    of = key.value.type
    if of.python and of.dtype.kind == "f":
        raise TypeError(of_float)
    if not of.python and of.dtype.kind != "i":
        raise DTypeError("D2S0003", f"a {of.dtype.name} tensor is not an index")
    if any(d != 1 for d in of.shape):
        raise ArgumentError("D2S0004", f"a tensor of shape {list(of.shape)} is not one Python value")
    key = OPS["sum"](key) if of.shape else key
    return key if of.python and of.dtype.size == 8 else OPS["cast"](key, "int64", python=True)  # type: ignore[no-any-return]


def _range(start: Any, stop: Any, step: Any) -> Recipe:
    if isinstance(step, SymbolicTensor):
        refuse("D2S1003", "a range whose step is a tensor", "use a Python int for the step")
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    span = stop - start if step > 0 else start - stop
    return Recipe("range", (span + (abs(step) - 1)) // abs(step), lambda k: k * step + start)


def repeat_(tracer: Tracer, value: Any, times: Any) -> Onward:
    """`itertools.repeat(...)` as often as only a run will tell."""
    return onward(tracer, "repeat", _range(0, _index(tracer, times), 1).length, lambda k: value)


def count_(tracer: Tracer, start: Any = 0, step: Any = 1) -> Onward:
    """`itertools.count(...)`: as many items as are asked for."""
    return onward(tracer, "count", math.inf, lambda k: k * step + start)


def enumerate_(tracer: Tracer, iterable: Any, start: Any = 0) -> Any:
    several = opened(iterable)
    if isinstance(several, OneOf):
        return _of_each(several, [enumerate_(tracer, one, start) for one in several.alternatives])
    recipe = _taken_over(tracer, iterable)
    if recipe is None:
        return enumerate(iterable, start)
    return onward(tracer, "enumerate", recipe.length, lambda k: (k + start, recipe.item(k)))


def reversed_(tracer: Tracer, iterable: Any) -> Any:
    several = opened(iterable)
    if isinstance(several, OneOf):
        items = (one if isinstance(one, Recipe) else tuple(one) for one in several.alternatives)
        return _of_each(several, [reversed_(tracer, one) for one in items])
    recipe = recipe_of(tracer, iterable)
    if recipe is None:
        return reversed(list(iterable) if isinstance(iterable, tuple | str | bytes) else iterable)
    if is_grown(iterable):
        first = recipe.now() - 1
        return onward(tracer, "reversed", recipe.now(), lambda k: asked(iterable, "__getitem__", first - k))
    if recipe.kind not in ("range", "tensor", "object"):
        raise TypeError(f"'{recipe.kind}' object is not reversible")
    return onward(tracer, "reversed", recipe.length, lambda k: recipe.item(recipe.length - 1 - k))


def zip_(tracer: Tracer, *iterables: Any, strict: bool = False) -> Any:
    """Items side by side, up to the end of the shortest."""
    several = next((n for n, value in enumerate(map(opened, iterables)) if isinstance(value, OneOf)), None)
    if several is not None:
        one_of = opened(iterables[several])
        made = [zip_(tracer, *_where(tracer, one_of.tag, k, iterables), strict=strict) for k in range(len(one_of.alternatives))]
        return _of_each(one_of, made)
    if any(isinstance(value, Onward) and iterables.count(value) > 1 for value in iterables):
        iterables = tuple(map(in_order, iterables))  # each takes from the same
    recipes = [_taken_over(tracer, value) for value in iterables]
    if not any(recipes):
        return zip(*iterables, strict=strict)
    known = [r or _listed(tracer, value) for r, value in zip(recipes, iterables, strict=True)]
    if strict and len({r.length for r in known if isinstance(r.length, int)}) + any(_open(r) for r in known) > 1:
        if any(map(_open, known)):
            refuse("D2S1003", "zip(strict=True) of what only a run can count", "leave strict out")
        return zip(*(map(r.item, range(r.length)) for r in known), strict=True)  # which complains at its end
    living = any(callable(r.length) for r in known)
    length = (lambda: _shortest(known)) if living else _shortest(known)
    return onward(tracer, "zip", length, lambda k: tuple(r.item(k) for r in known))


def _where(tracer: Tracer, tag: SymbolicTensor, k: int, iterables: Sequence[Any]) -> list[Any]:
    """What is zipped where a tag is `k`: lists that grew side by side have one."""
    found = [opened(value) for value in iterables]
    return [
        one.alternatives[k] if isinstance(one, OneOf) and tracer.number(one.tag.value) == tracer.number(tag.value) else value
        for one, value in zip(found, iterables, strict=True)
    ]


def _of_each(one_of: OneOf, made: Sequence[Any]) -> OneOf:
    """Each way to iterate: an iterator of Python as its items, with how many of them were taken."""
    return OneOf(one_of.tag, [one if isinstance(one, Recipe | OneOf) else _walked(one) for one in made])


def _walked(iterator: Any) -> Walked:
    tracer, items = capturing(), tuple(iterator)
    assert tracer is not None
    return Walked(type(iterator).__name__, len(items), items.__getitem__, Place(0, tracer.root.heap.here()))


def _shortest(recipes: Sequence[Recipe]) -> Any:
    return functools.reduce(_smaller, (r.now() for r in recipes))


def _open(recipe: Recipe) -> bool:
    return not isinstance(recipe.length, int)


def _smaller(a: Any, b: Any) -> Any:
    if a is math.inf or b is math.inf:
        return b if a is math.inf else a
    if not isinstance(a, SymbolicTensor) and not isinstance(b, SymbolicTensor):
        return min(a, b)
    return OPS["where"](OPS["less_than"](b, a), b, a) if a is not b else a


_LISTED: tuple[Any, ...] = (list, tuple, range, str, dict, set, frozenset, type({}.keys()), type({}.values()), type({}.items()))


def _listed(tracer: Tracer, value: Any) -> Recipe:
    """Python's own items beside those of a tensor: which one is chosen by the trip."""
    if not isinstance(value, _LISTED):
        refuse("D2S1003", f"zip() of a {type(value).__name__} and what only a run can count", "make a list of it")
    items = list(value)
    return Recipe("list", len(items), lambda k: OneOf(k, items) if isinstance(k, SymbolicTensor) else items[k])
