"""Properties that are computed once, without a lock: one that another thread had would be taken in a forked child for ever.

In: a method. Out: a property that an object keeps once it was asked; of threads that ask at once all get the same.

>>> class Square:
...     @once
...     def area(self) -> int:
...         print("computed")
...         return 9
>>> square = Square()
>>> square.area, square.area
computed
(9, 9)
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):
    """What `functools.cached_property` is since Python 3.12, which before has a lock for each class."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self.find, self.name, self.__doc__ = find, find.__name__, find.__doc__

    @overload
    def __get__(self, instance: None, kind: Any = None) -> "once[T]": ...

    @overload
    def __get__(self, instance: Any, kind: Any = None) -> T: ...

    def __get__(self, instance: Any, kind: Any = None) -> Any:
        return self if instance is None else instance.__dict__.setdefault(self.name, self.find(instance))
