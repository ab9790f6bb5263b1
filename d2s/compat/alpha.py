"""2.0 alpha: `paddle.imperative`, and layers and functions between those of 1.x and of 2.x.

>>> GENERATION.names["paddle.imperative.guard"] is old_names.guard
True
"""

import functools
from typing import Any

from d2s import nn
from d2s.autodiff.mode import no_grad
from d2s.compat import (
    decays,
    dygraph_convolutions,
    dygraph_layers,
    fluid,
    fluid_images,
    fluid_losses,
    layers,
    old_datasets,
    old_names,
    old_readers,
    runs,
    traced,
    training,
)
from d2s.compat.generation import Generation
from d2s.compat.old_values import old
from d2s.ops import argmax, join, reduce, shape, slicing
from d2s.static.program import enable_static, in_dynamic_mode

_OF_1X = """sums fill_constant mul elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_max
    elementwise_min elementwise_pow elementwise_mod elementwise_floordiv reduce_sum reduce_mean reduce_max reduce_min
    reduce_prod reduce_all reduce_any"""


# Functions that have the names their arguments have today, and those of then.
_RENAMED: dict[str, Any] = {
    "sum": reduce.sum,
    "max": reduce.max,
    "min": reduce.min,
    "prod": reduce.prod,
    "squeeze": shape.squeeze,
    "unsqueeze": shape.unsqueeze,
    "split": slicing.split,
    "stack": join.stack,
    "argmax": argmax.argmax,
    "argmin": argmax.argmin,
    "reshape": shape.reshape,
    "nn.functional.dropout": nn.functional.dropout,
    "nn.functional.softmax": nn.functional.softmax,
}
_THEN = {"input": "x", "dim": "axis", "keep_dim": "keepdim", "axes": "axis", "dropout_prob": "p"}


def renamed(function: Any) -> Any:
    """A function whose arguments may also be called as they were."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{_THEN.get(name, name): value for name, value in kwargs.items()})

    return old(call)


def _names() -> dict[str, Any]:
    found: dict[str, Any] = {
        "enable_imperative": old_names.enable_imperative,
        "disable_imperative": enable_static,
        "in_imperative_mode": in_dynamic_mode,
        "CUDAPlace": old_names.CUDAPlace,
        "Executor": runs.Executor,
        "static.Executor": runs.Executor,
        "concat": old_names.concat,
        "mean": old(old_names.mean),
        "metric.accuracy": old(fluid_losses.accuracy),
        "nn.functional.cross_entropy": old_names.cross_entropy,
        "nn.functional.pool2d": fluid_images.pool2d,
        "nn.Conv2D": layers.of_alpha(dygraph_convolutions.Conv2D),
        "nn.Pool2D": layers.of_alpha(layers.Pool2D),
        "nn.Linear": layers.Linear,
        "nn.Embedding": layers.of_alpha(dygraph_layers.Embedding),
        "nn.LayerNorm": layers.of_alpha(dygraph_layers.LayerNorm),
        "nn.Conv2DTranspose": layers.of_alpha(dygraph_convolutions.Conv2DTranspose),
        "nn.Conv3D": layers.of_alpha(dygraph_convolutions.Conv3D),
        "static.load_inference_model": old_names.load_inference_model,
        "static.save_inference_model": old_names.save_inference_model,
        "imperative.enabled": in_dynamic_mode,
        "imperative.guard": old_names.guard,
        "imperative.to_variable": old_names.to_variable,
        "imperative.no_grad": no_grad,
        "imperative.declarative": traced.declarative,
        "imperative.ProgramTranslator": traced.ProgramTranslator,
        "imperative.TracedLayer": traced.TracedLayer,
        "imperative.save": training.save_dygraph,
        "imperative.load": training.load_dygraph,
        "imperative.Layer": nn.Layer,
        "ParamAttr": nn.parameter.ParamAttr,
    }
    found |= {name: renamed(function) for name, function in _RENAMED.items()}
    found |= {f"dataset.{name}": value for name, value in old_datasets.NAMES.items()} | {
        "io.DataLoader": old_readers.DataLoader
    }
    found |= {name: fluid.GENERATION.names[f"paddle.fluid.layers.{name}"] for name in _OF_1X.split()}
    found |= {f"optimizer.{name}": kind for name, kind in training.BY_NAME.items()}
    found |= {f"imperative.{decay.__name__}": decay for decay in (*decays.DECAYS, *decays.BY_EPOCHS)}
    return fluid.GENERATION.names | {f"paddle.{name}": value for name, value in found.items()}


_INSTEAD: dict[str, tuple[str, ...]] = {
    "paddle": ("static",),
    "paddle.imperative": ("jit", "nn", ""),
    "paddle.nn.functional": ("",),
} | fluid.GENERATION.instead
_FLAGS = {"old_values": True, "learns_all": True, "declarative": True}
_FLAGS |= {"keeps_gradients": True, "zeros_for_stopped": True}
GENERATION = Generation("2.0.0-alpha0", _names(), _INSTEAD, fluid.GENERATION.same, **_FLAGS)
