"""Recurrent networks: cells that read sequences, forwards, backwards or both ways, in layers one above the other.

In: sequences [batch, steps, numbers] (or steps first), first states. Out: what is shown at every step, and the last states.

>>> shown, (h, c) = LSTM(2, 3, num_layers=2, direction="bidirect")(d2s.ones([4, 5, 2]))
>>> shown.shape, h.shape, c.shape
([4, 5, 6], [4, 4, 3], [4, 4, 3])
"""

from typing import Any

from d2s.arguments import number, one_of
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.nn.containers import LayerList
from d2s.nn.dropout import dropout
from d2s.nn.layer import Layer
from d2s.nn.rnn_cells import GRUCell, LSTMCell, RNNCellBase, SimpleRNNCell
from d2s.ops.compare import cast, greater_than, where
from d2s.ops.join import concat, stack
from d2s.ops.sequence import step
from d2s.ops.shape import unsqueeze
from d2s.ops.shapes import whole_number
from d2s.ops.slicing import unbind
from d2s.types import int64

OWN = (SimpleRNNCell, LSTMCell, GRUCell)  # cells that read all steps at once
MOST_LAYERS = 1024
DIRECTIONS = {"forward": 1, "bidirect": 2, "bidirectional": 2}


def _read(cell: Any, inputs: Any, states: Any, lengths: Any, reverse: bool, time_major: bool, more: Any) -> tuple[Any, Any]:
    """What a cell shows at every step, and its last state."""
    states = cell.get_initial_states(inputs, batch_dim_idx=1 if time_major else 0) if states is None else states
    if type(cell) in OWN and not getattr(cell, "proj_size", 0):
        return cell.read(inputs, states, lengths, reverse, time_major)  # type: ignore[no-any-return]
    return _read_by_steps(cell, inputs, states, lengths, reverse, time_major, more)


def _read_by_steps(
    cell: Any, inputs: Any, states: Any, lengths: Any, reverse: bool, time_major: bool, more: Any
) -> tuple[Any, Any]:
    axis = 0 if time_major else 1
    steps = unbind(inputs, axis)
    count, shown = len(steps), []
    for k in range(count):
        t = count - 1 - k if reverse else k
        one, new = cell(steps[t], states, **more)
        if lengths is not None:
            seen = unsqueeze(greater_than(cast(lengths, int64), t), 1)
            one, new = where(seen, one, 0.0), _kept(seen, new, states)
        shown.append(one)
        states = new
    return stack(shown[::-1] if reverse else shown, axis), states


def _kept(seen: Any, new: Any, old: Any) -> Any:
    """A state where a sequence goes on, and the one before where it is over."""
    if isinstance(new, list | tuple):
        return tuple([_kept(seen, *pair) for pair in zip(new, old, strict=True)])
    return where(seen, new, old)


def _is_cell(kind: str, name: str, cell: Any) -> None:
    if not isinstance(cell, Layer) or not hasattr(cell, "get_initial_states"):
        raise DTypeError("D2S0001", f"{kind}(): '{name}' expects a cell, an RNNCellBase, got {type(cell).__name__}")


class RNN(Layer):
    """A cell that reads sequences; what lies behind the length of one is not read, and 0 is shown for it.

    >>> shown, last = d2s.nn.RNN(d2s.nn.GRUCell(2, 3))(d2s.ones([4, 5, 2]), sequence_length=d2s.to_tensor([5, 4, 3, 2]))
    >>> shown.shape, last.shape
    ([4, 5, 3], [4, 3])
    """

    def __init__(self, cell: RNNCellBase, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        _is_cell("RNN", "cell", cell)
        self.cell: Any = cell
        self.is_reverse, self.time_major = is_reverse, time_major

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        return _read(self.cell, inputs, initial_states, sequence_length, self.is_reverse, self.time_major, kwargs)


class BiRNN(Layer):
    """Two cells that read sequences, one from the front, one from behind; what they show stands side by side.

    >>> shown, (forwards, backwards) = d2s.nn.BiRNN(d2s.nn.GRUCell(2, 3), d2s.nn.GRUCell(2, 3))(d2s.ones([4, 5, 2]))
    >>> shown.shape, backwards.shape
    ([4, 5, 6], [4, 3])
    """

    def __init__(self, cell_fw: RNNCellBase, cell_bw: RNNCellBase, time_major: bool = False) -> None:
        super().__init__()
        _is_cell("BiRNN", "cell_fw", cell_fw)
        _is_cell("BiRNN", "cell_bw", cell_bw)
        self.cell_fw: Any = cell_fw
        self.cell_bw: Any = cell_bw
        self.time_major = time_major

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        first, second = (None, None) if initial_states is None else initial_states
        forwards, state = _read(self.cell_fw, inputs, first, sequence_length, False, self.time_major, kwargs)
        backwards, other = _read(self.cell_bw, inputs, second, sequence_length, True, self.time_major, kwargs)
        return concat([forwards, backwards], -1), (state, other)


class _Network(LayerList):
    """Layers of one kind of cell, under "0", "1", ...; their parameters also have names of their own: weight_ih_l0 ..."""

    cell: type

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        direction: str,
        time_major: bool,
        dropout: float,
        attrs: tuple[Any, Any, Any, Any],
        **of_cell: Any,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        one_of(name, "direction", direction, DIRECTIONS)
        self.num_directions, self.num_layers = DIRECTIONS[direction], whole_number(num_layers, name, "num_layers")
        if not 1 <= self.num_layers <= MOST_LAYERS:
            raise ArgumentError("D2S0004", f"{name}(): 'num_layers' is {brief(num_layers)}, expected 1 to {MOST_LAYERS}")
        self.input_size, self.hidden_size = input_size, hidden_size
        self.time_major, self.dropout = time_major, number(name, "dropout", dropout)
        self.state_components = 2 if self.cell is LSTMCell else 1
        given = dict(zip(("weight_ih_attr", "weight_hh_attr", "bias_ih_attr", "bias_hh_attr"), attrs, strict=True)) | of_cell
        for k in range(self.num_layers):
            size = input_size if k == 0 else self.num_directions * (of_cell.get("proj_size") or hidden_size)
            cells = [self.cell(size, hidden_size, **given) for _ in range(self.num_directions)]
            self.append(RNN(cells[0], False, time_major) if len(cells) == 1 else BiRNN(cells[0], cells[1], time_major))
            for cell, suffix in zip(cells, (f"_l{k}", f"_l{k}_reverse"), strict=False):
                self._give_names(cell, suffix, attrs)

    def _give_names(self, cell: Layer, suffix: str, attrs: tuple[Any, ...]) -> None:
        """Gives the parameters of a cell names of this network; a bias that is not wanted gets none."""
        for name, parameter in cell._parameters.items():
            if not (name.startswith("bias") and attrs[2 if name == "bias_ih" else 3] is False):
                setattr(self, name + suffix, parameter)

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None) -> tuple[Any, Any]:
        shown: Any = inputs
        last: list[Any] = []
        for place, layer in enumerate(self):
            if place and self.dropout:
                shown = dropout(shown, self.dropout, training=self.training)
            first = None if initial_states is None else self._of_layer(initial_states, place)
            shown, state = layer(shown, first, sequence_length)
            last = [*last, *([state] if self.num_directions == 1 else state)]
        if self.state_components == 1:
            return shown, stack(last, 0)
        return shown, (stack([state[0] for state in last], 0), stack([state[1] for state in last], 0))

    def flatten_parameters(self) -> None:
        """For programs that call it: the parameters stay where they are."""

    def _of_layer(self, states: Any, number: int) -> Any:
        """The first states of a layer: of one direction a state, of two a pair of them."""
        places = range(number * self.num_directions, (number + 1) * self.num_directions)
        if self.state_components == 1:
            found = [step(states, n, 0) for n in places]
        else:
            found = [(step(states[0], n, 0), step(states[1], n, 0)) for n in places]
        return found[0] if self.num_directions == 1 else found

    def extra_repr(self) -> str:
        layers = f", num_layers={self.num_layers}" if self.num_layers != 1 else ""
        order = f", time_major={self.time_major}" if self.time_major else ""
        dropped = f", dropout={self.dropout}" if self.dropout else ""
        return f"{self.input_size}, {self.hidden_size}{layers}{order}{dropped}"


class SimpleRNN(_Network):
    """Layers of `SimpleRNNCell`.

    >>> shown, last = d2s.nn.SimpleRNN(2, 3, activation="relu")(d2s.ones([4, 5, 2]))
    >>> shown.shape, last.shape
    ([4, 5, 3], [1, 4, 3])
    """

    cell = SimpleRNNCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(input_size, hidden_size, num_layers, direction, time_major, dropout, attrs, activation=activation)


class LSTM(_Network):
    """Layers of `LSTMCell`; their states are pairs.

    >>> shown, (h, c) = d2s.nn.LSTM(2, 3)(d2s.ones([4, 5, 2]), (d2s.zeros([1, 4, 3]), d2s.ones([1, 4, 3])))
    >>> shown.shape, h.shape
    ([4, 5, 3], [1, 4, 3])
    """

    cell = LSTMCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(input_size, hidden_size, num_layers, direction, time_major, dropout, attrs, proj_size=proj_size)
        self.proj_size = proj_size


class GRU(_Network):
    """Layers of `GRUCell`.

    >>> d2s.nn.GRU(2, 3, direction="bidirect")(d2s.ones([4, 5, 2]))[1].shape
    [2, 4, 3]
    """

    cell = GRUCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(input_size, hidden_size, num_layers, direction, time_major, dropout, attrs)
