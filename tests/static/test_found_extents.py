"""Places and values that a mask selects in a declared program: a run finds how many, and computes what eager code does."""

import numpy as np
import pytest

import d2s
from d2s import static
from d2s.errors import ArgumentError, CaptureError, D2SError


def of_values(y):
    return d2s.masked_select(y, y > 0.5) * 2.0


def assigned(x):
    y = x * 1.0
    y[x > 0.5] = -1.0
    y[x[:, 0] > 0.0] = x.sum()
    return y * x


CASES = {
    "assigned": assigned,
    "values": lambda x: d2s.masked_select(x, x > 0.0),
    "values of values": lambda x: of_values(x[x > 0.0]),
    "by an index": lambda x: x[x > 0.0],
    "rows": lambda x: x[x[:, 0] > 0.0] @ d2s.ones([3, 2]),
    "places": lambda x: d2s.nonzero(x > 0.0),
    "places along an axis": lambda x: d2s.nonzero(x, as_tuple=True)[1],
    "where": lambda x: d2s.where(x > 0.0)[0],
    "gathered": lambda x: d2s.gather(x, d2s.nonzero(x[:, 0] > 0.0).squeeze(1)),
    "different": lambda x: d2s.unique((x * 2.0).astype("int64")),
    "how often": lambda x: d2s.unique((x * 2.0).astype("int64"), return_counts=True)[1],
    "summed": lambda x: (d2s.masked_select(x, x > 0.0) * 2.0).sum(),
    "sorted": lambda x: d2s.sort(d2s.masked_select(x, x > 0.0)).unsqueeze(1).tile([1, 2]),
    "two of one size": lambda x: x[x > 0.0] + d2s.masked_select(x * 2.0, x > 0.0),
    "the size": lambda x: d2s.shape(d2s.masked_select(x, x > 0.0)),
    "in a branch": lambda x: static.nn.cond(x.sum() > 0.0, lambda: x[x > 0.5].sum(), lambda: x[x < 0.0].sum()),
}
FEEDS = [np.random.default_rng(n).normal(size=(n, 3)).astype("float32") for n in (2, 5)]
FEEDS += [-np.ones((3, 3), "float32"), np.full((1, 3), 0.75, "float32")]


def program_of(function, shape=(None, 3)):
    """A program, its feed and its result."""
    with static.program_guard(static.Program()):
        x = static.data("x", list(shape))
        x.stop_gradient = False
        return static.default_main_program(), x, function(x)


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_eager_code_finds(declared, name):
    program, _, y = program_of(CASES[name])
    for array in FEEDS:
        (found,) = static.Executor().run(program, feed={"x": array}, fetch_list=[y])
        d2s.disable_static()
        wanted = CASES[name](d2s.to_tensor(array)).numpy()
        d2s.enable_static()
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_it_has_gradients(declared):
    program, _, g = program_of(lambda x: static.gradients([(x[x > 0.0] ** 2).sum()], [x])[0])
    for array in FEEDS:
        (found,) = static.Executor().run(program, feed={"x": array}, fetch_list=[g])
        np.testing.assert_array_equal(found, np.where(array > 0.0, 2.0 * array, 0.0))


def test_a_mask_of_another_size_is_refused_by_the_run(declared):
    with static.program_guard(static.Program()):
        x, mask = static.data("x", [None, 3]), static.data("mask", [None], "bool")
        y, program = x[mask], static.default_main_program()
    feed = {"x": FEEDS[0], "mask": np.array([True, False])}
    assert static.Executor().run(program, feed=feed, fetch_list=[y])[0].shape == (1, 3)
    with pytest.raises(D2SError):
        static.Executor().run(program, feed=feed | {"mask": np.array([True, False, True])}, fetch_list=[y])


@pytest.mark.parametrize("function", [lambda x: x[x > 0.0][:1], lambda x: d2s.concat([x[x > 0.0], x[x < 0.0]])])
def test_what_must_know_how_many_is_refused_with_a_code(declared, function):
    with pytest.raises((CaptureError, ArgumentError), match="D2S1001"):
        program, _, y = program_of(function)
        static.Executor().run(program, feed={"x": FEEDS[0]}, fetch_list=[y])


@pytest.mark.parametrize("name", ["values", "places", "gathered", "summed"])
@pytest.mark.parametrize("shape", [(None, 3), (None, None)])
def test_a_file_holds_it_for_all_sizes(declared, name, shape, tmp_path):
    program, x, y = program_of(CASES[name], shape)
    executor, path = static.Executor(), str(tmp_path / "model")
    static.save_inference_model(path, [x], [y], executor, program=program)
    d2s.disable_static()
    loaded = d2s.jit.load(path)
    for array in FEEDS:
        given = d2s.to_tensor(array)
        np.testing.assert_array_equal(loaded(given).numpy(), CASES[name](given).numpy(), strict=True)
    d2s.enable_static()
