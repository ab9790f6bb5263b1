"""A graph from a file of others as it is in training: batch norms of the batch, values dropped at random, else as it stands.

In: a Program of inference, and what was noted of some of its nodes. Out: its outputs, running averages moved.
What lies between those nodes runs as graphs; what stands inside of an `if` or `while` is refused (`loaded_ways`).

>>> from d2s.ir.text import parse
>>> program = parse('''program f(x: f32[2]) -> (f32[2]) {
...     %0: f32[2] = cast(x, dtype=f32, python=False)
...     %1: f32[2] = tanh(%0)
...     return %1 }''')
>>> TrainingForm(program, 1, [[0, "drop", 1.0, None, "upscale_in_train"]])([d2s.ones([2])])[0].tolist()
[0.0, 0.0]
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.symbolic import capturing
from d2s.convert.calls import call
from d2s.eager.tensor import Tensor
from d2s.errors import FormatError
from d2s.export import Model
from d2s.ir.program import Node, Program, Value
from d2s.jit.graph import Graph
from d2s.jit.inlining import inlined
from d2s.nn.dropout import MODES, dropout
from d2s.nn.norm import batch_norm
from d2s.ops.training_marks import PLACED

Env = dict[Value, Any]  # tensors, or symbols of a captured function


class TrainingForm:
    """Pieces of a Program, one after the other."""

    def __init__(self, program: Program, fed: int, marks: Sequence[Sequence[Any]]) -> None:
        self.program = program
        marked = {mark[0]: mark[1:] for mark in marks}
        cuts = [-1, *sorted(marked), len(program.nodes)]
        self.pieces: list[Any] = []
        for before, cut in itertools.pairwise(cuts):
            if cut > before + 1:
                self.pieces.append(_Piece(program, before + 1, cut, fed))
            if cut in marked:
                self.pieces.append(_Marked(program.nodes[cut], *marked[cut]))

    def __call__(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        env: Env = dict(zip(self.program.inputs, inputs, strict=True))
        for piece in self.pieces:
            piece.run(env)
        return [env[value] for value in self.program.outputs]


class _Piece:
    """Some nodes as a graph; all that is fed is an input of it, for it tells extents."""

    def __init__(self, program: Program, start: int, end: int, fed: int) -> None:
        nodes = program.nodes[start:end]
        made = {value for node in nodes for value in node.outputs}
        read = {value for node in nodes for value in node.inputs} - made
        later = {value for node in program.nodes[end:] for value in node.inputs}.union(program.outputs)
        feeds = program.inputs[:fed]
        self.taken = [*feeds, *(v for v in _defined(program) if v in read and v not in feeds)]
        self.given = [v for node in nodes for v in node.outputs if v in later]
        inside = {v: Value(v.type, f"v{n}") for n, v in enumerate(self.taken)}
        inner = [Node(n.op, tuple(inside.get(v, v) for v in n.inputs), n.outputs, n.attrs, n.where) for n in nodes]
        self.graph = Graph(Program(program.name, tuple(inside.values()), tuple(inner), tuple(self.given)))

    def run(self, env: Env) -> None:
        tracer, inputs = capturing(), [env[v] for v in self.taken]
        found = inlined(tracer, self.graph.program, inputs) if tracer else self.graph(inputs)
        env.update(zip(self.given, found, strict=True))


def _defined(program: Program) -> list[Value]:
    return [*program.inputs, *(value for node in program.nodes for value in node.outputs)]


class _Marked:
    """A node in whose place training does something else."""

    def __init__(self, node: Node, kind: str, *settings: Any) -> None:
        self.node, self.kind, self.settings = node, kind, settings

    def run(self, env: Env) -> None:
        inputs = [env[value] for value in self.node.inputs]
        env[self.node.outputs[0]] = _DOES[self.kind](self.node, inputs, *self.settings)


def _normed(node: Node, inputs: Sequence[Tensor], momentum: float) -> Tensor:
    (x, means, variances), affine = inputs[:3], list(inputs[3:])
    weight = affine.pop(0) if node.attrs["weighted"] else None
    bias = affine.pop(0) if node.attrs["shifted"] else None
    layout = "NCHW" if node.attrs["channel"] == 1 else "NHWC"
    found: Tensor = call(batch_norm)(x, means, variances, weight, bias, True, momentum, node.attrs["epsilon"], layout)
    return found


def _dropped(node: Node, inputs: Sequence[Tensor], p: float, axis: list[int] | None, mode: str) -> Tensor:
    found: Tensor = call(dropout)(inputs[0], p, axis, True, mode)
    return found


_DOES: dict[str, Callable[..., Tensor]] = {"norm": _normed, "drop": _dropped}


# --- what notes say ----------------------------------------------------------------------------------------------------------


def marks_of(model: Model) -> list[list[Any]]:
    """The notes on training, if they fit the Program."""
    found = model.notes.get(PLACED, [])
    nodes, parameters = model.program.nodes, set(model.program.inputs[len(model.feeds) :])
    fits = isinstance(found, list) and all(isinstance(mark, list) and _fits(mark, nodes, parameters) for mark in found)
    if not fits or len({mark[0] for mark in found}) < len(found):
        raise FormatError("D2S3001", "the notes on what training does are damaged")
    return found


def _fits(mark: list[Any], nodes: Sequence[Node], parameters: set[Value]) -> bool:
    if len(mark) < 3 or type(mark[0]) is not int or not 0 <= mark[0] < len(nodes):
        return False
    node, (kind, share, *more) = nodes[mark[0]], mark[1:]
    if type(share) is not float or not 0 <= share <= 1:
        return False
    if kind == "norm":
        return node.op == "batch_norm_fixed" and not more and parameters.issuperset(node.inputs[1:3])
    if kind != "drop" or node.op not in ("cast", "multiply") or not _first_stays(node) or len(more) != 2:
        return False
    axes = [] if more[0] is None else more[0]
    rank = len(node.outputs[0].type.shape)
    return more[1] in MODES and isinstance(axes, list) and all(type(a) is int and 0 <= a < rank for a in axes)


def _first_stays(node: Node) -> bool:
    """Whether the result is like the first input."""
    return node.inputs[0].type == node.outputs[0].type
