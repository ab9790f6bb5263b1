"""The Program a file was written from, if the file still says it.

Besides Paddle's ops our files hold the text of the Program, in a field Paddle skips. It is taken for true only if writing
that Program again gives the same bytes: so the ops win wherever the two disagree.

In: the bytes of a `.pdmodel`, what was decoded of them, the entries of the `.info`. Out: a Model without its arrays, or None.

>>> own_model(b"", {"notes": "", "blocks": []}, {}) is None
True
"""

import builtins
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from d2s.errors import D2SError, FormatError, Raised
from d2s.export import paddle_writer, protobuf
from d2s.export.model import Model, Parameter
from d2s.export.protobuf import Message
from d2s.ir.program import Program
from d2s.ir.text import parse
from d2s.ir.verify import verify
from d2s.ops import OPS

_LEAST = 8  # bytes an op takes in a file
_NONE = np.zeros(0)
_DAMAGE = (D2SError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def own_model(data: bytes, described: Message, info: Mapping[str, tuple[str, bool]]) -> tuple[Model, list[str]] | None:
    """The model, and the variables of its parameters; None where the notes do not say what the ops say."""
    notes = _notes(described)
    own = notes.get("d2s")
    if own is None:
        return None
    try:
        program = _program(own["program"])
        feeds, fetches = [str(n) for n in own["feeds"]], [str(n) for n in own["fetches"]]
        trainable = {v["name"]: not v["stop_gradient"] for v in described["blocks"][0]["vars"]}
        model = Model(program, feeds, {}, fetches, notes.get("notes", {}))
        for value in program.inputs[len(feeds) :]:
            model.parameters[value.name] = Parameter(_NONE, value.name, trainable.get(value.name, True))
        written, stored = paddle_writer.describe(model, limit=len(data) // _LEAST)
        names = list(stored)
        for name, parameter in zip(names, model.parameters.values(), strict=False):
            parameter.structured_name, parameter.trainable = info.get(name, (name, parameter.trainable))
    except _DAMAGE:
        return None
    return (model, names) if protobuf.encode("ProgramDesc", written) == data else None


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


def _program(text: str) -> Program:
    program = parse(text)
    for node in program.every_node():
        if node.op == "fail":
            node.attrs["error"] = _raised(node.attrs["error"])
    verify(program, lambda node: OPS[node.op].infer([v.type for v in node.inputs], node.attrs))
    return program


def _raised(text: str) -> Raised:
    """The exception a text names, if it is one of Python's own."""
    kind, _, message = text.partition(": ")
    found = getattr(builtins, kind, None)
    if isinstance(found, type) and issubclass(found, Exception) and not issubclass(found, UnicodeError):
        return Raised(found(message))
    return Raised(RuntimeError(message))
