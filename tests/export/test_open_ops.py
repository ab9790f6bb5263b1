"""Functions of tensors whose extents stay open in a file: one file for all sizes has the bits of eager code, gradients too."""

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError
from d2s.nn import functional as F
from d2s.static import InputSpec
from tests.export.test_paddle_round_trip import strip

N = None
ROWS, PAIR = [[N, 4]], [[N, 4], [N, 4]]
SIZES = (3, 1, 5, 4)


def by_heads(q, k, mask):
    weights = F.softmax(d2s.einsum("bqhd,bkhd->bhqk", q, k) + mask)
    return d2s.einsum("bhqk,bkhd->bqhd", weights, k)


CASES = {
    "einsum of a batch": (lambda x, y: d2s.einsum("btd,bsd->bts", x, y), [[N, N, 4], [N, N, 4]]),
    "einsum of a batch and a length": (lambda x, y: d2s.einsum("btd,bsd->bts", x, y), [[N, 5, 4], [N, N, 4]]),
    "einsum by heads": (by_heads, [[N, N, 2, 4], [N, N, 2, 4], [N, 1, 1, N]]),
    "einsum with a matrix": (lambda x, y: d2s.einsum("nctkv,kvw->nctw", x, y), [[N, 2, N, 2, 3], [2, 3, 3]]),
    "einsum of three": (lambda x, y, z: d2s.einsum("bi,bj,bk->bijk", x, y, z), [[N, 2], [N, 3], [N, 4]]),
    "einsum of products alone": (lambda x, y: d2s.einsum("bi,bi->b", x, y), PAIR),
    "einsum that repeats": (lambda x, y: d2s.einsum("bi,bj->ij", x, y), [[1, 4], [N, 3]]),
    "einsum with dots": (lambda x, y: d2s.einsum("...ij,...jk->...ik", x, y), [[N, 4, 2], [N, 2, 3]]),
    "tensordot": (lambda x, y: d2s.tensordot(x, y, [[0], [0]]), [[N, 4], [N, 3]]),
    "quantile": (lambda x: d2s.quantile(x, [0.25, 0.4, 0.9], axis=0), ROWS),
    "quantile of all": (lambda x: d2s.quantile(x, 0.3), ROWS),
    "quantile nearest": (lambda x: d2s.quantile(x, [0.1, 0.5, 0.75], axis=0, interpolation="nearest"), ROWS),
    "quantile midpoint": (lambda x: d2s.quantile(x, 0.4, axis=0, interpolation="midpoint"), ROWS),
    "median": (lambda x: d2s.median(x, axis=0), ROWS),
    "median of all": (lambda x: d2s.median(x), ROWS),
    "lower median": (lambda x: d2s.median(x, axis=0, mode="min", keepdim=True)[0], ROWS),
    "topk of an open axis": (lambda x: d2s.topk(x, 1, axis=0)[0] * d2s.topk(x.flatten(), 3, largest=False)[0].sum(), ROWS),
    "places of topk": (lambda x: d2s.topk(x.flatten(), 4)[1].astype("float32") + x, ROWS),
    "kthvalue of an open axis": (lambda x: d2s.kthvalue(x, 1, axis=0)[0] + d2s.kthvalue(x.flatten(), 3, keepdim=True)[0], ROWS),
    "arange in steps": (
        lambda x: x[d2s.arange(x.shape[0] - 1, -1, -2)] * d2s.arange(1, x.shape[0] * 3, 3, "float32").sum(),
        ROWS,
    ),
    "slice": (lambda x: d2s.slice(x, [0, 1], [-2, 1], [100, 3]), ROWS),
    "slice up to a size": (lambda x, y: d2s.slice(x, [0], [0], [y.shape[0] - 1]), PAIR),
    "strided_slice": (lambda x: d2s.strided_slice(x, [0], [-1], [-100], [-2]), ROWS),
    "crop": (lambda x: d2s.crop(x, [-1, 2], [0, 1]), ROWS),
    "the first row with all": (lambda x: F.sigmoid(x) + x[:1], ROWS),
    "the last row with all": (lambda x: x[-1:] * x.abs(), ROWS),
    "the first row for all": (lambda x: x[0:1].expand_as(x) * x[:1].expand([x.shape[0], 4]), ROWS),
    "the last of open columns": (lambda x: x - d2s.slice(x, [1], [-1], [2**31 - 1]), [[N, N, 2]]),
    "matrices with the first one": (lambda x: d2s.matmul(x.unsqueeze(1), x[:1].unsqueeze(2)), ROWS),
    "diff": (lambda x: d2s.diff(x, n=2, axis=0), ROWS),
    "trapezoid": (lambda x: d2s.trapezoid(x, axis=0), ROWS),
    "grid_sample": (lambda x, grid: F.grid_sample(x, F.tanh(grid)), [[N, 2, 4, 4], [N, 3, 3, 2]]),
    "affine_grid": (lambda x: F.affine_grid(x, [x.shape[0], 2, 3, 3]), [[N, 2, 3]]),
    "temporal_shift": (lambda x: F.temporal_shift(d2s.concat([x, x]), 2), [[N, 4, 2, 2]]),
    "sequence_mask": (lambda x: x * F.sequence_mask(d2s.arange(x.shape[0]) % 5, 4, "float32"), ROWS),
    "multiplex": (lambda x, y: d2s.multiplex([x, y], (x[:, :1] > 0).astype("int32")), PAIR),
    "pad to a multiple": (lambda x: F.pad(x, [0, (-x.shape[3]) % 4, 1, (-x.shape[2]) % 4], value=2.5), [[N, 2, N, N]]),
    "pad of open axes": (lambda x: F.pad(x, [x.shape[0], 1, 0, x.shape[0] // 2]).reshape([-1, 4 + x.shape[0] // 2]), ROWS),
    "dice_loss": (lambda x: F.dice_loss(F.softmax(x), d2s.argmax(x, -1, keepdim=True)), ROWS),
}


def arrays(shapes, size):
    rng = np.random.default_rng(size)
    return [rng.normal(size=[size if d is None else d for d in shape]).astype("float32") for shape in shapes]


def found(function, given):
    tensors = [d2s.to_tensor(a, stop_gradient=False) for a in given]
    y = function(*tensors)
    (y * y).sum().backward()
    return [t if t is None else t.numpy() for t in (y, *(x.grad for x in tensors))]


@pytest.mark.parametrize("name", CASES)
def test_one_file_is_for_all_sizes(name, tmp_path):
    function, shapes = CASES[name]
    d2s.jit.save(function, str(tmp_path / "f"), [InputSpec(s, name=f"x{n}") for n, s in enumerate(shapes)])
    loaded = d2s.jit.load(str(tmp_path / "f"))
    for size in SIZES:
        for a, b in zip(found(function, arrays(shapes, size)), found(loaded, arrays(shapes, size)), strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


def test_parts_that_a_run_finds_in_the_arms_of_an_if_have_gradients_by_the_ops_alone(tmp_path):
    def function(x):
        return (x[1:] * x[:-1]).sum() if x.sum() > 0 else x[2:].square().sum()

    d2s.jit.save(function, str(tmp_path / "f"), [InputSpec([N, 4], name="x")])
    strip(tmp_path / "f")
    bare = d2s.jit.load(str(tmp_path / "f"))
    for size in SIZES:
        for given in (arrays(ROWS, size), [-a for a in arrays(ROWS, size)]):
            for a, b in zip(found(function, given), found(bare, given), strict=True):
                np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("name", ["topk", "kthvalue"])
def test_more_than_an_open_axis_has_is_refused_in_the_run(name, tmp_path):
    d2s.jit.save(lambda x: getattr(d2s, name)(x, 3, axis=0), str(tmp_path / "f"), [InputSpec([N, 4], name="x")])
    loaded = d2s.jit.load(str(tmp_path / "f"))
    assert [t.tolist() for t in loaded(d2s.ones([3, 4]))] == [
        t.tolist() for t in getattr(d2s, name)(d2s.ones([3, 4]), 3, axis=0)
    ]
    with pytest.raises(ArgumentError, match=rf"D2S0004.*{name}\(\): 'k' does not fit"):
        loaded(d2s.ones([2, 4]))


def all_of_unique(x):
    return d2s.unique(x, return_index=True, return_inverse=True, return_counts=True)


@pytest.mark.parametrize("function", [d2s.unique, all_of_unique, F.sequence_mask])
def test_what_the_values_tell_the_size_of(function, tmp_path):
    d2s.jit.save(lambda x: function(x), str(tmp_path / "f"), [InputSpec([N], "int64", name="x")])
    loaded = d2s.jit.load(str(tmp_path / "f"))
    for size in SIZES:
        x = d2s.to_tensor(np.random.default_rng(size).integers(0, 3, size))
        wanted, got = function(x), loaded(x)
        several = wanted if isinstance(wanted, tuple) else (wanted,)
        for a, b in zip(several, got if isinstance(got, tuple) else (got,), strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy(), strict=True)


def test_a_median_of_nothing_is_refused_by_the_run(tmp_path):
    d2s.jit.save(lambda x: d2s.median(x, axis=0), str(tmp_path / "f"), [InputSpec([N, 2], name="x")])
    with pytest.raises(d2s.errors.ArgumentError, match=r"median\(\): a count of values is below 1"):
        d2s.jit.load(str(tmp_path / "f"))(d2s.zeros([0, 2]))


def test_counts_of_values_are_refused_by_what_they_are():
    for function in (d2s.bincount, d2s.unique_consecutive):
        with pytest.raises(d2s.errors.CaptureError, match="is known at run time only"):
            d2s.to_static(lambda x: function(x))(d2s.to_tensor([1, 1]))  # noqa: B023
