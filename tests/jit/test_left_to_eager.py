"""Calls whose gradients eager code adds in an order that the graph has not: eager code makes them, once that is known."""

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import GradientError
from d2s.jit.staying import staying
from d2s.jit.taped import GraphNode

COUNT = d2s.to_tensor(6)


def squares(x, n):
    """Each of a list's items is read twice, of which the graph cannot know that no other trip reads it."""
    kept, h = [], x
    for _ in range(n):
        h = d2s.tanh(h) * x
        kept.append(h)
    total = x * 0.0
    for item in kept:
        total = total + item * item
    return total


def given(seed=0):
    return d2s.to_tensor(np.random.default_rng(seed).standard_normal(5).astype("float32"), stop_gradient=False)


def trained(function, x, n=COUNT):
    """The node of a call's result, the result, and the gradient of its sum."""
    result = function(x, n)
    result.sum().backward()
    return result.node, result.numpy().tobytes(), x.grad.numpy().tobytes()


def test_from_the_second_call_on_with_the_same_bits():
    static = d2s.to_static(squares)
    nodes = []
    for seed in range(6):
        node, *found = trained(static, given(seed))
        assert found == list(trained(squares, given(seed))[1:])
        nodes.append(type(node))
    assert nodes[0] is GraphNode and GraphNode not in nodes[1:]


def test_calls_without_gradients_stay_in_the_graph():
    static, x = d2s.to_static(squares), given()
    with d2s.no_grad():
        for _ in range(3):
            static(x, COUNT)
    for _ in range(4):
        trained(static, x)
        x.clear_grad()
    (quick,) = static.quick
    with d2s.no_grad():
        assert quick(x, COUNT).numpy().tobytes() == squares(x, COUNT).numpy().tobytes()
    assert len(static.variants) == 1


def test_other_inputs_that_want_gradients_are_another_way():
    def weighed(x, y, n):
        return squares(x, n) + y

    static, plain = d2s.to_static(weighed), d2s.to_tensor([1.0] * 5)
    for _ in range(3):
        static(given(), plain, COUNT).sum().backward()
    y = d2s.to_tensor([1.0] * 5, stop_gradient=False)
    x = given().detach()
    result = static(x, y, COUNT)
    assert type(result.node) is GraphNode
    result.sum().backward()
    assert y.grad.tolist() == [1.0] * 5


def test_what_compares_the_two_compares_the_two():
    static = d2s.to_static(squares)
    for _ in range(2):
        trained(static, given())
    assert d2s.jit.verify(static, given(), COUNT)
    with staying():
        assert type(static(given(), COUNT).node) is GraphNode
    assert type(static(given(), COUNT).node) is not GraphNode


def test_steps_of_pythons_are_taken_once(capsys):
    def told(x, n):
        print("called")
        return squares(x, n)

    static = d2s.to_static(told)
    for _ in range(4):
        trained(static, given())
    assert capsys.readouterr().out == "called\n" * 4


def test_what_changes_its_inputs_is_eager_codes_at_once():
    """A sweep would run such a call again, on what it has changed by then."""
    found = []
    for wrap in (lambda net: net, d2s.to_static):
        d2s.seed(0)
        norm, nodes = nn.BatchNorm1D(5), list[type]()
        net = wrap(lambda x, norm=norm: squares(norm(x), COUNT))
        for _ in range(4):
            x = d2s.to_tensor(np.random.default_rng(0).standard_normal((4, 5)).astype("float32"), stop_gradient=False)
            result = net(x)
            result.sum().backward()
            nodes.append(type(result.node))
            found.append([t.numpy().tobytes() for t in (result, x.grad, norm.weight.grad, norm._mean)])
    assert found[:4] == found[4:] and GraphNode not in nodes


def test_what_changes_its_inputs_otherwise_stays_in_the_graph():
    norm = nn.BatchNorm1D(5)
    static = d2s.to_static(lambda x: d2s.tanh(norm(x)) * 2.0)
    for _ in range(4):
        result = static(d2s.ones([4, 5]))
        assert type(result.node) is GraphNode
        result.sum().backward()


def test_what_is_loaded_has_no_eager_code(tmp_path):
    class Net(nn.Layer):
        def forward(self, x):
            return squares(x, (x.sum() * 0.0).astype("int64") + 4)

    net = Net()
    d2s.jit.save(net, str(tmp_path / "net"), input_spec=[d2s.static.InputSpec([5], "float32")])
    loaded = d2s.jit.load(str(tmp_path / "net"))
    for seed in range(3):
        x, y = given(seed), given(seed)
        loaded(x).sum().backward()
        net(y).sum().backward()
        assert x.grad.numpy().tobytes() == y.grad.numpy().tobytes()


class Normed(nn.Layer):
    """Moves statistics on in each trip, and on some paths only; gives two results."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(5, 5), nn.BatchNorm1D(5), nn.Linear(5, 1)

    def forward(self, x, n):
        for _ in range(n):
            x = d2s.tanh(self.norm(self.first(x)))
            if x.sum() > 0.5:
                x = self.norm(x) * 0.5
        return self.last(x), x


def penalized(x, y, z):
    (slope,) = d2s.grad(y.sum(), [x], create_graph=True)
    ((slope.square().sum(axis=1).sqrt() - 1.0) ** 2).mean().backward()


SWEEPS = {
    "of one result": lambda x, y, z: z.sum().backward(),
    "one after the other": lambda x, y, z: (y.sum().backward(retain_graph=True), z.sum().backward()),
    "with a hook": lambda x, y, z: (z.register_hook(lambda g: g * 2.0), (y.sum() * z.sum()).backward()),
    "towards some": lambda x, y, z: setattr(x, "grad", d2s.grad(y.sum(), [x])[0]),
    "of a gradient": penalized,
}


@pytest.mark.parametrize("executor", ["numba", "python"])
@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
@pytest.mark.filterwarnings("ignore:.* runs compiled")
def test_a_call_is_run_again_though_statistics_have_moved_on(sweep, executor):
    """What is run again leaves out what only moves them."""
    found = []
    for wrap in (lambda net: net, d2s.to_static):
        d2s.seed(0)
        net = Normed()
        f = wrap(lambda x, n, net=net: net(x, n))
        for k in range(3):
            x = d2s.to_tensor(np.random.default_rng(k).standard_normal((4, 5)).astype("float32"), stop_gradient=False)
            with d2s.config(EXECUTOR=executor):
                sweep(x, *f(x, d2s.to_tensor(k + 1)))
            held = [x.grad, *(p.grad for p in net.parameters()), *net.buffers()]
            found.append([None if t is None else t.numpy().tobytes() for t in held])
    assert found[:3] == found[3:]


def test_what_a_gradient_needs_of_moved_numbers_is_refused():
    def f(x):
        y = x * buffer
        buffer.add_(x.detach())
        return y, x * 2.0

    for way in (f, d2s.to_static(f)):
        buffer, x = d2s.ones([5]), given()
        y, z = way(x)
        z.register_hook(lambda g: g * 2.0)
        with pytest.raises(GradientError, match="changed in place"):
            (y + z).sum().backward()


W = d2s.to_tensor([2.0, 3.0], stop_gradient=False)


def a_leaf_gets_other_values(x):
    W.set_value(W * 0.5)
    return (x * W).sum()


def a_result_gets_other_values(x):
    y = x * 2.0
    y.set_value(y * y)
    return (y * y).sum()


def one_that_is_returned(x):
    y = x * x
    y.set_value(x * 3.0)
    return y.reshape([2])


def under_no_grad(x):
    y = x * x
    with d2s.no_grad():
        y.add_(1.0)
        y.multiply_(d2s.to_tensor(2.0))
    y.add_(x)
    return (y * y).sum()


def on_a_path(x):
    y = x * x
    if x.sum() > 0:
        y.set_value(x * 3.0)
    return (y * y).sum()


def in_trips(x):
    y, i = x * x, 0
    while i < x.sum():
        y.set_value(y * 3.0)
        i += 1
    return (y * y).sum()


def learned(function, values):
    """What a call gives and the gradients of it."""
    W.set_value([2.0, 3.0])
    W.grad = None
    x = d2s.to_tensor(values, stop_gradient=False)
    result = function(x)
    result.sum().backward()
    return result.tolist(), W.tolist(), [None if t.grad is None else t.grad.tolist() for t in (x, W)]


RENEWED = [a_leaf_gets_other_values, a_result_gets_other_values, one_that_is_returned, under_no_grad, on_a_path, in_trips]


@pytest.mark.parametrize("function", RENEWED)
def test_other_values_without_history_leave_a_tensor_where_it_was_on_the_tape(function):
    static = d2s.to_static(function)
    for values in [[1.0, 2.0], [-1.0, -2.0]] * 3:
        assert learned(static, values) == learned(function, values)


def test_steps_taken_by_hand_stay_in_the_graph():
    def step(x):
        loss = (x * W).sum()
        with d2s.no_grad():
            W.subtract_(x * 0.5)
        return loss

    static = d2s.to_static(step)
    for _ in range(4):
        assert isinstance(static(d2s.to_tensor([1.0, 2.0])).node, GraphNode)
