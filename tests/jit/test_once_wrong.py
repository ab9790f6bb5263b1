"""What was once found wrong by reading and trying: each a way a static function could have differed in silence."""

import collections
import contextlib
import copy
import fractions
import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import d2s
from d2s.errors import CaptureError, DTypeError, GradientError
from d2s.once import once

ACT = d2s.tanh


def one():
    return d2s.to_tensor([1.0, 2.0])


def joined(body):
    """A function whose `r` is 'a' or 'b' by the path taken, and what `body` makes of it."""
    scope = {"d2s": d2s}
    path = f"<joined {body}>"
    text = f"def f(x, n):\n    r = 'a'\n    if n > 0:\n        r = 'b'\n    return {body}\n"
    import linecache

    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    exec(compile(text, path, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize(
    "body",
    [
        "x * 2 if r == 'a' else x * 3",
        "x * 2 if r != 'b' else x * 3",
        "x * 2 if r in ('a', 'c') else x * 3",
        "x * 2 if isinstance(r, str) else x",
        "x * 2 if r is None else x * 3",
        "x * 2 if None is not r else x * 3",
        "x * 2 if (r, 1) == ('a', 1) else x * 3",
        "(lambda: x * 2 if r == 'a' else x * 3)()",
        "[x * 2, x * 3][r == 'a']",
        "{'a': x * 2, 'b': x * 3}[r]",
        "x * len(r)",
        "x * (2 if type(r) is str else 3)",
    ],
)
def test_a_variable_no_graph_can_hold_passes_for_no_value(body):
    f = joined(body)
    for n in (-2, 2):
        eager = f(one(), d2s.to_tensor(n)).tolist()
        try:
            assert d2s.to_static(f)(one(), d2s.to_tensor(n)).tolist() == eager
        except CaptureError as refused:
            assert refused.code in ("D2S1001", "D2S1002")


def test_tensors_of_any_array_are_safe_for_kernels():
    wide = np.broadcast_to(np.float32(1), (300, 300))
    turned = np.arange(6, dtype="float32").reshape(2, 3).T
    assert d2s.Tensor(wide).sum().item() == 90000.0
    assert (d2s.Tensor(turned) + 0).tolist() == turned.tolist()
    assert (d2s.Tensor(np.array([1.0, 2.0], ">f4")) + 1).tolist() == [2.0, 3.0]
    with pytest.raises(DTypeError, match="D2S0001"):
        d2s.Tensor([1.0])


def test_an_assignment_in_the_test_of_a_loop_is_not_dropped():
    def f(x, n):
        while (n := n - 1) > 0:
            x = x * 2
        return x, n

    assert [found.tolist() for found in d2s.to_static(f)(one(), d2s.to_tensor(4))] == [[8.0, 16.0], 0]


def test_a_global_bound_to_another_op(monkeypatch):
    f = d2s.to_static(lambda x: ACT(x))
    f(one())
    monkeypatch.setitem(globals(), "ACT", d2s.relu)
    assert f(one()).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("kind", [list, collections.deque, collections.OrderedDict, collections.Counter])
def test_containers_of_any_class_are_followed(kind):
    held = kind([1]) if kind is not collections.OrderedDict else kind({1: 2})
    f = d2s.to_static(lambda x: x * 2 if 7 in held else x * 3)
    f(one())
    held.append(7) if hasattr(held, "append") else held.update({7: 1})
    assert f(one()).tolist() == [2.0, 4.0]


def test_arrays_are_no_constants():
    held = np.array([1.0, 2.0], "float32")
    with pytest.raises(CaptureError, match="D2S1003"):
        d2s.to_static(lambda x: x + d2s.to_tensor(held))(one())


def test_an_argument_at_the_place_of_another_that_is_gone():
    f = d2s.to_static(lambda x, o: x * float(o))
    for n in range(1, 40):
        try:
            assert f(one(), fractions.Fraction(n, 3)).tolist() == (one() * float(fractions.Fraction(n, 3))).tolist()
        except CaptureError:
            break
        gc.collect()


def test_keys_of_other_kinds_are_other_calls():
    f = d2s.to_static(lambda x, d: x * 2 if isinstance(next(iter(d)), bool) else x * 3)
    for key in (1, True, 1.0):
        with contextlib.suppress(CaptureError):
            assert f(one(), {key: 0}).tolist() == ((one() * 2) if key is True else one() * 3).tolist()


@pytest.mark.parametrize("result", [lambda x: lambda y: x * y, lambda x: (x, iter([1]))])
def test_what_is_made_at_capture_is_not_handed_out(result):
    with pytest.raises(CaptureError, match="D2S"):
        d2s.to_static(result)(one())


def test_a_constant_tensor_is_a_fresh_one_each_time():
    f = d2s.to_static(lambda x: d2s.to_tensor([1.0, 2.0]))
    f(one()).set_value([5.0, 5.0])
    assert f(one()).tolist() == [1.0, 2.0]


def test_two_results_have_gradients_of_their_own():
    def two(x):
        return (x * 2).sum(), (x * x).sum()

    grads = []
    for f in (two, d2s.to_static(two)):
        x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
        a, b = f(x)
        a.backward()
        b.backward()
        grads.append(x.grad.tolist())
        with pytest.raises(d2s.errors.GradientError, match="second time"):
            b.backward()
    assert grads[0] == grads[1] == [4.0, 6.0]


def test_a_run_time_float_is_no_tensor():
    f = d2s.to_static(lambda x, a: x * 2 if hasattr(a, "shape") else x * 3)
    assert f(one(), 2.0).tolist() == [3.0, 6.0]
    with pytest.raises(DTypeError):
        d2s.to_static(lambda x, a: x * d2s.tanh(a))(one(), 2.0)


def test_a_layers_own_forward_is_the_one_made_static():
    layer = d2s.nn.Linear(2, 2)
    layer.forward = lambda x: x * 9
    assert d2s.to_static(layer)(one()).tolist() == [9.0, 18.0]


def test_a_copy_of_a_static_layer_is_its_own():
    layer = d2s.to_static(d2s.nn.Linear(2, 2))
    x = d2s.to_tensor([[1.0, 2.0]])
    before = layer(x).tolist()
    other = copy.deepcopy(layer)
    other.weight.set_value(other.weight * 2.0)
    assert layer(x).tolist() == before
    assert other(x).tolist() == (d2s.to_tensor(before) * 2.0).tolist()


def test_static_and_class_methods():
    class A:
        @d2s.to_static
        @staticmethod
        def s(x):
            return x * 2

        @d2s.to_static
        @classmethod
        def c(cls, x):
            return x * 3

    assert A.s(one()).tolist() == A().s(one()).tolist() == [2.0, 4.0]
    assert A.c(one()).tolist() == A().c(one()).tolist() == [3.0, 6.0]


def test_tensors_of_one_element_decide_together():
    def f(x, n, m):
        if n > 0 and m > 0:
            return x
        return x * 2 if n < 0 or m < 0 else x * 3

    for n, m in ((1, 1), (-1, 1), (0, 0)):
        arguments = one(), d2s.to_tensor([n]), d2s.to_tensor([m])
        assert d2s.to_static(f)(*arguments).tolist() == f(*arguments).tolist()


def test_ctrl_c_in_a_loop_with_work():
    text = """
import numpy as np, d2s
@d2s.to_static
def f(x, n):
    while n > 0:
        x = d2s.tanh(x @ x)
        n = n + 1
    return x
print("ready", flush=True)
try: f(d2s.to_tensor(np.ones((300, 300), "float32")), d2s.to_tensor(1))
except KeyboardInterrupt: print("stopped", flush=True)
"""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"ctrl_c_{os.getpid()}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    root = str(pathlib.Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, text=True, env=environment) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(2)
            child.send_signal(signal.SIGINT)
            assert child.communicate(timeout=30)[0] == "stopped\n"
        finally:
            child.kill()
            os.unlink(path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_beside_first_calls():
    stop = threading.Event()

    def first_calls():
        n = 0
        while not stop.is_set():
            d2s.to_static(lambda x, k=n: x * k + k)(one())
            n += 1

    threads = [threading.Thread(target=first_calls) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if not child:
                signal.alarm(20)
                os._exit(0 if d2s.to_static(lambda x: x * 5)(one()).tolist() == [5.0, 10.0] else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_another_thread_computes_what_an_object_keeps():
    begun, ended = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, waits):
            self.waits = waits

        @once
        def found(self):
            if self.waits:
                begun.set()
                ended.wait()
            return 7

    thread = threading.Thread(target=lambda: Slow(True).found)
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(Slow(False).found)
    ended.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_locale_without_utf_8():
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    text = "import d2s; print((d2s.to_tensor([1.0]) + 1).tolist())"
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True)
    assert done.stdout == "[2.0]\n", done.stderr


def test_a_zero_that_changes_its_sign_is_carried():
    def f(x, n):
        z, i = 0.0, 0
        while i < n:
            z = -0.0
            i += 1
        return x * z

    for n in (0, 2):
        arguments = one(), d2s.to_tensor(n)
        assert d2s.to_static(f)(*arguments).numpy().tobytes() == f(*arguments).numpy().tobytes()


def test_of_two_tensors_in_one_place_the_right_one_comes_out():
    x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x.detach()
    f = d2s.to_static(lambda x, y: y if x.sum() > 0 else y * 2)
    assert f(x, y) is not x
    assert d2s.to_static(lambda y, x: y if x.sum() > 0 else y * 2)(y, x) is not x


def test_an_iterator_from_outside_is_not_used_up_by_a_map():
    rest = iter([1.0, 2.0])
    with pytest.raises(CaptureError, match=r"D2S1003.*used up"):
        d2s.to_static(lambda x: sum(map(lambda k: x * k, rest)))(one())  # noqa: C417


HELD = [1]


def test_an_equal_list_is_another_list(monkeypatch):
    f = d2s.to_static(lambda x: (x * 2, HELD))
    assert f(one())[1] is HELD
    monkeypatch.setitem(globals(), "HELD", [1])
    assert f(one())[1] is HELD


def test_a_builtin_without_a_signature():
    a, b = d2s.to_tensor(1.0), d2s.to_tensor(2.0)
    try:
        assert d2s.to_static(max)(a, b).item() == 2.0
    except CaptureError as refused:
        assert refused.code.startswith("D2S1")


def test_functions_nested_in_a_script_call_what_its_module_imported(tmp_path):
    """Python compiles `module.name()` in a way of its own where it sees the import; under pytest that is not seen."""
    script = tmp_path / "script.py"
    script.write_text("""
import d2s


@d2s.to_static
def chosen(x):
    def both(x):
        return d2s.tanh(x) + d2s.exp(x)

    y = d2s.static.nn.cond(x.sum() > 0, lambda: d2s.tanh(x), lambda: d2s.exp(x))
    return y + both(x)


print(chosen(d2s.zeros([1])).tolist())
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.stdout == "[2.0]\n", done.stderr


def test_python_without_docstrings_and_asserts():
    text = "import d2s; print(d2s.to_static(d2s.nn.ReLU())(d2s.to_tensor([-1.0, 2.0])).tolist())"
    done = subprocess.run([sys.executable, "-OO", "-c", text], capture_output=True, text=True)
    assert done.stdout == "[0.0, 2.0]\n", done.stderr


def mid_and_end(x):
    y = x * x
    if y.sum() > 1.0:
        y = y * 1.5
    return y, (y * x + d2s.tanh(y)).sum()


def seen_between(how, f):
    """What a look at the first result, of which the second is made, comes to."""
    x = d2s.to_tensor([0.3, 1.7, -2.1], stop_gradient=False)
    y, z = f(x)
    log = []
    if how == "hook":
        y.register_hook(lambda g: (log.append(g), g * 3.0)[1])
    elif how == "removed hook":
        y.register_hook(lambda g: g * 3.0).remove()
    elif how == "kept":
        y.retain_grads()
    elif how == "towards":
        log += d2s.grad(z, [y, x], retain_graph=True)
    elif how == "cut":
        log += d2s.grad(z, x, no_grad_vars=[y], retain_graph=True)
    elif how == "connected":
        (g,) = d2s.grad(z, x, create_graph=True)
        log += [g, *d2s.grad((g * y).sum() + z, [x, y], retain_graph=True)]
    elif how == "twice":
        y.register_hook(lambda g: g * 3.0)
        z.backward(retain_graph=True)
    (y.sum() + z).backward()
    with pytest.raises(d2s.errors.GradientError, match="second time"):
        z.backward()
    return [t.numpy().tobytes() for t in (*log, x.grad)] + [None if y.grad is None else y.grad.numpy().tobytes()]


@pytest.mark.parametrize("how", ["hook", "removed hook", "kept", "towards", "cut", "connected", "twice"])
def test_what_one_result_passes_to_another_is_seen(how):
    f = d2s.to_static(mid_and_end)
    for _ in range(3):
        assert seen_between(how, f) == seen_between(how, mid_and_end)


def test_a_sweep_before_a_hook_has_freed_what_it_passed():
    def two(x):
        y = x * x
        return y, y * y, d2s.tanh(y)

    for f in (two, d2s.to_static(two)):
        x = d2s.to_tensor([0.5], stop_gradient=False)
        y, a, b = f(x)
        a.backward()
        y.register_hook(lambda g: g * 2.0)
        with pytest.raises(d2s.errors.GradientError, match="second time"):
            b.backward()


def test_a_gradient_of_a_gradient_adds_what_loops_hand_on_as_eager_code_does():
    def f(x, n):
        y = x
        for k in range(n):
            y = d2s.tanh(y * 1.1 + x * 0.3) * y + k
        return y

    bits = []
    for g in (f, d2s.to_static(f)):
        x = d2s.to_tensor(np.linspace(-1, 1, 40).astype("float32"), stop_gradient=False)
        y = g(x, d2s.to_tensor(4))
        (first,) = d2s.grad(y.sum(), x, create_graph=True)
        (first * first * y).sum().backward()
        bits.append(x.grad.numpy().tobytes())
    assert bits[0] == bits[1]


@pytest.mark.parametrize("says", [False, True])
def test_what_was_changed_before_an_op_that_fails_stays_changed_or_is_told(says):
    def world(make):
        seen, held = [], d2s.zeros([2])

        def f(x, i):
            seen.append(len(seen))
            held.add_(x)
            if says:
                print(end="")
            y = x[i]
            seen.append("behind")
            return y * 2.0

        g, errors = make(f), []
        for n in (0, 9, 1, -1):
            try:
                g(one(), d2s.to_tensor(n))
            except d2s.errors.IndexRangeError as error:
                errors.append(str(error))
        return seen, held.tolist(), errors

    eager, static = world(lambda f: f), world(d2s.to_static)
    if says:
        assert "not written" in static[2][0]
    else:
        assert eager[:2] == static[:2] and "y = x[i]" in static[2][0]


def by_a_join(x, w, k):
    z = x if k > 0 else w
    q = z if k > -5 else x * 2.0
    return (x * 3.1 + z * 0.7 + d2s.tanh(x) * z + z * z * 1.3 + q * x).sum()


def in_front_of_a_loop(x, w, k):
    y = x
    while k > 0:
        y = y * 1.1 + x * 0.3 * y + d2s.tanh(x) * w
        k = k - 1
    return (y * y).sum()


@pytest.mark.parametrize("f", [by_a_join, in_front_of_a_loop])
def test_contributions_to_a_tensor_of_two_names_have_their_order(f):
    bits = []
    for g in (f, d2s.to_static(f)):
        for k in (3, 1, -1, -9):
            x, w = (d2s.to_tensor(np.cos(np.arange(40) + n).astype("float32"), stop_gradient=False) for n in (0, 1))
            g(x, w, d2s.to_tensor(k)).backward()
            bits.append((f, k, *(None if t.grad is None else t.grad.numpy().tobytes() for t in (x, w))))
    assert bits[:4] == bits[4:]


def needs_an_input(x, w):
    y = x * 2.0
    z = y * w
    y.add_(w)
    return y * 1.0, z


def needs_a_result(x, w):
    y = d2s.exp(x)
    y[0] = w[1]
    return y * w, w * 2.0


def needs_what_it_changes_itself(x, w):
    y = x * 2.0
    y.multiply_(w)
    return y.exp_().scale_(2.0, 1.0), y.sum()


def needs_copies(x, w):
    y = x * 2.0
    z = y * w
    for one in (y.clone(), d2s.assign(y), y.astype("float32"), d2s.zeros([2])):
        one.add_(w)
    return z, d2s.zeros([2]) * w


def takes_it_inside(x, w):
    y = x * 2.0
    z = (y * w).sum()
    y.add_(w)
    z.backward()
    return y, z


@pytest.mark.parametrize("f", [needs_an_input, needs_a_result, needs_what_it_changes_itself, needs_copies, takes_it_inside])
def test_a_gradient_that_needs_what_was_changed_in_place_is_refused_as_eagerly(f):
    static, told = d2s.to_static(f), []
    for g in (f, static, static, static):
        x, w = (d2s.to_tensor(np.arange(2.0, dtype="float32") + n, stop_gradient=False) for n in (1, 3))
        said = []
        for k in range(2):
            try:
                y = g(x, w)[k]
                if f is not takes_it_inside:
                    y.backward(d2s.ones_like(y))
            except GradientError as error:
                said.append(str(error))
        told.append((said, *(t.grad if t.grad is None else t.grad.tolist() for t in (x, w))))
    refuses = f not in (needs_what_it_changes_itself, needs_copies)
    assert told[1:] == told[:1] * 3 and bool(told[0][0]) == refuses


def test_grad_towards_what_the_path_taken_does_not_read_frees_nothing():
    def f(x, u):
        return x * x if x.sum() > 0 else x * u

    x, u = (d2s.to_tensor([2.0], stop_gradient=False) for _ in range(2))
    y = d2s.to_static(f)(x, u)
    assert d2s.grad(y, [u], allow_unused=True) == [None]
    y.backward()
    assert x.grad.tolist() == [4.0]


def test_a_class_may_be_given_another_call():
    class Scale:
        def __call__(self, x):
            return x * 2.0

    scale, x = Scale(), d2s.to_tensor([1.0])
    static = d2s.to_static(lambda x: scale(x))
    assert [static(x).tolist() for _ in range(3)] == [[2.0]] * 3
    Scale.__call__ = lambda self, x: x * 3.0
    assert static(x).tolist() == [3.0]
