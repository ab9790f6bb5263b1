"""Lists of a Program: the executor, as compiled and in Python, and the interpreter agree on them."""

import numpy as np
import pytest

from d2s import passes
from d2s.errors import InternalError
from d2s.ir.text import parse, show
from d2s.ir.verify import verify
from d2s.ops import OPS
from d2s.runtime import interpreter, plain
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits
from d2s.runtime.frames import Frames

GROWN = """
program grown(x: f32[3], n: i64[], k: i64[]) -> (list[f32[3]], f32[3], i64[]) {
  %0: list[f32[3]] = list_new(dtype=f32, python=False, shape=(3,))
  %1: i64[] = constant(dtype=i64, python=False, value=0)
  %2: i64[], %3: list[f32[3]], %4: f32[3] = while_loop(%1, %0, x, n, carries=3) {
    test(i: i64[], items: list[f32[3]], v: f32[3], n: i64[]) -> (b1[]) {
      %0: b1[] = less_than(i, n)
      return %0
    }
    body(i: i64[], items: list[f32[3]], v: f32[3], n: i64[]) -> (i64[], list[f32[3]], f32[3]) {
      %0: i64[] = constant(dtype=i64, python=False, value=1)
      %1: i64[] = add(i, %0)
      %2: f32[3] = add(v, v)
      %3: list[f32[3]] = list_append(items, v)
      return %1, %3, %2
    }
  }
  %5: list[f32[3]], %6: f32[3] = list_get(%3, k)
  %7: list[f32[3]] = list_set(%5, k, x)
  %8: list[f32[3]], %9: f32[3] = list_pop(%7)
  %10: list[f32[3]], %11: i64[] = list_length(%8)
  return %10, %6, %11
}
"""
SWAPPED = """
program swapped(x: f32[0], c: b1[], n: i64[]) -> (list[f32[0]], list[f32[0]]) {
  %0: list[f32[0]] = list_full(n, x)
  %1: list[f32[0]] = list_new(dtype=f32, python=False, shape=(0,))
  %2: list[f32[0]], %3: list[f32[0]] = cond(c, %0, %1, x) {
    then(a: list[f32[0]], b: list[f32[0]], x: f32[0]) -> (list[f32[0]], list[f32[0]]) {
      return a, b
    }
    otherwise(a: list[f32[0]], b: list[f32[0]], x: f32[0]) -> (list[f32[0]], list[f32[0]]) {
      %0: list[f32[0]] = list_append(b, x)
      return %0, a
    }
  }
  return %2, %3
}
"""
RENEWED = """
program renewed(x: i64[], n: i64[]) -> (list[i64[]], list[i64[]]) {
  %0: list[i64[]] = list_new(dtype=i64, python=False, shape=())
  %1: list[i64[]] = list_new(dtype=i64, python=False, shape=())
  %2: i64[], %3: list[i64[]], %4: list[i64[]] = while_loop(n, %0, %1, carries=3) {
    test(i: i64[], a: list[i64[]], b: list[i64[]]) -> (b1[]) {
      %0: i64[] = constant(dtype=i64, python=False, value=0)
      %1: b1[] = greater_than(i, %0)
      return %1
    }
    body(i: i64[], a: list[i64[]], b: list[i64[]]) -> (i64[], list[i64[]], list[i64[]]) {
      %0: i64[] = constant(dtype=i64, python=False, value=1)
      %1: i64[] = subtract(i, %0)
      %2: list[i64[]] = list_new(dtype=i64, python=False, shape=())
      %3: list[i64[]] = list_append(%2, i)
      %4: list[i64[]] = list_append(a, i)
      return %1, %3, %4
    }
  }
  return %3, %4
}
"""
X = np.array([1.0, 2.0, 3.0], "float32")
RUNS = [(GROWN, [X, np.array(n), np.array(k)]) for n, k in ((1, 0), (5, 2), (3000, 100))]
RUNS += [(SWAPPED, [X[:0], np.array(c), np.array(4)]) for c in (True, False)]
RUNS += [(RENEWED, [np.array(0), np.array(n)]) for n in (0, 1, 2, 7)]


@pytest.mark.parametrize(("text", "arrays"), RUNS)
def test_engines_agree(text, arrays):
    program = parse(text)
    verify(program, lambda node: OPS[node.op].infer([v.type for v in node.inputs], node.attrs))
    assert parse(show(program)) and show(parse(show(program))) == show(program)
    wanted = interpreter.run(program, arrays)
    call = Call(program, passes.lower)
    for found in (call(arrays), call(arrays), Frames(call.plan, plain.execute(call.plan)).run(arrays)):
        assert [same_bits(x, y) for x, y in zip(found, wanted, strict=True)] == [True] * len(wanted)


def test_what_is_in_a_list():
    items, third, length = Call(parse(GROWN))([X, np.array(5), np.array(2)])
    assert [item.tolist()[0] for item in items] == [1.0, 2.0, 1.0, 8.0]
    assert (third.tolist(), int(length)) == ([4.0, 8.0, 12.0], 4)


def test_a_list_given_and_handed_back():
    program = parse(
        "program f(a: list[f32[3]], x: f32[3]) -> (list[f32[3]]) { %0: list[f32[3]] = list_append(a, x) return %0 }"
    )
    for given in ((), (X,), (X, X * 2.0)):
        (found,) = Call(program)([given, X])
        assert same_bits(found, (*given, X))


def test_a_list_is_used_once():
    text = "program f(a: list[f32[]], x: f32[]) -> (list[f32[]]) { %0: list[f32[]] = list_append(a, x) return a }"
    with pytest.raises(InternalError, match="used up"):
        verify(parse(text))
