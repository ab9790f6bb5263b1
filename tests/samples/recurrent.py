"""Cells over sequences, by NumPy in float64, and their gradients, step by step."""

import numpy as np

from tests.samples.sample import Listed

GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def stepped(cell, x, z, h, c):
    """The state behind a step, what it keeps, and what the gradient reads."""
    if cell == "lstm":
        i, f, g, o = np.split(x + z, 4, 1)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        c = f * c + i * g
        return o * np.tanh(c), c, np.concatenate([i, f, g, o], 1)
    if cell == "gru":
        (a, b, d), (e, f, held) = np.split(x, 3, 1), np.split(z, 3, 1)
        r, u = sigmoid(a + e), sigmoid(b + f)
        n = np.tanh(d + r * held)
        return (h - n) * u + n, c, np.concatenate([r, u, n, held], 1)
    return (np.tanh(x + z) if cell == "tanh" else np.maximum(x + z, 0)), c, np.zeros_like(h)


def order(steps, reverse):
    return range(steps - 1, -1, -1) if reverse else range(steps)


def seen(more, masked, t):
    return (t < more[-1])[:, None] if masked else True


def states(gates, weight, start, *more, cell, reverse, time_major, masked):
    x = (gates.swapaxes(0, 1) if time_major else gates).astype(np.float64)
    h, c = start.astype(np.float64), (more[0] if cell == "lstm" else start).astype(np.float64)
    shown, kept, saved = [], [], []
    for t in order(x.shape[1], reverse):
        z = h @ weight + (more[0] if cell == "gru" else 0.0)
        new, inner, read = stepped(cell, x[:, t], z, h, c)
        goes_on = seen(more, masked, t)
        h, c = np.where(goes_on, new, h), np.where(goes_on, inner, c)
        shown.append(h)
        kept.append(c)
        saved.append(np.where(goes_on, read, 0.0))
    planes = [np.stack(a[::-1] if reverse else a, 0 if time_major else 1) for a in (shown, kept, saved)]
    found = np.stack(planes[:2]) if cell == "lstm" else planes[0]
    return found.astype(gates.dtype), planes[2].astype(gates.dtype)


def pulled_step(cell, g, of_cell, z, was, kept_was, shown):
    """Cotangents of the gates of a step, of what came from the state, of the state as such, and of what was kept."""
    if cell == "lstm":
        i, f, n, o = np.split(z, 4, 1)
        kept = np.tanh(f * kept_was + i * n)
        of_cell = of_cell + g * o * (1 - kept * kept)
        parts = [of_cell * n * i * (1 - i), of_cell * kept_was * f * (1 - f), of_cell * i * (1 - n * n), g * kept * o * (1 - o)]
        gates = np.concatenate(parts, 1)
        return gates, gates, 0.0, of_cell * f
    if cell == "gru":
        r, u, n, held = np.split(z, 4, 1)
        inner = g * (1 - u) * (1 - n * n)
        both = [inner * held * r * (1 - r), g * (was - n) * u * (1 - u)]
        return np.concatenate([*both, inner], 1), np.concatenate([*both, inner * r], 1), g * u, of_cell
    gates = g * (1 - shown * shown) if cell == "tanh" else np.where(shown > 0, g, 0)
    return gates, gates, 0.0, of_cell


def pulled(cotangent, weight, start, found, saved, given, *more, cell, reverse, time_major, masked):
    def planes(a):
        a = a.astype(np.float64) if cell == "lstm" else a.astype(np.float64)[None]
        return a.swapaxes(1, 2) if time_major else a

    g, values, z = planes(cotangent), planes(found), (saved.swapaxes(0, 1) if time_major else saved).astype(np.float64)
    begin = [start, more[0]] if cell == "lstm" else [start]
    of_state = np.zeros_like(start, np.float64)
    of_cell, steps = np.zeros_like(of_state), list(order(z.shape[1], reverse))
    gates, hidden, before = {}, {}, {}
    for n in range(len(steps) - 1, -1, -1):
        t = steps[n]
        was = values[:, :, steps[n - 1]] if n else begin
        total, kept = g[0][:, t] + of_state, (g[1][:, t] if cell == "lstm" else 0.0) + of_cell
        made, back, stays, older = pulled_step(cell, total, kept, z[:, t], was[0], was[-1], values[0][:, t])
        goes_on = seen(more, masked, t)
        gates[t], hidden[t], before[t] = np.where(goes_on, made, 0.0), np.where(goes_on, back, 0.0), was[0]
        of_state = np.where(goes_on, back @ weight + stays, total)
        of_cell = np.where(goes_on, older, kept)
    axis = 0 if time_major else 1
    rows = [np.stack([a[t] for t in sorted(a)], axis) for a in (gates, before, hidden)]
    own = {"lstm": [of_cell], "gru": [rows[2]]}.get(cell, [])
    return tuple(a.astype(saved.dtype) for a in (rows[0], of_state, rows[1], *own))


KINDS = [
    {"cell": "lstm", "reverse": True, "time_major": False, "masked": True},
    {"cell": "gru", "reverse": False, "time_major": True, "masked": False},
    {"cell": "relu", "reverse": False, "time_major": False, "masked": False},
]


def inputs(make, cell, masked, time_major):
    batch, steps, size = 3, 4, 5
    width = GATES[cell] * size
    gates = make(*((steps, batch) if time_major else (batch, steps)), width)
    more = {"lstm": [make(batch, size)], "gru": [make(width)]}.get(cell, [])
    return [gates, make(size, width), make(batch, size), *more, *([np.array([2, 4, 0])] if masked else [])]


def cases(make):
    for how in KINDS:
        yield inputs(make, how["cell"], how["masked"], how["time_major"]), how


def gradient_cases(make):
    for how in KINDS:
        gates, weight, start, *more = inputs(make, how["cell"], how["masked"], how["time_major"])
        found, saved = states(gates, weight, start, *more, **how)
        yield [make(*found.shape), np.ascontiguousarray(weight.T), start, found, saved, gates, *more], how


SAMPLES = {
    "recurrent": Listed(states, cases, "f", ulps=64, smooth=False),  # its by-products carry no gradient
    "recurrent_grad": Listed(pulled, gradient_cases, "f", ulps=256, smooth=False),
}
