"""Random numbers: the published words of Philox, ranges, distributions, one stream for all threads, and what is refused."""

import ctypes
import math
import pickle
import statistics
import subprocess
import sys
import threading

import numpy as np
import pytest

import d2s
from d2s import types
from d2s.codegen import cache, emit
from d2s.errors import ArgumentError, CaptureError, D2SError, DTypeError, ShapeError
from d2s.ops import OPS, dispatch, draw, random_text
from d2s.ops.recording import Recorder
from d2s.runtime import launch
from d2s.types import Type

NAMES = ("uniform", "normal", "randint", "randperm", "bernoulli", "multinomial", "poisson")
N = 200_000
ONES, TWO = d2s.to_tensor(np.ones(10, "float32")), d2s.to_tensor([1.0, 2.0])


@pytest.fixture(autouse=True)
def _seeded():
    d2s.seed(20240917)
    yield
    d2s.seed(0)


# the generator


def words(counter, key):
    """The cipher as it is published, on Python's ints."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(q >> 32) ^ c[1] ^ k[0], q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


ALL = 0xFFFFFFFF
PUBLISHED = [  # Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (Random123, kat_vectors)
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ALL,) * 4, (ALL,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.fixture(scope="module")
def cipher():
    """The kernel text's `philox` as an op of its own: four counter words in, four words out."""

    def philox_words(seed, counter, x):
        """For these tests only."""

    op = draw.Draw("philox_words", philox_words, None, public=philox_words, reads=("x",))
    del OPS["philox_words"]
    op.rule("infer")(lambda seed, counter, x: x)
    text = random_text.PHILOX.partition("def block")[0]
    text += "for k in range(n0):\n    out[0], out[1], out[2], out[3] = philox(x[0], x[1], x[2], x[3])\n"
    op.rule("kernel")(lambda seed, counter, x, out: ([(1,)], text))

    def run(counter, key):
        seed = np.array(draw.signed(key[0] | key[1] << 32))
        arrays = [seed, np.array(0), np.array(counter, "int64")]
        return tuple(launch.run(op, [launch.type_of(a) for a in arrays], arrays, {}).tolist())

    return run


@pytest.mark.parametrize(("counter", "key", "expected"), PUBLISHED)
def test_philox_gives_the_published_words(cipher, counter, key, expected):
    assert cipher(counter, key) == expected
    assert tuple(words(counter, key)) == expected


def test_philox_is_the_cipher_of_any_counter_and_key(cipher):
    rng = np.random.default_rng(1)
    for _ in range(200):
        counter, key = rng.integers(0, 1 << 32, 4).tolist(), rng.integers(0, 1 << 32, 2).tolist()
        assert cipher(counter, key) == tuple(words(counter, key))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("select(w0 < 0x80000000, T(1), T(2))", lambda w: 1.0 + (w >= 2**31)),
        ("T(2 * (w0 >> 31) - 1)", lambda w: 2.0 * (w >> 31) - 1),
        ("T(2 * (w0 & 0x7FFFFFFF) + 1)", lambda w: 2.0 * (w & 0x7FFFFFFF) + 1),
    ],
)
def test_the_top_bits_are_what_they_are(value, expected):
    """A product that left int64 made LLVM believe that some were 0, where a text asked for them."""

    def asked_words(seed, counter, x):
        """For these tests only."""

    op = draw.Draw("asked_words", asked_words, None, public=asked_words, reads=("x",))
    del OPS["asked_words"]
    op.rule("infer")(lambda seed, counter, x: Type(types.float64, (1024,)))
    text = random_text.filled(f"def value(w0):\n    return {value}\n", 1)
    op.rule("kernel")(lambda seed, counter, x, out: ([(1024,)], text))
    arrays = [np.array(0), np.array(0), np.array(0)]
    found = launch.run(op, [launch.type_of(a) for a in arrays], arrays, {})
    assert np.array_equal(found, expected(stream(0, 0, 256)))


def stream(seed, start, blocks):
    """Words of a stream, as int64."""
    split = lambda n: (n & 0xFFFFFFFF, n >> 32)  # noqa: E731
    return np.array([w for k in range(start, start + blocks) for w in words((*split(k % 2**64), 0, 0), split(seed))])


@pytest.mark.parametrize("seed", [1, 2**32, 2**63, 2**64 - 1])
@pytest.mark.parametrize("counter", [0, 7, 2**32 - 2, 2**63 - 2, 2**64 - 2])
def test_uniform_numbers_are_the_bits_of_the_stream(seed, counter):
    state = type(d2s.get_rng_state())(seed, counter)
    d2s.set_rng_state(state)
    expected = (stream(seed, counter, 4) >> 8).astype("float32") * np.float32(2**-24)
    assert np.array_equal(d2s.rand([15]).numpy(), expected[:15])
    d2s.set_rng_state(state)
    w = stream(seed, counter, 4)
    assert np.array_equal(d2s.rand([7], "float64").numpy(), (((w[1::2] << 21) | (w[::2] >> 11)) * 2.0**-53)[:7])


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 10), (-5, 2**32 - 6), (-(2**31), 2**31 - 1), (3, 5)])
def test_integers_are_the_upper_bits_of_a_product(low, high):
    w = [int(v) for v in stream(9, 0, 50)]
    d2s.seed(9)
    expected = [low + ((w[k + 1] << 32 | w[k]) * (high - low) >> 64) for k in range(0, 200, 2)]
    assert d2s.randint(low, high, [100]).tolist() == expected


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 2**32), (0, 2**32 + 1), (-(2**62), 2**62 + 12345), (-(2**63), 2**63 - 1), (-(2**63), 2**63), (0, 2**63)],
)
def test_wide_integers_are_the_upper_bits_of_a_wide_product(low, high):
    w = [int(v) for v in stream(9, 0, 500)]
    d2s.seed(9)
    whole = [sum(w[k + n] << 32 * n for n in range(4)) for k in range(0, 2000, 4)]
    assert d2s.randint(low, high, [500]).tolist() == [low + (v * (high - low) >> 128) for v in whole]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("draw", [d2s.rand, d2s.randn])
def test_a_part_of_a_draw_does_not_depend_on_the_rest(draw, dtype):
    """Any chunk computed from its own counter has the numbers of the whole."""
    words_each = 1 if dtype == "float32" else 2
    start = d2s.get_rng_state()
    whole = draw([1000], dtype).numpy()
    for begin, size in [(0, 1), (0, 63), (0, 65), (64, 64), (128, 872), (512, 3), (4, 100)]:
        d2s.set_rng_state(type(start)(start.seed, begin * words_each // 4))
        assert np.array_equal(draw([size], dtype).numpy(), whole[begin : begin + size])


# the stream


def draws():
    """One draw of each kind."""
    x = d2s.to_tensor(np.linspace(0.1, 0.9, 12).reshape(3, 4))
    return [
        d2s.uniform([5]),
        d2s.normal(0.0, 2.0, [5]),
        d2s.normal(x, 0.5),
        d2s.rand([5], "float64"),
        d2s.randn([5], "float64"),
        d2s.standard_normal([5]),
        d2s.randint(0, 1000, [5]),
        d2s.randint_like(x, 0, 1000),
        d2s.randperm(100),
        d2s.bernoulli(x),
        d2s.multinomial(x, 3),
        d2s.multinomial(x, 30, replacement=True),
        d2s.poisson(x * 1000.0),
    ]


def same(xs, ys):
    return [bool(np.array_equal(x.numpy(), y.numpy())) for x, y in zip(xs, ys, strict=True)]


def test_same_seed_same_numbers_and_a_new_draw_is_new():
    first, second = draws(), draws()
    assert not any(same(first, second))
    d2s.seed(20240917)
    assert all(same(first, draws()))
    assert all(same(second, draws()))


def test_other_seeds_other_numbers():
    seen = set()
    for seed in [*range(100), 2**32, 2**63, 2**64 - 1]:
        d2s.seed(seed)
        seen.add(d2s.randint(0, 2**63 - 1, [4]).numpy().tobytes())
    assert len(seen) == 103


def test_a_state_is_kept_and_handed_back():
    d2s.randn([17])
    state = d2s.get_rng_state()
    kept = pickle.loads(pickle.dumps(state))
    first = draws()
    assert d2s.get_rng_state() != state
    d2s.set_rng_state(kept)
    assert d2s.get_rng_state() == state
    assert all(same(first, draws()))


def test_a_draw_takes_the_blocks_it_needs():
    for make, blocks in [
        (lambda: d2s.rand([0]), 0),
        (lambda: d2s.rand([1]), 1),
        (lambda: d2s.rand([4]), 1),
        (lambda: d2s.rand([5]), 2),
        (lambda: d2s.randn([5], "float64"), 3),
        (lambda: d2s.randint(0, 9, [3]), 2),
        (lambda: d2s.randint(0, 2**40, [3]), 3),
        (lambda: d2s.randperm(6), 6),
        (lambda: d2s.poisson(ONES), 10),
        (lambda: d2s.multinomial(ONES, 3), 10),
        (lambda: d2s.multinomial(ONES, 3, True), 3),
        (lambda: d2s.uniform([50], seed=3), 0),
    ]:
        before = d2s.get_rng_state().counter
        make()
        assert d2s.get_rng_state().counter - before == blocks


def test_a_seed_of_its_own_leaves_the_stream_alone():
    first = d2s.uniform([50], seed=3)
    d2s.rand([5])
    assert same([first], [d2s.uniform([50], seed=3)]) == [True]
    assert same([first], [d2s.uniform([50], seed=4)]) == [False]


def test_threads_share_one_stream_and_no_numbers():
    found, together = [], threading.Barrier(8)

    def work():
        together.wait()
        found.extend(d2s.randint(0, 2**63 - 1, [33]).numpy() for _ in range(100))

    start = d2s.get_rng_state()
    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert d2s.get_rng_state().counter == start.counter + 800 * 33
    d2s.set_rng_state(start)
    alone = d2s.randint(0, 2**63 - 1, [800 * 33]).numpy()
    assert sorted(f.tobytes() for f in found) == sorted(part.tobytes() for part in alone.reshape(800, 33))


def test_a_fresh_process_starts_at_seed_0():
    code = "import d2s; print(d2s.randint(0, 10**9, [3]).tolist(), d2s.nn.Linear(2, 2).weight.tolist())"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    d2s.seed(0)
    assert out.strip() == f"{d2s.randint(0, 10**9, [3]).tolist()} {d2s.nn.Linear(2, 2).weight.tolist()}"


@pytest.mark.skipif(not hasattr(sys, "getswitchinterval") or sys.platform == "win32", reason="needs fork")
def test_a_forked_child_can_draw():
    code = """
import os, threading, d2s
from d2s.runtime import random_state
d2s.rand([1])
random_state._stream.lock.acquire()  # as another thread might, at the moment of the fork
child = os.fork()
if child == 0:
    d2s.rand([1])
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    out = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert out.stdout.strip() == "7", out.stderr


def test_parameters_are_drawn_in_the_order_of_creation():
    d2s.seed(5)
    first = [d2s.nn.Linear(3, 4), d2s.nn.Linear(4, 2)]
    d2s.seed(5)
    bound = math.sqrt(6 / 7)
    assert np.array_equal(first[0].weight.numpy(), d2s.uniform([3, 4], "float32", -bound, bound).numpy())
    bound = math.sqrt(6 / 6)
    assert np.array_equal(first[1].weight.numpy(), d2s.uniform([4, 2], "float32", -bound, bound).numpy())


# distributions: with the seed fixed, a bound of 5 standard errors either holds always or never


def chi_square(counts, expected):
    """How many standard deviations a chi-square statistic is from its mean."""
    counts, expected = np.asarray(counts, float), np.asarray(expected, float)
    freedom = len(counts) - 1
    return float(((counts - expected) ** 2 / expected).sum() - freedom) / math.sqrt(2 * freedom)


def kolmogorov(x, cdf):
    """sqrt(n) times the largest distance of a sample to its distribution; 1.95 is passed once in a thousand."""
    x = np.sort(np.asarray(x, float).ravel())
    p, n = np.array([cdf(v) for v in x]), len(x)
    return math.sqrt(n) * max((np.arange(1, n + 1) / n - p).max(), (p - np.arange(n) / n).max())


def correlation(x, y):
    return abs(float(np.corrcoef(x, y)[0, 1])) * math.sqrt(len(x))


def phi(v):
    return 0.5 * math.erfc(-v / math.sqrt(2))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_numbers(dtype):
    x = d2s.uniform([N], dtype, -3.0, 5.0).numpy()
    assert x.dtype == dtype
    assert x.min() >= -3
    assert x.max() < 5
    u = (x.astype(float) + 3) / 8
    assert abs(u.mean() - 0.5) < 5 * math.sqrt(1 / 12 / N)
    assert abs(u.var() - 1 / 12) < 5 * math.sqrt(1 / 180 / N)
    assert abs(chi_square(np.bincount((u * 1000).astype(int), minlength=1000), np.full(1000, N / 1000))) < 5
    assert kolmogorov(u, lambda v: v) < 1.95
    pairs = (u[::2] * 32).astype(int) * 32 + (u[1::2] * 32).astype(int)
    assert abs(chi_square(np.bincount(pairs, minlength=1024), np.full(1024, N / 2 / 1024))) < 5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers(dtype):
    z = d2s.randn([N], dtype).numpy().astype(float)
    for power, mean, variance in [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)]:
        assert abs((z**power).mean() - mean) < 5 * math.sqrt(variance / N), power
    assert kolmogorov(z[:50_000], phi) < 1.95
    edges = np.linspace(-3.5, 3.5, 71)
    expected = np.diff([0, *map(phi, edges), 1]) * N
    assert abs(chi_square(np.histogram(z, [-np.inf, *edges, np.inf])[0], expected)) < 5
    assert 4 < np.abs(z).max() < 7


@pytest.mark.parametrize(("dtype", "ulps"), [("float32", 12), ("float64", 8)])
def test_normal_numbers_are_the_inverse_of_the_distribution(dtype, ulps):
    """Word by word, against Python's own inverse in float64."""
    state = d2s.get_rng_state()
    z = d2s.randn([4000], dtype).numpy()
    w = [int(v) for v in stream(state.seed, state.counter, 1000 if dtype == "float32" else 2000)]
    inverse = statistics.NormalDist().inv_cdf
    if dtype == "float32":
        parts = [(v >> 31, 2**32 - (2 * (v & 0x7FFFFFFF) + 1), 33) for v in w]
    else:
        parts = [
            (b >> 31, 2**63 - (2 * ((b & 0x7FFFFFFF) << 31 | a >> 1) + 1), 64) for a, b in zip(w[::2], w[1::2], strict=True)
        ]
    expected = np.array([-inverse(q / 2**bits) if upper else inverse(q / 2**bits) for upper, q, bits in parts])
    slack = 2.5e-16  # Python's inverse starts from 0.5 - q and so has no more digits near 0
    assert (np.abs(z - expected) <= ulps * np.spacing(np.abs(expected).astype(dtype)) + slack).all()


def normal_of(words_, dtype):
    """What `normal` makes of words we choose."""
    text = random_text.normal_text(types.dtype(dtype))
    names = ", ".join(f"x[{n}]" for n in range(len(words_)))
    body = f"shift = T(0)\nscale = T(1)\n\n{text}\nfor k in range(n0):\n    out[0] = value({names})\n"

    def chosen_words(seed, counter, x):
        """For these tests only."""

    op = draw.Draw("chosen_words", chosen_words, None, public=chosen_words, reads=("x",))
    del OPS["chosen_words"]
    op.rule("infer")(lambda seed, counter, x: Type(types.dtype(dtype)))
    op.rule("kernel")(lambda seed, counter, x, out: ([(1,)], body))
    arrays = [np.array(0), np.array(0), np.array(words_, "int64")]
    return launch.run(op, [launch.type_of(a) for a in arrays], arrays, {}).item()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_at_the_ends_of_the_words(dtype):
    count = 1 if dtype == "float32" else 2
    fraction = 33 if count == 1 else 64
    largest = -statistics.NormalDist().inv_cdf(2.0**-fraction)
    smallest = math.sqrt(2 * math.pi) * 2.0**-fraction
    tolerance = 2e-6 if count == 1 else 1e-14
    top, half = (ALL,) * count, (0,) * (count - 1)
    assert normal_of(top, dtype) == pytest.approx(largest, rel=tolerance)
    assert normal_of((*top[1:], 0x7FFFFFFF), dtype) == pytest.approx(-largest, rel=tolerance)
    assert normal_of((*half, 0x80000000), dtype) == pytest.approx(smallest, rel=tolerance)
    assert normal_of((*half, 0), dtype) == pytest.approx(-smallest, rel=tolerance)


@pytest.mark.parametrize("mean, std", [(3.0, 0.5), (0, 2), (-1e6, 1e-3)])
def test_normal_scales_and_shifts(mean, std):
    state = d2s.get_rng_state()
    x = d2s.normal(mean, std, [100]).numpy()
    d2s.set_rng_state(state)
    assert np.array_equal(x, d2s.randn([100]).numpy() * np.float32(std) + np.float32(mean))
    d2s.set_rng_state(state)
    assert np.array_equal(x, d2s.normal(d2s.to_tensor(np.full(100, mean, "float32")), float(std)).numpy())


def test_a_normal_draw_carries_the_gradient_of_its_parameters():
    mean, std = d2s.to_tensor([1.0, 2.0], stop_gradient=False), d2s.to_tensor([[3.0], [4.0]], stop_gradient=False)
    x = d2s.normal(mean, std)
    assert x.shape == [2, 2]
    x.sum().backward()
    assert mean.grad.tolist() == [2.0, 2.0]
    z = (x.numpy() - mean.numpy()) / std.numpy()
    np.testing.assert_allclose(std.grad.numpy()[:, 0], z.sum(1), rtol=1e-5)


def test_no_gradient_passes_other_draws():
    x = d2s.to_tensor([0.5, 0.5], stop_gradient=False)
    for found in (d2s.bernoulli(x), d2s.poisson(x), d2s.multinomial(x)):
        assert found.stop_gradient


def test_neighbours_and_streams_do_not_correlate():
    u = d2s.rand([N]).numpy()
    for lag in (1, 2, 3, 4, 5, 16, 64, 1000):
        assert correlation(u[:-lag], u[lag:]) < 4.5, lag
    for seed in (20240918, 20240917 + 2**32, 20240917 ^ 1):
        d2s.seed(seed)
        assert correlation(u, d2s.rand([N]).numpy()) < 4.5
    z = d2s.randn([N]).numpy()
    assert correlation(z[:-1], z[1:]) < 4.5
    assert correlation(z[:-1] ** 2, z[1:] ** 2) < 4.5


@pytest.mark.parametrize("dtype", [d for d in types.TENSOR_DTYPES if d.kind == "i"], ids=str)
def test_integers_of_all_dtypes_and_their_whole_range(dtype):
    limits = np.iinfo(dtype.numpy)
    x = d2s.randint(int(limits.min), int(limits.max) + 1, [20_000], dtype)
    assert x.dtype is dtype
    span = int(limits.max) - int(limits.min) + 1
    bins = ((x.numpy().astype(float) - limits.min) / span * 16).astype(int).clip(0, 15)
    assert abs(chi_square(np.bincount(bins, minlength=16), np.full(16, 20_000 / 16))) < 5
    assert d2s.randint(int(limits.max), int(limits.max) + 1, [3], dtype).tolist() == [limits.max] * 3


def test_integers_reach_both_ends_and_no_further():
    x = d2s.randint(-3, 4, [N]).numpy()
    assert (x.min(), x.max()) == (-3, 3)
    assert abs(chi_square(np.bincount(x + 3), np.full(7, N / 7))) < 5
    assert set(d2s.randint(5, shape=[1000]).tolist()) == set(range(5))
    assert d2s.randint(3).shape == [1]


def test_a_span_that_is_no_power_of_two_is_not_biased():
    """By the remainder of 32 bits, the lower half of 3 * 2**30 would come twice as often."""
    x = d2s.randint(0, 3 * 2**30, [N]).numpy()
    assert abs(chi_square(np.bincount(x // 2**28, minlength=12), np.full(12, N / 12))) < 5
    x = d2s.randint(0, 3 * 2**61, [N]).numpy()
    assert abs(chi_square(np.bincount(x // 2**59, minlength=12), np.full(12, N / 12))) < 5


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "uint8"])
def test_permutations(dtype):
    x = d2s.randperm(200, dtype)
    assert x.dtype == dtype
    assert sorted(x.tolist()) == list(range(200))
    assert d2s.randperm(0, dtype).shape == [0]
    assert d2s.randperm(1, dtype).tolist() == [0]


def test_all_permutations_are_as_likely():
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(4800):
        found = tuple(d2s.randperm(4).tolist())
        counts[found] = counts.get(found, 0) + 1
    assert len(counts) == 24
    assert abs(chi_square(list(counts.values()), np.full(24, 200))) < 5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bernoulli(dtype):
    p = np.repeat([0.0, 1.0, 0.5, 0.001, 0.9, 1 - 2.0**-24], N)
    x = d2s.bernoulli(d2s.to_tensor(p, dtype))
    assert x.dtype == dtype
    means = x.numpy().reshape(6, N).astype(float).mean(1)
    assert set(np.unique(x.numpy())) == {0, 1}
    assert means[0] == 0
    assert means[1] == 1
    for mean, likely in zip(means[2:], (0.5, 0.001, 0.9, 1 - 2.0**-24), strict=True):
        assert abs(mean - likely) <= 5 * math.sqrt(likely * (1 - likely) / N) + 1 / N


@pytest.mark.parametrize("replacement", [False, True])
def test_the_first_of_a_multinomial_draw(replacement):
    weights = np.array([1.0, 0.0, 2.0, 4.0, 0.0, 3.0])
    x = d2s.to_tensor(np.tile(weights, (20_000, 1)))
    found = d2s.multinomial(x, 3, replacement).numpy()
    assert found.shape == (20_000, 3)
    assert found.dtype == np.int64
    possible = [0, 2, 3, 5]
    counts = np.bincount(found[:, 0], minlength=6)
    assert counts[[1, 4]].tolist() == [0, 0]
    assert abs(chi_square(counts[possible], weights[possible] / 10 * 20_000)) < 5
    distinct = np.array([len(set(row)) for row in found.tolist()])
    assert (distinct == 3).all() != replacement


def test_without_replacement_the_second_is_drawn_from_the_rest():
    weights = np.array([1.0, 2.0, 3.0])
    found = d2s.multinomial(d2s.to_tensor(np.tile(weights, (30_000, 1))), 2).numpy()
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    expected = [weights[a] / 6 * weights[b] / (6 - weights[a]) * 30_000 for a, b in pairs]
    counts = [int(((found[:, 0] == a) & (found[:, 1] == b)).sum()) for a, b in pairs]
    assert abs(chi_square(counts, expected)) < 5


def test_with_replacement_draws_are_independent():
    found = d2s.multinomial(TWO, N, replacement=True).numpy()
    assert abs((found == 1).mean() - 2 / 3) < 5 * math.sqrt(2 / 9 / N)
    assert correlation(found[:-1], found[1:]) < 4.5


def test_all_of_a_row_without_replacement_is_a_permutation():
    x = d2s.to_tensor(np.random.default_rng(1).random((3, 500)).astype("float32") + 1e-3)
    assert all(sorted(row) == list(range(500)) for row in d2s.multinomial(x, 500).tolist())


@pytest.mark.parametrize("weights", [[1e-300, 1e-300], [1e300, 1e300], [1e-307, 1e-307], [1e-300, 1e300], [0.0, 5e-324]])
def test_weights_of_any_size(weights):
    x = d2s.to_tensor(weights, "float64")
    least = 0 if weights[0] == weights[1] else 1
    for replacement in (False, True):
        found = [d2s.multinomial(x, 1, replacement).item() for _ in range(40)]
        assert set(found) == ({0, 1} if not least else {1})


def log_poisson(k, rate):
    return k * math.log(rate) - rate - math.lgamma(k + 1)


@pytest.mark.parametrize("rate", [0.05, 1.0, 5.0, 9.999, 10.0, 12.5, 30.0, 100.0])
def test_poisson_counts(rate):
    x = d2s.poisson(d2s.to_tensor(np.full(N, rate, "float64"))).numpy()
    assert np.array_equal(x, np.floor(x))
    assert abs(x.mean() - rate) < 5 * math.sqrt(rate / N)
    assert abs(x.var() - rate) < 5 * math.sqrt((rate + 2 * rate * rate) / N)
    expected = np.array([math.exp(log_poisson(k, rate)) * N for k in range(int(rate + 12 * math.sqrt(rate) + 12))])
    kept = expected > 10
    counts = np.bincount(x.astype(int), minlength=len(expected))[: len(expected)]
    counts, expected = [*counts[kept], N - counts[kept].sum()], [*expected[kept], N - expected[kept].sum()]
    assert abs(chi_square(counts, expected)) < 5


@pytest.mark.parametrize("rate", [1e3, 1e5, 9e7, 2e8, 1e12])
def test_poisson_of_large_rates(rate):
    x = d2s.poisson(d2s.to_tensor(np.full(N, rate, "float64"))).numpy()
    z = (x - rate) / math.sqrt(rate)
    assert np.array_equal(x, np.floor(x))
    assert abs(z.mean()) < 5 / math.sqrt(N)
    assert abs(z.var() - 1) < 5 * math.sqrt(2 / N)
    assert abs((z**3).mean() - rate**-0.5) < 5 * math.sqrt(15 / N)
    if rate >= 1e5:  # the steps of the lattice are small, and the skewness too
        assert kolmogorov(z[:20_000], phi) < 1.95


def test_poisson_of_zero_tiny_and_enormous_rates():
    found = d2s.poisson(d2s.to_tensor([0.0, 1e-40, 1e15, 1e30, 3e38], "float32"))
    assert found.dtype is types.float32
    assert found.tolist()[:2] == [0.0, 0.0]
    np.testing.assert_allclose(found.numpy()[2:], np.float32([1e15, 1e30, 3e38]), rtol=1e-6)
    assert d2s.poisson(d2s.to_tensor(1e300, "float64")).item() == pytest.approx(1e300)


# shapes and arguments


@pytest.mark.parametrize("shape", [[], [0], [1], [3, 0, 2], (2, 3), [1] * 20, [65], [2, 64]], ids=str)
def test_shapes(shape):
    expected = list(shape)
    for dtype in ("float32", "float64"):
        assert d2s.rand(shape, dtype).shape == expected
        assert d2s.randn(shape, dtype).shape == expected
    assert d2s.randint(0, 5, shape).shape == expected
    assert d2s.randint(0, 2**40, shape).shape == expected
    half = d2s.to_tensor(np.full(shape, 0.5, "float32"))
    for found in (d2s.bernoulli(half), d2s.poisson(half), d2s.randint_like(half, 9), d2s.normal(half, half)):
        assert found.shape == expected


def test_a_shape_may_be_an_integer_tensor_or_hold_numpy_ints():
    assert d2s.rand(d2s.to_tensor([2, 3])).shape == [2, 3]
    assert d2s.rand([np.int64(2), d2s.to_tensor(3)]).shape == [2, 3]


def test_nothing_is_written_behind_the_last_number():
    """64 numbers are computed at a time; the copy at the end knows the remainder."""
    for n in (1, 63, 64, 65, 127):
        for name, attrs in (("uniform", {}), ("normal", {})):
            op, dtype = OPS[name], types.float32
            buffer = np.full(n + 64, 7, "float32")
            inputs = [np.array(0), np.array(0), np.array(0, "float32"), np.array(1, "float32")]
            held = [launch.type_of(a) for a in inputs]
            given = {"shape": (n,), "dtype": dtype, **attrs}
            text = emit.lower(op, held, op.infer(held, given), given)
            block = (ctypes.c_int64 * 6)(*[a.ctypes.data for a in inputs], buffer.ctypes.data, n)
            kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(cache.address(text.text, text.T))
            kernel(block, (ctypes.c_int32 * 6)(*range(6)))
            assert (buffer[n:] == 7).all()
            assert (buffer[:n] != 7).all()


def test_defaults():
    assert d2s.uniform([3]).dtype is types.float32
    assert d2s.uniform([1000]).numpy().min() < -0.5
    assert d2s.normal().shape == [1]
    assert d2s.randint(5).dtype is types.int64
    assert d2s.randint_like(d2s.to_tensor([1, 2], "int32"), 5).dtype is types.int32
    assert d2s.randint_like(TWO, 5, dtype="int64").dtype is types.int64


def test_rounding_does_not_reach_the_end_of_a_range():
    x = d2s.uniform([N], min=1.0, max=1.0 + 2.0**-22).numpy()
    assert x.max() < np.float32(1 + 2.0**-22)
    assert x.min() == 1


NAN, INF = float("nan"), float("inf")
REFUSED = {
    "a negative extent": (lambda: d2s.rand([2, -1]), ArgumentError, "not a shape"),
    "a huge shape": (lambda: d2s.rand([2**40, 2**40]), ArgumentError, "does not fit into memory"),
    "a huge extent": (lambda: d2s.randn([10**30]), ArgumentError, "does not fit into memory"),
    "a huge randint": (lambda: d2s.randint(0, 5, [2**45]), ArgumentError, "does not fit into memory"),
    "a huge permutation": (lambda: d2s.randperm(2**50), ArgumentError, "randperm"),
    "a huge sample": (lambda: d2s.multinomial(TWO, 2**60, True), ArgumentError, "num_samples"),
    "a huge random normal": (lambda: d2s.normal(0.0, 1.0, [2**50]), ArgumentError, "does not fit into memory"),
    "too many extents": (lambda: d2s.rand([1] * 33), ArgumentError, "32 extents"),
    "a number as shape": (lambda: d2s.rand(3), DTypeError, r"\[n\]"),
    "a string as shape": (lambda: d2s.rand("33"), DTypeError, "'shape'"),
    "a float extent": (lambda: d2s.rand([2.0]), DTypeError, "'shape' expects an int"),
    "a bool extent": (lambda: d2s.rand([True]), DTypeError, "'shape' expects an int"),
    "a float tensor as shape": (lambda: d2s.rand(TWO), DTypeError, "'shape'"),
    "no shape": (lambda: d2s.rand(), DTypeError, "rand.*shape"),
    "an unknown argument": (lambda: d2s.uniform([2], low=3), DTypeError, "uniform.*low"),
    "integers that are uniform": (lambda: d2s.uniform([2], "int32"), DTypeError, "int32"),
    "an unknown dtype": (lambda: d2s.rand([2], "float16"), DTypeError, "float16"),
    "an empty range": (lambda: d2s.uniform([2], min=2.0, max=1.0), ArgumentError, "no range"),
    "a nan": (lambda: d2s.uniform([2], min=NAN), ArgumentError, "finite"),
    "an infinity": (lambda: d2s.uniform([2], max=INF), ArgumentError, "finite"),
    "an int beyond floats": (lambda: d2s.uniform([2], max=10**400), ArgumentError, "finite"),
    "a number beyond float32": (lambda: d2s.uniform([2], max=1e39), ArgumentError, "finite float32"),
    "a range beyond float32": (lambda: d2s.uniform([2], min=-3e38, max=3e38), ArgumentError, "no range"),
    "text for a number": (lambda: d2s.uniform([2], min="0"), DTypeError, "'min' expects a number"),
    "a negative seed": (lambda: d2s.uniform([2], seed=-1), ArgumentError, "seed"),
    "a negative std": (lambda: d2s.normal(0.0, -1.0, [2]), ArgumentError, "'std'"),
    "a negative std in a tensor": (lambda: d2s.normal(0.0, d2s.to_tensor([-1.0])), ArgumentError, "'std'"),
    "a negative std beside a tensor": (lambda: d2s.normal(TWO, -1.0), ArgumentError, "'std'"),
    "a shape beside a tensor": (lambda: d2s.normal(TWO, 1.0, [2]), ArgumentError, "'shape'"),
    "integer parameters": (lambda: d2s.normal(d2s.to_tensor([1, 2]), 1.0), DTypeError, "does not take"),
    "means and stds that do not fit": (lambda: d2s.normal(TWO, ONES), ShapeError, "broadcast"),
    "no integers": (lambda: d2s.randint(5, 5, [2]), ArgumentError, "no range"),
    "integers backwards": (lambda: d2s.randint(5, 2, [2]), ArgumentError, "no range"),
    "none below 0": (lambda: d2s.randint(0), ArgumentError, "no range"),
    "an int beyond its dtype": (lambda: d2s.randint(0, 257, [2], "uint8"), ArgumentError, "no range of uint8"),
    "an int below its dtype": (lambda: d2s.randint(-1, 5, [2], "uint8"), ArgumentError, "no range of uint8"),
    "an int beyond 64 bits": (lambda: d2s.randint(0, 2**63 + 1, [2]), ArgumentError, "no range of int64"),
    "float integers": (lambda: d2s.randint(0, 5, [2], "float32"), DTypeError, "float32"),
    "a float bound": (lambda: d2s.randint(0, 5.0, [2]), DTypeError, "'high'"),
    "like a number": (lambda: d2s.randint_like(3, 5), DTypeError, "'x'"),
    "a negative permutation": (lambda: d2s.randperm(-1), ArgumentError, "randperm"),
    "a permutation its dtype cannot hold": (lambda: d2s.randperm(257, "uint8"), ArgumentError, "uint8"),
    "a permutation float32 cannot hold": (lambda: d2s.randperm(2**24 + 2, "float32"), ArgumentError, "float32"),
    "a permutation of bools": (lambda: d2s.randperm(2, "bool"), DTypeError, "bool"),
    "a likelihood above 1": (lambda: d2s.bernoulli(TWO), ArgumentError, r"\[0, 1\]"),
    "a likelihood that is nan": (lambda: d2s.bernoulli(d2s.to_tensor([NAN])), ArgumentError, r"\[0, 1\]"),
    "an integer likelihood": (lambda: d2s.bernoulli(d2s.to_tensor([1])), DTypeError, "int64"),
    "a number as likelihood": (lambda: d2s.bernoulli(0.5), DTypeError, "Tensor"),
    "a negative rate": (lambda: d2s.poisson(d2s.to_tensor([-1.0])), ArgumentError, "below 0"),
    "an infinite rate": (lambda: d2s.poisson(d2s.to_tensor([INF])), ArgumentError, "finite"),
    "a negative weight": (lambda: d2s.multinomial(d2s.to_tensor([-1.0, 2.0])), ArgumentError, "not negative"),
    "an infinite weight": (lambda: d2s.multinomial(d2s.to_tensor([INF, 2.0])), ArgumentError, "finite"),
    "a nan weight": (lambda: d2s.multinomial(d2s.to_tensor([NAN, 2.0])), ArgumentError, "finite"),
    "no weight": (lambda: d2s.multinomial(d2s.to_tensor([[1.0, 0.0], [0.0, 0.0]])), ArgumentError, "sum > 0"),
    "no categories": (lambda: d2s.multinomial(d2s.to_tensor(np.ones((2, 0), "float32"))), ArgumentError, "sum > 0"),
    "a cube of weights": (lambda: d2s.multinomial(d2s.to_tensor(np.ones((2, 2, 2)))), ShapeError, "matrix"),
    "a scalar weight": (lambda: d2s.multinomial(d2s.to_tensor(1.0)), ShapeError, "matrix"),
    "more than there are": (lambda: d2s.multinomial(d2s.to_tensor([1.0, 0.0, 1.0]), 3), ArgumentError, "1 to 2"),
    "no samples": (lambda: d2s.multinomial(TWO, 0), ArgumentError, "num_samples"),
    "a replacement that is no bool": (lambda: d2s.multinomial(TWO, 1, "yes"), DTypeError, "'replacement'"),
    "text as a seed": (lambda: d2s.seed("1"), DTypeError, "seed"),
    "a seed below 0": (lambda: d2s.seed(-1), ArgumentError, "seed"),
    "a seed above 64 bits": (lambda: d2s.seed(2**64), ArgumentError, "seed"),
    "a state that is none": (lambda: d2s.set_rng_state((1, 2)), DTypeError, "set_rng_state"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused(name):
    call, kind, message = REFUSED[name]
    before = d2s.get_rng_state()
    with pytest.raises(kind, match=message) as caught:
        call()
    assert isinstance(caught.value, D2SError)
    assert d2s.get_rng_state() == before, "a refused draw took numbers"


# captured functions


def with_rand(x):
    return x + d2s.rand([2])


def with_uniform(x):
    return x + d2s.uniform([2])


def with_normal_in_a_branch(x):
    if x.sum() > 0:
        x = x + d2s.normal(0.0, 1.0, [2])
    return x


def with_bernoulli_of_a_symbol(x):
    return d2s.bernoulli(x)


def with_a_map(x):
    return x + list(map(d2s.randn, [[2]]))[0]  # noqa: RUF015


def with_a_state(x):
    state = d2s.get_rng_state()
    return x, state


def with_rates(x):
    return d2s.poisson(x * 3)


DRAWING = [with_rand, with_uniform, with_normal_in_a_branch, with_bernoulli_of_a_symbol, with_a_map, with_rates]
LIKELY = d2s.to_tensor([0.5, 0.25])


@pytest.mark.parametrize("function", DRAWING, ids=lambda f: f.__name__)
def test_a_graph_draws_what_eager_code_draws(function):
    static = d2s.to_static(function)
    d2s.seed(3)
    expected = [function(LIKELY).tolist() for _ in range(3)], d2s.get_rng_state()
    d2s.seed(3)
    assert ([static(LIKELY).tolist() for _ in range(3)], d2s.get_rng_state()) == expected
    assert len(static.variants) == 1


@pytest.mark.parametrize("function", [with_bernoulli_of_a_symbol, with_rates], ids=lambda f: f.__name__)
def test_a_graph_refuses_the_parameters_eager_code_refuses(function):
    static, bad, before = d2s.to_static(function), d2s.to_tensor([0.5, -2.0]), d2s.get_rng_state()
    for call in (function, static):
        with pytest.raises(ArgumentError, match=r"D2S0004.*'x' holds"):
            call(bad)
    assert d2s.get_rng_state() == before, "a refused draw took numbers"


def test_a_capture_refuses_to_ask_where_the_stream_is_at_the_users_line():
    before = d2s.get_rng_state()
    with pytest.raises(CaptureError, match=r"D2S1004") as caught:
        d2s.to_static(with_a_state)(TWO)
    assert caught.value.where == f"{__file__}:{with_a_state.__code__.co_firstlineno + 1}"
    assert d2s.get_rng_state() == before


@pytest.mark.parametrize("name", [*NAMES, "rand", "randn", "standard_normal", "randint_like", "seed", "get_rng_state"])
def test_a_recorder_refuses_it(name):
    recorder = Recorder("f")
    with dispatch.handling(recorder), pytest.raises(CaptureError, match=f"D2S1004.*'{name}'"):
        getattr(d2s, name)([2])
    assert not recorder.builder.finish([]).nodes


def test_a_program_whose_inputs_are_seed_and_counter_draws():
    """What a captured draw will become: the op is a function of its inputs, run after run."""
    text = """program f(seed: i64[], counter: i64[], low: f32[], high: f32[]) -> (f32[5]) {
      %0: f32[5] = uniform(seed, counter, low, high, dtype=f32, shape=(5,)) return %0 }"""
    program = d2s.ir.text.parse(text)
    d2s.passes.verify(program, d2s.passes.infer)
    call = d2s.runtime.call.Call(program)
    d2s.seed(11)
    for counter in (0, 2, 4):
        inputs = [np.array(11), np.array(counter), np.array(0, "float32"), np.array(1, "float32")]
        assert np.array_equal(call(inputs)[0], d2s.rand([5]).numpy())
