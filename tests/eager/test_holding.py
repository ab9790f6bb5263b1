"""What a tensor holds, asked and given: places, memory, dtypes, and meetings with NumPy. The facts are Paddle's."""

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, CaptureError, D2SError, DTypeError, ExchangeError, GradientError, IndexRangeError


def test_one_value_of_many():
    x = d2s.to_tensor([[1, 2], [3, 4]])
    assert x.item(2) == 3 and x.item(0, 1) == 2 and type(x.item(2)) is int
    assert d2s.to_tensor(5.0).item(0) == d2s.to_tensor(5.0).item() == 5.0
    for at in ((4,), (-1,), (0, 2), (2**70,)):
        with pytest.raises(IndexRangeError, match="D2S0007"):
            x.item(*at)
    for at, error in (((0, 0, 0), ArgumentError), ((), ArgumentError), ((1.5,), DTypeError)):
        with pytest.raises(error, match="D2S000"):
            x.item(*at)


def test_memory_given_and_taken():
    x, y = d2s.to_tensor([1.0, 2.0], stop_gradient=False), d2s.to_tensor([[5.0]])
    assert x.data is not x and x.data.stop_gradient
    x.data.fill_(3.0)
    assert x.tolist() == [3.0, 3.0]
    with pytest.raises(GradientError, match="keeps its shape"):
        x.data = y
    x.data = d2s.to_tensor([7.0, 8.0])
    assert x.tolist() == [7.0, 8.0] and not x.stop_gradient
    z = d2s.to_tensor([1, 2])
    z.data = y
    y.zero_()
    assert z.tolist() == [[0.0]]
    with pytest.raises(DTypeError, match="expects a Tensor"):
        z.data = [1.0]


def test_how_it_lies():
    x = d2s.zeros([2, 3])
    assert x.strides == x.get_strides() == [3, 1] and x.is_contiguous() and x.contiguous() is x and x.value() is x
    assert d2s.zeros([2, 3, 4]).mT.shape == [2, 4, 3]
    assert not x.persistable and d2s.nn.Linear(1, 1).weight.persistable
    for call in (lambda: d2s.zeros([3]).mT, lambda: x.pin_memory(), lambda: setattr(x, "persistable", True)):
        with pytest.raises(D2SError):
            call()


def test_other_dtypes_and_shapes():
    x = d2s.to_tensor([1.75, 0.0])
    kinds = {"double": "float64", "int": "int32", "long": "int64", "short": "int16", "char": "int8", "byte": "uint8"}
    assert all(getattr(x, name)().dtype == dtype for name, dtype in kinds.items())
    assert x.bool().tolist() == [True, False] and x.float() is x and x.type_as(d2s.to_tensor([1])).tolist() == [1, 0]
    with pytest.raises(DTypeError, match="float16"):
        x.half()
    assert x.view([2, 1]).shape == [2, 1] and x.view_as(d2s.zeros([1, 2])).shape == [1, 2]
    y = d2s.to_tensor([[1.0, 2.0]])
    assert y.view("int32").tolist() == [[1065353216, 1073741824]] and y.view("uint8").shape == [1, 8]
    assert y.view("float64").shape == [1, 1]
    for dtype in ("float64", "bool"):
        with pytest.raises(ArgumentError, match="bits"):
            d2s.zeros([3]).view(dtype)


def test_to():
    x = d2s.to_tensor([1.75])
    calls = [("int64",), ("cpu", "int64"), (d2s.int64, True), (d2s.CPUPlace(), "int64", False), (d2s.to_tensor([1]),)]
    assert all(x.to(*args).tolist() == [1] for args in calls) and x.to(dtype="int64", blocking=True).tolist() == [1]
    assert x.to("cpu") is x and x.to("float32") is x and x.to(device="cpu") is x
    for args in ((), ("gpu",), ("foo",), (1,), ("cpu", "int64", True, 0), ("int64", "cpu")):
        with pytest.raises(D2SError):
            x.to(*args)
    w = d2s.to_tensor([3.0], stop_gradient=False)
    (w.to("float64") * 2.0).sum().backward()
    assert w.grad.tolist() == [2.0]


def test_functions_applied():
    x = d2s.to_tensor([1.0, 2.0])
    assert x.apply(lambda v: v * 2.0).tolist() == [2.0, 4.0] and x.apply_(lambda v: v.sum()).tolist() == 3.0
    x.stop_gradient = False
    for call in (lambda: x.apply(abs), lambda: d2s.zeros([1]).apply(3), lambda: d2s.zeros([1]).apply_(lambda v: 1)):
        with pytest.raises(D2SError):
            call()


def test_stretches_of_an_axis():
    x = d2s.to_tensor(np.arange(12.0).reshape(3, 4), stop_gradient=False)
    windows = np.lib.stride_tricks.sliding_window_view(x.numpy(), 2, axis=1)
    assert x.unfold(-1, 2, 1).numpy().tolist() == windows.tolist() and x.unfold(0, 2, 1).shape == [2, 4, 2]
    x.unfold(1, 2, 2).sum().backward()
    assert x.grad.tolist() == np.ones((3, 4)).tolist()
    for size, step in ((5, 1), (1, 0), (-1, 1)):
        with pytest.raises(ArgumentError, match="D2S0004"):
            x.unfold(1, size, step)


# --- NumPy


def test_operators_with_arrays():
    x, a = d2s.to_tensor([1.0, 2.0], stop_gradient=False), np.array([10.0, 20.0], "float32")
    for found in (x + a, a + x):
        assert found.tolist() == [11.0, 22.0] and not found.stop_gradient
    assert (a / x).tolist() == [10.0, 10.0] and (a - x).tolist() == [9.0, 18.0] and (x**a).tolist() == [1.0, 2.0**20]
    assert (x + a.astype("float64")).dtype is d2s.float64 and (a.astype("float64") + x).dtype is d2s.float64
    assert (x == a).tolist() == (a == x).tolist() == [False, False] and (x < a).tolist() == [True, True]
    assert (np.ones((1, 2), "float32") @ x).tolist() == [3.0] and (x @ a).tolist() == 50.0
    assert (np.float64(3.0) + x).dtype is d2s.float32  # one number of NumPy is as weak as Python's
    a[:] = 0.0
    for wrong in (np.array(["a", "b"]), np.array([1, 2]), np.zeros(3, "float32"), np.zeros(2, "complex64")):
        with pytest.raises(D2SError):
            x + wrong
    with pytest.raises(TypeError, match="unsupported operand"):
        x - [1.0, 2.0]


def test_functions_of_numpy_see_arrays():
    x = d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    assert np.sum(x) == 10.0 and np.max(x) == 4.0 and np.mean(x, axis=0).tolist() == [2.0, 3.0]
    assert np.concatenate([x, x]).shape == (4, 2) and np.transpose(x).tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert np.where(x > 2.0, x, 0.0).tolist() == [[0.0, 0.0], [3.0, 4.0]] and np.allclose(x, x)
    for write in (lambda: np.copyto(x, 1.0), lambda: np.fill_diagonal(x, 9.0), lambda: np.sum(np.ones(2), out=x)):
        with pytest.raises(ExchangeError, match="D2S3003"):
            write()
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_an_array_in_a_captured_function_is_refused():
    a = np.ones(2, "float32")
    with pytest.raises(CaptureError, match="D2S1003"):
        d2s.to_static(lambda x: x + a)(d2s.ones([2]))
