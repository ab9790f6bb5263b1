"""What scripts of `fluid` have around their training: executors for many devices, profilers, averages, dtypes by old names.

In: what there was to set, most of which changes nothing here. Out: what the rest of a script asks of these objects.

>>> mean = WeightedAverage()
>>> mean.add(1.0, 1)
>>> mean.add(4.0, 3)
>>> mean.eval(), VarDesc.VarType.FP32
(3.25, 'float32')
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from d2s import types
from d2s.capture.users_code import user_line
from d2s.compat.old_values import BackwardStrategy
from d2s.compat.runs import EOFException, Executor
from d2s.errors import ArgumentError, D2SError, MissingName
from d2s.nn.activation import activated
from d2s.nn.layer import Layer
from d2s.static.program import default_main_program
from d2s.static.scope import Scope


class ParallelExecutor:
    """An executor of one program for many devices: here there is one."""

    def __init__(
        self,
        use_cuda: bool,
        loss_name: str | None = None,
        main_program: Any = None,
        share_vars_from: Any = None,
        exec_strategy: Any = None,
        build_strategy: Any = None,
        num_trainers: int = 1,
        trainer_id: int = 0,
        scope: Scope | None = None,
    ) -> None:
        self._program, self._scope, self.device_count = main_program or default_main_program(), scope, 1

    def run(self, fetch_list: Any, feed: Any = None, feed_dict: Any = None, return_numpy: bool = True) -> list[Any]:
        """A run of the program; what is one number has the shape [1]."""
        given = feed if feed is not None else feed_dict
        return Executor().run(self._program, given, fetch_list, scope=self._scope, return_numpy=return_numpy)


class VarDesc:
    """Types of variables."""

    class VarType:
        """Dtypes by their old names."""

        FP16, FP32, FP64, BOOL = "float16", "float32", "float64", "bool"
        UINT8, INT8, INT16, INT32, INT64 = "uint8", "int8", "int16", "int32", "int64"
        LOD_TENSOR = "lod_tensor"


def convert_np_dtype_to_dtype_(np_dtype: Any) -> Any:
    """A dtype of NumPy's as one of d2s's."""
    return types.dtype(np.dtype(np_dtype))


class LayerHelper:
    """What layers of a user's own make parameters with."""

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.layer_type, self.kwargs = layer_type, kwargs
        self._layer = Layer(kwargs.get("name") or layer_type)

    def create_parameter(
        self, attr: Any, shape: Any, dtype: Any = "float32", is_bias: bool = False, default_initializer: Any = None
    ) -> Any:
        """A parameter, as `attr` says."""
        return self._layer.create_parameter(shape, attr, dtype, is_bias, default_initializer)

    def append_activation(self, input_var: Any) -> Any:
        """The activation the layer was given, of a value."""
        return activated(input_var, self.kwargs.get("act"))

    def __getattr__(self, name: str) -> Any:
        message = f"LayerHelper.{name} is not in d2s; nearest: paddle.fluid.layers, of whose functions layers are made"
        raise MissingName("D2S5001", message, where=user_line())


class WeightedAverage:
    """A mean of numbers, each with a weight."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Nothing counts any more."""
        self.numerator, self.denominator = 0.0, 0.0

    def add(self, value: Any, weight: Any) -> None:
        """Counts one number, or the mean of an array."""
        self.numerator += float(np.mean(np.asarray(value))) * float(weight)
        self.denominator += float(weight)

    def eval(self) -> float:
        """The mean so far."""
        if self.denominator == 0:
            raise ArgumentError("D2S0004", "eval(): nothing was added", hint="call add() first")
        return self.numerator / self.denominator


@contextlib.contextmanager
def profiler(
    state: str = "All", sorted_key: str | None = None, profile_path: str = "", tracer_option: str = "Default"
) -> Iterator[None]:
    """Runs what is inside; `python -m d2s explain` and D2S_DUMP show what d2s does."""
    yield


def nothing(*_: Any, **__: Any) -> None:
    """What was done to save memory, or to see if a version is the right one: not needed."""


NAMES: dict[str, Any] = {
    "ParallelExecutor": ParallelExecutor,
    "Executor": Executor,
    "executor.Executor": Executor,
    "average.WeightedAverage": WeightedAverage,
    "layer_helper.LayerHelper": LayerHelper,
    "core.BackwardStrategy": BackwardStrategy,
    "core.EOFException": EOFException,
    "core.EnforceNotMet": D2SError,
    "core.VarDesc": VarDesc,
    "core.Scope": Scope,
    "framework.convert_np_dtype_to_dtype_": convert_np_dtype_to_dtype_,
    "profiler.profiler": profiler,
    "profiler.cuda_profiler": profiler,
    "profiler.start_profiler": nothing,
    "profiler.stop_profiler": nothing,
    "profiler.reset_profiler": nothing,
    "memory_optimize": nothing,
    "release_memory": nothing,
    "require_version": nothing,
    "framework.require_version": nothing,
}
