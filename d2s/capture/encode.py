"""Values as the symbols of a form that holds them: what a region hands on where paths join, or a loop from trip to trip.

In: a value and its form. Out: symbols; and from symbols the value again.

>>> from d2s import types
>>> tracer = Tracer("f")
>>> x = tracer.input(Type(types.float32, (2,)), "x")
>>> encode(tracer, (x, None), form_of((x, None), tracer), lambda *_: []) == [x]
True
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from d2s.capture.containers import by_path, contents, new_object, restore, stand_in
from d2s.capture.fitting import among
from d2s.capture.forms import (
    TAG,
    Box,
    Fixed,
    Form,
    Growing,
    Grown,
    Held,
    Later,
    OneOf,
    Slot,
    Tree,
    Union,
    alike,
    described,
    form_of,
    slots,
)
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.tree import rebuild
from d2s.capture.users_code import refuse
from d2s.errors import CaptureError
from d2s.ops.control import called_as
from d2s.ops.found import OPEN
from d2s.ops.shapes import is_found
from d2s.reckoned import source
from d2s.types import Type

Chosen = Callable[[Tracer, Any], list[Any]]  # what is recorded for one alternative
Switch = Callable[[Tracer, OneOf, Chosen], list[SymbolicTensor]]


def encode(tracer: Tracer, value: Any, form: Form, switch: Switch) -> list[SymbolicTensor]:
    """A value that fits a form, as its symbols; what a value that is one of several is made of, `switch` chooses."""
    if isinstance(form, Fixed):
        return []
    if isinstance(value, OneOf):
        into = _apart(tracer, value, form)
        if into:
            return _handed_on(tracer, value, into, form, switch)
        return switch(tracer, value, lambda region, one: encode(region, one, form, switch))
    if isinstance(form, Held):
        return [(value if isinstance(value, Later) else Later.constant(tracer, value)).handle]
    if isinstance(form, Slot):
        symbol = tracer.symbol_of(value)
        assert symbol is not None
        return [_opened(tracer, symbol, form.type)]
    if isinstance(form, Tree):
        parts = value if isinstance(value, tuple | list) else contents(value).values()
        encoded = [encode(tracer, v, f, switch) for v, f in zip(parts, form.parts, strict=True)]
        return list(itertools.chain(*encoded))
    if isinstance(form, Box):
        return encode(tracer, contents(value), form.content, switch)
    if isinstance(form, Growing):
        return _items(tracer, value, form, switch)
    chosen = _chosen(tracer, value, form)
    found: list[SymbolicTensor] = [tracer.constant(chosen, TAG)]
    for n, f in enumerate(form.alternatives):
        found += encode(tracer, value, f, switch) if n == chosen else holes(tracer, f)
    return found


def _apart(tracer: Tracer, value: OneOf, form: Form) -> dict[int, int]:
    """Which alternative of a form each one of a value is handed on as, where no run has to choose: all the same way off."""
    here = tracer.known(value.tag.value, frozenset(range(len(value.alternatives))))
    if not isinstance(form, Union) or any(not _is_there(value.alternatives[k]) for k in here):
        return {}
    into = {k: _chosen(tracer, value.alternatives[k], form) for k in sorted(here)}
    return into if len({n - k for k, n in into.items()}) == 1 else {}


def _is_there(value: Any) -> bool:
    """Whether the symbols of a value are there on all paths."""
    return not isinstance(value, OneOf | Grown) and not by_path(value)


def _handed_on(tracer: Tracer, value: OneOf, into: dict[int, int], form: Any, switch: Switch) -> list[SymbolicTensor]:
    """The symbols of all alternatives, with none chosen: where one was not made, that is a hole, which nothing reads."""
    moved = {n: k for k, n in into.items()}
    first = next(iter(into))
    found = [value.tag + (into[first] - first) if into[first] != first else value.tag]
    for n, f in enumerate(form.alternatives):
        found += encode(tracer, value.alternatives[moved[n]], f, switch) if n in moved else holes(tracer, f)
    return found


def _chosen(tracer: Tracer, value: Any, form: Union) -> int:
    """Which alternative of a form holds a value: of the path that was joined, or of one within it."""
    region: Any = tracer
    while region is not None:
        for found in among(form, form_of(value, region)):
            return found
        region = region.parent
    raise CaptureError("D2S9001", f"{described(value)} was told of as {form!r:.200}", where=tracer.line())


def _items(tracer: Tracer, value: Any, form: Growing, switch: Switch) -> list[SymbolicTensor]:
    """The lists of the graph, and how many items they have."""
    if isinstance(value, Grown):
        if not alike(value.item, form.item):
            refuse("D2S1002", f"a list of {value.item!r} would hold {form.item!r}", "give it items of one kind")
        return [*value.parts, value.length]
    parts = [empty(tracer, of) for of in slots(form.item)]
    for item in value:
        symbols = encode(tracer, item, form.item, switch)
        parts = [appended(tracer, part, symbol) for part, symbol in zip(parts, symbols, strict=True)]
    return [*parts, tracer.constant(len(value), TAG)]


def appended(tracer: Tracer, part: SymbolicTensor, symbol: SymbolicTensor) -> Any:
    """A list of the graph with one value more."""
    inputs = [tracer.resolve(part), tracer.resolve(symbol)]
    return tracer.add("list_append", inputs, [inputs[0].type], {})[0]


def empty(tracer: Tracer, item: Type) -> Any:
    """An empty list of the graph."""
    return tracer.add("list_new", [], [item.list], {"dtype": item.dtype, "shape": item.shape, "python": item.python})[0]


def _opened(tracer: Tracer, symbol: SymbolicTensor, of: Type) -> SymbolicTensor:
    """A tensor as one of a type: the open extents of that are not known by number any more."""
    pairs = list(zip(symbol.value.type.shape, of.shape, strict=True)) if OPEN in of.shape else []
    if not any(isinstance(have, int) and want == OPEN for have, want in pairs):
        return symbol
    shape = tuple(tracer.new_extent() if isinstance(have, int) and want == OPEN else have for have, want in pairs)
    found: SymbolicTensor = called_as(symbol, shape)
    return found


def holes(tracer: Tracer, form: Form) -> list[SymbolicTensor]:
    """Symbols for a value that is not there; nothing reads them."""
    return [hole(tracer, t) for t in slots(form)]


def hole(tracer: Tracer, of: Type) -> SymbolicTensor:
    if of.listed:
        return empty(tracer, of.item)  # type: ignore[no-any-return]
    of = dataclasses.replace(of, shape=tuple(0 if is_found(d) else d for d in of.shape))
    names = [str(source(d)) for d in of.shape if isinstance(d, str)]
    given = [next(v for v in tracer.root.builder.inputs if name in v.type.shape) for name in dict.fromkeys(names)]
    defining = [tracer.resolve(SymbolicTensor(tracer.root, v)) for v in dict.fromkeys(given)]
    attrs = {"dtype": of.dtype, "shape": of.shape, "python": of.python}
    (made,) = tracer.add("hole", defining, [of], attrs)
    return made  # type: ignore[no-any-return]


def decode(
    form: Form, symbols: Iterator[SymbolicTensor], made: Callable[[Any], Any], one: dict[tuple[int, ...], Any] | None = None
) -> Any:
    """The value that these symbols are; `made` is told of each container that is made for it.

    In `one` is what was made before of objects of paths: what is one on all of them stays one.
    """
    origins = tuple(map(id, form.origins)) if isinstance(form, Tree | Box) else ()
    if one is None or not origins:
        return _of_symbols(form, symbols, made, one)
    found = _of_symbols(form, symbols, (lambda container: container) if origins in one else made, one)
    return one.setdefault(origins, found)


def _of_symbols(form: Form, symbols: Iterator[SymbolicTensor], made: Callable[[Any], Any], one: Any) -> Any:
    if isinstance(form, Fixed):
        return form.value
    if isinstance(form, Slot):
        return next(symbols)
    if isinstance(form, Held):
        return Later(next(symbols), form.example)
    if isinstance(form, Tree):
        return _decoded(form.skeleton, [decode(part, symbols, made, one) for part in form.parts], made)
    if isinstance(form, Box):
        found = made(stand_in(form.kind()))
        restore(found, decode(form.content, symbols, made, one))
        return found
    if isinstance(form, Growing):
        return Grown(form.item, [next(symbols) for _ in slots(form.item)], next(symbols))
    tag = next(symbols)
    return OneOf(tag, [decode(part, symbols, made, one) for part in form.alternatives])


def _decoded(skeleton: Any, parts: list[Any], made: Callable[[Any], Any]) -> Any:
    kind, keys, _ = skeleton
    if issubclass(kind, tuple):
        return rebuild(skeleton, parts)
    if kind in (list, dict):
        return made(stand_in(rebuild(skeleton, parts)))
    return made(new_object(kind, dict(zip((name for _, name in keys), parts, strict=True))))
