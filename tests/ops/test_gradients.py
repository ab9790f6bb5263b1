"""vjp == finite differences in float64, for every op that has one; and what the tape promises about `grad`."""

import itertools

import numpy as np
import pytest

import d2s
from d2s import types
from d2s.errors import GradientError
from d2s.ops import OPS
from tests.samples import KERNELS, fits

STEP = 1e-6
SMALL = {  # shapes of a few elements, broadcasting both ways
    1: [((),), ((3,),), ((2, 1, 2),), ((0,),)],
    2: [((), ()), ((3,), (3,)), ((3,), ()), ((), (3,)), ((2, 1), (1, 3)), ((1, 1), (2,)), ((2,), (3, 1, 1)), ((0, 2), (2,))],
    3: [((), (), ()), ((3,), (3,), (3,)), ((2, 1), (3,), ()), ((), (2, 1), (1, 3)), ((2, 3), (1,), (2, 1))],
}
OWN_SHAPES = {"spread": [((), (2, 3))]}
DIFFERENTIABLE = [name for name in KERNELS if OPS[name].has("vjp")]


def cases():
    for name in DIFFERENTIABLE:
        attrs = KERNELS[name].attrs if name != "cast" else [{"dtype": types.float64}, {"dtype": types.float32}]
        for shapes, a in itertools.product(OWN_SHAPES.get(name, SMALL[len(OPS[name].arrays)]), attrs):
            if fits(a, len(shapes[0])):
                yield pytest.param(name, shapes, a, id=f"{name}-{shapes}-{a}".replace(" ", ""))


def inputs_of(name, shapes, attrs):
    """Numbers well away from relu's corner; a bool condition where one is kept."""
    rng = np.random.default_rng(7)
    arrays = [rng.uniform(0.3, 1.7, s) * rng.choice([-1.0, 1.0], s) for s in shapes]
    return [
        rng.random(s) < 0.5 if n < OPS[name].kept else np.asarray(a)
        for n, (a, s) in enumerate(zip(arrays, shapes, strict=True))
    ]


@pytest.mark.parametrize(("name", "shapes", "attrs"), list(cases()))
def test_it_agrees_with_finite_differences(name, shapes, attrs):
    op, arrays = OPS[name], inputs_of(name, shapes, attrs)
    tensors = [d2s.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    out = op(*tensors, **attrs)
    weights = np.random.default_rng(1).standard_normal(out.shape).astype(out.dtype.numpy)
    if out.stop_gradient:
        pytest.fail(f"{name} made no tape")
    out.backward(d2s.to_tensor(weights))
    tolerance = 1e-7 if out.dtype is types.float64 else 0.2

    def loss(changed):
        return float((op(*map(d2s.to_tensor, changed), **attrs).numpy().astype("float64") * weights).sum())

    step = STEP if out.dtype is types.float64 else 1e-2
    for n, (array, tensor) in enumerate(zip(arrays, tensors, strict=True)):
        if tensor.stop_gradient or (name == "spread" and n == 1):
            assert tensor.grad is None
            continue
        expected = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            up, down = array.copy(), array.copy()
            up[at] += step
            down[at] -= step
            expected[at] = (loss([*arrays[:n], up, *arrays[n + 1 :]]) - loss([*arrays[:n], down, *arrays[n + 1 :]])) / (
                2 * step
            )
        assert tensor.grad.dtype is tensor.dtype
        np.testing.assert_allclose(tensor.grad.numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", [n for n in KERNELS if not OPS[n].has("vjp")])
def test_bools_carry_no_gradient(name):
    x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
    assert OPS[name](x, x).stop_gradient


def leaf(numbers, dtype="float32"):
    return d2s.to_tensor(numbers, dtype, stop_gradient=False)


def test_contributions_are_added_latest_node_first():
    """In float32 (a + b) + c differs from a + (b + c): the order is part of the bits."""
    x = leaf([1.0])
    parts = [x * 1.0, x * 1e8, x * -1e8]  # swept from the right: (-1e8 + 1e8) + 1
    ((parts[0] + parts[1]) + parts[2]).sum().backward()
    assert x.grad.numpy().tolist() == [1.0]
    y = leaf([1.0])
    parts = [y * -1e8, y * 1e8, y * 1.0]  # (1 + 1e8) - 1e8
    ((parts[0] + parts[1]) + parts[2]).sum().backward()
    assert y.grad.numpy().tolist() == [0.0]


def test_both_operands_may_be_the_same_tensor():
    x = leaf([3.0])
    (x * x - x).sum().backward()
    assert x.grad.numpy().tolist() == [5.0]


def test_a_first_contribution_keeps_its_bits():
    x = leaf([1.0])
    x.sum(0).backward(d2s.to_tensor(-0.0))
    assert np.signbit(x.grad.numpy()).all()


def test_two_backward_calls_add_up():
    x = leaf([2.0])
    (x * x).sum().backward()
    (x * 3.0).sum().backward()
    assert x.grad.numpy().tolist() == [7.0]
    x.clear_gradient(set_to_zero=False)
    assert x.grad is None


def test_a_released_graph_is_refused():
    x = leaf([2.0])
    y = (x * x).sum()
    y.backward()
    with pytest.raises(GradientError, match=r"D2S0006.*second time(.|\n)*retain_graph=True"):
        y.backward()
    assert x.grad.numpy().tolist() == [4.0]


def test_a_retained_graph_is_swept_again():
    x = leaf([2.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.numpy().tolist() == [8.0]


def test_a_graph_released_through_another_result_is_refused():
    x = leaf([2.0])
    shared = x * x
    (shared * 2.0).backward()
    with pytest.raises(GradientError, match="D2S0006"):
        (shared * 3.0).backward()


def test_no_grad_makes_no_tape():
    x = leaf([2.0])
    with d2s.no_grad():
        y = x * x
    assert y.stop_gradient
    assert y.is_leaf
    assert not (x * x).stop_gradient


def test_no_grad_ends_where_it_is_left_by_an_error():
    with pytest.raises(ZeroDivisionError), d2s.no_grad():
        raise ZeroDivisionError
    assert not (leaf([2.0]) * 1.0).stop_gradient


def test_stop_gradient_and_detach_cut_the_tape():
    x, y = leaf([2.0]), d2s.to_tensor([5.0])
    ((x * y) + (x * x).detach()).sum().backward()
    assert x.grad.numpy().tolist() == [5.0]
    assert y.grad is None


def test_backward_of_what_depends_on_nothing_is_refused():
    with pytest.raises(GradientError, match="D2S0006"):
        d2s.to_tensor([1.0]).backward()
    with pytest.raises(GradientError, match="D2S0006"):
        (leaf([1.0]) > 0.0).backward()


@pytest.mark.parametrize(
    "wrong", [d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([1.0], "float64"), d2s.to_tensor(1.0)], ids=["extent", "dtype", "rank"]
)
def test_a_cotangent_of_another_type_is_refused(wrong):
    with pytest.raises(GradientError, match=r"D2S0006.*grad_tensor"):
        (leaf([1.0]) * 2.0).backward(wrong)


def test_a_backward_of_a_leaf_is_its_cotangent():
    x = leaf([1.0, 2.0])
    x.backward()
    assert x.grad.numpy().tolist() == [1.0, 1.0]


def test_gradients_of_two_leaves_are_two_tensors():
    """Changing one in place (clipping, say) must not change the other."""
    x, y, g = leaf([1.0]), leaf([2.0]), d2s.to_tensor([1.0])
    (x + y).backward(g)
    x.grad.set_value([100.0])
    assert y.grad.numpy().tolist() == [1.0]
    assert g.numpy().tolist() == [1.0]


def test_set_value_is_seen_by_gradients_that_need_the_old_values():
    x = leaf([3.0])
    y, z = (x * x).sum(), (x + x).sum()
    x.set_value([100.0])
    z.backward()
    assert x.grad.numpy().tolist() == [2.0]
    with pytest.raises(GradientError, match=r"multiply\(\) \(at .*changed in place \(at "):
        y.backward()


def test_integers_in_between_stop_gradients():
    x = leaf([1.5])
    assert x.cast("int32").stop_gradient
    assert x.cast("float64").cast("float32").stop_gradient is False


def test_relu_has_no_gradient_at_zero_and_passes_it_above():
    x = leaf([-1.0, 0.0, 2.0])
    d2s.relu(x).sum().backward()
    assert x.grad.numpy().tolist() == [0.0, 0.0, 1.0]


def test_a_long_chain_needs_no_python_stack():
    x = leaf([1.0])
    y = x
    for _ in range(3000):
        y = y + 1.0
    y.backward()
    assert x.grad.numpy().tolist() == [1.0]
    del y


@pytest.mark.parametrize("p", [None, 2, 3])
def test_the_gradient_of_a_norm_is_0_where_all_is_0(p):
    x = d2s.to_tensor([[0.0, 0.0], [3.0, 0.0]], stop_gradient=False)
    length = d2s.norm(x, p, 1)
    length.sum().backward()
    assert length.tolist() == [0.0, pytest.approx(3.0)]
    np.testing.assert_allclose(x.grad.numpy(), [[0.0, 0.0], [1.0, 0.0]], rtol=1e-6)
