"""Contract: of nodes that compute the same from the same values, in one region, the first stands for all.

It runs behind gradients only: in front of them, it would add up two cotangents before, not behind, the common node.
"""

from typing import Any

from d2s.ir.program import Program, Value, in_regions
from d2s.passes.rewriting import is_plain, rebuilt
from d2s.types import DType


def apply(program: Program) -> Program:
    instead: dict[Value, Value] = {}
    first: dict[Any, tuple[Value, ...]] = {}
    kept = []
    for node in program.nodes:
        inputs = tuple(instead.get(v, v) for v in node.inputs)
        attrs = _comparable(tuple(sorted(node.attrs.items()))) if is_plain(node) or node.op == "constant" else None
        if attrs is None:
            kept.append(in_regions(node, apply))
            continue
        known = first.setdefault((node.op, inputs, attrs, tuple(v.type for v in node.outputs)), node.outputs)
        if known is node.outputs:
            kept.append(node)
        else:
            instead.update(zip(node.outputs, known, strict=True))
    return rebuilt(program, kept, instead)


def _comparable(value: Any) -> Any:
    """Something that is equal for equal attributes only; None where that cannot be told."""
    if isinstance(value, tuple | list):
        parts = tuple(map(_comparable, value))
        return None if None in parts else (type(value), parts)
    return (type(value), repr(value)) if isinstance(value, _TOLD) else None


_TOLD = (str, int, float, type(None), DType)
