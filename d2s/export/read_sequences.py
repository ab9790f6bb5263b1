"""What Paddle's recurrent ops mean: layers of cells that read sequences, and one step of one.

In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_words import READ
>>> "rnn" in READ
True
"""

from typing import Any

from d2s.export.paddle_words import Reading, reads
from d2s.ops import OPS
from d2s.ops.join import concat, stack
from d2s.ops.sequence import read_sequence
from d2s.ops.slicing import split, unbind

_CELLS = {"LSTM": "lstm", "GRU": "gru", "RNN_TANH": "tanh", "RNN_RELU": "relu"}


@reads("rnn")
def _(r: Reading) -> Any:
    """Weights of all cells stand in front of their biases; between layers nothing is dropped, as in inference."""
    r.only("Input", "PreState", "WeightList", "SequenceLength")
    cell, directions, layers = _CELLS.get(r.take("mode", "")), 1 + r.take("is_bidirec", False), r.take("num_layers", 1)
    held, states = r.many("WeightList"), r.many("PreState")
    count = layers * directions
    if not cell or count < 1 or len(held) != 4 * count or len(states) != 1 + (cell == "lstm"):
        r.fail(f"of {r.take('mode', '')!r:.20} with {len(held)} weights and {len(states)} states")
    weights = [(*held[2 * k : 2 * k + 2], *held[2 * (count + k) : 2 * (count + k) + 2]) for k in range(count)]
    starts = [unbind(state, 0) for state in states]
    if any(len(each) != count for each in starts):
        r.fail(f"with first states of {len(starts[0])} cells, {count} are there")
    lengths = r.x("SequenceLength") if r.has("SequenceLength") else None
    shown, last = r.x("Input"), []
    for layer in range(layers):
        sides = []
        for k in range(layer * directions, (layer + 1) * directions):
            start = tuple(each[k] for each in starts) if cell == "lstm" else starts[0][k]
            side, state = read_sequence(cell, shown, weights[k], start, lengths, bool(k % directions), True)
            sides.append(side)
            last.append(state if cell == "lstm" else (state,))
        shown = concat(sides, 2) if directions > 1 else sides[0]
    return {"Out": shown, "State": [stack(list(each), 0) for each in zip(*last, strict=True)]}


@reads("lstm_unit")
def _(r: Reading) -> Any:
    x, sigmoid, tanh = r.x(), OPS["sigmoid"], OPS["tanh"]
    enter, keep, show, new = split(x, 4, -1)
    keep = keep + r.constant(r.take("forget_bias", 0.0), r.type(x).dtype)
    cell = sigmoid(keep) * r.x("C_prev") + sigmoid(enter) * tanh(new)
    return {"C": cell, "H": sigmoid(show) * tanh(cell)}
