"""Cells: what a recurrent network does in one step.

In: the numbers of a step [batch, numbers], a state. Out: what the cell shows, and the state behind the step.

>>> cell = GRUCell(2, 3)
>>> shown, state = cell(d2s.ones([4, 2]))
>>> shown.shape, state is shown
([4, 3], True)
"""

from collections.abc import Sequence
from typing import Any

from d2s.arguments import one_of
from d2s.errors import ArgumentError, ShapeError, brief
from d2s.nn.initializer import Constant, Uniform
from d2s.nn.layer import Layer
from d2s.ops.exponential import sigmoid
from d2s.ops.math import tanh
from d2s.ops.matmul import matmul
from d2s.ops.sequence import first_state, read_sequence
from d2s.ops.shape import unsqueeze
from d2s.ops.shapes import whole_number
from d2s.ops.slicing import split


class RNNCellBase(Layer):
    """The base of cells. A cell of one's own has a `state_shape` and a `forward(inputs, states)`.

    >>> class Sum(d2s.nn.RNNCellBase):
    ...     state_shape = (1,)
    ...
    ...     def forward(self, inputs, states):
    ...         new = states + inputs
    ...         return new, new
    >>> d2s.nn.RNN(Sum())(d2s.ones([1, 3, 1]))[0].tolist()
    [[[1.0], [2.0], [3.0]]]
    """

    state_shape: Any

    def get_initial_states(
        self, batch_ref: Any, shape: Any = None, dtype: Any = None, init_value: float = 0.0, batch_dim_idx: int = 0
    ) -> Any:
        """A first state of one number, for as many sequences as `batch_ref` has; as `shape` is nested, so is it.

        >>> first, second = d2s.nn.LSTMCell(2, 3).get_initial_states(d2s.ones([4, 2]))
        >>> first.shape, second.shape
        ([4, 3], [4, 3])
        """
        found = self._filled(batch_ref, self.state_shape if shape is None else shape, init_value, batch_dim_idx)
        return found if dtype is None else _nested(found, dtype)

    def _filled(self, batch_ref: Any, shape: Any, value: float, axis: int) -> Any:
        if all(isinstance(n, int) for n in shape):
            sizes = [n for n in shape if n != -1]
            if len(sizes) != 1:
                raise ShapeError("D2S0002", f"get_initial_states(): 'shape' is {brief(shape)}, expected one size")
            return first_state(batch_ref, sizes[0], value, axis)
        return tuple(self._filled(batch_ref, part, value, axis) for part in shape)


def _nested(state: Any, dtype: Any) -> Any:
    return tuple(_nested(part, dtype) for part in state) if isinstance(state, tuple) else state.astype(dtype)


class _Cell(RNNCellBase):
    """A cell that `read_sequence` knows by a name: `kind`. `gates` is how many gates it has."""

    kind: str
    gates: int

    def _learn(self, sizes: tuple[Any, Any, Any], attrs: Sequence[Any]) -> None:
        """Weights from numbers and from states to gates, and biases; what `attrs` says False to stays as it is."""
        name = type(self).__name__
        self.input_size, self.hidden_size, shown = (whole_number(n, name, "size") for n in sizes)
        if self.hidden_size <= 0 or self.input_size < 0 or shown <= 0:
            raise ArgumentError("D2S0004", f"{name}(): 'hidden_size' is {self.hidden_size}, expected 1 or more")
        width, spread = self.gates * self.hidden_size, self.hidden_size**-0.5
        first = Uniform(-spread, spread)
        self.weight_ih = self._held([width, self.input_size], attrs[0], first, 1.0)
        self.weight_hh = self._held([width, shown], attrs[1], first, 1.0)
        self.bias_ih = self._held([width], attrs[2], first, 0.0)
        self.bias_hh = self._held([width], attrs[3], first, 0.0)

    def _held(self, shape: list[int], attr: Any, first: Uniform, fixed: float) -> Any:
        """A parameter; where its attribute is False, one that is not learnt, of one number."""
        found = self.create_parameter(
            shape, None if attr is False else attr, None, len(shape) == 1, Constant(fixed) if attr is False else first
        )
        assert found is not None
        if attr is False:
            found.stop_gradient = True
        return found

    def weights(self) -> tuple[Any, Any, Any, Any]:
        """What `read_sequence` is given."""
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def read(self, inputs: Any, states: Any, lengths: Any, reverse: bool, time_major: bool) -> tuple[Any, Any]:
        """What the cell shows at every step of sequences, and its last state."""
        return read_sequence(self.kind, inputs, self.weights(), states, lengths, reverse, time_major)

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        states = self.get_initial_states(inputs) if states is None else states
        _, state = self.read(unsqueeze(inputs, 1), states, None, False, False)
        return (state[0] if self.kind == "lstm" else state), state

    @property
    def state_shape(self) -> Any:  # type: ignore[override]
        """The shape of a state, but for the batch."""
        return (self.hidden_size,)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(_Cell):
    """act(W_ih x + b_ih + W_hh h + b_hh), act being "tanh" or "relu".

    >>> d2s.nn.SimpleRNNCell(2, 3)
    SimpleRNNCell(2, 3)
    """

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        one_of("SimpleRNNCell", "activation", activation, ("tanh", "relu"))
        self.kind = activation
        self._learn((input_size, hidden_size, hidden_size), (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr))

    def extra_repr(self) -> str:
        return super().extra_repr() + (f", activation={self.kind}" if self.kind != "tanh" else "")


class LSTMCell(_Cell):
    """Long short-term memory: the gates i, f and o are sigmoids, and g a tanh, of W_ih x + b_ih + W_hh h + b_hh.

    c = f * c + i * g is kept, h = o * tanh(c) shown. With a `proj_size`, what is shown goes through a matrix to that size.

    >>> shown, (h, c) = d2s.nn.LSTMCell(2, 3)(d2s.ones([4, 2]))
    >>> shown.shape, c.shape
    ([4, 3], [4, 3])
    """

    kind, gates = "lstm", 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.proj_size = whole_number(proj_size, "LSTMCell", "proj_size")
        if not 0 <= self.proj_size < max(1, whole_number(hidden_size, "LSTMCell", "hidden_size")):
            raise ArgumentError("D2S0004", f"LSTMCell(): 'proj_size' is {proj_size}, expected less than {hidden_size}")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._learn((input_size, hidden_size, self.proj_size or hidden_size), attrs)
        if self.proj_size:
            spread = hidden_size**-0.5
            first = Uniform(-spread, spread)
            self.weight_ho: Any = self.create_parameter(
                [hidden_size, self.proj_size], weight_hh_attr or None, None, False, first
            )

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        return self._projected(inputs, states) if self.proj_size else super().forward(inputs, states)

    def _projected(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        shown, kept = self.get_initial_states(inputs) if states is None else states
        gates = matmul(inputs, self.weight_ih, False, True) + matmul(shown, self.weight_hh, False, True)
        enter, keep, new, leave = split(gates + (self.bias_ih + self.bias_hh), 4, -1)
        kept = sigmoid(keep) * kept + sigmoid(enter) * tanh(new)
        shown = matmul(sigmoid(leave) * tanh(kept), self.weight_ho)
        return shown, (shown, kept)

    @property
    def state_shape(self) -> Any:
        """The shapes of what is shown and of what is kept, but for the batch."""
        return (self.proj_size or self.hidden_size,), (self.hidden_size,)


class GRUCell(_Cell):
    """A gated recurrent unit: the gates r and z are sigmoids of W_ih x + b_ih + W_hh h + b_hh.

    Of those rows that are neither's, c = tanh(W_ih x + b_ih + r * (W_hh h + b_hh)); the state is z * h + (1 - z) * c.

    >>> d2s.nn.GRUCell(2, 3)
    GRUCell(2, 3)
    """

    kind, gates = "gru", 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._learn((input_size, hidden_size, hidden_size), (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr))
