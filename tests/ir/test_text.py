"""show → parse → show is the identity, damaged text gives a FormatError, and verify catches each broken invariant."""

import hypothesis
import pytest
from hypothesis import strategies as st

from d2s import types
from d2s.errors import FormatError, InternalError
from d2s.ir.program import Node, Program, Value
from d2s.ir.text import parse, show
from d2s.ir.verify import verify
from d2s.passes import infer
from d2s.types import STACK, Type

DIMS = st.one_of(st.integers(0, 9), st.sampled_from(["n", "m", "n0", "batch_size"]))
TENSOR_TYPES = st.builds(Type, st.sampled_from(types.TENSOR_DTYPES), st.lists(DIMS, max_size=4).map(tuple))
PYTHON_TYPES = st.sampled_from([Type(d, python=True) for d in types.PYTHON_DTYPES])
LIST_TYPES = st.one_of(TENSOR_TYPES, PYTHON_TYPES).map(lambda item: item.list)
VALUE_TYPES = st.one_of(TENSOR_TYPES, TENSOR_TYPES, PYTHON_TYPES, LIST_TYPES, st.just(STACK))
NAMES = st.sampled_from(
    ["x", "y", "weight", "_h", "self_0", "inf", "nan", "f32", "int", "axis", "value", "dtype", "then", "stack"]
)
NUMBERS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(types.TENSOR_DTYPES))
STRINGS = st.text(st.characters(codec="utf-8"), max_size=8)
ATTRS = st.recursive(NUMBERS | STRINGS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5)
KEYS = st.sampled_from(["axis", "keepdim", "value", "dtype", "python", "shape", "carries"])
WHERE = st.sampled_from(["", "model.py:12", "/a b/c#d.py:3", "C:\\x\\y.py:7", "a'b.py:1", "{.py:1"])


@st.composite
def programs(draw, depth=2, name="f"):
    """Well-formed Programs whose ops mean nothing."""
    named = draw(st.lists(NAMES, unique=True, max_size=4))
    inputs = [Value(draw(VALUE_TYPES), n) for n in named]
    known = {d for v in inputs if not v.type.listed for d in v.type.shape if isinstance(d, str)}
    visible, nodes = list(inputs), []

    def used(values):
        """Of what grows, the first use only."""
        found = []
        for v in values:
            if v in visible:
                found.append(v)
                if v.type.grows:
                    visible.remove(v)
        return found

    for _ in range(draw(st.integers(0, 3))):
        read = used(draw(st.lists(st.sampled_from(visible), max_size=3))) if visible else []
        attrs = draw(st.dictionaries(KEYS, ATTRS, max_size=2))
        if depth and draw(st.booleans()):
            attrs |= {
                key: draw(programs(depth - 1, key)) for key in draw(st.sampled_from([("then", "otherwise"), ("test", "body")]))
            }
        made = [
            Type(t.dtype, tuple(d if d in known or isinstance(d, int) else 1 for d in t.shape), t.python, t.listed)
            for t in draw(st.lists(VALUE_TYPES, min_size=1, max_size=3))
        ]
        op = draw(st.sampled_from(["add", "cond", "while_loop", "matmul", "some_op"]))
        nodes.append(Node(op, tuple(read), tuple(map(Value, made)), attrs, draw(WHERE)))
        visible += nodes[-1].outputs
    outputs = used(draw(st.lists(st.sampled_from(visible), max_size=3))) if visible else []
    return Program(name, tuple(inputs), tuple(nodes), tuple(outputs))


def shape_of(program):
    """A Program as plain data that compares equal where two Programs are the same."""
    numbers = {v: n for n, v in enumerate([*program.inputs, *(v for node in program.nodes for v in node.outputs)])}
    nodes = [
        (
            node.op,
            [numbers[v] for v in node.inputs],
            [v.type for v in node.outputs],
            {k: shape_of(a) if isinstance(a, Program) else (type(a), repr(a)) for k, a in node.attrs.items()},
            node.where,
        )
        for node in program.nodes
    ]
    return program.name, [(v.name, v.type) for v in program.inputs], nodes, [numbers[v] for v in program.outputs]


@hypothesis.given(programs())
@hypothesis.settings(max_examples=300)
def test_what_is_shown_is_read_back(program):
    verify(program)
    text = show(program)
    again = parse(text)
    assert show(again) == text
    assert shape_of(again) == shape_of(program)
    verify(again)


def whole(attrs=None, inputs="x: f32[2]", where=""):
    """A one-node Program with these attributes."""
    program = parse(f"program f({inputs}) -> () {{ return }}")
    node = Node("op", program.inputs, (Value(Type(types.float32)),), attrs or {}, where)
    return Program("f", program.inputs, (node,), node.outputs)


@pytest.mark.parametrize(
    "value",
    [
        *(
            0,
            -1,
            2**80,
            0.0,
            -0.0,
            0.1,
            1e-300,
            1e300,
            1.5e-7,
            5e-324,
            float("inf"),
            float("-inf"),
            float("nan"),
            True,
            False,
            None,
        ),
        *("", "a", "it's", 'say "it"', "both ' and \"", "back\\slash", "new\nline", "# no comment", "é\u2028\x00"),
        *((), (1,), ((), (1, ("a", None))), types.int8),
    ],
    ids=repr,
)
def test_every_kind_of_attribute_is_read_back(value):
    program = whole({"axis": value})
    assert shape_of(parse(show(program))) == shape_of(program)


@pytest.mark.parametrize(
    "name", ["axis", "x", "inf", "nan", "None", "True", "f32", "stack", "int", "program", "β", "größe", "名前", "_", "then"]
)
def test_an_input_may_have_any_name_python_gives_it(name):
    program = whole({"axis": 1, "then": 0.5}, "x: f32[2]")
    program.inputs[0].name = name
    verify(program)
    assert shape_of(parse(show(program))) == shape_of(program)


@pytest.mark.parametrize("where", ["m.py:1", "/a b/c#d.py:3", "C:\\x.py:7", "<stdin>:1", "größe.py:2"])
def test_a_place_is_read_back(where):
    assert parse(show(whole(where=where))).nodes[0].where == where


@pytest.mark.parametrize("name", ["<lambda>", "f.<locals>.g"])
def test_a_program_may_be_called_what_python_calls_functions(name):
    program = whole()
    program.name = name
    assert parse(show(program)).name == name


@pytest.mark.parametrize("text", ["f32[]", "b1[2]", "u8[0]", "i64[n,3]", "f64[n,m,2]", "int", "float", "bool", "stack"])
def test_types_are_read_back(text):
    assert repr(parse(f"program f(x: {text}) -> ({text}) {{ return x }}").inputs[0].type) == text


GOOD = show(
    parse("""program f(c: b1[], x: f32[n,2], k: int) -> (f32[n,2], stack) {
  %0: stack = stack()
  %1: f32[n,2], %2: stack = cond(c, x, %0) {  # model.py:7
    then(x: f32[n,2], s: stack) -> (f32[n,2], stack) { %0: f32[n,2] = neg(x)  # a.py:1
      %1: stack = push(s, x) return %0, %1 }
    otherwise(x: f32[n,2], s: stack) -> (f32[n,2], stack) { return x, s }
  }
  %3: f32[2] = sum(x, axis=(0,), keepdim=False, v=-1.5e-07, w='a', z=None)
  return %1, %2
}""")
)
BROKEN = [
    "",
    "program",
    "program f",
    "program f(",
    "program f() -> ()",
    "program f() -> () {",
    "program f() -> () { return } more",
    "program f() -> () { return y }",
    "program f(x) -> () { return }",
    "program f(x: f99[2]) -> () { return }",
    "program f(x: what) -> () { return }",
    "program f(x: int[2]) -> () { return }",
    "program f(x: f32[-3]) -> () { return }",
    "program f(x: f32[2.5]) -> () { return }",
    "program f(x: f32[%0]) -> () { return }",
    "program f(x: f32['a']) -> () { return }",
    "program f(x: f32[(]) -> () { return }",
    "program f(x: f32[" + "9" * 5000 + "]) -> () { return }",
    "program f(%: f32[2]) -> () { return }",
    "program f((: f32[2]) -> () { return }",
    "program f(x: f32[2]) -> () { %0: f32[2] = tanh(y) return }",
    "program f(x: f32[2]) -> () { %0: f32[2] = tanh(x, a=f99) return }",
    "program f(x: f32[2]) -> () { %0: f32[2] = tanh(x, a=1.2.3) return }",
    "program f(x: f32[2]) -> () { %0: f32[2] = tanh(x, a='\\x') return }",
    "program f(x: f32[2]) -> () { %0: f32[2] = tanh(x, a=" + "(" * 50000,
    "program f(x: f32[2]) -> () { %0: f32[2] = tanh(x, a='b return }",
    "program f(x: f32[2]) -> () { %0: f32[2] = cond(x) { " + "a() -> () { %0: f32[] = c() { " * 5000,
    "program f(x: f32[2]) -> () { ; return }",
]


@pytest.mark.parametrize("n", range(len(BROKEN)))
def test_broken_text_gives_a_format_error(n):
    with pytest.raises(FormatError, match=r"D2S3001.*line \d+"):
        parse(BROKEN[n])


@hypothesis.given(st.data())
@hypothesis.settings(max_examples=800)
def test_mutated_text_gives_a_program_or_a_format_error(data):
    text = GOOD
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        text = (
            text[:start]
            + data.draw(
                st.sampled_from(
                    [
                        "",
                        "(",
                        ")",
                        ",",
                        "=",
                        "%0",
                        "x",
                        "f32",
                        "[",
                        "]",
                        "1",
                        "'",
                        "#",
                        "{",
                        "}",
                        " ",
                        "-",
                        ".",
                        "\\",
                        "é",
                        "\0",
                    ]
                )
            )
            + text[end:]
        )
    try:
        found = parse(text)
    except FormatError as error:
        assert error.code == "D2S3001"
    else:
        show(found)


F2 = Type(types.float32, (2,))


def broken(message, inputs, nodes, outputs=(), checked=True):
    program = Program("f", tuple(inputs), tuple(nodes), tuple(outputs))
    with pytest.raises(InternalError, match=f"D2S9001.*program '.*{message}"):
        verify(program, infer if checked else None)


def test_verify_accepts_what_parse_reads():
    verify(parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }"), infer)


def test_verify_input_names_are_unique():
    broken("input names", [Value(F2, "x"), Value(F2, "x")], [])


@pytest.mark.parametrize("name", ["", "1x", "a b", "%0"])
def test_verify_input_names_are_identifiers(name):
    broken("input names", [Value(F2, name)], [])


def test_verify_uses_come_behind_definitions():
    x, late = Value(F2, "x"), Value(F2)
    nodes = [Node("neg", (late,), (Value(F2),), {}), Node("neg", (x,), (late,), {})]
    broken("neg reads .* before it is defined, or from outside", [x], nodes)


def test_verify_regions_read_their_inputs_only():
    c, x = Value(Type(types.bool_), "c"), Value(F2, "x")
    out = Value(F2)
    leaks = Program("then", (), (Node("neg", (x,), (out,), {}),), (out,))
    node = Node("cond", (c,), (Value(F2),), {"then": leaks, "otherwise": leaks})
    broken("neg reads", [c, x], [node], checked=False)


def test_verify_region_outputs_are_their_own():
    c, x = Value(Type(types.bool_), "c"), Value(F2, "x")
    leaks = Program("then", (), (), (x,))
    broken(
        "output .* is not defined",
        [c, x],
        [Node("cond", (c,), (Value(F2),), {"then": leaks, "otherwise": leaks})],
        checked=False,
    )


def test_verify_values_are_defined_once():
    x, out = Value(F2, "x"), Value(F2)
    broken("a second time", [x], [Node("neg", (x,), (out,), {}), Node("neg", (x,), (out,), {})])
    broken("a second time", [x], [Node("neg", (x,), (x,), {})])


def test_verify_a_node_does_not_define_a_value_twice():
    x, out = Value(F2, "x"), Value(F2)
    broken("a second time", [x], [Node("two", (x,), (out, out), {})], checked=False)


def test_verify_regions_do_not_share_values_with_what_is_around_them():
    """One Value in two Programs would be one buffer in a plan."""
    c, x = Value(Type(types.bool_), "c"), Value(F2, "x")
    arm = Program("then", (x,), (), (x,))
    broken("", [c, x], [Node("cond", (c, x), (Value(F2),), {"then": arm, "otherwise": arm})])


def test_verify_extents_come_from_inputs():
    x = Value(F2, "x")
    broken("extent 'm' of neg", [x], [Node("neg", (x,), (Value(Type(types.float32, ("m",))),), {})])


def test_verify_outputs_are_defined():
    broken("output .* is not defined", [], [], [Value(F2)])


LENT = """program f(items: list[f32[]], n: int) -> (int, list[f32[]], f32[]) {{
  %0: i64[] = constant(dtype=i64, python=False, value=0)
  %1: int = while_loop(n, {inputs}, carries=1) {{
    test(n: int, items: list[f32[]], at: i64[]) -> (b1[]) {{
      %0: list[f32[]], %1: f32[] = {asked}(items{at})
      %2: b1[] = greater_than(%1, %1)
      return %2
    }}
    body(n: int, items: list[f32[]], at: i64[]) -> (int) {{ {trip} return n }}
  }}
  %2: list[f32[]], %3: f32[] = list_get(items, %0)
  return %1, %2, %3
}}"""
LISTED = {"inputs": "items, %0", "asked": "list_get", "at": ", at", "trip": ""}


def test_verify_what_the_test_of_a_loop_asks_is_there_behind_it():
    verify(parse(LENT.format(**LISTED)), infer)


@pytest.mark.parametrize(
    "other",
    [{"asked": "list_pop", "at": ""}, {"trip": "%0: list[f32[]], %1: f32[] = list_get(items, at)"}],
    ids=["pop", "trip"],
)
def test_verify_what_a_loop_changes_is_used_up(other):
    with pytest.raises(InternalError, match=r"D2S9001.*list_get reads .*items.*, which something else has used up"):
        verify(parse(LENT.format(**LISTED | other)), infer)


def test_verify_arms_may_look_into_a_list():
    text = """program f(items: list[f32[]], c: b1[]) -> (list[f32[]]) {{ cond(c, items) {{
      then(x: list[f32[]]) -> () {{ fail(x, error='IndexError: ') return }}
      otherwise(x: list[f32[]]) -> () {{ {otherwise} return }} }} return items }}"""
    verify(parse(text.format(otherwise="")), infer)
    with pytest.raises(InternalError, match=r"output .*items.* has been used up"):
        verify(parse(text.format(otherwise="%0: list[f32[]], %1: f32[] = list_pop(x)")), infer)


def test_verify_a_list_is_given_once():
    text = """program f(items: list[f32[]], c: b1[]) -> (list[f32[]]) { %0: list[f32[]] = cond(c, items, items) {
      then(x: list[f32[]], y: list[f32[]]) -> (list[f32[]]) { return x }
      otherwise(x: list[f32[]], y: list[f32[]]) -> (list[f32[]]) { return y } } return %0 }"""
    with pytest.raises(InternalError, match=r"cond reads .*items.*, which something else has used up"):
        verify(parse(text), infer)


def test_verify_types_are_what_rules_say():
    x = Value(F2, "x")
    broken("neg at .* is typed .* its rule says", [x], [Node("neg", (x,), (Value(Type(types.float64, (2,))),), {})])


def test_verify_ops_are_known():
    x = Value(F2, "x")
    program = Program("f", (x,), (Node("nope", (x,), (Value(F2),), {}, "model.py:3"),), ())
    with pytest.raises(InternalError, match=r"D2S9001. 'nope' at model.py:3 is not an op"):
        verify(program, infer)


def test_verify_conditions_are_one_bool():
    text = """program f(c: f32[], x: f32[2]) -> (f32[2]) { %0: f32[2] = cond(c, x) {
      then(x: f32[2]) -> (f32[2]) { return x } otherwise(x: f32[2]) -> (f32[2]) { return x } } return %0 }"""
    with pytest.raises(InternalError, match="D2S9001"):
        verify(parse(text), infer)


def test_a_node_without_outputs_is_read_back():
    """A gradient of a `cond` none of whose arms leaves anything is such a node."""
    x = Value(F2, "x")
    program = Program("f", (x,), (Node("op", (x,), (), {}),), (x,))
    assert shape_of(parse(show(program))) == shape_of(program)


def test_printed_a_program_is_its_text():
    text = "program f(x: f32[2]) -> (f32[2]) {\n  %0: f32[2] = tanh(x)  # model.py:3\n  return %0\n}\n"
    assert str(parse(text)) == text
