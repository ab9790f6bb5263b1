"""Paddle's word for cells that read sequences: `rnn`, fed with gates that were made before it.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> SPELLED["recurrent"].dtypes
'f32 f64'
"""

from typing import Any, NamedTuple

from d2s import types
from d2s.export.paddle_pen import Longs, Pen, refuse, spells
from d2s.export.tensors import NUMBERS
from d2s.ir.program import Node, Value
from d2s.types import Type

_MODES = {"lstm": "LSTM", "gru": "GRU", "tanh": "RNN_TANH", "relu": "RNN_RELU"}


@spells("recurrent", "f32 f64")
def _(pen: Pen) -> None:
    """Paddle makes gates of its input by a weight: here they are made already, and that weight is the identity."""
    (gates, weight, start), lstm = pen.types[:3], pen.attrs["cell"] == "lstm"
    width, size = weight.shape[1], weight.shape[0]
    if not isinstance(size, int) or not isinstance(width, int):
        refuse("recurrent with states of any size")
    if pen.used(1) or (lstm and not _only_last_cells(pen)):
        refuse("what the gradient of recurrent reads" if pen.used(1) else "recurrent whose cells are read at every step")
    of = gates if pen.attrs["time_major"] else _swapped(gates)
    ends = _ends(pen, gates) if pen.attrs["masked"] else None
    sequence = _by_steps(pen, pen.names[0], gates, ends)
    turned, _ = pen.transposed(pen.names[1], weight, (1, 0))
    nothing = pen.number(0.0, gates.dtype, [width])
    back = pen.names[3] if pen.attrs["cell"] == "gru" else nothing
    states = [pen.unsqueezed(name, start, 0)[0] for name in pen.names[2 : 3 + lstm]]
    last = Type(gates.dtype, (1, *start.shape))
    shown, held = Type(gates.dtype, (*of.shape[:2], size)), [pen.spare(last) for _ in states]
    slots = {"Input": sequence, "PreState": states, "WeightList": [_identity(pen, width, gates), turned, nothing, back]}
    slots["SequenceLength"] = [ends.lengths] if ends else []  # gradients look for it
    attrs: dict[str, Any] = {"mode": _MODES[pen.attrs["cell"]], "hidden_size": size, "input_size": width, "num_layers": 1}
    attrs |= {"is_bidirec": False, "dropout_prob": 0.0, "is_test": True, "seed": 0}
    outputs = {"Out": [pen.spare(shown)], "State": held}
    outputs |= {slot: [pen.spare(Type(types.uint8, (0,)))] for slot in ("DropoutState", "Reserve")}
    pen.writer.op(pen.block, "rnn", {k: [v] if isinstance(v, str) else v for k, v in slots.items()}, outputs, attrs)
    made = outputs["Out"][0]
    if ends:  # behind its end a sequence has the state it ended with, read backwards the one it begins with
        made = _stays(pen, made, shown, pen.unsqueezed(pen.names[2], start, 0)[0] if pen.attrs["reverse"] else held[0], ends)
    if not lstm:
        _as_it_was(pen, made, shown, None, ends)
        return
    every = _as_it_was(pen, made, shown, shown if pen.attrs["time_major"] else _swapped(shown), ends)
    cells = held[1] if pen.attrs["time_major"] else pen.transposed(held[1], last, (1, 0, 2))[0]
    want = shown if pen.attrs["time_major"] else _swapped(shown)
    spread = pen.broadcast(cells, last, every, want)
    pen.write("stack", {"X": [every, spread]}, {"axis": 0}, out="Y")


def _swapped(of: Type) -> Type:
    return Type(of.dtype, (of.shape[1], of.shape[0], *of.shape[2:]))


class _Ends(NamedTuple):
    """Where sequences end: how long they are, the number of each step, whether a step is before the end; steps first."""

    lengths: str
    steps: str
    before: str
    of: Type


def _ends(pen: Pen, gates: Type) -> _Ends:
    lengths, have = pen.names[-1], pen.types[-1]
    batch = Type(types.int64, have.shape)
    longs = lengths if have.dtype is types.int64 else pen.cast(lengths, have, types.int64)
    ints = lengths if have.dtype is types.int32 else pen.cast(lengths, have, types.int32)
    name, of = (pen.names[0], gates) if pen.attrs["time_major"] else pen.transposed(pen.names[0], gates, (1, 0, 2))
    first = {"axes": [2], "starts": [0], "ends": [1], "infer_flags": [1], "decrease_axis": [2]}
    line, whole = Type(of.dtype, of.shape[:2]), Type(types.int64, of.shape[:2])
    like = pen.write("slice", {"Input": name}, first, line)
    ones = pen.write("fill_any_like", {"X": like}, {"value": 1.0, "dtype": NUMBERS[types.int64]}, whole)
    attrs = {"axis": 0, "flatten": False, "exclusive": False, "reverse": False}
    steps = pen.scaled(pen.write("cumsum", {"X": ones}, attrs, whole), whole, bias=-1.0)
    every = pen.broadcast(longs, batch, steps, whole)
    before = pen.two("less_than", steps, every, Type(types.bool_, whole.shape))
    if pen.attrs["reverse"]:
        back = pen.two("elementwise_sub", pen.scaled(every, whole, bias=-1.0), steps, whole)
        steps = pen.write("where", {"Condition": before, "X": back, "Y": steps}, {}, whole)
    return _Ends(ints, steps, before, whole)


def _by_steps(pen: Pen, name: str, of: Type, ends: _Ends | None) -> str:
    """A sequence with its steps first, in the order they are read."""
    if not pen.attrs["time_major"]:
        name, of = pen.transposed(name, of, (1, 0, 2))
    if not pen.attrs["reverse"]:
        return name
    return _turned(pen, name, of, ends, of)


def _turned(pen: Pen, name: str, of: Type, ends: _Ends | None, want: Type | None) -> str:
    """The other way round; each sequence within its length."""
    if ends is None:
        return pen.write("flip", {"X": name}, {"axis": [0]}, want)
    column, _ = pen.unsqueezed(ends.steps, ends.of, 2)
    places = pen.broadcast(column, Type(types.int64, (*of.shape[:2], 1)), name, Type(types.int64, of.shape))
    return pen.write("take_along_axis", {"Input": name, "Index": places}, {"Axis": 0}, want, out="Result")


def _stays(pen: Pen, made: str, of: Type, state: str, ends: _Ends) -> str:
    column, _ = pen.unsqueezed(ends.before, Type(types.bool_, ends.of.shape), 2)
    before = pen.broadcast(column, Type(types.bool_, (*of.shape[:2], 1)), made, Type(types.bool_, of.shape))
    kept = pen.broadcast(state, Type(of.dtype, (1, *of.shape[1:])), made, of)
    return pen.write("where", {"Condition": before, "X": made, "Y": kept}, {}, of)


def _as_it_was(pen: Pen, name: str, of: Type, want: Type | None, ends: _Ends | None) -> str:
    """What was shown, in the order and with the axes of the node's result."""
    turned = not pen.attrs["time_major"]
    if pen.attrs["reverse"]:
        name = _turned(pen, name, of, ends, of if turned else want)
    if turned:
        return pen.transposed(name, of, (1, 0, 2), want)[0]
    return name if pen.attrs["reverse"] or want else pen.copy(name)


def _identity(pen: Pen, width: int, like: Type) -> str:
    of = Type(like.dtype, (width, width))
    attrs = {"shape": Longs(of.shape), "dtype": NUMBERS[like.dtype], "value": 1.0, "str_value": "1.0", "force_cpu": False}  # type: ignore[arg-type]
    made = pen.write("fill_constant", {}, attrs, of)
    for lower in (True, False):
        made = pen.write("tril_triu", {"X": made}, {"diagonal": 0, "lower": lower}, of)
    return made


def _only_last_cells(pen: Pen) -> bool:
    """Whether of an LSTM's cells nobody reads but the last: Paddle shows no others."""
    last = {0} if pen.attrs["reverse"] else {-1, _steps(pen)}
    axis = 0 if pen.attrs["time_major"] else 1
    return all(
        _is_slice(node, 0, {0}) or (_is_slice(node, 0, {1}) and _all_take(pen, node, axis, last)) for node in _readers(pen, 0)
    )


def _steps(pen: Pen) -> Any:
    count = pen.types[0].shape[0 if pen.attrs["time_major"] else 1]
    return count - 1 if isinstance(count, int) else -1


def _readers(pen: Pen, k: int) -> list[Node | None]:
    return pen.writer.readers[pen.node.outputs[k]] if pen.used(k) else []


def _all_take(pen: Pen, node: Node | None, axis: int, places: set[Any]) -> bool:
    readers: list[Node | None] = [] if node is None else pen.writer.readers.get(_out(node), [])
    return all(_is_slice(reader, axis, places) for reader in readers)


def _out(node: Node) -> Value:
    return node.outputs[0]


def _is_slice(node: Node | None, axis: int, places: set[Any]) -> bool:
    """Whether a node takes one place of an axis, and that is one of some."""
    if node is None or node.op != "sliced" or axis not in node.attrs["axes"]:
        return False
    at = node.attrs["axes"].index(axis)
    return node.attrs["counts"][at] == 1 and node.attrs["starts"][at] in places
