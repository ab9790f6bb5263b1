"""Who gives `op(...)` its meaning: the eager interpreter, or the recorder of a capture; and how unlike dtypes meet.

In: an op, inputs (tensors of the current handler, eager tensors, Python numbers), attributes. Out: the handler's results.
A Python number is weak: it takes the dtype of the tensor it meets, unless it is a float and the tensor holds none.

>>> from d2s import types
>>> meet([types.Type(types.int32, (4,)), types.Type(types.float64, python=True)])
f32[]
"""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from d2s import types
from d2s.errors import ArgumentError, DTypeError
from d2s.types import DType, Type

if TYPE_CHECKING:
    from d2s.ops.op import Op

NUMBERS = (bool, int, float)


class Handler(Protocol):
    """An interpreter of ops: eager, or recording."""

    def type_of(self, value: Any) -> Type | None: ...
    def constant(self, number: bool | int | float, type: Type) -> Any: ...
    def run(self, op: "Op", inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any: ...


class _Handlers(threading.local):
    base: Handler

    def __init__(self) -> None:
        self.stack: list[Handler] = []


_handlers = _Handlers()


def install(handler: Handler) -> None:
    """Makes `handler` the meaning of ops where nothing is being captured."""
    _Handlers.base = handler


def current() -> Handler:
    return _handlers.stack[-1] if _handlers.stack else _handlers.base


@contextlib.contextmanager
def handling(handler: Handler) -> Iterator[None]:
    """Gives ops another meaning in a `with` block of this thread."""
    _handlers.stack.append(handler)
    try:
        yield
    finally:
        _handlers.stack.pop()


def apply(op: "Op", inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Promotes the inputs and runs the op under the current handler."""
    handler = current()
    typed = [_typed(op, i, x, handler) for i, x in enumerate(inputs)]
    found = _promoted(op, typed, handler) if op.promotes else [x for _, x in typed]
    return handler.run(op, tuple(found), op.canonical([handler.type_of(x) for x in found], attrs))


def _typed(op: "Op", position: int, value: Any, handler: Handler) -> tuple[Type, Any]:
    """The type of an input; a Python number stays one as long as it meets no tensor."""
    found = handler.type_of(value)
    if found is None and isinstance(value, NUMBERS):
        found = Type(types.PYTHON_DTYPES[type(value)], python=True)
        if not op.promotes:
            value = handler.constant(value, found)
    if found is None:
        name, got = op.arrays[min(position, len(op.arrays) - 1)], type(value).__name__
        raise DTypeError("D2S0001", f"{op.name}(): argument '{name}' expects a Tensor or a number, got {got}")
    return found, value


def _promoted(op: "Op", typed: Sequence[tuple[Type, Any]], handler: Handler) -> list[Any]:
    kept = typed[: op.kept]
    to = meet([t for t, _ in typed[op.kept :]], op.name)
    return [x for _, x in kept] + [_convert(x, t, to, handler) for t, x in typed[op.kept :]]


def _convert(value: Any, have: Type, to: Type, handler: Handler) -> Any:
    if isinstance(value, NUMBERS):
        return handler.constant(check_number(value, to.dtype), to)
    if have.dtype is to.dtype and (to.python or not have.python):
        return value
    return handler.run(OPS["cast"], (value,), {"dtype": to.dtype, "python": to.python})


def check_number(value: bool | int | float, to: DType) -> bool | int | float:
    """The number, if the dtype can hold it."""
    if to.kind == "i" and not -(1 << 8 * to.size - 1) <= value < 1 << (8 * to.size - (to.name != "uint8")):
        raise ArgumentError("D2S0004", f"the Python number {value} does not fit into {to.name}")
    return value


def meet(operands: Sequence[Type], name: str = "operator") -> Type:
    """The 0-D type operands are brought to: `python` where all are Python numbers."""
    tensors = {t.dtype for t in operands if not t.python}
    weak = max((t.dtype for t in operands if t.python), key=lambda d: "bif".index(d.kind), default=types.bool_)
    if not tensors:
        return Type(types.int64 if weak is types.bool_ and name not in ("equal", "not_equal") else weak, python=True)
    if len(tensors) > 1 and any(d.kind != "f" for d in tensors):
        listed = " and ".join(sorted(d.name for d in tensors))
        raise DTypeError("D2S0003", f"{name}(): tensors of {listed} do not mix", hint="x.astype(...) one of them")
    strong = max(tensors, key=lambda d: d.size)
    if weak.kind == "f" and strong.kind != "f":
        return Type(types.float32)
    return Type(types.int64 if weak.kind == "i" and strong.kind == "b" else strong)


OPS: dict[str, "Op"] = {}
