"""Loops that become one kernel: the same bits, identities, errors and Ctrl-C as loops of steps."""

import signal
import threading

import numpy as np
import pytest

import d2s
from d2s import passes
from d2s.errors import PythonIntOverflow
from d2s.ir.text import parse
from d2s.runtime import interpreter
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits
from tests.passes.test_passes import ops, same

X = np.array([1.5, -0.0, np.nan, -np.inf, 3e38, -7.25, 1e-40, 2.0], "float32")


def loop(carried: str, body: str, test: str = "less_than(i, n)", results: str = "%1") -> str:
    """A Program with a loop that counts i up to n, beside carried values `name: type`."""
    names = ", ".join(part.partition(":")[0] for part in carried.split("; "))
    given, types = carried.replace("; ", ", "), ", ".join(part.partition(": ")[2] for part in carried.split("; "))
    outs = ", ".join(f"%{k + 1}: {t}" for k, t in enumerate([*types.split(", "), "int"]))
    count = len(names.split(", "))
    return f"""program f({given}, n: int) -> ({types}, int) {{ %0: int = constant(dtype=i64, python=True, value=0)
      {outs} = while_loop({names}, %0, n, carries={count + 1}) {{
        test({given}, i: int, n: int) -> (bool) {{ %0: bool = {test} return %0 }}
        body({given}, i: int, n: int) -> ({types}, int) {{
          %0: int = constant(dtype=i64, python=True, value=1) %1: int = add(i, %0)  # loop.py:5
          {body} return {results}, %1 }} }}
      return {", ".join(f"%{k + 1}" for k in range(count + 1))} }}"""


BRANCH = """%2: int = constant(dtype=i64, python=True, value=0) %3: b1[] = equal(j, j)
  %4: f32[8], %5: int = cond(c, x, i) {
    then(x: f32[8], i: int) -> (f32[8], int) { %0: f32[8] = multiply(x, x) %1: f32[8] = add(%0, x) return %1, i }
    otherwise(x: f32[8], i: int) -> (f32[8], int) { %0: int = add(i, i) return x, %0 } }
  %6: b1[] = logical_not(c) %7: f32[] = cast(%5, dtype=f32, python=False) %8: f32[8] = subtract(%4, %7)"""


@pytest.mark.parametrize("n", [0, 1, 2, 7])
@pytest.mark.parametrize(
    ("text", "arrays"),
    [
        (loop("x: f32[8]", "%2: f32[8] = tanh(x) %3: f32[8] = exp(%2)", results="%3"), [X]),
        (loop("x: f32[8]; c: b1[]; j: i8[]", BRANCH, results="%8, %6, j"), [X, np.array(True), np.array(3, "int8")]),
        (loop("x: f32[8]; y: f32[8]", "", results="y, x"), [X, X[::-1].copy()]),
        (loop("a: f64[]; b: f64[]", "%2: f64[] = add(a, b)", results="b, %2"), [np.array(1.0), np.array(2.0)]),
        (loop("x: i8[2,3]; y: i8[3]", "%2: i8[2,3] = add(x, y) %3: i8[3] = multiply(y, y)", results="%2, %3"), [
            np.array([[1, 2, 3], [100, 127, -128]], "int8"), np.array([1, 100, -7], "int8"),
        ]),
        (loop("c: b1[2]; d: b1[2]", "%2: b1[2] = logical_xor(c, d) %3: b1[2] = logical_not(%2)", results="%3, c"), [
            np.array([True, False]), np.array([True, True]),
        ]),
    ],
    ids=["chain", "branch", "swapped", "numbers", "narrow", "truths"],
)  # fmt: skip
def test_the_bits_are_those_of_steps(text, arrays, n):
    assert ops(same(text, *arrays, np.array(n))) == ["constant", "fused"]


def test_many_trips_are_made_in_several_runs():
    text = loop("x: f64[]", "%2: f64[] = cast(i, dtype=f64, python=False) %3: f64[] = add(x, %2)", results="%3")
    x, i = Call(parse(text), passes.lower)([np.array(0.5), np.array(200_000)])
    assert (float(x), int(i)) == (0.5 + 199_999 * 100_000, 200_000)


def test_what_no_trip_has_changed_is_the_tensor_itself():
    @d2s.to_static
    def halved(x, n):
        i = d2s.to_tensor(0)
        while i < n:
            x, i = x * 0.5, i + 1
        return x

    x = d2s.to_tensor(X)
    assert halved(x, d2s.to_tensor(0)) is x
    assert halved(x, d2s.to_tensor(1)) is not x


@pytest.mark.parametrize(("start", "line"), [(2**62, 6), (2**61, 6), (-(2**63), 6)])
def test_the_int_that_leaves_64_bits_is_named_with_its_line(start, line):
    text = loop("k: int", f"%2: int = add(k, k)  # loop.py:{line}\n", results="%2")
    run = Call(parse(text), passes.lower)
    assert int(run([np.array(3), np.array(4)])[0]) == 48
    with pytest.raises(PythonIntOverflow, match=rf"loop\.py:{line}"):
        run([np.array(start), np.array(10)])
    assert int(run([np.array(3), np.array(4)])[0]) == 48


def test_ctrl_c_ends_a_loop_that_never_ends():
    text = loop("x: f32[8]", "%2: f32[8] = tanh(x)", test="equal(n, n)", results="%2")
    text = text.replace("%1: int = add(i, %0)  # loop.py:5", "%1: int = bitwise_xor(i, %0)")
    run = Call(parse(text), passes.lower)
    assert ops(run.plan.program) == ["constant", "fused"]
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        run([X, np.array(1)])


@pytest.mark.parametrize(
    ("shape", "body"),
    [
        ("n0", "%2: f32[n0] = tanh(x)"),
        ("65", "%2: f32[65] = tanh(x)"),
        ("2,2", "%2: f32[2,2] = softmax(x, axis=1)"),
    ],
)
def test_other_loops_stay_steps(shape, body):
    text = loop(f"x: f32[{shape}]", body, results="%2")
    assert ops(passes.lower(parse(text))) == ["constant", "while_loop"]


def test_a_loop_in_a_loop_is_one_kernel_within_steps():
    @d2s.to_static
    def nested(x, n):
        i = 0
        while i < n:
            j = 0
            while j < i:
                x, j = x * 0.5 + j, j + 1
            x, i = x.sum() + x, i + 1
        return x

    x, n = d2s.to_tensor(X[5:]), d2s.to_tensor(5)
    variant = nested.concrete_program(x, n)
    lowered = passes.lower(variant.graph.program)
    assert [op for op in (n.op for n in lowered.every_node()) if op == "while_loop"] == ["while_loop"] * 2
    with d2s.config(EAGER=1):
        want = nested(x, n).numpy()
    assert same_bits(nested(x, n).numpy(), want)
    assert same_bits(interpreter.run(lowered, variant.arrays([x, n]))[0], want)
