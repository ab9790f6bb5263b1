"""Methods of lists, dicts, sets and generators, as a captured function calls them.

In: a bound method of Python's own, and what it is called with. Out: what it gives; what it changes is noted on this path.

>>> from d2s.capture.containers import stand_in
>>> from d2s.capture.symbolic import Tracer
>>> from d2s.ops.dispatch import handling
>>> tracer = Tracer("f")
>>> with handling(tracer):
...     words = tracer.heap.made(stand_in({1: "one"}))
...     change(lambda function: function, tracer, words.update, {2: "two"})
...     read(tracer, words.get, 2)
'two'
"""

from collections.abc import Callable
from typing import Any

from d2s.capture.alternatives import each, of_each
from d2s.capture.branch import switch
from d2s.capture.by_path import gathered, is_number, opened
from d2s.capture.containers import STAND_INS, by_path, contents, new_object, restore
from d2s.capture.forms import OneOf
from d2s.capture.growing import asked, is_grown
from d2s.capture.reads import changing
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.convert.computing import pure
from d2s.convert.library import in_order, places_of
from d2s.convert.loads import by_key, guard_content, refuse_consumption, spread
from d2s.convert.methods import walked
from d2s.convert.stores import with_known_keys
from d2s.convert.views import VIEWS
from d2s.eager.tensor import Tensor

Call = Callable[[Any], Callable[..., Any]]


def read(tracer: Tracer, method: Any, *args: Any, **kwargs: Any) -> Any:
    """What a container is asked that does not change it."""
    owner, name = method.__self__, method.__name__
    guard_content(tracer, owner)
    if by_path(owner) and not is_grown(owner) and args and _asks_values(name, args[0]):
        return gathered(each(opened(owner), lambda one: read(tracer, getattr(one, name), *args)))
    if name == "get" and args and is_number(args[0]):
        return by_key(tracer, owner, args[0], *(args[1:] or (None,)))
    if name in ("index", "count") and isinstance(owner, list | tuple) and not by_path(owner) and len(args) == 1:
        found = places_of(owner, args[0])
        if found or name == "count":
            return found[0] if name == "index" else len(found)
    if name in VIEWS and isinstance(owner, STAND_INS) and not args:
        return tracer.root.heap.made(new_object(VIEWS[name], {"owner": owner}))
    return of_each(method, *args, **kwargs) if isinstance(owner, STAND_INS) else pure(tracer, method, *args, **kwargs)


def _asks_values(name: str, value: Any) -> bool:
    """Whether values are compared that Python cannot compare alone."""
    return name in ("get", "index", "count") and isinstance(value, SymbolicTensor | Tensor)


_TAKING_ONE = ("append", "insert", "setdefault", "move_to_end")
_BY_KEY = ("setdefault", "pop", "add", "discard", "remove")


def change(call: Call, tracer: Tracer, method: Any, *args: Any, **kwargs: Any) -> Any:
    """A change of a container; what it is given is read to the end now."""
    owner, name = method.__self__, method.__name__
    if id(owner) in tracer.root.tails and name in ("append", "extend"):
        return change(call, tracer, getattr(tracer.root.tails[id(owner)][1], name), *args, **kwargs)
    if name in _BY_KEY and args and isinstance(args[0], OneOf) and isinstance(owner, dict | set):
        return switch(tracer, args[0], lambda one: [change(call, capturing() or tracer, method, one, *args[1:])])[0]
    for value in args:
        guard_content(tracer, value)
        refuse_consumption(tracer, value)
        if name not in _TAKING_ONE and isinstance(value, SymbolicTensor | Tensor | OneOf):
            of = "a number of run time" if is_number(value) else "a tensor"
            hint = "use append" if isinstance(owner, list) else "keep pairs in a list, or ask for each key in an `if`"
            refuse("D2S1003", f"'{name}' of a {type(owner).__name__} with {of}", hint)
    if name not in ("append", "extend", "update", "add"):
        guard_content(tracer, owner)
    changing(tracer, owner)
    if name in ("add", "setdefault"):
        with_known_keys({args[0]})
    if name == "sort":
        _sort(call, owner, **kwargs)
        return None
    if name == "remove" and isinstance(owner, list) and not by_path(owner):
        found = places_of(owner, *args)
        if found:
            del owner[found[0]]
            return None
    if name in ("extend", "update"):
        args = tuple(map(walked if isinstance(owner, dict) else spread, args))
    return method(*args, **kwargs)


def _sort(call: Call, owner: Any, key: Any = None, reverse: Any = False) -> None:
    if is_grown(owner):
        restore(owner, contents(asked(owner, "sorted", key, reverse)))
        return
    several = opened(owner)

    def ordered(one: Any) -> list[Any]:
        return in_order(call, list(one), key=key, reverse=reverse)

    owner[:] = gathered(each(several, ordered)) if isinstance(several, OneOf) else ordered(owner)


def advance(tracer: Tracer, method: Any, *args: Any) -> Any:
    """`send`, `throw` and `close` of a generator."""
    refuse_consumption(tracer, method.__self__)
    return method(*args)
