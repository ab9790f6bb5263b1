"""Questions that a capture answers itself, where no graph holds what follows from either answer: a step under an `if`.

In: the condition of an `if` at the top level of a capture one of whose arms was refused. Out: the same function captured for
one answer. Of numbers the question is kept as an expression of Python's, which each call asks before it runs; of tensors the
Program asks, and a run that finds the other answer ends there, having changed nothing, and the capture for that one runs.

>>> class Trained:
...     calls = 0
>>> net = d2s.nn.Linear(1, 1)
>>> sgd = d2s.optimizer.SGD(0.5, parameters=net.parameters())
>>> @d2s.to_static
... def train(x):
...     Trained.calls += 1
...     net(x).sum().backward()
...     if Trained.calls % 3 == 0:
...         sgd.step()
...         sgd.clear_grad()
>>> for _ in range(12):
...     train(d2s.to_tensor([[1.0]]))
>>> len(train.recompiles()) < 6
True
"""

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from d2s.errors import CaptureError, Raised
from d2s.ir.program import Node, Value
from d2s.ops.dispatch import handling

MOST = 16  # questions that one capture answers
_LONG = 2000  # characters of a question

Reader = Callable[[Sequence[Any]], Any]
QuestionKey = tuple[str, int]  # the line that what is asked was computed at, and how many from there were asked before


class UnderAnIf(CaptureError):
    """What a graph holds at its top level only; `side` is the answer that it follows from."""

    side = True


class Unheld(CaptureError):
    """A container from outside would hold what depends on the path; `container` is which."""

    container: Any = None
    side = True

    def plainly(self) -> CaptureError:
        """The same for users."""
        return CaptureError(self.code, self.message, where=self.where, hint=self.hint, columns=self.columns)


class Undecided(CaptureError):
    """What an `if` asks has to be decided, at the user's line `asked`; `place` counts the questions before it.

    `question` is None of tensors: then `side` is the answer that the function was written for.
    """

    place: int
    question: "Question | None"
    side: bool
    asked: str
    known_by: "QuestionKey"


class OtherAnswer(Exception):
    """A run has found the other answer to a question that its capture has decided: which of those of tensors."""

    @property
    def place(self) -> int:
        return int(self.args[0])


class Question(NamedTuple):
    """A question of numbers: an expression with a place for each input, and how a call has these."""

    text: str
    sources: tuple[tuple[str, int], ...]
    readers: tuple[Reader, ...]
    where: str

    def value(self, leaves: Sequence[Any]) -> Any:
        """What a call finds."""
        names = [f"v{n}" for n in range(len(self.readers))]
        return eval(self.text.format(*names), {n: read(leaves) for n, read in zip(names, self.readers, strict=True)})

    def answer(self, leaves: Sequence[Any]) -> bool | None:
        """The same as an answer; None where Python has none."""
        try:
            return bool(self.value(leaves))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return None


class Assumed(NamedTuple):
    """The answer to a question of tensors that a capture stands for, asked at the user's line `where`."""

    answer: bool
    where: str
    known_by: QuestionKey  # in all captures of a function, of which some ask it in another place


class Answered(NamedTuple):
    """A question and the answer that a capture stands for."""

    question: Question
    answer: bool

    def change(self, leaves: Sequence[Any]) -> str:
        """What is another now; empty if nothing."""
        now = self.question.answer(leaves)
        return "" if now is self.answer else f"{described(self.question.where)}: {self.answer} → {now}"


def described(where: str) -> str:
    """What is asked at one of the user's lines."""
    path, _, line = where.rpartition(":")
    return f"what is asked at {os.path.basename(path)}:{line}"


class Answers:
    """The questions at the top level of one capture: those it decides, by place, and of tensors the answers it is to assume.

    `unheld`: those, too, behind which a container from outside would hold what depends on the path.
    """

    def __init__(self, decided: dict[int, bool], unheld: bool) -> None:
        self.decided, self.asked, self.unheld = decided, 0, unheld
        self.of_numbers: list[Answered] = []
        self.of_tensors: list[Assumed] = []

    def place(self) -> int:
        """The place of the question that is asked now."""
        self.asked += 1
        return self.asked - 1

    def take(self, tracer: Any, test: Any, place: int) -> bool:
        """The answer to a question that is decided; the capture depends on it."""
        answer = self.decided[place]
        question = question_of(tracer, test)
        if question is not None:
            self.of_numbers.append(Answered(question, answer))
        else:
            _ask(tracer, test, answer, len(self.of_tensors))
            self.of_tensors.append(Assumed(answer, tracer.line(), self._key(tracer, test)))
        tracer.facts += tracer.consequences(test.value, answer)
        return answer

    def undecided(self, tracer: Any, test: Any, place: int, refused: CaptureError) -> CaptureError:
        """Why a question could not be held: as it is, where nothing but a run can answer it."""
        if not isinstance(refused, UnderAnIf) and not (self.unheld and isinstance(refused, Unheld)):
            return refused
        question = question_of(tracer, test)
        if question is None and _has_acted(tracer.builder.nodes):
            hint = "ask before all steps and prints of the function, or call it once for each step"
            return CaptureError(refused.code, refused.message, where=refused.where, hint=hint, columns=refused.columns)
        found = Undecided(refused.code, refused.message, where=refused.where, hint=refused.hint, columns=refused.columns)
        found.place, found.question, found.side, found.asked = place, question, refused.side, tracer.line()
        found.known_by = self._key(tracer, test)
        return found

    def _key(self, tracer: Any, test: Any) -> QuestionKey:
        """What a question of tensors is known by that is asked now."""
        node = _makers(tracer.builder.nodes).get(tracer.resolve(test))
        where = node.where if node else tracer.line()
        return where, sum(one.known_by[0] == where for one in self.of_tensors)


def answers_of(tracer: Any) -> Answers | None:
    """Of the capture, where a question is asked at its top level, and for the first time."""
    here = tracer.parent is None and not any(run.decisions for run in tracer.attempts)
    return tracer.answers if here else None  # type: ignore[no-any-return]


def _ask(tracer: Any, test: Any, answer: bool, place: int) -> None:
    """Has a run that finds another answer end here."""
    ended = tracer.region("other"), tracer.region("same")
    with handling(ended[0]):
        ended[0].add("fail", [], [], {"error": Raised(OtherAnswer(place))})
    regions = ended[::-1] if answer else ended
    reads, (then, otherwise) = tracer.adopt(regions, [[], []])
    tracer.choose(tracer.resolve(test), reads, then, otherwise)


def _has_acted(nodes: Sequence[Node]) -> bool:
    """Whether a run that ended here could not be made once more."""
    inner = [n for node in nodes for region in node.regions().values() for n in region.every_node()]
    return any(node.op in ("host", "update") for node in (*nodes, *inner))


# --- questions of numbers


def question_of(tracer: Any, asked: Any) -> Question | None:
    """What is asked, as an expression of Python numbers that each call has; None where it depends on more."""
    text = _Text(tracer)
    try:
        found = text.of(tracer.resolve(asked))
    except _NoText:
        return None
    sources = tuple(tracer.source(value) for value in text.inputs)
    readers = tuple(_reader(tracer, *source) for source in sources)
    return Question(found, sources, readers, tracer.line()) if sources else None


def _reader(tracer: Any, kind: str, n: int) -> Reader:
    if kind == "argument":
        return lambda leaves: leaves[n]
    if kind == "read":
        read = list(tracer.inputs.values())[n].read
        return lambda leaves: read()
    told = list(tracer.told.values())[n].read
    return lambda leaves: told(leaves).item()


class _NoText(Exception):
    """It depends on more than on numbers."""


class _Text:
    """Values as Python says them; `inputs` in the order of their places."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.inputs: list[Value] = []
        self.known: dict[Value, str] = {}
        self.makers = _makers(tracer.builder.nodes)

    def of(self, value: Value) -> str:
        if value not in self.known:
            found = self._found(value)
            if len(found) > _LONG:
                raise _NoText
            self.known[value] = found
        return self.known[value]

    def _found(self, value: Value) -> str:
        if not value.type.python:
            raise _NoText
        node = self.makers.get(value)
        if node is None:
            if self.tracer.source(value) is None:
                raise _NoText
            self.inputs.append(value)
            return f"{{{len(self.inputs) - 1}}}"
        if node.op == "constant":
            return _literal(node.attrs["value"])
        if node.op == "cond":
            return self._chosen(node, value)
        given = [self.of(v) for v in node.inputs]
        if node.op == "cast":
            return f"{_KINDS[value.type.dtype.kind]}({given[0]})"
        if node.op in _INFIX and len(given) == 2:
            return f"({given[0]} {_INFIX[node.op]} {given[1]})"
        if node.op in _BEFORE:
            return f"{_BEFORE[node.op]}({given[0]})"
        raise _NoText

    def _chosen(self, node: Node, value: Value) -> str:
        """Of a condition the arm that is taken."""
        at, arms = node.outputs.index(value), []
        for region in node.regions().values():
            self.known |= {inner: self.of(v) for inner, v in zip(region.inputs, node.inputs[1:], strict=True) if _is_number(v)}
            self.makers |= _makers(region.nodes)
            arms.append(self.of(region.outputs[at]))
        return f"({arms[0]} if {self.of(node.inputs[0])} else {arms[1]})"


def _makers(nodes: Sequence[Node]) -> dict[Value, Node]:
    return {v: node for node in nodes for v in node.outputs}


def _is_number(value: Value) -> bool:
    return value.type.python


def _literal(number: bool | int | float) -> str:
    if isinstance(number, float) and not math.isfinite(number):
        return f"float('{number}')"
    return f"({number!r})"


_KINDS = {"b": "bool", "i": "int", "f": "float"}
_BEFORE = {"abs": "abs", "negative": "-"}
_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "equal": "==",
    "not_equal": "!=",
    "less_than": "<",
    "less_equal": "<=",
    "greater_than": ">",
    "greater_equal": ">=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
}
