"""What each pass makes of small Programs; and that what is lowered has the bits of what is not."""

import numpy as np
import pytest

from d2s import passes
from d2s.errors import PythonIntOverflow, ShapeError
from d2s.ir.program import Program
from d2s.ir.text import parse, show
from d2s.ir.verify import verify
from d2s.passes import drop_dead, drop_identities, fold_constants, group, merge_equal
from d2s.runtime import interpreter
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits


def ops(program: Program) -> list[str]:
    return [node.op for node in program.nodes]


def grouped(program: Program) -> list[list[str]]:
    return [ops(n.attrs["body"]) if n.op == "fused" else [n.op] for n in group.apply(program).nodes if n.op != "constant"]


def changed(module, text: str) -> Program:
    program = module.apply(parse(text))
    verify(program, passes.infer)
    return program


X = np.array([1.5, -0.0, np.nan, -np.inf, 3e38, -7.25, 1e-40, 2.0], "float32")


def same(text: str, *arrays: np.ndarray) -> Program:
    """Runs a Program lowered, and node by node."""
    program = parse(text)
    lowered = passes.lower(program)
    verify(lowered, passes.infer)
    want = interpreter.run(program, arrays)
    for found in (Call(program, passes.lower)(arrays), interpreter.run(lowered, arrays)):
        assert all(same_bits(np.asarray(a), np.asarray(b)) for a, b in zip(found, want, strict=True))
    return lowered


# --- dead code


LOOP = """program f(x: f32[2], n: int) -> (f32[2]) {{
  %0: int = constant(dtype=i64, python=True, value=0)
  %1: f32[2], %2: f32[2], %3: int = while_loop(x, x, %0, n, carries=3) {{
    test(x: f32[2], y: f32[2], i: int, n: int) -> (bool) {{ %0: bool = less_than({test}, n) return %0 }}
    body(x: f32[2], y: f32[2], i: int, n: int) -> (f32[2], f32[2], int) {{
      %0: int = constant(dtype=i64, python=True, value=1) %1: int = add(i, %0) %2: f32[2] = tanh({x}) %3: f32[2] = exp(y)
      return %2, %3, %1 }} }}
  return %1 }}"""


def test_a_list_no_arm_reads_is_not_used_up():
    text = """program f(c: b1[], items: list[f32[]], x: f32[]) -> (list[f32[]], f32[]) {
      %0: list[f32[]] = list_append(items, x)
      %1: f32[] = cond(c, items, x) {
        then(items: list[f32[]], x: f32[]) -> (f32[]) { return x }
        otherwise(items: list[f32[]], x: f32[]) -> (f32[]) { %0: f32[] = neg(x) return %0 }
      }
      return %0, %1
    }"""
    program = changed(drop_dead, text)
    assert [v.name for v in program.nodes[1].inputs] == ["c", "x"]


@pytest.mark.parametrize(("x", "carries"), [("x", 2), ("y", 3)])
def test_a_carried_value_that_nothing_reads_is_gone(x, carries):
    (loop,) = (n for n in changed(drop_dead, LOOP.format(test="i", x=x)).nodes if n.regions())
    assert loop.attrs["carries"] == carries


def test_results_of_arms_that_nothing_reads_are_gone():
    program = changed(
        drop_dead,
        """program f(c: b1[], x: f32[2]) -> (f32[2]) { %0: f32[2], %1: f32[2] = cond(c, x) {
          then(x: f32[2]) -> (f32[2], f32[2]) { %0: f32[2] = exp(x) %1: f32[2] = tanh(x) return %0, %1 }
          otherwise(x: f32[2]) -> (f32[2], f32[2]) { %0: f32[2] = sin(x) %1: f32[2] = cos(x) return %0, %1 } }
        return %1 }""",
    )
    assert [ops(arm) for arm in program.nodes[0].regions().values()] == [["tanh"], ["cos"]]


# --- equal nodes, constants, identities


def test_equal_nodes_are_one_and_unequal_ones_are_not():
    text = """program f(x: f32[2]) -> (f32[2], f32[2], f32[2]) {
      %0: f32[2] = exp(x) %1: f32[2] = exp(x) %2: f32[2] = tanh(%1) %3: f32[2] = tanh(%0) %4: f32[2] = tanh(x)
      return %2, %3, %4 }"""
    assert ops(changed(merge_equal, text)) == ["exp", "tanh", "tanh"]
    same(text, X[:2])


def test_numbers_that_differ_in_their_sign_or_their_kind_only_are_not_equal():
    text = """program f(x: f32[]) -> (f32[], f32[]) {
      %0: f32[] = constant(dtype=f32, python=False, value=0.0) %1: f32[] = constant(dtype=f32, python=False, value=-0.0)
      %2: f32[] = divide(x, %0) %3: f32[] = divide(x, %1) return %2, %3 }"""
    assert len(changed(merge_equal, text).nodes) == 4
    same(text, np.array(1, "float32"))


def test_what_is_made_of_constants_only_is_one():
    text = """program f(x: f32[2]) -> (f32[2]) {
      %0: int = constant(dtype=i64, python=True, value=3) %1: int = add(%0, %0)
      %2: f32[] = cast(%1, dtype=f32, python=False) %3: f32[2] = multiply(x, %2) return %3 }"""
    folded = drop_dead.apply(changed(fold_constants, text))
    assert [(n.op, n.attrs.get("value")) for n in folded.nodes] == [("constant", 6.0), ("multiply", None)]
    same(text, X[:2])


def test_a_constant_that_would_raise_is_left_to_the_run():
    text = """program f(c: b1[]) -> (int) { %0: int = constant(dtype=i64, python=True, value=9223372036854775807)
      %1: int = cond(c, %0) { then(k: int) -> (int) { %0: int = constant(dtype=i64, python=True, value=9223372036854775807)
          %1: int = add(%0, %0) return %1 }
        otherwise(k: int) -> (int) { return k } } return %1 }"""
    same(text, np.array(False))
    with pytest.raises(PythonIntOverflow):
        Call(parse(text), passes.lower)([np.array(True)])


@pytest.mark.parametrize(
    ("op", "number", "gone"),
    [
        *(("multiply(x, %0)", "1.0", True), ("multiply(%0, x)", "1.0", True), ("divide(x, %0)", "1.0", True)),
        *(("divide(%0, x)", "1.0", False), ("add(x, %0)", "-0.0", True), ("add(x, %0)", "0.0", False)),
        *(("subtract(x, %0)", "0.0", True), ("subtract(x, %0)", "-0.0", False), ("subtract(%0, x)", "0.0", False)),
    ],
)
def test_only_numbers_that_change_no_bit_are_neutral(op, number, gone):
    text = f"""program f(x: f32[8]) -> (f32[8]) {{ %0: f32[] = constant(dtype=f32, python=False, value={number})
      %1: f32[8] = {op} %2: f32[8] = abs(%1) %3: f32[8] = divide(%2, %1) return %3 }}"""
    assert len(changed(drop_identities, text).nodes) == 4 - gone
    same(text, X)


def test_a_result_is_never_memory_of_an_input():
    text = "program f(x: f32[8]) -> (f32[8]) { %0: f32[8] = cast(x, dtype=f32, python=False) return %0 }"
    assert ops(changed(drop_identities, text)) == ["cast"]


def test_nor_is_a_result_that_a_branch_hands_on():
    text = """program f(c: b1[], x: f32[8]) -> (f32[8]) { %0: f32[8] = cast(x, dtype=f32, python=False)
      %1: f32[8] = cond(c, %0) { then(y: f32[8]) -> (f32[8]) { return y }
        otherwise(y: f32[8]) -> (f32[8]) { %0: f32[8] = exp(y) return %0 } } return %1 }"""
    assert ops(changed(drop_identities, text)) == ["cast", "cond"]


# --- groups


def test_a_chain_is_one_group_and_a_sum_divides_it():
    text = """program f(x: f32[n,4], w: f32[4]) -> (f32[n,4]) {
      %0: f32[n,4] = multiply(x, w) %1: f32[n,4] = tanh(%0) %2: f32[n] = sum(%1, axis=(1,), keepdim=False)
      %3: f32[n] = exp(%2) %4: f32[n] = neg(%3) %5: f32[n,4] = spread(%4, %1, axis=(1,), keepdim=False)
      %6: f32[n,4] = divide(%5, %0) return %6 }"""
    assert grouped(parse(text)) == [["multiply", "tanh"], ["sum"], ["exp", "neg"], ["spread", "divide"]]
    same(text, np.resize(X, (3, 4)), X[:4])


def test_what_is_needed_between_keeps_two_groups_apart():
    """%2 needs the sum of %0, and so cannot stand in its kernel."""
    text = """program f(x: f32[4]) -> (f32[4]) { %0: f32[4] = exp(x) %1: f32[] = sum(%0, axis=(0,), keepdim=False)
      %2: f32[4] = divide(%0, %1) return %2 }"""
    assert grouped(parse(text)) == [["exp"], ["sum"], ["divide"]]


def test_two_readers_of_one_value_and_their_meeting_are_one_group():
    text = """program f(x: f32[4]) -> (f32[4], f32[4]) { %0: f32[4] = exp(x) %1: f32[4] = tanh(%0) %2: f32[4] = neg(%0)
      %3: f32[4] = add(%1, %2) return %3, %0 }"""
    assert grouped(parse(text)) == [["exp", "tanh", "neg", "add"]]
    same(text, X[:4])


def test_a_value_read_in_two_shapes_is_right():
    text = """program f(x: f32[4], y: f32[4,4]) -> (f32[4,4]) { %0: f32[4] = exp(x) %1: f32[4] = neg(%0)
      %2: f32[4,4] = multiply(y, %1) %3: f32[4,4] = add(%2, %0) %4: f32[4,4] = add(%3, y) return %4 }"""
    assert grouped(parse(text)) == [["exp", "neg"], ["multiply", "add", "add"]]
    same(text, X[:4], np.resize(X, (4, 4)))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "int16", "int32", "float64"])
def test_narrow_numbers_wrap_within_a_group_as_outside(dtype):
    short = {"int8": "i8", "uint8": "u8", "bool": "b1", "int16": "i16", "int32": "i32", "float64": "f64"}[dtype]
    text = f"""program f(x: {short}[8], y: {short}[8]) -> ({short}[8], b1[8], f32[8]) {{
      %0: {short}[8] = add(x, y) %1: {short}[8] = multiply(%0, %0) %2: b1[8] = less_than(%1, %0)
      %3: {short}[8] = where(%2, %1, y) %4: f32[8] = cast(%1, dtype=f32, python=False) return %3, %2, %4 }}"""
    text = text.replace("multiply", "bitwise_xor").replace("add", "bitwise_or") if dtype == "bool" else text
    text = text.replace("less_than", "not_equal") if dtype == "bool" else text
    values = np.array([0, 1, 2, 100, 127, -128, 99, -1]).astype(dtype)
    lowered = same(text, values, values[::-1].copy())
    assert ops(lowered) == ["fused"]


def test_the_first_int_that_leaves_64_bits_is_named_with_its_line():
    text = """program f(i: int) -> (int, int) { %0: int = add(i, i)  # a.py:1
      %1: int = multiply(i, i)  # a.py:2
      %2: int = subtract(%1, %0)  # a.py:3
      return %0, %2 }"""
    run = Call(parse(text), passes.lower)
    assert [int(a) for a in run([np.array(3)])] == [6, 3]
    for value, line in ((2**62, 1), (2**40, 2), (-(2**63), 1)):
        with pytest.raises(PythonIntOverflow, match=rf"a\.py:{line}"):
            run([np.array(value)])


def test_extents_are_checked_in_groups():
    text = "program f(x: f32[n], y: f32[m]) -> (f32[n]) { %0: f32[n] = exp(x) %1: f32[n] = add(%0, y)  # a.py:7\n return %1 }"
    run = Call(parse(text), passes.lower)
    assert run([X[:3], X[:3]])[0].shape == (3,)
    with pytest.raises(ShapeError, match=r"a\.py:7"):
        run([X[:3], X[:4]])


def test_what_may_raise_keeps_its_order():
    """The sum of ints is in no group with the product behind the loop, which may not end."""
    text = """program f(i: int) -> (int) { %0: int = add(i, i)
      %1: int = while_loop(i, carries=1) {
        test(i: int) -> (bool) { %0: int = constant(dtype=i64, python=True, value=3) %1: bool = less_than(i, %0) return %1 }
        body(i: int) -> (int) { %0: int = constant(dtype=i64, python=True, value=1) %1: int = add(i, %0) return %1 } }
      %2: int = multiply(%0, %0) %3: int = add(%2, %1) return %3 }"""
    assert grouped(parse(text)) == [["add"], ["while_loop"], ["multiply", "add"]]
    same(text, np.array(1))


def test_vector_math_of_two_widths_is_in_two_groups():
    """The logarithm of float32 computes in float64; beside it, exp would get vectors half as long."""
    text = """program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = exp(x) %1: f32[n] = add(%0, x) %2: f32[n] = log(%1)
      %3: f32[n] = neg(%2) %4: f32[n] = tanh(%3) return %4 }"""
    assert grouped(parse(text)) == [["exp", "add"], ["log", "neg"], ["tanh"]]
    same(text, X)


def test_long_chains_are_divided():
    nodes = " ".join(f"%{k + 1}: f32[n] = neg(%{k})" for k in range(99))
    text = f"program f(x: f32[n]) -> (f32[n]) {{ %0: f32[n] = exp(x) {nodes} return %99 }}"
    assert max(map(len, grouped(parse(text)))) == group.MOST_NODES
    assert len(grouped(parse(text))) == 4


def test_what_is_lowered_parses_back():
    text = "program f(x: f32[2]) -> (f32[2]) { %0: f32[2] = exp(x) %1: f32[2] = neg(%0) return %1 }"
    shown = show(passes.lower(parse(text)))
    assert show(parse(shown)) == shown


def test_an_identity_of_an_identity_leads_to_what_is_left():
    text = """program f(x: f32[2]) -> (f32[2]) {
      %0: f32[2] = reshape(x, shape=(2,)) %1: f32[2] = neg(%0) %2: f32[2] = neg(%1) %3: f32[2] = tanh(%2) return %3 }"""
    found = changed(drop_identities, text)
    assert found.nodes[-1].inputs == found.inputs


def test_what_no_arm_reads_is_not_handed_in():
    """So what is only carried on for it leaves the loop around."""
    program = changed(
        drop_dead,
        "program f(c: b1[], x: f32[2], y: f32[2]) -> (f32[2]) { "
        "%0: f32[2], %1: f32[2] = while_loop(x, y, c, carries=2) { "
        "test(x: f32[2], y: f32[2], c: b1[]) -> (b1[]) { return c } "
        "body(x: f32[2], y: f32[2], c: b1[]) -> (f32[2], f32[2]) { %0: f32[2] = tanh(y) "
        "%1: f32[2], %2: f32[2] = cond(c, x, %0) { "
        "then(a: f32[2], b: f32[2]) -> (f32[2], f32[2]) { %0: f32[2] = exp(a) %1: f32[2] = sin(b) return %0, %1 } "
        "otherwise(a: f32[2], b: f32[2]) -> (f32[2], f32[2]) { return a, b } } return %1, %2 } } return %0 }",
    )
    (loop,) = program.nodes
    assert len(loop.outputs) == 1 and ops(loop.attrs["body"]) == ["cond"]
    assert len(loop.attrs["body"].nodes[0].inputs) == 2
