"""What runs between steps of Python's: nodes of a Program as native calls, and paths that end in an exception.

In: a Program of nodes between two steps, and the graph it is a part of. Out: what gives its results, natively from the second
time on, with a node of its own on the tape. What fails there has steps in front of it: it raises what the whole would.

>>> static = d2s.to_static(lambda x: x * 2.0)
>>> _ = static(d2s.to_tensor([1.0]))
>>> graph = static.variants[0][1].graph
>>> piece = Piece(graph.program, 1, graph, changes=False)
>>> [piece.plainly((d2s.to_tensor([k]),), {}).tolist() for k in (1.0, 2.0)], piece.call((d2s.to_tensor([3.0]),)).tolist()
([[2.0], [4.0]], [6.0])
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from d2s.autodiff.active import active_values
from d2s.autodiff.mode import recording
from d2s.eager.tensor import Tensor
from d2s.errors import D2SError, InternalError, MismatchError, PythonIntOverflow, TooDeep
from d2s.ir.program import Program
from d2s.jit.graph import Graph
from d2s.jit.parting import renamed, without_stores
from d2s.runtime import host, interpreter

Leaf = tuple[str, Any]


def unwritten(error: D2SError) -> D2SError:
    """An op's error behind a step: nothing of what the call had changed by then is written."""
    hint = "put what may fail in front: what the call had changed by then is not written"
    return type(error)(error.code, error.message, where=error.where, hint=hint)


class Piece:
    """Nodes between steps; natively from the second time on. Given are tensors and Python numbers."""

    def __init__(self, program: Program, carried: int, around: Graph, changes: bool) -> None:
        self._around, self._program, self._carried, self._changes = around, program, carried, changes
        self._graph = around.part(program, carried)
        self._apart: dict[tuple[int, ...], Piece] = {}
        self._entry: Any = None
        self.call: Callable[[tuple[Any, ...]], Any] = lambda given: None

    def plainly(self, given: tuple[Any, ...], leaves: Mapping[Leaf, Any]) -> Any:
        """The same by Python, which finds out why a native call declined, and has the next one be none of these."""
        if self._entry:
            self._entry.declined()
        run = host.Run(leaf=lambda kind, at: at if kind == "outside" else leaves[kind, at])
        try:
            with host.running(run):
                found = self._graph([x if isinstance(x, Tensor) else Tensor(np.asarray(x)) for x in given])
        except (PythonIntOverflow, TooDeep, MismatchError):
            raise
        except D2SError as error:
            raise (unwritten(error) if self._changes and not run.left else error) from error.__cause__
        if self._entry is None:
            without = without_stores(self._program)
            self._entry = (
                self._graph.entry(given) if without is self._program else self._graph.beside(without, self._carried, given)
            )
            self.call = self._entry.call if self._entry else self.call
        return found[0] if len(found) == 1 else tuple(found)

    def told_apart(self, given: tuple[Any, ...], leaves: Mapping[Leaf, Any]) -> Any:
        """The same where several of what is given may be one tensor: then it is one input."""
        first: dict[int, int] = {}
        same = tuple(first.setdefault(id(x), n) if isinstance(x, Tensor) else n for n, x in enumerate(given))
        if len(first) + sum(not isinstance(x, Tensor) for x in given) == len(given):
            found = self.call(given)
            return self.plainly(given, leaves) if found is None else found
        if same not in self._apart:
            inputs = self._program.inputs
            into = {v: inputs[n] for v, n in zip(inputs, same, strict=True)}
            kept = tuple(v for v in inputs if into[v] is v)
            program = Program(self._program.name, kept, renamed(self._program.nodes, into), self._program.outputs)
            self._apart[same] = Piece(program, self._carried, self._around, self._changes)
        piece, own = self._apart[same], tuple(x for n, x in enumerate(given) if same[n] == n)
        found = piece.call(own)
        return piece.plainly(own, leaves) if found is None else found


class Ending:
    """A path that ends in an exception, behind steps: run node by node, for nobody waits for it."""

    def __init__(self, path: Program, around: Graph) -> None:
        self._path, self._around = path, around

    def __call__(self, given: Sequence[Any], objects: Sequence[bool], leaves: Mapping[Leaf, Any]) -> None:
        run = host.Run(leaf=lambda kind, at: at if kind == "outside" else leaves[kind, at])
        pairs = list(zip(given, objects, strict=True))
        arrays = [run.keep(x) if held else x.array if isinstance(x, Tensor) else np.asarray(x) for x, held in pairs]
        wanting = {v for v, x in zip(self._path.inputs, given, strict=True) if isinstance(x, Tensor) and not x.stop_gradient}
        run.wanting = active_values(self._path, wanting, self._around.stopped) if recording() else wanting
        with host.running(run):
            interpreter.run(self._path, arrays)
        raise InternalError("D2S9001", "a path that ends in an exception went on")
