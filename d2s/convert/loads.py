"""What reads become: attributes, subscripts and names that the capture depends on are guarded, tensors are not looked into.

>>> import types
>>> attribute(types.SimpleNamespace(flag=True), "flag")
True
"""

import dataclasses
import operator
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from d2s.capture import growing, undefined
from d2s.capture.alternatives import each, table, told
from d2s.capture.branch import branch, possible, switch
from d2s.capture.by_path import gathered, opened
from d2s.capture.containers import STAND_INS, attributes, by_path, plain_kind
from d2s.capture.forms import KINDS, Later, OneOf
from d2s.capture.growing import is_grown
from d2s.capture.guards import MISSING
from d2s.capture.heap import UNREAD, Place
from d2s.capture.kinds import ITERATED
from d2s.capture.outside import bound_to
from d2s.capture.reads import changing, read_place, refuse_handed
from d2s.capture.steps import ask, attempted
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.tree import flatten
from d2s.capture.undefined import Undefined
from d2s.capture.users_code import is_generated, refuse
from d2s.convert.generators import Suspended
from d2s.convert.indices import holds_objects, item_of_tensor, key_of, places_of
from d2s.convert.methods import Walking, answers, asked, walked
from d2s.convert.missing import missing, says_of_missing
from d2s.convert.recipes import Recipe, as_index, in_order
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.ops import OPS, Op
from d2s.runtime import modes


def load(value: Any, name: str) -> Any:
    """A variable that may have no value here."""
    if isinstance(value, OneOf):
        return each(value, lambda one: undefined.load(one, name))
    return undefined.load(value, name)


def defined(value: Any) -> Any:
    """Whether a variable has a value here."""
    if isinstance(value, OneOf):
        tracer = capturing()
        assert tracer is not None
        return table(tracer, value, {k: defined(value.alternatives[k]) for k in possible(tracer, value)})
    return not isinstance(value, Undefined)


def attribute(owner: Any, name: str) -> Any:
    tracer = capturing()
    if isinstance(owner, OneOf):
        return each(owner, lambda one: attribute(one, name))
    if isinstance(owner, Later):
        return attempted(name, getattr, owner, name)
    if tracer and isinstance(owner, Tensor):
        if _only_outside(owner, name):
            return read_attribute(tracer, owner, name, getattr(owner, name))
        owner = tracer.lift(owner)
    if isinstance(owner, SymbolicTensor) and owner.value.type.python:
        return _attribute_of_number(owner, name)
    if isinstance(owner, SymbolicTensor) and name in ("value", "recorder"):  # which a symbol has for the capture
        return owner.cpu if name == "value" else owner.__getattr__(name)
    place = tracer and place_of(tracer, owner, name)
    if place:
        return load(known(place), name)
    if tracer and tracer.root.heap.is_record(owner):
        return _of_record(tracer, owner, name)
    value = modes.read(owner, name)
    return read_attribute(tracer, owner, name, value) if tracer else value


def place_of(tracer: Tracer, owner: Any, name: str) -> Place | None:
    """Where an attribute is that was changed: the object's own, or one of its class's that it has none of its own beside."""
    places = tracer.root.heap.places
    if isinstance(owner, SymbolicTensor | Tensor):
        return None
    place = places.get(("attribute", id(owner), name))
    if place or not any(key[0] == "attribute" and isinstance(of.target[1], type) for key, of in places.items() if of.target):
        return place
    if name in getattr(owner, "__dict__", ()) and not isinstance(owner, type):
        return None
    kinds = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
    own = next((kind for kind in kinds if ("attribute", id(kind), name) in places or name in vars(kind)), None)
    return places.get(("attribute", id(own), name))


def _only_outside(tensor: Tensor, name: str) -> bool:
    """Whether it is of parameters and not of tensors, such as `trainable`, and does nothing."""
    return not hasattr(Tensor, name) and hasattr(tensor, name) and not callable(getattr(tensor, name))


def _of_record(tracer: Tracer, owner: Any, name: str) -> Any:
    """An attribute of an object that the captured function made; what it has of its class the capture depends on."""
    value = getattr(owner, name)
    if name not in attributes(owner):
        guard_attribute(tracer, type(owner), name)
    return load(value, name)


def known(place: Place) -> Any:
    """What a place holds; on a path that did not change it, what was there before."""
    held = place.held()
    if isinstance(held, OneOf) and any(one is UNREAD for one in held.alternatives):
        return each(held, lambda one: place.first() if one is UNREAD else one)
    return held


def read_attribute(tracer: Tracer, owner: Any, name: str, value: Any) -> Any:
    """An attribute's value, which the capture depends on; of one that calls change, what stands for its value at each call."""
    if id(owner) in tracer.root.acted and not callable(value):
        return tracer.root.acted[id(owner)](name, value)
    key = (id(owner), "attribute", name)
    where = tracer.root.lifts.get(key)
    if where is not None:
        described = f"{type(owner).__name__}.{name}"
        found = read_place(tracer, key, described, lambda: modes.read(owner, name, MISSING), where, (owner, name))
        if found is not MISSING:
            return found
    guard_attribute(tracer, owner, name)
    return value


def _attribute_of_number(number: SymbolicTensor, name: str) -> Any:
    """A number of run time has the attributes of a Python number."""
    seen = {"b": bool, "i": int, "f": float}[number.dtype.kind]
    if hasattr(seen, name):
        return attempted(name, getattr, number, name)
    raise AttributeError(f"'{seen.__name__}' object has no attribute '{name}'")


def guard_attribute(tracer: Tracer | None, owner: Any, name: str) -> None:
    value = modes.read(owner, name, None)
    builtin = value.__self__ if isinstance(value, types.MethodWrapperType) else None  # `super().__init__` of an exception
    made = tracer and any(map(tracer.root.heap.has, (owner, value, builtin)))
    if tracer and not made and not isinstance(owner, SymbolicTensor | str) and not _ours(owner):
        named = owner if isinstance(owner, type | types.ModuleType | types.FunctionType) else type(owner)
        described = f"{named.__name__}.{name}"
        source = "attribute", owner, name
        tracer.guard((id(owner), "attribute", name), described, lambda: modes.read(owner, name, MISSING), source=source)


def operand(owner: Any, value: Any) -> Any:
    """The right side of `owner += value`, where that changes a container."""
    tracer = capturing()
    if tracer and plain_kind(owner) in (list, dict, set):
        guard_content(tracer, value)
        refuse_consumption(tracer, value)
        if isinstance(value, SymbolicTensor | Tensor | OneOf):
            refuse("D2S1003", f"a {type(owner).__name__} takes in a tensor", "use append")
        changing(tracer, owner)
        return walked(value) if plain_kind(owner) is dict else spread(value)
    return value


def is_(x: Any, y: Any) -> Any:
    tracer = capturing()
    if tracer and isinstance(x, OneOf):
        return told(tracer, x, lambda one: is_(one, y))
    if isinstance(y, OneOf):
        return is_(y, x)
    if isinstance(x, Later) or isinstance(y, Later):
        assert tracer is not None
        return ask(tracer, "is", operator.is_, (x, y), {}, True, number=True)
    x, y = (load(v, v.name) if isinstance(v, Undefined) else v for v in (x, y))
    if tracer and isinstance(x, SymbolicTensor | Tensor) and isinstance(y, SymbolicTensor | Tensor) and x is not y:
        x, y = (tracer.lift(v) if isinstance(v, Tensor) else v for v in (x, y))  # an argument may be one from outside
    symbols = [v for v in (x, y) if isinstance(v, SymbolicTensor)]
    if x is not y and _is_bool(x) and _is_bool(y):
        return x == y  # there are two of them
    if tracer and len(symbols) == 2 and any(v.value in tracer.root.found for v in symbols):
        tracer.root.compared = True
    unknown = tracer and any(v.value in tracer.root.joined or v.value.type.python for v in symbols)
    if tracer and x is not y and id(x) in tracer.root.twins and id(y) in tracer.root.twins:
        refuse("D2S1001", "whether these two are one object depends on the run", "compare what they hold")
    apart = len(symbols) < 2 or _began_with(x, y) or _began_with(y, x)
    if unknown and not apart and (x is not y or x.value.type.python):
        refuse("D2S1001", "whether these two are one object depends on the run", "compare their values")
    return x is y


def _is_bool(value: Any) -> bool:
    """Whether it is Python's True or False, be it that only a run will tell which."""
    of = value.value.type if isinstance(value, SymbolicTensor) else None
    return type(value) is bool if of is None else of.python and of.dtype.kind == "b"


def _began_with(x: SymbolicTensor, y: SymbolicTensor) -> bool:
    """Whether a trip of a loop, or a call, began with x and made y since."""
    region: Any = y.recorder
    plain = not y.value.type.python and y.value not in x.recorder.root.joined  # type: ignore[attr-defined]
    if not plain or x.value not in x.recorder.builder.inputs or x.recorder.parent is None or y.value in region.builder.inputs:
        return False
    while region is not None and region is not x.recorder:
        region = region.parent
    return region is not None


def item(owner: Any, key: Any) -> Any:
    tracer = capturing()
    if isinstance(owner, OneOf):
        return each(owner, lambda one: item(one, key))
    if by_path(owner) and not is_grown(owner):
        found = each(opened(owner), lambda one: item(one, key))
        return gathered(found) if isinstance(key, slice) else found
    if answers(owner, "__getitem__"):
        return asked(owner, "__getitem__", key)
    if isinstance(key, OneOf):
        return each(key, lambda one: item(owner, one))
    if tracer and _takes_numbers(owner, key):
        key = key_of(key)
    if is_grown(owner):
        return growing.asked(owner, "__getitem__", key)
    if isinstance(owner, Later) or holds_objects(key):
        _refuse_tensors(owner)
        return attempted("item", operator.getitem, owner, key)
    refuse_handed(owner)
    key = asked(key, "__index__") if answers(key, "__index__") else key
    if tracer and isinstance(owner, Tensor | SymbolicTensor):
        _guard_places(tracer, key)
        return item_of_tensor(tracer, owner, key)
    layers = tracer is not None and hasattr(type(owner), "captured_items")
    if tracer and isinstance(key, SymbolicTensor) and (layers or isinstance(owner, list | tuple)):
        return _one_of(tracer, owner, key)
    number = isinstance(key, SymbolicTensor) and key.value.type.python
    if tracer and number and isinstance(owner, dict):
        return by_key(tracer, owner, key)
    if tracer and number and isinstance(owner, range):
        return ask(tracer, "item", operator.getitem, (owner, key), {}, 0, number=True)
    if tracer and isinstance(key, SymbolicTensor) and isinstance(owner, str | bytes):
        return attempted("item", operator.getitem, owner, key if number else as_index(key, ""))
    if tracer and isinstance(key, SymbolicTensor):
        refuse(
            "D2S1001",
            f"a {type(owner).__name__} indexed by an {key.value.type} of run time: which item that is only a run will tell",
            "int(...) or float(...) it, if a Python number is meant",
        )
    if tracer and isinstance(key, slice) and (layers or isinstance(owner, list | tuple | str | bytes)) and _parts_by_run(key):
        return _slice_by_run(tracer, owner, key)
    if tracer and isinstance(key, slice) and layers:
        items_of(tracer, owner)
        return owner[key]
    guard_content(tracer, owner)
    if tracer and says_of_missing(owner) and key not in dict.keys(owner):
        return missing(tracer, owner, key)
    value = owner[key]
    if tracer and not isinstance(owner, list | tuple | str | dict) and not tracer.root.heap.has(owner):
        with tracer.root.heap.as_before(owner):
            tracer.guard((id(owner), "item", repr(key)), f"[{key!r}]", lambda: owner[key], source=("item", owner, key))
    return value


def _takes_numbers(owner: Any, key: Any) -> bool:
    """Whether a graph finds the item, so that no gradient is lost: of a tensor, of a list, of a dict by a number."""
    if isinstance(owner, dict):
        return isinstance(key, Later) and isinstance(key.example, np.generic | bool | int | float)
    known = isinstance(owner, Tensor | SymbolicTensor | list | tuple) or is_grown(owner)
    return known or hasattr(type(owner), "captured_items")


def _refuse_tensors(owner: Any) -> None:
    """A step that finds one of several tensors would give a copy, whose gradient reaches none of them."""
    if not isinstance(owner, Later) and any(isinstance(part, Tensor | SymbolicTensor) for part in flatten(owner)[0]):
        message = f"an item of a {type(owner).__name__} with tensors by a key that only a run will tell"
        refuse("D2S1001", message, "ask for each key in an `if`")


def items_of(tracer: Tracer | None, value: Any) -> Any:
    """The layers of a list of layers, which the capture depends on; anything else as it is."""
    items = getattr(type(value), "captured_items", None)
    if tracer is None or items is None:
        return value
    source = "layers", value, items
    tracer.guard((id(value), "content"), f"a {type(value).__name__}", lambda: items(value), source=source)
    return items(value)


def set_part(tracer: Tracer, owner: Any, key: Any, value: Any) -> None:
    """`owner[key] = value` of a tensor."""
    symbol = tracer.symbol_of(owner)
    assert symbol is not None
    if symbol.value.type.python:
        raise TypeError(f"'{'int' if symbol.dtype.kind == 'i' else 'float'}' object does not support item assignment")
    key = key_of(key)
    _guard_places(tracer, key)
    symbol._set_item(key, value, lambda: places_of(tracer, symbol, key))


def _guard_places(tracer: Tracer, key: Any) -> None:
    """What the lists in an index hold."""
    for entry in key if type(key) is tuple else (key,):
        guard_content(tracer, entry)


def _one_of(tracer: Tracer, owner: Any, key: SymbolicTensor) -> Any:
    """The item at an index that only a run knows."""
    key = as_index(key, f"{plain_kind(owner).__name__} indices must be integers or slices, not float")
    guard_content(tracer, owner)
    items = list(items_of(tracer, owner))
    return switch(tracer, OneOf(place_in(tracer, owner, key, ""), items), lambda one: [one])[0]


def _slice_by_run(tracer: Tracer, owner: Any, key: slice) -> Any:
    """A slice whose bounds only a run knows: one of those that there can be."""
    bounds = [key.start, key.stop]
    place = next((k for k, bound in enumerate(bounds) if isinstance(bound, Tensor | SymbolicTensor)), None)
    if place is None or not (key.step is None or (type(key.step) is int and key.step > 0)):
        refuse("D2S1001", f"a slice of a {plain_kind(owner).__name__} in steps that only a run will tell", "use a Python int")
    count = len(owner)
    if count >= KINDS:
        message = f"a slice of a {plain_kind(owner).__name__} of {count} items, up to a place that only a run will tell"
        refuse("D2S1001", message, f"at most {KINDS - 1} items may be told apart so; make a tensor of them")
    found = as_index(tracer.symbol_of(bounds[place]), _NO_BOUND)  # type: ignore[arg-type]
    found = OPS["where"](found < 0, found + count, found)
    found = OPS["where"](found < 0, 0, OPS["where"](found > count, count, found))

    def upto(one: int) -> list[Any]:
        start, stop = (one if k == place else bound for k, bound in enumerate(bounds))
        return [item(owner, slice(start, stop, key.step))]

    return gathered(switch(tracer, OneOf(found, range(count + 1)), upto)[0])


_NO_BOUND = "slice indices must be integers or None or have an __index__ method"


def _parts_by_run(key: slice) -> bool:
    return any(isinstance(part, Tensor | SymbolicTensor) for part in (key.start, key.stop, key.step))


def by_key(tracer: Tracer, owner: Any, key: SymbolicTensor, *default: Any) -> Any:
    """The item of a dict whose key is equal to a number of run time: one key after the other."""
    guard_content(tracer, owner)
    keys = [k for k in owner if type(k) in (bool, int, float)]

    def among(first: int) -> Any:
        here = capturing()
        assert here is not None
        if first < len(keys):
            found = keys[first]
            return branch(here, OPS["equal"](key, found), (lambda: [item(owner, found)], lambda: [among(first + 1)]))[0]
        if default:
            return default[0]
        if says_of_missing(owner):
            return missing(here, owner, key)
        raise here.root.heap.made(KeyError(key))

    return among(0)


def place_in(tracer: Tracer, owner: Any, key: SymbolicTensor, outside: str) -> Any:
    """An index that only a run knows as a number of items from the front; a run in which there is none complains."""
    index, count = OPS["cast"](key, "int64", python=True), len(owner)
    is_outside = OPS["bitwise_or"](OPS["less_than"](index, -count), OPS["greater_equal"](index, count))

    def complain() -> list[Any]:
        message = f"{plain_kind(owner).__name__} {outside}index out of range"
        raise IndexError(message) if isinstance(owner, list | tuple) else _complaint_of(owner, message)

    branch(tracer, is_outside, (complain, list))
    return OPS["where"](OPS["less_than"](index, 0), index + count, index)


def _complaint_of(layers: Any, message: str) -> Exception:
    """What a list of layers says to an index that is out of range."""
    try:
        layers[len(layers)]
    except ArgumentError as error:
        return type(error)(error.code, message)
    return IndexError(message)


def iterate(iterable: Any) -> Iterable[Any]:
    tracer = capturing()
    if isinstance(iterable, Later):
        refuse(
            "D2S1001", "a `for` over an object that only a run will have", "loop over a tensor, or over a list of known length"
        )
    iterable = in_order(items_of(tracer, walked(iterable)))
    if tracer and isinstance(iterable, Tensor | SymbolicTensor):
        return iter(tracer.lift(iterable) if isinstance(iterable, Tensor) else iterable)
    if isinstance(iterable, Recipe):
        message = f"Python goes over this {iterable.kind}, whose items a run takes"
        refuse("D2S1003", message, "loop over it with a `for`, or make a list of it first")
    if tracer and not isinstance(iterable, (*ITERATED, Suspended, Walking)):
        refuse(
            "D2S1003",
            f"a `for` over a {type(iterable).__name__}: what iterating it does is not known",
            "loop over a list of it",
        )
    if tracer:
        guard_content(tracer, iterable)
        refuse_consumption(tracer, iterable)
    result: Iterable[Any] = iterable
    return result


def spread(value: Any) -> Any:
    """What is taken apart: by a star, into several targets, by Python's functions."""
    return in_order(gone_over(value))


def gone_over(value: Any) -> Any:
    """What is iterated where an object or a list of layers is."""
    tracer = capturing()
    return items_of(tracer, walked(value)) if tracer else value


def spread_named(value: Any) -> Any:
    """What two stars take apart: of an object of the user's, what it says of each of its keys."""
    if isinstance(value, Later):
        refuse("D2S1001", "two stars take apart what only a run will have", "take its items by their keys")
    if not capturing() or not answers(value, "keys"):
        return value
    return {key: item(value, key) for key in iterate(asked(value, "keys"))}


def field_values(value: Any, name: str) -> tuple[Any, ...] | None:
    """What an object is compared by, where its class leaves `name` to `dataclass`; None of all else."""
    written = getattr(type(value), name, None)
    if not isinstance(written, types.FunctionType) or not is_generated(written) or not dataclasses.is_dataclass(value):
        return None
    return tuple(attribute(value, field.name) for field in dataclasses.fields(value) if field.compare)


def refuse_consumption(tracer: Tracer, value: Any) -> None:
    """An iterator from outside is used up by a call; a graph would use it up at capture only."""
    if hasattr(type(value), "__next__") and any(guard.kept is value for guard in tracer.root.guards.values()):
        refuse("D2S1003", f"a {type(value).__name__} from outside is used up here", "make a list of it first")
    if tracer.root.iterators.get(id(value), (value, tracer))[1] is not tracer:
        message = f"this {type(value).__name__} goes on in an `if` or a loop on a tensor, or where one has left it"
        refuse("D2S1003", f"{message}: how far it came would depend on the run", "make a list of it first")


def guard_content(tracer: Tracer | None, value: Any) -> None:
    """A container's content, also of one that a method is bound to, becomes part of what the capture depends on."""
    value = bound_to(value)
    if tracer and isinstance(value, list | dict | set) and not isinstance(value, STAND_INS) and not tracer.root.heap.has(value):
        if id(value) not in tracer.root.given:
            if type(value) in (list, dict, set):
                tracer.root.heap.found(value)  # by Python itself, as in a, *b = x
            return
        if (id(value), "content") in tracer.root.lifts:
            return
        with tracer.root.heap.as_before(value):
            tracer.guard((id(value), "content"), f"a {type(value).__name__}", lambda: value, source=("value", value, None))


def _ours(value: Any) -> bool:
    """What no program changes: this package's own modules and ops."""
    return isinstance(value, Op) or (isinstance(value, types.ModuleType) and value.__name__.split(".")[0] == "d2s")
