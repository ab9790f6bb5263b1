"""Gradients of Programs: by the interpreter, by the compiled executor and by the eager tape they are the same bits.

A case is a line of PROGRAMS; `check` runs its text eagerly (every op on tensors, Python deciding at `cond` and `while_loop`)
and linearized, and compares outputs, gradients, and whether there is a gradient at all.
"""

import random

import numpy as np
import pytest

from d2s import types
from d2s.autodiff import tape
from d2s.autodiff.linear import uniquely_named
from d2s.autodiff.mode import no_grad
from d2s.autodiff.program import linearize
from d2s.eager.tensor import Tensor
from d2s.errors import GradientError
from d2s.ir.program import Node, Program, Value
from d2s.ir.text import parse, show
from d2s.ir.verify import verify
from d2s.ops import OPS, dispatch
from d2s.passes import infer
from d2s.runtime import interpreter
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits
from d2s.types import Type


def eager(program, tensors):
    """A Program as the Python it stands for."""
    env = dict(zip(program.inputs, tensors, strict=True))
    for node in program.nodes:
        inputs = [env[v] for v in node.inputs]
        if node.op == "cond":
            results = eager(node.attrs["then" if inputs[0] else "otherwise"], inputs[1:])
        elif node.op == "while_loop":
            count = node.attrs["carries"]
            while eager(node.attrs["test"], inputs)[0]:
                inputs = eager(node.attrs["body"], inputs) + inputs[count:]
            results = inputs[:count]
        elif node.op == "constant":
            results = [Tensor(interpreter.constant(node))]
        else:
            results = [dispatch.current().run(OPS[node.op], tuple(inputs), node.attrs)]
        env.update(zip(node.outputs, results, strict=True))
    return [env[v] for v in program.outputs]


def by_tape(program, arrays, wanted, cotangents, started):
    """Outputs and gradients, eagerly; the sweep of all outputs at once that a call inside a larger graph gets."""
    leaves = [Tensor(a, not w) for a, w in zip(arrays, wanted, strict=True)]
    outputs = eager(program, leaves)
    totals = tape.Totals()
    with no_grad():
        for leaf, total in zip(leaves, started, strict=True):
            if total is not None:
                totals.put(leaf, Tensor(total))
        for out, g in zip(outputs, cotangents, strict=True):
            if g is not None and not out.stop_gradient:
                totals.add(tape.edge(out), Tensor(g))
        while (node := totals.latest()) is not None:
            node.pull(totals.of_nodes.pop(node), totals)
    found = [totals.get(leaf) if w else None for leaf, w in zip(leaves, wanted, strict=True)]
    return [t.array for t in outputs], [None if t is None else t.array for t in found]


def by_program(program, arrays, wanted, cotangents, started, run):
    """The same through `linearize`."""
    linear = linearize(program, wanted, [g is not None for g in cotangents], [t is not None for t in started])
    for half in (linear.forward, linear.backward):
        verify(half, infer)
        assert show(parse(show(half))) == show(half)
    results = run(linear.forward, arrays)
    saved = [arrays[n] if is_input else results[n] for is_input, n in linear.saved]
    gs = [g for n, g in enumerate(cotangents) if g is not None and n in linear.reached]
    swept = run(linear.backward, [*saved, *gs, *(t for t in started if t is not None)])
    found = list(started)
    for n, total, flag in linear.totals:
        if flag < 0 or swept[flag]:
            found[n] = swept[total]
    return results[: len(program.outputs)], found


RUNS = {"interpreter": interpreter.run, "executor": lambda program, arrays: Call(program)(arrays)}


def same(x, y):
    return x is y if x is None or y is None else same_bits(x, y)


def near(x, y):
    """The same addends, maybe added in another order."""
    return x is y if x is None or y is None else np.allclose(x, y, rtol=1e-3, atol=1e-4, equal_nan=True)


def check(program, arrays, wanted=None, given=None, started=(), shown="", agree=same):
    """Compares the three; cotangents and started totals are random. `agree` is how near the tape is to the others."""
    rng = np.random.default_rng(len(arrays))
    verify(program, infer)
    arrays = [np.asarray(a) for a in arrays]
    wanted = [w and v.type.is_float for w, v in zip(wanted or [True] * len(arrays), program.inputs, strict=True)]
    expected_outputs = interpreter.run(program, arrays)
    given = given or [True] * len(expected_outputs)
    floats = [g and v.type.is_float for g, v in zip(given, program.outputs, strict=True)]
    cotangents = [
        rng.standard_normal(o.shape).astype(o.dtype) if g else None for o, g in zip(expected_outputs, floats, strict=True)
    ]
    totals = [
        rng.standard_normal(a.shape).astype(a.dtype) if n in started and wanted[n] else None for n, a in enumerate(arrays)
    ]
    outputs, gradients = by_tape(program, arrays, wanted, cotangents, totals)
    first = None
    for name, run in RUNS.items():
        found_outputs, found = by_program(program, arrays, wanted, cotangents, totals, run)
        assert all(map(same_bits, found_outputs, outputs)), f"{name}: {found_outputs} != {outputs} {shown}"
        assert all(map(agree, found, gradients)), f"{name}: {found} != {gradients} {shown}"
        first = found if first is None else first
        assert all(map(same, found, first)), f"{name}: {found} != {first} {shown}"
    return gradients


ALIASES = {  # one value under two names: the tape has one running total for both, a Program one for each
    "an arm hands on what came in, and both are used",
    "the same value captured twice",
    "a carry passed through",
    "a carry thrown away",
    "two carries begin as one value",
}


def vector(*numbers, of="float32"):
    return np.array(numbers, of)


X, Y = vector(0.3, -0.7), vector(1.5, 0.25)
TEST = "-> (b1[]) { %0: i64[] = constant(dtype=i64, python=False, value=0) %1: b1[] = greater_than(i, %0) return %1 }"
DOWN = "%0: i64[] = constant(dtype=i64, python=False, value=1) %1: i64[] = subtract(i, %0)"
TRIPS = [np.array(n) for n in (0, 1, 2, 7)]
BOOLS = [np.array(c) for c in (True, False)]


def loop(inputs, types, carries, body):
    """A `while_loop` counting i down; `inputs` are its inputs behind i, and their names inside."""
    names = [f"p{n}" for n in range(len(types))]
    inner = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
    results = ", ".join(types[:carries])
    head = f"while_loop(i, {inputs}, carries={carries + 1}) {{ test(i: i64[], {inner}) {TEST}"
    return f"{head} body(i: i64[], {inner}) -> (i64[], {results}) {{ {DOWN} {body} }} }}"


V = "f32[n]"
INNER = f"%2: {V} = multiply(p0, p1) %3: {V} = tanh(%2) return %1, %3"
PROGRAMS = {  # name: text, inputs of every run
    "straight line": (
        """program f(x: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n] = multiply(x, y) %1: f32[n] = tanh(%0)
          %2: f32[n] = add(%1, x)
           %3: f32[n] = multiply(%2, %1) return %3 }""",
        [[X, Y]],
    ),
    "broadcasting": (
        """program f(x: f32[2,n], b: f32[n], s: f32[]) -> (f32[2,n], f32[]) { %0: f32[2,n] = multiply(x, b)
          %1: f32[2,n] = add(%0, s)
           %2: f32[] = sum(%1, axis=(0, 1,), keepdim=False) return %1, %2 }""",
        [[np.ones((2, 3), "float32"), vector(1, 2, 3), np.float32(5)]],
    ),
    "matmul": (
        """program f(x: f32[2,n], w: f32[n,2]) -> (f32[2,2]) { %0: f32[2,2] = matmul(x, w, transpose_x=False, transpose_y=False)
           %1: f32[2,2] = matmul(%0, %0, transpose_x=True, transpose_y=False) return %1 }""",
        [[np.ones((2, 3), "float32"), np.arange(6, dtype="float32").reshape(3, 2)]],
    ),
    "nothing depends on the input": ("program f(x: f32[n]) -> (b1[n]) { %0: b1[n] = equal(x, x) return %0 }", [[X]]),
    "cast cuts": (
        """program f(x: f32[n]) -> (f32[n]) { %0: i32[n] = cast(x, dtype=i32, python=False)
          %1: f32[n] = cast(%0, dtype=f32, python=False)
           %2: f32[n] = multiply(%1, x) return %2 }""",
        [[Y]],
    ),
    "casts between floats": (
        """program f(x: f32[n]) -> (f32[n]) { %0: f64[n] = cast(x, dtype=f64, python=False) %1: f64[n] = tanh(%0)
           %2: f32[n] = cast(%1, dtype=f32, python=False) return %2 }""",
        [[Y]],
    ),
    "a loop that begins with a constant": (
        f"""program f(i: i64[], x: f32[]) -> (f32[]) {{ %0: f32[] = constant(dtype=f32, python=False, value=0.5) %1: i64[],
          %2: f32[] = {loop("%0, x", ["f32[]", "f32[]"], 1, "%2: f32[] = multiply(p0, p1) return %1, %2")} return %2 }}""",
        [[i, np.float32(3)] for i in TRIPS],
    ),
    "a loop that begins with what no gradient reaches": (
        f"""program f(i: i64[], x: f32[]) -> (f32[]) {{ %0: f32[] = cast(i, dtype=f32, python=False) %1: f32[] = neg(%0)
           %2: i64[], %3: f32[] = {loop("%1, x", ["f32[]", "f32[]"], 1, "%2: f32[] = multiply(p0, p1) return %1, %2")}
           return %3 }}""",
        [[i, np.float32(3)] for i in TRIPS],
    ),
    "an output of a cond nobody wants": (
        """program f(c: b1[], x: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n], %1: f32[] = cond(c, x) {
             then(x: f32[n]) -> (f32[n], f32[]) { %0: f32[] = constant(dtype=f32, python=False, value=2.0) return x, %0 }
             otherwise(x: f32[n]) -> (f32[n], f32[]) { %0: f32[] = constant(dtype=f32, python=False, value=3.0) return x, %0 } }
           %2: f32[n] = multiply(%1, y) return %2 }""",
        [[c, X, Y] for c in BOOLS],
    ),
    "an arm hands on what came in, and both are used": (
        """program f(c: b1[], x: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n] = cond(c, x) {
             then(x: f32[n]) -> (f32[n]) { return x }
             otherwise(x: f32[n]) -> (f32[n]) { %0: f32[n] = neg(x) return %0 } }
           %1: f32[n] = multiply(x, y) %2: f32[n] = tanh(%0) %3: f32[n] = tanh(x) %4: f32[n] = multiply(%0, y)
           %5: f32[n] = multiply(%1, %2) %6: f32[n] = multiply(%3, %4) %7: f32[n] = add(%5, %6) return %7 }""",
        [[c, vector(*np.linspace(-1, 1, 40)), vector(*np.linspace(0.1, 3, 40))] for c in BOOLS],
    ),
    "float64": (
        f"""program f(i: i64[], x: f64[n]) -> (f64[n]) {{ %0: i64[], %1: f64[n] = {
            loop("x", ["f64[n]"], 1, "%2: f64[n] = tanh(p0) %3: f64[n] = multiply(%2, p0) return %1, %3")
        } return %1 }}""",
        [[i, X.astype("float64")] for i in TRIPS],
    ),
    "an input returned": ("program f(x: f32[n]) -> (f32[n], f32[n]) { %0: f32[n] = tanh(x) return x, %0 }", [[X]]),
    "a value returned twice": ("program f(x: f32[n]) -> (f32[n], f32[n]) { %0: f32[n] = tanh(x) return %0, %0 }", [[X]]),
    "cond": (
        """program f(c: b1[], x: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n] = tanh(x) %1: f32[n] = cond(c, %0, y) {
             then(h: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n] = multiply(h, y) %1: f32[n] = tanh(%0) return %1 }
             otherwise(h: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n] = neg(h) return %0 } } %2: f32[n] = multiply(%1, %0)
               return %2 }""",
        [[c, X, Y] for c in BOOLS],
    ),
    "an arm that uses nothing": (
        """program f(c: b1[], x: f32[n]) -> (f32[]) { %0: f32[] = cond(c, x) {
             then(x: f32[n]) -> (f32[]) { %0: f32[] = sum(x, axis=(0,), keepdim=False) return %0 }
             otherwise(x: f32[n]) -> (f32[]) { %0: f32[] = constant(dtype=f32, python=False, value=1.0) return %0 } }
               return %0 }""",
        [[c, X] for c in BOOLS],
    ),
    "an arm that uses nothing, and more before it": (
        """program f(c: b1[], x: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n] = multiply(x, y) %1: f32[n] = tanh(%0)
          %2: f32[n] = cond(c, %1, y) {
             then(h: f32[n], y: f32[n]) -> (f32[n]) { return h }
             otherwise(h: f32[n], y: f32[n]) -> (f32[n]) { return y } } return %2 }""",
        [[c, X, vector(np.inf, 1.0)] for c in BOOLS],
    ),
    "cond in cond": (
        """program f(c: b1[], d: b1[], x: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n] = cond(c, d, x, y) {
             then(d: b1[], x: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n] = tanh(x) %1: f32[n] = cond(d, %0, y) {
               then(h: f32[n], y: f32[n]) -> (f32[n]) { %0: f32[n] = multiply(h, h) return %0 }
               otherwise(h: f32[n], y: f32[n]) -> (f32[n]) { return y } } %2: f32[n] = multiply(%1, %0) return %2 }
             otherwise(d: b1[], x: f32[n], y: f32[n]) -> (f32[n]) { return x } } return %0 }""",
        [[c, d, X, Y] for c in BOOLS for d in BOOLS],
    ),
    "the same value captured twice": (
        """program f(c: b1[], x: f32[n]) -> (f32[n]) { %0: f32[n] = cond(c, x, x) {
             then(a: f32[n], b: f32[n]) -> (f32[n]) { %0: f32[n] = multiply(a, b) return %0 }
             otherwise(a: f32[n], b: f32[n]) -> (f32[n]) { return b } } return %0 }""",
        [[c, X] for c in BOOLS],
    ),
    "while": (
        f"""program f(i: i64[], x: {V}, w: {V}) -> ({V}) {{ %0: i64[], %1: {V} = {
            loop("x, w", [V, V], 1, f"%2: {V} = multiply(p0, p1) %3: {V} = tanh(%2) return %1, %3")
        } return %1 }}""",
        [[i, X, Y] for i in TRIPS],
    ),
    "used before, inside and behind a loop": (
        f"""program f(i: i64[], x: {V}, w: {V}) -> ({V}, {V}) {{ %0: {V} = multiply(x, w) %1: i64[], %2: {V} = {
            loop("%0, w, x", [V, V, V], 1, f"%2: {V} = multiply(p0, p1) %3: {V} = add(%2, p2) return %1, %3")
        } %3: {V} = multiply(%2, w) %4: {V} = add(%3, x) %5: {V} = multiply(%0, x) return %4, %5 }}""",
        [[i, X, Y] for i in TRIPS],
    ),
    "swapped carries": (
        f"""program f(i: i64[], x: {V}, y: {V}) -> ({V}, {V}) {{ %0: i64[], %1: {V}, %2: {V} = {
            loop("x, y", [V, V], 2, f"%2: {V} = multiply(p0, p1) return %1, p1, %2")
        } return %1, %2 }}""",
        [[i, X, Y] for i in TRIPS],
    ),
    "a carry passed through": (
        f"""program f(i: i64[], x: {V}, y: {V}) -> ({V}, {V}) {{ %0: i64[], %1: {V}, %2: {V} = {
            loop("x, y", [V, V], 2, f"%2: {V} = multiply(p0, p1) return %1, p0, %2")
        } return %1, %2 }}""",
        [[i, X, Y] for i in TRIPS],
    ),
    "a carry thrown away": (
        f"""program f(i: i64[], x: {V}, y: {V}) -> ({V}, {V}) {{ %0: i64[], %1: {V}, %2: {V} = {
            loop("x, y", [V, V], 2, f"%2: {V} = tanh(p1) return %1, %2, p1")
        } return %1, %2 }}""",
        [[i, X, Y] for i in TRIPS],
    ),
    "two carries begin as one value": (
        f"""program f(i: i64[], x: {V}) -> ({V}) {{ %0: {V} = tanh(x) %1: i64[], %2: {V}, %3: {V} = {
            loop("%0, %0", [V, V], 2, f"%2: {V} = multiply(p0, p1) %3: {V} = add(p0, p1) return %1, %2, %3")
        } %4: {V} = multiply(%2, %0) return %4 }}""",
        [[i, X] for i in TRIPS],
    ),
    "a carry that becomes a constant": (
        f"""program f(i: i64[], x: f32[], w: f32[]) -> (f32[]) {{ %0: i64[], %1: f32[] = {
            loop("x, w", ["f32[]", "f32[]"], 1, "%2: f32[] = constant(dtype=f32, python=False, value=2.0) return %1, %2")
        } %2: f32[] = multiply(%1, w) return %2 }}""",
        [[i, np.float32(3), np.float32(5)] for i in TRIPS],
    ),
    "cond in while": (
        f"""program f(i: i64[], x: {V}, w: {V}) -> ({V}) {{ %0: i64[], %1: {V} = {
            loop(
                "x, w",
                [V, V],
                1,
                f'''%2: i64[] = constant(dtype=i64, python=False, value=3) %3: b1[] = less_than(i, %2)
                  %4: {V} = cond(%3, p0, p1) {{
                  then(a: {V}, b: {V}) -> ({V}) {{ %0: {V} = multiply(a, b) return %0 }}
                  otherwise(a: {V}, b: {V}) -> ({V}) {{ %0: {V} = tanh(a) return %0 }} }} return %1, %4''',
            )
        } return %1 }}""",
        [[i, X, Y] for i in TRIPS],
    ),
    "a fixed input used in some trips only": (
        f"""program f(i: i64[], x: {V}, w: {V}) -> ({V}) {{ %0: i64[], %1: {V} = {
            loop(
                "x, w",
                [V, V],
                1,
                f'''%2: i64[] = constant(dtype=i64, python=False, value=5) %3: b1[] = greater_than(i, %2)
                  %4: {V} = cond(%3, p0, p1) {{
                  then(a: {V}, b: {V}) -> ({V}) {{ %0: {V} = multiply(a, b) return %0 }}
                  otherwise(a: {V}, b: {V}) -> ({V}) {{ return a }} }} return %1, %4''',
            )
        } return %1 }}""",
        [[i, X, vector(-0.0, np.inf)] for i in TRIPS],
    ),
    "while in while": (
        f"""program f(i: i64[], x: {V}, w: {V}) -> ({V}) {{ %0: i64[], %1: {V} = {
            loop(
                "x, w",
                [V, V],
                1,
                f"%2: i64[], %3: {V} = {loop('p0, p1', [V, V], 1, INNER)} %4: {V} = add(%3, p1) return %1, %4",
            )
        } return %1 }}""",
        [[i, X, Y] for i in TRIPS],
    ),
    "while in cond": (
        f"""program f(c: b1[], i: i64[], x: {V}, w: {V}) -> ({V}) {{ %0: {V} = cond(c, i, x, w) {{
             then(i: i64[], x: {V}, w: {V}) -> ({V}) {{ %0: i64[], %1: {V} = {
            loop("x, w", [V, V], 1, f"%2: {V} = multiply(p0, p1) return %1, %2")
        } return %1 }}
             otherwise(i: i64[], x: {V}, w: {V}) -> ({V}) {{ return w }} }} %1: {V} = multiply(%0, x) return %1 }}""",
        [[c, i, X, Y] for c in BOOLS for i in TRIPS],
    ),
    "two loops": (
        f"""program f(i: i64[], x: {V}) -> ({V}) {{
             %0: i64[], %1: {V} = {loop("x", [V], 1, f"%2: {V} = tanh(p0) return %1, %2")}
             %2: {V} = multiply(%1, x)
             %3: i64[], %4: {V} = {loop("%2", [V], 1, f"%2: {V} = multiply(p0, p0) return %1, %2")}
             %5: {V} = subtract(%4, %1) return %5 }}""",
        [[i, X] for i in TRIPS],
    ),
    "a loop over a scalar read from outside": (
        f"""program f(i: i64[], x: {V}, s: f32[]) -> ({V}, f32[]) {{ %0: i64[], %1: {V}, %2: f32[] = {
            loop(
                "x, s",
                [V, "f32[]"],
                2,
                f'''%2: {V} = multiply(p0, p1) %3: f32[] = sum(%2, axis=(0,), keepdim=False)
                    %4: f32[] = tanh(%3) return %1, %2, %4''',
            )
        } return %1, %2 }}""",
        [[i, X, np.float32(0.5)] for i in TRIPS],
    ),
}


def masks(count):
    """None, each alone, all."""
    yield from ([n == k for n in range(count)] for k in range(count))
    yield [True] * count


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_all_gradients(name):
    for arrays in PROGRAMS[name][1]:
        check(parse(PROGRAMS[name][0]), arrays, agree=near if name in ALIASES else same)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_some_gradients(name):
    """Each input wanted alone; each output given alone; totals started for each input alone and for all."""
    text, runs = PROGRAMS[name]
    program, agree = parse(text), near if name in ALIASES else same
    for arrays in runs:
        for wanted in masks(len(arrays)):
            check(program, arrays, wanted=wanted, agree=agree)
        for given in masks(len(program.outputs)):
            check(program, arrays, given=given, agree=agree)
        for started in [*([n] for n in range(len(arrays))), range(len(arrays))]:
            check(program, arrays, started=started, agree=agree)


@pytest.mark.parametrize("name", ["while", "cond in while", "used before, inside and behind a loop", "broadcasting"])
def test_sizes_do_not_matter(name):
    """Extents of 0 and 1, and more than one vector register."""
    text, runs = PROGRAMS[name]
    for size in (0, 1, 33):
        for arrays in runs:
            rng = np.random.default_rng(size)
            check(
                parse(text), [rng.standard_normal((*a.shape[:-1], size)).astype("float32") if np.ndim(a) else a for a in arrays]
            )


def test_whether_there_is_a_gradient_depends_on_the_path():
    text = PROGRAMS["an arm that uses nothing"][0]
    assert check(parse(text), [np.array(True), X])[1].tolist() == [check(parse(text), [np.array(True), X])[1][0]] * 2
    assert check(parse(text), [np.array(False), X])[1] is None


def test_zero_trips_use_no_fixed_input():
    text = PROGRAMS["while"][0]
    assert check(parse(text), [np.array(0), X, Y])[2] is None
    assert check(parse(text), [np.array(1), X, Y])[2] is not None


def test_many_trips():
    check(parse(PROGRAMS["while"][0]), [np.array(3000), X, vector(0.999, 1.001)])


def test_an_absent_cotangent_is_not_zero_times_infinity():
    """y is infinite in the arm not taken: no nan may come from there."""
    gradients = check(
        parse(PROGRAMS["an arm that uses nothing, and more before it"][0]), [np.array(False), X, vector(np.inf, np.inf)]
    )
    assert gradients[1] is None
    assert not np.isnan(gradients[2]).any()


def test_an_op_without_a_gradient_is_refused(monkeypatch):
    monkeypatch.delitem(OPS["tanh"].rules, "vjp")
    with pytest.raises(GradientError, match=r"D2S0006.*tanh"):
        linearize(parse(PROGRAMS["straight line"][0]), [True, True], [True], [False, False])


VECTOR, SCALAR, WIDE = Type(types.float32, ("n",)), Type(types.float32), Type(types.float64)
BOOL, INT = Type(types.bool_), Type(types.int64)


class Writer:
    """A random Program: float ops, casts that cut, conds and loops in each other.

    Without `aliases` every result of a region, and every value a loop begins with, is a value of its own.
    """

    def __init__(self, rng, inputs, depth, aliases):
        self.rng, self.depth, self.aliases, self.nodes, self.visible = rng, depth, aliases, [], list(inputs)

    def add(self, op, inputs, made, **attrs):
        outputs = tuple(Value(t) for t in made)
        self.nodes.append(Node(op, tuple(inputs), outputs, attrs))
        self.visible += outputs
        return outputs

    def one(self, *kinds):
        """A visible value, later ones more often; a constant where there is none."""
        found = [v for v in self.visible if v.type in kinds]
        if found:
            return self.rng.choice(found[-4:] if self.rng.random() < 0.6 else found)
        if kinds[0] == VECTOR:
            return self.add("add", [self.of_scalar(), next(v for v in self.visible if v.type == VECTOR)], [VECTOR])[0]
        return self.constant(kinds[0])

    def handed_over(self, of):
        """A value that a region returns or a loop begins with."""
        found = self.one(of)
        return found if self.aliases else self.add("neg", [found], [of])[0]

    def constant(self, of):
        number = {"f": self.rng.choice([0.5, -1.5, 2.0]), "i": self.rng.randint(0, 3), "b": self.rng.random() < 0.5}[
            of.dtype.kind
        ]
        return self.add("constant", [], [of], value=number, dtype=of.dtype, python=False)[0]

    def write(self, count):
        for _ in range(count):
            kind = self.rng.random()
            if kind < 0.2 and self.depth:
                self.cond()
            elif kind < 0.4 and self.depth:
                self.loop()
            elif kind < 0.75:
                x, y = self.one(VECTOR, SCALAR), self.one(VECTOR, SCALAR)
                made = VECTOR if VECTOR in (x.type, y.type) else SCALAR
                self.add(self.rng.choice(["add", "subtract", "multiply"]), [x, y], [made])
            elif kind < 0.9:
                x = self.one(VECTOR, SCALAR)
                self.add(self.rng.choice(["neg", "tanh", "relu"]), [x], [x.type])
            elif kind < 0.95:
                self.add("sum", [self.one(VECTOR)], [SCALAR], axis=(0,), keepdim=False)
            elif kind < 0.97:
                (wide,) = self.add("cast", [self.one(SCALAR)], [WIDE], dtype=types.float64, python=False)
                self.add("cast", [wide], [SCALAR], dtype=types.float32, python=False)
            else:
                x = self.one(SCALAR)
                (cut,) = self.add("cast", [x], [INT], dtype=types.int64, python=False)
                self.add("cast", [cut], [SCALAR], dtype=types.float32, python=False)

    def captured(self):
        """Some visible values, a vector among them: it defines the extent."""
        vectors = [v for v in self.visible if v.type == VECTOR]
        chosen = [self.rng.choice(vectors), *self.rng.sample(self.visible, min(len(self.visible), self.rng.randint(0, 3)))]
        chosen = list(dict.fromkeys(chosen))
        self.rng.shuffle(chosen)
        return chosen

    def region(self, inputs, made):
        inside = Writer(self.rng, inputs, self.depth - 1, self.aliases)
        inside.write(self.rng.randint(0, 4))
        outputs = tuple(inside.handed_over(t) for t in made)
        return inside, outputs

    def cond(self):
        condition = self.add("less_than", [self.one(SCALAR), self.one(SCALAR)], [BOOL])[0]
        read = self.captured()
        made = [self.rng.choice([VECTOR, SCALAR]) for _ in range(self.rng.randint(1, 3))]
        arms = {}
        for name in ("then", "otherwise"):
            inputs = [Value(v.type, f"p{n}") for n, v in enumerate(read)]
            inside, outputs = self.region(inputs, made)
            arms[name] = Program(name, tuple(inputs), tuple(inside.nodes), outputs)
        self.add("cond", [condition, *read], made, **arms)

    def loop(self):
        trips = self.one(INT) if self.rng.random() < 0.5 else self.constant(INT)
        carried = [self.rng.choice([VECTOR, SCALAR]) for _ in range(self.rng.randint(1, 3))]
        read = [trips, *(self.handed_over(t) for t in carried), *self.captured()]
        inputs = [[Value(v.type, "i" if n == 0 else f"p{n}") for n, v in enumerate(read)] for _ in range(2)]
        zero, more = Value(INT), Value(BOOL)
        ahead = [Node("constant", (), (zero,), {"value": 0, "dtype": INT.dtype, "python": False})]
        test = Program("test", tuple(inputs[0]), (*ahead, Node("greater_than", (inputs[0][0], zero), (more,), {})), (more,))
        inside, outputs = self.region(inputs[1], carried)
        (one,) = inside.add("constant", [], [INT], value=1, dtype=INT.dtype, python=False)
        (left,) = inside.add("subtract", [inputs[1][0], one], [INT])
        body = Program("body", tuple(inputs[1]), tuple(inside.nodes), (left, *outputs))
        self.add("while_loop", read, [INT, *carried], test=test, body=body, carries=len(carried) + 1)


def random_case(seed, aliases):
    """A Program and inputs for it."""
    rng = random.Random(seed)
    inputs = [Value(t, n) for t, n in [(VECTOR, "x"), (VECTOR, "y"), (SCALAR, "s"), (INT, "k")]]
    writer = Writer(rng, inputs, 2, aliases)
    writer.write(rng.randint(2, 7))
    outputs = [writer.one(VECTOR, SCALAR) for _ in range(rng.randint(1, 3))]
    numbers = np.random.default_rng(seed)
    arrays = [numbers.standard_normal(2).astype("float32"), numbers.standard_normal(2).astype("float32")]
    arrays += [np.float32(numbers.standard_normal()), np.array(rng.randint(0, 3))]
    fresh = [v for n, v in enumerate(outputs) if v not in outputs[:n] and v not in inputs]
    return Program("f", tuple(inputs), tuple(writer.nodes), tuple(fresh)), arrays, rng


@pytest.mark.parametrize("aliases", [False, True], ids=["values of their own", "aliases"])
@pytest.mark.parametrize("chunk", range(10))
def test_random_programs(chunk, aliases):
    for seed in range(chunk * 40, chunk * 40 + 40):
        program, arrays, rng = random_case(seed, aliases)
        wanted = [rng.random() < 0.7 for _ in arrays]
        given = [rng.random() < 0.8 for _ in program.outputs]
        started = [n for n in range(len(arrays)) if rng.random() < 0.3]
        check(program, arrays, wanted, given, started, f"\nseed {seed}\n{show(program)}", near if aliases else same)


def test_input_names_that_end_in_numbers_already_stay_apart():
    values = [Value(Type(types.float32), name) for name in ("taken", "taken_1_", "taken", "taken", "taken_1_", "x")]
    assert [v.name for v in uniquely_named(values)] == ["taken", "taken_1_", "taken_2_", "taken_3_", "taken_1__1_", "x"]
