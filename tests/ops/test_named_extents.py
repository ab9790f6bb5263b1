"""Ops that move values where extents are names: one Program for all sizes says what eager code says, or is refused by name."""

import random

import pytest

import d2s
from d2s import types
from d2s.errors import CaptureError, IndexRangeError, ShapeError
from d2s.ir.program import Builder, Value
from d2s.ops import OPS
from d2s.reckoned import come_to, is_reckoned, reckoned, source
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits
from d2s.types import Type
from tests.ops.test_listed import cases, results
from tests.samples import places, shape

NAMES = sorted({**shape.SAMPLES, **places.SAMPLES})


def named(array, axes):
    """The type of an array whose extents on some axes (from the first, or the last) are known by name."""
    extents = tuple(f"n{d}" if d != 1 and keep else d for d, keep in zip(array.shape, axes(array.ndim), strict=True))
    return Type(types.dtype(array.dtype), extents)


def first(rank):
    return [k == 0 for k in range(rank)]


def last(rank):
    return [k == rank - 1 for k in range(rank)]


def every(rank):
    return [True] * rank


def program_of(name, arrays, attrs, axes):
    """The Program, or None where the result has an extent without a name."""
    op, inputs = OPS[name], [Value(named(a, axes), f"x{n}") for n, a in enumerate(arrays)]
    try:
        full = op.canonical([v.type for v in inputs], {**op.attributes, **attrs})
        builder = Builder("f", list(inputs))
        return builder.finish(builder.add(name, inputs, op.infer([v.type for v in inputs], full), full, ""))
    except CaptureError as error:
        assert error.code == "D2S1001"
        return None


@pytest.mark.parametrize("axes", [first, last, every], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_one_program_for_all_sizes(name, axes):
    for arrays, attrs in cases(name, types.float64):
        program = program_of(name, arrays, attrs, axes)
        if program is None:
            continue
        eager = [t.numpy() for t in results(OPS[name](*map(d2s.to_tensor, arrays), **attrs))]
        assert all(same_bits(a, b) for a, b in zip(eager, Call(program)(arrays), strict=True)), f"{name} {attrs}"


def opened(array):
    """The type of images of any extents."""
    return Type(types.dtype(array.dtype), (*array.shape[:2], *(f"n{k}" for k in range(array.ndim - 2))))


@pytest.mark.parametrize("name", ["avg_pool", "conv", "max_pool", "max_pool_with_index"])
def test_windows_slide_over_axes_of_any_extent(name):
    tried = 0
    for (x, *others), attrs in cases(name, types.float64):
        inputs = [Value(opened(x), "x"), *(Value(Type(types.float64, a.shape), f"w{k}") for k, a in enumerate(others))]
        op, builder = OPS[name], Builder("f", list(inputs))
        full = op.canonical([v.type for v in inputs], {**op.attributes, **attrs})
        made = builder.add(name, inputs, op.infer([v.type for v in inputs], full), full, "")
        eager = [t.numpy() for t in results(op(*map(d2s.to_tensor, (x, *others)), **attrs))]
        assert all(same_bits(a, b) for a, b in zip(eager, Call(builder.finish(made))([x, *others]), strict=True)), attrs
        tried += any(is_reckoned(d) for v in made for d in v.type.shape)
    assert tried > 2


def test_a_window_that_fits_nowhere_is_reported_by_the_run():
    x = Value(Type(types.float32, (1, 1, "n")), "x")
    attrs = OPS["max_pool"].canonical([x.type], {**OPS["max_pool"].attributes, "kernel": 3})
    builder = Builder("f", [x])
    call = Call(builder.finish(builder.add("max_pool", [x], OPS["max_pool"].infer([x.type], attrs), attrs, "")))
    assert call([d2s.ones([1, 1, 7]).numpy()])[0].shape == (1, 1, 2)
    with pytest.raises(ShapeError, match=r"extent 2 .* less than the window's 3"):
        call([d2s.ones([1, 1, 2]).numpy()])


def test_equal_extents_have_one_name():
    """However they are reckoned, they come to what whole numbers come to step by step."""
    generator = random.Random(1)
    for _ in range(500):
        name, steps = "n", [tuple(generator.choice(c) for c in ((1, 1, 2, 3), range(9), (1, 2, 3, 4))) for _ in range(4)]
        for step in steps:
            name = reckoned(name, *step)
        assert reckoned(name) == name and source(name) == "n"
        for extent in (1, 6, 100):
            found = extent
            for step in steps:
                found = reckoned(found, *step)
            assert come_to(name, {"n": extent}.__getitem__) == found
    assert reckoned(reckoned("n", plus=2), plus=-2) == reckoned(reckoned("n", times=2, plus=1), by=2) == "n"


def test_most_ops_take_names():
    taken = {
        n for n in NAMES for arrays, attrs in cases(n, types.float64) if arrays[0].ndim and program_of(n, arrays, attrs, first)
    }
    assert taken >= set(NAMES) - {"ramp", "tile", "diagonal", "set_diagonal", "embedding", "reshape_like"}


def test_a_place_beyond_a_named_extent_is_reported_by_the_run():
    x = Value(Type(types.float32, ("n", 2)), "x")
    where = {"axes": (0,), "starts": (-3,), "counts": (1,), "steps": (1,), "dropped": (0,)}
    builder = Builder("f", [x])
    call = Call(builder.finish(builder.add("sliced", [x], OPS["sliced"].infer([x.type], where), where, "")))
    assert call([d2s.ones([3, 2]).numpy()])[0].tolist() == [1.0, 1.0]
    with pytest.raises(IndexRangeError, match=r"D2S0007.*-3.*axis 0"):
        call([d2s.ones([2, 2]).numpy()])


@pytest.mark.parametrize(("start", "count", "step"), [(0, 4, 1), (1, 2, 2), (-1, 2, 1), (-3, 4, 1), (2, 4, -1), (-3, 3, -1)])
@pytest.mark.parametrize("name", ["sliced", "set_slice"])
def test_places_beyond_a_named_extent_are_neither_read_nor_written(name, start, count, step):
    inputs = [Value(Type(types.float32, ("n", 2)), "x"), Value(Type(types.float32), "value")]
    inputs = inputs[: 1 if name == "sliced" else 2]
    where = {"axes": (0,), "starts": (start,), "counts": (count,), "steps": (step,), "dropped": ()}
    builder = Builder("f", inputs)
    call = Call(builder.finish(builder.add(name, inputs, OPS[name].infer([v.type for v in inputs], where), where, "")))
    with pytest.raises(IndexRangeError, match=r"D2S0007.*axis 0 of 3 values"):
        call([d2s.ones([3, 2]).numpy(), d2s.zeros([]).numpy()][: len(inputs)])
    first = start + (9 if start < 0 else 0)
    if 0 <= first + (count - 1) * step < 9:
        call([d2s.ones([9, 2]).numpy(), d2s.zeros([]).numpy()][: len(inputs)])
