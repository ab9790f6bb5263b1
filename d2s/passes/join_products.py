"""Contract: the elementwise node that first reads a product's result - an activation, a residual - is one `fused` node with it.

The product itself stays as it is; its kernel has the elementwise one do each part it has finished. Others may read its result,
too. Runs behind `group`, whose groups join as wholes, and behind `join_lines`.
"""

from d2s.codegen.fused import element_of
from d2s.codegen.fused_products import may_follow
from d2s.ir.program import Node, Program, Value, in_regions
from d2s.ops import OPS
from d2s.passes.drop_dead import may_raise
from d2s.passes.group import fused_node, opened
from d2s.passes.rewriting import is_plain
from d2s.types import Shape


def apply(program: Program) -> Program:
    nodes: list[Node | None] = [in_regions(node, apply) if node.op != "fused" else node for node in program.nodes]
    readers: dict[Value, list[int]] = {}
    for n, node in enumerate(program.nodes):
        for v in dict.fromkeys(node.inputs):
            readers.setdefault(v, []).append(n)
    for n, node in enumerate(program.nodes):
        joins = node.op != "fused" and OPS[node.op].has("followed") and not may_raise(node)
        read = readers.get(node.outputs[0], []) if joins else []
        behind = nodes[read[0]] if read else None
        if behind is None or any(may_raise(between) for between in program.nodes[n + 1 : read[0]]):
            continue
        kept = node.outputs[0] in program.outputs or len(read) > 1
        if _follows(behind, node, kept):
            results = {*behind.outputs, *(node.outputs if kept else ())}
            nodes[n], nodes[read[0]] = None, fused_node([node, *opened(behind)], results)
    return Program(program.name, program.inputs, tuple(n for n in nodes if n is not None), program.outputs)


def _follows(behind: Node, product: Node, kept: bool) -> bool:
    """Whether a node may stand behind a product, whose result goes where one of its own will be, or is kept."""
    of = product.outputs[0].type
    alike = [v.type.dtype for v in behind.outputs if v.type.shape == of.shape]
    if not of.shape or len(alike) < len(behind.outputs) or not (kept or of.dtype in alike):
        return False
    views = [view for part in opened(behind) for view in _views(part, product.outputs[0])]
    return None not in views and may_follow(product, [view for view in views if view is not None])


def _views(node: Node, met: Value) -> list[Shape | None]:
    """The shapes a node reads in; among them None if it is not elementwise, or finds the product's result in another shape."""
    one = element_of(node) if is_plain(node) else None
    if one is None or one.overflow or may_raise(node) or any("while " in text for text in one.functions):
        return [None]
    return [None if v is met and view != met.type.shape else view for v, view in zip(node.inputs, one.views, strict=False)]
