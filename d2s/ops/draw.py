"""What every draw of random numbers has: a place in the one stream it takes blocks from, and arguments that are checked.

An op that draws reads the seed and the counter it starts at like any other input. Where they come from,
`runtime/random_state.py` says: each call takes the blocks it needs. While a function is being captured, seed and counter are
values of the graph: a run takes them from the stream and moves it on as far as it has drawn.

In: a public function that checks a user's arguments. Out: an op that also reads `seed` and `counter`.

>>> from d2s.ops import OPS
>>> OPS["uniform"].arrays
('seed', 'counter', 'low', 'high')
"""

import dataclasses
import inspect
import math
import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from d2s import memory, types
from d2s.default_dtype import default_dtype
from d2s.errors import ArgumentError, CaptureError, DTypeError, brief, kind_of
from d2s.extents import Extent
from d2s.ops.dispatch import OPS, current
from d2s.ops.op import Op
from d2s.ops.open_shapes import is_open
from d2s.ops.recording import Recorder
from d2s.ops.rows import extent
from d2s.types import DType, Type, int64

Public = Callable[..., Any]


class Source(Protocol):
    """Takes blocks from the stream: the seed, and the counter of the first of them."""

    def __call__(self, blocks: int) -> tuple[int, int]: ...


_sources: list[Source] = []


def install(source: Source) -> None:
    """Makes `source` what draws read."""
    _sources[:] = [source]


@dataclasses.dataclass(eq=False)
class Draw(Op):
    """An op that reads a seed and a counter besides its inputs. `public` checks a user's arguments and calls `draw`."""

    public: Public = Op.__call__
    reads: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()  # its attributes in a Program

    def __post_init__(self) -> None:
        super().__post_init__()
        self.arrays, self.attributes = ("seed", "counter", *self.reads), dict.fromkeys(self.holds)
        self.signature = inspect.signature(self.public)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        handler = current()
        if isinstance(handler, Recorder) and not hasattr(handler, "stream"):
            raise _at_capture(self.name).at(handler.line())
        return _bound(self.name, self.signature, self.public, args, kwargs)

    def draw(self, blocks: Any, inputs: Sequence[Any], seed: int = 0, **attrs: Any) -> Any:
        """The next numbers of the stream; with a seed of its own, the first of that one."""
        handler = current()
        recorded = isinstance(handler, Recorder)
        state = (seed, 0) if seed else handler.stream(blocks) if recorded else _sources[0](blocks)  # type: ignore[attr-defined]
        read = [handler.constant(signed(n), Type(int64)) if isinstance(n, int) else n for n in state]
        return handler.run(self, (*read, *inputs), attrs)


def draws(paddle: str, reads: str, holds: str = "", onnx: str | None = None) -> Callable[[Public], Draw]:
    """Declares an op that draws: Paddle's name of it, its inputs behind seed and counter, its attributes."""

    def declare(public: Public) -> Draw:
        return Draw(public.__name__, public, paddle, onnx, public=public, reads=(*reads.split(),), holds=(*holds.split(),))

    return declare


class Outside(Draw):
    """A public function that touches the stream and has no kernel of its own: in no Program, and refused by a capture."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__wrapped__ = self.public  # where doctest looks
        del OPS[self.name]


def outside(public: Public) -> Outside:
    """Declares such a function."""
    return Outside(public.__name__, public, None, public=public)


class Moving(Outside):
    """One that asks for the place of the stream, or moves it to another: refused by every capture."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        handler = current()
        if isinstance(handler, Recorder) and self.name not in getattr(handler, "at_once", ()):
            raise _at_capture(self.name).at(handler.line())
        return super().__call__(*args, **kwargs)


def moving(public: Public) -> Moving:
    """Declares such a function."""
    return Moving(public.__name__, public, None, public=public)


def _at_capture(name: str) -> CaptureError:
    message = f"'{name}' is called: its effect on the random numbers would happen once, when the function is captured"
    return CaptureError("D2S1004", message, hint="call it outside of the captured function and pass what it returns")


def _bound(name: str, signature: inspect.Signature, function: Public, args: Any, kwargs: Any) -> Any:
    """Calls a public function; where its arguments cannot be bound, says so with a code."""
    try:
        return function(*args, **kwargs)
    except TypeError:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise DTypeError("D2S0001", f"{name}{signature}: {error}") from None
        raise


def signed(number: int) -> int:
    """64 bits as int64 holds them."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


# --- arguments ---------------------------------------------------------------------------------------------------------------


def held_in_memory(name: str, shape: tuple[int, ...], dtype: DType) -> tuple[int, ...]:
    if all(isinstance(d, int) for d in shape):
        memory.check(name, shape, dtype.numpy)
    return shape


def drawn_shape(name: str, shape: Any, dtype: DType) -> Sequence[Any]:
    """A shape: a list of extents, or an integer tensor of them; as it came where some are numbers of run time."""
    held = current().type_of(shape)
    if held is not None and len(held.shape) == 1 and held.dtype.kind == "i":
        shape = shape.tolist()
    if is_open(shape) and all(getattr(d, "dtype", int64).kind == "i" for d in shape):
        return list(shape)
    if not isinstance(shape, (list, tuple)):
        got = type(shape).__name__
        raise DTypeError("D2S0001", f"{name}(): 'shape' expects a list of ints, got {got}", hint="[n] for n numbers")
    extents: Any = tuple(d if isinstance(d, Extent) else whole(name, "shape", d) for d in shape)
    if any(isinstance(d, int) and d < 0 for d in extents) or len(extents) > 32:
        raise ArgumentError("D2S0004", f"{name}(): {list(extents)} is not a shape: up to 32 extents, none negative")
    return held_in_memory(name, extents, dtype)


def whole(name: str, argument: str, value: Any) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except (TypeError, ValueError):
        raise DTypeError("D2S0001", f"{name}(): '{argument}' expects an int, got {kind_of(value)}") from None


def is_tensor(value: Any) -> bool:
    """Whether it is one, and no number of run time."""
    held = current().type_of(value)
    return held is not None and not held.python


def finite(name: str, argument: str, value: Any, dtype: DType) -> Any:
    """A finite number of a float dtype; one of run time as it is, which whoever records the call has the run look at."""
    held = current().type_of(value)
    if held is not None and held.python and held.dtype.kind != "b":
        return value
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise DTypeError("D2S0001", f"{name}(): '{argument}' expects a number, got {kind_of(value)}")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not abs(found) <= float(np.finfo(dtype.numpy).max):
        raise ArgumentError("D2S0004", f"{name}(): '{argument}' is {brief(value)}: not a finite {dtype.name}")
    return found


def float_dtype(name: str, dtype: Any) -> DType:
    found = default_dtype() if dtype is None else types.dtype(dtype)
    if found.kind != "f":
        raise DTypeError("D2S0003", f"{name}() draws float32 or float64, not {found.name}")
    return found


def parameters_of(name: str, x: Any) -> tuple[Type, Any]:
    """The type of a tensor of parameters, and the tensor without its history: no gradient passes a draw."""
    held = current().type_of(x)
    if held is None:
        raise DTypeError("D2S0001", f"{name}(): 'x' expects a Tensor, got {type(x).__name__}")
    if held.dtype.kind != "f":
        raise DTypeError("D2S0003", f"{name}() does not take {held.dtype.name}")
    return held, x.detach() if hasattr(x, "detach") else x  # what a file is read as has no history


def elements(x: Any, held: Type) -> Any:
    """How many elements x has, as a number of run time where only a run will tell."""
    named = [extent(x, axis) for axis, d in enumerate(held.shape) if isinstance(d, str)]
    return math.prod([*named, *(d for d in held.shape if not isinstance(d, str))])


def blocks(elements: int, words: int) -> int:
    """The blocks that hold so many words for each of so many elements."""
    return -(-elements * words // 4)
