"""What parameters are made with, as `fluid` had it: first values, decays, limits of gradients, `ParamAttr`.

In: the arguments of then. Out: what d2s makes of parameters. Seeds are taken and not used: d2s draws from one stream.

>>> TruncatedNormal(loc=0.0, scale=0.5, seed=3).std, L2Decay(regularization_coeff=0.1)
(0.5, L2Decay, coeff=0.100000)
"""

from typing import Any

from d2s import nn, regularizer
from d2s.nn import initializer
from d2s.static.program import default_main_program


class Constant(initializer.Constant):
    """One number everywhere."""

    def __init__(self, value: float = 0.0, force_cpu: bool = False) -> None:
        super().__init__(value)


class Uniform(initializer.Uniform):
    """Numbers spread evenly."""

    def __init__(
        self,
        low: float = -1.0,
        high: float = 1.0,
        seed: int = 0,
        diag_num: int = 0,
        diag_step: int = 0,
        diag_val: float = 1.0,
    ) -> None:
        super().__init__(low, high)


class Normal(initializer.Normal):
    """Normal numbers, with `loc` and `scale`."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        super().__init__(loc, scale)


class TruncatedNormal(initializer.TruncatedNormal):
    """Normal numbers up to two deviations from their mean."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        super().__init__(loc, scale)


class NumpyArray(initializer.Assign):
    """The values of an array."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)


def Xavier(uniform: bool = True, fan_in: Any = None, fan_out: Any = None, seed: int = 0) -> Any:
    """Numbers whose variance follows from the fans."""
    return (initializer.XavierUniform if uniform else initializer.XavierNormal)(fan_in, fan_out)


def MSRA(uniform: bool = True, fan_in: Any = None, seed: int = 0) -> Any:
    """Numbers whose variance follows from the fan in."""
    return (initializer.KaimingUniform if uniform else initializer.KaimingNormal)(fan_in)


INITIALIZERS: dict[str, Any] = {kind.__name__: kind for kind in (Constant, Uniform, Normal, TruncatedNormal, NumpyArray)}
INITIALIZERS |= {"Xavier": Xavier, "MSRA": MSRA, "Bilinear": initializer.Bilinear}


# --- decays ------------------------------------------------------------------------------------------------------------------


class L1Decay(regularizer.L1Decay):
    """Adds the signs of a parameter to its gradient."""

    def __init__(self, regularization_coeff: float = 0.0) -> None:
        super().__init__(regularization_coeff)


class L2Decay(regularizer.L2Decay):
    """Adds a part of a parameter to its gradient."""

    def __init__(self, regularization_coeff: float = 0.0) -> None:
        super().__init__(regularization_coeff)


DECAYS: dict[str, Any] = {f"{kind.__name__}{end}": kind for kind in (L1Decay, L2Decay) for end in ("", "Regularizer")}


# --- limits of gradients -----------------------------------------------------------------------------------------------------


def GradientClipByValue(max: float, min: float | None = None, need_clip: Any = None) -> Any:
    """Each element between two bounds."""
    return nn.clip.ClipGradByValue(max, min)


def GradientClipByNorm(clip_norm: float, need_clip: Any = None) -> Any:
    """Each gradient no longer than a bound."""
    return nn.clip.ClipGradByNorm(clip_norm)


def GradientClipByGlobalNorm(clip_norm: float, group_name: str = "default_group", need_clip: Any = None) -> Any:
    """All gradients together no longer than a bound."""
    return nn.clip.ClipGradByGlobalNorm(clip_norm, group_name)


CLIPS: dict[str, Any] = {f.__name__: f for f in (GradientClipByValue, GradientClipByNorm, GradientClipByGlobalNorm)}


def set_gradient_clip(clip: Any, param_list: Any = None, program: Any = None) -> None:
    """Limits the gradients of the optimizers of a program that say nothing else."""
    (program or default_main_program()).notes["gradient_clip"] = clip


class ParamAttr(nn.parameter.ParamAttr):
    """How a parameter is made and trained; a `gradient_clip` of its own was given up in 1.7."""

    def __init__(
        self,
        name: str | None = None,
        initializer: Any = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        gradient_clip: Any = None,
        do_model_average: bool = True,
    ) -> None:
        super().__init__(name, initializer, learning_rate, regularizer, trainable, do_model_average)
