"""Who gives `op(...)` its meaning: the eager interpreter, or the recorder of a capture; and how unlike dtypes meet.

In: an op, inputs (tensors of the current handler, eager tensors, Python numbers), attributes. Out: the handler's results.
A Python number is weak: it takes the dtype of the tensor it meets, unless it is a float and the tensor holds none.

>>> from d2s import types
>>> meet([types.Type(types.int32, (4,)), types.Type(types.float64, python=True)])
f32[]
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from d2s import types
from d2s.errors import D2SError, DTypeError, kind_of
from d2s.types import NUMBERS, Type

if TYPE_CHECKING:
    from d2s.ops.op import Op


PYTHON_OPERATORS = {"add", "subtract", "multiply", "neg", "equal", "not_equal", "less_than", "less_equal", "where"}
PYTHON_OPERATORS |= {"greater_than", "greater_equal", "divide", "floor_divide", "remainder", "pow"}  # what `i + 1` may come to
PYTHON_OPERATORS |= {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "abs"}


_OF_BOOLS = {"equal", "not_equal", "bitwise_and", "bitwise_or", "bitwise_xor"}  # on two Python bools, they stay bools


class Handler(Protocol):
    """An interpreter of ops: eager, or recording."""

    def line(self) -> str: ...  # the user's `file:line`, where errors do not show it anyway
    def type_of(self, value: Any) -> Type | None: ...
    def constant(self, number: bool | int | float, type: Type) -> Any: ...
    def run(self, op: "Op", inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any: ...


class Eager(Handler, Protocol):
    """The handler where nothing is being captured: it may give an op a `door`, an entry of its own that is tried first."""

    @property
    def classes(self) -> Any: ...  # what native calls make; None where there are none
    def known(self, op: "Op", inputs: Sequence[Any], attrs: dict[str, Any]) -> Any: ...
    def learn(self, op: "Op", inputs: Sequence[Any], attrs: dict[str, Any]) -> None: ...


class Handlers(threading.local):
    base: Eager

    def __init__(self) -> None:
        self.stack: list[Handler] = []


handlers = Handlers()


def install(handler: Eager) -> None:
    """Makes `handler` the meaning of ops where nothing is being captured."""
    Handlers.base = handler


def current() -> Handler:
    return handlers.stack[-1] if handlers.stack else handlers.base


@contextlib.contextmanager
def handling(handler: Handler) -> Iterator[None]:
    """Gives ops another meaning in a `with` block of this thread."""
    handlers.stack.append(handler)
    try:
        yield
    finally:
        handlers.stack.pop()


def apply(op: "Op", inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Promotes the inputs and runs the op under the current handler."""
    handler = current()
    if handler is handlers.base:
        result = handlers.base.known(op, inputs, attrs)
        if result is not None:
            return result
    try:
        typed = [_typed(op, i, x, handler) for i, x in enumerate(inputs)]
        found = _promoted(op, typed, handler) if op.promotes else [x for _, x in typed]
        result = handler.run(op, tuple(found), op.canonical([handler.type_of(x) for x in found], attrs))
    except D2SError as error:
        raise error.at(handler.line()) from None
    if handler is handlers.base:
        handlers.base.learn(op, inputs, attrs)
    return result


def _typed(op: "Op", position: int, value: Any, handler: Handler) -> tuple[Type, Any]:
    """The type of an input. A number is one only where others can tell what dtype it takes."""
    found = handler.type_of(value)
    if found is None and isinstance(value, NUMBERS) and op.promotes and position >= op.kept:
        return Type(types.python_dtype(value), python=True), value
    if found is None or (found.python and not op.promotes and op.name != "cast"):
        name, got = op.arrays[min(position, len(op.arrays) - 1)], kind_of(value)
        allowed = " or a number" if op.promotes and position >= op.kept else ""
        raise DTypeError("D2S0001", f"{op.name}(): argument '{name}' expects a Tensor{allowed}, got {got}")
    return found, value


def _promoted(op: "Op", typed: Sequence[tuple[Type, Any]], handler: Handler) -> list[Any]:
    kept, rest = typed[: op.kept], typed[op.kept :]
    to = meet([t for t, _ in rest], op.name)
    if to.python and op.name not in PYTHON_OPERATORS:
        raise DTypeError("D2S0001", f"{op.name}({', '.join(op.arrays)}): all are numbers, one is to be a Tensor")
    if all(isinstance(x, NUMBERS) for _, x in rest) or (to.python and not all(t.python for t, _ in kept)):
        if not kept:
            raise DTypeError("D2S0001", f"{op.name}({', '.join(op.arrays)}): all are numbers, one is to be a Tensor")
        to = Type(types.float32 if to.dtype.kind == "f" else to.dtype)
    if op.whole is not None and to.dtype.kind == "i":
        to = Type(op.whole)
    return [x for _, x in kept] + [_convert(x, t, to, handler) for t, x in rest]


def _convert(value: Any, have: Type, to: Type, handler: Handler) -> Any:
    if isinstance(value, NUMBERS):
        types.array_of(value, to.dtype)
        return handler.constant(value.item() if isinstance(value, np.generic) else value, to)
    if have.dtype is to.dtype and (to.python or not have.python):
        return value
    if have.python and have.dtype.kind == to.dtype.kind == "i" and to.dtype.size < 8:
        message = f"an int of run time does not go into {to.dtype.name} unseen"
        raise DTypeError("D2S1003", message, hint="x.astype('int64') the tensor")
    return handler.run(OPS["cast"], (value,), {"dtype": to.dtype, "python": to.python})


def meet(operands: Sequence[Type], name: str = "operator") -> Type:
    """The 0-D type operands are brought to: `python` where all are Python numbers."""
    tensors = {t.dtype for t in operands if not t.python}
    weak = max((t.dtype for t in operands if t.python), key=lambda d: "bif".index(d.kind), default=types.bool_)
    if not tensors:
        return Type(types.int64 if weak is types.bool_ and name not in _OF_BOOLS else weak, python=True)
    if len(tensors) > 1 and any(d.kind != "f" for d in tensors):
        listed = " and ".join(sorted(d.name for d in tensors))
        raise DTypeError("D2S0003", f"{name}(): tensors of {listed} do not mix", hint="x.astype(...) one of them")
    strong = max(tensors, key=lambda d: d.size)
    if weak.kind == "f" and strong.kind != "f":
        return Type(types.float32)
    return Type(types.int64 if weak.kind == "i" and strong.kind == "b" else strong)


OPS: dict[str, "Op"] = {}


def either(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """What is made where a condition of a run holds, or else; in each arm its nodes, of a `cond`."""
    around: Any = current()
    regions, found = [around.region(name) for name in ("then", "otherwise")], []
    for region, made in zip(regions, (then, otherwise), strict=True):
        with handling(region):
            found.append([made()])
    reads, arms = around.adopt(regions, found)
    return around.choose(around.resolve(condition), reads, *arms)[0]
