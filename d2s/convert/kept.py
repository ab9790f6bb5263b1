"""Items of something that are kept where conditions hold: comprehensions and generators with an `if`, and `filter`.

In: what is iterated, and of each item whether it is kept and what stands for it. Out: an iterator, which `convert.taking` has
loops and functions take the items of, also where only a run will tell whether a condition holds; Python's own `next` takes what
Python's conditions keep.

>>> odd = Kept(range(5), lambda item: (item % 2, lambda: item * 10, False))
>>> list(odd), list(odd)
([10, 30], [])
"""

from collections.abc import Callable, Iterator
from typing import Any

from d2s.capture.forms import Later, OneOf
from d2s.capture.symbolic import SymbolicTensor
from d2s.capture.users_code import refuse
from d2s.convert.if_else import truth_of
from d2s.convert.loads import iterate
from d2s.convert.methods import Walking

Over = Callable[[Any], tuple[Any, Callable[[], Any], bool]]


class Kept(Walking):
    """`over(item)` is the condition, and a function for what stands for the item; or, if the last is True, for what is iterated
    for each item in turn, and over what. Nobody asks for a second item where it is for `once`."""

    def __init__(self, iterable: Any, over: Over, once: bool = False) -> None:
        self.iterable, self.over, self.once = iterable, over, once
        self._items: Iterator[Any] | None = None

    def __iter__(self) -> "Kept":
        return self

    def __next__(self) -> Any:
        if self._items is None:
            self._items = _advanced(*self.taken())
        return next(self._items)

    @property
    def fresh(self) -> bool:
        """Whether nobody has advanced it."""
        return self._items is None

    def taken(self) -> tuple[Any, Over]:
        """What is iterated, and over what; from then on there are no items left."""
        if self._items is not None:
            refuse("D2S1003", "a generator is looped over that `next` has advanced", "make a list of it first")
        found = self.iterable, self.over
        self.iterable = ()
        return found

    def leave_to_run(self) -> None:
        """How far it is advanced only a run will tell: nobody may ask it for more."""
        self._items = _further()


def _further() -> Iterator[Any]:
    refuse("D2S1001", "which item of a generator is the next only a run will tell", "make a list of it, and loop over that")
    yield


Kept.__name__ = Kept.__qualname__ = "generator"


def _advanced(iterable: Any, over: Over) -> Iterator[Any]:
    for item in iterate(iterable):
        test, rest, deeper = over(item)
        test = truth_of(test)
        if isinstance(test, SymbolicTensor | OneOf | Later):
            refuse(
                "D2S1001", "which item of a generator is the next only a run will tell", "make a list of it, and loop over that"
            )
        if test and deeper:
            yield from _advanced(*rest())
        elif test:
            yield rest()
