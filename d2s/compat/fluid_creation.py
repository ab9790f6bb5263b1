"""Functions of `fluid.layers` that make tensors of numbers, and those that write what they find into a tensor there is.

In: shapes, dtypes, tensors; `out` or `cond`, a tensor to write into. Out: tensors.

>>> fill_constant_batch_size_like(d2s.ones([3, 2]), [1, 4], "float32", 0.5).shape
[3, 4]
>>> i = d2s.zeros([1])
>>> increment(i, 2.0) is i, increment(i, in_place=False).tolist(), i.tolist()
(True, [3.0], [2.0])
"""

from collections.abc import Callable, Sequence
from typing import Any

from d2s.autodiff.mode import no_grad
from d2s.capture.users_code import refuse
from d2s.compat.blocks import open_blocks
from d2s.compat.fluid_math import gaussian_random, uniform_random
from d2s.eager import assign as assigned
from d2s.eager.tensor import Tensor, to_tensor
from d2s.ops import compare, create, extremes, logic, rearrange, softmax
from d2s.static.program import declaring, in_dynamic_mode
from d2s.static.variable import Variable


def put(value: Any, out: Any) -> Any:
    """`out`, which is that value from here on; the value itself where there is none."""
    if isinstance(out, Tensor) and open_blocks and not in_dynamic_mode():
        put(value, open_blocks[-1].standing_for(out))
        return out
    if isinstance(out, Variable) and not isinstance(value, Variable):
        value = declaring("assign").symbol_of(value)
    if not isinstance(out, Variable) or not isinstance(value, Variable):
        return value if out is None else assigned.assign(value, out)
    if open_blocks and out.recorder is not declaring("assign") is open_blocks[-1].region:
        open_blocks[-1].note(out)
        out.recorder = value.recorder
    if out.recorder is not value.recorder:
        refuse("D2S1003", "a variable from outside is changed in a declared branch or loop", "return the new one")
    out.value = value.value
    return out


def assign(input: Any, output: Any = None) -> Any:
    """The same values in memory of their own, or in that of another."""
    return put(assigned.assign(input), output)


def increment(x: Any, value: float = 1.0, in_place: bool = True) -> Any:
    """A number more, in the tensor itself."""
    if in_place and isinstance(x, Tensor) and in_dynamic_mode():
        with no_grad():
            return assigned.increment(x, value)
    return put(x + (int(value) if x.dtype.kind == "i" else value), x if in_place else None)


# --- numbers -----------------------------------------------------------------------------------------------------------------


def fill_constant(shape: Any, dtype: Any, value: float, force_cpu: bool = False, out: Any = None) -> Any:
    """One number everywhere."""
    return put(create.full(shape, value, dtype), out)


def zeros(shape: Any, dtype: Any, force_cpu: bool = False) -> Any:
    """0 everywhere."""
    return create.zeros(shape, dtype)


def ones(shape: Any, dtype: Any, force_cpu: bool = False) -> Any:
    """1 everywhere."""
    return create.ones(shape, dtype)


def zeros_like(x: Any, out: Any = None) -> Any:
    """0 wherever something is."""
    return put(create.zeros_like(x), out)


def ones_like(x: Any, out: Any = None) -> Any:
    """1 wherever something is."""
    return put(create.ones_like(x), out)


def _like(input: Any, shape: Sequence[int], input_dim_idx: int, output_dim_idx: int) -> list[Any]:
    """A shape, one extent of which is that of a tensor."""
    found = list(shape)
    found[output_dim_idx] = input.shape[input_dim_idx]
    return found


def fill_constant_batch_size_like(
    input: Any,
    shape: Sequence[int],
    dtype: Any,
    value: float,
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    force_cpu: bool = False,
) -> Any:
    """One number everywhere, for as many samples as another tensor has."""
    return create.full(_like(input, shape, input_dim_idx, output_dim_idx), value, dtype)


def uniform_random_batch_size_like(
    input: Any,
    shape: Sequence[int],
    dtype: Any = "float32",
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
) -> Any:
    """Numbers spread evenly, for as many samples as another tensor has."""
    return uniform_random(_like(input, shape, input_dim_idx, output_dim_idx), dtype, min, max, seed)


def gaussian_random_batch_size_like(
    input: Any,
    shape: Sequence[int],
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    mean: float = 0.0,
    std: float = 1.0,
    seed: int = 0,
    dtype: Any = "float32",
) -> Any:
    """Normal numbers, for as many samples as another tensor has."""
    return gaussian_random(_like(input, shape, input_dim_idx, output_dim_idx), mean, std, seed, dtype)


def create_tensor(dtype: Any, name: str | None = None, persistable: bool = False) -> Any:
    """A tensor to write into; of a program, a variable of any shape."""
    return to_tensor([0], dtype) if persistable or in_dynamic_mode() else create.zeros([1], dtype)


def full_like(
    input: Any,
    fill_value: float,
    out: Any = None,
    dtype: Any = None,
    device: Any = None,
    stop_gradient: bool = True,
    name: str | None = None,
) -> Any:
    """One number wherever something is."""
    return put(create.full_like(input, fill_value, dtype), out)


def size(input: Any) -> Any:
    """How many elements there are."""
    return rearrange.numel(input)


def logsumexp(x: Any, dim: Any = None, keepdim: bool = False, out: Any = None, name: str | None = None) -> Any:
    """The logarithm of the sum of exponentials."""
    return put(softmax.logsumexp(x, dim, keepdim), out)


def clamp(input: Any, min: float | None = None, max: float | None = None, output: Any = None, name: str | None = None) -> Any:
    """What lies between two bounds."""
    return put(extremes.clip(input, min, max), output)


def addcmul(input: Any, tensor1: Any, tensor2: Any, value: float = 1.0, out: Any = None, name: str | None = None) -> Any:
    """`input + tensor1 * tensor2 * value`."""
    return put(input + tensor1 * tensor2 * value, out)


def trace(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, out: Any = None, name: str | None = None) -> Any:
    """The sum along a diagonal."""
    return put(rearrange.trace(input, offset, dim1, dim2), out)


# --- what holds --------------------------------------------------------------------------------------------------------------


def _comparison(function: Any) -> Callable[..., Any]:
    def comparison(x: Any, y: Any, cond: Any = None, force_cpu: Any = None) -> Any:
        return put(function(x, y), cond)

    return comparison


def _of_bools(function: Any) -> Callable[..., Any]:
    def of_bools(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
        return put(function(x, y), out)

    return of_bools


equal, not_equal, greater_than = map(_comparison, (compare.equal, compare.not_equal, compare.greater_than))
greater_equal, less_equal = map(_comparison, (compare.greater_equal, compare.less_equal))
logical_and, logical_or, logical_xor = map(_of_bools, (logic.logical_and, logic.logical_or, logic.logical_xor))


def less_than(x: Any, y: Any, force_cpu: Any = None, cond: Any = None) -> Any:
    """Where one is less than the other."""
    return put(compare.less_than(x, y), cond)


def elementwise_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Where both are equal."""
    return compare.equal(x, y)


def is_empty(x: Any, cond: Any = None) -> Any:
    """Whether there is no element."""
    return put(rearrange.numel(x) == 0, cond)


def logical_not(x: Any, out: Any = None, name: str | None = None) -> Any:
    """Where it does not hold."""
    return put(logic.logical_not(x), out)
