"""Where a statement that may be caught raises on one answer to a tensor's question only: runs of it, one for each answer.

In: what a run recorded, and the answers decided so far. Out: the same symbols for the same work in the next run, and the arm
that was decided on instead of a `cond`.

>>> attempt = Attempt(None)
>>> attempt.decided(0, True).decisions
{0: True}
"""

from collections.abc import Iterator
from typing import Any

from d2s.errors import CaptureError
from d2s.ir.program import Node
from d2s.ops import OPS

Recorded = tuple[str, Any, Node]  # an op, its results as symbols, its node


class Forked(BaseException):
    """An arm raised: the statement around is to be run for each answer. `place` counts the questions before this one."""

    def __init__(self, test: Any = None, place: int = -1) -> None:
        super().__init__()
        self.test, self.place = test, place


class Attempt:
    """One run of a protected statement, on the path that `tracer` records."""

    def __init__(self, tracer: Any, decisions: dict[int, bool] | None = None, recorded: "list[Recorded] | None" = None) -> None:
        self.tracer, self.decisions = tracer, decisions or {}
        self.before = list(recorded or [])  # to be given again
        self.recorded: list[Recorded] = []
        self.asked = 0
        self.ends_trip = False  # whether all that is raised is handed on by a loop, whatever it is
        self.arms: dict[Any, int] = {}  # where it is recorded, and which question that is an answer to
        self.around: list[tuple[Attempt, int]] = []  # runs of statements around, and which question each comes to next

    def decided(self, place: int, side: bool) -> "Attempt":
        """The run after this one, once a question is decided."""
        found = Attempt(self.tracer, self.decisions | {place: side}, self.recorded)
        found.arms, found.around, found.ends_trip = dict(self.arms), self.around, self.ends_trip
        return found

    def on(self, tracer: Any) -> "Attempt":
        """The same in the arm of the question that was decided last."""
        self.tracer = tracer
        self.arms[tracer] = max(self.decisions)
        return self

    def is_before(self, arm: Any) -> bool:
        """Whether the question that an arm answers was not asked yet in this run: nothing is known from it.

        A statement around may run in the arms of questions that were this one's when it was run before.
        """
        asked = sum(place < self.asked for place in self.decisions)
        others = self.around if asked < len(self.decisions) else []
        return self.arms.get(arm, -1) >= self.asked or any(run.arms.get(arm, -1) >= n + asked for run, n in others)

    def __enter__(self) -> None:
        self.tracer.root.attempts.append(self)

    def __exit__(self, *_: object) -> None:
        self.tracer.root.attempts.pop()

    def question(self) -> int:
        self.asked += 1
        return self.asked - 1

    def again(self, op: str, count: int) -> "Recorded | None":
        """What the run before recorded here, with so many results; None where that was not so far."""
        if not self.before:
            return None
        known = self.before.pop(0)
        if known[0] != op or len(known[1]) != count:
            message = "a `try` or `with` whose statements do other things each time they are run"
            raise CaptureError("D2S1003", message, where=self.tracer.line(), hint="catch it outside of the captured function")
        return known

    def refuse_faults(self) -> None:
        """Of exceptions that only a run of an op can tell, none could be caught."""
        for _, _, node in self.recorded:
            for inner in _inside(node):
                if inner.op in OPS and _may_fail(inner):
                    message = f"'{inner.op}' inside a `try` or `with` may fail in a run, which a graph cannot catch"
                    raise CaptureError("D2S1003", message, where=inner.where, hint="put the `try` around the call")


def _inside(node: Node) -> Iterator[Node]:
    yield node
    for region in node.regions().values():
        yield from region.every_node()


def _may_fail(node: Node) -> bool:
    """A part whose places were compared with extents that are known has no fault left."""
    op = OPS[node.op]
    if node.op == "sliced" and all(isinstance(node.inputs[0].type.shape[axis], int) for axis in node.attrs["axes"]):
        return False
    return bool(op.has("fault") or op.requires([v.type for v in node.inputs], node.attrs))
