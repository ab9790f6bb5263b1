"""What a plan allocates: dead values' memory is used again, a loop's carried values are not copied."""

import numpy as np
import pytest

from d2s.ir.text import parse
from d2s.runtime import executor, interpreter
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits

X = np.linspace(-2, 2, 12, dtype="float32").reshape(3, 4)
OPS = ("tanh", "exp", "sin", "neg")


def count(run: Call, step: str) -> int:
    return sum(executor.CODES[code][0] == step for code in run.plan.steps[:, 0].tolist())


def agrees(text: str, *arrays: np.ndarray) -> Call:
    program = parse(text)
    run = Call(program)
    for _ in range(2):
        for a, b in zip(run(arrays), interpreter.run(program, arrays), strict=True):
            assert same_bits(np.asarray(a), np.asarray(b))
    return run


def chain(length: int, extra: str = "") -> str:
    nodes = " ".join(f"%{k + 1}: f32[n,4] = {OPS[k % 4]}(%{k})" for k in range(length))
    types = "f32[n,4]" + (extra and ", f32[n,4]")
    return f"program f(x: f32[n,4]) -> ({types}) {{ %0: f32[n,4] = exp(x) {nodes} return %{length}{extra} }}"


def test_a_long_chain_takes_two_buffers():
    assert count(agrees(chain(40), X), "ALLOC") == 2


def test_what_is_read_later_keeps_its_memory():
    assert count(agrees(chain(40, ", %3"), X), "ALLOC") == 2  # %3 is computed where the caller wants it
    text = chain(6).replace("return %6", "%7: f32[n,4] = add(%6, %0) %8: f32[n,4] = add(%7, %2) return %8")
    assert count(agrees(text, X), "ALLOC") == 4


def test_memory_of_another_size_is_not_used():
    text = """program f(x: f32[n,4], y: f32[n]) -> (f32[n]) { %0: f32[n,4] = exp(x) %1: f32[n,4] = exp(%0)
      %2: f32[n] = sum(%1, axis=(1,), keepdim=False) %3: f32[n] = add(%2, y) %4: f32[n] = add(%3, y) return %4 }"""
    assert count(agrees(text, X, X[:, 0].copy()), "ALLOC") == 4


def test_a_value_that_an_arm_hands_on_keeps_its_memory():
    text = """program f(c: b1[], x: f32[n,4]) -> (f32[n,4]) { %0: f32[n,4] = exp(x) %1: f32[n,4] = sin(%0)
      %2: f32[n,4] = cond(c, %0) { then(y: f32[n,4]) -> (f32[n,4]) { return y }
        otherwise(y: f32[n,4]) -> (f32[n,4]) { %0: f32[n,4] = neg(y) %1: f32[n,4] = neg(%0) return %1 } }
      %3: f32[n,4] = tanh(%1) %4: f32[n,4] = tanh(%3) %5: f32[n,4] = add(%4, %2) return %5 }"""
    for c in (True, False):
        agrees(text, np.array(c), X)


LOOP = """program f(x: f32[n,4], y: f32[n,4], k: i64[]) -> (f32[n,4], f32[n,4]) {{
  %0: i64[] = constant(dtype=i64, python=False, value=0)
  %1: f32[n,4], %2: f32[n,4], %3: i64[] = while_loop(x, y, %0, k, carries=3) {{
    test(x: f32[n,4], y: f32[n,4], i: i64[], k: i64[]) -> (b1[]) {{ %0: b1[] = less_than(i, k) return %0 }}
    body(x: f32[n,4], y: f32[n,4], i: i64[], k: i64[]) -> (f32[n,4], f32[n,4], i64[]) {{
      %0: i64[] = constant(dtype=i64, python=False, value=1) %1: i64[] = add(i, %0) {body} return {results}, %1 }} }}
  return %1, %2 }}"""


@pytest.mark.parametrize(
    ("body", "results", "copies"),
    [
        ("%2: f32[n,4] = sin(x) %3: f32[n,4] = add(y, %2)", "%2, %3", 0),
        ("%2: f32[n,4] = sin(x) %3: f32[n,4] = cos(x) %4: f32[n,4] = add(%2, %3)", "%4, x", 1),
        ("", "y, x", 2),
        ("%2: f32[n,4] = sin(x)", "%2, y", 0),
        ("%2: f32[n,4] = sin(x)", "%2, %2", 1),
    ],
    ids=["computed", "handed on", "swapped", "one as it was", "one for both"],
)
def test_carried_values_change_places(body, results, copies):
    text = LOOP.format(body=body, results=results)
    for trips in range(5):
        run = agrees(text, X, X[::-1].copy(), np.array(trips))
    assert count(run, "COPY") == copies + 2  # and the two results


def test_a_loop_within_a_loop_has_its_buffers_in_every_trip():
    inner = """%2: f32[n,4], %3: i64[] = while_loop(x, i, y, k, carries=2) {
      test(x: f32[n,4], j: i64[], y: f32[n,4], k: i64[]) -> (b1[]) { %0: b1[] = less_than(j, k) return %0 }
      body(x: f32[n,4], j: i64[], y: f32[n,4], k: i64[]) -> (f32[n,4], i64[]) {
        %0: i64[] = constant(dtype=i64, python=False, value=1) %1: i64[] = add(j, %0) %2: f32[n,4] = sin(x)
        %3: f32[n,4] = add(%2, y) return %3, %1 } } %4: f32[n,4] = cos(%2)"""
    for trips in range(6):
        agrees(LOOP.format(body=inner, results="%2, %4"), X, X[::-1].copy(), np.array(trips))


RELAID = """program f(x: f32[n,4]) -> ({types}) {{ %0: f32[n,4] = exp(x) %1: f32[n,4,1] = unsqueeze(%0, axis=(2,))
  %2: f32[n,4,1] = tanh(%1) %3: f32[n,4] = squeeze(%2, axis=(2,))
  %4: f32[1,n,4] = unsqueeze(%3, axis=(0,)) {more} }}"""


@pytest.mark.parametrize(
    "types, more, runs",
    [
        ("f32[1,n,4]", "return %4", 2),
        ("f32[n,4]", "%5: f32[n,4] = squeeze(%4, axis=(0,)) %6: f32[n,4] = exp(%5) return %6", 3),
        ("f32[1,n,4], f32[n,4,1]", "return %4, %1", 2),  # each computed where the caller wants it
        ("f32[1,n,4], f32[n,4]", "%5: f32[n,4] = add(%3, %0) return %4, %5", 5),
        ("f32[1,n,4], f32[1,n,4]", "%5: f32[1,n,4] = unsqueeze(x, axis=(0,)) return %4, %5", 3),
    ],
)
def test_what_only_gets_another_shape_stays_where_it_is(types, more, runs):
    assert count(agrees(RELAID.format(types=types, more=more), X), "RUN") == runs


def test_what_only_gets_another_shape_in_a_loop_and_an_arm_stays_what_it_is():
    text = """program f(x: f32[n,4], k: i64[]) -> (f32[n,4], f32[n,4,1]) {
      %9: f32[n,4,1] = unsqueeze(x, axis=(2,)) %0: i64[] = constant(dtype=i64, python=False, value=0)
      %1: f32[n,4], %2: f32[n,4,1], %3: i64[] = while_loop(x, %9, %0, k, carries=3) {
        test(x: f32[n,4], y: f32[n,4,1], i: i64[], k: i64[]) -> (b1[]) { %0: b1[] = less_than(i, k) return %0 }
        body(x: f32[n,4], y: f32[n,4,1], i: i64[], k: i64[]) -> (f32[n,4], f32[n,4,1], i64[]) {
          %0: f32[n,4] = squeeze(y, axis=(2,)) %1: f32[n,4] = exp(x) %2: f32[n,4,1] = unsqueeze(%1, axis=(2,))
          %3: f32[n,4] = sin(%0) %4: i64[] = constant(dtype=i64, python=False, value=1) %5: i64[] = add(i, %4)
          return %3, %2, %5 } } return %1, %2 }"""

    for k in range(4):
        agrees(text, X, np.array(k))
