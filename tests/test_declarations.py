"""Every op of the registry is complete: documented, typed, runnable, differentiable where it can be, named in d2s."""

import doctest

import pytest

import d2s
from d2s.ops import OPS
from tests.samples import SAMPLES

STRUCTURAL = {"cond", "while_loop", "constant", "hole", "fail", "stack", "push", "pop"}
INTERNAL = STRUCTURAL | {"spread", "row", "in_row", "extent"}  # not for users: no public name, the example is optional
NO_GRADIENT = {
    "cond": "swept region by region (autodiff.program)",
    "while_loop": "swept as a loop of its own (autodiff.loop)",
    "constant": "has no inputs",
    "fail": "has no inputs",
    "stack": "has no inputs",
    "push": "written by gradients, read by gradients; never swept",
    "pop": "written by gradients, read by gradients; never swept",
}
NO_PADDLE = {
    "spread",
    "hole",
    "fail",
    "row",
    "in_row",
    "extent",
    "stack",
    "push",
    "pop",
}  # no operator of Paddle's files is one of these
every_op = pytest.mark.parametrize("name", list(OPS))


@every_op
def test_it_has_a_line_in_samples(name):
    assert name in SAMPLES


def test_samples_name_no_op_that_is_gone():
    assert set(SAMPLES) == set(OPS)


@every_op
def test_it_is_documented(name):
    doc = OPS[name].__doc__
    assert doc
    assert doc.strip().splitlines()[0].endswith(".")


@pytest.mark.parametrize("name", sorted(set(OPS) - STRUCTURAL))
def test_its_example_runs(name):
    examples = doctest.DocTestParser().get_doctest(OPS[name].__doc__, {"d2s": d2s}, name, None, None)
    assert examples.examples, "no example"
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0


@every_op
def test_it_has_a_type_rule(name):
    op = OPS[name]
    assert op.scalar or op.has("infer")


@every_op
def test_it_has_a_kernel_or_is_structural(name):
    op = OPS[name]
    ways = [bool(op.scalar), op.has("scalar"), op.has("kernel"), name in STRUCTURAL]
    assert ways.count(True) == 1


@every_op
def test_it_has_a_gradient_or_a_reason(name):
    op = OPS[name]
    compares = op.out_dtype is not None and op.out_dtype.kind == "b"
    assert op.has("vjp") == (not compares and name not in NO_GRADIENT)


@every_op
def test_how_paddle_spells_it_is_decided(name):
    assert (OPS[name].paddle is None) == (name in NO_PADDLE)


def test_paddle_spellings_are_not_shared():
    spelled = [op.paddle for op in OPS.values() if op.paddle]
    assert len(spelled) == len(set(spelled))


@every_op
def test_public_ops_have_a_name_in_d2s(name):
    assert (getattr(d2s, name, None) is OPS[name]) == (name not in INTERNAL)


@every_op
def test_rules_are_known_kinds_with_the_arrays_first(name):
    op = OPS[name]
    assert set(op.rules) <= {"canonical", "infer", "requires", "scalar", "kernel", "vjp"}
    for kind, rule in op.rules.items():
        taken = [p for p in rule.__code__.co_varnames[: rule.__code__.co_argcount] if p not in ("g", "out")]
        if kind != "canonical" and "captured" not in op.arrays and "carry" not in op.arrays:
            assert taken == [*op.arrays, *op.attributes], kind
