"""The op that gives the first nan or infinity is named, with the user's line and what it was given; nothing else is told."""

import inspect

import numpy as np
import pytest

import d2s
from d2s.errors import NumericError
from d2s.ops.dispatch import handlers


def t(*values):
    return d2s.to_tensor(np.array(values, "float32"), stop_gradient=False)


def logarithm(x):
    y = x * 2.0
    if y.sum() > 0:
        y = d2s.log(y)  # here
    while y.sum() < 3.0:
        y = y + 1.0
    return (y * y).sum()


def rooted(x):
    y = d2s.sqrt(x) * 3.0  # here
    return y.sum() if x.sum() < 100 else x.sum()


def line_of(function):
    lines, first = inspect.getsourcelines(function)
    return f"test_debug.py:{first + next(n for n, line in enumerate(lines) if '# here' in line)}"


@pytest.fixture(params=["eager", "static"])
def way(request):
    return d2s.to_static if request.param == "static" else lambda function: function


def found(run):
    with d2s.debug.nan_check(), pytest.raises(NumericError) as error:
        run()
    return error.value


def test_forward(way):
    f = way(logarithm)
    error = found(lambda: f(t(-1.0, 2.0, 3.0)))
    assert error.code == "D2S2002"
    assert error.message == "log() gives 1 nan among 3 elements\n  x: f32[3] from -2.0 to 6.0, mean 2.6666666666666665"
    assert error.where.endswith(line_of(logarithm))


def test_infinity(way):
    error = found(lambda: way(logarithm)(t(0.0, 2.0)))
    assert error.message.startswith("log() gives 1 inf among 2 elements")


def test_backward(way):
    f = way(rooted)
    with d2s.debug.nan_check():
        y = f(t(0.0, 4.0))
    error = found(y.backward)
    assert error.message.startswith("in the gradient of ")
    assert "gives 1 inf" in error.message
    assert error.where.endswith(line_of(rooted))


def test_a_gradient_of_what_ran_before_the_block(way):
    x = t(4.0, 9.0)
    y = way(logarithm)(x)
    expected = t(4.0, 9.0)
    logarithm(expected).backward()
    with d2s.debug.nan_check():
        y.backward()
    assert x.grad.tolist() == expected.grad.tolist()


def test_infinities_that_were_there_are_let_through():
    mask = d2s.to_tensor([0.0, -np.inf])
    with d2s.debug.nan_check():
        assert (t(1.0, 2.0) + mask).tolist() == [1.0, -np.inf]
        assert d2s.nn.functional.softmax(t(1.0, 2.0) + mask).tolist() == [1.0, 0.0]
        assert d2s.full([2], np.inf).shape == [2]


def test_whole_steps():
    layer = d2s.nn.Linear(2, 1)
    sgd = d2s.optimizer.SGD(0.1, parameters=layer.parameters())

    @d2s.to_static
    def step(x):
        loss = d2s.log(layer(x)).sum()  # here
        loss.backward()
        sgd.step()

    layer.weight.set_value([[1.0], [1.0]])
    before = layer.weight.tolist()
    error = found(lambda: step(d2s.zeros([1, 2])))
    assert error.message.startswith("log() gives 1 inf")
    assert layer.weight.tolist() == before


def test_afterwards_all_is_as_it_was():
    x, f = t(1.0, 2.0), d2s.to_static(logarithm)
    for _ in range(3):
        f(x), x * x
    base, doors = handlers.base, {op: op.door for op in d2s.ops.OPS.values()}
    with d2s.debug.nan_check(), d2s.debug.nan_check():
        f(x)
        assert handlers.base is not base
        with pytest.raises(NumericError):
            d2s.log(x - 5.0)
    assert handlers.base is base
    assert all(op.door is door for op, door in doors.items())
    assert np.isnan(d2s.log(x - 5.0).numpy()).all()
    assert np.isnan(d2s.to_static(lambda x: d2s.log(x - 5.0))(x).numpy()).all()


def test_flag():
    d2s.set_flags({"FLAGS_check_nan_inf": 1})
    try:
        with pytest.raises(NumericError):
            d2s.log(t(-1.0))
    finally:
        d2s.set_flags({"FLAGS_check_nan_inf": 0})
    d2s.log(t(-1.0))


def test_lists_that_a_loop_makes_longer_are_looked_through(way):
    def f(x, n):
        kept = []
        for i in range(n):
            kept.append(x / (i - 2))
        return d2s.stack(kept).sum()

    error = found(lambda: way(f)(t(0.0, 1.0), d2s.to_tensor(4)))
    assert error.message.startswith("divide() gives 1 nan and 1 inf among 2 elements")
    with d2s.debug.nan_check():
        assert way(f)(t(0.0, 1.0), d2s.to_tensor(2)).item() == -1.5


@pytest.mark.parametrize(("kind", "rate"), [(d2s.optimizer.SGD, 1e30), (d2s.optimizer.Adam, 0.1)])
def test_a_step_of_an_optimizer_that_leaves_an_infinity(way, kind, rate):
    """Parameter and state are as they were."""
    weight = d2s.create_parameter([2], "float32")
    optimizer = kind(rate, parameters=[weight])

    def step(x):
        (x * weight).sum().backward()
        optimizer.step()  # here
        optimizer.clear_grad()

    run = way(step)
    run(t(1e-30, 1e-30).detach())
    before = weight.tolist(), [v.tolist() for v in optimizer.state_dict().values() if isinstance(v, d2s.Tensor)]
    error = found(lambda: run(t(3e30, 9e30).detach()))
    assert error.message.startswith("update() gives 2 inf among 2 elements\n  parameter: f32[2] from ")
    assert "\n  gradient: f32[2] from 2.9999" in error.message
    assert error.where.endswith(line_of(step))
    after = weight.tolist(), [v.tolist() for v in optimizer.state_dict().values() if isinstance(v, d2s.Tensor)]
    assert after == before


def rooted_often(x, n):
    kept = []
    for i in range(n):
        kept.append(d2s.sqrt(x) * i)  # here
    return d2s.stack(kept).sum()


def rooted_down(x, n):
    if n <= 0:
        return x
    return d2s.sqrt(rooted_down(x, n - 1))  # here


def descending(x, n):
    return rooted_down(x, n).sum()


@pytest.mark.parametrize("function", [rooted_often, descending])
def test_backward_through_lists_and_recursion(way, function):
    with d2s.debug.nan_check():
        y = way(function)(t(0.0, 9.0), d2s.to_tensor(3))
    error = found(y.backward)
    assert "divide() gives 1 inf among 2 elements\n  x: f32[2] from " in error.message
    assert error.where.endswith(line_of(rooted_down if function is descending else function))


def test_in_a_layer_that_was_loaded(tmp_path):
    class Rooted(d2s.nn.Layer):
        def forward(self, x):
            return d2s.sqrt(x) if x.sum() > 0 else x  # here

    d2s.jit.save(Rooted(), str(tmp_path / "m"), input_spec=[d2s.static.InputSpec([None], "float32")])
    layer = d2s.jit.load(str(tmp_path / "m"))
    error = found(lambda: layer(t(-1.0, 9.0)))
    assert error.message.startswith("sqrt() gives 1 nan among 2 elements\n  x: f32[2] from -1.0 to 9.0, mean 4.0")
    with d2s.debug.nan_check():
        y = layer(t(0.0, 9.0)).sum()
    error = found(y.backward)
    assert "divide() gives 1 inf among 2 elements" in error.message
