"""Tensors to and from other libraries, through DLPack, under the names they have in Paddle.

>>> x = np.zeros(2, "float32")
>>> y = from_dlpack(x)
>>> x[0] = 3
>>> y.tolist()
[3.0, 0.0]
"""

from typing import Any

from d2s.eager.dlpack import taken
from d2s.eager.tensor import Tensor
from d2s.errors import DTypeError
from d2s.place import usable


def to_dlpack(x: Tensor) -> Any:
    """A DLPack capsule of a tensor's memory, without its history. A capsule can be taken once.

    >>> d2s.from_dlpack(d2s.utils.dlpack.to_dlpack(d2s.to_tensor([1.0]))).tolist()
    [1.0]
    """
    if not isinstance(x, Tensor):
        raise DTypeError("D2S0001", f"to_dlpack(): argument 'x' expects a Tensor, got {type(x).__name__}")
    return x.detach().__dlpack__()


def from_dlpack(dlpack: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor of another library's, which is an object with `__dlpack__`, or a capsule.

    Memory is shared - what one side writes, the other sees - where it is in row-major order, aligned and writable, and of a
    dtype d2s has. Else it is copied: strided and read-only memory, for instance. copy=True always copies; copy=False is an
    error (D2S3003) where memory cannot be shared. What lies in a GPU is refused.

    >>> d2s.from_dlpack(np.arange(6)[::2]).tolist()
    [0, 2, 4]
    """
    usable(device, "from_dlpack")
    return Tensor(taken(dlpack, copy, "from_dlpack"))
