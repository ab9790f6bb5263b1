"""Forms: what the values are that meet where paths join, told apart as far as a graph can hold them together.

In: values of the paths (symbols, tensors, constants, structures of them). Out: the form all of them fit into; a value as the
symbols of a form, and back. What no single value of a graph can be becomes a `OneOf`: one of several, told by a tag.

>>> join(Fixed(None), Fixed(None)), join(Fixed(1), Fixed(2)), join(Fixed(None), Fixed("a"))
(None, int, None | 'a')
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from d2s import types
from d2s.capture.containers import (
    Dict,
    List,
    attributes,
    by_path,
    contents,
    is_container,
    new_object,
    plain_kind,
    restore,
    stand_in,
)
from d2s.capture.guards import MISSING
from d2s.capture.symbolic import SymbolicTensor, Tracer, refuse
from d2s.capture.tree import flatten, rebuild
from d2s.capture.undefined import Undefined
from d2s.eager.tensor import Tensor
from d2s.runtime import launch
from d2s.types import Type

KINDS = 16  # values of so many kinds may meet in one variable
TAG = Type(types.int64, python=True)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Fixed:
    """The same object on every path."""

    value: Any

    def __repr__(self) -> str:
        return described(self.value)


@dataclasses.dataclass(frozen=True, repr=False)
class Slot:
    """A tensor or a Python number of run time."""

    type: Type

    def __repr__(self) -> str:
        return str(self.type)


@dataclasses.dataclass(frozen=True, repr=False)
class Tree:
    """A tuple, list or dict of forms, made anew; `skeleton` is that of one level."""

    skeleton: Any
    parts: "tuple[Form, ...]"
    origin: Any = dataclasses.field(default=None, compare=False)  # the one object it is, if it is one

    def __repr__(self) -> str:
        return f"a {self.skeleton[0].__name__} of {len(self.parts)}"


@dataclasses.dataclass(frozen=True, repr=False)
class Union:
    """One of several, by the path taken."""

    alternatives: "tuple[Form, ...]"

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.alternatives))


@dataclasses.dataclass(frozen=True, repr=False)
class Held:
    """A Python object that only a run has; of what kind, an example says."""

    example: Any = dataclasses.field(compare=False)

    def __repr__(self) -> str:
        return "an object of Python's"


@dataclasses.dataclass(frozen=True, repr=False)
class Box:
    """A list or dict whose content depends on the path, made anew; `content` is the form of that."""

    kind: type
    content: "Form"
    origin: Any = dataclasses.field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"a {self.kind.__name__}"


Form = Fixed | Slot | Tree | Union | Held | Box


class Later:
    """A Python object that only a run has: `handle`, a number of run time, says which of its objects; `example` is like it."""

    def __init__(self, handle: SymbolicTensor, example: Any) -> None:
        self.handle, self.example = handle, example


class OneOf:
    """A value that is one of several: `tag`, a number of run time, says which. What is done to it is done to each."""

    def __init__(self, tag: SymbolicTensor, alternatives: Sequence[Any]) -> None:
        self.tag, self.alternatives = tag, tuple(alternatives)


def described(value: Any) -> str:
    """What a user calls a value."""
    if isinstance(value, Undefined):
        return "nothing"
    if isinstance(value, OneOf):
        return " or ".join(map(described, value.alternatives))
    if isinstance(value, SymbolicTensor):
        return str(value.value.type)
    if isinstance(value, Later):
        return "an object of Python's"
    return f"{value!r:.40}" if isinstance(value, bool | int | float | str | type(None)) else f"a {type(value).__name__}"


def same(a: Any, b: Any) -> bool:
    """One object, or one constant: by type and spelling, for -0.0 is not 0.0 and nan is nan."""
    if a is b or (isinstance(a, Undefined) and isinstance(b, Undefined) and a.name == b.name):
        return True
    return type(a) is type(b) and isinstance(a, bool | int | float | str | bytes) and repr(a) == repr(b)


def form_of(value: Any, tracer: Tracer) -> Form:
    if isinstance(value, OneOf):
        return _united([form_of(v, tracer) for v in value.alternatives])
    if isinstance(value, SymbolicTensor):
        return Slot(value.value.type)
    if isinstance(value, Later):
        return Held(value.example)
    if by_path(value) and not stays(value, tracer):
        return Box(plain_kind(value), form_of(value.held, tracer), value)
    parts = _parts(value, tracer)
    return (
        Fixed(value)
        if parts is None
        else Tree(parts[1], tuple(form_of(p, tracer) for p in parts[0]), None if isinstance(value, tuple) else value)
    )


def _parts(value: Any, tracer: Tracer) -> tuple[list[Any], Any] | None:
    """The parts of a structure the captured function made, and its skeleton; None for all else, which stays one object."""
    record = tracer.root.heap.has(value) and not isinstance(value, tuple | list | dict | set)
    if not (record or isinstance(value, tuple | list | dict)) or stays(value, tracer):
        return None
    if record:
        held = attributes(value)
        return list(held.values()), (type(value), tuple((str, name) for name in held), (None,) * len(held))
    skeleton = flatten(value)[1]
    if skeleton is None:
        return None
    kind, keys, children = skeleton
    parts = list(value.values()) if isinstance(value, dict) else list(value)
    return parts, (kind, keys, (None,) * len(children))


def stays(value: Any, tracer: Tracer) -> bool:
    """Whether a container is known outside of this path, and so stays the one object it is."""
    return id(value) in tracer.root.given or tracer.found_before(value)


def alike(a: Form, b: Form) -> bool:
    """Whether two forms are one."""
    if type(a) is not type(b):
        return False
    if isinstance(a, Fixed):
        return same(a.value, b.value)  # type: ignore[union-attr]
    if isinstance(a, Slot | Held):
        return a == b
    if isinstance(a, Box):
        return a.kind is b.kind and alike(a.content, b.content)  # type: ignore[union-attr]
    if isinstance(a, Tree) and a.skeleton != b.skeleton:  # type: ignore[union-attr]
        return False
    inside = [f.parts if isinstance(f, Tree) else f.alternatives for f in (a, b)]  # type: ignore[union-attr]
    return len(inside[0]) == len(inside[1]) and all(map(alike, *inside))


def anonymous(form: Form) -> Form:
    """The same of containers that are nobody's."""
    if isinstance(form, Tree):
        return Tree(form.skeleton, tuple(map(anonymous, form.parts)))
    if isinstance(form, Box):
        return Box(form.kind, anonymous(form.content))
    return Union(tuple(map(anonymous, form.alternatives))) if isinstance(form, Union) else form


def only_numbers_differ(a: Form, b: Form) -> bool:
    """Whether two forms are one but for Python numbers."""
    if isinstance(a, Tree) and isinstance(b, Tree):
        return a.skeleton == b.skeleton and all(map(only_numbers_differ, a.parts, b.parts))
    held = [None if isinstance(form, Fixed) and isinstance(form.value, Tensor) else _held(form) for form in (a, b)]
    return alike(a, b) or (held[0] is not None and held[0].python and held[0] == held[1])


def join(a: Form, b: Form) -> Form:
    """The form that holds what either holds."""
    alternatives: list[Form] = []
    for form in (*_alternatives(a), *_alternatives(b)):
        places = ((n, _merged(other, form)) for n, other in enumerate(alternatives))
        place, merged = next(((n, m) for n, m in places if m is not None), (-1, None))
        if merged is None:
            alternatives.append(form)
        else:
            alternatives[place] = merged
    return _united(alternatives)


def _alternatives(form: Form) -> tuple[Form, ...]:
    return form.alternatives if isinstance(form, Union) else (form,)


def _united(alternatives: Sequence[Form]) -> Form:
    if len(alternatives) > KINDS:
        message = (
            f"after this, a variable would be one of {len(alternatives)} kinds of values: {Union(tuple(alternatives))!r:.200}"
        )
        refuse("D2S1002", message, f"at most {KINDS} may meet; give it one dtype and one shape")
    return alternatives[0] if len(alternatives) == 1 else Union(tuple(alternatives))


def _merged(a: Form, b: Form) -> Form | None:
    """One form without a tag for both, if there is one."""
    if _is_object(a, b):
        return Fixed(_object(a))
    if alike(a, b):
        return a
    if isinstance(a, Tree) and isinstance(b, Tree):
        return Tree(a.skeleton, tuple(map(join, a.parts, b.parts))) if a.skeleton == b.skeleton else None
    if isinstance(a, Held) and isinstance(b, Held):
        return Held(a.example if kind_of_example(a.example) == kind_of_example(b.example) else MISSING)
    content = [_content(form, a, b) for form in (a, b)]
    if content[0] is not None and content[1] is not None:
        return Box((a if isinstance(a, Box) else b).kind, join(*content))  # type: ignore[union-attr,arg-type]
    held = _held(a)
    return Slot(held) if held is not None and held == _held(b) else None


def kind_of_example(example: Any) -> Any:
    """What an example tells of the objects it stands for."""
    return type(example), getattr(example, "shape", ()), getattr(example, "dtype", None)


def _object(form: Form) -> Any:
    """The container that a form is, on every path."""
    found = form.origin if isinstance(form, Tree | Box) else form.value if isinstance(form, Fixed) else None
    return found if isinstance(form, Tree | Box) or is_container(found) or hasattr(found, "__dict__") else None


def _content(form: Form, a: Form, b: Form) -> Form | None:
    """The form of a container's content, if one of the two forms is a container whose content depends on the path."""
    kinds = {f.kind for f in (a, b) if isinstance(f, Box)}
    if isinstance(form, Box):
        return form.content if kinds == {form.kind} else None
    if isinstance(form, Tree) and kinds == {form.skeleton[0]}:
        return dataclasses.replace(
            form, skeleton=(tuple, *form.skeleton[1:]) if kinds == {list} else form.skeleton, origin=None
        )
    return None


def _held(form: Form) -> Type | None:
    """The type of a slot that can hold a form."""
    if isinstance(form, Slot):
        return form.type
    value = form.value if isinstance(form, Fixed) else None
    if isinstance(value, Tensor):
        return launch.type_of(value.array)
    number = type(value) in (bool, int, float) and not (type(value) is int and not -(1 << 63) <= value < 1 << 63)
    return Type(types.python_dtype(value), python=True) if number else None


def slots(form: Form) -> list[Type]:
    """The types of the symbols a value of this form is made of."""
    if isinstance(form, Fixed):
        return []
    if isinstance(form, Slot):
        return [form.type]
    if isinstance(form, Held):
        return [TAG]
    if isinstance(form, Tree):
        return [t for part in form.parts for t in slots(part)]
    if isinstance(form, Box):
        return slots(form.content)
    return [TAG, *(t for part in form.alternatives for t in slots(part))]


def decode(form: Form, symbols: Iterator[SymbolicTensor], made: Callable[[Any], Any]) -> Any:
    """The value that these symbols are; `made` is told of each container that is made for it."""
    if isinstance(form, Fixed):
        return form.value
    if isinstance(form, Slot):
        return next(symbols)
    if isinstance(form, Held):
        return Later(next(symbols), form.example)
    if isinstance(form, Tree):
        return _decoded(form.skeleton, [decode(part, symbols, made) for part in form.parts], made)
    if isinstance(form, Box):
        found = made(List() if form.kind is list else Dict())
        restore(found, decode(form.content, symbols, made))
        return found
    tag = next(symbols)
    return OneOf(tag, [decode(part, symbols, made) for part in form.alternatives])


def _decoded(skeleton: Any, parts: list[Any], made: Callable[[Any], Any]) -> Any:
    kind, keys, _ = skeleton
    if issubclass(kind, tuple):
        return rebuild(skeleton, parts)
    if kind in (list, dict):
        return made(stand_in(rebuild(skeleton, parts)))
    return made(new_object(kind, dict(zip((name for _, name in keys), parts, strict=True))))


Chosen = Callable[[Tracer, Any], list[Any]]  # what is recorded for one alternative
Switch = Callable[[Tracer, OneOf, Chosen], list[SymbolicTensor]]


def encode(tracer: Tracer, value: Any, form: Form, switch: Switch) -> list[SymbolicTensor]:
    """A value that fits a form, as its symbols; what a value that is one of several is made of, `switch` chooses."""
    if isinstance(form, Fixed):
        return []
    if isinstance(value, OneOf):
        return switch(tracer, value, lambda region, one: encode(region, one, form, switch))
    if isinstance(form, Held):
        return [value.handle]
    if isinstance(form, Slot):
        symbol = tracer.symbol_of(value)
        assert symbol is not None
        return [symbol]
    if isinstance(form, Tree):
        parts = value if isinstance(value, tuple | list) else contents(value).values()
        encoded = [encode(tracer, v, f, switch) for v, f in zip(parts, form.parts, strict=True)]
        return list(itertools.chain(*encoded))
    if isinstance(form, Box):
        return encode(tracer, contents(value), form.content, switch)
    (chosen,) = among(form, form_of(value, tracer)) or among(form, form_of(value, tracer.root))  # made on a path around
    found: list[SymbolicTensor] = [tracer.constant(chosen, TAG)]
    for n, f in enumerate(form.alternatives):
        found += encode(tracer, value, f, switch) if n == chosen else holes(tracer, f)
    return found


def among(form: Union, own: Form) -> frozenset[int]:
    """Which alternatives of a form hold values of another one."""
    return frozenset(n for part in _alternatives(own) for n in _holding(form, part))


def _holding(form: Union, part: Form) -> list[int]:
    """The alternatives that hold a form: the very object, if it is one of them."""
    pairs = list(enumerate(form.alternatives))
    itself = [n for n, f in pairs if _is_object(f, part)]
    return itself or [n for n, f in pairs if (m := _merged(f, part)) is not None and alike(m, f)]


def _is_object(a: Form, b: Form) -> bool:
    return _object(a) is not None and _object(a) is _object(b)


def holes(tracer: Tracer, form: Form) -> list[SymbolicTensor]:
    """Symbols for a value that is not there; nothing reads them."""
    return [hole(tracer, t) for t in slots(form)]


def hole(tracer: Tracer, of: Type) -> SymbolicTensor:
    names = [d for d in of.shape if isinstance(d, str)]
    given = [next(v for v in tracer.root.builder.inputs if name in v.type.shape) for name in dict.fromkeys(names)]
    defining = [tracer.resolve(SymbolicTensor(tracer.root, v)) for v in dict.fromkeys(given)]
    attrs = {"dtype": of.dtype, "shape": of.shape, "python": of.python}
    (made,) = tracer.add("hole", defining, [of], attrs)
    return made  # type: ignore[no-any-return]
