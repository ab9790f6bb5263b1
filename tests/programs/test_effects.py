"""Every row of `effects`: values, gradients, printed text, state and random numbers are eager code's, at every call."""

import effects
import generators  # noqa: F401 - its rows
import kept_outside  # noqa: F401 - its rows
import numpys_that_act  # noqa: F401 - its rows
import printed_weights  # noqa: F401 - its rows
import pytest
import variables  # noqa: F401 - its rows
from programs_compare import encoded, outcome

import d2s
from d2s.errors import ArgumentError


def run(make, argument_sets, executor=""):
    """All calls in turn, each with the state and the place in the random numbers behind it; and the function."""
    d2s.seed(5)
    function, state = make()
    if executor:
        function = d2s.to_static(function)
    seen = []
    with d2s.config(EXECUTOR=executor or "numba"):
        for jointly in (False, True):
            for args in argument_sets:
                got = outcome(function, args, jointly=jointly)
                seen.append((got, encoded(state(), {}), d2s.get_rng_state()))
    return seen, function


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("executor", ["numba", "interpreter"])
@pytest.mark.parametrize("row", effects.ROWS, ids=[make.__name__ for make, _, _ in effects.ROWS])
def test_static_does_what_eager_does(row, executor):
    make, argument_sets, captures = row
    expected, _ = run(make, argument_sets)
    found, static = run(make, argument_sets, executor)
    for n, (want, got) in enumerate(zip(expected, found, strict=True)):
        assert not (d := want[0].difference(got[0])), f"call {n}: eager != static: {d}"
        assert want[1] == got[1], f"call {n}: state {want[1]!r} eagerly, {got[1]!r} static"
        assert want[2] == got[2], f"call {n}: random numbers"
    assert len(static.variants) <= captures


def trained(static):
    """Steps of a net with all that draws and keeps state: the losses, what it holds in the end, where the stream is."""
    d2s.seed(11)
    net = d2s.nn.Sequential(d2s.nn.Linear(4, 8), d2s.nn.BatchNorm1D(8), d2s.nn.ReLU(), d2s.nn.Dropout(0.4), d2s.nn.Linear(8, 1))
    if static:
        net = d2s.to_static(net)
    optimizer = d2s.optimizer.Adam(0.01, parameters=net.parameters())
    losses = []
    for _ in range(20):
        x = d2s.randn([6, 4])
        loss = (net(x) - x.sum(axis=1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    return losses, {name: value.tolist() for name, value in net.state_dict().items()}, d2s.get_rng_state()


def test_training_with_dropout_and_batch_norm_is_the_same_bit_for_bit():
    assert trained(static=True) == trained(static=False)


NORM = d2s.nn.BatchNorm1D(2)


def test_a_file_holds_no_effects(tmp_path):
    with pytest.raises(ArgumentError, match="changes a tensor that was there before"):
        d2s.jit.save(lambda x: NORM(x), str(tmp_path / "model"), input_spec=[d2s.static.InputSpec([3, 2])])
