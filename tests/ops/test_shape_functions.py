"""Functions made of ops that move values: against NumPy, their arguments as Paddle takes them, and what they refuse."""

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, D2SError, DTypeError, IndexRangeError, ShapeError
from d2s.ops.gather import embedding
from d2s.ops.pad import pad
from d2s.ops.triangle import one_hot
from d2s.runtime.differing import same_bits

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
ROWS = np.array([1, 0, 1])


def t(array, dtype=None):
    return d2s.to_tensor(array, dtype)


AGAINST_NUMPY = {
    "moveaxis": (lambda: d2s.moveaxis(t(X), [0, 1], [-1, 0]), np.moveaxis(X, [0, 1], [-1, 0])),
    "swapaxes": (lambda: d2s.swapaxes(t(X), 0, -1), np.swapaxes(X, 0, -1)),
    "t": (lambda: d2s.t(t(X[0])), X[0].T),
    "t of a vector": (lambda: d2s.t(t(X[0, 0])), X[0, 0]),
    "T": (lambda: t(X).T, X.T),
    "roll": (lambda: d2s.roll(t(X), [1, -2], [0, 2]), np.roll(X, (1, -2), (0, 2))),
    "roll twice along an axis": (lambda: d2s.roll(t(X), [1, 1], [1, 1]), np.roll(X, 2, 1)),
    "roll as a row": (lambda: d2s.roll(t(X), 5), np.roll(X, 5)),
    "concat": (lambda: d2s.concat([t(X), t(X)], axis=-1), np.concatenate([X, X], -1)),
    "concat of one": (lambda: d2s.concat((t(X),)), X),
    "stack": (lambda: d2s.stack([t(X), t(-X)], axis=-1), np.stack([X, -X], -1)),
    "split": (lambda: d2s.split(t(X), [1, -1, 1], axis=2)[1], X[:, :, 1:3]),
    "split with an empty part": (lambda: d2s.split(t(X), [4, 0], axis=2)[1], X[:, :, 4:]),
    "chunk": (lambda: d2s.chunk(t(X), 2)[1], X[1:]),
    "unbind": (lambda: d2s.unbind(t(X), 1)[2], X[:, 2]),
    "unstack": (lambda: d2s.unstack(t(X), -1)[3], X[..., 3]),
    "broadcast_to": (lambda: d2s.broadcast_to(t(X[:1]), [2, 3, 4]), np.broadcast_to(X[:1], (2, 3, 4))),
    "broadcast_tensors": (lambda: d2s.broadcast_tensors([t(X), t(X[0, :, :1])])[1], np.broadcast_to(X[0, :, :1], X.shape)),
    "slice": (lambda: d2s.slice(t(X), [1, 2], [-9, 1], [9, -1]), X[:, -9:9, 1:-1]),
    "strided_slice": (lambda: d2s.strided_slice(t(X), [2], [-1], [-9], [-2]), X[:, :, -1:-9:-2]),
    "index_select": (lambda: d2s.index_select(t(X), t(ROWS), axis=1), X[:, ROWS]),
    "index_sample": (lambda: d2s.index_sample(t(X[0]), t([[0, 3], [1, 1], [2, 0]])), [[0.0, 3.0], [5.0, 5.0], [10.0, 8.0]]),
    "gather_nd": (lambda: d2s.gather_nd(t(X), t([[1, 0], [0, -1]])), X[[1, 0], [0, -1]]),
    "gather_nd of a place": (lambda: d2s.gather_nd(t(X), t([1, 2, 3])), X[1, 2, 3]),
    "gather_nd of nothing": (lambda: d2s.gather_nd(t(X), t(np.zeros((2, 0), int))), np.stack([X, X])),
    "take_along_axis": (
        lambda: d2s.take_along_axis(t(X), t([[[2], [0]]]), 1),
        np.take_along_axis(X, np.array([[[2], [0]]]), 1),
    ),
    "take_along_axis, a corner": (lambda: d2s.take_along_axis(t(X), t([[[2]]]), 1, broadcast=False), X[:1, 2:, :1]),
    "scatter": (lambda: d2s.scatter(t(X), t([1]), t(X[:1])), np.stack([X[0], X[0]])),
    "scatter, sums": (lambda: d2s.scatter(t([9.0, 9.0]), t([1, 1]), t([1.0, 2.0]), overwrite=False), [9.0, 3.0]),
    "scatter_nd": (lambda: d2s.scatter_nd(t([[1, 1], [1, 1]]), t([1.0, 2.0]), [2, 2]), [[0.0, 0.0], [0.0, 3.0]]),
    "scatter_nd_add": (lambda: d2s.scatter_nd_add(t(X), t([[1]]), t(X[:1])), np.stack([X[0], X[0] + X[1]])),
    "index_add": (
        lambda: d2s.index_add(t(X), t([0, 0]), 1, t(np.ones((2, 2, 4)), "float32")),
        X + np.array([[[2.0], [0.0], [0.0]]], np.float32),
    ),
    "index_put": (lambda: d2s.index_put(t([0.0, 1.0, 2.0]), (t([0, 2]),), t(7.0)), [7.0, 1.0, 7.0]),
    "index_put, sums": (lambda: d2s.index_put(t([0.0, 1.0]), (t([1, 1]),), t([2.0, 3.0]), True), [0.0, 6.0]),
    "put_along_axis": (lambda: d2s.put_along_axis(t(X[0]), t([[1], [0], [3]]), 0.0, 1).sum(), X[0].sum() - 1 - 4 - 11),
    "put_along_axis, largest": (lambda: d2s.put_along_axis(t([1.0, 5.0]), t([0, 1]), t([3.0, 3.0]), 0, "amax"), [3.0, 5.0]),
    "put_along_axis, product": (lambda: d2s.put_along_axis(t([2.0, 5.0]), t([0, 0]), t([3.0, 3.0]), 0, "mul"), [18.0, 5.0]),
    "masked_fill": (lambda: d2s.masked_fill(t([1, 2, 3]), t([[True], [False]]), 9), [[9, 9, 9], [1, 2, 3]]),
    "diag": (lambda: d2s.diag(t([1, 2]), -1, padding_value=7), [[7, 7, 7], [1, 7, 7], [7, 2, 7]]),
    "diag of a matrix": (lambda: d2s.diag(t(X[0]), 2), np.diag(X[0], 2)),
    "full": (lambda: d2s.full([2, 0], 1.5, "float64"), np.full((2, 0), 1.5)),
    "full of a tensor": (lambda: d2s.full([2], t(3), "int32"), np.full(2, 3, "int32")),
    "full of bools": (lambda: d2s.full(2, True), np.full(2, True)),
    "a float in full integers": (lambda: d2s.full([3], -1.7, "int64"), np.full(3, -1)),
    "nan in full integers": (lambda: d2s.full([1], float("nan"), "int32"), np.zeros(1, "int32")),
    "full_like": (lambda: d2s.full_like(t([1, 2]), 2**53 + 1), np.full(2, 2**53 + 1)),
    "ones": (lambda: d2s.ones([2, 2]), np.ones((2, 2), np.float32)),
    "zeros_like": (lambda: d2s.zeros_like(t(X), "int8"), np.zeros(X.shape, "int8")),
    "arange": (lambda: d2s.arange(5), np.arange(5)),
    "arange down": (lambda: d2s.arange(5, -1, -2), np.arange(5, -1, -2)),
    "arange of floats": (lambda: d2s.arange(0, 1, 0.3), np.arange(0, 1, 0.3).astype(np.float32)),
    "an empty arange": (lambda: d2s.arange(3, 0), np.arange(3, 0)),
    "linspace": (lambda: d2s.linspace(-1, 2, 7, "float64"), np.linspace(-1, 2, 7)),
    "linspace of one": (lambda: d2s.linspace(3, 9, 1), np.array([3.0], np.float32)),
    "eye": (lambda: d2s.eye(2, 3, "int32"), np.eye(2, 3, dtype="int32")),
    "meshgrid": (lambda: d2s.meshgrid([t([1, 2]), t([3, 4, 5])])[1], np.meshgrid([1, 2], [3, 4, 5], indexing="ij")[1]),
    "pad all axes": (lambda: pad(t(X[0]), [1, 0, 0, 2], value=9.0), np.pad(X[0], [(1, 0), (0, 2)], constant_values=9)),
    "pad the spatial axis": (
        lambda: pad(t(X), [1, 2], "reflect", data_format="NCL"),
        np.pad(X, [(0, 0), (0, 0), (1, 2)], "reflect"),
    ),
    "pad channels last": (
        lambda: pad(t(X), [1, 2], "circular", data_format="NLC"),
        np.pad(X, [(0, 0), (1, 2), (0, 0)], "wrap"),
    ),
    "pad rows and columns": (lambda: pad(t(X[None]), [1, 0, 2, 0]), np.pad(X[None], [(0, 0), (0, 0), (2, 0), (1, 0)])),
}


@pytest.mark.parametrize("name", AGAINST_NUMPY)
def test_against_numpy(name):
    call, expected = AGAINST_NUMPY[name]
    found = call().numpy()
    expected = np.asarray(expected)
    assert same_bits(found, expected.astype(found.dtype))
    assert expected.dtype in (found.dtype, np.dtype("int64"), np.dtype("float64"))


WRONG = {
    "reshape to another size": (lambda: t(X).reshape([5, 5]), ShapeError, r"24 values.*\[5, 5\]"),
    "two extents left open": (lambda: t(X).reshape([-1, -1]), ArgumentError, "one -1"),
    "a 0 without an extent": (lambda: t(X).reshape([24, 1, 1, 0]), ArgumentError, "a 0 takes"),
    "a shape of floats": (lambda: t(X).reshape([2.0, 12]), ArgumentError, r"'shape' holds 2\.0"),
    "an order twice": (lambda: t(X).transpose([0, 0, 1]), ArgumentError, r"'perm' is \[0, 0, 1\]"),
    "an axis too many": (lambda: d2s.moveaxis(t(X), 3, 0), ArgumentError, "axis 3"),
    "t of three axes": (lambda: d2s.t(t(X)), ArgumentError, "3"),
    "nothing to join": (lambda: d2s.concat([]), ArgumentError, "no tensor"),
    "unlike dtypes": (lambda: d2s.concat([t([1]), t([1.0])]), DTypeError, "float32 and int64"),
    "unlike shapes": (lambda: d2s.concat([t(X), t(X[:, :2])]), ShapeError, r"x\[1\].*\[2, 2, 4\].*\[2, 3, 4\]"),
    "unlike shapes on top": (lambda: d2s.stack([t(X), t(X[:1])]), ShapeError, r"\[1, 3, 4\]"),
    "no tensor": (lambda: d2s.concat([t(X), 3.0]), DTypeError, "'x' expects a Tensor, got float"),
    "parts that do not add up": (lambda: d2s.split(t(X), [1, 2], 2), ArgumentError, "4 values"),
    "unequal parts": (lambda: d2s.chunk(t(X), 3, 2), ArgumentError, "no 3 equal parts"),
    "another number of parts": (lambda: d2s.unstack(t(X), 0, 3), ArgumentError, "'num' is 3"),
    "an extent that does not repeat": (lambda: t(X).expand([2, 3, 5]), ShapeError, "5"),
    "fewer axes": (lambda: t(X).expand([4]), ArgumentError, r"\[4\]"),
    "a negative count": (lambda: t(X).tile([-1]), ArgumentError, "repeat_times"),
    "shifts without axes": (lambda: d2s.roll(t(X), [1, 2], 0), ArgumentError, "one shift"),
    "a row beyond": (lambda: d2s.gather(t(X), t([0, 2])), IndexRangeError, "index 2 .*axis 0 of 2"),
    "an index of floats": (lambda: d2s.gather(t(X), t([0.0])), DTypeError, "integers"),
    "an index of two axes": (lambda: d2s.gather(t(X), t([[0, 1]])), ShapeError, "one axis"),
    "a column beyond": (lambda: d2s.take_along_axis(t(X[0]), t([[4]]), 1), IndexRangeError, "index 4 .*axis 1 of 4"),
    "a place beyond": (lambda: d2s.scatter(t(X), t([-3]), t(X[:1])), IndexRangeError, "index -3 "),
    "updates of another dtype": (lambda: d2s.scatter(t(X), t([0]), t([[1]])), DTypeError, "int64"),
    "updates of another shape": (lambda: d2s.scatter(t(X), t([0]), t(X)), ShapeError, r"\[2, 3, 4\], expected \[1, 3, 4\]"),
    "a class beyond": (lambda: one_hot(t([3]), 3), IndexRangeError, "index 3 "),
    "a class below": (lambda: one_hot(t([-1]), 3), IndexRangeError, "index -1 "),
    "a word beyond": (lambda: embedding(t([[0, 2]]), t([[1.0], [2.0]])), IndexRangeError, "index 2 "),
    "a word below": (lambda: embedding(t([-1]), t([[1.0], [2.0]])), IndexRangeError, "index -1 "),
    "a padding row beyond": (lambda: embedding(t([0]), t([[1.0]]), padding_idx=1), ArgumentError, "padding_idx"),
    "reflected too far": (lambda: pad(t(X[None]), [4, 0, 0, 0], "reflect"), ShapeError, "4"),
    "a mode unknown": (lambda: pad(t(X[None]), [1, 0], "mirror"), ArgumentError, "mirror"),
    "three numbers": (lambda: pad(t(X[None]), [1, 0, 0]), ArgumentError, "two numbers"),
    "no steps": (lambda: d2s.arange(0, 5, 0), ArgumentError, "steps of 0"),
    "endless numbers": (lambda: d2s.arange(0, float("inf")), ArgumentError, "inf"),
    "fewer than no numbers": (lambda: d2s.linspace(0, 1, -1), ArgumentError, "'num' is -1"),
    "a negative extent": (lambda: d2s.zeros([2, -1]), ArgumentError, "-1"),
    "a triangle of a vector": (lambda: d2s.tril(t([1.0])), ShapeError, "matrices"),
    "one axis twice": (lambda: d2s.diagonal(t(X), 0, 1, 1), ArgumentError, "both"),
    "a reduction unknown": (lambda: d2s.put_along_axis(t(X), t([[[0]]]), 0.0, 0, "median"), ArgumentError, "median"),
    "a mask of numbers": (lambda: d2s.masked_fill(t(X), t([1]), 0.0), DTypeError, "bools"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_told(name):
    call, error, message = WRONG[name]
    with pytest.raises(error, match=f"(?s){message}") as found:
        call()
    assert isinstance(found.value, D2SError)


NOTHING_DONE = {
    "reshape": lambda x: x.reshape([2, 3, 4]),
    "flatten": lambda x: x.flatten(1, 1),
    "squeeze": lambda x: x.squeeze(0),
    "unsqueeze": lambda x: x.unsqueeze([]),
    "transpose": lambda x: x.transpose([0, 1, 2]),
    "swapaxes": lambda x: x.swapaxes(1, 1),
    "flip": lambda x: x.flip([]),
    "roll": lambda x: x.roll([], []),
    "concat": lambda x: d2s.concat([x]),
    "split": lambda x: x.split(1)[0],
    "slice": lambda x: x.slice([0], [0], [9]),
    "expand": lambda x: x.expand([-1, -1, -1]),
    "expand_as": lambda x: x.expand_as(x),
    "broadcast_tensors": lambda x: d2s.broadcast_tensors([x, x])[0],
    "meshgrid": lambda x: d2s.meshgrid(x[0, 0])[0],
    "tile": lambda x: x.tile([1]),
    "pad": lambda x: pad(x, [0, 0], data_format="NCL"),
    "tril": lambda x: x.tril(9),
    "getitem": lambda x: x[:],
    "dots": lambda x: x[...],
    "nothing": lambda x: x[()],
}


@pytest.mark.parametrize("name", NOTHING_DONE)
def test_a_result_is_a_tensor_of_its_own(name):
    x = t(X)
    y = NOTHING_DONE[name](x)
    y[...] = -1.0
    assert same_bits(x.numpy(), X)
    assert (y.numpy() == -1.0).all()


def large():
    """Calls whose kernels share their work among threads."""
    rng = np.random.default_rng(3)
    x, y = (d2s.to_tensor(rng.standard_normal((60, 70, 80)).astype(np.float32)) for _ in range(2))
    rows, places = d2s.to_tensor(rng.integers(0, 60, 400)), d2s.to_tensor(rng.integers(0, 70, (60, 9, 80)))
    values = d2s.to_tensor(rng.standard_normal((400, 70, 80)).astype(np.float32))
    return {
        "transpose": lambda: x.transpose([2, 0, 1]),
        "flip": lambda: x.flip([0, 2]),
        "roll": lambda: x.roll(12345),
        "concat": lambda: d2s.concat([x, y], 1),
        "tile": lambda: x.tile([2, 1, 3]),
        "slice": lambda: x[3:50, ::2, ::-1],
        "assignment": lambda: assigned(x, y),
        "gather": lambda: x[rows],
        "scatter": lambda: d2s.index_add(x, rows, 0, values),
        "put": lambda: d2s.scatter(x, rows, values),
        "along": lambda: d2s.take_along_axis(x, places, 1),
        "put along": lambda: d2s.put_along_axis(x, places, x[:, :9], 1, "add"),
        "pad": lambda: pad(x, [3, 4, 1, 2, 5, 6], "circular"),
        "pad around": lambda: pad(x, [3, 4, 1, 2, 5, 6], value=2.0),
        "tril": lambda: x.tril(),
    }


def assigned(x, y):
    out = x + 0.0
    out[5:40, 3:] = y[5:40, 3:]
    return out


@pytest.mark.parametrize("name", list(large()))
def test_bits_do_not_depend_on_threads(name):
    call, before = large()[name], d2s.get_num_threads()
    try:
        results = [d2s.set_num_threads(n) or call().numpy() for n in (1, 2, 5)]
    finally:
        d2s.set_num_threads(before)
    assert all(same_bits(results[0], r) for r in results[1:])


@pytest.mark.parametrize("join", [d2s.stack, d2s.concat])
def test_any_number_of_tensors_are_joined(join):
    arrays = [np.full([2, 3], k, "float32") for k in range(300)]
    tensors = [d2s.to_tensor(array, stop_gradient=False) for array in arrays]
    joined = join(tensors, axis=1)
    assert np.array_equal(joined.numpy(), getattr(np, join.__name__.replace("concat", "concatenate"))(arrays, axis=1))
    (joined * joined).sum().backward()
    assert tensors[299].grad.tolist() == [[598.0] * 3] * 2
    with pytest.raises(ShapeError, match=join.__name__):
        join([*tensors, d2s.ones([3, 1])], axis=1)
