"""Whether a run has changed in place what only some paths change: eager code writes into memory on these only.

In: a Program, and its outputs that are written into inputs' memory. Out: the Program with bools behind its outputs, and which
of these says of which of those whether some change has made it, where not all paths do.

>>> from d2s.ir.text import parse
>>> program = parse(
...     "program f(c: b1[], x: f32[2]) -> (f32[2], f32[2]) { %0: f32[2] = cond(c, x) { "
...     "then(x: f32[2]) -> (f32[2]) { return x } otherwise(x: f32[2]) -> (f32[2]) { %1: f32[2] = tanh(x) return %1 } } "
...     "%2: f32[2] = tanh(x) return %0, %2 }"
... )
>>> told(program, [0, 1])[1]
{0: 2}
"""

from collections.abc import Collection, Sequence

from d2s.autodiff.shadows import Kind, Shadow, Shadows
from d2s.autodiff.totals import FLAG
from d2s.ir.program import Node, Program, Value
from d2s.types import STACK


def told(program: Program, written: Collection[int]) -> tuple[Program, dict[int, int]]:
    """The Program, and the places of the bools by those of the outputs."""
    paths = Shadows(_Made())
    asked = [program.outputs[n] for n in written]
    paths.ask(program, asked)
    nodes, held, _ = paths.followed(program, {})
    flags = list(dict.fromkeys(flag for flag in map(held.get, asked) if isinstance(flag, Value)))
    if not flags:
        return program, {}
    first = len(program.outputs)
    places = {n: first + flags.index(flag) for n in written if isinstance(flag := held.get(program.outputs[n]), Value)}
    return Program(program.name, program.inputs, tuple(nodes), (*program.outputs, *flags)), places


class _Made(Kind):
    """What any node has made is no more what went in."""

    type, beginning = FLAG, False

    def follows(self, value: Value) -> bool:
        return value.type is not STACK and not value.type.python and not value.type.listed

    def sources(self, node: Node) -> Sequence[Value]:
        return ()

    def made(self, node: Node, given: Sequence[Shadow], clock: Shadow, nodes: list[Node]) -> Shadow:
        return True
