"""`x[...]`, assignment and iteration against NumPy, over random shapes and indices; their gradients; what is refused."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import d2s
from d2s.errors import D2SError, GradientError, IndexRangeError
from d2s.runtime.differing import same_bits

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
slices = st.builds(slice, *[st.none() | st.integers(-5, 5)] * 2, st.none() | st.integers(-3, 3).filter(bool))


def counted(shape, of="float32"):
    return np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(of)


@st.composite
def advanced_shapes(draw):
    """Shapes that broadcast together."""
    whole = draw(st.lists(st.integers(0, 3), max_size=2))
    cut = draw(st.lists(st.integers(0, len(whole)), min_size=1, max_size=4))
    return [tuple(1 if draw(st.booleans()) else d for d in whole[k:]) for k in cut]


@st.composite
def indices(draw):
    """A shape and an index of it, in all of NumPy's forms."""
    shape = draw(shapes)
    entries, axis, dots = [], 0, draw(st.booleans())
    forms = draw(advanced_shapes())
    while axis < len(shape):
        kind = draw(st.sampled_from(["int", "slice", "slice", "array", "mask", "none", "dots", "stop"]))
        extent = shape[axis]
        if kind == "stop":
            break
        if kind == "dots" and dots:
            entries, dots, axis = [*entries, Ellipsis], False, draw(st.integers(axis, len(shape)))
        elif kind == "none":
            entries.append(None)
        elif kind == "slice":
            entries, axis = [*entries, draw(slices)], axis + 1
        elif kind == "mask":
            wide = draw(st.integers(0, min(2, len(shape) - axis)))
            mask = draw(st.lists(st.booleans(), min_size=(n := int(np.prod(shape[axis : axis + wide]))), max_size=n))
            if sum(mask) != 1 and any(isinstance(e, np.ndarray) for e in entries):
                mask = [k == 0 for k in range(n)]  # its places must broadcast with those of other entries
            entries, axis = [*entries, np.array(mask, bool).reshape(shape[axis : axis + wide])], axis + wide
        elif extent:
            form = forms.pop() if forms and kind == "array" else ()
            drawn = draw(st.lists(st.integers(-extent, extent - 1), min_size=(n := int(np.prod(form))), max_size=n))
            entries, axis = [*entries, np.array(drawn, np.int64).reshape(form) if kind == "array" else drawn[0]], axis + 1
        else:
            entries, axis = [*entries, slice(None)], axis + 1
    return shape, tuple(entries)


def as_given(draw, index):
    """The entries as they may be written: arrays also as tensors and lists."""

    def written(entry):
        if not isinstance(entry, np.ndarray):
            return entry
        form = draw(st.sampled_from(["array", "tensor", "list"]))
        return (
            d2s.to_tensor(entry)
            if form == "tensor"
            else entry.tolist()
            if form == "list" and entry.size and entry.ndim
            else entry
        )

    found = tuple(map(written, index))
    return found[0] if len(found) == 1 and draw(st.booleans()) else found


def numpys(x, index):
    try:
        return x[index]
    except IndexError:  # places of masks that do not broadcast
        return None


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_get_is_numpys(data):
    shape, index = data.draw(indices())
    x = counted(shape)
    expected = numpys(x, index)
    if expected is None:
        with pytest.raises(D2SError):
            d2s.to_tensor(x)[as_given(data.draw, index)]
        return
    found = d2s.to_tensor(x)[as_given(data.draw, index)].numpy()
    assert found.shape == np.shape(expected)
    assert same_bits(found, np.asarray(expected))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_set_is_numpys(data):
    shape, index = data.draw(indices())
    x = counted(shape, data.draw(st.sampled_from(["float32", "int32", "float64"])))
    place = numpys(x, index)
    if place is None:
        return
    wide = np.shape(place)
    value = 100 + counted(tuple(1 if data.draw(st.booleans()) else d for d in wide[data.draw(st.integers(0, len(wide))) :]))
    value = value if value.ndim or data.draw(st.booleans()) else float(value)
    y = d2s.to_tensor(x)
    y[as_given(data.draw, index)] = d2s.to_tensor(value) if data.draw(st.booleans()) else value
    x[index] = value
    assert same_bits(y.numpy(), x)


def gradient(x):
    """None, where nothing of x is left, is zeros."""
    return np.zeros(x.shape) if x.grad is None else x.grad.numpy()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_gradients_of_get_and_set(data):
    """x's is what is read, or zero where written; v's the part written, summed over what was repeated."""
    shape, index = data.draw(indices())
    numbers = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)
    where = numpys(numbers, index)
    if where is None:
        return
    x = d2s.to_tensor(numbers, stop_gradient=False)
    read, weights = x[index], 1.0 + counted(np.shape(where), "float64")
    read.backward(d2s.to_tensor(weights))
    expected = np.zeros(numbers.size)
    np.add.at(expected, np.asarray(where, int).ravel(), weights.ravel())
    assert np.array_equal(gradient(x).ravel(), expected)
    x, value = (d2s.to_tensor(a, stop_gradient=False) for a in (numbers, np.zeros(np.shape(where)[1:])))
    y = x * 1.0
    y[index] = value
    weights = 1.0 + counted(shape, "float64")
    y.backward(d2s.to_tensor(weights))
    last = np.full(numbers.size, -1)
    last[np.asarray(where, int).ravel()] = np.arange(where.size)
    assert np.array_equal(gradient(x).ravel(), np.where(last < 0, weights.ravel(), 0))
    wanted = np.zeros(where.size)
    wanted[last[last >= 0]] = weights.ravel()[last >= 0]
    wanted = wanted.reshape(np.shape(where))
    assert np.array_equal(gradient(value), wanted.sum(0) if wanted.ndim else wanted)


def test_an_indexed_tensor_is_its_own():
    x = d2s.to_tensor([1.0, 2.0, 3.0])
    for y in (x[:2], x[:], x[...], x.reshape([3])[:2], x.flatten()):
        y[0] = 9.0
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_of_places_named_twice_the_last_value_stays():
    x = d2s.to_tensor([0.0, 0.0])
    x[[0, 1, 0]] = [1.0, 2.0, 3.0]
    assert x.tolist() == [3.0, 2.0]


def test_a_value_takes_the_dtype_of_the_tensor():
    x = d2s.to_tensor([1, 2, 3])
    x[0], x[1:] = 7.9, d2s.to_tensor([1.5, -1.5])
    assert x.tolist() == [7, 1, -1]
    assert x.dtype is d2s.int64


def test_a_tensor_may_be_assigned_to_itself():
    x = d2s.to_tensor([1.0, 2.0, 3.0])
    x[1:] = x[:-1]
    assert x.tolist() == [1.0, 1.0, 2.0]


def test_a_mask_of_the_same_shape_and_a_single_value():
    x = d2s.to_tensor([1.0, -2.0, np.nan], stop_gradient=False)
    y = x * 1.0
    y[y != y] = d2s.to_tensor(0.0)
    y[y < 0] = 5
    y.sum().backward()
    assert y.tolist() == [1.0, 5.0, 0.0]
    assert x.grad.tolist() == [1.0, 0.0, 0.0]


def test_augmented_assignment():
    x = d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    x[0] += 1
    x[:, 1] *= 2
    assert x.tolist() == [[2.0, 6.0], [3.0, 8.0]]


def test_iteration_length_and_membership():
    x = d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    first, second = x
    assert (len(x), first.tolist(), second.tolist()) == (2, [1.0, 2.0], [3.0, 4.0])
    assert 3.0 in x
    assert 5.0 not in x
    assert "3" not in x
    (first * second).sum().backward()
    assert x.grad.tolist() == [[3.0, 4.0], [1.0, 2.0]]


def test_tensors_of_small_integers_are_indices():
    x = d2s.to_tensor([10, 11, 12])
    for of in ("uint8", "int8", "int16", "int32"):
        assert x[d2s.to_tensor([2, 0], of)].tolist() == [12, 10]


x23 = d2s.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
WRONG = {
    "beyond": (lambda: x23[2], r"D2S0007.*index 2 .*axis 0 of 2"),
    "below": (lambda: x23[:, -4], r"D2S0007.*index -4 .*axis 1 of 3"),
    "too many": (lambda: x23[0, 0, 0], r"D2S0007.*3 indices.*2 axes"),
    "two dots": (lambda: x23[..., ...], r"D2S0007"),
    "a place of a list": (lambda: x23[[0, 1, 2, 5]], r"D2S0007.*index 2 .*axis 0 of 2"),
    "a place of a tensor": (lambda: x23[:, d2s.to_tensor([[0], [-7]])], r"D2S0007.*index -7 .*axis 1 of 3"),
    "of the second tensor": (lambda: x23[d2s.to_tensor([0, 1]), d2s.to_tensor([2, 9])], r"D2S0007.*index 9 .*axis 1 of 3"),
    "a mask too long": (lambda: x23[[True, False, True]], r"D2S0007.*\[3\].*\[2\]"),
    "a float": (lambda: x23[0.5], r"D2S0001.*0\.5"),
    "a float tensor": (lambda: x23[d2s.to_tensor([0.0])], r"D2S0003.*float32"),
    "a string": (lambda: x23["0"], r"D2S0001"),
    "a float in a slice": (lambda: x23[0.5:], r"D2S0004.*0\.5"),
    "step 0": (lambda: x23[::0], r"D2S0004.*step"),
    "shapes apart": (lambda: x23[[0, 1], [0, 1, 2]], r"D2S0002"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_index_is_refused(wrong):
    call, message = WRONG[wrong]
    with pytest.raises(D2SError, match=message) as found:
        call()
    assert isinstance(found.value, IndexError) == (found.value.code in ("D2S0001", "D2S0003", "D2S0007"))


def test_a_wrong_assignment_changes_nothing():
    x = d2s.to_tensor([1.0, 2.0])
    for index, value in (([0, 5], 1.0), (5, 1.0), (slice(None), [1.0, 2.0, 3.0]), ([0, 1], [1.0, 2.0, 3.0])):
        with pytest.raises(D2SError):
            x[index] = value
    assert x.tolist() == [1.0, 2.0]


def test_a_leaf_that_wants_a_gradient_is_not_written_to():
    x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
    with pytest.raises(GradientError, match="D2S0006"):
        x[0] = 5.0
    with d2s.no_grad():
        x[0] = 5.0
    assert x.tolist() == [5.0, 2.0]


def test_the_first_place_out_of_range_is_named_on_any_number_of_threads():
    rows = np.zeros(50_000, np.int64)
    rows[[40_000, 45_000]] = 77, 88
    before = d2s.get_num_threads()
    try:
        for threads in (1, 4):
            d2s.set_num_threads(threads)
            with pytest.raises(IndexRangeError, match="index 77 "):
                d2s.zeros([5, 64])[rows]
    finally:
        d2s.set_num_threads(before)


def test_sizes_that_depend_on_values_are_found_by_a_run():
    def chosen(x):
        return d2s.masked_select(x, x > 0)

    def places(x):
        return d2s.nonzero(x)

    for function in (chosen, places):
        static = d2s.to_static(function)
        for x in ([1.0, -1.0], [0.0, 0.0], [2.0, 3.0]):
            assert static(d2s.to_tensor(x)).tolist() == function(d2s.to_tensor(x)).tolist()


def test_nonzero_and_masked_select_with_gradient():
    x = d2s.to_tensor([[1.0, 0.0], [2.0, 3.0]], stop_gradient=False)
    assert d2s.nonzero(x).tolist() == [[0, 0], [1, 0], [1, 1]]
    assert [t.tolist() for t in d2s.nonzero(x, as_tuple=True)] == [[0, 1, 1], [0, 0, 1]]
    chosen = d2s.masked_select(x, d2s.to_tensor([True, False]))
    assert chosen.tolist() == [1.0, 2.0]
    (chosen * chosen).sum().backward()
    assert x.grad.tolist() == [[2.0, 0.0], [4.0, 0.0]]


def test_an_assignment_touches_only_what_changes():
    """What no tape knows of makes no second tensor of the size of the first."""
    x = d2s.zeros([1000, 1000])
    row = d2s.ones([1000])
    for index, value in ((3, row), ((slice(None), 5), 2.0), ((slice(2, 9, 3), None, -1), 7), (..., 1.0)):
        x[3] = row  # what is made once is made
        tracemalloc.start()
        try:
            x[index] = value
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < x.array.nbytes // 4, index
    expected = np.full((1000, 1000), 1.0, "float32")
    assert np.array_equal(x.numpy(), expected)


def test_a_read_only_memory_is_not_assigned_to():
    array = np.zeros(3, "float32")
    array.flags.writeable = False
    x = d2s.Tensor(array)
    with pytest.raises(d2s.errors.ArgumentError, match="read-only"):
        x[0] = 1.0
