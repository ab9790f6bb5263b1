"""Products and convolutions with the elementwise nodes behind them: one step of the plan, the bits of eager code."""

import re

import numpy as np
import pytest

import d2s
from d2s.nn import functional as F
from d2s.ops import OPS
from d2s.passes.join_products import apply
from d2s.runtime.differing import same_bits


def tensor(*shape, dtype="float32", seed=0):
    return d2s.to_tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def groups(function, *given):
    """The ops of each kernel of the plan; its results are those of eager code bit for bit, on any number of threads."""
    static = d2s.to_static(function)
    wanted = tuples(function(*given))
    before = d2s.get_num_threads()
    for threads in (1, 2, 3):
        d2s.set_num_threads(threads)
        found = tuples(static(*given))
        assert all(same_bits(x.array, y.array) for x, y in zip(found, wanted, strict=True)), threads
    d2s.set_num_threads(before)
    lines = [line.split("RUN")[1].split("#")[0] for line in static.plan(*given).splitlines() if " RUN " in line]
    return [" ".join(word for word in re.findall(r"\w+", line) if word in OPS) for line in lines]


def tuples(found):
    return found if isinstance(found, tuple) else (found,)


SHAPES = {
    "matrices": ((70, 33), (33, 130), (70, 130)),
    "many matrices": ((3, 2, 9, 5), (2, 5, 7), (2, 9, 7)),
    "one matrix for all": ((3, 4, 5), (5, 7), (4, 7)),
    "one column": ((300, 5), (5, 1), (300, 1)),
    "columns": ((3, 30, 5), (3, 5, 1), (30, 1)),
    "a vector and a matrix": ((5,), (5, 7), (7,)),
    "matrices and a vector": ((3, 9, 5), (5,), (3, 9)),
    "nothing": ((0, 5), (5, 7), (0, 7)),
    "no sum": ((4, 0), (0, 7), (1, 7)),
}


@pytest.mark.parametrize(("x", "y", "z"), SHAPES.values(), ids=SHAPES)
def test_a_residual_and_an_activation_behind_a_product(x, y, z):
    assert groups(lambda x, y, z: d2s.tanh(d2s.matmul(x, y) + z), tensor(*x), tensor(*y), tensor(*z)) == ["matmul add tanh"]


@pytest.mark.parametrize("flip", [(True, False), (False, True), (True, True)], ids=str)
def test_transposed_ones(flip):
    x, y = tensor(*(120, 70) if flip[0] else (70, 120)), tensor(*(90, 120) if flip[1] else (120, 90), seed=1)
    assert groups(lambda x, y, z: d2s.matmul(x, y, *flip) * z, x, y, tensor(70, 1)) == ["matmul multiply"]


def test_the_affine_map_and_float64():
    given = [tensor(*s, dtype="float64") for s in ((9, 40), (40, 70), (70,))]
    assert groups(lambda x, w, b: F.gelu(F.linear(x, w, b)), *given) == ["linear gelu"]


def kept(x, y):
    product = d2s.matmul(x, y)
    found = F.gelu(product)
    return found, found > 1.0, product.sum()


def summed_first(x, y):
    product = d2s.matmul(x, y)
    return product.sum() * F.gelu(product)


def test_what_others_read_too_is_kept_and_what_reads_first_stands_behind():
    given = tensor(70, 33), tensor(33, 40)
    assert groups(kept, *given) == ["matmul gelu greater_than", "sum"]
    assert groups(summed_first, *given) == ["matmul", "sum", "gelu multiply"]


def test_a_result_of_another_type_alone_stays_apart():
    assert groups(lambda x, y: d2s.matmul(x, y) > 0.0, tensor(4, 5), tensor(5, 6)) == ["matmul", "greater_than"]


def test_long_rows_long_sums_and_integers_stay_apart():
    assert groups(lambda x, y: F.relu(d2s.matmul(x, y)), tensor(4, 500), tensor(500, 5)) == ["matmul", "relu"]
    assert groups(lambda x, y: F.relu(d2s.matmul(x, y)), tensor(4, 5), tensor(5, 500)) == ["matmul", "relu"]
    whole = d2s.to_tensor(np.arange(20).reshape(4, 5))
    assert groups(lambda x: F.relu(d2s.matmul(x, x, False, True)), whole) == ["matmul", "relu"]


def test_of_two_products_one_has_what_reads_both_behind_it():
    given = tensor(8, 9), tensor(9, 10), tensor(8, 7), tensor(7, 10)
    found = groups(lambda x, w, h, u: d2s.tanh(x @ w + h @ u), *given)
    assert sorted(found) == ["matmul", "matmul add tanh"]


CONVOLUTIONS = {
    "usual": ((3, 2, 12, 12), (5, 2, 3, 3), {}),
    "one axis": ((2, 3, 90), (4, 3, 5), {}),
    "three axes": ((2, 2, 5, 6, 7), (3, 2, 2, 2, 2), {}),
    "groups": ((3, 4, 13, 11), (6, 2, 3, 3), {"groups": 2, "stride": 2, "padding": 3}),
    "many channels": ((3, 32, 18, 17), (40, 32, 3, 3), {"padding": 1}),
    "few tiles": ((1, 32, 9, 9), (32, 32, 3, 3), {"padding": 1}),
    "planes": ((3, 4, 13, 14), (4, 1, 3, 3), {"padding": 1, "groups": 4}),
    "planes of other filters": ((3, 4, 13, 14), (4, 1, 5, 5), {"padding": 2, "groups": 4}),
}


@pytest.mark.parametrize(("x", "weight", "attrs"), CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_numbers_by_channel_and_a_residual_behind_a_convolution(x, weight, attrs):
    conv = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[len(x) - 2]
    x, weight, bias = tensor(*x), tensor(*weight, seed=1), tensor(weight[0], seed=2)
    scale = tensor(1, weight.shape[0], *[1] * (len(x.shape) - 2), seed=3)
    other = tensor(*conv(x, weight, bias, **attrs).shape, seed=4)
    found = groups(lambda x, w, b, s, z: F.relu(conv(x, w, b, **attrs) * s + z), x, weight, bias, scale, other)
    assert found == ["conv multiply add relu"]


TRANSPOSED = {"usual": ((2, 3, 9, 10), (3, 5, 3, 3), {"stride": 2}), "spread": ((2, 16, 8, 8), (16, 4, 5, 5), {})}


@pytest.mark.parametrize(("x", "weight", "attrs"), TRANSPOSED.values(), ids=TRANSPOSED)
def test_a_transposed_convolution(x, weight, attrs):
    found = groups(lambda x, w: F.relu(F.conv2d_transpose(x, w, **attrs)), tensor(*x), tensor(*weight))
    assert found == ["conv_transpose relu"]


def test_small_planes_stay_apart():
    given = tensor(2, 3, 6, 6), tensor(4, 3, 3, 3)
    assert groups(lambda x, w: F.relu(F.conv2d(x, w)), *given) == ["conv", "relu"]


def test_any_number_of_rows():
    w = tensor(40, 30)
    spec = [d2s.static.InputSpec([None, 40]), d2s.static.InputSpec([None, 30])]
    static = d2s.to_static(lambda x, z: F.relu(d2s.matmul(x, w) + z), input_spec=spec)
    for rows in (2, 3, 1, 300):
        x, z = tensor(rows, 40), tensor(rows, 30)
        assert same_bits(static(x, z).array, F.relu(d2s.matmul(x, w) + z).array)


def test_nothing_is_moved_past_what_may_raise():
    from d2s.ir.text import parse

    flags = "transpose_x=False, transpose_y=False"
    nodes = f"%0: f32[4,4] = matmul(x, y, {flags}) %1: f32[m] = add(a, b) %2: f32[4,4] = exp(%0) return %1, %2"
    program = parse("program f(x: f32[4,4], y: f32[4,4], a: f32[m], b: f32[n]) -> (f32[m], f32[4,4]) { " + nodes + " }")
    assert [node.op for node in apply(program).nodes] == ["matmul", "add", "exp"]


def test_what_prints_a_product_has_no_result_that_could_take_its_place(capsys):
    def shown(x, y):
        product = d2s.matmul(x, y)
        print(product)
        return product + 1.0

    assert groups(shown, tensor(3, 4), tensor(4, 5)) == ["matmul", "add"]
    assert capsys.readouterr().out
