"""Matrices of first and second derivatives, computed when they are asked for.

In: results and the tensors they depend on, vectors or numbers each, or batches of them. Out: `Jacobian`s, which act as the
tensors they stand for.

>>> x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
>>> jacobian(x * x, x).numpy().tolist()
[[2.0, 0.0], [0.0, 4.0]]
>>> hessian((x * x * x).sum(), x)[:].tolist()
[[6.0, 0.0], [0.0, 12.0]]
"""

import operator
from typing import Any

import numpy as np

from d2s.eager.gradients import grad
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.once import once
from d2s.ops import OPS
from d2s.ops.join import concat
from d2s.ops.op import flag


class Jacobian:
    """The derivatives of each element of `ys` by each of `xs`: its shape is [ys, xs], or [batch, ys, xs].

    Rows are computed one by one, when they are first asked for.
    """

    def __init__(self, ys: Tensor, xs: Tensor, batched: bool) -> None:
        batched = flag(batched, "batched")
        for name, t in (("ys", ys), ("xs", xs)):
            if not isinstance(t, Tensor):
                raise DTypeError("D2S0001", f"jacobian(): '{name}' expects tensors, got {type(t).__name__}")
            if not batched <= t.ndim <= 1 + batched:
                wanted = "[batch] or [batch, n]" if batched else "[] or [n]"
                raise ArgumentError("D2S0002", f"jacobian(): '{name}' has shape {t.shape}, expected {wanted}")
        if batched and ys.shape[0] != xs.shape[0]:
            raise ArgumentError("D2S0002", f"jacobian(): batches of {ys.shape[0]} 'ys' and {xs.shape[0]} 'xs'")
        self._ys, self._xs, self._batched = ys, xs, batched
        self._rows: dict[int, Tensor] = {}

    @property
    def shape(self) -> list[int]:
        return self._ys.shape + self._xs.shape[self._batched :]

    def _row(self, n: int) -> Tensor:
        """The derivatives of element n of `ys`, of all the batch at once."""
        if n not in self._rows:
            weights = np.zeros_like(self._ys.array)
            weights[(..., n) if self._ys.ndim > self._batched else ...] = 1
            (found,) = grad(self._ys, self._xs, Tensor(weights), create_graph=True, allow_unused=True)
            self._rows[n] = Tensor(np.zeros_like(self._xs.array)) if found is None else found
        return self._rows[n]

    @once
    def _whole(self) -> Tensor:
        if self._ys.ndim == self._batched:
            return self._row(0)
        at, shape = int(self._batched), self.shape
        one = [*shape[:at], 1, *shape[at + 1 :]]
        if 0 in shape:
            return Tensor(np.zeros(shape, self._xs.array.dtype))
        return concat([OPS["reshape"](self._row(n), one) for n in range(shape[at])], at)  # type: ignore[no-any-return]

    def __getitem__(self, index: Any) -> Tensor:
        one = type(index) is int and self._ys.ndim == 1 and not self._batched and 0 <= index < self._ys.shape[0]
        return self._row(index) if one else self._whole[index]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._whole.array, dtype)

    def __repr__(self) -> str:
        return repr(self._whole)

    __hash__ = object.__hash__


class Hessian(Jacobian):
    """The second derivatives of a number by each two elements of `xs`."""


def _operator(name: str) -> Any:
    def method(self: Jacobian, other: Any) -> Any:
        return getattr(operator, name)(self._whole, other._whole if isinstance(other, Jacobian) else other)

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Jacobian, f"__{_name}__", _operator(_name))


def jacobian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """The Jacobian of `ys` with respect to `xs`; where one is a sequence, a tuple of them, where both are, a tuple of tuples.

    Without a batch tensors have shape [] or [n]; with `batch_axis=0` they have [batch] or [batch, n].

    >>> x, y = d2s.to_tensor([1.0, 2.0], stop_gradient=False), d2s.to_tensor(3.0, stop_gradient=False)
    >>> by_x, by_y = jacobian(x * y, (x, y))
    >>> by_x.tolist(), by_y.tolist()
    ([[3.0, 0.0], [0.0, 3.0]], [1.0, 2.0])
    """
    return _matrices(Jacobian, ys, xs, _is_batched(batch_axis, "jacobian"))


def hessian(ys: Tensor, xs: Any, batch_axis: int | None = None) -> Any:
    """The second derivatives of `ys`, a number (for each of the batch), with respect to `xs`; of a sequence, a tuple of tuples.

    >>> x = d2s.to_tensor([[1.0], [2.0]], stop_gradient=False)
    >>> hessian((x * x * x).sum(1), x, batch_axis=0).tolist()
    [[[6.0]], [[12.0]]]
    """
    batched = _is_batched(batch_axis, "hessian")
    if not isinstance(ys, Tensor):
        raise DTypeError("D2S0001", f"hessian(): 'ys' expects a Tensor, got {type(ys).__name__}")
    if (ys.size != (ys.shape[0] if ys.ndim else 0)) if batched else ys.size != 1:
        raise ArgumentError("D2S0002", f"hessian(): 'ys' has shape {ys.shape}, expected one number{' of each' * batched}")
    numbers = OPS["reshape"](ys, ys.shape[:1] if batched else [])
    if isinstance(xs, list | tuple):
        return tuple(_matrices(Hessian, Jacobian(numbers, x, batched)._whole, xs, batched) for x in xs)
    return _matrices(Hessian, Jacobian(numbers, xs, batched)._whole, xs, batched)


def _is_batched(batch_axis: Any, of: str) -> bool:
    if batch_axis is not None and (batch_axis != 0 or type(batch_axis) is not int):
        raise ArgumentError("D2S0004", f"{of}(): 'batch_axis' is {brief(batch_axis)}, expected None or 0")
    return batch_axis is not None


def _matrices(kind: type[Jacobian], ys: Any, xs: Any, batched: bool) -> Any:
    if isinstance(ys, list | tuple):
        return tuple(_matrices(kind, y, xs, batched) for y in ys)
    return tuple(kind(ys, x, batched) for x in xs) if isinstance(xs, list | tuple) else kind(ys, xs, batched)
