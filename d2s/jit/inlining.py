"""A loaded graph inside of one that is being captured: its nodes become nodes of that.

In: a recorder, a Program, and a symbol or tensor for each of its inputs. Out: a symbol for each of its outputs. Types are
inferred anew, from what the graph is given; the user's line is that of the call.

>>> from d2s.capture.symbolic import Tracer
>>> from d2s.ir.text import parse
>>> from d2s.types import float32
>>> loaded = parse("program f(x: f32[n0,2]) -> (f32[n0,2]) { %0: f32[n0,2] = tanh(x) return %0 }")
>>> tracer = Tracer("g")
>>> (found,) = inlined(tracer, loaded, [tracer.input(Type(float32, (3, 2)), "x")])
>>> found.value.type, [node.op for node in tracer.builder.nodes]
(f32[3,2], ['tanh'])
"""

from collections.abc import Mapping, Sequence
from typing import Any

from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.export.streams import MOVED, STREAM
from d2s.ir.program import Builder, Node, Program, Value
from d2s.ops import OPS
from d2s.ops.control import still_apart
from d2s.reckoned import come_to, is_reckoned, source
from d2s.types import Dim, Type


def inlined(tracer: Tracer, program: Program, given: Sequence[Any]) -> list[SymbolicTensor]:
    """The outputs."""
    symbols: dict[Value, Any] = dict(zip(program.inputs, map(tracer.symbol_of, given), strict=True))
    values = {value: tracer.resolve(symbol) for value, symbol in symbols.items()}
    names = _names(program.inputs, list(values.values()))
    for node in program.nodes:
        if node.op in (STREAM, MOVED):
            _streamed(tracer, node, symbols, values)
            continue
        inputs, attrs, types = _retyped(tracer, node, values, names)
        made = tracer.add(node.op, inputs, types, attrs)
        for output, symbol in zip(node.outputs, made, strict=True):
            symbols[output] = symbol if tracer.root.taping else tracer._detached(symbol)
            values[output] = symbols[output].value
    return [symbols[value] for value in program.outputs]


def _streamed(tracer: Tracer, node: Node, symbols: dict[Value, Any], values: dict[Value, Value]) -> None:
    """Where a loaded graph begins to draw, and where it leaves the stream."""
    seed, counter = tracer.stream_places()
    if node.op == MOVED:
        tracer.root.heap.set(counter, symbols[node.inputs[0]])
        return
    for value, place in zip(node.outputs, (seed, counter), strict=True):
        symbols[value] = place.held()
        values[value] = tracer.resolve(symbols[value])


class _Names(dict[str, Dim]):
    """What open extents are called where a Program becomes a part of another; `fed` are those that its inputs tell."""

    fed: frozenset[str] = frozenset()


def _names(inputs: Sequence[Value], given: Sequence[Value]) -> _Names:
    found = _Names()
    for value, there in zip(inputs, given, strict=True):
        for name, dim in zip(value.type.shape, there.type.shape, strict=True):
            if isinstance(name, str):
                found.setdefault(name, dim)
    found.fed = frozenset(found)
    return found


def _retyped(
    tracer: Tracer, node: Node, values: Mapping[Value, Value], names: _Names
) -> tuple[list[Value], dict[str, Any], Sequence[Type]]:
    """What a node is here: inputs, attributes, types of its outputs."""
    inputs = [values[v] for v in node.inputs]
    fed = inputs[1:] if node.op == "cond" else inputs
    finds = node.attrs.get("finds", ())
    if node.op == "cond":
        names.update({name: tracer.new_extent() for name in finds})
    for name, number in () if node.op == "cond" else zip(finds, inputs[len(inputs) - len(finds) :], strict=True):
        if name not in names.fed:
            names[name] = tracer.extent_called(SymbolicTensor(tracer, number))
    attrs: dict[str, Any] = {}
    for key, value in node.attrs.items():
        attrs[key] = _region(tracer, value, fed, names) if isinstance(value, Program) else _attr(value, names)
    if "starts" in attrs:
        extents = inputs[0].type.shape
        pairs = zip(attrs["starts"], attrs["axes"], strict=True)
        attrs["starts"] = tuple(_from_the_front(start, extents[axis]) for start, axis in pairs)
    if node.op == "cond" and finds:
        attrs["finds"] = still_apart(attrs["finds"], list(node.regions().values()), [attrs[name] for name in node.regions()])
    types = OPS[node.op].infer([v.type for v in inputs], attrs)
    if node.op == "cond":  # arms that have one extent here leave nothing to find
        known = ((n, d) for v, of in zip(node.outputs, types, strict=True) for n, d in zip(v.type.shape, of.shape, strict=True))
        names.update({name: dim for name, dim in known if isinstance(name, str) and name in finds})
    return inputs, attrs, types


def _from_the_front(start: Any, dim: Dim) -> Any:
    """A place of an axis: of one that is open it may be counted from the end."""
    return start + dim if isinstance(start, int) and start < 0 and isinstance(dim, int) else start


def _attr(value: Any, names: Mapping[str, Dim]) -> Any:
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_attr(part, names) for part in value)
    if is_reckoned(value) and source(value) in names:
        return come_to(value, names.__getitem__)
    return names.get(value, value) if isinstance(value, str) else value


def _region(tracer: Tracer, region: Program, fed: Sequence[Value], names: _Names) -> Program:
    values = {own: Value(outer.type, own.name) for own, outer in zip(region.inputs, fed, strict=True)}
    builder = Builder(region.name, list(values.values()))
    for node in region.nodes:
        inputs, attrs, types = _retyped(tracer, node, values, names)
        values.update(zip(node.outputs, builder.add(node.op, inputs, types, attrs, node.where), strict=True))
    return builder.finish([values[v] for v in region.outputs])
