"""Open extents of declared programs: what is computed from them follows the feed; what is guessed about them is checked."""

import numpy as np
import pytest

import d2s
from d2s import nn, static
from d2s.extents import Extent, Ledger, come_to

F = nn.functional
RANDOM = np.random.RandomState(0)


def rows(count, *shape):
    return RANDOM.rand(count, *shape).astype("float32")


def alike(make, *feeds, shape=(None, 3, 4)):
    """What a function makes of each feed, eagerly and declared once for all of them."""
    d2s.disable_static()
    wanted = [make(*map(d2s.to_tensor, feed)).numpy() for feed in feeds]
    d2s.enable_static()
    names = [f"x{k}" for k in range(len(feeds[0]))]
    y = make(*(static.data(name, list(shape), str(x.dtype)) for name, x in zip(names, feeds[0], strict=True)))
    for feed, want in zip(feeds, wanted, strict=True):
        (found,) = static.Executor().run(feed=dict(zip(names, feed, strict=True)), fetch_list=[y])
        assert found.shape == want.shape
        assert np.array_equal(found, want, equal_nan=True)


@pytest.fixture
def n():
    return Ledger().axis("n", "x")


def test_extents_are_counted_with_as_numbers_are(n):
    other = n.ledger.axis("m", "y")
    known = {"x": 5, "y": 7}.__getitem__
    made = [(n, 5), (-n, -5), (3 * n + 1, 16), (n - 1, 4), (1 - n, -4), (n * other, 35), (sum([n, n, other]), 17)]
    made += [(n * 36 // 4, 45), (-(-n * 3 // 4), 4), ((n + 2) // 2, 3), (n * other * 6 // other, 30), (n % 5, 0)]
    made += [(n.computed(" rounded", lambda k: k // 10 * 10), 0), (n - n, 0), (n * 4 // n, 4)]
    for extent, wanted in made:
        assert (extent if isinstance(extent, int) else come_to(extent.meant, known)) == wanted
    assert [(n - n, n * 4 // n), n * other == other * n, hash(n + 1) == hash(1 + n)] == [(0, 4), True, True]


USES = [lambda n: 1 / n, lambda n: n / 2, float, int, lambda n: n**0.5, range, lambda n: n < 2, lambda n: max(n, 3), list]
USES += [lambda n: [0] * n, lambda n: np.zeros([n]), lambda n: n // (n + 1), lambda n: 7 % n, lambda n: n[0], round]


@pytest.mark.parametrize("use", USES)
def test_an_extent_is_no_number_of_anything_else(n, use):
    with pytest.raises((d2s.errors.CaptureError, TypeError)):
        use(n + 1)


def test_what_is_asked_of_names_is_noted_unless_it_is_sure(n):
    assert n == n + 0
    assert not n - n
    assert n.ledger.answers == []
    assert n != 1
    assert n * 2 % 4 == 0
    said = [(answer.said, [answer.holds({"x": k}.get) for k in (1, 2, 3)]) for answer in n.ledger.answers]
    assert said == [("n is not 1", [False, True, True]), ("2*n can be divided by 4", [False, True, False])]


NUMBERS = [0, 1, 2, 12]  # rows of a batch; 12 is also a number the code below uses


@pytest.mark.parametrize(
    "make",
    [
        lambda x: d2s.concat([x.flatten(1), x.reshape([-1, 12])], axis=0),
        lambda x: d2s.split(d2s.concat([x, x * 2.0]), 2, 0)[1] + x[:, ::-1],
        lambda x: d2s.tile(x, [12, 1, 2])[:-1].flatten(),
        lambda x: F.pad(x.transpose([1, 2, 0]), [1, 12], data_format="NCL").sum(axis=0) * x.shape[-1],
        lambda x: d2s.expand(x.sum(axis=0, keepdim=True), [12, 3, 4]) + d2s.zeros_like(x).sum(),
        lambda x: F.kl_div(x, x * 2.0, "sum") / d2s.numel(x).astype("float32"),
    ],
)
def test_values_follow_the_feed_whatever_its_length(declared, make):
    alike(make, *([rows(n, 3, 4)] for n in NUMBERS))


def test_pictures_of_any_size(declared):
    def small(x):
        return F.max_pool2d(F.interpolate(F.avg_pool2d(x, 3, 2, 1), scale_factor=1.5), 2).flatten(2)

    alike(small, *([rows(n, 2, h, w)] for n, h, w in ((2, 9, 8), (1, 6, 7), (3, 8, 8))), shape=(None, 2, None, None))


def test_two_axes_that_happen_to_be_equal_are_still_two(declared):
    alike(lambda x: d2s.matmul(x, x, transpose_y=True).reshape([-1]), [rows(4, 4)], [rows(2, 5)], shape=(None, None))
    x = static.data("x", [None, None])
    y = x.transpose([1, 0]).flatten() * 1.0
    assert static.Executor().run(feed={"x": np.ones((3, 3), "float32")}, fetch_list=[y])[0].shape == (9,)
    assert static.Executor().run(feed={"x": np.ones((3, 4), "float32")}, fetch_list=[y])[0].shape == (12,)


def test_feeds_of_one_length_by_accident(declared):
    a, b = static.data("a", [None, 3]), static.data("b", [None, 3])
    every = d2s.matmul(a, b, transpose_y=True)
    long = d2s.concat([a, a, b])
    for first, second in ((4, 4), (4, 5), (1, 4), (4, 1), (0, 2)):
        feed = {"a": rows(first, 3), "b": rows(second, 3)}
        found = static.Executor().run(feed=feed, fetch_list=[every, long, long.reshape([-1])])
        assert [f.shape for f in found] == [(first, second), (2 * first + second, 3), (6 * first + 3 * second,)]


def test_rows_that_are_one_are_repeated_as_anywhere(declared):
    total = static.data("a", [None, 3]) + static.data("b", [None, 3])
    for first, second in ((2, 2), (1, 4), (4, 1), (1, 1)):
        feed = {"a": rows(first, 3), "b": rows(second, 3)}
        found = static.Executor().run(feed=feed, fetch_list=[total])[0]
        assert np.array_equal(found, feed["a"] + feed["b"])
    with pytest.raises(d2s.errors.ShapeError):
        static.Executor().run(feed={"a": rows(2, 3), "b": rows(3, 3)}, fetch_list=[total])


def test_a_run_for_which_an_answer_does_not_hold_is_refused(declared):
    y = d2s.squeeze(static.data("x", [None, 1, 3]))
    assert y.shape == [-1, 3]
    for n in (2, 0):
        assert static.Executor().run(feed={"x": rows(n, 1, 3)}, fetch_list=[y])[0].shape == (n, 3)
    with pytest.raises(d2s.errors.CaptureError, match="declared for feeds of which n0 is not 1, and is run with others"):
        static.Executor().run(feed={"x": rows(1, 1, 3)}, fetch_list=[y])


def test_an_answer_made_up_by_hand_is_checked_too(declared):
    x, y = static.data("x", [None, 3]), static.data("y", [None, 3])
    extents = [v.value.type.shape[0] for v in (x, y)]
    assert extents[0] == extents[1]
    assert isinstance(extents[0], Extent)
    both = [x * 1.0, y * 1.0]
    static.Executor().run(feed={"x": rows(2, 3), "y": rows(2, 3)}, fetch_list=both)
    with pytest.raises(d2s.errors.CaptureError, match="n0 is n0"):
        static.Executor().run(feed={"x": rows(2, 3), "y": rows(3, 3)}, fetch_list=both)
    static.Executor().run(feed={"x": rows(2, 3)}, fetch_list=[both[0]])


@pytest.mark.parametrize("at", [3, -3])
def test_a_place_that_a_batch_has_not_is_refused_where_it_is_read_or_written(declared, at):
    x = static.data("x", [None, 3])
    changed = x * 1.0
    changed[at] = 7.0
    feed = {"x": np.zeros((4, 3), "float32")}
    assert static.Executor().run(feed=feed, fetch_list=[changed, x[at]])[0][at].tolist() == [7.0] * 3
    with pytest.raises(d2s.errors.IndexRangeError):
        static.Executor().run(feed={"x": rows(2, 3)}, fetch_list=[changed])


def test_a_place_that_a_tensor_has_not_is_refused_in_a_static_function():
    @d2s.to_static
    def changed(x):
        y = x * 1.0
        y[3] = 7.0
        return y

    for n in (4, 5):
        assert changed(d2s.zeros([n, 2]))[3].tolist() == [7.0, 7.0]
    with pytest.raises(d2s.errors.IndexRangeError):
        changed(d2s.zeros([2, 2]))


def test_draws_of_an_open_batch_go_on_in_the_stream(declared):
    def drawn(x):
        return F.dropout(x, 0.5) + d2s.rand([4]) * F.gumbel_softmax(x)

    d2s.disable_static()
    d2s.seed(3)
    wanted = [drawn(d2s.to_tensor(np.ones((n, 4), "float32"))).numpy() for n in (3, 1, 5)]
    d2s.enable_static()
    y = drawn(static.data("x", [None, 4]))
    d2s.disable_static()
    d2s.seed(3)
    d2s.enable_static()
    for n, want in zip((3, 1, 5), wanted, strict=True):
        assert np.array_equal(static.Executor().run(feed={"x": np.ones((n, 4), "float32")}, fetch_list=[y])[0], want)


def test_a_draw_of_an_open_batch_in_a_branch_moves_the_stream_on(declared):
    x = static.data("x", [None, 4])
    y = static.nn.cond(x.sum() > 0.0, lambda: F.dropout(x * 1.0, 0.5), lambda: x * 0.0)
    for n in (3, 5):
        assert static.Executor().run(feed={"x": np.ones((n, 4), "float32")}, fetch_list=[y])[0].shape == (n, 4)


def test_sequences_of_any_length_through_layers(declared):
    d2s.disable_static()
    lstm, attention = nn.LSTM(4, 4), nn.MultiHeadAttention(4, 2)
    alike(
        lambda x: attention(lstm(x)[0])[:, -1], *([rows(n, t, 4)] for n, t in ((2, 3), (1, 5), (3, 1))), shape=(None, None, 4)
    )
    d2s.enable_static()


def test_what_a_static_function_makes_of_an_open_extent(declared):
    halved = d2s.to_static(lambda x: d2s.concat([x, x]).flatten() if x.sum() > 0 else x.flatten().tile([2]))
    y = halved(static.data("x", [None, 3]))
    for n in (2, 1, 0):
        feed = {"x": rows(n, 3)}
        assert np.array_equal(static.Executor().run(feed=feed, fetch_list=[y])[0], np.tile(feed["x"].ravel(), 2))


def test_a_static_function_counts_the_rows_of_a_run(declared):
    y = d2s.to_static(lambda x: x * x.shape[0])(static.data("x", [None, 3]))
    for n in (2, 1, 0, 5):
        feed = {"x": rows(n, 3)}
        assert np.array_equal(static.Executor().run(feed=feed, fetch_list=[y])[0], feed["x"] * n)


def test_python_is_not_told_how_long_a_batch_is(declared):
    x = static.data("x", [None, 3])
    assert (x.shape, x.size, (x * 2.0).shape) == ([-1, 3], -1, [-1, 3])
    with pytest.raises(d2s.errors.CaptureError, match=r"len\(\) of a variable"):
        len(x)


def test_a_parameter_of_an_open_extent_is_refused(declared):
    with pytest.raises(d2s.errors.ArgumentError, match="a parameter's extent would be open"):
        static.nn.fc(static.data("x", [3, None]), 2)


def test_a_static_function_that_took_two_batches_for_one_is_refused_where_they_differ(declared):
    y = d2s.to_static(lambda a, b: a + b)(static.data("a", [None, 3]), static.data("b", [None, 3]))
    for n in (2, 1):
        assert static.Executor().run(feed={"a": rows(n, 3), "b": rows(n, 3)}, fetch_list=[y])[0].shape == (n, 3)
    with pytest.raises(d2s.errors.CaptureError, match="code may have relied on what it was"):
        static.Executor().run(feed={"a": rows(1, 3), "b": rows(4, 3)}, fetch_list=[y])
