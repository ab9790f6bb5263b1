"""`verify` compares all that a call gives, changes and prints, names the first op that differs, and changes nothing itself."""

import inspect
import random
import time
import types

import numpy as np
import pytest

import d2s
from d2s import passes
from d2s.autodiff import chained, orders
from d2s.errors import MismatchError
from d2s.ir.program import Node, Program
from d2s.jit import variant
from d2s.jit.taped import Sweep
from d2s.jit.verify import verify
from d2s.ops.dispatch import handlers
from d2s.passes import drop_identities


def t(*values, grad=False):
    return d2s.to_tensor(np.array(values, "float32"), stop_gradient=not grad)


class Box:
    n = 0


def acting(box, log, buffer):
    def f(x, held):
        box.n += 1
        log.append(x.sum() * 1.0)
        held.append(x * 2.0)
        buffer.add_(x)
        x.scale_(3.0)
        print("seen", x)
        return d2s.rand([2]) + random.random()

    return f


def test_all_of_it_is_compared_and_put_back():
    box, log, buffer, x, held = Box(), [], t(0.0, 0.0), t(1.0, 2.0), [1]
    d2s.seed(3)
    before = d2s.get_rng_state(), random.getstate()
    report = d2s.jit.verify(acting(box, log, buffer), x, held)
    assert report.outputs == 1
    assert (box.n, log, buffer.tolist(), x.tolist(), held) == (0, [], [0.0, 0.0], [1.0, 2.0], [1])
    assert (d2s.get_rng_state(), random.getstate()) == before


def test_whole_steps_are_compared_and_put_back():
    layer = d2s.nn.Linear(2, 1)
    rate = d2s.optimizer.lr.StepDecay(0.1, 1)
    adam = d2s.optimizer.Adam(rate, parameters=layer.parameters())

    def step(x):
        loss = (layer(x) ** 2).sum()
        loss.backward()
        adam.step()
        rate.step()
        return loss

    step(t(1.0, 2.0).reshape([1, 2]))

    def kept():
        tensors = [*layer.state_dict().values(), *(v for v in adam.state_dict().values() if isinstance(v, d2s.Tensor))]
        return [v.tolist() for v in tensors], rate.last_epoch, layer.weight.grad.tolist()

    before = kept()
    d2s.jit.verify(step, t(0.5, -1.0).reshape([1, 2]))
    assert kept() == before


def test_what_both_raise_is_equal():
    def f(x):
        if x.sum() > 0:
            raise ValueError("too much")
        return x

    assert d2s.jit.verify(f, t(1.0)).outputs == 0


CHANGES = {
    "tensor": lambda box, log, buffer: buffer.add_(1.0),
    "Box.n": lambda box, log, buffer: setattr(box, "n", 7),
    "a list": lambda box, log, buffer: log.append(t(5.0)),
    "random numbers": lambda box, log, buffer: d2s.rand([1]),
    "Python's random": lambda box, log, buffer: random.random(),
    "printed": lambda box, log, buffer: print("more"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_difference_of_what_is_left_is_seen(what, monkeypatch):
    given = Box(), [], t(0.0, 0.0)
    static, call = d2s.to_static(acting(*given)), variant.Variant.__call__
    d2s.jit.verify(static, t(1.0, 2.0), [])

    def otherwise(self, *args):
        found = call(self, *args)
        CHANGES[what](*given)
        return found

    monkeypatch.setattr(variant.Variant, "__call__", otherwise)
    with pytest.raises(MismatchError, match=what):
        d2s.jit.verify(static, t(1.0, 2.0), [])


def test_the_first_op_that_differs_is_named(monkeypatch):
    """Eager code that computes otherwise than the graph: the op, the line and both values are told."""

    def f(x):
        y = x * 2.0
        y = d2s.expm1(y)  # here
        return y + 1.0

    run = type(handlers.base).run

    def otherwise(self, op, inputs, attrs):
        found = run(self, op, inputs, attrs)
        return d2s.Tensor(found.array + 0.5) if op.name == "expm1" else found

    monkeypatch.setattr(type(handlers.base), "run", otherwise)
    with pytest.raises(MismatchError) as error:
        d2s.jit.verify(d2s.to_static(f), t(*range(7)))
    lines, first = inspect.getsourcelines(f)
    line = first + next(n for n, text in enumerate(lines) if "# here" in text)
    assert f"first in expm1 at {__file__}:{line}: array([5.0000000e-01" in str(error.value)


def loops(say):
    def f(x, n):
        i = 0
        print(say())
        while i < n:
            x, i = d2s.tanh(x * 0.7), i + 1
        return x

    return f


@pytest.mark.parametrize(
    ("again", "said"), [(True, "eager code itself gives something else each time"), (False, "the graph itself gives the same")]
)
def test_no_op_is_named_where_only_the_printed_text_differs(again, said, monkeypatch):
    """Though trips of a loop and of its gradient look alike."""
    f = d2s.to_static(loops(time.perf_counter_ns if again else int))
    if not again:
        call = variant.Variant.__call__
        monkeypatch.setattr(variant.Variant, "__call__", lambda self, *args: print("more") or call(self, *args))
    with pytest.raises(MismatchError, match=f"printed text of 'f' is .*; {said}"):
        d2s.jit.verify(f, t(1.0, grad=True), d2s.to_tensor(3))


@pytest.mark.parametrize("where", ["verify", "CHECK=2"])
def test_the_first_node_that_is_compiled_wrong_is_named(where, monkeypatch):
    """A pass that changes a number stands for any part of the compiler that is wrong."""

    def apply(program):
        wrong = [
            Node(n.op, n.inputs, n.outputs, n.attrs | {"value": 1.25} if n.attrs.get("value") == 1.5 else n.attrs, n.where)
            for n in program.nodes
        ]
        return Program(program.name, program.inputs, tuple(wrong), program.outputs)

    def f(x):
        y = x * 2.0 if x.sum() > 0 else x
        return d2s.exp(y * 1.5)

    line = f.__code__.co_firstlineno + 2
    monkeypatch.setattr(passes, "LOWERING", (types.SimpleNamespace(__name__="wrong", apply=apply), *passes.LOWERING))
    static = d2s.to_static(f)
    said = rf"first in .*test_verify.py:{line}: .*1\.5.* node by node, .*1\.25.* compiled"
    with pytest.raises(MismatchError, match=said), d2s.config(CHECK=2 if where == "CHECK=2" else 0):
        (static if where == "CHECK=2" else lambda x: d2s.jit.verify(static, x))(t(1.0, 2.0))


def test_what_is_compiled_wrong_of_a_function_that_acts_is_not_put_down_to_eager_code(monkeypatch):
    """What Python did is replayed; the draw's own sums are no sums of the function's."""

    def f(x):
        print("once")
        return (x * 2.0).sum() + d2s.rand([])

    monkeypatch.setitem(drop_identities._RULES, "multiply", lambda node, inputs, numbers, made: inputs[0])
    with pytest.raises(MismatchError, match=rf"first in multiply at \S*test_verify.py:{f.__code__.co_firstlineno + 2}: "):
        d2s.jit.verify(f, t(1.0, 2.0))


def test_what_moves_statistics_on_and_is_opened_is_compared():
    """Its sweep runs the call again, when they are no longer what they were."""
    norm = d2s.nn.BatchNorm1D(2)

    def f(x, n):
        h, kept = norm(x), []
        for _ in range(n):
            h = d2s.tanh(h) * x
            kept.append(h)
        return sum(item * item for item in kept)

    x = d2s.to_tensor(np.arange(6, dtype="float32").reshape(3, 2), stop_gradient=False)
    assert d2s.jit.verify(f, x, d2s.to_tensor(6)).gradients == 3


def test_where_only_the_graph_raises_that_is_told():
    def f(x, n):
        number, i = int(n), 0
        while i < 70:
            number, i = number * 3, i + 1
        return x, number

    with pytest.raises(MismatchError, match=r"(?s)output 0 of 'f' is .* eagerly and \('PythonIntOverflow'"):
        d2s.jit.verify(f, t(1.0), d2s.to_tensor(1))


def test_an_index_that_a_run_finds_is_refused_in_eager_codes_words():
    def f(x, n):
        total, i = x.sum(), 0
        while i < n:
            total, i = total * x[i], i + 1
        return total

    assert d2s.jit.verify(f, t(1.0, 2.0), d2s.to_tensor(5)).outputs == 0


SCALES = d2s.to_tensor([2.0, 3.0], stop_gradient=False)


def with_a_gradient_inside(x):
    loss = (x * SCALES * SCALES).sum()
    (g,) = d2s.grad(loss, SCALES, create_graph=True)
    return loss + (g * g).sum()


def with_one_that_frees(x):
    loss = (x * SCALES).sum()
    loss.backward()
    return loss


def test_gradients_behind_those_that_the_function_takes_itself():
    x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
    assert str(verify(with_a_gradient_inside, x)) == "equal: 1 output, 2 gradients"
    assert verify(with_one_that_frees, x).gradients == 2


def penalized(x, w, n):
    h = x
    for _ in range(n):
        h = d2s.tanh(h @ w + x)
    (g,) = d2s.grad((h * h).sum(), [x], create_graph=True)
    (g * g).sum().backward()
    return h


def test_ops_of_different_trips_are_not_compared(monkeypatch):
    monkeypatch.setattr(chained, "chained", lambda loop: {})  # contributions to states in another order than eagerly
    monkeypatch.setattr(orders, "another", lambda *_: None)
    random = np.random.default_rng(1)
    x, w = (t(*random.standard_normal(shape), grad=True) for shape in ((3, 2), (2, 2)))
    with pytest.raises(MismatchError) as found:
        verify(penalized, x, w, d2s.to_tensor(3))
    what, first = found.value.message.split("; first in add at ")
    for run in ("eagerly", "static"):
        assert what.split(" is ")[1].split(f" {run}")[0].split("and ")[-1] in first


def test_a_wrong_gradient_behind_one_that_the_function_takes_itself(monkeypatch):
    swept = Sweep.__call__
    monkeypatch.setattr(Sweep, "__call__", lambda self, inputs: [t * 2.0 for t in swept(self, inputs)])
    with pytest.raises(MismatchError, match=r"gradient 0 of 'with_a_gradient_inside' is .* eagerly and .* static"):
        verify(with_a_gradient_inside, d2s.to_tensor([1.0, 2.0], stop_gradient=False))
