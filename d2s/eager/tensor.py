"""The eager tensor, and ops on it.

In: arrays, lists, numbers. Out: `Tensor`s with a tape behind them where a gradient is wanted.

>>> print(d2s.to_tensor([[1.0, 2.0]]))
Tensor(shape=[1, 2], dtype=float32, place=Place(cpu), stop_gradient=True,
       [[1., 2.]])
"""

from typing import Any

import numpy as np

from d2s import memory, types
from d2s.arguments import expect
from d2s.autodiff import tape
from d2s.default_dtype import default_dtype
from d2s.eager.exchange import Exchange
from d2s.eager.history import History
from d2s.eager.holding import Holding
from d2s.eager.in_place import InPlace
from d2s.eager.indexing import Indexing
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.ops.compare import cast
from d2s.ops.operators import Operators
from d2s.place import usable
from d2s.types import DType

_AS_IT_IS = 0x0101  # NumPy's flags of arrays that are contiguous in row-major order, and aligned


class Tensor(Indexing, Holding, InPlace, History, Exchange, Operators):
    """An array with a place on the tape. `node` made it, or is which of a node's results it is (None: a leaf).

    Native doors make tensors, too: what `__init__` puts into slots but for array, stopped and node must be constants.
    """

    __slots__ = ("__weakref__", "_grad", "_name", "array", "hooks", "node", "stopped")

    def __init__(self, array: np.ndarray, stop_gradient: bool = True, node: Any = None) -> None:
        plain = type(array) is np.ndarray and array.flags.num & _AS_IT_IS == _AS_IT_IS and array.dtype.isnative
        self.array = array if plain else _plain(array)  # what kernels count on
        self.stopped, self.node = stop_gradient if type(stop_gradient) is bool else stop_flag(stop_gradient), node
        self._grad: Tensor | None = None
        self.hooks: dict[int, list[tape.Hook]] | None = None  # of a leaf; a result's are its node's
        self._name = ""

    @property
    def name(self) -> str:
        """What it is called, which parameters are; empty for most."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient is wanted of it, nor of what is computed from it alone.

        >>> x = d2s.to_tensor([1.0])
        >>> x.stop_gradient = False
        >>> (x * 2.0).stop_gradient
        False
        """
        return self.stopped

    @stop_gradient.setter
    def stop_gradient(self, stop: bool) -> None:
        self.stopped = stop if type(stop) is bool else stop_flag(stop)

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

    def numpy(self) -> np.ndarray:
        """A copy as a NumPy array."""
        return self.array.copy()

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
        """The same values in the same memory, without history: a change of one in place is a change of the other.

        >>> x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> x.detach().fill_(5.0).stop_gradient, x.tolist()
        (True, [5.0, 5.0])
        """
        return Tensor(self.array)

    def _new(self, array: np.ndarray) -> "Tensor":
        """A plain tensor, whatever kind this one is."""
        return Tensor(array)

    def _of_array(self, array: np.ndarray) -> "Tensor":
        return to_tensor(array)

    def _given(self, value: Any) -> "Tensor":
        """What was given as a tensor of this one's dtype."""
        return to_tensor(value, self.dtype)


def stop_flag(stop: Any) -> bool:
    """What was given for `stop_gradient`: native code asks for nothing but Python's own True and False."""
    if not isinstance(stop, (bool, np.bool_)):
        raise DTypeError("D2S0001", f"'stop_gradient' expects True or False, got {brief(stop)}")
    return bool(stop)


def _plain(array: Any) -> np.ndarray:
    """An array as kernels take it: contiguous, aligned, in the machine's byte order."""
    if not isinstance(array, np.ndarray | np.generic):
        raise DTypeError("D2S0001", f"Tensor(): expects a NumPy array, got {type(array).__name__}", hint="d2s.to_tensor(...)")
    held = types.dtype(array.dtype).numpy
    memory.check("Tensor", array.shape, held)
    return np.array(array, held, order="C")


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Tensor:
    """A tensor of its own memory; Python floats become the default dtype where none is given.

    >>> d2s.to_tensor([1, 2]).dtype
    d2s.int64
    """
    if place is not None:
        usable(place, "to_tensor")
    return Tensor(values_of(data, dtype), stop_gradient)


def values_of(data: Any, dtype: Any = None) -> np.ndarray:
    """What `to_tensor` makes a tensor of."""
    array = data.array if isinstance(data, Tensor) else data
    if isinstance(array, np.ndarray):
        memory.check("to_tensor", array.shape, array.dtype)
    try:
        found = array if type(array) is np.ndarray else np.array(array)
        if found.dtype.kind not in "biuf":
            raise DTypeError("D2S0001", f"to_tensor(): 'data' holds {found.dtype.name} values, not real numbers")
        if dtype is None and not isinstance(array, (np.ndarray, np.generic)) and found.dtype == np.float64:
            dtype = default_dtype()
        wanted = types.dtype(found.dtype if dtype is None else dtype)
        if found.dtype == wanted.numpy:
            return memory.copied(found, wanted.numpy)
        if found.dtype.kind != "f" or wanted.kind != "i":
            with np.errstate(over="ignore"):
                return memory.copied(found, wanted.numpy)
    except (ValueError, OverflowError, MemoryError, RecursionError) as error:
        raise ArgumentError("D2S0004", f"to_tensor(): {error}") from None
    return cast(Tensor(np.array(found, order="C")), wanted).array  # what is out of range saturates


def tolist(x: Any) -> Any:
    """The values of a tensor as a nested list, or as a number where it has no axis.

    >>> d2s.tolist(d2s.to_tensor([[1, 2]]))
    [[1, 2]]
    """
    expect("tolist", "x", x, Tensor, "a Tensor")
    return x.tolist()


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor.

    >>> d2s.is_tensor(d2s.to_tensor(1.0)), d2s.is_tensor(1.0)
    (True, False)
    """
    return isinstance(x, Tensor)
