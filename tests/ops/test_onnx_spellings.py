"""How ONNX spells each op: operators ONNX has, on the op's own inputs, and meaning the same on values that both define."""

import ast
import pathlib

import numpy as np
import pytest

import d2s
from d2s.ops import OPS

OPERATORS = set(pathlib.Path(__file__).with_name("onnx_operators.txt").read_text().split())  # of opset 18
SPELLED = {name: op for name, op in OPS.items() if op.onnx}
MEANING = {
    **{
        name: getattr(np, name.lower())
        for name in ("Abs", "Add", "Ceil", "Cos", "Cosh", "Equal", "Exp", "Floor", "Greater", "IsInf")
    },
    **{
        name: getattr(np, name.lower())
        for name in ("IsNaN", "Less", "Log", "Mod", "Reciprocal", "Sign", "Sin", "Sinh", "Sqrt", "Tan")
    },
    "Acos": np.arccos,
    "Asin": np.arcsin,
    "Atan": np.arctan,
    "Tanh": np.tanh,
    "Neg": np.negative,
    "Pow": np.power,
    "Where": np.where,
    "Max": np.maximum,
    "Min": np.minimum,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "LessOrEqual": np.less_equal,
    "GreaterOrEqual": np.greater_equal,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
    "Not": np.logical_not,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "BitwiseNot": np.invert,
    "Div": lambda x, y: x / y if x.dtype.kind == "f" else np.trunc(x / y).astype(x.dtype),
    "Relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Cast": lambda x, to: x.astype(to),
}
VALUES = {
    "b": (np.array([True, False, True, False]), np.array([True, True, False, False])),
    "i": (np.array([7, -7, 4, -5]), np.array([2, 2, -3, -5])),
    "f": (np.array([0.625, -0.25, 0.9375, 0.5]), np.array([0.5, 0.75, -0.25, 0.5])),
}
EDGES = (np.array([np.nan, 1.0, np.inf, -np.inf, np.nan]), np.array([2.0, np.nan, 1.0, 3.0, np.nan]))


def spellings(op):
    """The spelling for each kind of dtype."""
    parts = [part.partition(": ") for part in op.onnx.split("; ")]
    return {kind: text for kind, _, text in parts} if parts[0][1] else dict.fromkeys("bif", op.onnx)


def applied(op, text):
    """A spelling as a syntax tree: a bare operator is one on all inputs."""
    tree = ast.parse(text, mode="eval").body
    return ast.parse(f"{text}({', '.join(op.arrays)})", mode="eval").body if isinstance(tree, ast.Name) else tree


def calls(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


@pytest.mark.parametrize("name", SPELLED)
def test_a_spelling_is_of_operators_onnx_has_on_inputs_the_op_has(name):
    op = OPS[name]
    for kind, text in spellings(op).items():
        assert kind in "bif"
        tree = applied(op, text)
        functions = {id(call.func): call.func.id for call in calls(tree)}
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions}
        assert set(functions.values()) <= OPERATORS
        assert names <= set(op.arrays) | set(op.attributes)


def evaluated(node, values):
    if isinstance(node, ast.Call):
        named = {k.arg: k.value.value for k in node.keywords}
        return MEANING[node.func.id](*(evaluated(a, values) for a in node.args), **named)
    if isinstance(node, ast.Constant):
        return next(iter(values.values())).dtype.type(node.value)
    return values[node.id]


CASES = [
    (name, kind, text)
    for name, op in SPELLED.items()
    if op.scalar and not op.has("scalar")
    for kind, text in spellings(op).items()
    if kind in op.dtypes and all(call.func.id in MEANING for call in calls(applied(op, text)))
]


def test_most_elementwise_ops_are_tried():
    assert len({name for name, _, _ in CASES}) > 45


@pytest.mark.parametrize("name, kind, text", CASES)
def test_a_spelling_means_the_op(name, kind, text):
    op = OPS[name]
    pairs = [
        VALUES[kind],
        *([EDGES] if kind == "f" and name in ("fmax", "fmin", "maximum", "minimum", "isfinite", "isnan") else []),
    ]
    for pair in pairs:
        arrays = [np.array([True, False, False, True]), *pair][-len(op.arrays) :] if op.kept else pair[: len(op.arrays)]
        if (name, kind) == ("pow", "i"):
            arrays = arrays[0], abs(arrays[1])  # others are the op's own matter
        with np.errstate(all="ignore"):
            wanted = evaluated(applied(op, text), dict(zip(op.arrays, arrays, strict=True)))
        got = op(*map(d2s.to_tensor, arrays)).numpy()
        np.testing.assert_allclose(got.astype(wanted.dtype), wanted, rtol=1e-12, atol=0)
