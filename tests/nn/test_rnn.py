"""Recurrent networks: gradients by differences, cells one step at a time, captured functions, names, errors, texts."""

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import ArgumentError, D2SError, DTypeError, ShapeError
from d2s.ops.recurrent import recurrent_
from d2s.runtime.differing import same_bits
from tests.samples.recurrent import KINDS, inputs

rng = np.random.default_rng(0)


def values(*shape, dtype="float32"):
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("how", KINDS, ids=lambda how: how["cell"])
def test_gradients_by_finite_differences(how):
    arrays = inputs(lambda *shape: values(*shape, dtype="float64"), how["cell"], how["masked"], how["time_major"])
    tensors = [d2s.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    states = recurrent_(*tensors, **how)[0]
    weight = values(*states.shape, dtype="float64")
    (states * d2s.to_tensor(weight)).sum().backward()
    for n, array in enumerate(arrays[: len(arrays) - how["masked"]]):
        for at in list(np.ndindex(array.shape))[:: max(1, array.size // 5)]:
            ends = []
            for step in (1e-6, -1e-6):
                moved = [a.copy() for a in arrays]
                moved[n][at] += step
                ends.append((recurrent_(*map(d2s.to_tensor, moved), **how)[0].numpy() * weight).sum())
            assert abs(tensors[n].grad.numpy()[at] - (ends[0] - ends[1]) / 2e-6) < 1e-6, (n, at)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_one_step_at_a_time_gives_the_same_bits(kind):
    network, x = getattr(nn, kind)(3, 4), d2s.to_tensor(values(2, 5, 3))
    shown, last = network(x)
    cell, state, steps = network[0].cell, None, []
    for t in range(5):
        one, state = cell(x[:, t], state)
        steps.append(one)
    assert same_bits(d2s.stack(steps, 1).numpy(), shown.numpy())
    pairs = zip(last, state, strict=True) if kind == "LSTM" else [(last, state)]
    assert all(same_bits(a[0].numpy(), b.numpy()) for a, b in pairs)


class OwnCell(nn.RNNCellBase):
    state_shape = ((2,), (2,))

    def __init__(self):
        super().__init__()
        self.inner = nn.LSTMCell(3, 2)

    def forward(self, inputs, states):
        return self.inner(inputs, states)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_cell_of_ones_own_is_read_step_by_step(reverse):
    cell, lengths = OwnCell(), d2s.to_tensor([3, 1])
    x = d2s.to_tensor(values(2, 4, 3))
    shown, state = nn.RNN(cell, is_reverse=reverse)(x, sequence_length=lengths)
    expected, wanted = nn.RNN(cell.inner, is_reverse=reverse)(x, sequence_length=lengths)
    assert same_bits(shown.numpy(), expected.numpy())
    assert all(same_bits(a.numpy(), b.numpy()) for a, b in zip(state, wanted, strict=True))
    assert not shown.numpy()[1, 1:].any()


def test_a_captured_network_gives_the_same_bits_for_all_batches_and_lengths_in_two_captures():
    network = nn.LSTM(3, 4, direction="bidirect")

    def run(x, lengths):
        shown, (h, c) = network(x, sequence_length=lengths)
        return shown, h + c

    static = d2s.to_static(run)
    for batch, steps in ((2, 5), (3, 4), (4, 6)):
        x, lengths = values(batch, steps, 3), d2s.to_tensor(rng.integers(0, steps + 1, batch))
        found = []
        for function in (run, static):
            tensor = d2s.to_tensor(x, stop_gradient=False)
            shown, state = function(tensor, lengths)
            (shown.sum() + (state * state).sum()).backward()
            found.append([shown, state, tensor.grad, *(p.grad for p in network.parameters())])
            network.clear_gradients(False)
        assert all(same_bits(a.numpy(), b.numpy()) for a, b in zip(*found, strict=True))
    assert len(static.variants) == 2


def test_a_sequence_without_steps_of_its_own_keeps_its_first_state():
    network = nn.GRU(2, 3)
    first = d2s.to_tensor(values(1, 2, 3))
    shown, last = network(d2s.to_tensor(values(2, 4, 2)), first, d2s.to_tensor([0, 4]))
    assert same_bits(last.numpy()[0, 0], first.numpy()[0, 0])
    assert not shown.numpy()[0].any()


def test_numbers_behind_the_length_do_not_matter_even_if_they_are_none():
    network, lengths = nn.LSTM(2, 3, num_layers=2, direction="bidirect"), d2s.to_tensor([2, 3])
    x = values(2, 4, 2)
    other = x.copy()
    other[0, 2:], other[1, 3:] = np.nan, np.inf
    (a, (h, _)), (b, (k, _)) = (network(d2s.to_tensor(v), sequence_length=lengths) for v in (x, other))
    assert same_bits(h.numpy(), k.numpy())
    assert same_bits(a.numpy(), b.numpy())


def test_parameters_have_names_of_their_own_and_those_of_their_cells():
    network = nn.LSTM(3, 2, num_layers=2, direction="bidirect")
    names = [name for name, _ in network.named_parameters()]
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    assert names == [f"{kind}_l{k}{end}" for k in (0, 1) for end in ("", "_reverse") for kind in kinds]
    state = network.state_dict()
    assert state["weight_ih_l1_reverse"] is state["1.cell_bw.weight_ih"]
    assert state["weight_ih_l1"].shape == [8, 4]
    other = nn.LSTM(3, 2, num_layers=2, direction="bidirect")
    assert other.set_state_dict(state) == ([], [])
    x = d2s.to_tensor(values(1, 2, 3))
    assert same_bits(other(x)[0].numpy(), network(x)[0].numpy())


def test_what_is_not_wanted_is_not_learnt():
    network = nn.GRU(3, 2, weight_hh_attr=False, bias_ih_attr=False, bias_hh_attr=False)
    assert [p.name for p in network.parameters() if p.trainable] == [network.weight_ih_l0.name]
    assert network.weight_hh_l0.numpy().all()
    assert [name for name, _ in network.named_parameters()][:2] == ["weight_ih_l0", "weight_hh_l0"]
    assert not network[0].cell.bias_ih.numpy().any()


def test_dropout_is_between_the_layers_and_in_training_only():
    network, x = nn.SimpleRNN(3, 8, num_layers=2, dropout=0.5), d2s.to_tensor(values(2, 4, 3))
    assert not same_bits(network(x)[0].numpy(), network(x)[0].numpy())
    network.eval()
    assert same_bits(network(x)[0].numpy(), network(x)[0].numpy())


def test_what_is_shown_may_be_projected():
    shown, (h, c) = nn.LSTM(3, 4, num_layers=2, proj_size=2)(d2s.to_tensor(values(2, 3, 3)))
    assert (shown.shape, h.shape, c.shape) == ([2, 3, 2], [2, 2, 2], [2, 2, 4])


REFUSED = {
    "direction": (lambda: nn.LSTM(2, 3, direction="sideways"), ArgumentError, "'direction'"),
    "layers": (lambda: nn.GRU(2, 3, num_layers=0), ArgumentError, "'num_layers'"),
    "activation": (lambda: nn.SimpleRNN(2, 3, activation="gelu"), ArgumentError, "'activation'"),
    "size": (lambda: nn.GRUCell(2, 0), ArgumentError, "'hidden_size'"),
    "no cell": (lambda: nn.RNN(nn.Linear(2, 3)), DTypeError, "'cell'"),
    "rank": (lambda: nn.GRU(2, 3)(d2s.ones([4, 2])), ShapeError, "'inputs'"),
    "numbers": (lambda: nn.GRU(2, 3)(d2s.ones([4, 5, 3])), ShapeError, "columns"),
    "state": (lambda: nn.GRU(2, 3)(d2s.ones([4, 5, 2]), d2s.ones([1, 3, 3])), ShapeError, "'start'"),
    "lengths": (lambda: nn.GRU(2, 3)(d2s.ones([4, 5, 2]), None, d2s.ones([4])), DTypeError, "'sequence_length'"),
    "many lengths": (lambda: nn.GRU(2, 3)(d2s.ones([4, 5, 2]), None, d2s.to_tensor([1, 2])), ShapeError, "shape"),
    "projection": (lambda: nn.LSTM(2, 3, proj_size=3), ArgumentError, "'proj_size'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(name):
    call, kind, words = REFUSED[name]
    with pytest.raises(D2SError, match=words) as caught:
        call()
    assert isinstance(caught.value, kind)


def test_texts():
    text = repr(nn.LSTM(3, 2, num_layers=2, dropout=0.1, time_major=True))
    assert text.splitlines()[1:3] == ["  3, 2, num_layers=2, time_major=True, dropout=0.1", "  (0): RNN("]
    assert repr(nn.SimpleRNNCell(3, 2, activation="relu")) == "SimpleRNNCell(3, 2, activation=relu)"
