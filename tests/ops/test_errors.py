"""Bad input gives a coded complaint that names the argument, what was expected and what came; nothing raw escapes."""

import contextlib
import copy
import fractions
import math

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import d2s
from d2s.errors import ArgumentError, D2SError, DTypeError, GradientError, ShapeError
from d2s.ops import OPS
from d2s.pages import PAGES

F = d2s.to_tensor([1.0, 2.0])
D = d2s.to_tensor([1.0, 2.0], "float64")
I = d2s.to_tensor([1, 2])  # noqa: E741 - integers
B = d2s.to_tensor([True, False])
M = d2s.to_tensor([[1.0, 2.0, 3.0]])

REFUSED = [  # (what is called, its class, its code, words the message must hold)
    (lambda: d2s.scale(I, math.inf), ArgumentError, "D2S0004", ["scale()", "'scale' is inf", "finite"]),
    (lambda: d2s.nn.functional.interpolate(d2s.zeros([1, 1, 0, 4]), [3, 4]), ShapeError, "D2S0002", ["axis 2", "no values"]),
    (lambda: d2s.add(F, "a"), DTypeError, "D2S0001", ["add()", "'y'", "Tensor or a number", "str"]),
    (lambda: d2s.add(None, F), DTypeError, "D2S0001", ["add()", "'x'", "NoneType"]),
    (lambda: d2s.add([1.0], F), DTypeError, "D2S0001", ["add()", "'x'", "list"]),
    (lambda: d2s.add(np.ones(2, "float32"), F), DTypeError, "D2S0001", ["add()", "'x'", "ndarray"]),
    (lambda: d2s.add(1j, F), DTypeError, "D2S0001", ["'x'", "complex"]),
    (lambda: d2s.add(F, F, name=3), ArgumentError, "D2S0004", ["'name'", "string", "3"]),
    (lambda: d2s.add(F), DTypeError, "D2S0001", ["add", "'y'"]),
    (lambda: d2s.add(F, F, F), DTypeError, "D2S0001", ["add", "too many"]),
    (lambda: d2s.sum(F, nope=1), DTypeError, "D2S0001", ["sum", "'nope'"]),
    (lambda: d2s.where("c", F, F), DTypeError, "D2S0001", ["where()", "'condition'", "str"]),
    (lambda: d2s.where(F, F, F), DTypeError, "D2S0003", ["where()", "f32"]),
    (lambda: d2s.add(F, I), DTypeError, "D2S0003", ["add()", "float32", "int64", "astype"]),
    (lambda: d2s.add(d2s.to_tensor([1], "int32"), I), DTypeError, "D2S0003", ["int32", "int64"]),
    (lambda: d2s.tanh(I), DTypeError, "D2S0003", ["tanh()", "int64"]),
    (lambda: d2s.subtract(B, B), DTypeError, "D2S0003", ["subtract()", "bool"]),
    (lambda: d2s.matmul(d2s.to_tensor([[True]]), d2s.to_tensor([[True]])), DTypeError, "D2S0003", ["matmul()"]),
    (lambda: d2s.cast(F, "float16"), DTypeError, "D2S0003", ["float16", "one of", "float32"]),
    (lambda: d2s.cast(F, 3), DTypeError, "D2S0003", ["3"]),
    (lambda: d2s.cast(F, None), DTypeError, "D2S0003", ["None"]),
    (lambda: d2s.add(F, M), ShapeError, "D2S0002", ["add()", "[2]", "[1, 3]", "axis -1"]),
    (lambda: d2s.matmul(F, M), ShapeError, "D2S0002", ["matmul()", "2 columns (axis -1)", "1 rows (axis -2)", "[2]"]),
    (lambda: d2s.matmul(M, M), ShapeError, "D2S0002", ["matmul()", "3 columns", "1 rows", "[1, 3]"]),
    (lambda: d2s.matmul(M, 2.0), ShapeError, "D2S0002", ["matmul()", "[]"]),
    (lambda: d2s.sum(F, 1), ArgumentError, "D2S0004", ["sum()", "axis 1", "1 axes", "'x'"]),
    (lambda: d2s.sum(F, -2), ArgumentError, "D2S0004", ["sum()", "axis -2"]),
    (lambda: d2s.sum(M, (0, -2)), ArgumentError, "D2S0004", ["sum()", "twice"]),
    (lambda: d2s.sum(F, "a"), ArgumentError, "D2S0004", ["sum()", "'a'"]),
    (lambda: d2s.sum(F, 2**70), ArgumentError, "D2S0004", ["sum()", str(2**70)]),
    (lambda: d2s.sum(F, True), ArgumentError, "D2S0004", ["sum()", "True"]),
    (lambda: d2s.sum(F, 0.0), ArgumentError, "D2S0004", ["sum()", "0.0"]),
    (lambda: d2s.sum(d2s.to_tensor(1.0), 1), ArgumentError, "D2S0004", ["sum()", "0 axes"]),
    (lambda: I + 2**63, ArgumentError, "D2S0004", [str(2**63), "int64"]),
    (lambda: d2s.add(2**70, 1), DTypeError, "D2S0001", ["add(x, y)", "a Tensor"]),
    (lambda: d2s.sum(2**70), DTypeError, "D2S0001", ["sum()", "'x'", "int"]),
    (lambda: F + 10**400, ArgumentError, "D2S0004", ["float32"]),
    (lambda: D + 10**400, ArgumentError, "D2S0004", ["float64"]),
    (lambda: d2s.add(10**400, 1.0), DTypeError, "D2S0001", ["a Tensor"]),
    (lambda: d2s.to_tensor(["a"]), DTypeError, "D2S0001", ["'data'", "str"]),
    (lambda: d2s.to_tensor(["a"], "float32"), DTypeError, "D2S0001", ["to_tensor()"]),
    (lambda: d2s.to_tensor(None), DTypeError, "D2S0001", ["'data'"]),
    (lambda: d2s.to_tensor(1j, "float32"), D2SError, None, []),
    (lambda: d2s.to_tensor([[1], [1, 2]]), ArgumentError, "D2S0004", ["to_tensor()"]),
    (lambda: d2s.to_tensor(2**70, "int64"), DTypeError, "D2S0001", ["to_tensor()"]),
    (lambda: d2s.to_tensor([1.0], "nope"), DTypeError, "D2S0003", ["nope"]),
    (lambda: copy.copy(F).set_value("a"), DTypeError, "D2S0001", ["'data'"]),
    (lambda: F.set_value([1.0, 2.0, 3.0]), ShapeError, "D2S0002", ["set_value()", "[2]", "[3]"]),
    (lambda: bool(F), ArgumentError, "D2S0004", ["[2]", "one Python value"]),
    (lambda: F.item(), ArgumentError, "D2S0004", ["[2]"]),
    (lambda: len(d2s.to_tensor(1.0)), DTypeError, "D2S0001", ["0-D"]),
    (lambda: range(3)[d2s.to_tensor(1.0)], DTypeError, "D2S0003", ["float32", "index"]),
    (lambda: d2s.to_tensor([1.0], stop_gradient=False).backward("g"), DTypeError, "D2S0001", ["grad_tensor"]),
    (lambda: d2s.ops.reduce.spread(F, M, (1,), False), ShapeError, "D2S0002", ["spread()"]),
    (lambda: d2s.norm(F, np.zeros(2, [("a", "f4")])), DTypeError, "D2S0001", ["norm()", "'p'"]),
    (lambda: d2s.randperm(10**5000), ArgumentError, "D2S0004", ["randperm()", "bits"]),
    (lambda: d2s.arange(2**70), ArgumentError, "D2S0004", [str(2**70), "memory"]),
    (lambda: F.copy_(d2s.Tensor), DTypeError, "D2S0001", ["copy_()", "'other'"]),
    (lambda: d2s.tensordot(F, F, d2s.float32), ArgumentError, "D2S0004", ["tensordot()", "'axes'"]),
    (lambda: d2s.nn.functional.gelu(F, np.ones(3)), ArgumentError, "D2S0004", ["gelu()", "'approximate'"]),
    (lambda: d2s.jit.not_to_static(callable), DTypeError, "D2S0001", ["not_to_static()", "builtin"]),
    (lambda: d2s.median(d2s.to_tensor(1.0), 1), ArgumentError, "D2S0004", ["median()", "axis 1"]),
    (lambda: d2s.config(NOPE=1).__enter__(), ArgumentError, "D2S0004", ["NOPE", "CHECK"]),
]


@pytest.mark.parametrize("n", range(len(REFUSED)))
def test_it_is_refused_with_a_code(n):
    call, kind, code, words = REFUSED[n]
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, D2SError)
    assert code is None or caught.value.code == code
    assert str(caught.value).startswith(f"[{caught.value.code}] ")
    for word in words:
        assert word in str(caught.value)


HUGE = 10**15
TALL = d2s.reshape(F, [2, 1])
TOO_LARGE = {  # what the user called, whatever it is made of
    "arange": lambda: d2s.arange(HUGE),
    "linspace": lambda: d2s.linspace(0, 1, HUGE),
    "zeros": lambda: d2s.zeros([HUGE]),
    "eye": lambda: d2s.eye(10**8),
    "rand": lambda: d2s.rand([HUGE]),
    "expand": lambda: TALL.expand([2, HUGE]),
    "broadcast_to": lambda: d2s.broadcast_to(TALL, [2, HUGE]),
    "repeat_interleave": lambda: d2s.repeat_interleave(F, HUGE),
    "pad": lambda: d2s.nn.functional.pad(F, [0, HUGE]),
    "interpolate": lambda: d2s.nn.functional.interpolate(d2s.ones([1, 1, 2, 2]), size=[10**8, 10**7]),
    "Linear": lambda: d2s.nn.Linear(10**8, 10**7),
    "Upsample": lambda: d2s.nn.Upsample(size=[10**8, 10**7])(d2s.ones([1, 1, 2, 2])),
    "twice": lambda: twice(TALL),
}


@d2s.to_static
def twice(x):
    return x.expand([2, HUGE])


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_no_memory_holds_is_refused_in_the_name_of_what_was_called(name):
    with pytest.raises(ArgumentError, match=rf"\[D2S0004\] {name}\(\): an? \w+ tensor of shape .* does not fit into memory"):
        TOO_LARGE[name]()


def test_complaints_are_what_python_users_catch():
    for kind, builtin in (
        (ShapeError, ValueError),
        (DTypeError, TypeError),
        (ArgumentError, ValueError),
        (GradientError, RuntimeError),
    ):
        assert issubclass(kind, builtin)


def test_a_code_must_be_known():
    with pytest.raises(AssertionError):
        D2SError("D2S7777", "what")
    assert all(page.meaning for page in PAGES.values())


@pytest.mark.parametrize("where", ["", __file__ + ":1", "nowhere.py:3", "nowhere", "a comment of the text form", "x:y"])
def test_any_place_can_be_shown(where):
    """`where` may come from a file or a hand-written text."""
    assert str(ShapeError("D2S0002", "message", where=where)).startswith("[D2S0002] message")


def test_a_place_is_shown_with_its_line():
    assert "Bad input gives a coded complaint" in str(ShapeError("D2S0002", "m", where=f"{__file__}:1"))


@pytest.mark.parametrize("other", ["a", None, [1.0], object(), 1j, {}], ids=lambda v: type(v).__name__)
def test_operators_refuse_as_python_does(other):
    for operator in ("__add__", "__rsub__", "__mul__", "__lt__", "__matmul__", "__eq__"):
        assert getattr(F, operator)(other) is NotImplemented
    with pytest.raises(TypeError):
        F + other


@pytest.mark.parametrize("number", [np.float32(1), np.float64(1), np.int64(1), np.bool_(True)], ids=repr)
def test_numpy_scalars_are_numbers_or_refused(number):
    """But they never turn a tensor into a NumPy array, which would lose the gradient without a word."""
    for compute in (lambda: F + number, lambda: number + F, lambda: d2s.add(F, number)):
        with contextlib.suppress(TypeError):  # DTypeError is one
            assert isinstance(compute(), d2s.Tensor)


def test_python_ints_of_enums_are_numbers():
    class Ten(int):
        pass

    assert (I + Ten(10)).numpy().tolist() == [11, 12]


@pytest.mark.parametrize("number", [1e300, -1e300, 10**39], ids=repr)
def test_floats_beyond_float32_become_infinite_without_noise(number):
    assert np.isinf((F + number).numpy()).all()
    assert np.isinf(d2s.to_tensor([float(number)]).numpy()).all()


def test_to_tensor_converts_as_cast_does():
    assert d2s.to_tensor([np.nan, 1e30, -1e30], "int32").numpy().tolist() == [0, 2**31 - 1, -(2**31)]


TENSORS = [F, D, I, B, M, d2s.to_tensor(1.0), d2s.to_tensor(np.ones((0, 2), "float32")), d2s.to_tensor([1], "uint8")]
JUNK = st.one_of(
    st.sampled_from(TENSORS),
    st.sampled_from(
        [None, "a", "", b"x", [], [1], (), {}, {1}, object(), 1j, type, len, np.ones(2), np.float32(1), np.int8(3), np.nan]
    ),
    st.sampled_from(
        [fractions.Fraction(1, 2), range(3), slice(1), Ellipsis, NotImplemented, "float32", np.dtype("float16"), d2s.float32]
    ),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.sampled_from([2**31, 2**63, -(2**63) - 1, 2**70, 10**400, 1e300, -0.0]),
    st.lists(st.integers(-3, 3), max_size=3),
)
PUBLIC = sorted(name for name in OPS if getattr(d2s, name, None) is OPS[name])


@pytest.mark.parametrize("name", PUBLIC)
@hypothesis.given(st.data())
@hypothesis.settings(max_examples=200)
def test_junk_gives_a_tensor_or_a_coded_complaint(name, data):
    count = len(OPS[name].arrays) + data.draw(st.sampled_from([0, 0, 0, 0, 0, 0, -1, 1]))
    inputs = [data.draw(st.sampled_from(TENSORS) | JUNK) for _ in range(count)]
    attrs = data.draw(st.dictionaries(st.sampled_from([*OPS[name].attributes, "x", "nope"]), JUNK, max_size=2))
    try:
        result = OPS[name](*inputs, **attrs)
    except D2SError as error:
        assert error.code in PAGES
    else:
        assert isinstance(result, d2s.Tensor)


@hypothesis.given(JUNK, st.one_of(st.none(), JUNK))
@hypothesis.settings(max_examples=300)
def test_junk_to_to_tensor(data, dtype):
    try:
        assert isinstance(d2s.to_tensor(data, dtype), d2s.Tensor)
    except D2SError as error:
        assert error.code in PAGES


@pytest.mark.parametrize("operator", ["__add__", "__radd__", "__sub__", "__mul__", "__matmul__", "__lt__", "__eq__"])
@hypothesis.given(st.sampled_from(TENSORS), JUNK)
@hypothesis.settings(max_examples=60)
def test_junk_to_operators(operator, tensor, other):
    try:
        result = getattr(tensor, operator)(other)
    except D2SError as error:
        assert error.code in PAGES
    else:
        assert result is NotImplemented or isinstance(result, d2s.Tensor)
