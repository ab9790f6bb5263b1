"""Static calls that want gradients, natively: what they give and put on the tape is what the long way does, bit for bit."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import d2s
from d2s import config
from d2s.autodiff import tape
from d2s.errors import GradientError
from d2s.jit.quick import MISSED
from d2s.jit.taped import GraphNode
from d2s.ops.dispatch import handlers

pytestmark = pytest.mark.skipif(handlers.base.classes is None, reason="no native calls on this system")
random = np.random.default_rng(0)


def tensor(values, dtype="float32", wants=False):
    return d2s.to_tensor(np.array(values, dtype), stop_gradient=not wants)


def quick_of(function, *args, **options):
    """A static function and its quick way, behind steps of training that are done so from then on."""
    static = d2s.to_static(function, **options)
    for _ in range(4):
        backward(static(*args))
    (quick,) = static.quick
    return static, quick


def backward(found):
    """A sweep from all results."""
    for y in found if isinstance(found, tuple) else (found,):
        if not y.stop_gradient and y.node is not None:
            y.sum().backward(retain_graph=True)


def gradients(call, *args):
    """The results of a call and the gradients of what it was given, as bytes."""
    given = [tensor(x.numpy(), x.dtype.name, not x.stop_gradient) if isinstance(x, d2s.Tensor) else x for x in args]
    found = call(*given)
    backward(found)
    results = [y.numpy().tobytes() for y in (found if isinstance(found, tuple) else (found,))]
    return results, [x.grad.numpy().tobytes() for x in given if isinstance(x, d2s.Tensor) and x.grad is not None]


def alive():
    """How many nodes of static calls there are."""
    return sum(type(o) is GraphNode for o in gc.get_objects())


def test_results_and_gradients_are_those_of_the_long_way():
    x, w, k = tensor(random.standard_normal((3, 4))), tensor(random.standard_normal((4, 4)), wants=True), 0.3
    static, quick = quick_of(lambda x, w, k: (d2s.tanh(x @ w) * k, (x * x).sum(), (w * k).exp().sum()), x, w, k)
    assert gradients(quick, x, w, k) == gradients(static.function, x, w, k)
    with config(EXECUTOR="interpreter"):
        assert quick(x, w, k) is MISSED
        assert gradients(static, x, w, k) == gradients(static.function, x, w, k)


def test_the_node_is_that_of_the_long_way():
    x, w = tensor([1.0, 2.0]), tensor([3.0, 4.0], wants=True)
    static, quick = quick_of(lambda x, w, k: (x * w, x + k, w * k), x, w, 2.0)
    with config(CHECK=2):
        plain = static(x, w, 2.0)
    for y, there in zip(quick(x, w, 2.0), plain, strict=True):
        assert (y.stop_gradient, y.is_leaf, type(y.node)) == (there.stop_gradient, there.is_leaf, type(there.node))
    product, _, last = quick(x, w, 2.0)
    node, same = product.node, last.node
    assert type(node) is GraphNode and type(same) is tape.Result
    assert same.node is node and same.position == 2 and node.position == 0
    assert node.edges == (None, w, None) and node.way is plain[0].node.way and node.order > plain[0].node.order
    assert node.arrays[0] is x.array and node.arrays[1] is w.array and node.arrays[2] == 2.0
    assert node.results[0] is product.array and len(node.results) == len(plain[0].node.results)
    assert (node.hooks, node.released, node.swept, node.found) == (None, False, (), ())


def test_nodes_know_the_users_line():
    w = tensor([1.0], wants=True)
    static, _ = quick_of(lambda w: w * w, w)
    y = static(w)
    line = sys._getframe().f_lineno - 1
    assert y.node.line == f"{__file__}:{line}"


def test_edges_lead_to_what_made_an_input():
    w = tensor([1.0, 2.0], wants=True)
    static, quick = quick_of(lambda a, b: a * b, w * 2.0, w)
    first = w * 2.0
    assert quick(first, w).node.edges == (first.node, w)
    pair = d2s.to_static(lambda a: (a * 2.0, a * 3.0))
    _, second = [pair(w) for _ in range(4)][-1]
    assert type(second.node) is tape.Result and quick(second, w).node.edges == (second.node, w)
    w.grad = None
    static(static(static(w * 1.0, w), w), w).sum().backward()  # of w^4
    assert w.grad.tolist() == [4.0, 32.0]


def test_which_inputs_want_gradients_decides_on_the_way():
    x, w = tensor([1.0, 2.0]), tensor([3.0, 4.0], wants=True)
    static, quick = quick_of(lambda x, w: x * w, x, w)
    v = tensor([5.0, 6.0], wants=True)
    assert quick(v, w) is MISSED and quick(x, tensor([1.0, 1.0])) is MISSED
    assert gradients(static, v, w) == gradients(static.function, v, w)  # from now on there is a way for this, too
    assert quick(v, w).node.edges == (v, w) and quick(x, w).node.edges == (None, w)
    with d2s.no_grad():
        assert quick(x, w) is MISSED and static(x, w).stop_gradient
        y = quick(x, w)
        assert y.tolist() == [3.0, 8.0] and y.stop_gradient and y.node is None
    assert not quick(x, w).stop_gradient


def test_an_input_that_comes_out_is_that_very_tensor():
    def chosen(x, w):
        return (x if x.sum() > 0 else x * 2.0), w * x

    x, w = tensor([1.0, 2.0]), tensor([3.0, 4.0], wants=True)
    static, quick = quick_of(chosen, x, w)
    y, product = quick(x, w)
    assert y is x and product.tolist() == [3.0, 8.0] and product.node.node.results[0] is x.array
    y, _ = quick(tensor([-1.0, -2.0]), w)
    assert y.tolist() == [-2.0, -4.0]
    assert gradients(quick, x, w) == gradients(static.function, x, w)


def test_sweeps_are_native_and_begin_where_others_have_been():
    w = tensor([0.5, 0.25], wants=True)
    static, _ = quick_of(lambda w, x: (w * x, w + x), w, tensor([1.0, 2.0]))

    def both(call):
        w = tensor([0.5, 0.25], wants=True)
        first, second = call(w, tensor([1.0, 2.0])), call(w, tensor([3.0, 4.0]))
        (first[0] * second[1] + first[1].exp()).sum().backward()
        return w.grad.tolist()

    for _ in range(4):
        assert both(static) == both(static.function)
    sweeps = static(w, tensor([1.0, 2.0]))[0].node.way._sweeps
    assert len(sweeps) > 2 and any(started[0] for _, started in sweeps)
    assert sum(sweep._entry is not None for sweep in sweeps.values()) >= 3


def test_once_swept_is_used_up_and_kept_graphs_are_not():
    w = tensor([1.0, 2.0], wants=True)
    _, quick = quick_of(lambda w: w * w, w)
    w.grad = None
    y = quick(w)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert w.grad.tolist() == [4.0, 8.0] and y.node.released and y.node.arrays == ()
    with pytest.raises(GradientError, match="second time"):
        y.sum().backward()


def test_what_was_changed_in_place_is_refused():
    w = tensor([1.0, 2.0], wants=True)
    x = tensor([1.0, 2.0])
    static, _ = quick_of(lambda x, w: x * w, x, w)
    y = static(x, w)
    x.fill_(3.0)
    with pytest.raises(GradientError, match="changed in place"):
        y.sum().backward()
    y = static(x, w)
    w.grad = None
    y.sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]


def test_hooks_and_gradients_of_gradients():
    w = tensor([2.0], wants=True)
    static, _ = quick_of(lambda w, k: w * w * w * k, w, 2.0)
    (first,) = d2s.grad([static(w, 2.0)], [w], create_graph=True)
    (second,) = d2s.grad([first], [w])
    assert (first.tolist(), second.tolist()) == ([24.0], [24.0])
    y, w.grad = static(w, 2.0), None
    y.register_hook(lambda g: g * 10.0)
    y.backward()
    assert w.grad.tolist() == [240.0]


def test_more_space_than_a_frame_has():
    static = d2s.to_static(lambda x, w: ((x @ w) @ w).tanh() @ w, input_spec=[d2s.static.InputSpec([None, None])] * 2)
    for _ in range(4):
        for n in (2, 3, 200, 300):
            x, w = tensor(np.eye(n) / 4), tensor(np.eye(n), wants=True)
            assert gradients(static, x, w) == gradients(static.function, x, w)
    assert static.quick[0](x, w) is not MISSED


def test_nothing_is_left_behind():
    x, w = tensor(np.ones((4, 4))), tensor(np.ones((4, 4)), wants=True)
    static, quick = quick_of(lambda x, w, k: ((x @ w) * k, x, w + x), x, w, 0.5)
    watched = (x, w, x.array, w.array, x.array.dtype, None, True, static(x, w, 0.5)[0].node.way)
    w.grad = None
    gc.collect()
    gc.disable()
    try:
        before, nodes = [sys.getrefcount(o) for o in watched], alive()
        for _ in range(300):
            backward(quick(x, w, 0.5))
            quick(x, w, 0.5)
            quick(x, w, 1)
            w.grad = None
        assert all(abs(sys.getrefcount(o) - n) < 50 for o, n in zip(watched, before, strict=True))
        assert alive() == nodes  # no cycles: graphs are freed by reference counts
    finally:
        gc.enable()


def test_many_threads_at_once():
    static = d2s.to_static(lambda x, w: d2s.tanh(x @ w) @ w)
    x, w = (tensor(random.standard_normal((48, 48)), wants=wants) for wants in (False, True))
    quick_of(static, x, w)
    wanted = gradients(static.function, x, w)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: gradients(static, x, w) == wanted, range(100)))


def branch(x, w):
    return x * w if w.sum() > 0.0 else x - w


def loop(x, w, n):
    i = 0
    while i < n:
        x = d2s.tanh(x * w) + 0.5
        i += 1
    return x


def listed(x, w, n):
    kept = []
    for _ in range(n):
        x = x * w
        kept.append(x + 1.0)
    return d2s.stack(kept) if len(kept) > 0 else d2s.stack([x])


def masked(x, w):
    y = x * w
    return y[y > 0.0] * 2.0


def nested(x, w, n):
    return x * w if n <= 0 else nested(x * w, w, n - 1) + x


def scaled(x, w, k):
    return x * w * k


PATHS = {
    "branch": (branch, [()]),
    "loop": (loop, [(tensor(3, "int64"),), (tensor(0, "int64"),), (tensor(300, "int64"),)]),
    "list": (listed, [(tensor(3, "int64"),), (tensor(200, "int64"),)]),
    "mask": (masked, [()]),
    "recursion": (nested, [(tensor(2, "int64"),), (tensor(90, "int64"),)]),
    "int": (scaled, [(2,), (5,), (7,)]),
}


@pytest.mark.parametrize("name", PATHS)
def test_paths_that_a_run_finds_are_native_also_where_buffers_must_grow(name):
    function, rest = PATHS[name]
    signs = [tensor([1.0, -2.0, 0.5, -0.25] * 16), tensor([-1.0, 2.0, 0.5, 0.25] * 16)]
    static = d2s.to_static(function)
    for x in signs:
        for more in rest * 4:
            w = tensor([0.5, 1.0, -0.5, 0.75] * 16, wants=True)
            assert gradients(static, x, w, *more) == gradients(function, x, w, *more)
    x, w = signs[0], tensor([0.5, 1.0, -0.5, 0.75] * 16, wants=True)
    answers = [quick(x, w, *rest[0]) for quick in static.quick]
    assert any(found is not MISSED for found in answers)
