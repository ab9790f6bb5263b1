"""What the gradient of cells over sequences comes to in ops that have gradients themselves: for gradients of gradients.

In: what the gradient's kernel takes. Out: its results, step by step in plain ops, as they depend on gates, weight and first
states: what the forward kernel had saved is made of them again.

>>> x = d2s.to_tensor([[[1.0], [3.0]]], stop_gradient=False)
>>> one, start = d2s.ones([1, 1]), d2s.zeros([1, 1])
>>> states, _ = d2s.ops.recurrent.recurrent_(x, one, start, cell="tanh")
>>> (first,) = d2s.grad(states[0, 1, 0], x, create_graph=True)
>>> print(d2s.grad(first.sum(), x)[0].numpy().round(4).reshape([2]))
[-0.004  -0.0061]
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from d2s.errors import GradientError
from d2s.ops.arrange import transpose
from d2s.ops.compare import cast, greater_than, where
from d2s.ops.create import full_like
from d2s.ops.dispatch import current
from d2s.ops.exponential import sigmoid
from d2s.ops.join import concat, stack
from d2s.ops.math import relu, tanh
from d2s.ops.matmul import matmul
from d2s.ops.recurrent import recurrent_grad
from d2s.ops.shape import unsqueeze
from d2s.ops.slicing import split, unbind


class _State(NamedTuple):
    """What goes from step to step: the state, and of an "lstm" its cell."""

    shown: Any
    cell: Any = None


class _Step(NamedTuple):
    """A step forward: what it began with, the parts its gates are made to, and what came of it."""

    before: _State
    parts: Sequence[Any]
    after: _State


class _Pulled(NamedTuple):
    """A step backward: cotangents of its gates, of what came from the state, and of the state and cell beside those."""

    gates: Any
    hidden: Any
    state: Any
    cell: Any = None


def _lstm(x: Any, hidden: Any, state: _State) -> _Step:
    enter, keep, new, leave = split(x + hidden, 4, -1)
    parts = sigmoid(enter), sigmoid(keep), tanh(new), sigmoid(leave)
    cell = parts[1] * state.cell + parts[0] * parts[2]
    return _Step(state, parts, _State(parts[3] * tanh(cell), cell))


def _lstm_back(step: _Step, g: _State) -> _Pulled:
    enter, keep, new, leave = step.parts
    shown = tanh(step.after.cell)
    cell = g.cell + g.shown * leave * (1.0 - shown * shown)
    parts = [cell * new * (enter * (1.0 - enter)), cell * step.before.cell * (keep * (1.0 - keep))]
    parts += [cell * enter * (1.0 - new * new), g.shown * shown * (leave * (1.0 - leave))]
    gates = concat(parts, -1)
    return _Pulled(gates, gates, None, cell * keep)


def _gru(x: Any, hidden: Any, state: _State) -> _Step:
    (a, b, c), (d, e, held) = split(x, 3, -1), split(hidden, 3, -1)
    forget, keep = sigmoid(a + d), sigmoid(b + e)
    new = tanh(c + forget * held)
    return _Step(state, (forget, keep, new, held), _State((state.shown - new) * keep + new))


def _gru_back(step: _Step, g: _State) -> _Pulled:
    forget, keep, new, held = step.parts
    inner = (g.shown - g.shown * keep) * (1.0 - new * new)
    both = [inner * held * (forget * (1.0 - forget)), g.shown * (step.before.shown - new) * (keep * (1.0 - keep))]
    return _Pulled(concat([*both, inner], -1), concat([*both, inner * forget], -1), g.shown * keep)


def _plain(function: Any) -> Callable[[Any, Any, _State], _Step]:
    return lambda x, hidden, state: _Step(state, (), _State(function(x + hidden)))


def _tanh_back(step: _Step, g: _State) -> _Pulled:
    gates = g.shown * (1.0 - step.after.shown * step.after.shown)
    return _Pulled(gates, gates, None)


def _relu_back(step: _Step, g: _State) -> _Pulled:
    gates = where(greater_than(step.after.shown, 0.0), g.shown, 0.0)
    return _Pulled(gates, gates, None)


_CELLS = {
    "lstm": (_lstm, _lstm_back),
    "gru": (_gru, _gru_back),
    "tanh": (_plain(tanh), _tanh_back),
    "relu": (_plain(relu), _relu_back),
}


def _some(seen: Any, then: Any, otherwise: Any) -> Any:
    """Values of sequences that still go on, and of those that are over."""
    return then if seen is None or then is None else where(seen, then, otherwise)


def _seen(lengths: Any, steps: int) -> list[Any]:
    if lengths is None:
        return [None] * steps
    return [unsqueeze(greater_than(cast(lengths, "int64"), t), 1) for t in range(steps)]


@recurrent_grad.rule("composed")
def _(cotangent, weight, start, states, saved, gates, *more, cell, reverse, time_major, masked):
    axis = 0 if time_major else 1
    steps = current().type_of(gates).shape[axis]
    if isinstance(steps, str):
        raise GradientError("D2S0006", f"the gradient of a gradient through a sequence of {steps} steps, as only a run knows")
    forward, backward = _CELLS[cell]
    order = range(steps - 1, -1, -1) if reverse else range(steps)
    state, seen = _State(start, more[0] if cell == "lstm" else None), _seen(more[-1] if masked else None, steps)
    xs, back, done = unbind(gates, axis), transpose(weight, (1, 0)), dict[int, _Step]()
    for t in order:
        hidden = matmul(state.shown, back)
        done[t] = step = forward(xs[t], hidden + more[0] if cell == "gru" else hidden, state)
        state = _State(*(_some(seen[t], new, old) for new, old in zip(step.after, state, strict=True)))
    gs, *more_gs = unbind(cotangent, 0) if cell == "lstm" else [cotangent]
    of_cells = unbind(more_gs[0], axis) if more_gs else None
    found, g = dict[int, _Pulled](), _State(full_like(start, 0.0), None if of_cells is None else full_like(start, 0.0))
    gs = unbind(gs, axis)
    for t in reversed(order):
        g = _State(gs[t] + g.shown, None if of_cells is None else of_cells[t] + g.cell)
        found[t], g = _back(backward(done[t], g), g, weight, seen[t])
    rows = [stack([made[t] for t in range(steps)], axis) for made in _planes(done, found)]
    return rows[0], g.shown, rows[1], *{"lstm": (g.cell,), "gru": (rows[2],)}.get(cell, ())


def _back(pulled: _Pulled, g: _State, weight: Any, seen: Any) -> tuple[_Pulled, _State]:
    """A step's cotangents, and those of the state before it; where the sequence is over, they pass."""
    through = matmul(pulled.hidden, weight)
    before = through if pulled.state is None else pulled.state + through
    gates, hidden = (_some(seen, part, 0.0) for part in (pulled.gates, pulled.hidden))
    return _Pulled(gates, hidden, None), _State(_some(seen, before, g.shown), _some(seen, pulled.cell, g.cell))


def _planes(done: dict[int, _Step], found: dict[int, _Pulled]) -> list[dict[int, Any]]:
    """By step: cotangents of the gates, states before, cotangents of what came from them."""
    before = {t: step.before.shown for t, step in done.items()}
    return [{t: p.gates for t, p in found.items()}, before, {t: p.hidden for t, p in found.items()}]
