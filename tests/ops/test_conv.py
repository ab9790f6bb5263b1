"""Convolutions of random forms: against sums written out in NumPy, their gradients as adjoints, the same bits on every path."""

import ctypes
import itertools
import mmap

import numpy as np
import pytest

import d2s
import d2s.nn.functional as F
from d2s.errors import D2SError
from d2s.ops.conv import conv_, conv_transpose_, conv_weight_grad
from d2s.runtime.differing import same_bits
from tests.ops.without_memory import without_memory

FORMS = range(60)


def form(seed):
    """Shapes and attributes: small ones, and some whose rows are whole vectors."""
    rng = np.random.default_rng(seed)
    rank = int(rng.choice([1, 2, 2, 2, 3]))
    groups = int(rng.choice([1, 1, 2, 3]))
    channels, filters = groups * int(rng.integers(1, 5)), groups * int(rng.integers(1, 9))
    if seed % 4 == 0:
        groups = channels = filters = int(rng.integers(1, 6))
    kernel, stride, dilation = (tuple(int(n) for n in rng.integers(1, top, rank)) for top in (4, 4, 3))
    padding = tuple(int(n) for n in rng.integers(0, 3, 2 * rank))
    if seed % 5 == 0:
        stride, padding = (1,) * rank, (0,) * 2 * rank
    least = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    size = [int(n + rng.integers(0, 9)) for n in least]
    if seed % 3 == 0:
        size[-1] = (32 + int(rng.integers(0, 9))) * stride[-1]
    attrs = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    x = rng.standard_normal((int(rng.integers(1, 6)), channels, *size))
    return x, rng.standard_normal((filters, channels // groups, *kernel)), attrs


def windows(x, kernel, stride, padding, dilation):
    """[batch, channels, *places, *taps] of a padded array."""
    x = np.pad(x, [(0, 0), (0, 0), *zip(padding[::2], padding[1::2], strict=True)])
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    axes = tuple(range(2, x.ndim))
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, axes)
    places, taps = (tuple(slice(None, None, s) for s in steps) for steps in (stride, dilation))
    return seen[(slice(None), slice(None), *places, *taps)]


def written_out(x, weight, stride, padding, dilation, groups):
    rank, parts = x.ndim - 2, []
    for xs, ws in zip(np.split(x, groups, 1), np.split(weight, groups, 0), strict=True):
        seen = windows(xs, weight.shape[2:], stride, padding, dilation)
        summed = np.tensordot(seen, ws, ([1, *range(2 + rank, 2 + 2 * rank)], [1, *range(2, 2 + rank)]))
        parts.append(np.moveaxis(summed, -1, 1))
    return np.concatenate(parts, 1)


def tensors(*arrays, dtype="float64"):
    return [d2s.to_tensor(a.astype(dtype)) for a in arrays]


@pytest.mark.parametrize("seed", FORMS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values(seed, dtype):
    x, weight, attrs = form(seed)
    bias = np.random.default_rng(seed).standard_normal(len(weight))
    expected = written_out(x, weight, **attrs) + bias.reshape(-1, *[1] * (x.ndim - 2))
    found = conv_(*tensors(x, weight, bias, dtype=dtype), **attrs).numpy()
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 if dtype == "float64" else 2e-5)


@pytest.mark.parametrize("seed", FORMS)
def test_gradients_are_adjoints(seed):
    x, weight, attrs = form(seed)
    y = written_out(x, weight, **attrs)
    g = np.random.default_rng(seed).standard_normal(y.shape)
    of_x = conv_transpose_(*tensors(g, weight), **attrs, size=x.shape[2:]).numpy()
    of_weight = conv_weight_grad(*tensors(x, g), **attrs, kernel=weight.shape[2:]).numpy()
    other_x, other_weight = (np.random.default_rng(seed + 1).standard_normal(a.shape) for a in (x, weight))
    for found, at, changed in (
        (of_x, other_x, written_out(other_x, weight, **attrs)),
        (of_weight, other_weight, written_out(x, other_weight, **attrs)),
    ):
        assert found.shape == at.shape
        assert (found * at).sum() == pytest.approx((changed * g).sum(), rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("seed", FORMS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_sum_in_ascending_order_on_every_path(seed, dtype):
    x, weight, attrs = form(seed)
    y = written_out(x, weight, **attrs)
    g, bias = (np.random.default_rng(seed).standard_normal(shape) for shape in (y.shape, y.shape[1]))
    x, weight, g, bias = (a.astype(dtype) for a in (x, weight, g, bias))
    weight.flat[0], x.flat[0], g.flat[0] = np.inf, -0.0, 0.0
    cases = (
        (conv_, (x, weight, bias), {}),
        (conv_transpose_, (g, weight), {"size": x.shape[2:]}),
        (conv_weight_grad, (x, g), {"kernel": weight.shape[2:]}),
    )
    for op, arrays, more in cases:
        with np.errstate(all="ignore"):
            fast = op(*map(d2s.to_tensor, arrays), **attrs, **more).numpy()
        assert same_bits(fast, without_memory(op, arrays, attrs | more, "memory = new_memory(")), op.name


SPREAD = {  # source, filters, attributes: results so much larger that products are made first
    "LeNet's": ((3, 50, 8, 8), (50, 20, 5, 5), {}),
    "groups": ((2, 48, 6, 7), (48, 5, 4, 3), {"groups": 2}),
    "dilation": ((2, 17, 5, 6), (17, 3, 3, 3), {"dilation": (2, 3)}),
    "padding": ((1, 16, 4, 4), (16, 7, 5, 5), {"padding": (1, 0, 0, 1)}),
    "a line": ((5, 20, 9), (20, 4, 7), {}),
    "a wide line": ((1, 16, 50), (16, 4, 40), {}),
    "a volume": ((2, 16, 3, 4, 3), (16, 4, 2, 2, 3), {}),
    "many images": ((70, 16, 2, 2), (16, 9, 3, 3), {}),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SPREAD)
def test_transposes_much_larger_than_their_source(name, dtype):
    have, filters, attrs = SPREAD[name]
    rng = np.random.default_rng(0)
    rank, groups = len(have) - 2, attrs.get("groups", 1)
    full = {"stride": (1,) * rank, "padding": (0,) * 2 * rank, "dilation": (1,) * rank, "groups": 1} | attrs
    ends = [d * (k - 1) for d, k in zip(full["dilation"], filters[2:], strict=True)]
    lost = [low + high for low, high in zip(*[iter(full["padding"])] * 2, strict=True)]
    size = tuple(n + e - p for n, e, p in zip(have[2:], ends, lost, strict=True))
    full |= {"size": size}
    g, weight, bias = (rng.standard_normal(s).astype(dtype) for s in (have, filters, (filters[1] * groups,)))
    weight.flat[0] = np.inf
    op = lambda *xs: conv_transpose_(*map(d2s.to_tensor, xs), **full)  # noqa: E731
    with np.errstate(all="ignore"):
        found = op(g, weight, bias).numpy()
    assert 3 * np.prod(have[2:]) <= 2 * np.prod(found.shape[2:])  # else another way is taken
    expected = np.zeros((have[0], filters[1] * groups, *(n + p for n, p in zip(have[2:], ends, strict=True))))
    for part in range(groups):
        s, d = have[1] // groups, filters[1]
        for tap in np.ndindex(filters[2:]):
            into = tuple(slice(k * t, k * t + n) for k, t, n in zip(tap, full["dilation"], have[2:], strict=True))
            mine = (
                g[:, part * s : (part + 1) * s].astype("float64"),
                weight[(slice(part * s, (part + 1) * s), slice(None), *tap)],
            )
            with np.errstate(all="ignore"):
                expected[(slice(None), slice(part * d, (part + 1) * d), *into)] += np.moveaxis(
                    np.tensordot(*mine, (1, 0)), -1, 1
                )
    cut = tuple(slice(low, n - high) for low, high, n in zip(*[iter(full["padding"])] * 2, expected.shape[2:], strict=True))
    expected = expected[(slice(None), slice(None), *cut)] + bias.reshape(-1, *[1] * rank)
    np.testing.assert_allclose(
        found, expected, rtol=1e-4 if dtype == "float32" else 1e-12, atol=2e-5 if dtype == "float32" else 1e-12
    )
    with np.errstate(all="ignore"):
        assert same_bits(found, without_memory(conv_transpose_, (g, weight, bias), full, "memory = new_memory("))
    before = d2s.get_num_threads()
    try:
        d2s.set_num_threads(3)
        assert same_bits(found, op(g, weight, bias).numpy())
    finally:
        d2s.set_num_threads(before)


def test_every_sum_is_one_chain_of_fused_steps():
    """Terms that cancel tell in which order they are added, and that no product is rounded."""
    x = np.array([1e8, 1.0, -1e8, 1.0 + 2.0**-23], np.float32)
    weight = np.array([1.0, 1.0, 1.0, 1.0 - 2.0**-23], np.float32)
    total = np.float32(0)
    for a, b in zip(x, weight, strict=True):
        total = np.float32(np.longdouble(a) * np.longdouble(b) + np.longdouble(total))
    assert conv_(*map(d2s.to_tensor, (x.reshape(1, 1, 4), weight.reshape(1, 1, 4)))).item() == total
    assert conv_(*map(d2s.to_tensor, (x.reshape(1, 4, 1), weight.reshape(1, 4, 1)))).item() == total


def test_padding_takes_part_with_zeros():
    weight = np.zeros((1, 1, 3), np.float32)
    weight[0, 0, 0] = np.inf
    found = F.conv1d(*map(d2s.to_tensor, (np.ones((1, 1, 4), np.float32), weight)), padding=1)
    assert np.isnan(found.numpy()).tolist() == [[[True, False, False, False]]]


@pytest.mark.parametrize("seed", range(0, 60, 7))
def test_second_order(seed):
    """The gradient of a gradient, by finite differences."""
    x, weight, attrs = form(seed)
    rng = np.random.default_rng(seed)
    given = [x, weight]
    along = [rng.standard_normal(a.shape) for a in given]
    w_y = rng.standard_normal(written_out(x, weight, **attrs).shape)

    def slope(arrays):
        held = [d2s.to_tensor(a, stop_gradient=False) for a in arrays]
        y = conv_(*held, **attrs)
        found = d2s.grad([(y * y * d2s.to_tensor(w_y)).sum()], held, create_graph=True)
        total = (found[0] * d2s.to_tensor(along[0])).sum() + (found[1] * d2s.to_tensor(along[1])).sum()
        return held, total

    held, total = slope(given)
    total.backward()
    step = 1e-5
    for n in range(2):
        moved = [[a + s * step * along[n] if k == n else a for k, a in enumerate(given)] for s in (1, -1)]
        expected = (slope(moved[0])[1].item() - slope(moved[1])[1].item()) / (2 * step)
        assert (held[n].grad.numpy() * along[n]).sum() == pytest.approx(expected, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("shape", [(0, 2, 5, 5), (2, 2, 5, 5)])
def test_an_empty_batch(shape):
    x, weight = d2s.zeros(list(shape)), d2s.ones([4, 2, 3, 3])
    x.stop_gradient = weight.stop_gradient = False
    y = F.conv2d(x, weight)
    assert y.shape == [shape[0], 4, 3, 3]
    y.sum().backward()
    assert x.grad.shape == list(shape)
    assert weight.grad.numpy().tolist() == np.zeros((4, 2, 3, 3)).tolist()


def test_results_do_not_depend_on_threads():
    rng = np.random.default_rng(3)
    x, weight = rng.standard_normal((5, 12, 17, 16)).astype("f4"), rng.standard_normal((40, 12, 3, 3)).astype("f4")
    before, found = d2s.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            d2s.set_num_threads(threads)
            y = conv_(*map(d2s.to_tensor, (x, weight)), padding=1)
            grads = (
                conv_transpose_(y, d2s.to_tensor(weight), padding=1, size=(17, 16)),
                conv_weight_grad(d2s.to_tensor(x), y, 1, 1, 1, 1, (3, 3)),
            )
            found.append([t.numpy() for t in (y, *grads)])
    finally:
        d2s.set_num_threads(before)
    for a, b in itertools.pairwise(found):
        assert all(same_bits(p, q) for p, q in zip(a, b, strict=True))


def test_layouts_sizes_and_spellings():
    rng = np.random.default_rng(4)
    x, weight, bias = tensors(rng.standard_normal((2, 4, 7, 8)), rng.standard_normal((6, 2, 3, 3)), rng.standard_normal(6))
    plain = F.conv2d(x, weight, bias, stride=[2, 1], padding=[1, 0, 2, 1], groups=2)
    pairs = F.conv2d(x, weight, bias, [2, 1], [[0, 0], [0, 0], [1, 0], [2, 1]], groups=2)
    last = F.conv2d(x.transpose([0, 2, 3, 1]), weight, bias, [2, 1], [1, 0, 2, 1], 1, 2, "NHWC")
    assert plain.shape == [2, 6, 3, 9]
    assert same_bits(plain.numpy(), pairs.numpy())
    assert same_bits(plain.numpy(), last.numpy().transpose(0, 3, 1, 2).copy())
    assert F.conv2d(x, weight, padding="SAME", dilation=2, groups=2).shape == [2, 6, 7, 8]  # whose windows are dense then
    assert F.conv2d(x, weight, padding="VALID", dilation=2, groups=2).shape == [2, 6, 3, 4]
    back = tensors(rng.standard_normal((2, 6, 7, 8)))[0]
    for attrs, shape in (
        ({"stride": 2}, [15, 17]),
        ({"stride": 2, "output_padding": 1}, [16, 18]),
        ({"stride": 2, "output_size": [16, 17]}, [16, 17]),
        ({"stride": 2, "padding": [1, 0, 0, 1]}, [14, 16]),
        ({"dilation": 3, "output_padding": 2}, [15, 16]),
    ):
        assert F.conv2d_transpose(back, weight, groups=2, **attrs).shape == [2, 4, *shape]


WRONG = [
    (lambda x, w: F.conv2d(x, w, stride=0), "'stride' is 0"),
    (lambda x, w: F.conv2d(x, w, padding=-1), "'padding' is -1"),
    (lambda x, w: F.conv2d(x, w, padding=[1, 2, 3]), "'padding' is"),
    (lambda x, w: F.conv2d(x, w, padding=[[0, 0], [1, 0], [0, 0], [0, 0]]), "those of batch and channels (0, 0)"),
    (lambda x, w: F.conv2d(x, w, groups=0), "'groups' is 0"),
    (lambda x, w: F.conv2d(x, w, groups=2), "expected 4 channels of 'x'"),
    (lambda x, w: F.conv2d(x, w, d2s.ones([3])), "'bias' has shape [3], expected [5]"),
    (lambda x, w: F.conv2d(x, w, dilation=4), "extent 6 along axis H"),
    (lambda x, w: F.conv2d(x, w.astype("float64")), "does not take"),
    (lambda x, w: F.conv1d(x, w), "expected 3 axes"),
    (lambda x, w: F.conv2d(x, w, data_format="NHCW"), "'data_format' is 'NHCW'"),
    (lambda x, w: F.conv2d(x, 3.0), "expects a Tensor"),
    (lambda x, w: F.conv2d_transpose(x, w), "expected 5 channels of 'x'"),
    (lambda x, w: F.conv2d_transpose(d2s.ones([1, 5, 4, 4]), w, stride=2, output_size=[12, 9]), "9 to 10 fits"),
    (lambda x, w: F.conv2d_transpose(d2s.ones([1, 5, 4, 4]), w, output_padding=1), "less than the stride 1"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_what_does_not_fit_is_said(call, said):
    with pytest.raises(D2SError) as caught:
        call(d2s.ones([1, 2, 6, 7]), d2s.ones([5, 2, 3, 3]))
    assert said in str(caught.value)


def before_a_guarded_page(array):
    """A copy that ends where memory may be read no more."""
    page, size = mmap.PAGESIZE, array.nbytes
    room = mmap.mmap(-1, (size // page + 2) * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(room))
    end = start + (size // page + 1) * page
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(end, page, 0) == 0
    held = np.frombuffer(room, array.dtype, array.size, end - size - start).reshape(array.shape)
    held[...] = array
    return held


@pytest.mark.parametrize("width", [7, 12, 16, 19, 33])
@pytest.mark.parametrize("groups", [1, 4])
def test_nothing_behind_an_input_is_read(width, groups):
    rng = np.random.default_rng(width)
    for stride, padding in itertools.product((1, 2), (0, 1)):
        attrs = {"stride": (stride,) * 2, "padding": (padding,) * 4, "dilation": (1, 1), "groups": groups}
        x, weight = rng.standard_normal((3, 4, 6, width)), rng.standard_normal((4, 4 // groups, 3, 3))
        g = rng.standard_normal(written_out(x, weight, **attrs).shape)
        for op, arrays, more in (
            (conv_, (x, weight), {}),
            (conv_transpose_, (g, weight), {"size": x.shape[2:]}),
            (conv_weight_grad, (x, g), {"kernel": (3, 3)}),
        ):
            held = [before_a_guarded_page(a.astype(np.float32)) for a in arrays]
            found = op(*map(d2s.Tensor, held), **attrs, **more)
            assert same_bits(found.numpy(), op(*(d2s.to_tensor(a) for a in held), **attrs, **more).numpy())
