"""The eager tensor, and ops on it.

In: arrays, lists, numbers. Out: `Tensor`s with a tape behind them where a gradient is wanted.

>>> print(d2s.to_tensor([[1.0, 2.0]]))
Tensor(shape=[1, 2], dtype=float32, place=Place(cpu), stop_gradient=True,
       [[1., 2.]])
"""

from typing import Any

import numpy as np

from d2s import types
from d2s.autodiff import tape
from d2s.errors import ArgumentError, DTypeError, GradientError
from d2s.ops import Op, dispatch
from d2s.ops.operators import Operators
from d2s.runtime import launch
from d2s.types import DType, Type


class Tensor(Operators):
    """An array with a place on the tape. `node` made it (None: a leaf), `position` says which of the node's results it is."""

    __slots__ = ("__weakref__", "array", "grad", "name", "node", "position", "stop_gradient")

    def __init__(self, array: np.ndarray, stop_gradient: bool = True, node: Any = None, position: int = 0) -> None:
        self.array, self.stop_gradient, self.node, self.position = array, stop_gradient, node, position
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


def to_tensor(data: Any, dtype: Any = None, stop_gradient: bool = True) -> Tensor:
    """A tensor of its own memory; Python floats become float32 where no dtype is given.

    >>> d2s.to_tensor([1, 2]).dtype
    d2s.int64
    """
    array = data.array if isinstance(data, Tensor) else data
    try:
        found = np.array(array)
        if dtype is None and not isinstance(array, (np.ndarray, np.generic)) and found.dtype == np.float64:
            dtype = types.float32
        wanted = types.dtype(found.dtype if dtype is None else dtype)
    except (ValueError, OverflowError) as error:
        raise ArgumentError("D2S0004", f"to_tensor(): {error}") from None
    return Tensor(np.array(found, wanted.numpy, order="C"), stop_gradient)


class _Eager:
    """The handler of ops where nothing is being captured."""

    def type_of(self, value: Any) -> Type | None:
        return launch.type_of(value.array) if isinstance(value, Tensor) else None

    def constant(self, number: bool | int | float, type: Type) -> Tensor:
        return Tensor(np.array(number, type.dtype.numpy))

    def run(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
        arrays = [x.array for x in inputs]
        array = launch.run(op, [launch.type_of(a) for a in arrays], arrays, attrs)
        live = tape.recording() and array.dtype.kind == "f" and any(not x.stop_gradient for x in inputs)
        if not live:
            return Tensor(array)
        return Tensor(array, False, tape.OpNode(op, inputs, attrs, [Tensor(a) for a in (*arrays, array)]))


dispatch.install(_Eager())
