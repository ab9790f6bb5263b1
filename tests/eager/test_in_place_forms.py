"""In-place forms of functions made of several ops, of shapes and of draws: values, memory, gradients, and captures."""

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, CaptureError, D2SError, DTypeError, GradientError, IndexRangeError, ShapeError

F = d2s.nn.functional


def matrix():
    return d2s.to_tensor(np.array([[1.0, 2.0], [3.0, 4.0]], "float32"))


def places(*numbers):
    return d2s.to_tensor(np.array(numbers, "int64"))


MASK = np.array([[True, False], [True, True]])
FORMS = {  # the function and the arguments behind the tensor
    "tril": (d2s.tril, ()),
    "triu": (d2s.triu, (1,)),
    "cumsum": (d2s.cumsum, (0,)),
    "cumprod": (d2s.cumprod, (1,)),
    "lerp": (d2s.lerp, (d2s.ones([2, 2]), 0.25)),
    "scatter": (d2s.scatter, (places(1), d2s.ones([1, 2]))),
    "index_add": (d2s.index_add, (places(0, 0), 1, d2s.ones([2, 2]))),
    "index_put": (d2s.index_put, ((places(1), places(0)), d2s.to_tensor(9.0))),
    "index_fill": (d2s.index_fill, (places(1), 0, 5.0)),
    "masked_fill": (d2s.masked_fill, (d2s.to_tensor(MASK), 7.0)),
    "masked_scatter": (d2s.masked_scatter, (d2s.to_tensor(MASK), d2s.to_tensor([5.0, 6.0, 7.0]))),
    "put_along_axis": (d2s.put_along_axis, (d2s.to_tensor([[0], [1]]), 9.0, 1)),
    "nan_to_num": (d2s.nan_to_num, ()),
    "logit": (d2s.logit, (0.1,)),
    "frac": (d2s.frac, ()),
    "addmm": (d2s.addmm, (d2s.ones([2, 3]), d2s.ones([3, 2]), 2.0, 0.5)),
    "softmax": (F.softmax, (0,)),
    "elu": (F.elu, (0.5,)),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_does_what_the_function_does_where_the_values_lie(name):
    function, args = FORMS[name]
    x, expected = matrix(), function(matrix(), *args).tolist()
    memory, alias = x.array, x.detach()
    assert getattr(x, f"{name}_")(*args) is x
    assert x.tolist() == alias.tolist() == expected and x.array is memory


def test_gradients_go_through_a_form():
    start = d2s.to_tensor(np.array([[1.0, 2.0], [3.0, 4.0]]), stop_gradient=False)
    y = start * 2.0
    y.tril_().index_fill_(places(0), 0, 5.0)
    (y * y).sum().backward()
    assert start.grad.tolist() == [[0.0, 0.0], [24.0, 32.0]]


SHAPES = [("reshape", ([4],)), ("reshape", ([-1, 1],)), ("flatten", ()), ("unsqueeze", (0,)), ("unsqueeze", ([0, 2],))]


@pytest.mark.parametrize(("name", "args"), SHAPES)
def test_a_shape_changes_and_the_memory_stays(name, args):
    x = matrix()
    alias = x.detach()
    assert getattr(x, f"{name}_")(*args) is x
    assert x.shape == getattr(matrix(), name)(*args).shape and alias.shape == [2, 2]
    x.add_(1.0)
    assert alias.tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert d2s.zeros([1, 3, 1]).squeeze_().shape == [3] and d2s.zeros([1, 3, 1]).squeeze_(0).shape == [3, 1]


def test_what_takes_new_memory_leaves_the_old_to_those_who_shared_it():
    x = d2s.to_tensor(np.arange(6.0, dtype="float32").reshape(2, 3))
    alias = x.detach()
    assert x.transpose_([1, 0]) is x and x.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    assert x.cast_("int32").dtype is d2s.int32 and x.t_().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x.cumsum_().tolist() == [0, 1, 3, 6, 10, 15] and x.dtype is d2s.int64
    assert alias.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_gradients_go_through_a_change_of_shape_and_dtype():
    x = d2s.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    y = x * 2.0
    before = y * y  # reads the values, which a new type leaves where they are
    y.retain_grads()
    y.reshape_([1, 3]).t_().cast_("float64")
    ((y * y).sum() + before.sum().astype("float64")).backward()
    assert x.grad.tolist() == [16.0, 32.0, 48.0] and x.grad.dtype is d2s.float32
    assert y.grad.tolist() == [[4.0], [8.0], [12.0]] and y.grad.dtype is d2s.float64
    z = x * 2.0
    z.cast_("int64")
    assert z.stop_gradient and z.is_leaf


def test_a_gradient_of_a_gradient_finds_the_shapes_there_were():
    x = d2s.to_tensor([2.0, 3.0], stop_gradient=False)
    y = x * 1.0
    z = (y * y * y).sum()
    y.reshape_([2, 1])
    (g,) = d2s.grad(z, x, create_graph=True)
    (gg,) = d2s.grad(g.sum(), x)
    assert gg.tolist() == [12.0, 18.0]


def test_what_wants_a_gradient_keeps_its_type_where_that_is_not_recorded():
    leaf = d2s.to_tensor([[1.0, 2.0]], stop_gradient=False)
    result = leaf * 1.0
    with pytest.raises(GradientError, match="D2S0006"):
        leaf.reshape_([2])
    for x in (leaf, result):
        with d2s.no_grad(), pytest.raises(GradientError, match=r"D2S0006.*keeps its shape"):
            x.reshape_([2])
        assert x.shape == [1, 2]
    leaf.stop_gradient = True
    assert leaf.reshape_([2]).shape == [2]


def test_comparisons_become_bools():
    x = d2s.to_tensor([1.0, 2.0])
    assert x.equal_(d2s.to_tensor([1.0, 3.0])) is x and x.tolist() == [True, False] and x.dtype is d2s.bool_
    assert x.logical_not_().tolist() == [False, True]


DIAGONALS = {  # shape, offset, wrap: the places of the ones in the row of all (recorded from Paddle)
    ((7, 3), 0, False): [0, 4, 8],
    ((7, 3), 0, True): [0, 4, 8, 12, 16, 20],
    ((7, 3), 1, True): [1, 5, 13, 17],
    ((7, 3), -1, True): [3, 7, 15, 19],
    ((7, 3), -2, True): [6, 18],
    ((4, 3), -1, False): [3, 7],
    ((3, 4), 1, False): [1, 6, 11],
    ((3, 4), -1, True): [4, 9],
    ((3, 3, 3), 0, False): [0, 13, 26],
    ((3, 3, 3), -1, False): [12, 25],
    ((3, 3, 3), 2, False): [2],
    ((2, 2), 5, False): [],
    ((0, 0), 0, False): [],
}


@pytest.mark.parametrize(("shape", "offset", "wrap"), DIAGONALS)
def test_diagonals(shape, offset, wrap):
    x = d2s.zeros(shape).fill_diagonal_(1.0, offset, wrap)
    assert np.flatnonzero(x.numpy()).tolist() == DIAGONALS[shape, offset, wrap] and x.shape == list(shape)


def test_a_diagonal_of_a_tensor():
    x, y = d2s.zeros([2, 3, 2]), d2s.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    wanted = [[[1.0, 0.0], [3.0, 0.0], [5.0, 0.0]], [[0.0, 2.0], [0.0, 4.0], [0.0, 6.0]]]
    assert x.fill_diagonal_tensor(y, 0, 0, 2).tolist() == wanted and x.fill_diagonal_tensor_(y, 0, 0, 2).tolist() == wanted


def test_draws_have_the_distribution_asked_for_and_the_seed_decides():
    def drawn():
        d2s.seed(7)
        x = d2s.zeros([20000], "float64")
        return [
            x.clone().uniform_(2.0, 4.0).numpy(),
            x.clone().normal_(1.0, 2.0).numpy(),
            x.clone().exponential_(2.0).numpy(),
            x.clone().bernoulli_(0.25).numpy(),
            np.log(x.clone().log_normal_(1.0, 0.5).numpy()),
            np.arctan(x.clone().cauchy_(0.0, 1.0).numpy()),
            x.clone().geometric_(0.5).numpy(),
        ]

    first, second = drawn(), drawn()
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    means = [3.0, 1.0, 0.5, 0.25, 1.0, 0.0, 1 / np.log(2)]
    spreads = [2 / 12**0.5, 2.0, 0.5, 0.1875**0.5, 0.5, np.pi / 12**0.5, 1 / np.log(2)]
    for x, mean, spread in zip(first, means, spreads, strict=True):
        assert abs(x.mean() - mean) < 5 * spread / 20000**0.5 and abs(x.std() / spread - 1) < 0.05


def test_a_draw_has_no_gradient():
    x = d2s.ones([3])
    x.stop_gradient = False
    y = x * 2.0
    (y.uniform_() * 3.0).sum().backward()
    assert x.grad.tolist() == [0.0] * 3


def test_the_forms_are_functions_too():
    x = matrix()
    assert d2s.tanh_(x) is x and F.relu_(x) is x and d2s.reshape_(x, [4]) is x and d2s.cast_(x, "float64") is x
    mask, y = d2s.to_tensor([True, False]), d2s.to_tensor([1.0, 2.0])
    assert d2s.where_(mask, y, d2s.to_tensor([5.0, 6.0])) is y and y.tolist() == [1.0, 6.0]
    with pytest.raises(DTypeError, match=r"tanh_\(\): argument 'x' expects a Tensor, got list"):
        d2s.tanh_([1.0])


REFUSED = [
    (lambda x: x.lerp_(d2s.ones([2, 2, 2]), 0.5), ShapeError),
    (lambda x: x.reshape_([3]), ShapeError),
    (lambda x: x.fill_diagonal_(d2s.ones([2])), ShapeError),
    (lambda x: d2s.zeros([2, 3, 2]).fill_diagonal_(1.0), ShapeError),
    (lambda x: x.index_fill_(places(2), 0, 1.0), IndexRangeError),
    (lambda x: x.masked_scatter_(d2s.to_tensor(MASK), d2s.ones([2])), IndexRangeError),
    (lambda x: x.exponential_(0.0), ArgumentError),
    (lambda x: x.geometric_(1.5), ArgumentError),
    (lambda x: x.cast_("int32").uniform_(), DTypeError),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_does_not_fit_is_refused(case):
    call, error = REFUSED[case]
    with pytest.raises(error) as caught:
        call(matrix())
    assert isinstance(caught.value, D2SError)


def test_captured():
    def f(x):
        y = x * 2.0
        y.tril_()
        d2s.exp_(y)
        y.index_fill_(d2s.zeros([1], "int64"), 1, 5.0)
        y.reshape_([2, 2])  # as it is
        return y

    def reshaped(x):
        y = x * 2.0
        return y.reshape_([4])

    def retyped(x):
        y = x * 2.0
        return y.cast_("float64")

    assert d2s.to_static(f)(matrix()).tolist() == f(matrix()).tolist()
    for function in (reshaped, retyped):
        with pytest.raises(CaptureError, match="D2S1003"):
            d2s.to_static(function)(matrix())


def test_a_captured_function_sees_that_a_tensor_outside_has_another_type():
    outside = d2s.ones([2, 2])

    @d2s.to_static
    def f(x):
        return x + outside.sum() + outside.shape[0]

    assert f(d2s.zeros([1])).tolist() == [6.0]
    outside.reshape_([4])
    assert f(d2s.zeros([1])).tolist() == [8.0]
    outside.cast_("float64")
    assert f(d2s.zeros([1], "float64")).dtype is d2s.float64
