"""What is made of other ops against NumPy, and static against eager: mixtures, comparisons, arrangements, sums of products."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import d2s
from d2s.errors import D2SError
from d2s.runtime.differing import same_bits

RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((3, 4)), RNG.standard_normal((3, 4))
WHOLE, V = RNG.integers(0, 9, (2, 3, 4)), RNG.standard_normal(5)
ODD = np.array([np.nan, np.inf, -np.inf, 1.5, -2.5, 0.0])
CASES = {
    "frac": (d2s.frac, lambda x: x - np.trunc(x), [A * 9]),
    "lerp": (lambda x, y: d2s.lerp(x, y, 0.25), lambda x, y: x + 0.25 * (y - x), [A, B]),
    "scale": (lambda x: d2s.scale(x, 2.0, 1.0), lambda x: 2 * x + 1, [A]),
    "scale before": (lambda x: d2s.scale(x, 2.0, 1.0, False), lambda x: 2 * (x + 1), [A]),
    "scale and relu": (lambda x: d2s.scale(x, 2.0, act="relu"), lambda x: np.maximum(2 * x, 0), [A]),
    "scale of integers": (lambda x: d2s.scale(x, 2.0, 1.0), lambda x: 2 * x + 1, [WHOLE]),
    "stanh": (d2s.stanh, lambda x: 1.7159 * np.tanh(0.67 * x), [A]),
    "logit": (d2s.logit, lambda x: np.log(x / (1 - x)), [np.abs(A) % 1]),
    "logit with eps": (lambda x: d2s.logit(x, 0.1), lambda x: np.log((c := np.clip(x, 0.1, 0.9)) / (1 - c)), [A]),
    "nan_to_num": (lambda x: d2s.nan_to_num(x, 1.0, 2.0), lambda x: np.nan_to_num(x, nan=1.0, posinf=2.0), [ODD]),
    "isclose": (d2s.isclose, np.isclose, [ODD, ODD + 1e-9]),
    "isclose of nans": (
        lambda x, y: d2s.isclose(x, y, equal_nan=True),
        lambda x, y: np.isclose(x, y, equal_nan=True),
        [ODD, ODD],
    ),
    "allclose": (d2s.allclose, np.allclose, [A, A + 1e-12]),
    "equal_all": (d2s.equal_all, np.array_equal, [A, B]),
    "equal_all of other shapes": (d2s.equal_all, np.array_equal, [A, V]),
    "rot90": (lambda x: d2s.rot90(x, 1, [1, 2]), lambda x: np.rot90(x, 1, (1, 2)), [WHOLE]),
    "rot90 back": (lambda x: d2s.rot90(x, -1, [2, 0]), lambda x: np.rot90(x, -1, (2, 0)), [WHOLE]),
    "rot90 twice": (lambda x: d2s.rot90(x, 2), lambda x: np.rot90(x, 2), [WHOLE]),
    "rot90 not": (lambda x: d2s.rot90(x, 4), lambda x: x, [WHOLE]),
    "repeat_interleave": (lambda x: d2s.repeat_interleave(x, 3, 1), lambda x: np.repeat(x, 3, 1), [WHOLE]),
    "repeat_interleave of all": (lambda x: d2s.repeat_interleave(x, 2), lambda x: np.repeat(x, 2), [WHOLE]),
    "repeat_interleave, each its own": (
        lambda x: d2s.repeat_interleave(x, [2, 0, 1], -2),
        lambda x: np.repeat(x, [2, 0, 1], -2),
        [WHOLE],
    ),
    "crop": (lambda x: d2s.crop(x, [1, -1, 2], [1, 1, 0]), lambda x: x[1:2, 1:, :2], [WHOLE]),
    "diag_embed": (d2s.diag_embed, lambda x: np.stack([np.diag(v) for v in x]), [A]),
    "diag_embed in front": (
        lambda x: d2s.diag_embed(x, -1, 0, 2),
        lambda x: np.stack([np.diag(v, -1) for v in x], 1),
        [A],
    ),
    "diag_embed turned": (lambda x: d2s.diag_embed(x, 1, 2, 1), lambda x: np.stack([np.diag(v, 1).T for v in x]), [A]),
    "diagflat": (lambda x: d2s.diagflat(x, 1), lambda x: np.diagflat(x, 1), [A]),
    "trace": (lambda x: d2s.trace(x, 1, 1, 2), lambda x: np.trace(x, 1, 1, 2), [WHOLE]),
    "kron": (d2s.kron, np.kron, [A, WHOLE.astype("float64")]),
    "cross": (lambda x, y: d2s.cross(x, y), lambda x, y: np.cross(x, y, axis=0), [A, B]),
    "add_n": (lambda x, y: d2s.add_n([x, y, x]), lambda x, y: x + y + x, [A, B]),
    "shard_index": (lambda x: d2s.shard_index(x, 9, 2, 1), lambda x: np.where(x // 5 == 1, x - 5, -1), [WHOLE]),
    "numel": (d2s.numel, lambda x: np.int64(x.size), [WHOLE]),
    "rank": (d2s.rank, lambda x: np.int32(x.ndim), [WHOLE]),
    "shape": (d2s.shape, lambda x: np.array(x.shape, "int32"), [WHOLE]),
    "clone": (d2s.clone, np.copy, [WHOLE]),
    "tensordot": (d2s.tensordot, np.tensordot, [A, RNG.standard_normal((3, 4, 2))]),
    "tensordot of none": (lambda x, y: d2s.tensordot(x, y, 0), lambda x, y: np.tensordot(x, y, 0), [A, V]),
    "tensordot by name": (
        lambda x, y: d2s.tensordot(x, y, [[1, 0], [0, 2]]),
        lambda x, y: np.tensordot(x, y, [[1, 0], [0, 2]]),
        [A, RNG.standard_normal((4, 5, 3))],
    ),
}
COUNTS = {
    "unique": (d2s.unique, np.unique, [WHOLE]),
    "unique rows": (lambda x: d2s.unique(x, axis=0), lambda x: np.unique(x, axis=0), [WHOLE[0] % 2]),
    "unique, all": (
        lambda x: d2s.unique(x, True, True, True),
        lambda x: [v.reshape(-1) for v in np.unique(x, True, True, True)],
        [WHOLE],
    ),
    "unique_consecutive": (
        lambda x: d2s.unique_consecutive(x, return_inverse=True, return_counts=True),
        lambda x: [np.array([1, 2, 1]), np.array([0, 0, 1, 2]), np.array([2, 1, 1])],
        [np.array([1, 1, 2, 1])],
    ),
    "bincount": (lambda x: d2s.bincount(x, minlength=12), lambda x: np.bincount(x, minlength=12), [WHOLE.reshape(-1)]),
    "bincount of weights": (d2s.bincount, np.bincount, [WHOLE[0, 0], A[0]]),
    "histogram": (lambda x: d2s.histogram(x, 7, -2, 2), lambda x: np.histogram(x, 7, (-2, 2))[0], [A]),
    "histogram of all": (lambda x: d2s.histogram(x, 5), lambda x: np.histogram(x, 5)[0], [A]),
}
EQUATIONS = [
    "ij,jk->ik",
    "ij,jk",
    "ij->ji",
    "ij->",
    "ii->i",
    "ii",
    "i,j->ij",
    "bij,bjk->bik",
    "bij,bkj->ik",
    "ijk,ijk->",
    "ij,ij,jk->k",
]
EQUATIONS += [
    "...ij,...jk->...ik",
    "i...->...",
    "ijk,k",
    "abc,cd,be->ade",
    "ij,kl->ijkl",
    "i,i,i->",
    "iij,j->i",
    "...,...->...",
]


def listed(found):
    return list(found) if isinstance(found, (tuple, list)) else [found]


@pytest.mark.parametrize("name", [*CASES, *COUNTS])
def test_against_numpy(name):
    function, reference, arrays = (CASES | COUNTS)[name]
    with np.errstate(all="ignore"):
        expected = listed(reference(*arrays))
    for found, right in zip(listed(function(*map(d2s.to_tensor, arrays))), expected, strict=True):
        assert found.numpy().dtype == np.asarray(right).dtype
        assert found.numpy().shape == np.shape(right)
        np.testing.assert_allclose(found.numpy(), right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_static_has_the_bits(name):
    function, _, arrays = CASES[name]
    tensors = [d2s.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]

    def call(*xs):
        return function(*xs)

    assert same_bits(function(*tensors).numpy(), d2s.to_static(call)(*tensors).numpy())


def operands(equation, extents):
    terms = equation.split("->")[0].split(",")
    shapes = [[extents[c] for c in term.replace("...", "XY")] for term in terms]
    return [np.random.default_rng(n).standard_normal(s) for n, s in enumerate(shapes)]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation):
    arrays = operands(equation, dict(zip("abcdeijklXY", (2, 3, 4, 2, 3, 4, 4, 3, 2, 3, 2), strict=True)))
    if "ij,jk" in equation or "ii" in equation or "ijk" in equation:
        arrays = operands(equation, dict.fromkeys("abcdeijklXY", 3))
    tensors = [d2s.to_tensor(a, stop_gradient=False) for a in arrays]
    found = d2s.einsum(equation, *tensors)
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), rtol=1e-12, atol=1e-12)
    found.sum().backward()
    for n, x in enumerate(tensors):
        moved = [a.copy() for a in arrays]
        moved[n].flat[0] += 1e-6
        slope = (np.einsum(equation, *moved).sum() - np.einsum(equation, *arrays).sum()) / 1e-6
        assert abs(x.grad.numpy().flat[0] - slope) < 1e-6 * max(1, abs(slope)) * 100


@hypothesis.given(st.data())
@hypothesis.settings(max_examples=40, deadline=None)
def test_einsum_of_any_equation(data):
    letters = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True).map("".join)
    terms = data.draw(st.lists(letters, min_size=1, max_size=3))
    out = data.draw(st.permutations(sorted({*"".join(terms)})))
    equation = ",".join(terms) + "->" + "".join(out[: data.draw(st.integers(0, len(out)))])
    sizes = data.draw(st.sampled_from([{"a": 1, "b": 2, "c": 3, "d": 2}, {"a": 0, "b": 2, "c": 3, "d": 0}]))
    arrays = operands(equation, sizes)
    tensors = [d2s.to_tensor(a, stop_gradient=False) for a in arrays]
    found = d2s.einsum(equation, *tensors)
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), rtol=1e-12, atol=1e-12)
    found.sum().backward()
    assert [x.grad.shape for x in tensors] == [x.shape for x in tensors]


def test_assign_and_increment():
    x = d2s.to_tensor([1.0], stop_gradient=False)
    y = d2s.assign(x)
    (y * 3.0).backward()
    assert (x.grad.tolist(), d2s.assign([[1, 2]]).shape) == ([3.0], [1, 2])
    out = d2s.zeros([2])
    assert d2s.assign(np.array([1.0, 2.0], "float32"), out) is out
    assert out.tolist() == [1.0, 2.0]
    count = d2s.to_tensor([4])
    assert d2s.increment(count, 2) is count
    assert count.tolist() == [6]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda x: d2s.rot90(x, 1, [0, 0]), "axis 0 twice"),
        (lambda x: d2s.repeat_interleave(x, -1), "repeats"),
        (lambda x: d2s.repeat_interleave(x, [1], 0), "repeats"),
        (lambda x: d2s.crop(x, [9, 9]), "crop"),
        (lambda x: d2s.einsum("ij", x, x), "names 1 operands"),
        (lambda x: d2s.einsum("ijk", x), "does not name"),
        (lambda x: d2s.einsum("ij->k", x), "no operand has"),
        (lambda x: d2s.einsum("ij,jk", x, d2s.ones([5, 2])), "'j' names axes of 4 and of 5"),
        (lambda x: d2s.tensordot(x, x, 3), "axes"),
        (lambda x: d2s.cross(d2s.ones([2]), d2s.ones([2])), "three numbers"),
        (lambda x: d2s.scale(x, act="nothing"), "act"),
        (lambda x: d2s.bincount(x), "vector of integers"),
        (lambda x: d2s.histogram(x, 0), "bins"),
        (lambda x: d2s.increment(x), "one element"),
        (lambda x: d2s.add_n([]), "empty"),
        (lambda x: d2s.shard_index(d2s.to_tensor([1]), 4, 2, 2), "part 2 of 2"),
    ],
)
def test_refusals(call, says):
    with pytest.raises(D2SError, match=says):
        call(d2s.ones([3, 4]))


@pytest.mark.parametrize("function", [lambda x: d2s.histogram(x, 4, -2, 2), lambda x: d2s.bincount((x > 0).astype("int64"))])
def test_counts_that_graphs_do_not_hold_are_refused_by_what_they_are(function):
    with pytest.raises(d2s.errors.CaptureError, match=r"D2S1001.*known at run time only"):
        d2s.to_static(function)(d2s.ones([3]))
