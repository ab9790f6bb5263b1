"""Sequences read by a cell with weights of its own: the products of all steps at once, then `recurrent_`.

In: sequences [batch, steps, numbers], or steps first, the weights of a cell, its first state. Out: what it shows at each step,
and its last state. A state is a tensor; of an "lstm" it is a pair, of what is shown and of what is kept.

>>> one, zero = d2s.ones([1, 1]), d2s.zeros([1])
>>> shown, last = read_sequence("relu", d2s.ones([1, 3, 1]), (one, one, zero, zero), d2s.zeros([1, 1]))
>>> shown.tolist(), last.tolist()
([[[1.0], [2.0], [3.0]]], [[3.0]])
"""

from typing import Any

from d2s.errors import DTypeError, ShapeError
from d2s.ops.arrange import transpose
from d2s.ops.compare import cast, less_than, where
from d2s.ops.create import full, full_like
from d2s.ops.expand import expand
from d2s.ops.math import add
from d2s.ops.matmul import matmul
from d2s.ops.recurrent import recurrent_
from d2s.ops.scatter import positions
from d2s.ops.shape import unsqueeze
from d2s.ops.shapes import tensor_type
from d2s.ops.slicing import Stretch, at, part
from d2s.types import int64


def first_state(x: Any, size: int, value: float = 0.0, batch_axis: int = 0) -> Any:
    """A state of one number for each sequence of x.

    >>> first_state(d2s.ones([2, 5, 3]), 1).tolist()
    [[0.0], [0.0]]
    """
    held = tensor_type(x, "first_state", "x")
    if len(held.shape) <= batch_axis:
        raise ShapeError(
            "D2S0002", f"a state for 'x' of {len(held.shape)} axes: expected its sequences along axis {batch_axis}"
        )
    batch = held.shape[batch_axis]
    if isinstance(batch, int):
        return full([batch, size], value, held.dtype)
    first = {k: Stretch(0, 1) for k in range(len(held.shape)) if k != batch_axis}
    return expand(unsqueeze(full_like(part(x, held.shape, first, tuple(first)), value), 1), [-1, size])


def step(x: Any, number: int, axis: int) -> Any:
    """x at one step.

    >>> step(d2s.to_tensor([[1, 2], [3, 4]]), -1, 1).tolist()
    [2, 4]
    """
    shape = tensor_type(x, "step", "x").shape
    return part(x, shape, {axis: at("step", shape[axis], axis, number)}, (axis,))


def read_sequence(
    cell: str,
    x: Any,
    weights: tuple[Any, Any, Any, Any],
    start: Any,
    lengths: Any = None,
    reverse: bool = False,
    time_major: bool = False,
) -> tuple[Any, Any]:
    """What a cell shows at every step, and its last state.

    Its weights lead from numbers and from states to gates, [gates * size, numbers] and [gates * size, size]; then their biases.
    Behind the `lengths` of the sequences 0 is shown, and the state stays.

    >>> one, zero = d2s.ones([1, 1]), d2s.zeros([1])
    >>> lengths = d2s.to_tensor([2])
    >>> shown, last = read_sequence("relu", d2s.ones([1, 3, 1]), (one, one, zero, zero), d2s.zeros([1, 1]), lengths)
    >>> shown.tolist(), last.tolist()
    ([[[1.0], [2.0], [0.0]]], [[2.0]])
    """
    shape = tensor_type(x, cell, "inputs").shape
    if len(shape) != 3:
        wanted = "[steps, batch, numbers]" if time_major else "[batch, steps, numbers]"
        raise ShapeError("D2S0002", f"{cell}: 'inputs' has shape {list(shape)}, expected {wanted}")
    to_gates, to_state, bias, state_bias = weights
    gates = add(matmul(x, to_gates, False, True), bias if cell == "gru" else add(bias, state_bias))
    more = [start[1]] if cell == "lstm" else [state_bias] if cell == "gru" else []
    more += [] if lengths is None else [_lengths(cell, lengths)]
    how = {"reverse": reverse, "time_major": time_major, "masked": lengths is not None}
    first = start[0] if cell == "lstm" else start
    states, _ = recurrent_(gates, transpose(to_state, (1, 0)), first, *more, cell=cell, **how)
    shown, kept = (step(states, 0, 0), step(states, 1, 0)) if cell == "lstm" else (states, None)
    axis, last = 0 if time_major else 1, 0 if reverse else -1
    final = step(shown, last, axis) if kept is None else (step(shown, last, axis), step(kept, last, axis))
    return (shown if lengths is None else where(_seen(x, lengths, time_major), shown, 0.0)), final


def _lengths(cell: str, lengths: Any) -> Any:
    held = tensor_type(lengths, cell, "sequence_length")
    if held.dtype.kind != "i":
        raise DTypeError("D2S0003", f"{cell}: 'sequence_length' is {held.dtype.name}, expected whole numbers")
    return lengths


def _seen(x: Any, lengths: Any, time_major: bool) -> Any:
    """Which steps are part of their sequences, as [batch, steps, 1], or steps first."""
    shape, axis = tensor_type(x, "step", "x").shape, 0 if time_major else 1
    one = {k: Stretch(0, 1) for k in range(3) if k != axis}
    steps = positions(part(x, shape, one, tuple(one)))
    return unsqueeze(less_than(unsqueeze(steps, 1 - axis), unsqueeze(cast(lengths, int64), axis)), 2)
