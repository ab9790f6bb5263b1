"""`to_static` in its forms, what goes in and out, gradients around it, threads, knobs, and `verify`."""

import contextlib
import functools
import inspect
import os
import threading
import traceback

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, CaptureError, D2SError, GradientError, MismatchError
from d2s.static import InputSpec


def x1(*, grad=False):
    return d2s.to_tensor([1.0, 2.0], stop_gradient=not grad)


def equal(a, b):
    assert a.dtype is b.dtype and a.shape == b.shape
    np.testing.assert_array_equal(a.numpy(), b.numpy())


@d2s.to_static
def bare(x):
    return x * 2 if x.sum() > 0 else x - 1


@d2s.jit.to_static()
def with_parentheses(x):
    """The docstring."""
    return x * 2 if x.sum() > 0 else x - 1


@d2s.to_static(input_spec=[InputSpec([None, 2])])
def with_spec(x):
    return x * 2 if x.sum() > 0 else x - 1


class Methods:
    def __init__(self, scale=3.0):
        self.scale = scale

    @d2s.to_static
    def decorated(self, x):
        return x * self.scale if x.sum() > 0 else x

    @d2s.to_static()
    def called(self, x):
        return self.decorated(x) + 1

    def plain(this, x):
        return x * this.scale if x.sum() > 0 else x

    @staticmethod
    @d2s.to_static
    def static(x):
        return x * 2 if x.sum() > 0 else x

    @classmethod
    def of_class(cls, x):
        return x * 4 if x.sum() > 0 else x


class Net(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = d2s.nn.Linear(2, 2)

    def forward(self, x, scale=1.0):
        y = self.inner(x)
        return y * scale if y.sum() > 0 else -y


class Decorated(Net):
    @d2s.to_static
    def forward(self, x, scale=1.0):
        y = super().forward(x, scale)
        return y + 1 if y.sum() > 0 else y - 1


def test_one_object():
    assert d2s.jit.to_static is d2s.to_static


@pytest.mark.parametrize("function", [bare, with_parentheses])
def test_decorated_functions(function):
    equal(function(x1()), x1() * 2)
    equal(function(x1() * -1), x1() * -1 - 1)
    assert function.__name__ in ("bare", "with_parentheses") and function.__module__ == __name__


def test_keeps_name_and_docstring():
    assert with_parentheses.__doc__ == "The docstring." and with_parentheses.__name__ == "with_parentheses"


def test_methods():
    m = Methods()
    equal(m.decorated(x1()), x1() * 3)
    equal(m.called(x1()), x1() * 3 + 1)
    equal(Methods.decorated(m, x1()), x1() * 3)
    equal(m.static(x1()), x1() * 2)
    equal(Methods.static(x1()), x1() * 2)
    equal(d2s.to_static(m.plain)(x1()), x1() * 3)
    equal(d2s.to_static(m.of_class)(x1()), x1() * 4)
    equal(d2s.to_static(Methods.of_class)(x1()), x1() * 4)
    equal(d2s.to_static(Methods.plain)(m, x1()), x1() * 3)


def test_subclass_method_and_super():
    class Child(Methods):
        @d2s.to_static
        def plain(self, x):
            return super().plain(x) - 1

    equal(Child().plain(x1()), x1() * 3 - 1)


def test_layers():
    net, x = Net(), d2s.to_tensor([[1.0, 2.0]])
    expected = net(x)
    assert d2s.to_static(net) is net
    equal(net(x), expected)
    equal(net(x, scale=2.0), net.forward(x, 2.0))
    again = Decorated()
    equal(again(x), Decorated.forward.function(again, x))


def test_to_static_of_a_bound_forward():
    net, x = Net(), d2s.to_tensor([[1.0, 2.0]])
    static = d2s.to_static(net.forward)
    equal(static(x), net(x))
    net.forward = static
    equal(net(x), Net.forward(net, x))


def test_layer_made_static_inside_another():
    class Outer(d2s.nn.Layer):
        def __init__(self):
            super().__init__()
            self.net = d2s.to_static(Net())

        def forward(self, x):
            return self.net(x) + 1

    outer, x = Outer(), d2s.to_tensor([[1.0, 2.0]])
    expected = outer(x)
    equal(d2s.to_static(outer)(x), expected)


def test_lambdas():
    f, g = d2s.to_static(lambda x: x * 2), d2s.to_static(lambda x: x * 3 if x.sum() > 0 else x)
    equal(f(x1()), x1() * 2)
    equal(g(x1()), x1() * 3)


def test_partial_and_wrapped():
    def f(x, scale, shift=0.0):
        return x * scale + shift if x.sum() > 0 else x

    equal(d2s.to_static(functools.partial(f, scale=3.0))(x1()), x1() * 3.0 + 0.0)

    def wrap(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) + 1

        return wrapper

    equal(d2s.to_static(wrap(f))(x1(), 2.0), x1() * 2.0 + 0.0 + 1)
    equal(d2s.to_static(wrap(f))(x1(), scale=2.0, shift=1.0), x1() * 2.0 + 1.0 + 1)
    equal(wrap(d2s.to_static(f))(x1(), 2.0), x1() * 2.0 + 0.0 + 1)


def test_callable_object():
    class Scale:
        scale = 2.0

        def __call__(self, x):
            return x * self.scale if x.sum() > 0 else x

    made = Scale()
    static = d2s.to_static(made)
    try:
        equal(static(x1()), x1() * 2)
        made.scale = 3.0
        equal(static(x1()), x1() * 3)
    except D2SError as error:
        assert error.code.startswith("D2S")


def test_whether_something_can_be_called():
    class Called:
        def __call__(self, x):
            return x

    def f(x, *what):
        return [x + 1 if callable(one) else x - 1 for one in what]

    for what in (d2s.nn.functional.relu, Called(), Called, len, 3, "relu", None, x1()):
        equal(d2s.to_static(f)(x1(), what)[0], f(x1(), what)[0])

    def either(x):
        found = len if x.sum() > 0 else None
        return x + 1 if callable(found) else x - 1

    equal(d2s.to_static(either)(x1()), either(x1()))
    equal(d2s.to_static(either)(-x1()), either(-x1()))


@pytest.mark.parametrize("what", [3, "f", None.__class__, [1]])
def test_not_a_function(what):
    try:
        d2s.to_static(what)(x1())
    except (D2SError, TypeError):
        return
    pytest.fail("something that is no function was made static")


def test_builtin_function(capsys):
    static = d2s.to_static(print)
    assert [static(x1()) for _ in range(2)] == [None, None]
    print(x1())
    found = capsys.readouterr().out
    assert found == found[: len(found) // 3] * 3


def test_op_itself():
    equal(d2s.to_static(d2s.tanh)(x1()), d2s.tanh(x1()))


def test_nested_to_static():
    again = d2s.to_static(d2s.to_static(bare))
    equal(again(x1()), x1() * 2)
    equal(d2s.to_static(lambda x: bare(x) + with_parentheses(x))(x1()), x1() * 4)


def test_text():
    assert "_d2s" in bare.text and bare.text.lstrip().startswith("def bare(x)")
    compile(bare.text, "<text>", "exec")


SEVEN = d2s.to_tensor([[1.0] * 7] * 7)


def user_error(x):
    y = x * 2
    return y @ SEVEN  # the user's line


def test_exception_shows_the_users_line():
    with pytest.raises(ValueError, match="D2S0002") as caught:
        d2s.to_static(user_error)(x1())
    text = "".join(traceback.format_exception(caught.value))
    assert "return y @ SEVEN  # the user's line" in text and __file__ in text
    assert f"{__file__}:{user_error.__code__.co_firstlineno + 2}" in str(caught.value)


def test_python_exception_shows_the_users_line():
    def f(x):
        return x * {}["missing"]

    with pytest.raises(KeyError) as caught:
        d2s.to_static(f)(x1())
    frames = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__]
    assert frames[-1].line == 'return x * {}["missing"]'


def test_error_of_a_run_shows_the_users_line():
    def f(x, y):
        return x + y  # here

    static = d2s.to_static(f)
    for n in (2, 3):
        static(*(d2s.to_tensor(np.ones(n, "float32")) for _ in range(2)))
    with pytest.raises(ValueError, match="D2S0002") as caught:
        static(d2s.to_tensor(np.ones(2, "float32")), d2s.to_tensor(np.ones(3, "float32")))
    assert "return x + y  # here" in str(caught.value)


def test_failed_capture_leaves_nothing_behind():
    def f(x):
        return (x,) * int(x.sum())

    for _ in range(2):
        with pytest.raises(CaptureError):
            d2s.to_static(f)(x1())
        equal(bare(x1()), x1() * 2)
        assert isinstance(x1() + 1, d2s.Tensor)


def test_arguments():
    def f(a, /, b, c=2.0, *rest, d, e=0.5, **more):
        total = a * b + c * d - e
        for part in rest:
            total = total + part
        for name in sorted(more):
            total = total * more[name]
        return total

    static = d2s.to_static(f)
    x = x1()
    for args, kwargs in [
        ((x, x), {"d": x}),
        ((x, 2.0), {"d": 1.0}),
        ((x, x, 3.0, x, 5), {"d": x, "e": 1.0}),
        ((x,), {"b": x, "d": x, "k": 2.0, "m": x}),
        ((x,), {"d": x, "b": x, "m": x, "k": 2.0}),
        ((x, 1, x, x, x), {"d": x}),
    ]:
        equal(static(*args, **kwargs), f(*args, **kwargs))
    with pytest.raises(TypeError):
        static(x)
    with pytest.raises(TypeError):
        static(x, x)


def test_names_given_by_the_caller_that_clash():
    def f(self, function, leaves=1.0, names=2.0):
        return self * function + leaves * names

    equal(d2s.to_static(f)(self=x1(), function=x1(), names=3.0), x1() * x1() + 3.0)


def test_structures():
    def f(parts):
        return {"a": [parts[0], parts[1]["k"] * 2], "b": (parts[0] + 1, None, "s", 2)}

    static = d2s.to_static(f)
    x, y = x1(), x1()
    for _ in range(2):
        found = static([x, {"k": y}])
        assert list(found) == ["a", "b"] and type(found["a"]) is list and type(found["b"]) is tuple
        assert found["a"][0] is x and found["b"][1:] == (None, "s", 2)
        equal(found["a"][1], y * 2)


def test_results_are_fresh():
    f = d2s.to_static(lambda x: (x * 2, []))
    a, b = f(x1()), f(x1())
    assert a[0] is not b[0] and not np.shares_memory(a[0].array, b[0].array)
    a[1].append(1)
    assert f(x1())[1] == []


def test_result_does_not_share_memory_with_the_argument():
    x = x1()
    f = d2s.to_static(lambda x: x * 1 if x.sum() < 0 else x + 0)
    y = f(x)
    y.array[:] = 9.0
    assert x.numpy().tolist() == [1.0, 2.0]


def test_result_survives_later_calls():
    f = d2s.to_static(lambda x: (x * 2).sum() * x)
    first = f(x1())
    kept = first.numpy()
    for k in range(20):
        f(x1() * k)
    np.testing.assert_array_equal(first.numpy(), kept)


def test_many_threads():
    def f(x, n):
        i = 0
        while i < n:
            x = x * 1.01 if x.sum() < 50 else x - 1
            i += 1
        return x

    static, failures = d2s.to_static(f), []
    starts = [d2s.to_tensor(np.arange(1.0, 3 + k % 4), "float32") for k in range(8)]
    expected = [f(x, d2s.to_tensor(30)).numpy() for x in starts]

    def work(k):
        try:
            for _ in range(20):
                x = d2s.Tensor(starts[k].numpy(), stop_gradient=False)
                y = static(x, d2s.to_tensor(30))
                np.testing.assert_array_equal(y.numpy(), expected[k])
                y.sum().backward()
                assert x.grad is not None
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures, failures[0]


def test_no_grad():
    x = x1(grad=True)
    with d2s.no_grad():
        y = bare(x)
    assert y.stop_gradient and not bare(x).stop_gradient


def test_backward_twice():
    x = x1(grad=True)
    y = bare(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.numpy().tolist() == [4.0, 4.0]
    with pytest.raises(RuntimeError, match="D2S0006"):
        y.backward()


def test_backward_of_a_loop_twice():
    def f(x, n):
        i = 0
        while i < n:
            x = x * x
            i += 1
        return x

    grads = []
    for function in (f, d2s.to_static(f)):
        x = x1(grad=True)
        y = function(x, d2s.to_tensor(3)).sum()
        y.backward(retain_graph=True)
        y.backward()
        grads.append(x.grad.numpy())
    np.testing.assert_array_equal(*grads)


def test_two_forwards_before_one_backward():
    grads = []
    for function in (bare.function, bare):
        a, b = x1(grad=True), d2s.to_tensor([-3.0, 1.0], stop_gradient=False)
        (function(a) * function(b) + function(a * b)).sum().backward()
        grads.append((a.grad.numpy(), b.grad.numpy()))
    np.testing.assert_array_equal(grads[0], grads[1])


def test_parameter_changed_between_forward_and_backward():
    for make in (lambda f: f, d2s.to_static):
        w, x = d2s.to_tensor([2.0, 3.0], stop_gradient=False), x1(grad=True)
        y = make(lambda x, w=w: x * w * w)(x)
        w.set_value([100.0, 100.0])
        with pytest.raises(GradientError, match="changed in place"):
            y.sum().backward()


def test_between_eager_code():
    grads = []
    for function in (bare.function, bare):
        x = x1(grad=True)
        h = d2s.tanh(x * 0.5)
        y = function(h) * h
        function(y).sum().backward()
        grads.append(x.grad.numpy())
    np.testing.assert_array_equal(*grads)


def test_one_of_several_outputs():
    def f(x, y):
        return x * y, x + 1, y * 2

    for which in range(3):
        grads = []
        for function in (f, d2s.to_static(f)):
            x, y = x1(grad=True), x1(grad=True)
            function(x, y)[which].sum().backward()
            grads.append([None if v.grad is None else v.grad.numpy().tolist() for v in (x, y)])
        assert grads[0] == grads[1]


def test_stop_gradient_of_results():
    def f(x, y):
        return x * 2, y * 2, x > y, x.sum() > 0

    x, y = x1(grad=True), x1()
    expected, found = f(x, y), d2s.to_static(f)(x, y)
    assert [v.stop_gradient for v in expected] == [v.stop_gradient for v in found]


def test_stop_gradient_of_a_result_says_whether_the_path_taken_depends():
    def f(x, w):
        y = w * 1
        if x.sum() > 0:
            y = x * 2
        return y

    static = d2s.to_static(f)
    for sign in (1.0, -1.0) * 3:  # the later calls are native
        x, w = d2s.Tensor((x1() * sign).numpy(), False), x1()
        y = static(x, w)
        assert y.stop_gradient == f(x, w).stop_gradient == (sign < 0)
        with pytest.raises(GradientError, match="D2S0006") if sign < 0 else contextlib.nullcontext():
            y.sum().backward()
        assert (x.grad is None) == (sign < 0)


def test_grad_of_a_leaf_returned():
    x = x1(grad=True)
    same, doubled = d2s.to_static(lambda x: (x, x * 2))(x)
    assert same is x
    (same * doubled).sum().backward()
    assert x.grad.numpy().tolist() == [4.0, 8.0]


def test_input_spec():
    for n in (1, 2, 3, 1, 7):
        x = d2s.to_tensor(np.ones((n, 2)), "float32")
        equal(with_spec(x), x * 2)
    assert len(with_spec.variants) <= 2


@pytest.mark.parametrize("bad", [np.ones((2, 3), "float32"), np.ones(2, "float32"), np.ones((2, 2), "float64")])
def test_input_spec_that_does_not_fit(bad):
    with pytest.raises(ArgumentError, match="'x' expects float32 of shape"):
        with_spec(d2s.to_tensor(bad))


def test_input_spec_of_a_method_and_a_layer():
    class Spec:
        @d2s.to_static(input_spec=[InputSpec([None, 2])])
        def run(self, x):
            return x * 2

    net = d2s.to_static(Net(), input_spec=[InputSpec([None, 2])])
    for n in (1, 3):
        x = d2s.to_tensor(np.ones((n, 2)), "float32")
        equal(Spec().run(x), x * 2)
        equal(net(x), Net.forward(net, x))
    with pytest.raises(ArgumentError, match="'x' expects"):
        Spec().run(x1())
    with pytest.raises(ArgumentError, match="'x' expects"):
        net(x1())


def test_input_spec_for_the_second_of_two():
    f = d2s.to_static(lambda a, b: a * b, input_spec=[None, InputSpec([None])])
    equal(f(2.0, x1()), x1() * 2.0)
    with pytest.raises(ArgumentError, match="'b' expects"):
        f(2.0, d2s.to_tensor([[1.0]]))


def test_arrays_of_numpy_are_refused_as_arguments():
    for given in (np.ones(2, "float32"), np.array(2.0)):
        with pytest.raises(D2SError, match="NumPy"):
            d2s.to_static(lambda a, b: a * b)(x1(), given)
        with pytest.raises(D2SError, match="NumPy"):
            d2s.to_static(lambda a, b: a * b[0])(x1(), [given])


def test_eager_knob():
    seen = []

    def f(x):
        seen.append(1)
        return x * 2

    static = d2s.to_static(f)
    with d2s.config(EAGER=1):
        equal(static(x1()), x1() * 2)
        static(x1())
    assert seen == [1, 1] and not static.variants
    with d2s.config(EAGER=1):
        equal(Methods().decorated(x1()), x1() * 3)


def test_dump(tmp_path):
    def dumped(x):
        if x.sum() > 0:
            x = x * 2
        return x

    with d2s.config(DUMP=tmp_path):
        x = x1(grad=True)
        d2s.to_static(dumped)(x).sum().backward()
    names = " ".join(sorted(os.listdir(tmp_path)))
    for stage in ("source_dumped", "if_else_dumped", "program_dumped", "plan_dumped", "forward_dumped", "backward_dumped"):
        assert stage in names, f"{stage} is not among {names}"
    assert all((tmp_path / name).read_text().strip() for name in os.listdir(tmp_path))


def test_print_recompiles(capsys):
    with d2s.config(PRINT="recompiles"):
        f = d2s.to_static(lambda x, k: x * k)
        f(x1(), 1)
        f(x1(), 1)
        f(x1(), 2)
    printed = capsys.readouterr().out
    assert printed.count("--- recompiles") == 2 and "first call" in printed


def test_check_knob():
    with d2s.config(CHECK=2):
        x = x1(grad=True)
        d2s.to_static(lambda x: x * 2 if x.sum() > 0 else x)(x).sum().backward()


def test_verify():
    report = d2s.jit.verify(bare, x1(grad=True))
    assert (report.outputs, report.gradients) == (1, 1) and str(report) == "equal: 1 output, 1 gradient"
    net = Net()
    assert d2s.jit.verify(net, d2s.to_tensor([[1.0, 2.0]])).outputs == 1
    assert all(p.grad is None for p in net.parameters())


def test_verify_sees_a_difference(monkeypatch):
    static = d2s.to_static(lambda x: x * 2 + 1)
    d2s.jit.verify(static, x1())
    variant = static.variants[0][1]
    monkeypatch.setattr(type(variant), "__call__", lambda self, leaves, *more: leaves[0] * 2 + 1.5)
    with pytest.raises(MismatchError, match="D2S2001"):
        d2s.jit.verify(static, x1())


def test_verify_sees_a_difference_of_gradients(monkeypatch):
    static = d2s.to_static(lambda x: x * x)
    d2s.jit.verify(static, x1(grad=True))
    variant = static.variants[0][1]
    monkeypatch.setattr(type(variant), "__call__", lambda self, leaves, *more: leaves[0] * leaves[0].detach())
    with pytest.raises(MismatchError, match="gradient 0"):
        d2s.jit.verify(static, x1(grad=True))


def test_verify_names_the_line(monkeypatch):
    def f(x):
        y = x * 2
        return d2s.tanh(y)  # compiled otherwise

    static = d2s.to_static(f)
    d2s.jit.verify(static, x1())
    from d2s.runtime import interpreter

    run = interpreter.launch.run
    graph = static.variants[0][1].graph
    plain = type(graph._plain).__call__

    def wrong(self, arrays):
        return [np.nextafter(a, np.float32(9), dtype=a.dtype) for a in plain(self, arrays)]

    monkeypatch.setattr(type(graph._plain), "__call__", wrong)
    with pytest.raises(MismatchError) as caught:
        d2s.jit.verify(static, x1())
    assert f"{__file__}:" in str(caught.value)
    assert run is interpreter.launch.run


def test_concrete_program_and_variants():
    f = d2s.to_static(lambda x: x * 2)
    variant = f.concrete_program(x1())
    f(x1())
    assert len(f.variants) == 1 and f.variants[0][1] is variant


def test_the_signature_is_that_of_the_function_or_of_the_bound_method():
    layer = d2s.nn.Linear(2, 1)
    wanted = inspect.signature(layer.forward)
    d2s.to_static(layer)
    assert inspect.signature(layer.forward) == wanted
    assert str(inspect.signature(d2s.to_static(lambda x, y=1: x))) == "(x, y=1)"
