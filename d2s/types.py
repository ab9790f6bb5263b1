"""Dtypes and the types of values: `f32[n,4]` (a tensor), `int` (a Python number of run time), `list[f32[n,4]]` (a list that a
run makes longer and shorter, of tensors of one type), `stack` (residuals).

A dimension is an int or the name of an extent that only a run will tell; equal names mean equal extents.

>>> Type(float32, ("n", 4))
f32[n,4]
>>> Type(int64, python=True), dtype("int32"), dtype(np.float32)
(int, d2s.int32, d2s.float32)
"""

import dataclasses
import functools

import numpy as np

from d2s.errors import ArgumentError, DTypeError, brief

Dim = int | str
Shape = tuple[Dim, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class DType:
    """One element type; `short` is its name in IR text and generated code."""

    name: str
    short: str
    kind: str  # b(ool) i(nteger) f(loat) s(tack)
    size: int

    def __repr__(self) -> str:
        return f"d2s.{self.name}"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other in (self.name, self.short))

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, ...]:
        """A copy, or what a pickle gives back, is the very dtype: all code asks `is`."""
        return _named, (self.name,)

    @property
    def numpy(self) -> np.dtype:
        return _dtype_of_numpy(self.name)


_dtype_of_numpy = functools.cache(np.dtype)
bool_ = DType("bool", "b1", "b", 1)
uint8, int8 = DType("uint8", "u8", "i", 1), DType("int8", "i8", "i", 1)
int16, int32, int64 = DType("int16", "i16", "i", 2), DType("int32", "i32", "i", 4), DType("int64", "i64", "i", 8)
float32, float64 = DType("float32", "f32", "f", 4), DType("float64", "f64", "f", 8)
_stack = DType("stack", "stack", "s", 0)
TENSOR_DTYPES = (bool_, uint8, int8, int16, int32, int64, float32, float64)
_BY_NAME = {key: d for d in TENSOR_DTYPES for key in (d.name, d.short)}
_OF_NUMPY = {d.numpy: d for d in TENSOR_DTYPES}  # in the byte order of the machine


def _named(name: str) -> DType:
    return _stack if name == _stack.name else _BY_NAME[name]


PYTHON_DTYPES = (bool_, int64, float64)  # of Python numbers of run time
NUMBERS = (bool, int, float, np.generic)  # what stands for a Python number: weak when it meets a tensor


def python_dtype(number: object) -> DType:
    """The dtype of a Python number of run time."""
    kinds = ((bool | np.bool_, bool_), (int | np.integer, int64), (float | np.floating, float64))
    for kind, found in kinds:
        if isinstance(number, kind):
            return found
    raise DTypeError("D2S0001", f"{brief(number)} is not a real number")


def array_of(number: object, of: DType) -> np.ndarray:
    """A 0-D array of a number; what is too large for a float dtype is infinite in it."""
    if of.kind == "i" and isinstance(number, int | np.integer):
        unsigned = of is uint8
        if not (0 if unsigned else -(1 << 8 * of.size - 1)) <= number < 1 << (8 * of.size - (not unsigned)):
            raise ArgumentError("D2S0004", f"the Python number {brief(number)} does not fit into {of.name}")
    try:
        with np.errstate(over="ignore"):
            return np.array(number, of.numpy)
    except OverflowError:
        raise ArgumentError("D2S0004", f"the Python number {brief(number)} does not fit into {of.name}") from None


def dtype(of: object) -> DType:
    """The DType named by a DType, a string, a NumPy dtype or a Python number type."""
    if isinstance(of, DType):
        return of
    if isinstance(of, np.dtype) and of in _OF_NUMPY:
        return _OF_NUMPY[of]
    try:
        name = of if isinstance(of, str) else np.dtype(of).name  # type: ignore[call-overload]
        return _BY_NAME[name]
    except (TypeError, KeyError, ValueError, RecursionError):
        known = ", ".join(d.name for d in TENSOR_DTYPES)
        raise DTypeError("D2S0003", f"{brief(of)} is not a dtype of d2s", hint=f"one of {known}") from None


@dataclasses.dataclass(frozen=True, slots=True)
class Type:
    """The type of one value of a Program: a tensor, a `python` number known at run time only, or a list (`listed`) of such."""

    dtype: DType
    shape: Shape = ()
    python: bool = False
    listed: bool = False

    def __repr__(self) -> str:
        if self.listed:
            return f"list[{self.item}]"
        if self.dtype is _stack:
            return "stack"
        if self.python:
            return {"b": "bool", "i": "int", "f": "float"}[self.dtype.kind]
        return f"{self.dtype.short}[{','.join(map(str, self.shape))}]"

    @property
    def is_float(self) -> bool:
        return self.dtype.kind == "f" and not self.python

    @property
    def grows(self) -> bool:
        """Whether a run makes it longer and shorter where it lies: a list, or the stack of residuals. It is used linearly."""
        return self.listed or self.dtype is _stack

    @property
    def item(self) -> "Type":
        """Of a list, the type of its items."""
        return Type(self.dtype, self.shape, self.python)

    @property
    def list(self) -> "Type":
        """The type of a list of such values."""
        return Type(self.dtype, self.shape, self.python, listed=True)


STACK = Type(_stack)
