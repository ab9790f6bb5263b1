"""What a list is asked whose length only a run will tell: in Python over what `capture.growing` has nodes for.

In: methods of such a list. Out: the same as loops of the graph: the functions below that a `for` stands in are rewritten like
the user's own.

>>> parts = [1, 2, 3]
>>> _insert(parts, 1, 9), parts, _reversed(parts)
(None, [1, 9, 2, 3], [3, 2, 9, 1])
"""

import inspect
import operator
import sys
from collections.abc import Callable
from typing import Any

from d2s.capture.containers import List
from d2s.capture.growing import METHODS, append, get, grow, is_grown, item_form, length, place_of, pop_last, set_, stacked
from d2s.capture.guards import MISSING
from d2s.capture.symbolic import SymbolicTensor
from d2s.capture.users_code import refuse
from d2s.convert.conversion import converted
from d2s.ops.arrange import moveaxis
from d2s.ops.join import concat, stack


def in_graph(function: Any) -> Callable[..., Any]:
    """A function below, rewritten when it is called first."""
    return lambda *args, **kwargs: converted(function).function(*args, **kwargs)


def item(owner: List, key: Any) -> Any:
    """`owner[key]`."""
    if isinstance(key, slice):
        return in_graph(_slice)(owner, *_bounds(owner, key))
    return get(owner, place_of(owner, key, "list index out of range"))


def set_item(owner: List, key: Any, value: Any) -> None:
    """`owner[key] = value`."""
    if isinstance(key, slice):
        refuse("D2S1003", "a slice of a list that a loop makes longer is replaced", "replace its items one by one")
    set_(owner, place_of(owner, key, "list assignment index out of range"), value)


def _bounds(owner: List, key: slice) -> tuple[Any, Any, Any]:
    """Where a slice starts, where it stops, and its step."""
    step = 1 if key.step is None else key.step
    if isinstance(step, SymbolicTensor) or step == 0:
        refuse("D2S1003", "a slice of a list by a step that only a run will tell, or 0", "use a step that does not change")
    back = step < 0
    count = length(owner)
    default = (count - 1, -1) if back else (0, count)
    found = [
        default[n] if bound is None else in_graph(_clamped)(bound, count, back) for n, bound in enumerate((key.start, key.stop))
    ]
    return found[0], found[1], step


def _clamped(bound: Any, count: Any, back: Any) -> Any:
    place = bound
    if bound < 0:
        place = bound + count
    if place < 0:
        place = 0 - back
    if place > count - back:
        place = count - back
    return place


def _slice(owner: Any, start: Any, stop: Any, step: Any) -> Any:
    found: list[Any] = []
    for k in range(start, stop, step):
        found.append(owner[k])
    return found


def _copy(owner: Any) -> Any:
    return owner[:]


def _extend(owner: Any, others: Any) -> None:
    for other in others:
        owner.append(other)


def _joined(owner: Any, other: Any) -> Any:
    found = owner.copy()
    found.extend(other)
    return found


def _joined_behind(owner: Any, other: Any) -> Any:
    found = list(other)
    found.extend(owner)
    return found


def _extended(owner: Any, others: Any) -> Any:
    owner.extend(others)
    return owner


def _repeated(owner: Any, times: Any) -> Any:
    found = owner[:0]
    for _ in range(times):
        found.extend(owner)
    return found


def _pop_at(owner: Any, place: Any) -> Any:
    found = owner[place]
    for k in range(place, len(owner) - 1):
        owner[k] = owner[k + 1]
    owner.pop()
    return found


def _insert(owner: Any, index: Any, value: Any) -> None:
    count = len(owner)
    place = index + count if index < 0 else index
    place = 0 if place < 0 else place
    owner.append(value)
    for k in range(count - place):
        owner[count - k] = owner[count - k - 1]
    if place < count:
        owner[place] = value


def _clear(owner: Any) -> None:
    for _ in range(len(owner)):
        owner.pop()


def _reverse(owner: Any) -> None:
    count = len(owner)
    for k in range(count // 2):
        kept = owner[k]
        owner[k] = owner[count - 1 - k]
        owner[count - 1 - k] = kept


def _reversed(owner: Any) -> Any:
    found = owner[:0]
    for k in range(len(owner)):
        found.append(owner[len(owner) - 1 - k])
    return found


def _sorted(owner: Any, key: Any, reverse: Any) -> Any:
    found, keys = owner[:0], []
    for one in owner:
        by = one if key is None else key(one)
        found.append(one)
        keys.append(by)
        place = len(keys) - 1
        while place > 0 and (keys[place - 1] < by if reverse else by < keys[place - 1]):
            found[place] = found[place - 1]
            keys[place] = keys[place - 1]
            place -= 1
        found[place] = one
        keys[place] = by
    return found


def _sum(owner: Any, start: Any = 0) -> Any:
    total = start
    for one in owner:
        total = total + one
    return total


def _best(owner: Any, better: Any, name: str, key: Any, default: Any) -> Any:
    if len(owner) == 0:
        if default is MISSING:
            raise ValueError(_EMPTY.format(name))
        return default
    found = owner[0]
    for one in owner[1:]:
        if better(one if key is None else key(one), found if key is None else key(found)):
            found = one
    return found


_EMPTY = "{}() iterable argument is empty" if sys.version_info >= (3, 12) else "{}() arg is an empty sequence"


def _contains(owner: Any, value: Any) -> Any:
    found = False
    for one in owner:
        if one == value:
            found = True
            break
    return found


def _count(owner: Any, value: Any) -> Any:
    found = 0
    for one in owner:
        if one == value:
            found += 1
    return found


def _index(owner: Any, value: Any) -> Any:
    place = -1
    for k in range(len(owner)):
        if owner[k] == value:
            place = k
            break
    if place < 0:
        raise ValueError("list.index(x): x not in list")
    return place


def _remove(owner: Any, value: Any) -> None:
    place = -1
    for k in range(len(owner)):
        if owner[k] == value:
            place = k
            break
    if place < 0:
        raise ValueError("list.remove(x): x not in list")
    owner.pop(place)


def joined_by(function: Any, args: Any, kwargs: Any) -> Any:
    """What an op gives that takes the tensors of a list, of a list whose length only a run will tell."""
    joining = next((of for known, of in _JOINING if known is function), None)
    if joining is None:
        name = getattr(function, "__name__", "an op")
        refuse("D2S1003", f"{name}() of a list that a loop makes longer", "stack it first, or loop over it")
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return joining(*bound.arguments.values())


def _stack(owner: List, axis: Any = 0) -> Any:
    whole = stacked(owner, stack, False)
    return whole if axis == 0 else moveaxis(whole, 0, axis)


def _concat(owner: List, axis: Any = 0) -> Any:
    if axis == 0:
        return stacked(owner, concat, True)
    return moveaxis(stacked(in_graph(_turned)(owner, axis), concat, True), 0, axis)


def _turned(owner: Any, axis: Any) -> Any:
    found = []
    for one in owner:
        found.append(moveaxis(one, axis, 0))
    return found


_JOINING = (stack, _stack), (concat, _concat)


def _pop(owner: List, index: Any = -1) -> Any:
    if type(index) is int and index == -1:
        place_of(owner, -1, "pop from empty list")
        return pop_last(owner)
    return in_graph(_pop_at)(owner, place_of(owner, index, "pop index out of range"))


def _changing(function: Any) -> Callable[..., Any]:
    """A method that may make a list longer that was not so before."""

    def method(owner: List, others: Any) -> Any:
        if is_grown(others):
            grow(owner, [item_form(others)])
        return in_graph(function)(owner, others)

    return method


METHODS |= {
    "append": append,
    "pop": _pop,
    "max": lambda owner, key, default: in_graph(_best)(owner, operator.gt, "max", key, default),
    "min": lambda owner, key, default: in_graph(_best)(owner, operator.lt, "min", key, default),
    "__len__": length,
    "__bool__": lambda owner: length(owner) != 0,
    "__getitem__": item,
    "__setitem__": set_item,
    "extend": _changing(_extend),
    "__iadd__": _changing(_extended),
}
for _name, _function in {
    "copy": _copy,
    "insert": _insert,
    "clear": _clear,
    "reverse": _reverse,
    "__reversed__": _reversed,
    "sorted": _sorted,
    "sum": _sum,
    "__contains__": _contains,
    "count": _count,
    "index": _index,
    "remove": _remove,
    "__delitem__": _pop_at,
    "__add__": _joined,
    "__radd__": _joined_behind,
    "__mul__": _repeated,
    "__rmul__": _repeated,
}.items():
    METHODS[_name] = in_graph(_function)
