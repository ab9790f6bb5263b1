"""The compiled executor and the interpreter give the same bits on a corpus of Programs; and how a Call behaves otherwise.

A case is a line of PROGRAMS: a text and lists of inputs it is run on, all through one Call.
"""

import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import d2s
from d2s.errors import D2SError, MismatchError, PythonIntOverflow, ShapeError
from d2s.ir.text import parse
from d2s.ir.verify import verify
from d2s.passes import infer
from d2s.runtime import checking, interpreter
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits
from d2s.runtime.frames import Frames

ROOT = pathlib.Path(__file__).resolve().parents[2]


def f32(*numbers):
    return np.array(numbers if len(numbers) != 1 else numbers[0], "float32")


def grid(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


POSITIVE = "-> (b1[]) { %0: i64[] = constant(dtype=i64, python=False, value=0) %1: b1[] = greater_than(i, %0) return %1 }"
DOWN = "%0: i64[] = constant(dtype=i64, python=False, value=1) %1: i64[] = subtract(i, %0)"


def loop(t, body, results, of="i, x"):
    """A loop over (i, x), i counting down."""
    body = f"body(i: i64[], x: {t}) -> (i64[], {t}) {{ {DOWN} {body} return %1, {results} }}"
    return f"while_loop({of}, carries=2) {{ test(i: i64[], x: {t}) {POSITIVE} {body} }}"


TANH = loop("f32[n]", "%2: f32[n] = tanh(x)", "%2")
ZERO = loop("f32[]", "%2: f32[] = constant(dtype=f32, python=False, value=-0.0)", "%2")
PROGRAMS = {
    "straight line": (
        """program f(x: f32[3,4], w: f32[4,2], b: f32[2]) -> (f32[3,2], f32[]) {
             %0: f32[3,2] = matmul(x, w, transpose_x=False, transpose_y=False)  %1: f32[3,2] = add(%0, b)
             %2: f32[3,2] = tanh(%1)  %3: f32[] = sum(%2, axis=(0,1,), keepdim=False)  return %2, %3 }""",
        [[grid(3, 4), grid(4, 2), grid(2)]],
    ),
    "no nodes": ("program f(x: f32[2]) -> () { return }", [[grid(2)]]),
    "an input": ("program f(x: f32[n]) -> (f32[n]) { return x }", [[grid(3)], [grid(0)]]),
    "an input twice": ("program f(x: f32[n]) -> (f32[n], f32[n]) { return x, x }", [[grid(3)]]),
    "a value twice": ("program f(x: f32[n]) -> (f32[n], f32[n], f32[n]) { %0: f32[n] = neg(x) return %0, x, %0 }", [[grid(3)]]),
    "a constant": (
        "program f() -> (f32[], f32[]) { %0: f32[] = constant(dtype=f32, python=False, value=nan) return %0, %0 }",
        [[]],
    ),
    "an output that is read on": (
        "program f(x: f32[n]) -> (f32[n], f32[n]) { %0: f32[n] = neg(x) %1: f32[n] = tanh(%0) return %0, %1 }",
        [[grid(5)]],
    ),
    "named extents": (
        """program f(x: f32[n,m], y: f32[m]) -> (f32[n,m], f32[m], f32[]) {
             %0: f32[n,m] = multiply(x, y)  %1: f32[m] = sum(%0, axis=(0,), keepdim=False)
             %2: f32[] = sum(%1, axis=(0,), keepdim=False)  return %0, %1, %2 }""",
        [[grid(n, m), grid(m)] for n, m in [(2, 3), (1, 1), (0, 4), (4, 0), (70, 33), (200, 300), (2, 3)]],
    ),
    "extents that must be equal": (
        "program f(x: f32[n,4], y: f32[m,4]) -> (f32[n,4]) { %0: f32[n,4] = add(x, y) return %0 }",
        [[grid(n, 4), grid(n, 4, seed=1)] for n in (2, 0, 300)],
    ),
    "cond": (
        """program f(c: b1[], x: f32[n]) -> (f32[n]) { %0: f32[n] = cond(c, x) {
             then(x: f32[n]) -> (f32[n]) { %0: f32[n] = neg(x) %1: f32[n] = tanh(%0) return %1 }
             otherwise(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 } } return %0 }""",
        [[np.array(c), grid(n)] for c in (True, False) for n in (3, 0)],
    ),
    "cond whose arms return what came in": (
        """program f(c: b1[], x: f32[n], y: f32[n]) -> (f32[n], f32[n], f32[n]) { %0: f32[n], %1: f32[n] = cond(c, x, y) {
             then(x: f32[n], y: f32[n]) -> (f32[n], f32[n]) { return x, x }
             otherwise(x: f32[n], y: f32[n]) -> (f32[n], f32[n]) { return y, x } }
             %2: f32[n] = subtract(%0, %1) return %0, %1, %2 }""",
        [[np.array(c), grid(3), grid(3, seed=1)] for c in (True, False)],
    ),
    "cond in cond": (
        """program f(c: b1[], d: b1[1], x: f32[2]) -> (f32[2]) { %0: f32[2] = cond(c, d, x) {
             then(d: b1[1], x: f32[2]) -> (f32[2]) { %0: f32[2] = cond(d, x) {
               then(x: f32[2]) -> (f32[2]) { %0: f32[2] = neg(x) return %0 }
               otherwise(x: f32[2]) -> (f32[2]) { return x } } return %0 }
             otherwise(d: b1[1], x: f32[2]) -> (f32[2]) { %0: f32[2] = tanh(x) return %0 } } return %0 }""",
        [[np.array(c), np.array([d]), grid(2)] for c in (True, False) for d in (True, False)],
    ),
    "while": (
        f"program f(i: i64[], x: f32[n]) -> (i64[], f32[n]) {{ %0: i64[], %1: f32[n] = {TANH} return %0, %1 }}",
        [[np.array(trips), grid(n)] for trips in (0, 1, 2, 1000) for n in (0, 1, 5, 3000)],
    ),
    "a loop's first forms are read behind it": (
        f"""program f(i: i64[], x: f32[3]) -> (f32[3], f32[3]) {{
             %0: i64[], %1: f32[3] = {loop("f32[3]", "%2: f32[3] = tanh(x)", "%2")}
             %2: f32[3] = subtract(x, %1) return %2, x }}""",
        [[np.array(trips), grid(3)] for trips in (0, 3)],
    ),
    "a carry that is passed through": (
        f"program f(i: i64[], x: f32[3]) -> (f32[3]) {{ %0: i64[], %1: f32[3] = {loop('f32[3]', '', 'x')} return %1 }}",
        [[np.array(trips), grid(3)] for trips in (0, 5)],
    ),
    "a carry that becomes a constant": (
        f"""program f(i: i64[], x: f32[]) -> (f32[]) {{
             %0: i64[], %1: f32[] = {ZERO} return %1 }}""",
        [[np.array(trips), f32(3.0)] for trips in (0, 1, 5)],
    ),
    "the counter is the carry": (
        f"program f(i: i64[]) -> (i64[], i64[]) {{ %0: i64[], %1: i64[] = {loop('i64[]', '', 'i', 'i, i')} return %0, %1 }}",
        [[np.array(trips)] for trips in (0, 1, 7)],
    ),
    "swapped carries": (
        f"""program f(i: i64[], a: f32[n], b: f32[n], c: f32[n]) -> (f32[n], f32[n], f32[n]) {{
             %0: i64[], %1: f32[n], %2: f32[n], %3: f32[n] = while_loop(i, a, b, c, carries=4) {{
               test(i: i64[], a: f32[n], b: f32[n], c: f32[n]) {POSITIVE}
               body(i: i64[], a: f32[n], b: f32[n], c: f32[n]) -> (i64[], f32[n], f32[n], f32[n]) {{ {DOWN}
                 %2: f32[n] = add(a, b) return %1, b, %2, a }} }} return %1, %2, %3 }}""",
        [[np.array(trips), grid(2), grid(2, seed=1), grid(2, seed=2)] for trips in (0, 1, 2, 3, 10)],
    ),
    "a loop reads what is fixed": (
        """program f(i: i64[], x: f32[2], w: f32[2]) -> (f32[2]) { %0: i64[], %1: f32[2] = while_loop(i, x, w, carries=2) {
             test(i: i64[], x: f32[2], w: f32[2]) -> (b1[]) {
               %0: f32[2] = multiply(x, w) %1: f32[] = sum(%0, axis=(0,), keepdim=False)
               %2: f32[] = constant(dtype=f32, python=False, value=50.0) %3: b1[] = less_than(%1, %2) return %3 }
             body(i: i64[], x: f32[2], w: f32[2]) -> (i64[], f32[2]) { %0: f32[2] = add(x, w) return i, %0 } } return %1 }""",
        [[np.array(0), f32(0.0, 0.0), f32(1.0, 2.0)], [np.array(0), f32(100.0, 0.0), f32(1.0, 2.0)]],
    ),
    "cond in while, output aliases a carry": (
        f"""program f(i: i64[], x: f32[2]) -> (f32[2]) {{ %0: i64[], %1: f32[2] = {
            loop(
                "f32[2]",
                '''%2: f32[] = sum(x, axis=(0,), keepdim=False) %3: f32[] = constant(dtype=f32, python=False, value=4.0)
                   %4: b1[] = less_than(%2, %3) %5: f32[2] = cond(%4, x) {
                     then(x: f32[2]) -> (f32[2]) { %0: f32[2] = add(x, x) return %0 }
                     otherwise(x: f32[2]) -> (f32[2]) { return x } }''',
                "%5",
            )
        } return %1 }}""",
        [[np.array(trips), f32(1.0, 0.5)] for trips in (0, 1, 2, 9)],
    ),
    "while in while": (
        f"""program f(i: i64[], x: f32[n]) -> (f32[n]) {{ %0: i64[], %1: f32[n] = {
            loop(
                "f32[n]",
                "%2: i64[], %3: f32[n] = " + loop("f32[n]", "%2: f32[n] = tanh(x) %3: f32[n] = add(%2, x)", "%3"),
                "%3",
            )
        } return %1 }}""",
        [[np.array(trips), grid(n)] for trips in (0, 1, 2, 6) for n in (1, 40)],
    ),
    "while in cond in while": (
        f"""program f(i: i64[], x: f32[2]) -> (f32[2]) {{ %0: i64[], %1: f32[2] = {
            loop(
                "f32[2]",
                '''%2: i64[] = constant(dtype=i64, python=False, value=3) %3: b1[] = less_than(i, %2)
                   %4: f32[2] = cond(%3, i, x) { then(i: i64[], x: f32[2]) -> (f32[2]) { %0: i64[], %1: f32[2] = '''
                + loop("f32[2]", "%2: f32[2] = add(x, x)", "%2")
                + " return %1 } otherwise(i: i64[], x: f32[2]) -> (f32[2]) { return x } }",
                "%4",
            )
        } return %1 }}""",
        [[np.array(trips), grid(2)] for trips in (0, 1, 3, 6)],
    ),
    "a loop in the arm that is not taken": (
        f"""program f(c: b1[], i: i64[], x: f32[2]) -> (f32[2]) {{ %0: f32[2] = cond(c, i, x) {{
             then(i: i64[], x: f32[2]) -> (f32[2]) {{
               %0: i64[], %1: f32[2] = {loop("f32[2]", "%2: f32[2] = add(x, x)", "%2")} return %1 }}
             otherwise(i: i64[], x: f32[2]) -> (f32[2]) {{ return x }} }} return %0 }}""",
        [[np.array(c), np.array(3), grid(2)] for c in (True, False)],
    ),
    "the test changes nothing": (
        f"program f(i: i64[], x: f32[n]) -> (i64[]) {{ %0: i64[], %1: f32[n] = {TANH} return %0 }}",
        [[np.array(-5), grid(2)]],
    ),
    "python numbers": (
        """program f(k: int, t: float, x: f32[2]) -> (int, float, f32[2]) {
             %0: int = add(k, k) %1: float = cast(%0, dtype=f64, python=True) %2: float = multiply(%1, t)
             %3: f32[] = cast(%2, dtype=f32, python=False) %4: f32[2] = multiply(x, %3) return %0, %2, %4 }""",
        [[np.array(k), np.array(t), grid(2)] for k, t in [(3, 0.5), (-(2**62), 1e300), (0, float("nan"))]],
    ),
    "other dtypes go through": (
        "program f(a: b1[3], b: u8[3], c: i8[3], d: f64[3]) -> (f64[3], b1[3], u8[3], i8[3]) { return d, a, b, c }",
        [[np.ones(3, t) for t in ("bool", "uint8", "int8", "float64")]],
    ),
    "stacks": (
        f"""program f(i: i64[], x: f32[n]) -> (f32[n], f32[n]) {{
             %0: stack = stack()
             %1: i64[], %2: f32[n], %3: stack = while_loop(i, x, %0, carries=3) {{
               test(i: i64[], x: f32[n], s: stack) {POSITIVE}
               body(i: i64[], x: f32[n], s: stack) -> (i64[], f32[n], stack) {{ {DOWN}
                 %2: stack = push(s, x) %3: stack = push(%2, i) %4: f32[n] = tanh(x) return %1, %4, %3 }} }}
             %4: i64[], %5: f32[n], %6: stack = while_loop(i, %2, %3, carries=3) {{
               test(i: i64[], x: f32[n], s: stack) {POSITIVE}
               body(i: i64[], x: f32[n], s: stack) -> (i64[], f32[n], stack) {{ {DOWN}
                 %2: stack, %3: i64[] = pop(s, dtype=i64, python=False, shape=())
                 %4: stack, %5: f32[n] = pop(%2, dtype=f32, python=False, shape=('n',))
                 %6: f32[n] = subtract(x, %5) return %1, %6, %4 }} }}
             return %2, %5 }}""",
        [[np.array(trips), grid(n)] for trips in (0, 1, 3, 700) for n in (1, 100)],
    ),
    "a stack through a cond": (
        """program f(c: b1[], x: f32[2]) -> (f32[2]) {
             %0: stack = stack()
             %1: stack = cond(c, x, %0) {
               then(x: f32[2], s: stack) -> (stack) { %0: f32[2] = neg(x) %1: stack = push(s, %0) return %1 }
               otherwise(x: f32[2], s: stack) -> (stack) { %0: stack = push(s, x) return %0 } }
             %2: stack, %3: f32[2] = pop(%1, dtype=f32, python=False, shape=(2,)) return %3 }""",
        [[np.array(c), grid(2)] for c in (True, False)],
    ),
    "a stack of its own in every trip": (
        f"""program f(i: i64[], x: f32[2]) -> (f32[2]) {{ %0: i64[], %1: f32[2] = {
            loop(
                "f32[2]",
                '''%2: stack = stack() %3: stack = push(%2, x) %4: f32[2] = tanh(x)
                   %5: stack, %6: f32[2] = pop(%3, dtype=f32, python=False, shape=(2,)) %7: f32[2] = add(%4, %6)''',
                "%7",
            )
        } return %1 }}""",
        [[np.array(trips), grid(2)] for trips in (0, 1, 3)],
    ),
}


def program_of(name):
    return parse(PROGRAMS[name][0])


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_executor_and_interpreter_agree(name):
    program = program_of(name)
    verify(program, infer)
    compiled = Call(program)
    for inputs in PROGRAMS[name][1]:
        arrays = [np.asarray(a) for a in inputs]
        before = [a.copy() for a in arrays]
        expected = interpreter.run(program, arrays)
        actual = compiled(arrays)
        assert all(same_bits(a, e) for a, e in zip(actual, expected, strict=True)), f"{inputs}: {actual} != {expected}"
        assert [a.shape for a in actual] == [e.shape for e in expected]
        assert all(same_bits(a, b) for a, b in zip(arrays, before, strict=True)), "an input was written to"


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_an_output_is_a_fresh_array_or_the_very_input(name):
    arrays = [np.asarray(a) for a in PROGRAMS[name][1][0]]
    compiled = Call(program_of(name))
    made = [a for a in (*compiled(arrays), *compiled(arrays)) if not any(a is given for given in arrays)]
    everything = [*arrays, *made]
    for n, a in enumerate(everything):
        assert not any(np.shares_memory(a, b) for b in everything[n + 1 :] if b is not a)


def test_swapping_is_what_it_looks_like():
    compiled = Call(program_of("swapped carries"))
    a, b, c = compiled([np.array(2), f32(1.0, 1.0), f32(10.0, 10.0), f32(0.0, 0.0)])
    assert (a[0], b[0], c[0]) == (11.0, 21.0, 10.0)


def test_unequal_extents_are_refused_as_eager_code_does():
    compiled = Call(
        parse("program f(x: f32[n,4], y: f32[m,4]) -> (f32[n,4]) { %0: f32[n,4] = add(x, y)  # model.py:3\n return %0 }")
    )
    with pytest.raises(ShapeError, match=r"D2S0002.*\[2, 4\] and \[3, 4\](.|\n)*model.py:3") as caught:
        compiled([grid(2, 4), grid(3, 4)])
    assert caught.value.where == "model.py:3"
    assert len(compiled([grid(3, 4), grid(3, 4)])) == 1  # the Call is as good as before


@pytest.mark.parametrize("sizes", [(1, 3), (3, 1)])
def test_an_extent_of_one_is_no_broadcast_in_a_graph_that_has_none(sizes):
    compiled = Call(parse("program f(x: f32[n], y: f32[m]) -> (f32[n]) { %0: f32[n] = add(x, y) return %0 }"))
    with pytest.raises(ShapeError, match="D2S0002"):
        compiled([grid(sizes[0]), grid(sizes[1])])


def test_matmul_checks_what_only_a_run_knows():
    compiled = Call(
        parse(
            """program f(x: f32[2,n], y: f32[m,2]) -> (f32[2,2]) {
             %0: f32[2,2] = matmul(x, y, transpose_x=False, transpose_y=False) return %0 }"""
        )
    )
    with pytest.raises(ShapeError, match=r"matmul\(\).*3.*4"):
        compiled([grid(2, 3), grid(4, 2)])


def test_one_name_is_one_extent():
    """Equal names mean equal extents; a kernel that believed it would read behind the shorter array."""
    program = parse("program f(x: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, y) return %0 }")
    for arrays in ([grid(2), grid(300)], [grid(300), grid(2)]):
        with pytest.raises(D2SError):
            Call(program)(arrays)


OVERFLOWS = [
    ("add", 2**63 - 1, 1),
    ("add", -(2**63), -1),
    ("subtract", -(2**63), 1),
    ("subtract", 0, -(2**63)),
    ("multiply", 2**32, 2**31),
    ("multiply", -1, -(2**63)),
    ("multiply", -(2**63), -1),
    ("multiply", 3, 2**62),
]
FITS = [
    ("add", 2**63 - 2, 1),
    ("subtract", -1, -(2**63)),
    ("multiply", -(2**31), 2**32),
    ("multiply", -1, 2**63 - 1),
    ("multiply", 0, -(2**63)),
    ("add", -(2**62), -(2**62)),
]


def python_ints(op):
    return parse(f"program f(x: int, y: int) -> (int) {{ %0: int = {op}(x, y)  # model.py:9\n return %0 }}")


@pytest.mark.parametrize("run", [lambda p: Call(p), lambda p: lambda a: interpreter.run(p, a)], ids=["executor", "interpreter"])
@pytest.mark.parametrize(("op", "x", "y"), OVERFLOWS)
def test_a_python_int_that_leaves_64_bits_is_refused(run, op, x, y):
    with pytest.raises(PythonIntOverflow, match="D2S0005") as caught:
        run(python_ints(op))([np.array(x), np.array(y)])
    assert caught.value.where == "model.py:9"


@pytest.mark.parametrize(("op", "x", "y"), FITS)
def test_a_python_int_that_stays_in_64_bits_is_right(op, x, y):
    expected = {"add": x + y, "subtract": x - y, "multiply": x * y}[op]
    assert Call(python_ints(op))([np.array(x), np.array(y)])[0].item() == expected


def test_negating_the_smallest_int_is_refused():
    program = parse("program f(x: int) -> (int) { %0: int = neg(x) return %0 }")
    with pytest.raises(PythonIntOverflow):
        Call(program)([np.array(-(2**63))])
    assert Call(program)([np.array(5)])[0] == -5


def test_an_overflow_in_the_arm_not_taken_is_none():
    program = parse("""program f(c: b1[], x: int) -> (int) { %0: int = cond(c, x) {
      then(x: int) -> (int) { %0: int = add(x, x)  # in.py:2
        return %0 } otherwise(x: int) -> (int) { return x } } return %0 }""")
    assert Call(program)([np.array(False), np.array(2**62)])[0] == 2**62
    with pytest.raises(PythonIntOverflow) as caught:
        Call(program)([np.array(True), np.array(2**62)])
    assert caught.value.where == "in.py:2"


def test_a_place_that_is_no_place_does_not_hide_the_error():
    """A comment in a hand-written text, or in a file, may be anything."""
    program = parse("program f(x: int) -> (int) { %0: int = add(x, x)  # doubled\n return %0 }")
    with pytest.raises(PythonIntOverflow):
        Call(program)([np.array(2**62)])


BIG = 1 << 20  # 4 MB


def test_temporaries_of_a_loop_do_not_pile_up():
    """400 trips of three 4 MB temporaries, and nested: 12 MB are enough, 4.8 GB would be needed if trips kept theirs."""
    body = "%2: f32[n] = add(x, x) %3: f32[n] = subtract(%2, x) %4: f32[n] = multiply(%3, %3)"
    inner = "%5: i64[] = constant(dtype=i64, python=False, value=2) %6: i64[], %7: f32[n] = " + loop(
        "f32[n]", "%2: f32[n] = neg(x)", "%2", "%5, %4"
    )
    whole = loop("f32[n]", body + inner, "%7")
    program = parse(f"program f(i: i64[], x: f32[n]) -> (f32[n]) {{ %0: i64[], %1: f32[n] = {whole} return %1 }}")
    compiled = Call(program)
    compiled([np.array(2), np.ones(BIG, "float32")])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (compiled([np.array(400), np.ones(BIG, "float32")])[0] == 1).all()
    compiled([np.array(3), np.ones(BIG, "float32")])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_the_arena_grows_inside_a_loop():
    """Each size needs a larger arena than the one before; what lies in older chunks stays where it is."""
    compiled = Call(program_of("while in while"))
    for n in (1, 5000, 17, 100_000, 400_000, 3):
        arrays = [np.array(3), grid(n)]
        assert same_bits(compiled(arrays)[0], interpreter.run(compiled.program, arrays)[0])


def test_stacks_may_be_handed_from_one_program_to_another():
    """As gradients do: the residuals of a forward Program are an input of the backward one, and may be read twice."""
    forward = Call(
        parse(
            """program f(x: f32[n], y: f32[n]) -> (stack) {
             %0: stack = stack() %1: stack = push(%0, x) %2: stack = push(%1, y) return %2 }"""
        )
    )
    backward = Call(
        parse("""program b(s: stack, like: f32[n]) -> (f32[n], f32[n]) {
          %0: stack, %1: f32[n] = pop(s, dtype=f32, python=False, shape=('n',)) %2: stack = push(%0, like)
          %3: stack, %4: f32[n] = pop(%2, dtype=f32, python=False, shape=('n',))
          %5: stack, %6: f32[n] = pop(%3, dtype=f32, python=False, shape=('n',))
          return %1, %6 }""")
    )
    x, y = grid(2000), grid(2000, seed=1)
    (stack,) = forward([x, y])
    for _ in range(2):
        top, below = backward([stack, np.zeros(2000, "float32")])
        assert same_bits(top, y)
        assert same_bits(below, x)


def test_one_call_from_many_threads():
    compiled = Call(program_of("while in while"))
    cases = [[np.array(trips), grid(n, seed=n)] for trips in (1, 3, 5) for n in (1, 40, 30_000)] * 12
    expected = [interpreter.run(compiled.program, c)[0] for c in cases[:9]] * 12
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(compiled, cases))
    finally:
        sys.setswitchinterval(interval)
    assert all(same_bits(r[0], e) for r, e in zip(results, expected, strict=True))


def test_a_pool_that_another_thread_empties_is_no_error():
    """Between asking whether an arena is there and taking it, another thread may take it."""

    class Emptied(list):
        def __bool__(self):
            return True

    program = program_of("while")
    arrays = [np.array(3), grid(4)]
    frames = Frames(Call(program).plan)
    frames.pool = Emptied()
    assert same_bits(frames.run(arrays)[1], interpreter.run(program, arrays)[1])


def test_the_gil_is_released():
    """A loop of a second lets other threads go on."""
    compiled = Call(program_of("while"))
    compiled([np.array(1), grid(4)])
    ticks, done = 0, threading.Event()
    worker = threading.Thread(target=lambda: (compiled([np.array(20_000_000), f32(0.0, 0.0)]), done.set()))
    started = time.perf_counter()
    with d2s.config(CHECK=0):  # the interpreter takes hours for it
        worker.start()
        while not done.is_set() and time.perf_counter() - started < 20:
            time.sleep(0.001)
            ticks += 1
        worker.join()
    assert ticks > 50 * (time.perf_counter() - started)


ENDLESS = """
import sys
import numpy as np
from d2s.ir.text import parse
from d2s.runtime.call import Call
program = parse('''program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = while_loop(x, carries=1) {
  test(x: f32[n]) -> (b1[]) { %0: b1[] = constant(dtype=b1, python=False, value=True) return %0 }
  body(x: f32[n]) -> (f32[n]) { %0: f32[n] = neg(x) return %0 } } return %0 }''')
call = Call(program)
frames = call.frames
print("running", flush=True)
try:
    call([np.ones(int(sys.argv[1]), "float32")])
except KeyboardInterrupt:
    print("interrupted", len(frames.pool), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("size", [2, 4_000_000])  # where a trip takes long, fewer of them pass between two looks
def test_ctrl_c_ends_an_endless_loop(size):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(size)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )
    try:
        assert process.stdout.readline() == "running\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (out, err) == ("interrupted 1\n", "")


def wrong(program, arrays, watch=None):
    return [r + 1 for r in REAL(program, arrays, watch)]


REAL = interpreter.run


def test_check_2_compares_with_the_interpreter(monkeypatch):
    compiled = Call(program_of("cond"))
    arrays = [np.array(True), grid(3)]
    with d2s.config(CHECK=2):
        assert len(compiled(arrays)) == 1
        monkeypatch.setattr(interpreter, "run", wrong)
        with pytest.raises(MismatchError, match=r"D2S2001.*output 0 of 'f'"):
            compiled(arrays)
    with d2s.config(CHECK=0):
        assert len(compiled(arrays)) == 1


def test_the_interpreter_may_be_asked_for(monkeypatch):
    compiled = Call(program_of("an input"))
    arrays = [grid(3)]
    expected = compiled(arrays)[0]
    monkeypatch.setattr(interpreter, "run", wrong)
    with d2s.config(EXECUTOR="interpreter"):
        assert same_bits(compiled(arrays)[0], expected + 1)
    with d2s.config(CHECK=0):
        assert same_bits(compiled(arrays)[0], expected)


@pytest.mark.parametrize("executor", ["numba", "interpreter"])
def test_an_input_that_comes_out_is_the_very_input(executor):
    x = grid(3)
    with d2s.config(EXECUTOR=executor):
        assert all(out is x for out in Call(program_of("an input twice"))([x]))


def test_an_executor_nobody_knows_is_refused():
    with pytest.raises(D2SError, match="fortran"), d2s.config(EXECUTOR="fortran"):
        Call(program_of("an input"))([grid(2)])


@pytest.mark.parametrize(
    ("x", "y", "same"), [(np.nan, -np.nan, True), (0.0, -0.0, False), (1.0, 1.0, True), (np.inf, -np.inf, False)]
)
def test_same_bits(x, y, same):
    assert same_bits(np.array([x]), np.array([y])) is same
    assert same_bits(np.array(x), np.array(y)) is same
    assert not same_bits(np.array([x]), np.array(x))
    assert not same_bits(np.array([x]), np.array([x], "float32"))


def test_a_plan_can_be_read():
    text = str(Call(program_of("while")).plan)
    assert re.search(r"JUMP_IF_FALSE r\d+ to \d+", text) and re.search(r"ALLOC +r\d+ = \d+ bytes", text)


def test_a_run_too_long_to_be_compared_is_told_once(monkeypatch):
    monkeypatch.setattr(checking, "COMPARED", 1000)
    compiled, arrays = Call(program_of("while")), [np.array(5000), f32(0.0, 0.0)]
    with d2s.config(CHECK=2):
        assert compiled([np.array(100), f32(0.0, 0.0)])[1].tolist() == [0.0, 0.0]
        with pytest.warns(checking.UncheckedWarning, match="more than 1000 steps"):
            compiled(arrays)
        assert compiled(arrays)[1].tolist() == [0.0, 0.0]
