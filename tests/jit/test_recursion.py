"""Functions that call themselves by a tensor: how deep they may, how they run, and what is refused by name.

That results and gradients are those of eager code, the programs of tests/programs/recursion.py show.
"""

import sys
import threading

import numpy as np
import pytest

import d2s
from d2s.errors import CaptureError, D2SError, InternalError
from d2s.ir.text import parse, show
from d2s.ir.verify import verify
from d2s.passes import infer
from tests.samples.elementwise import DOUBLED


def deep(x, n):
    return x if n <= 0 else deep(x * 0.5 + 1, n - 1) * 0.875


def endless(x):
    return x if x.sum() < 0 else endless(x + 1)


def tensor(*numbers):
    return d2s.to_tensor(numbers, stop_gradient=False)


def swept(function, depth):
    x = tensor(1.0, 2.0)
    y = function(x, d2s.to_tensor(depth))
    y.sum().backward()
    return y.numpy().tolist(), x.grad.numpy().tolist()


@pytest.mark.parametrize("executor", ["numba", "python", "interpreter"])
def test_hundreds_of_calls_in_one_another(executor):
    static = d2s.to_static(deep)
    with d2s.config(EXECUTOR=executor):
        assert swept(static, 500) == swept(deep, 500)
        assert swept(static, 3) == swept(deep, 3)
    assert len(static.variants) == 1


@pytest.mark.parametrize("executor", ["numba", "interpreter"])
def test_one_that_never_ends_is_the_error_python_has_for_it(executor):
    with pytest.raises(RecursionError):
        endless(tensor(1.0))
    with (
        d2s.config(EXECUTOR=executor),
        pytest.raises(RecursionError, match=r"D2S0008.*'endless' calls itself more than \d+ times(.|\n)*test_recursion.py:\d+"),
    ):
        d2s.to_static(endless)(tensor(1.0))


def test_python_s_own_limit_is_the_limit():
    static, before = d2s.to_static(deep), sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        static(tensor(1.0), d2s.to_tensor(before + 2))
    sys.setrecursionlimit(before + 100)
    try:
        assert np.isfinite(static(tensor(1.0), d2s.to_tensor(before + 2)).numpy()).all()
    finally:
        sys.setrecursionlimit(before)


def test_a_call_after_one_that_was_too_deep_is_right():
    static = d2s.to_static(deep)
    with pytest.raises(RecursionError):
        static(tensor(1.0), d2s.to_tensor(100_000))
    assert swept(static, 5) == swept(deep, 5)


def test_memory_of_a_call_that_is_over_is_used_again():
    def wide(x, n):
        if n <= 0:
            return x.sum()
        return wide(x + 1, n - 1) + wide(x - 1, n - 1)

    static = d2s.to_static(wide)
    x = d2s.zeros([100_000])
    static(x, d2s.to_tensor(12))  # 8,192 calls of 400 kB each, of which 13 are there at a time
    ((_, variant),) = static.variants
    assert sum(frame.arena.nbytes for frame in variant.graph._plain.frames.pool) < 64_000_000


def test_one_plan_in_many_threads():
    static, found = d2s.to_static(deep), {}
    expected = deep(tensor(1.0, 2.0), d2s.to_tensor(100)).numpy().tolist()
    static(tensor(1.0, 2.0), d2s.to_tensor(1))

    def run(k):
        found[k] = static(tensor(1.0, 2.0), d2s.to_tensor(100)).numpy().tolist()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict.fromkeys(range(8), expected)


def test_check_2_compares_with_the_interpreter():
    with d2s.config(CHECK="2"):
        assert swept(d2s.to_static(deep), 20) == swept(deep, 20)


def test_an_unused_weight_of_a_path_has_no_gradient():
    w = tensor(3.0)

    def weighted(x, n):
        return x if n <= 0 else weighted(x * w, n - 1)

    static = d2s.to_static(weighted)
    for depth, expected in ((0, None), (2, [12.0])):
        w.clear_grad()
        static(tensor(2.0), d2s.to_tensor(depth)).sum().backward()
        assert (None if w.grad is None else w.grad.numpy().tolist()) == expected


def test_what_all_calls_are_given_alike_is_not_kept_once_for_each():
    w = d2s.ones([64, 64])
    w.stop_gradient = False

    def product(x, w, n):
        return x if n <= 0 else product(d2s.matmul(x, w).tanh(), w, n - 1)

    static = d2s.to_static(product)
    static(d2s.ones([1, 64]), w, d2s.to_tensor(3)).sum().backward()
    ((_, variant),) = static.variants
    ((_, forward, _),) = variant.graph._halves.values()
    kept = forward(variant.arrays((d2s.ones([1, 64]), w, d2s.to_tensor(50))))[-1]
    assert kept.nbytes < 50 * 64 * 64


def test_a_gradient_of_a_gradient_is_that_of_eager_code():
    bits = []
    for f in (deep, d2s.to_static(deep)):
        x = tensor(1.0)
        y = f(x, d2s.to_tensor(2))
        (second,) = d2s.grad(d2s.grad((y * y).sum(), x, create_graph=True)[0].sum(), x)
        bits.append(second.numpy().tobytes())
    assert bits[0] == bits[1]


def test_files_hold_none(tmp_path):
    layer = d2s.to_static(deep, input_spec=[d2s.static.InputSpec([2]), d2s.static.InputSpec([], "int64")])
    for save in (d2s.jit.save, d2s.onnx.export):
        with pytest.raises(D2SError, match="call"):
            save(layer, str(tmp_path / "model"))


def test_one_that_comes_to_no_end_on_any_path_is_refused():
    def lost(x):
        return lost(x * 2) if x.sum() > 0 else lost(x + 1)

    with pytest.raises(CaptureError, match=r"D2S1003.*'lost' calls itself on every path"):
        d2s.to_static(lost)(tensor(1.0))


def test_one_that_never_ends_at_capture_is_refused_where_it_calls_itself():
    def ordered(x):
        if x.shape[0] <= 1:
            return x
        first = x[0]
        rest = x[1:]
        below = ordered(rest[rest < first])
        return d2s.concat([below, first.unsqueeze(0), ordered(rest[rest >= first])])

    with pytest.raises(CaptureError, match=r"D2S1003.*calls itself as long as") as refused:
        d2s.to_static(ordered)(d2s.to_tensor([2.0, 1.0, 3.0]))
    assert "below = ordered(rest[rest < first])" in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("again(%0, name='doubled'", "again(%0, name='other'", "'other', which is no function around it"),
        ("again(%0,", "again(%0, %0,", r"gets .*f32\[2\], f32\[2\]"),
        ("results=((f32,(2,)", "results=((f32,(3,)", r"gives .*f32\[3\]"),
    ],
)
def test_the_verifier_looks_at_calls(old, new, message):
    text = DOUBLED.replace(old, new)
    if "(3,)" in text:
        text = text.replace("%1: f32[2] = again", "%1: f32[3] = again")
    with pytest.raises(InternalError, match=message):
        verify(parse(text), infer)


def test_text_prints_and_parses_back():
    static = d2s.to_static(deep)
    static(tensor(1.0), d2s.to_tensor(1))
    ((_, variant),) = static.variants
    for program in (variant.captured.program, parse(DOUBLED), parse(DOUBLED).copied()):
        text = show(program)
        assert show(parse(text)) == text
        verify(program, infer)
