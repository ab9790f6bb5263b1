"""Changing tensors in place: what sees the new values, what becomes of gradients, and which line is blamed."""

import gc
import inspect
import re
import tracemalloc

import numpy as np
import pytest

import d2s
from d2s.autodiff import tape, writes
from d2s.errors import ArgumentError, CaptureError, D2SError, DTypeError, GradientError, ShapeError
from d2s.ops import OPS
from d2s.runtime.differing import same_bits
from tests.samples import values

IN_PLACE = sorted(name for name, op in OPS.items() if op.scalar and not op.kept)

F = d2s.nn.functional


def tensor(*numbers, dtype="float32"):
    return d2s.to_tensor(np.array(numbers, dtype))


def leaf(*numbers, dtype="float32"):
    return d2s.to_tensor(np.array(numbers, dtype), stop_gradient=False)


def line_of(words):
    """Where the test that is running has a line with these words."""
    frame = inspect.currentframe().f_back
    lines, first = inspect.getsourcelines(frame.f_code)
    (at,) = [n for n, text in enumerate(lines) if words in text and "line_of" not in text]
    return f"{__file__}:{first + at}"


def refused(function, *lines):
    """The message of a gradient refused for a change, which names these lines."""
    with pytest.raises(GradientError, match=r"\[D2S0006\] .*changed in place") as caught:
        function()
    text = str(caught.value)
    for line in lines:
        assert line in text
    assert "clone()" in text
    return text


# --- values


@pytest.mark.parametrize("name", IN_PLACE)
def test_every_elementwise_op_has_an_in_place_form(name):
    op, arrays = OPS[name], len(OPS[name].arrays)
    for dtype in (d for d in d2s.types.TENSOR_DTYPES if d.kind in op.dtypes):
        given = [d2s.to_tensor(values(dtype, (2, 5), seed)) for seed in range(arrays)]
        expected = op(*given)
        x, memory = given[0], given[0].array
        before = memory.copy()
        asks = expected.dtype is not dtype  # only those that ask may change it: then the memory stays what it was
        if asks and op.out_dtype is None:
            with pytest.raises(DTypeError, match="in place"):
                getattr(x, f"{name}_")(*given[1:])
            assert same_bits(memory, before)
            continue
        assert getattr(x, f"{name}_")(*given[1:]) is x
        assert (x.array is memory) is not asks and same_bits(x.array, expected.array)
        assert not asks or same_bits(memory, before)


@pytest.mark.parametrize("alias", ["sub", "mul", "div", "mod", "floor_mod", "clamp"])
def test_aliases(alias):
    named = {"sub": "subtract", "mul": "multiply", "div": "divide", "clamp": "clip"}.get(alias, "remainder")
    args = (1.0, 2.0) if alias == "clamp" else (tensor(2.0, 3.0, 4.0),)
    a, b = tensor(0.5, 1.5, 7.0), tensor(0.5, 1.5, 7.0)
    assert getattr(a, f"{alias}_")(*args).tolist() == getattr(b, f"{named}_")(*args).tolist() != [0.5, 1.5, 7.0]


def test_everything_that_shares_the_memory_sees_it():
    x = tensor(1.0, 2.0)
    alias, view, handed = x.detach(), x.array, np.from_dlpack(x)
    x.add_(1.0).multiply_(tensor(10.0, 10.0))
    assert alias.tolist() == view.tolist() == handed.tolist() == [20.0, 30.0]


def test_other_tensors_are_not_touched():
    x = tensor(1.0, 2.0)
    copies = [x.clone(), x.astype("float32"), x.reshape([2, 1]), x[0:2], d2s.to_tensor(x)]
    x.zero_()
    assert all(c.array.ravel().tolist() == [1.0, 2.0] for c in copies)


def test_fill_zero_copy_scale_clip():
    x = tensor(1.0, 2.0, 3.0)
    assert x.scale_(2.0, 1.0).tolist() == [3.0, 5.0, 7.0]
    assert x.scale_(2.0, 1.0, bias_after_scale=False).tolist() == [8.0, 12.0, 16.0]
    assert x.clip_(9.0, 13.0).tolist() == [9.0, 12.0, 13.0]
    assert x.clip_(max=10.0).tolist() == [9.0, 10.0, 10.0]
    assert x.fill_(0.5).tolist() == [0.5] * 3
    assert x.fill_(tensor(4.0)).tolist() == [4.0] * 3
    assert x.copy_(tensor(1.0, -0.0, float("nan"))).array.tobytes() == np.array([1.0, -0.0, np.nan], "float32").tobytes()
    assert x.zero_().tolist() == [0.0] * 3
    n = tensor(1, 2, dtype="int32")
    assert n.fill_(2.7).tolist() == [2, 2] and n.dtype is d2s.int32
    assert n.scale_(3).tolist() == [6, 6]
    assert tensor(True, False, dtype="bool").fill_(True).tolist() == [True, True]


def test_an_operator_with_equals_makes_a_new_tensor():
    x = y = tensor(1.0, 2.0)
    x += 1.0
    assert x is not y and y.tolist() == [1.0, 2.0] and x.tolist() == [2.0, 3.0]
    n = tensor(1, 2, dtype="int64")
    n += 1.5
    assert n.tolist() == [2.5, 3.5]


def test_empty_and_0_d():
    assert d2s.to_tensor(np.zeros((0, 3), "float32")).exp_().shape == [0, 3]
    assert d2s.to_tensor(4.0).sqrt_().add_(1.0).item() == 3.0


def test_what_does_not_fit_is_refused_and_changes_nothing():
    x, n = tensor(1.0, 2.0), tensor(1, 2, dtype="int32")
    cases = [
        (lambda: x.add_(tensor([1.0, 2.0], [3.0, 4.0])), ShapeError, "D2S0002"),
        (lambda: x.add_(tensor(1.0, 2.0, dtype="float64")), DTypeError, "float64 values"),
        (lambda: n.add_(1.5), DTypeError, "float32 values"),
        (lambda: n.exp_(), DTypeError, "D2S0003"),
        (lambda: x.less_than_(tensor([1.0, 2.0], [3.0, 4.0])), ShapeError, "D2S0002"),
        (lambda: x.copy_(n), DTypeError, "int32 values"),
        (lambda: x.copy_(tensor(1.0)), ShapeError, "D2S0002"),
        (lambda: x.copy_([1.0, 2.0]), DTypeError, "'other'"),
        (lambda: x.fill_(tensor(1.0, 2.0)), ArgumentError, "one number"),
        (lambda: x.fill_("a"), DTypeError, "D2S0001"),
        (lambda: x.add_("a"), DTypeError, "D2S0001"),
        (lambda: x.add_(), DTypeError, "D2S0001"),
        (lambda: x.set_value([1.0]), ShapeError, "D2S0002"),
    ]
    for call, error, words in cases:
        with pytest.raises(error, match=re.escape(words)) as caught:
            call()
        assert isinstance(caught.value, D2SError)
    assert x.tolist() == [1.0, 2.0] and n.tolist() == [1, 2] and x.inplace_version == 0


def test_read_only_memory_is_refused():
    held = np.ones(2, "float32")
    held.flags.writeable = False
    x = d2s.Tensor(held)
    for change in (lambda: x.add_(1.0), lambda: x.set_value([1.0, 2.0])):
        with pytest.raises(ArgumentError, match="read-only"):
            change()


def test_versions_count_changes_of_the_memory():
    x = tensor(1.0, 2.0)
    alias = x.detach()
    assert x.inplace_version == 0
    x.add_(1.0)
    alias.exp_()
    x[0] = 3.0
    x.set_value([1.0, 2.0])
    assert x.inplace_version == alias.inplace_version == 4
    assert x.clone().inplace_version == 0


# --- history


def test_a_leaf_that_wants_a_gradient_is_refused():
    x = leaf(1.0, 2.0)
    for change in (lambda: x.add_(1.0), lambda: x.zero_(), lambda: x.copy_(tensor(1.0, 2.0)), lambda: x.__setitem__(0, 1.0)):
        with pytest.raises(GradientError, match=r"D2S0006.*leaf"):
            change()
    assert x.tolist() == [1.0, 2.0]
    with d2s.no_grad():
        x.add_(1.0)
    assert x.tolist() == [2.0, 3.0] and x.is_leaf and not x.stop_gradient
    x.set_value([5.0, 6.0])  # data alone, as in Paddle
    assert x.tolist() == [5.0, 6.0] and x.is_leaf and not x.stop_gradient


def test_gradients_go_through_the_change():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * 2.0
    assert y.multiply_(w) is y  # of its own old values the change keeps what its gradient needs
    y.exp_()
    y.sum().backward()
    found = [x.grad, w.grad]
    x.grad = w.grad = None
    (x * 2.0 * w).exp().sum().backward()
    assert [g.tolist() for g in found] == [x.grad.tolist(), w.grad.tolist()]


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_tensor_changed_by_itself(times):
    x = leaf(1.5, 2.0, dtype="float64")
    y, z = x * 1.0, x * 1.0
    for _ in range(times):
        y.multiply_(y)
        z = z * z
    (got,), (want,) = d2s.grad(y.sum(), x), d2s.grad(z.sum(), x)
    assert got.tolist() == want.tolist()


def test_a_leaf_without_gradient_becomes_a_result():
    x, w = tensor(1.0, 2.0), leaf(3.0, 4.0)
    before = x + w
    x.multiply_(w)
    assert not x.is_leaf and not x.stop_gradient
    (before + x * 2.0).sum().backward()
    assert w.grad.tolist() == [3.0, 5.0]  # 1 + 2 * [1, 2]; nothing through x into what was made before
    assert x.grad is None


def test_results_made_before_have_the_old_history():
    x = leaf(1.0, 2.0)
    y = x * 3.0
    old = y + 1.0
    y.multiply_(10.0)
    new = y + 1.0
    (g_old,), (g_new,) = d2s.grad(old.sum(), x, retain_graph=True), d2s.grad(new.sum(), x)
    assert g_old.tolist() == [3.0, 3.0] and g_new.tolist() == [30.0, 30.0]


def test_filled_and_copied():
    x, other = leaf(1.0, 2.0), leaf(5.0, 6.0)
    y = x * 2.0
    y.fill_(7.0)
    (y * y).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0] and not y.stop_gradient  # as in Paddle: zero, not absent
    z = x * 2.0
    z.copy_(other)
    x.grad = None
    (z * z).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0] and other.grad.tolist() == [10.0, 12.0]


def test_under_no_grad_the_history_stays():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    with d2s.no_grad():
        y.add_(1.0)
    (y * y).sum().backward()
    assert x.grad.tolist() == [12.0, 20.0]


def test_another_stop_gradient_later_is_not_seen_by_what_was_made_before():
    x, w = leaf(1.0, 2.0), tensor(3.0, 4.0)
    y = (x * w).sum()
    x.stop_gradient, w.stop_gradient = True, False
    y.backward()
    assert x.grad.tolist() == [3.0, 4.0] and w.grad is None


# --- saved values that were changed


def test_an_input_was_changed():
    x, y = leaf(1.0, 2.0), tensor(3.0, 4.0)
    z = x * y  # the op
    y.add_(1.0)  # the change
    text = refused(z.sum().backward, line_of("# the op"), line_of("# the change"))
    assert "multiply()" in text and "f32[2]" in text


@pytest.mark.parametrize(
    "function", [lambda x, w: F.conv2d(x, w), lambda x, w: F.conv2d_transpose(x, w), lambda x, w: F.max_pool2d(x, 2)]
)
def test_an_input_was_changed_that_kernels_read_by_its_address(function):
    x, w = d2s.ones([1, 1, 4, 4]), d2s.ones([1, 1, 2, 2])
    x.stop_gradient = w.stop_gradient = False
    y = x * 1.0
    z = function(y, w)
    y.add_(1.0)
    refused(z.sum().backward)


def test_a_result_was_changed():
    x = leaf(1.0, 2.0)
    y = x.tanh()
    z = y + 1.0
    with d2s.no_grad():
        y.zero_()  # the change
    text = refused(z.sum().backward, line_of("# the change"))
    assert "tanh()" in text


def test_a_result_was_changed_by_what_the_tape_knows():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1.0)
    refused(y.sum().backward)


def test_what_the_gradient_does_not_read_may_change():
    x = leaf(1.0, 2.0)
    h = x * 2.0
    sums = (h + 1.0, h - h, h.sum(), h * 3.0, h.reshape([2, 1]), d2s.floor(h), h.clone(), h[0])
    h.exp_().add_(5.0)
    total = sum((s.sum() for s in sums), d2s.to_tensor(0.0))
    (found,) = d2s.grad(total, x)
    x2 = leaf(1.0, 2.0)
    h2 = x2 * 2.0
    whole = (h2 + 1.0, h2 - h2, h2.sum(), h2 * 3.0, h2.reshape([2, 1]), d2s.floor(h2), h2.clone(), h2[0])
    (expected,) = d2s.grad(sum((s.sum() for s in whole), d2s.to_tensor(0.0)), x2)
    assert found.tolist() == expected.tolist()


def test_only_the_operand_that_is_read_counts():
    x, y = leaf(1.0, 2.0), tensor(3.0, 4.0)
    z = x / y  # of x alone: reads y
    top = tensor(5.0, 6.0)
    q = top / leaf(2.0, 4.0)
    y2, quotient = tensor(3.0, 4.0), None
    quotient = x * y2
    top.zero_()  # top / y: reads y and the quotient
    q.sum().backward()
    x.detach().add_(1.0)  # x * y2 wants the gradient of x only: reads y2
    quotient.sum().backward()
    y.add_(1.0)
    refused(z.sum().backward)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.detach().add_(1.0),
        lambda x: x.detach().set_value([9.0, 9.0]),
        lambda x: x.detach().__setitem__(0, 5.0),
        lambda x: d2s.Tensor(x.array).zero_(),
        lambda x: d2s.Tensor(x.array[:1]).zero_(),
        lambda x: x.set_value([9.0, 9.0]),
        lambda x: d2s.no_grad(x.add_)(1.0),
        lambda x: d2s.no_grad(x.__setitem__)(0, 1.0),
        lambda x: (x.detach().add_(1.0), x.detach().add_(-1.0)),
    ],
    ids=["alias", "alias set", "alias item", "array", "part", "set_value", "no_grad", "item", "there and back"],
)
def test_a_leaf_changed_this_way_or_that(change):
    x = leaf(1.0, 2.0)
    y = x * x
    change(x)
    refused(y.sum().backward, f"{__file__}:")


def test_through_an_item():
    x = leaf(1.0, 2.0)
    h = x * 1.0
    y = h * h  # the op
    h[0] = 7.0  # the change
    refused(y.sum().backward, line_of("# the op"), line_of("# the change"))


def test_the_latest_change_is_named():
    x, y = leaf(1.0, 2.0), tensor(3.0, 4.0)
    z = x * y
    y.add_(1.0)  # first
    y.add_(1.0)  # second
    text = refused(z.sum().backward, line_of("# second"))
    assert line_of("# first") not in text


def test_a_change_before_is_none():
    x, y = leaf(1.0, 2.0), tensor(3.0, 4.0)
    y.add_(1.0)
    z = x * y
    d2s.to_tensor([1.0]).add_(1.0)  # somebody else's memory
    z.sum().backward()
    assert x.grad.tolist() == [4.0, 5.0]


def test_a_second_backward_sees_what_the_first_could_not():
    x, y = leaf(1.0, 2.0), tensor(3.0, 4.0)
    z = (x * y).sum()
    z.backward(retain_graph=True)
    y.add_(1.0)
    refused(z.backward)
    assert x.grad.tolist() == [3.0, 4.0]


def test_gradients_of_gradients():
    x = leaf(1.0, 2.0)
    y = (x * x * x).sum()
    (first,) = d2s.grad(y, x, create_graph=True)
    x.set_value([3.0, 4.0])
    refused(lambda: d2s.grad(first.sum(), x))
    refused(lambda: d2s.grad(y, x, create_graph=True))


@pytest.mark.parametrize("name", ["x", "w"])
def test_a_static_call(name):
    f = d2s.to_static(lambda x, w: (x * w).tanh() + w)
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = f(x, w)
    {"x": x, "w": w}[name].set_value([0.0, 0.0])  # the change
    refused(y.sum().backward, line_of("# the change"))


def test_a_static_call_that_does_not_read_it():
    f = d2s.to_static(lambda x, w: (x + w).sum() + x.sum() * 2.0)
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = f(x, w)
    x.set_value([0.0, 0.0])
    y.backward()
    assert x.grad.tolist() == [3.0, 3.0] and w.grad.tolist() == [1.0, 1.0]


def test_a_result_of_a_static_call():
    f = d2s.to_static(lambda x: x.tanh())
    x = leaf(1.0, 2.0)
    y = f(x)
    y.add_(1.0)
    refused(y.sum().backward)
    f(x).sum().backward()
    assert np.allclose(x.grad.numpy(), 1 - np.tanh([1.0, 2.0]) ** 2)


def test_a_static_call_in_a_loop():
    def f(x, n):
        while n > 0:
            x = x * x
            n = n - 1
        return x

    x = leaf(1.0, 2.0)
    y = d2s.to_static(f)(x, d2s.to_tensor(2))
    x.set_value([5.0, 5.0])
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 32.0]  # what a loop's gradient reads was pushed on a stack of its own


def test_a_py_layers_saved_tensors():
    class Product(d2s.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensor()
            return g * y, g * x

    x, y = leaf(1.0, 2.0), tensor(3.0, 4.0)
    z = Product.apply(x, y)
    z.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [3.0, 4.0]
    y.add_(1.0)  # the change
    text = refused(z.sum().backward, line_of("# the change"))
    assert "Product" in text


def test_an_optimizers_step_is_a_change():
    w, x = d2s.nn.Parameter(np.array([1.0, 2.0], "float32"), stop_gradient=False), tensor(1.0, 1.0)
    y = (w * w * x).sum()
    y.backward(retain_graph=True)
    d2s.optimizer.SGD(0.1, parameters=[w]).step()  # the change
    refused(y.backward, line_of("# the change"))


def test_a_gradient_that_is_changed_is_ones_own():
    x, y, g = leaf(1.0, 2.0), leaf(3.0, 4.0), tensor(1.0, 1.0)
    h = x + y
    h.retain_grads()
    h.backward(g)
    a, b = d2s.grad(x + y, [x, y], g)
    for held in (x.grad, y.grad, h.grad, a, b):
        held.zero_()
        assert [t.tolist() for t in (x.grad, y.grad, h.grad, a, b, g)].count([0.0, 0.0]) == 1
        held.set_value([1.0, 1.0])


# --- captures


IN_GRAPHS = {
    "add_ of an argument": lambda x, outside: x.add_(1.0),
    "exp_ of a result": lambda x, outside: (x * 2.0).exp_(),
    "add_ of what is outside": lambda x, outside: outside.add_(x),
    "fill_": lambda x, outside: outside.fill_(1.0),
    "set_value": lambda x, outside: outside.set_value([5.0, 2.0]),
    "copy_ of itself": lambda x, outside: outside.copy_(outside),
    "scale_": lambda x, outside: outside.scale_(2.0, 1.0, False),
    "zero_": lambda x, outside: outside.zero_(),
}


@pytest.mark.parametrize("name", IN_GRAPHS)
def test_a_graph_changes_what_eager_code_changes(name):
    found = []
    for static in (False, True):
        outside, x = tensor(1.0, 2.0), tensor(3.0, 4.0)

        def change(x, outside=outside):
            return IN_GRAPHS[name](x, outside)

        run = d2s.to_static(change) if static else change
        for _ in range(3):
            result = run(x)
        same = [result is t for t in (x, outside)]
        found.append(
            (result if result is None else result.tolist(), same, x.tolist(), outside.tolist(), outside.inplace_version)
        )
    assert found[0] == found[1]


def test_a_leaf_that_wants_a_gradient_is_not_changed_by_a_graph_either():
    static, x = d2s.to_static(lambda x: x.add_(1.0)), tensor(1.0, 2.0)
    static(x)
    x.stop_gradient = False
    with pytest.raises(GradientError, match="a leaf"):
        static(x)
    with d2s.no_grad():
        static(x)
    assert x.tolist() == [3.0, 4.0]


def test_two_tensors_in_one_memory_do_not_go_into_a_graph_that_changes_one():
    static = d2s.to_static(lambda x, y: x.add_(1.0) + y)
    x = tensor(1.0, 2.0)
    assert static(x, x.clone()).tolist() == [3.0, 5.0]
    with pytest.raises(CaptureError, match=r"D2S1003.*memory"):
        static(x, x.detach())
    assert x.tolist() == [2.0, 3.0]


def test_a_capture_refuses_what_changes_the_tape():
    outside = tensor(1.0, 2.0)
    learnt = d2s.to_tensor([1.0], stop_gradient=False)
    behind = learnt * 1.0
    changes = [
        lambda x: outside.detach_(),
        lambda x: learnt.register_hook(print),
        lambda x: behind.register_hook(print),
        lambda x: behind.retain_grads(),
    ]
    for change in changes:
        with pytest.raises(CaptureError, match=rf"D2S100[13](.|\n)*{re.escape(__file__)}"):
            d2s.to_static(change)(tensor(1.0, 2.0))
        assert outside.tolist() == [1.0, 2.0] and outside.inplace_version == 0


# --- nothing is kept for longer than it is needed


def test_writes_are_forgotten_with_the_memory():
    """Those of these tensors: what earlier tests have left may be forgotten meanwhile."""
    tensors = [tensor(float(k), 2.0).add_(1.0) for k in range(100)]
    written = {t.array.ctypes.data for t in tensors}
    assert len(written & writes._writes.keys()) == 100
    held = tensors[0].array[1:]
    del tensors
    assert written & writes._writes.keys() == {held.ctypes.data - held.itemsize}
    del held
    assert not written & writes._writes.keys()


def test_new_memory_at_an_old_address_was_not_changed():
    x, seen = leaf(1.0, 2.0), 0
    for _ in range(1000):
        y = tensor(3.0, 4.0)
        z = x * y
        other = tensor(5.0, 6.0).add_(1.0)
        del other
        z.sum().backward()
        seen += 1
    assert seen == 1000


def nodes():
    return sum(issubclass(type(o), tape.TapeNode) for o in gc.get_objects())


def test_graphs_are_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        before = nodes()
        x, w = tensor(1.0, 2.0), leaf(3.0, 4.0)
        for _ in range(10):
            h = x * w
            h.add_(h * 3.0)
            h[0] = (h * 2.0).sum()
            h.multiply_(h)
            h.retain_grads()
            h.sum().backward()
            x.multiply_(w)
            y = d2s.to_static(lambda x, w: x * w)(h.detach(), w)
            y.add_(x)
            x.detach_()
            del h, y
        assert nodes() - before == 0
        y = x * w
        for _ in range(100):
            y = y + x
            y.add_(x)
        assert nodes() - before > 100
        del y
        assert nodes() - before == 0
    finally:
        gc.enable()


def test_a_long_history_ends_quietly():
    y = leaf(1.0, 2.0)
    for _ in range(200_000):
        y = y + 1.0
    del y


def test_training_does_not_grow():
    d2s.seed(0)
    net = d2s.nn.Linear(4, 2)
    x, moment = d2s.to_tensor(np.ones((3, 4), "float32")), d2s.to_tensor(np.zeros((4, 2), "float32"))

    def step():
        y = net(x)
        y.multiply_(y)
        y.sum().backward()
        with d2s.no_grad():
            moment.scale_(0.9).add_(net.weight.grad)
            net.weight.subtract_(moment * 0.001)
            net.bias.set_value(net.bias - net.bias.grad * 0.001)
        net.weight.clear_gradient(set_to_zero=False)
        net.bias.clear_gradient()

    gc.collect()
    gc.disable()
    try:
        for _ in range(2_000):  # tables and caches are full
            step()
        tracemalloc.start()
        for _ in range(100):
            step()
        before = traced_blocks()
        for _ in range(10_000):
            step()
        after = traced_blocks()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert after - before < 1_000


def traced_blocks():
    """How many pieces of memory there are: Python makes a table of its own anew now and then, one piece of megabytes."""
    return len(tracemalloc.take_snapshot().traces)
