"""What a dict of the captured function shows of itself: `keys()`, `values()` and `items()`, as they are at any time.

In: such a dict. Out: objects around it whose methods are followed like the user's own; where one leaves the function, each call
makes the real view of the real dict.

>>> shown = Keys({"a": 1, "b": 2})
>>> sorted(shown & {"b", "c"}), shown.isdisjoint(["a"]), "a" in shown
(['b'], False, True)
>>> REAL[type({}.items())]({"owner": {"a": 1}})
dict_items([('a', 1)])
"""

import operator
from collections.abc import Iterator, Set
from typing import Any, NoReturn

from d2s.capture.by_path import steps
from d2s.capture.containers import REAL, STANDING, Dict, by_path
from d2s.capture.users_code import refuse


class _View:
    """What the three have in common."""

    owner: Any
    content: Any  # what is gone over: Python's own view, or one of several, by the path

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __len__(self) -> Any:
        return len(self.owner)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.walked)

    @property
    def walked(self) -> Any:
        """What is gone over instead: found is what changes a dict of the function meanwhile."""
        held = _held(self.owner)
        return steps(held, lambda key: self.shown(held, key)) if type(held) is Dict and not by_path(held) else self.content

    @staticmethod
    def shown(held: Any, key: Any) -> Any:
        """What is given of a key."""
        return key

    def __reversed__(self) -> Any:
        return reversed(self.content)


class _Setlike(_View):
    """Keys and items: they are sets, too."""

    def __and__(self, other: Any) -> Any:
        return set(self) & set(other)

    def __rand__(self, other: Any) -> Any:
        return set(other) & set(self)

    def __or__(self, other: Any) -> Any:
        return set(self) | set(other)

    def __ror__(self, other: Any) -> Any:
        return set(other) | set(self)

    def __sub__(self, other: Any) -> Any:
        return set(self) - set(other)

    def __rsub__(self, other: Any) -> Any:
        return set(other) - set(self)

    def __xor__(self, other: Any) -> Any:
        return set(self) ^ set(other)

    def __rxor__(self, other: Any) -> Any:
        return set(other) ^ set(self)

    def __eq__(self, other: Any) -> Any:
        return len(self) == len(other) and self <= other if isinstance(other, Set) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        return not self == other if isinstance(other, Set) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return all(one in other for one in self) if isinstance(other, Set) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return len(self) < len(other) and self <= other if isinstance(other, Set) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return all(one in self for one in other) if isinstance(other, Set) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return len(self) > len(other) and self >= other if isinstance(other, Set) else NotImplemented

    def isdisjoint(self, other: Any) -> Any:
        return not any(one in self for one in other)

    @property
    def mapping(self) -> NoReturn:
        refuse("D2S1003", f"'mapping' of {type(self).__name__}", "ask the dict")

    __hash__ = None  # type: ignore[assignment]


class Keys(_Setlike):
    """`d.keys()`"""

    content = property(lambda self: _held(self.owner).keys())

    def __contains__(self, key: Any) -> Any:
        return key in self.owner


class Items(_Setlike):
    """`d.items()`"""

    content = property(lambda self: _held(self.owner).items())
    shown = staticmethod(lambda held, key: (key, held[key]))  # type: ignore[assignment]

    def __contains__(self, item: Any) -> Any:
        if not isinstance(item, tuple) or len(item) != 2 or item[0] not in self.owner:
            return False
        return self.owner[item[0]] is item[1] or self.owner[item[0]] == item[1]


class Values(_View):
    """`d.values()`"""

    content = property(lambda self: _held(self.owner).values())
    shown = staticmethod(lambda held, key: held[key])  # type: ignore[assignment]

    def __contains__(self, value: Any) -> Any:
        return any(one is value or one == value for one in self)


def _held(owner: Any) -> Any:
    """The dict that an object of `collections` is made around."""
    return getattr(owner, "content", owner)


VIEWS: dict[str, Any] = {"keys": Keys, "values": Values, "items": Items}
for _name, _made in VIEWS.items():
    _kind = type(operator.methodcaller(_name)({}))
    STANDING[_made] = _kind
    REAL[_kind] = lambda held, shows=operator.methodcaller(_name): shows(held["owner"])
    _made.__name__ = _kind.__name__
