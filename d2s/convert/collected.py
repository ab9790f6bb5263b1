"""The containers of Python's `collections`, as captured functions make them: objects around a list or a dict of the function.

In: what the containers' classes are called with. Out: objects whose methods are followed like the user's own, so that a tensor
may decide what they hold; where one leaves the function, each call makes the real container of it.

>>> last = Deque([1, 2, 3], 2)
>>> last.appendleft(0)
>>> last.content, REAL[collections.deque](vars(last))
([0, 2], deque([0, 2], maxlen=2))
>>> groups = Defaulting(list)
>>> groups["a"].append(1)
>>> groups.content
{'a': [1]}
"""

import collections
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from d2s.capture.containers import REAL, STANDING
from d2s.capture.users_code import refuse
from d2s.convert.views import Items, Keys, Values


class _Holding:
    """What all of them have in common: a list or dict that holds what is in them."""

    content: Any

    def __len__(self) -> Any:
        return len(self.content)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.content)

    def __reversed__(self) -> Any:
        return reversed(self.content)

    def __contains__(self, item: Any) -> Any:
        return item in self.content


class Deque(_Holding):
    """A `collections.deque`."""

    def __init__(self, items: Iterable[Any] = (), maxlen: Any = None) -> None:
        if maxlen is not None and maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        self.maxlen = maxlen
        self.content: list[Any] = []
        self.extend(items)

    def append(self, item: Any) -> None:
        self.content.append(item)
        if self.maxlen is not None and len(self.content) > self.maxlen:
            self.content.pop(0)

    def appendleft(self, item: Any) -> None:
        self.content.insert(0, item)
        if self.maxlen is not None and len(self.content) > self.maxlen:
            self.content.pop()

    def extend(self, items: Iterable[Any]) -> None:
        for item in list(items):
            self.append(item)

    def extendleft(self, items: Iterable[Any]) -> None:
        for item in list(items):
            self.appendleft(item)

    def pop(self) -> Any:
        if not self.content:
            raise IndexError("pop from an empty deque")
        return self.content.pop()

    def popleft(self) -> Any:
        if not self.content:
            raise IndexError("pop from an empty deque")
        return self.content.pop(0)

    def insert(self, place: Any, item: Any) -> None:
        if self.maxlen is not None and len(self.content) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        self.content.insert(place, item)

    def rotate(self, n: Any = 1) -> None:
        if len(self.content) > 0:
            n = n % len(self.content)
            self.content = self.content[-n:] + self.content[:-n]

    def clear(self) -> None:
        self.content.clear()

    def reverse(self) -> None:
        self.content.reverse()

    def count(self, item: Any) -> Any:
        return self.content.count(item)

    def copy(self) -> "Deque":
        made = Deque((), self.maxlen)
        made.content = self.content.copy()
        return made

    def __copy__(self) -> Any:
        return self.copy()

    def __getitem__(self, place: Any) -> Any:
        return self.content[self._of(place)]

    def __setitem__(self, place: Any, item: Any) -> None:
        self.content[self._of(place)] = item

    def __delitem__(self, place: Any) -> None:
        del self.content[self._of(place)]

    def _of(self, place: Any) -> Any:
        if isinstance(place, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        if place >= len(self.content) or place < -len(self.content):
            raise IndexError("deque index out of range")
        return place

    def __iadd__(self, items: Any) -> "Deque":
        self.extend(items)
        return self

    def __eq__(self, other: Any) -> Any:
        return self.content == list(other) if isinstance(other, collections.deque) else NotImplemented


class _Keyed(_Holding):
    """What all dicts of `collections` have in common."""

    def __getitem__(self, key: Any) -> Any:
        return self.content[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.content[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.content[key]

    def __eq__(self, other: Any) -> Any:
        return dict(self.content) == dict(other) if isinstance(other, dict) else NotImplemented

    def keys(self) -> Any:
        return Keys(self)

    def values(self) -> Any:
        return Values(self)

    def items(self) -> Any:
        return Items(self)

    def get(self, key: Any, default: Any = None) -> Any:
        return self.content.get(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self.content.pop(key, *default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.content.setdefault(key, default)

    def clear(self) -> None:
        self.content.clear()

    def update(self, other: Any = (), **more: Any) -> None:
        if isinstance(other, dict):
            for key in list(other):
                self[key] = other[key]
        else:
            for key, value in other:
                self[key] = value
        for key in more:
            self[key] = more[key]

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self


class Ordered(_Keyed):
    """A `collections.OrderedDict`."""

    def __init__(self, other: Any = (), **more: Any) -> None:
        self.content: Any = {}
        self.update(other, **more)

    def popitem(self, last: Any = True) -> Any:
        if not self.content:
            raise KeyError("dictionary is empty")
        key = list(self.content)[-1 if last else 0]
        return key, self.content.pop(key)

    def move_to_end(self, key: Any, last: Any = True) -> None:
        value = self.content.pop(key)
        if last:
            self.content[key] = value
        else:
            self.content = {key: value, **self.content}

    def copy(self) -> "Ordered":
        return Ordered(self.content)

    def __copy__(self) -> Any:
        return self.copy()

    def __eq__(self, other: Any) -> Any:
        if isinstance(other, collections.OrderedDict):
            return list(self.content.items()) == list(other.items())
        return dict(self.content) == other if isinstance(other, dict) else NotImplemented


class Defaulting(_Keyed):
    """A `collections.defaultdict`."""

    def __init__(self, default_factory: Any = None, other: Any = (), **more: Any) -> None:
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable or None")
        self.default_factory = default_factory
        self.content: Any = {}
        self.update(other, **more)

    def __getitem__(self, key: Any) -> Any:
        if key not in self.content:
            if self.default_factory is None:
                raise KeyError(key)
            self.content[key] = self.default_factory()
        return self.content[key]

    def popitem(self) -> Any:
        return self.content.popitem()

    def copy(self) -> "Defaulting":
        return Defaulting(self.default_factory, self.content)

    def __copy__(self) -> Any:
        return self.copy()


class Counting(_Keyed):
    """A `collections.Counter`."""

    def __init__(self, other: Any = None, **more: Any) -> None:
        self.content: Any = {}
        self.update(other, **more)

    def __getitem__(self, key: Any) -> Any:
        return self.content.get(key, 0)

    def update(self, other: Any = None, **more: Any) -> None:
        self._add(other, 1)
        self._add(more, 1)

    def subtract(self, other: Any = None, **more: Any) -> None:
        self._add(other, -1)
        self._add(more, -1)

    def _add(self, other: Any, sign: int) -> None:
        if isinstance(other, dict):
            for key in list(other):
                self.content[key] = self.content.get(key, 0) + sign * other[key]
        elif other is not None:
            for key in other:
                self.content[key] = self.content.get(key, 0) + sign

    def __delitem__(self, key: Any) -> None:
        if key in self.content:
            del self.content[key]

    def most_common(self, n: Any = None) -> Any:
        return sorted(self.content.items(), key=lambda pair: pair[1], reverse=True)[:n]

    def total(self) -> Any:
        return sum(self.content.values())

    def popitem(self) -> Any:
        return self.content.popitem()

    def copy(self) -> "Counting":
        return Counting(self.content)

    def __copy__(self) -> Any:
        return self.copy()


def _lacking(name: str) -> property:
    def asked(self: Any) -> NoReturn:
        refuse("D2S1003", f"'{name.strip('_')}' of a {STANDING[type(self)].__name__}", "use a list or a dict")

    return property(asked)


def _real(kind: Any, *settings: str) -> Callable[[dict[str, Any]], Any]:
    return lambda held: kind(*(held[name] for name in settings))


def _counted(held: dict[str, Any]) -> Any:
    made: Any = collections.Counter()
    dict.update(made, held["content"])
    return made


def _defaulting(held: dict[str, Any]) -> Any:
    return collections.defaultdict(held["default_factory"], held["content"])


COLLECTED: dict[Any, Any] = {
    collections.deque: Deque,
    collections.OrderedDict: Ordered,
    collections.defaultdict: Defaulting,
    collections.Counter: Counting,
}
REAL |= {collections.deque: _real(collections.deque, "content", "maxlen")}
REAL |= {collections.OrderedDict: _real(collections.OrderedDict, "content")}
REAL |= {collections.defaultdict: _defaulting, collections.Counter: _counted}
for _kind, _made in COLLECTED.items():
    STANDING[_made] = _kind
    _made.__name__ = _kind.__name__
    _made.__hash__ = None
    _own = {name for cls in _made.__mro__[:-1] for name in vars(cls)} | {"__class__", "__new__", "__getattribute__", "__doc__"}
    for _name in (
        set(dir(_kind))
        - _own
        - {"maxlen", "default_factory", "__init_subclass__", "__subclasshook__", "__repr__", "__str__", "__format__"}
    ):
        if getattr(_kind, _name) is not getattr(object, _name, None) and not _name.startswith("__reduce"):
            setattr(_made, _name, _lacking(_name))
