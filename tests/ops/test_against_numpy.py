"""Every op against NumPy, bit for bit unless its sample allows more; dtype promotion and casts at their edges."""

import itertools
import zlib

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as shapes

import d2s
from d2s import passes, types
from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.export.streams import to_run
from d2s.ir import text
from d2s.ops import OPS
from d2s.ops.dispatch import meet
from d2s.optimizer import SGD
from d2s.optimizer.recorded import Kernel
from d2s.runtime import interpreter, launch
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits
from d2s.types import Type, dtype
from tests.samples import KERNELS, LISTED, SAMPLES, STRUCTURAL, accepts, fits, values


def close(name, actual, expected, ulps, scale=1.0):
    """Same dtype, shape and bits; or as near as the sample says."""
    assert actual.dtype == expected.dtype, name
    assert actual.shape == expected.shape, name
    if not ulps:
        assert same_bits(actual, expected), f"{name}: {actual} != {expected}"
    else:
        tolerance = ulps * float(np.finfo(actual.dtype).eps)
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * scale)


def case(name, shape_list, of, attrs):
    """The op and its reference on values of a dtype; `condition` of `where` is a bool."""
    op, sample = OPS[name], KERNELS[name]
    kinds = [types.bool_ if n < op.kept else of for n in range(len(op.arrays))]
    arrays = [
        values(d, s, zlib.crc32(f"{name}{n}{s}".encode())) for n, (d, s) in enumerate(zip(kinds, shape_list, strict=True))
    ]
    actual = op(*map(d2s.to_tensor, arrays), **attrs)
    with np.errstate(all="ignore"):
        expected = np.asarray(sample.reference(*arrays, **attrs))
    inferred = op.infer(
        [launch.type_of(a) for a in arrays], op.canonical([launch.type_of(a) for a in arrays], {**op.attributes, **attrs})
    )
    assert [launch.type_of(actual.numpy())] == list(inferred)
    close(name, actual.numpy(), expected, sample.ulps, 10.0)


@pytest.mark.parametrize("name", list(KERNELS))
def test_all_dtypes(name):
    """Two shapes, every dtype, every set of attributes."""
    sample = KERNELS[name]
    for of, shape_list, attrs in itertools.product(accepts(name), (sample.shapes[1], sample.shapes[-1]), sample.attrs):
        if fits(attrs, len(shape_list[0])):
            case(name, shape_list, of, attrs)


@pytest.mark.parametrize("name", list(KERNELS))
def test_all_shapes(name):
    """Every shape, in float32 (or what the op takes)."""
    sample = KERNELS[name]
    for shape_list, attrs in itertools.product(sample.shapes, sample.attrs):
        if fits(attrs, len(shape_list[0])):
            case(name, shape_list, types.float32, attrs)


REFUSING = [n for n in KERNELS if len(KERNELS[n].kinds) < 3 and n != "spread" and "instead" not in OPS[n].rules]


@pytest.mark.parametrize("name", REFUSING)
def test_other_dtypes_are_refused(name):
    op, sample = OPS[name], KERNELS[name]
    for of in types.TENSOR_DTYPES:
        if of.kind not in sample.kinds and not (op.whole and of.kind == "i"):
            with pytest.raises(DTypeError, match=f"{name}.*does not take"):
                op(*(d2s.to_tensor(np.ones(s, of.numpy)) for s in sample.shapes[1]))


WHOLE = {"exp": "float32", "expm1": "float32", "log": "float32", "log1p": "float32", "log2": "float32", "log10": "float32"}
WHOLE |= {"atan2": "float64"}


def test_which_ops_take_integers_as_floats():
    assert {name: op.whole.name for name, op in OPS.items() if op.whole} == WHOLE


@pytest.mark.parametrize("name", list(WHOLE))
def test_integers_are_taken_as_floats(name):
    """As in Paddle: the values of the op on what was cast before, eagerly each time it is called and in a graph."""
    op = OPS[name]
    for of in ("int32", "int64"):
        given = [d2s.to_tensor(np.arange(1, 4, dtype=of)) for _ in op.arrays]
        expected = op(*(x.astype(WHOLE[name]) for x in given))
        found = [op(*given) for _ in range(4)] + [d2s.to_static(lambda *xs: op(*xs))(*given)]
        assert all(y.dtype == WHOLE[name] and same_bits(y.numpy(), expected.numpy()) for y in found)


@pytest.mark.parametrize("name", list(STRUCTURAL))
def test_structural_ops_mean_what_their_sample_says(name):
    sample = STRUCTURAL[name]
    passes.verify(text.parse(sample.text), passes.infer)
    from_text = to_run(text.parse(sample.text))
    for node in from_text.nodes:
        if node.op == "host":
            node.attrs["call"] = lambda run, wanting, *arrays: np.array(0)  # a text holds no function of Python's
        if node.op == "update":
            node.attrs["rule"] = Kernel(SGD.rule)
    for run in (Call(from_text), lambda arrays: interpreter.run(from_text, arrays)):
        for actual, expected in zip(run([np.array(a) for a in sample.inputs]), sample.outputs, strict=True):
            np.testing.assert_array_equal(actual, np.array(expected, actual.dtype))


def test_every_sample_is_used():
    assert set(KERNELS) | set(STRUCTURAL) | set(LISTED) == set(SAMPLES)


@hypothesis.given(shapes.mutually_broadcastable_shapes(num_shapes=2, max_dims=5, max_side=3, min_side=0))
@hypothesis.settings(max_examples=60)
def test_broadcasting_of_two(found):
    x, y = (values(types.int32, s, n) for n, s in enumerate(found.input_shapes))
    actual = d2s.subtract(d2s.to_tensor(x), d2s.to_tensor(y)).numpy()
    assert actual.shape == found.result_shape
    assert np.array_equal(actual, np.subtract(x, y))


@hypothesis.given(shapes.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=3, min_side=0))
@hypothesis.settings(max_examples=40)
def test_broadcasting_of_three(found):
    c, x, y = (
        values(d, s, n)
        for n, (d, s) in enumerate(zip((types.bool_, types.int32, types.int32), found.input_shapes, strict=True))
    )
    actual = d2s.where(d2s.to_tensor(c), d2s.to_tensor(x), d2s.to_tensor(y)).numpy()
    assert np.array_equal(actual, np.where(c, x, y))


@hypothesis.given(st.lists(st.lists(st.integers(0, 3), max_size=3).map(tuple), min_size=2, max_size=2))
@hypothesis.settings(max_examples=60)
def test_shapes_that_numpy_refuses_are_refused(found):
    x, y = (d2s.to_tensor(np.ones(s, "float32")) for s in found)
    try:
        expected = np.broadcast_shapes(*found)
    except ValueError:
        with pytest.raises(ShapeError):
            d2s.add(x, y)
    else:
        assert tuple(d2s.add(x, y).shape) == expected


@hypothesis.given(shapes.array_shapes(min_dims=1, max_dims=4, max_side=4, min_side=0), st.data())
@hypothesis.settings(max_examples=40)
def test_sum_over_any_axes(shape, data):
    axis = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1))))
    for of, total in ((types.int16, np.int16), (types.int32, np.int64)):  # as in Paddle
        x = values(of, shape)
        found = d2s.sum(d2s.to_tensor(x), axis, keepdim=True).numpy()
        assert found.dtype == total and np.array_equal(found, x.sum(axis, dtype=total, keepdims=True))


@pytest.mark.parametrize("to", [d for d in types.TENSOR_DTYPES if d.kind == "i"], ids=str)
@pytest.mark.parametrize("of", ["float32", "float64"])
def test_casts_to_integers_saturate(of, to):
    limits = np.iinfo(to.numpy)
    edges = [float(limits.max), float(limits.min), limits.max + 1.0, limits.min - 1.0, limits.max - 0.5, limits.min + 0.5]
    x = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, -0.0, 0.9, -0.9, 1.5, -1.5, *edges], of)
    x = np.concatenate([x, np.nextafter(x, np.inf, dtype=of), np.nextafter(x, -np.inf, dtype=of)])
    expected = [
        0
        if np.isnan(v)
        else limits.max
        if np.isinf(v) and v > 0
        else limits.min
        if np.isinf(v)
        else max(limits.min, min(int(v), limits.max))
        for v in x
    ]
    assert d2s.cast(d2s.to_tensor(x), to).numpy().tolist() == expected


def test_casts_to_bool_ask_whether_it_is_zero():
    x = d2s.to_tensor([0.0, -0.0, np.nan, np.inf, 0.3])
    assert d2s.cast(x, "bool").numpy().tolist() == [False, False, True, True, True]


def test_casts_between_integers_wrap():
    assert d2s.cast(d2s.to_tensor([300, -1, 2**40 + 7]), "uint8").numpy().tolist() == [44, 255, 7]


def test_relu_of_nan_and_minus_zero():
    found = d2s.relu(d2s.to_tensor([np.nan, -0.0, -np.inf])).numpy()
    assert np.isnan(found[0])
    assert np.signbit(found).tolist() == [False] * 3


def test_neg_flips_the_sign_of_zero():
    assert np.signbit(d2s.neg(d2s.to_tensor([0.0, -0.0])).numpy()).tolist() == [True, False]


PYTHON = {
    "bool": Type(types.bool_, python=True),
    "int": Type(types.int64, python=True),
    "float": Type(types.float64, python=True),
}
MEET = [  # operands → what they are brought to
    ("int bool", "int"),
    ("bool bool", "int"),
    ("int float", "float"),
    ("b1 bool", "b1"),
    ("b1 int", "i64"),
    ("b1 float", "f32"),
    ("u8 bool", "u8"),
    ("i8 int", "i8"),
    ("i32 int", "i32"),
    ("i32 float", "f32"),
    ("i64 float", "f32"),
    ("f32 int", "f32"),
    ("f32 float", "f32"),
    ("f64 float", "f64"),
    ("f32 f64", "f64"),
    ("f64 f32 int", "f64"),
    ("i32 i32", "i32"),
    ("f32 i32", DTypeError),
    ("i32 i64", DTypeError),
    ("b1 f32", DTypeError),
    ("u8 i8", DTypeError),
]


@pytest.mark.parametrize(("operands", "expected"), MEET, ids=[m[0] for m in MEET])
def test_how_dtypes_meet(operands, expected):
    typed = [PYTHON[o] if o in PYTHON else Type(dtype(o), (2,)) for o in operands.split()]
    for order in itertools.permutations(typed):
        if isinstance(expected, str):
            assert meet(order) == (PYTHON[expected] if expected in PYTHON else Type(dtype(expected)))
        else:
            with pytest.raises(expected, match=r"D2S0003.*do not mix"):
                meet(order)


@pytest.mark.parametrize(
    ("of", "number"), [("int8", 128), ("int8", -129), ("uint8", -1), ("uint8", 256), ("int32", 2**31), ("int64", 2**63)]
)
def test_numbers_an_integer_tensor_cannot_hold_are_refused(of, number):
    with pytest.raises(ArgumentError, match=f"D2S0004.*{number} does not fit into {of}"):
        d2s.to_tensor([1], of) + number


@pytest.mark.parametrize(("of", "number"), [("int8", 127), ("int8", -128), ("uint8", 0), ("uint8", 255), ("int64", -(2**63))])
def test_numbers_an_integer_tensor_just_holds(of, number):
    assert d2s.multiply(d2s.to_tensor([1], of), number).numpy().tolist() == [number]


def test_of_numbers_alone_no_op_is_asked():
    for op in (d2s.equal, d2s.add):
        with pytest.raises(d2s.errors.DTypeError, match=r"D2S0001.*Tensor"):
            op(True, True)
