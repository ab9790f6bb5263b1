"""Functions 1.x and 2.0 alpha had under other names or with other arguments.

In: the arguments of then. Out: what d2s's functions give for them.

>>> reduce_sum(d2s.ones([2, 3]), dim=1).tolist(), sums([d2s.ones([1]), d2s.ones([1])]).tolist()
([3.0, 3.0], [2.0])
>>> cross_entropy(d2s.to_tensor([[0.5, 0.5]]), d2s.to_tensor([[1]])).shape
[1, 1]
"""

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from d2s import static, unique_name
from d2s.autodiff.mode import mode
from d2s.capture.users_code import refuse, user_line
from d2s.eager.tensor import Tensor, to_tensor
from d2s.nn import functional
from d2s.nn.activation import activated
from d2s.ops import arrange, compare, join, linalg, math, reduce
from d2s.ops import shape as shapes
from d2s.place import CPUPlace
from d2s.static.program import Program, disable_static, eagerly, in_dynamic_mode, program_guard
from d2s.static.variable import Variable

# --- functions of layers -----------------------------------------------------------------------------------------------------


def sums(input: Sequence[Any], out: Any = None) -> Any:
    """The sum of a list of tensors."""
    return functools.reduce(math.add, input)


def reduction_of(function: Any) -> Callable[..., Any]:
    """A reduction of d2s, with the names its arguments had."""

    def reduction(input: Any, dim: Any = None, keep_dim: bool = False, name: str | None = None) -> Any:
        return function(input, axis=dim, keepdim=keep_dim)

    return reduction


reduce_sum, reduce_mean, reduce_max = map(reduction_of, (reduce.sum, reduce.mean, reduce.max))
reduce_min, reduce_prod = map(reduction_of, (reduce.min, reduce.prod))


def elementwise_of(function: Any) -> Callable[..., Any]:
    """A function of two tensors, the second of which may stand for axes in the middle of the first."""

    def elementwise(x: Any, y: Any, axis: int = -1, act: str | None = None, name: str | None = None) -> Any:
        behind = len(x.shape) - axis - len(y.shape) if axis >= 0 else 0
        return activated(function(x, shapes.reshape(y, [*y.shape, *[1] * behind]) if behind > 0 else y), act)

    return elementwise


elementwise_add, elementwise_sub = map(elementwise_of, (math.add, math.subtract))
elementwise_mul, elementwise_div = map(elementwise_of, (math.multiply, math.divide))


def cross_entropy(input: Any, label: Any, soft_label: bool = False, ignore_index: int = -100) -> Any:
    """Minus the logarithm of the probability of the right class, sample by sample; `input` holds probabilities."""
    return functional.cross_entropy(
        input, label, ignore_index=ignore_index, reduction="none", soft_label=soft_label, use_softmax=False
    )


def mean(x: Any = None, name: str | None = None, input: Any = None) -> Any:
    """The mean of all."""
    return reduce.mean(x if input is None else input)


def concat(input: Any = None, axis: int = 0, name: str | None = None, x: Any = None) -> Any:
    """Tensors behind one another."""
    return join.concat(x if input is None else input, axis)


def reshape(
    x: Any, shape: Any, actual_shape: Any = None, act: str | None = None, inplace: bool = False, name: str | None = None
) -> Any:
    """The values in another shape."""
    return activated(shapes.reshape(x, shape), act)


def transpose(x: Any, perm: Any, name: str | None = None) -> Any:
    """The axes in another order."""
    return arrange.transpose(x, perm)


def matmul(
    x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, alpha: float = 1.0, name: str | None = None
) -> Any:
    """The product of matrices."""
    found = linalg.matmul(x, y, transpose_x, transpose_y)
    return found if alpha == 1.0 else found * alpha


def softmax(input: Any, use_cudnn: bool = False, name: str | None = None, axis: int = -1) -> Any:
    """Exponentials by their sum."""
    return functional.softmax(input, axis)


def scale(
    x: Any, scale: float = 1.0, bias: float = 0.0, bias_after_scale: bool = True, act: str | None = None, name: Any = None
) -> Any:
    """`x * scale + bias`, of the dtype of `x`."""
    found = x * scale + bias if bias_after_scale else (x + bias) * scale
    return activated(found if x.dtype.kind == "f" else compare.cast(found, x.dtype), act)


def dropout(
    x: Any,
    dropout_prob: float,
    is_test: bool = False,
    seed: int | None = None,
    name: str | None = None,
    dropout_implementation: str = "downgrade_in_infer",
) -> Any:
    """0 by chance."""
    kind = "upscale_in_train" if dropout_implementation == "upscale_in_train" else "downscale_in_infer"
    return functional.dropout(x, dropout_prob, training=not is_test, mode=kind)


def cast(x: Any, dtype: Any) -> Any:
    """The values in another dtype."""
    return compare.cast(x, dtype)


def data(
    name: str,
    shape: Sequence[int],
    append_batch_size: bool = True,
    dtype: Any = "float32",
    lod_level: int = 0,
    type: Any = None,
    stop_gradient: bool = True,
) -> Any:
    """A variable that runs are given; the batch is an axis in front where no extent is open."""
    whole = [-1, *shape] if append_batch_size and all(d is not None and d >= 0 for d in shape) else list(shape)
    found = static.data(name, whole, dtype)
    found.stop_gradient = stop_gradient
    return found


# --- eager and declared ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def guard(place: Any = None) -> Iterator[None]:
    """Computes at once inside a `with` block, with names counted anew."""
    before = mode.recording
    mode.recording = True
    try:
        with eagerly(), program_guard(Program(), Program()), unique_name.guard():
            yield
    finally:
        mode.recording = before


def to_variable_of_1x(value: Any, block: Any = None, name: str | None = None) -> Any:
    """An array as a tensor gradients go to, if it holds floats."""
    if isinstance(value, Tensor | Variable):
        return value
    found = to_variable(value, name)
    found.stop_gradient = found.dtype.kind != "f"
    return found


def to_variable(value: Any, name: str | None = None, zero_copy: bool | None = None) -> Any:
    """An array as a tensor."""
    if not in_dynamic_mode():
        refuse(
            "D2S1003", "to_variable(): code declares a program here", "call it inside of guard(), or feed the array to a run"
        )
    found = to_tensor(value)
    found.name = name or ""
    return found


def enable_imperative(place: Any = None) -> None:
    """From now on, code computes at once."""
    disable_static()


class CUDAPlace(CPUPlace):
    """A GPU; there is none, so it is the CPU, which is said once."""

    told = False

    def __init__(self, id: int = 0) -> None:
        super().__init__()
        if not CUDAPlace.told:
            CUDAPlace.told = True
            path, _, line = user_line().rpartition(":")
            warnings.warn_explicit("CUDAPlace: d2s runs on the CPU", UserWarning, path or __file__, int(line or 1))


# --- inference ---------------------------------------------------------------------------------------------------------------


def save_inference_model(
    dirname: str,
    feeded_var_names: Sequence[str],
    target_vars: Sequence[Any],
    executor: Any = None,
    main_program: Any = None,
    model_filename: str | None = None,
    params_filename: str | None = None,
    **_: Any,
) -> list[str]:
    """Writes a folder for inference."""
    program = main_program or static.default_main_program()
    return static.files.save_folder(dirname, list(feeded_var_names), target_vars, program, model_filename, params_filename)


def load_inference_model(
    dirname: str, executor: Any = None, model_filename: str | None = None, params_filename: str | None = None, **_: Any
) -> list[Any]:
    """A program, the names of its feeds, and its fetches."""
    return static.files.load_folder(dirname, model_filename, params_filename)
