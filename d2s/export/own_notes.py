"""The Program a file was written from, if the file still says it.

Besides Paddle's ops our files hold the text of the Program, in a field Paddle skips. It is taken for true only if writing
that Program again gives the same bytes: so the ops win wherever the two disagree.

In: the bytes of a `.pdmodel`, what was decoded of them, the entries of the `.info`. Out: a Model without its arrays, or None.

>>> own_model(b"", {"notes": "", "blocks": []}, {}) is None
True
"""

import ast
import builtins
import contextlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from d2s import errors
from d2s.errors import D2SError, FormatError, Raised
from d2s.export import paddle_writer, protobuf
from d2s.export.model import CHOSEN, JOINED, REPLACED, WRITTEN, Model, Parameter, Role, Training, outputs_of
from d2s.export.paddle_blocks import roles_of
from d2s.export.protobuf import Message
from d2s.ir.program import Node, Program
from d2s.ir.text import parse
from d2s.ir.verify import verify
from d2s.ops import OPS
from d2s.ops.draw import Draw
from d2s.ops.op import Op
from d2s.ops.own_gradient import backward_of
from d2s.reckoned import is_reckoned
from d2s.types import DType, Type, int64

_LEAST = 8  # bytes an op takes in a file
_MOST = 1 << 40  # of an attribute
_MOST_OF_A_KEY = 1000  # characters
_NONE = np.zeros(0)
_TAG = Type(int64, python=True)
_HOW = (WRITTEN, JOINED, REPLACED, *CHOSEN)
_DAMAGE = (D2SError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def own_model(data: bytes, described: Message, info: Mapping[str, Role]) -> tuple[Model, list[str]] | None:
    """The model, and the variables of its parameters; None where the notes do not say what the ops say."""
    notes = _notes(described)
    own = notes.get("d2s")
    if own is None:
        return None
    try:
        program = _program(own["program"])
        feeds, fetches = [str(n) for n in own["feeds"]], [str(n) for n in own["fetches"]]
        roles = roles_of(described)
        model = Model(program, feeds, {}, fetches, notes.get("notes", {}))
        for value in program.inputs[len(feeds) :]:
            model.parameters[value.name] = Parameter(_NONE, *roles.get(value.name, Role(value.name)))
        model.training = _training(own.get("training"), {value.name for value in program.inputs[len(feeds) :]})
        written, stored = paddle_writer.describe(model, limit=len(data) // _LEAST)
        written["notes"] = paddle_writer.notes_of(model, seals(described))
        names = list(stored)
        for name, parameter in zip(names, model.parameters.values(), strict=False):
            parameter.structured_name, parameter.trainable, parameter.kind = info.get(name, parameter.role)
    except _DAMAGE:
        return None
    if feeds != [v.name for v in program.inputs[: len(feeds)]]:
        return None
    return (model, names) if protobuf.encode("ProgramDesc", written) == data else None


def seals(described: Message) -> dict[str, Any]:
    """Digests of the files this one was written with; none where none are told."""
    found = _notes(described).get("d2s", {}).get("seals", {})
    return found if isinstance(found, dict) else {}


def user_notes(described: Message) -> dict[str, Any]:
    """What was given to be kept with the model."""
    found = _notes(described).get("notes", {})
    return found if isinstance(found, dict) else {}


def _notes(described: Message) -> dict[str, Any]:
    try:
        held = json.loads(described["notes"] or "{}")
    except (ValueError, RecursionError):
        raise FormatError("D2S3001", "our notes in the file are damaged") from None
    if not isinstance(held, dict) or not isinstance(held.get("d2s", {}), dict):
        raise FormatError("D2S3001", "our notes in the file are damaged")
    return held


def _training(held: Any, stored: Set[str]) -> Training | str | None:
    """What the file says of training, if it changes values that are stored; its Program is read where training begins."""
    if held is None or isinstance(held, str):
        return held
    changes = [(str(name), str(how)) for name, how in held["changes"]]
    names = {name for name, how in changes if how in _HOW}
    if len(names) < len(changes) or not names <= stored:
        raise FormatError("D2S3001", "what is said of training does not fit the program")
    return Training(str(held["program"]), int(held["fed"]), changes, held["returns"])


def in_training(model: Model, training: Training) -> Program:
    """The Program of training; FormatError if it does not fit the model, or no file could hold it as its own ops.

    What is written in ops is checked on that way, and kernels trust it: in notes nothing may stand that is not.
    """
    try:
        program, changes = _program(training.program), training.changes
        inputs, outputs = program.inputs, program.outputs
        feeds, held, behind = inputs[: training.fed], inputs[training.fed :], outputs[len(outputs) - outputs_of(changes) :]
        types = {value.name: value.type for value in model.program.inputs[len(model.feeds) :]}
        become = [of for name, how in changes for of in ([_TAG] if how in CHOSEN else []) + [types[name]]]
        fits = 0 <= training.fed <= len(inputs) and become == [v.type for v in behind]
        fits = fits and all(types[v.name] == v.type for v in held)
        fetches = [f"output_{n}" for n in range(len(outputs))]
        whole = Model(program, [v.name for v in feeds], {v.name: model.parameters[v.name] for v in held}, fetches)
        paddle_writer.describe(whole, limit=len(training.program))
    except _DAMAGE as error:
        message = error.message if isinstance(error, D2SError) else repr(error)
        raise FormatError("D2S3001", f"what is said of training is no program of a file: {message}") from None
    if not fits:
        raise FormatError("D2S3001", "what is said of training does not fit the program")
    return program


def _program(text: str) -> Program:
    program = parse(text)
    for node in program.every_node():
        if node.op == "fail":
            node.attrs["error"] = _raised(node.attrs["error"])
        if node.op == "renamed":  # kernels trust its names: a file with loops that move extents is read by its ops alone
            raise FormatError("D2S3001", "a tensor has other names for its extents, which notes cannot tell")
    for value in program.inputs:  # what is reckoned is not asked of a caller
        if any(map(is_reckoned, value.type.shape)):
            raise FormatError("D2S3001", f"'{value.name}' is {value.type}, which nobody writes")
    verify(program, _typed)
    return program


def _typed(node: Node) -> tuple[Type, ...]:
    """The types of a node's results, if its attributes are what capture would have written: kernels trust them."""
    op, given = OPS[node.op], [v.type for v in node.inputs]
    _rule(_takes_rightly(op, node, given), node)
    if op.has("canonical"):
        usual = {name: value for name, value in op.attributes.items() if value is not inspect.Parameter.empty}
        _rule(op.canonical(given, usual | node.attrs) == node.attrs, node)
    rank = len(given[0].shape) if given else 0
    for name, value in node.attrs.items():
        if name in _RULES:
            _rule(_RULES[name](value, rank), node)
    if isinstance(op, Draw):
        _rule(_draws_rightly(op, node, given), node)
    if node.op == "own_gradient":
        _rule(_is_backward(node.attrs["backward"], given), node)
    if node.op == "pad_own":
        widths = [*node.attrs["lows"], *node.attrs["highs"]]
        _rule(all(isinstance(d, str) or d > w for d, w in zip(given[0].shape * 2, widths, strict=True)), node)
    return op.infer(given, node.attrs)


_SINGLE = {"list_get": "index", "list_set": "index", "list_full": "count", "row": "index", "cut": "start"}


def _takes_rightly(op: Op, node: Node, given: Sequence[Type]) -> bool:
    """Whether there are as many inputs as an op takes, lists where it takes lists, and single ints for places and lengths."""
    if node.regions() or node.op in ("again", "fail"):  # which take whatever is around them
        return True
    names = op.names(len(given))
    if len(names) != len(given) or (len(given) > len(op.arrays) and not op.variadic):
        return False
    single = [of for name, of in zip(names, given, strict=True) if name == _SINGLE.get(node.op)]
    single += given[len(given) - len(node.attrs.get("finds", ())) :]
    ints = all(of.dtype is int64 and not of.shape for of in single)
    axis = node.attrs.get("axis")
    if node.op in ("cut", "extent", "rotate") and (axis is not None or node.op != "rotate"):  # of one axis that there is
        ints = ints and type(axis) is int and axis < len(given[0].shape)
    return ints and all(of.listed == (name == "items") for name, of in zip(names, given, strict=True))


def _is_backward(held: Any, given: Sequence[Type]) -> bool:
    """Whether a user's backward is one, from the cotangent and what it reads to the gradients of what it is the gradient of."""
    if not (
        isinstance(held, tuple) and list(map(type, held)) == [str, str, tuple] and all(type(one) is bool for one in held[2])
    ):
        return False
    made = backward_of(held)
    verify(made.program, _typed)
    count = len(made.gives)
    learnt = [of for of, gives in zip(given[1 : count + 1], made.gives, strict=False) if gives]
    inputs, outputs = ([v.type for v in values] for values in (made.program.inputs, made.program.outputs))
    return len(given) > count and inputs == [given[0], *given[count + 1 :]] and outputs == learnt


def _rule(holds: bool, node: Node) -> None:
    if not holds:
        raise FormatError("D2S3001", f"inputs or attributes of {node.op} that nobody writes", where=node.where)


_DRAWN = {"uniform": "f", "normal": "f", "randint": "i", "randperm": "if"}  # kinds of numbers


def _draws_rightly(op: Draw, node: Node, given: Sequence[Type]) -> bool:
    """Whether a draw is told single numbers, of extents and dtypes there are."""
    attrs, kinds = node.attrs, _DRAWN.get(node.op.removesuffix("_as"), "")
    dims = attrs.get("shape", (attrs.get("n", 0),))
    sizes = isinstance(dims, tuple) and len(dims) <= 32 and all(type(d) is int and _is_count(d, 0) for d in dims)
    single = all(not of.shape for name, of in zip(op.arrays, given, strict=True) if name not in ("x", "like"))
    of_dtype = not kinds or (isinstance(attrs["dtype"], DType) and attrs["dtype"].kind in kinds)
    of_x = "x" not in op.arrays or given[2].dtype.kind == "f"
    bools = all(type(attrs[name]) is bool for name in ("wide", "replacement") if name in attrs)
    counts, rank = attrs.get("num_samples", 1), len(given[2].shape) if len(given) > 2 else 0
    taken = type(counts) is int and 0 < counts < 1 << 31 and (node.op != "multinomial" or rank in (1, 2))
    return list(given[:2]) == [Type(int64)] * 2 and sizes and single and of_dtype and of_x and bools and taken


def _is_axis(value: Any, rank: int) -> bool:
    return value is None or isinstance(value, tuple) or (type(value) is int and 0 <= value <= rank)


def _are_axes(value: Any, rank: int) -> bool:
    return all(type(a) is int and 0 <= a < rank for a in value) and list(value) == sorted(set(value))


def _are_widths(value: Any, rank: int) -> bool:
    return len(value) == rank and all(type(n) is int and 0 <= n < _MOST for n in value)


def _is_count(value: Any, rank: int) -> bool:
    return isinstance(value, str) or (type(value) is int and 0 <= value < 1 << 48)


_RULES: dict[str, Callable[[Any, int], bool]] = {
    "axis": _is_axis, "channel": _is_axis, "axes": _are_axes, "dropped": _are_axes, "lows": _are_widths, "highs": _are_widths,
    "count": _is_count, "padding_idx": lambda value, rank: value is None or (type(value) is int and value >= 0),
    "counts": lambda value, rank: all(_is_count(n, rank) for n in value),
    "dims": lambda value, rank: type(value) is int and 1 <= value <= rank,
    "steps": lambda value, rank: all(type(n) is int and 0 < abs(n) < _MOST for n in value),
    "starts": lambda value, rank: all(type(n) is int and abs(n) < _MOST for n in value),
    "front": lambda value, rank: type(value) is bool, "shift": lambda value, rank: type(value) is int,
    "step": lambda value, rank: type(value) is int and value != 0,
}  # fmt: skip


_CODED = r"\[(D2S\d{4})\] (.*?)(?:\n  at .*?)?(?:\n  way out: (.*))?"


def _raised(text: str) -> Raised:
    """The exception a text names, if it is one of Python's own, or one of d2s."""
    kind, _, message = text.partition(": ")
    coded, ours = re.fullmatch(_CODED, message, re.DOTALL), getattr(errors, kind, None)
    if coded and coded[1] in errors.PAGES and isinstance(ours, type) and issubclass(ours, D2SError):
        error = ours(coded[1], coded[2], hint=coded[3] or "")
        error.args = (message,)  # the text is the whole text
        return Raised(error)
    found = getattr(builtins, kind, None)
    if found is KeyError and len(message) < _MOST_OF_A_KEY:  # whose text is its argument as Python writes it
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return Raised(KeyError(ast.literal_eval(message)))
    if isinstance(found, type) and issubclass(found, Exception) and not issubclass(found, UnicodeError):
        return Raised(found(message))
    return Raised(RuntimeError(message))
