"""Forms: what the values are that meet where paths join, told apart as far as a graph can hold them together.

In: values of the paths (symbols, tensors, constants, structures of them). Out: the form all of them fit into. What no single
value of a graph can be becomes a `OneOf`: one of several, told by a tag.

>>> join(Fixed(None), Fixed(None)), join(Fixed(1), Fixed(2)), join(Fixed(None), Fixed("a"))
(None, int, None | 'a')
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s import types
from d2s.capture.containers import (
    attributes,
    by_path,
    is_container,
    plain_kind,
)
from d2s.capture.guards import MISSING
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.tree import flatten
from d2s.capture.undefined import Undefined
from d2s.capture.users_code import refuse
from d2s.eager.tensor import Tensor
from d2s.exact import told
from d2s.ops.found import OPEN
from d2s.ops.shapes import is_found
from d2s.runtime import launch
from d2s.types import Type

KINDS = 18  # values of so many kinds may meet in one variable
NUMBERS = 4  # so many known numbers of one of NumPy's types are told apart
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
    origins: tuple[Any, ...] = dataclasses.field(default=(), compare=False)  # which object it is on each path that has one

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
    origins: tuple[Any, ...] = dataclasses.field(default=(), compare=False)

    def __repr__(self) -> str:
        return f"a {self.kind.__name__}" + (f" of {self.content!r}" if isinstance(self.content, Growing) else "")


@dataclasses.dataclass(frozen=True, repr=False)
class Growing:
    """What a list holds whose length only a run will tell: any number of items of one form."""

    item: "Form"

    def __repr__(self) -> str:
        return f"any number of {self.item!r}"


Form = Fixed | Slot | Tree | Union | Held | Box | Growing


class Foreseen(NamedTuple):
    """What a capture has of an object of a run, too, and with which others it was made."""

    value: Any
    family: Any


class Later:
    """A Python object that only a run has: `handle`, a number of run time, says which of its objects; `example` is like it.

    `longer` is, too: where extents of the two differ, only a run knows them. Of what is `foreseen` no step is recorded until
    the handle is asked for.
    """

    constant: "Callable[[Tracer, Any], Later]"  # what is known, as such an object

    def __init__(self, handle: SymbolicTensor | None, example: Any, foreseen: Foreseen | None = None) -> None:
        self.settled, self.foreseen, self.like = handle, foreseen, example
        self.example, self.longer = (example.example, example.longer) if isinstance(example, Varied) else (example, example)

    @property
    def handle(self) -> SymbolicTensor:
        if self.foreseen is not None:
            self.foreseen.family.settle()
        assert self.settled is not None
        return self.settled


Later.__name__ = "object that only a run has"  # what messages call it
COUNTS = (2, 3)  # of what only a run knows how much there is: in an example, and in one that is longer


@dataclasses.dataclass(frozen=True, eq=False)
class Varied:
    """Two examples of an object that only a run has."""

    example: Any
    longer: Any


class OneOf:
    """A value that is one of several: `tag`, a number of run time, says which. What is done to it is done to each."""

    def __init__(self, tag: SymbolicTensor, alternatives: Sequence[Any]) -> None:
        self.tag, self.alternatives = tag, tuple(alternatives)


OneOf.__name__ = "choice by the path a run takes"  # what messages call it


class Grown:
    """What a list holds that a run makes longer and shorter: `parts`, a list of the graph for each symbol of an item's form.

    `length` is a number of run time.
    """

    def __init__(self, item: Form, parts: Sequence[Any], length: Any) -> None:
        self.item, self.parts, self.length = item, tuple(parts), length


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
    if type(a) is frozenset and type(b) is frozenset:  # what two sets hold
        return told(a) == told(b)
    return type(a) is type(b) and isinstance(a, bool | int | float | str | bytes) and repr(a) == repr(b)


def form_of(value: Any, tracer: Tracer) -> Form:
    if isinstance(value, OneOf):
        return _united([form_of(v, tracer) for v in value.alternatives])
    if isinstance(value, SymbolicTensor):
        return Slot(value.value.type)
    if isinstance(value, Later):
        return Held(value.like)
    if isinstance(value, Grown):
        return Growing(value.item)
    if by_path(value) and not stays(value, tracer):
        return Box(plain_kind(value), form_of(value.held, tracer), (value,))
    parts = _parts(value, tracer)
    return (
        Fixed(value)
        if parts is None
        else Tree(parts[1], tuple(form_of(p, tracer) for p in parts[0]), () if isinstance(value, tuple) else (value,))
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
    if isinstance(a, Growing):
        return alike(a.item, b.item)  # type: ignore[union-attr]
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


def origins_in(form: Form) -> Iterator[tuple[Any, ...]]:
    """The objects of paths that a form tells of: of each container which it is, by the path."""
    if isinstance(form, Tree | Box):
        yield form.origins
    if isinstance(form, Fixed):
        yield (form.value,)
    inner = form.parts if isinstance(form, Tree) else form.alternatives if isinstance(form, Union) else ()
    for part in (form.content,) if isinstance(form, Box) else inner:
        yield from origins_in(part)


def depth(form: Form) -> int:
    """How many containers stand in each other."""
    if isinstance(form, Union):
        return max(map(depth, form.alternatives))
    inner = form.parts if isinstance(form, Tree) else (form.content,) if isinstance(form, Box) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def only_numbers_differ(a: Form, b: Form) -> bool:
    """Whether two forms are one but for Python numbers."""
    if isinstance(a, Tree) and isinstance(b, Tree):
        return a.skeleton == b.skeleton and all(map(only_numbers_differ, a.parts, b.parts))
    held = [None if isinstance(form, Fixed) and isinstance(form.value, Tensor) else _held(form) for form in (a, b)]
    return alike(a, b) or (held[0] is not None and held[0].python and held[0] == held[1])


def join(a: Form, b: Form) -> Form:
    """The form that holds what either holds."""
    alternatives: list[Form] = []
    meet = _known_apart if isinstance(a, Union) or isinstance(b, Union) else merged
    for form in (*alternatives_of(a), *alternatives_of(b)):
        places = ((n, meet(other, form)) for n, other in enumerate(alternatives))
        place, one = next(((n, m) for n, m in places if m is not None), (-1, None))
        if one is None:
            alternatives.append(form)
        else:
            alternatives[place] = one
    return _united(_ever_others(_absorbed(alternatives)))


def _absorbed(alternatives: list[Form]) -> list[Form]:
    """What any number of items holds, a number of items needs no alternative for."""
    place = next((n for n, form in enumerate(alternatives) if _grows(form)), None)
    if place is None:
        return alternatives
    others = [form for n, form in enumerate(alternatives) if n != place and merged(alternatives[place], form) is None]
    absorbed = (form for form in alternatives if form not in others)
    return [functools.reduce(lambda a, b: merged(a, b) or a, absorbed), *others]


def _ever_others(alternatives: list[Form]) -> list[Form]:
    """Numbers of NumPy's of one type are an object of the run's where a loop makes ever more of them."""
    numbers = [form for form in alternatives if isinstance(form, Fixed) and isinstance(form.value, np.generic)]
    for number in numbers:
        same_type = [form for form in numbers if type(form.value) is type(number.value)]
        if len(same_type) > NUMBERS:
            return [Held(number.value), *_ever_others([form for form in alternatives if form not in same_type])]
    return alternatives


def _grows(form: Form) -> bool:
    return isinstance(form.content if isinstance(form, Box) else form, Growing)


def alternatives_of(form: Form) -> tuple[Form, ...]:
    return form.alternatives if isinstance(form, Union) else (form,)


def _united(alternatives: Sequence[Form]) -> Form:
    if len(alternatives) > KINDS:
        message = (
            f"after this, a variable would be one of {len(alternatives)} kinds of values: {Union(tuple(alternatives))!r:.200}"
        )
        refuse("D2S1002", message, f"at most {KINDS} may meet; give it one dtype and one shape")
    return alternatives[0] if len(alternatives) == 1 else Union(tuple(map(_loose, alternatives)))


def _loose(form: Form) -> Form:
    """A form for values that are not there on every path: extents that a run finds are none of another value's."""
    if isinstance(form, Slot):
        return Slot(dataclasses.replace(form.type, shape=tuple(OPEN if is_found(d) else d for d in form.type.shape)))
    return dataclasses.replace(form, parts=tuple(map(_loose, form.parts))) if isinstance(form, Tree) else form


def _known_apart(a: Form, b: Form) -> Form | None:
    """The same of values that are several on one path: which object it is there no form tells."""
    found = merged(a, b)
    return found if found is None or is_object(a, b) else anonymous(found)


def merged(a: Form, b: Form) -> Form | None:
    """One form without a tag for both, if there is one."""
    if is_object(a, b):
        return Fixed(_object(a))
    if isinstance(a, Tree) and isinstance(b, Tree):
        parts = tuple(map(join, a.parts, b.parts)) if a.skeleton == b.skeleton else ()
        return Tree(a.skeleton, parts, _both(a, b)) if a.skeleton == b.skeleton else None
    if isinstance(a, Box) and isinstance(b, Box) and alike(a, b):
        return Box(a.kind, join(a.content, b.content), _both(a, b))
    if alike(a, b):
        return a
    if isinstance(a, Growing) or isinstance(b, Growing):
        items = [_items(form) for form in (a, b)]
        return None if None in items else growing([*items[0], *items[1]])  # type: ignore[misc]
    if isinstance(a, Held) and isinstance(b, Held):
        return Held(_alike(a.example, b.example))
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Held) and isinstance(other, Fixed) and _is_numpys(other.value, one.example):
            return one
    content = [_content(form, a, b) for form in (a, b)]
    if content[0] is not None and content[1] is not None:
        return Box((a if isinstance(a, Box) else b).kind, join(*content), _both(a, b))  # type: ignore[union-attr,arg-type]
    held = _met(_held(a), _held(b))
    return None if held is None else Slot(held)


def _is_numpys(number: Any, example: Any) -> bool:
    """Whether it is a number of NumPy's of the type that an example has."""
    return isinstance(number, np.generic) and type(number) is type(example)


def _both(a: Any, b: Any) -> tuple[Any, ...]:
    """Which object it is on the paths of either form."""
    return (*a.origins, *b.origins) if a.origins and b.origins else ()


def _met(a: Type | None, b: Type | None) -> Type | None:
    """The type of a slot for values of two types; they are one, or differ in extents that a run finds."""
    if a is None or b is None or a == b:
        return a if a == b else None
    pairs = list(zip(a.shape, b.shape, strict=False))
    if len(a.shape) != len(b.shape) or any(x != y and not (is_found(x) or is_found(y)) for x, y in pairs):
        return None
    met = dataclasses.replace(a, shape=tuple(x if x == y else OPEN for x, y in pairs))
    return met if met == dataclasses.replace(b, shape=met.shape) else None


def _items(form: Form) -> list[Form] | None:
    """The forms of items, of the content of a list."""
    if isinstance(form, Growing):
        return [form.item]
    return list(form.parts) if isinstance(form, Tree) and form.skeleton[0] is tuple else None


def growing(items: Sequence[Form]) -> Growing:
    """The form of any number of such items."""
    item = functools.reduce(join, map(loose, items))
    if any(is_found(d) for t in slots(item) for d in t.shape):
        message = f"a list that a loop makes longer would hold {item}, where only the run knows how long that is"
        refuse("D2S1002", message, "d2s.concat them in the loop")
    return Growing(item)


def loose(form: Form) -> Form:
    """The form of an item as a list of the graph holds it: apart from the object it was."""
    if isinstance(form, Fixed) and type(form.value) in (bool, int, float):
        return Slot(held) if (held := _held(form)) else form
    if isinstance(form, Tree):
        return Tree(form.skeleton, tuple(map(loose, form.parts)))
    if isinstance(form, Union):
        return functools.reduce(join, map(loose, form.alternatives))
    if isinstance(form, Held | Box | Growing) or (isinstance(form, Fixed) and is_container(form.value)):
        text = isinstance(form, Held)
        what = "an object of Python's that" if text else "a list or a dict that"
        hint = "append the numbers, and make a text of the list: f'{parts}'" if text else "give it tensors"
        refuse("D2S1003", f"a list that a loop makes longer is given {what} is more than its items", hint)
    return form


def _alike(a: Any, b: Any) -> Any:
    """An example of objects that two others are examples of; MISSING where these tell of unlike ones."""
    pairs = [(x.example, x.longer) if isinstance(x, Varied) else (x, x) for x in (a, b)]
    kinds = [tuple(map(_kind_of_example, pair)) for pair in pairs]
    if kinds[0] == kinds[1]:
        return a
    arrays = [x for pair in pairs for x in pair]
    if not all(isinstance(x, np.ndarray) for x in arrays) or len({(x.ndim, x.dtype) for x in arrays}) > 1:
        return MISSING
    same = [len(set(extents)) == 1 for extents in zip(*(x.shape for x in arrays), strict=True)]
    shapes = [[d if known else count for d, known in zip(arrays[0].shape, same, strict=True)] for count in COUNTS]
    return Varied(*(np.ones(shape, arrays[0].dtype) for shape in shapes))


def _kind_of_example(example: Any) -> Any:
    """What an example tells of the objects it stands for."""
    return type(example), getattr(example, "shape", ()), getattr(example, "dtype", None)


def _object(form: Form) -> Any:
    """The container that a form is, on every path."""
    found = form.value if isinstance(form, Fixed) else None
    if isinstance(form, Tree | Box):
        found = form.origins[0] if len({id(origin) for origin in form.origins}) == 1 else None
    return found if isinstance(form, Tree | Box) or is_container(found) or hasattr(found, "__dict__") else None


def _content(form: Form, a: Form, b: Form) -> Form | None:
    """The form of a container's content, if one of the two forms is a container whose content depends on the path."""
    kinds = {f.kind for f in (a, b) if isinstance(f, Box)}
    if isinstance(form, Box):
        return form.content if kinds == {form.kind} else None
    if isinstance(form, Tree) and kinds == {form.skeleton[0]}:
        return dataclasses.replace(form, skeleton=(tuple, *form.skeleton[1:]) if kinds == {list} else form.skeleton, origins=())
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
    if isinstance(form, Growing):
        return [*(t.list for t in slots(form.item)), TAG]
    return [TAG, *(t for part in form.alternatives for t in slots(part))]


def is_object(a: Form, b: Form) -> bool:
    return _object(a) is not None and _object(a) is _object(b)
