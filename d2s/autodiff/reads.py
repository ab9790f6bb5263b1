"""Which values a gradient really reads: an `add` needs none, a `sum` only the extents of its input.

In: a Program, or an op with the types it is used on. Out: the values whose elements are read.

>>> from d2s.ops import OPS
>>> from d2s.types import float32
>>> two = (Type(float32, (2,)),) * 2
>>> [sorted(of_gradient(OPS[name], two, Exactly({}), (True, True))) for name in ("add", "multiply", "divide")]
[[], [0, 1], [1, 2]]
"""

import functools
import re
from collections.abc import Collection, Iterator

from d2s.autodiff.sweep import pull
from d2s.codegen import emit
from d2s.exact import Exactly
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS, Op
from d2s.ops.dispatch import handling
from d2s.ops.recording import Recorder, Symbolic
from d2s.types import Type


@functools.lru_cache(maxsize=4096)
def of_gradient(op: Op, inputs: tuple[Type, ...], attributes: Exactly, wanted: tuple[bool, ...]) -> set[int]:
    """What the op's gradient reads where these inputs want one: inputs by position, and behind them the results."""
    recorder = Recorder(f"{op.name}_grad")
    attrs = attributes.value
    outputs = op.infer(inputs, attrs)
    saved = [recorder.input(t, f"saved_{k}") for k, t in enumerate((*inputs, *outputs))]
    results = saved[len(inputs) :]
    found: list[Symbolic] = []
    with handling(recorder):
        several = op.has("composed")
        g = tuple(recorder.input(t, "g") for t in outputs) if several else recorder.input(outputs[0], "g")
        out = results[0] if len(results) == 1 else tuple(results)
        pull(op, attrs, g, out, saved[: len(inputs)], wanted, lambda _, contribution: found.append(contribution))
    read = of_program(recorder.builder.finish([s.value for s in found]))
    return {k for k, s in enumerate(saved) if s.value in read}


def of_program(program: Program) -> set[Value]:
    """The values something is computed from, or that are handed out."""
    found = set(program.outputs)
    for node in reversed(program.nodes):
        if node.regions() or not found.isdisjoint(node.outputs):
            found.update(_read(node))
            found.update(_entering(node, found))
    return found


def _read(node: Node) -> Iterator[Value]:
    if not node.regions():
        given, made = tuple(v.type for v in node.inputs), tuple(v.type for v in node.outputs)
        elements = _elements(OPS[node.op], given, made, Exactly(node.attrs))
        yield from (v for k, v in enumerate(node.inputs) if k in elements)
        return
    bound = node.inputs[node.op == "cond" :]
    yield from node.inputs[: node.op == "cond"]
    for region in node.regions().values():
        inside = of_program(region)
        yield from (v for v, p in zip(bound, region.inputs, strict=True) if p in inside)


def _entering(loop: Node, found: Collection[Value]) -> Iterator[Value]:
    """What a loop begins with and, where it makes no trip, hands out."""
    for first, left in zip(loop.inputs, loop.outputs, strict=False) if loop.op == "while_loop" else ():
        if left in found:
            yield first


@functools.lru_cache(maxsize=4096)
def _elements(op: Op, inputs: tuple[Type, ...], outputs: tuple[Type, ...], attributes: Exactly) -> set[int]:
    """The inputs whose elements the op's kernel reads: name or address stands in it more often than where they are defined."""
    if not (op.scalar or op.has("scalar") or op.has("kernel")):
        return set(range(len(inputs)))
    _, _, kernel = emit.lower(op, inputs, outputs, attributes.value).text.partition("def kernel(")
    used = {k for k, name in enumerate(op.names(len(inputs))) if len(re.findall(rf"\b{name}\b", kernel)) > 1}
    return used | {k for k in range(len(inputs)) if kernel.count(f"r[o[{k}]]") > 1}
