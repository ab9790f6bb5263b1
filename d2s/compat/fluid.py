"""`paddle.fluid` of 1.4 and 1.5: programs, dygraph, layers, optimizers.

>>> GENERATION.names["paddle.fluid.optimizer.Adam"] is training.AdamOptimizer
True
"""

from typing import Any

from d2s import nn, regularizer, static, unique_name
from d2s.autodiff.mode import no_grad
from d2s.compat import layers, old_names, traced, training
from d2s.compat.generation import Generation
from d2s.compat.old_py_layer import PyLayer
from d2s.compat.old_values import old
from d2s.eager.tensor import Tensor
from d2s.nn import initializer
from d2s.place import CPUPlace, is_compiled_with_cuda
from d2s.static.program import in_dynamic_mode

_FUNCTIONS = """sums reduce_sum reduce_mean reduce_max reduce_min reduce_prod elementwise_add elementwise_sub elementwise_mul
    elementwise_div cross_entropy mean concat reshape transpose matmul accuracy fill_constant softmax scale dropout cast
    fc data"""
_LAYERS = ("Layer", "Conv2D", "Pool2D", "FC", "BatchNorm")
_INITIALIZERS = {"Constant": "Constant", "Uniform": "Uniform", "Normal": "Normal", "TruncatedNormal": "TruncatedNormal"}
_INITIALIZERS |= {"NumpyArray": "Assign", "Bilinear": "Bilinear"}


class NormalInitializer(initializer.Normal):
    """Normal numbers, with `loc` and `scale`."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        super().__init__(loc, scale)


class UniformInitializer(initializer.Uniform):
    """Numbers spread evenly."""

    def __init__(self, low: float = -1.0, high: float = 1.0, seed: int = 0) -> None:
        super().__init__(low, high)


def XavierInitializer(uniform: bool = True, fan_in: Any = None, fan_out: Any = None, seed: int = 0) -> Any:
    """Numbers whose variance follows from the fans."""
    return (initializer.XavierUniform if uniform else initializer.XavierNormal)(fan_in, fan_out)


def MSRAInitializer(uniform: bool = True, fan_in: Any = None, seed: int = 0) -> Any:
    """Numbers whose variance follows from the fan in."""
    return (initializer.KaimingUniform if uniform else initializer.KaimingNormal)(fan_in)


def _names() -> dict[str, Any]:
    found: dict[str, Any] = {"in_dygraph_mode": in_dynamic_mode, "is_compiled_with_cuda": is_compiled_with_cuda}
    found |= {"core.is_compiled_with_cuda": is_compiled_with_cuda, "core.VarBase": Tensor, "Variable": Tensor}
    found |= {"CPUPlace": CPUPlace, "CUDAPlace": old_names.CUDAPlace, "Layer": layers.Layer, "PyLayer": PyLayer}
    found |= {"core.CPUPlace": CPUPlace, "core.CUDAPlace": old_names.CUDAPlace, "data": static.data, "Program": static.Program}
    found |= {f"dygraph.{place}{name}": getattr(layers, name) for name in _LAYERS for place in ("", "nn.", "layers.")}
    found |= {f"layers.{name}": old(getattr(old_names, name), True) for name in _FUNCTIONS.split()}
    found |= {
        "layers.pool2d": layers.pool2d,
        "ParamAttr": nn.parameter.ParamAttr,
        "param_attr.ParamAttr": nn.parameter.ParamAttr,
    }
    found |= {"dygraph.guard": old_names.guard, "dygraph.no_grad": no_grad, "dygraph.enabled": in_dynamic_mode}
    found |= {f"dygraph.{place}to_variable": old_names.to_variable_of_1x for place in ("", "base.")}
    found |= {f"dygraph.{f.__name__}": f for f in (training.save_persistables, training.load_persistables)}
    found |= {f"dygraph.{f.__name__}": f for f in (training.save_dygraph, training.load_dygraph)}
    found |= {f"dygraph.{place}{f.__name__}": f for f in training.DECAYS for place in ("", "learning_rate_scheduler.")}
    found |= {"dygraph.TracedLayer": traced.TracedLayer, "dygraph.PyLayer": PyLayer}
    found |= {f"optimizer.{name}": kind for name, kind in training.BY_NAME.items()}
    found |= {
        "io.save_inference_model": old_names.save_inference_model,
        "io.load_inference_model": old_names.load_inference_model,
    }
    found |= {f"initializer.{old_name}": getattr(initializer, name) for old_name, name in _INITIALIZERS.items()}
    kinds = {"Normal": NormalInitializer, "Uniform": UniformInitializer, "Xavier": XavierInitializer, "MSRA": MSRAInitializer}
    found |= {f"initializer.{name}{end}": kind for name, kind in kinds.items() for end in ("", "Initializer")}
    found |= {f"initializer.{n}Initializer": getattr(initializer, m) for n, m in _INITIALIZERS.items() if n not in kinds}
    found |= {f"regularizer.{n}{end}": getattr(regularizer, n) for n in ("L1Decay", "L2Decay") for end in ("", "Regularizer")}
    found |= {f"clip.{n}": kind for n, kind in _CLIPS.items()} | {"unique_name.guard": unique_name.guard}
    found["unique_name.generate"] = unique_name.generate
    return {f"paddle.fluid.{name}": value for name, value in found.items()}


_CLIPS: dict[str, Any] = {
    "GradientClipByValue": nn.clip.ClipGradByValue,
    "GradientClipByNorm": nn.clip.ClipGradByNorm,
    "GradientClipByGlobalNorm": nn.clip.ClipGradByGlobalNorm,
}
_INSTEAD: dict[str, tuple[str, ...]] = {
    "paddle.fluid": ("static", ""),
    "paddle.fluid.layers": ("", "nn.functional", "static.nn", "static"),
    "paddle.fluid.dygraph": ("nn", "jit"),
    "paddle.fluid.dygraph.nn": ("nn",),
    "paddle.fluid.io": ("static", "io"),
    "paddle.fluid.framework": ("static",),
    "paddle.fluid.backward": ("static",),
    "paddle.fluid.executor": ("static",),
    "paddle.fluid.initializer": ("nn.initializer",),
    "paddle.fluid.optimizer": ("optimizer",),
    "paddle.fluid.metrics": ("metric",),
}
_FLAGS = {"old_values": True, "declarative": True, "keeps_gradients": True}
GENERATION = Generation("1.5.1", _names(), _INSTEAD, **_FLAGS)
