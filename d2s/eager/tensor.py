"""The eager tensor, and ops on it.

In: arrays, lists, numbers. Out: `Tensor`s with a tape behind them where a gradient is wanted.

>>> print(d2s.to_tensor([[1.0, 2.0]]))
Tensor(shape=[1, 2], dtype=float32, place=Place(cpu), stop_gradient=True,
       [[1., 2.]])
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.autodiff import tape
from d2s.eager.exchange import Exchange
from d2s.eager.in_place import InPlace
from d2s.eager.indexing import Indexing
from d2s.errors import ArgumentError, DTypeError, GradientError
from d2s.ops import OPS, Op, dispatch
from d2s.ops.compare import cast
from d2s.ops.operators import Operators
from d2s.runtime import launch, native_launcher
from d2s.types import DType, Type

SEEN = 4096  # kinds of calls remembered as made once


class Tensor(Indexing, InPlace, Exchange, Operators):
    """An array with a place on the tape. `node` made it (None: a leaf), `position` says which of the node's results it is.

    Native doors make tensors, too: what `__init__` puts into slots but for array, stop_gradient and node must be constants.
    """

    __slots__ = ("__weakref__", "array", "grad", "name", "node", "position", "stop_gradient")

    def __init__(self, array: np.ndarray, stop_gradient: bool = True, node: Any = None, position: int = 0) -> None:
        plain = type(array) is np.ndarray and array.flags.c_contiguous and array.dtype.isnative and array.flags.aligned
        self.array = array if plain else _plain(array)  # what kernels count on
        self.stop_gradient, self.node, self.position = stop_gradient, node, position
        self.grad: Tensor | None = None
        self.name = ""

    @property
    def shape(self) -> list[int]:
        return list(self.array.shape)

    @property
    def dtype(self) -> DType:
        return types.dtype(self.array.dtype)

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def size(self) -> int:
        return self.array.size

    @property
    def is_leaf(self) -> bool:
        return self.node is None

    def numpy(self) -> np.ndarray:
        """A copy as a NumPy array."""
        return self.array.copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype)

    def item(self) -> Any:
        if self.size != 1:
            raise ArgumentError("D2S0004", f"a tensor of shape {self.shape} is not one Python value")
        return self.array.item()

    def tolist(self) -> Any:
        return self.array.tolist()

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self.dtype.kind != "i":
            raise DTypeError("D2S0003", f"a {self.dtype.name} tensor is not an index")
        return int(self.item())

    def __len__(self) -> int:
        if not self.ndim:
            raise DTypeError("D2S0001", "len() of a 0-D tensor")
        return self.shape[0]

    def detach(self) -> "Tensor":
        """The same values without history."""
        return Tensor(self.array)

    def backward(self, grad_tensor: "Tensor | None" = None, retain_graph: bool = False) -> None:
        """Adds the gradient of this tensor to the `grad` of every leaf it depends on."""
        if self.stop_gradient:
            raise GradientError("D2S0006", "backward() of a tensor that depends on nothing that wants a gradient")
        g = Tensor(np.ones_like(self.array)) if grad_tensor is None else grad_tensor
        if not isinstance(g, Tensor):
            raise DTypeError("D2S0001", f"backward(): 'grad_tensor' expects a Tensor, got {type(g).__name__}")
        if g.shape != self.shape or g.dtype is not self.dtype:
            raise GradientError("D2S0006", f"grad_tensor is {launch.type_of(g.array)}, the tensor {launch.type_of(self.array)}")
        tape.backward(self, g, retain_graph)

    def clear_grad(self) -> None:
        self.grad = None

    def set_value(self, value: Any) -> None:
        """New values of the same shape; what the tape has saved of the old ones stays as it was."""
        new = to_tensor(value, self.dtype).array
        if new.shape != self.array.shape:
            raise ArgumentError("D2S0002", f"set_value(): expected shape {self.shape}, got {list(new.shape)}")
        self.array = new

    def __repr__(self) -> str:
        values = np.array2string(self.array, separator=", ", prefix=" " * 7)
        head = f"Tensor(shape={self.shape}, dtype={self.dtype.name}, place=Place(cpu), stop_gradient={self.stop_gradient},"
        return f"{head}\n       {values})"


def _plain(array: Any) -> np.ndarray:
    """An array as kernels take it: contiguous, aligned, in the machine's byte order."""
    if not isinstance(array, np.ndarray | np.generic):
        raise DTypeError("D2S0001", f"Tensor(): expects a NumPy array, got {type(array).__name__}", hint="d2s.to_tensor(...)")
    return np.array(array, types.dtype(array.dtype).numpy, order="C")


def to_tensor(data: Any, dtype: Any = None, stop_gradient: bool = True) -> Tensor:
    """A tensor of its own memory; Python floats become float32 where no dtype is given.

    >>> d2s.to_tensor([1, 2]).dtype
    d2s.int64
    """
    array = data.array if isinstance(data, Tensor) else data
    try:
        found = np.array(array)
        if found.dtype.kind not in "biuf":
            raise DTypeError("D2S0001", f"to_tensor(): 'data' holds {found.dtype.name} values, not real numbers")
        if dtype is None and not isinstance(array, (np.ndarray, np.generic)) and found.dtype == np.float64:
            dtype = types.float32
        wanted = types.dtype(found.dtype if dtype is None else dtype)
        with np.errstate(over="ignore"):
            exact = found.dtype.kind != "f" or wanted.kind != "i"
            held = np.array(found, wanted.numpy, order="C") if exact else None
    except (ValueError, OverflowError) as error:
        raise ArgumentError("D2S0004", f"to_tensor(): {error}") from None
    if held is not None:
        return Tensor(held, stop_gradient)
    return Tensor(cast(Tensor(np.ascontiguousarray(found)), wanted).array, stop_gradient)  # what is out of range saturates


def unchanged(tensors: Sequence[Tensor], arrays: Sequence[np.ndarray]) -> Sequence[Tensor]:
    """Tensors a gradient of a gradient reads again, if they still hold the arrays they held."""
    if any(t.array is not a for t, a in zip(tensors, arrays, strict=True)):
        message = "a tensor that a gradient of a gradient needs was given another value by set_value()"
        raise GradientError("D2S0006", message, hint="compute the gradients before you change it")
    return tensors


class _Node(tape.OpNode):
    """An op's use by eager code: it saves arrays, which become tensors only when a gradient asks for them."""

    __slots__ = ()

    def pull(self, cotangents: dict[int, Any], totals: tape.Totals) -> None:
        *arrays, out = self.saved
        if totals.connected:
            tensors = [*unchanged(self.inputs, arrays), Tensor(out, False, self)]
        else:
            tensors = [Tensor(a) for a in self.saved]
        self.pass_on(tensors, cotangents, totals)


class _Eager:
    """The handler of ops where nothing is being captured. What an op did twice, its door does from then on natively."""

    def __init__(self) -> None:
        self.doors: dict[Op, native_launcher.Door] = {}
        self.seen: set[tuple[Any, ...]] = set()

    @functools.cached_property
    def classes(self) -> native_launcher.Classes | None:
        """What native doors make; None where they cannot be used."""
        node = _Node(OPS["add"], (), {}, ())
        found = native_launcher.Classes(Tensor(np.zeros(())), node, tape._order, tape._mode)
        return found if native_launcher.usable(found) else None

    def line(self) -> str:
        return ""

    def type_of(self, value: Any) -> Type | None:
        return launch.type_of(value.array) if isinstance(value, Tensor) else None

    def constant(self, number: bool | int | float, type: Type) -> Tensor:
        return Tensor(types.array_of(number, type.dtype))

    def run(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
        arrays = [x.array for x in inputs]
        array = launch.run(op, [launch.type_of(a) for a in arrays], arrays, attrs)
        live = tape.recording() and array.dtype.kind == "f" and any(not x.stop_gradient for x in inputs)
        return Tensor(array, False, _Node(op, inputs, attrs, (*arrays, array))) if live else Tensor(array)

    def learn(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any]) -> None:
        """Teaches the op's door the call that just went well the plain way, if it is one a door can do."""
        number = _number_dtype(op, inputs)
        if number is None or op.variadic or not all(map(_constant, attrs.values())):
            return
        found = [self.type_of(x) or Type(number) for x in inputs]
        attributes = op.canonical(found, attrs)
        key = op, tuple(found), tuple(attributes.items())
        prepared = launch.prepared(*key)
        if self._seen_before(key) and not prepared.fails and len(prepared.outputs) == 1 and self.classes is not None:
            out = prepared.outputs[0].dtype
            shape = tuple(int(d) for d in prepared.outputs[0].shape)
            arguments = (*inputs, *attrs.values())
            self._door(op).learn(
                native_launcher.Case(
                    *(arguments, prepared.address, out.numpy, shape, prepared.extents),
                    *(out.kind == "f", attributes, number.numpy),
                )
            )

    def _seen_before(self, key: tuple[Any, ...]) -> bool:
        """Whether this is the second time: what happens once, or with other attributes each time, is not worth a case."""
        if key in self.seen:
            return True
        if len(self.seen) >= SEEN:
            self.seen.clear()
        self.seen.add(key)
        return False

    def _door(self, op: Op) -> native_launcher.Door:
        if op not in self.doors:
            assert self.classes is not None
            self.doors[op] = native_launcher.Door(self.classes, op, len(op.arrays))
            op.door = self.doors[op].call
        return self.doors[op]


def _number_dtype(op: Op, inputs: Sequence[Any]) -> DType | None:
    """The dtype Python numbers become where the op takes all else as it is; None where an input is cast or is unusual."""
    operands = inputs[op.kept :] if op.promotes else ()
    tensors = inputs[: op.kept] if op.promotes else inputs
    if not all(isinstance(x, Tensor) for x in tensors):
        return None
    if not all(isinstance(x, Tensor) or type(x) in (int, float) for x in operands):
        return None
    found = {x.dtype for x in (operands or inputs) if isinstance(x, Tensor)}
    kinds = {type(x) for x in operands if not isinstance(x, Tensor)}
    if not found or (op.promotes and len(found) > 1):
        return None
    of = next(iter(found))
    return of if not kinds or of.kind == "f" or (of.kind == "i" and kinds == {int}) else None


def _constant(value: Any) -> bool:
    """Whether an attribute can be told by identity: it never changes."""
    if type(value) is tuple:
        return all(map(_constant, value))
    return isinstance(value, (type(None), bool, int, float, str, DType))


dispatch.install(_Eager())
