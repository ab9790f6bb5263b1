"""Optimizers as 1.x and 2.0 alpha had them, their decays of the learning rate, and checkpoints of a folder or a prefix.

In: a loss whose gradients there are, or a declared one. Out: a step.

>>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
>>> sgd = SGDOptimizer(learning_rate=0.5, parameter_list=[p])
>>> loss = (p * 2.0).sum()
>>> loss.backward()
>>> _ = sgd.minimize(loss)
>>> p.tolist()
[0.0]
"""

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

from d2s import checkpoint, optimizer
from d2s.compat.old_values import learnt
from d2s.eager.tensor import to_tensor
from d2s.nn.parameter import Parameter
from d2s.optimizer.lr import LRScheduler
from d2s.optimizer.optimizer import Optimizer
from d2s.static.recording import Variable


class OptimizerState(dict):  # type: ignore[type-arg]
    """The state of an optimizer: a file says that it is one, also where it is empty."""


class _Old:
    """What an optimizer of then does otherwise: without parameters it trains all that the loss reached."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        *args: Any,
        parameter_list: Any = None,
        regularization: Any = None,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("use_nesterov", None) if "use_nesterov" not in type(self)._takes else None  # type: ignore[attr-defined]
        given = {"parameters": list(parameter_list or []), "weight_decay": regularization} | kwargs
        super().__init__(learning_rate, *args, **given)  # type: ignore[call-arg]
        self._all = parameter_list is None

    def minimize(
        self, loss: Any, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None, grad_clip: Any = None
    ) -> Any:
        if grad_clip is not None:
            self._grad_clip = grad_clip
            for group in self._groups:  # type: ignore[has-type]
                group.clip = grad_clip
        if self._all and not isinstance(loss, Variable):
            self._find()
        found = super().minimize(loss, startup_program, parameter_list, no_grad_set)  # type: ignore[misc]
        rate = self._learning_rate  # type: ignore[attr-defined]
        if isinstance(rate, Decay) and not isinstance(loss, Variable):
            rate.step()
        return found

    def _find(self) -> None:
        """Takes in the parameters that have got gradients."""
        known = {id(p) for p in self._parameter_list}  # type: ignore[attr-defined]
        reached = [p for key, p in learnt.items() if key not in known and p._grad is not None and not p.stop_gradient]
        if reached:
            self._groups = [g for g in self._groups if g.slots] + [self._group({"params": reached})]  # type: ignore

    def state_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = super().state_dict()  # type: ignore[misc]
        found.pop("LR_Scheduler", None)
        rate = self._learning_rate  # type: ignore[attr-defined]
        if isinstance(rate, Decay):
            found["global_step"] = to_tensor([rate.last_epoch], "int64")
        return OptimizerState(found)

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        rate = self._learning_rate  # type: ignore[attr-defined]
        if "global_step" in state_dict and isinstance(rate, Decay):
            rate.step(int(to_tensor(state_dict["global_step"]).item()))
        super().set_state_dict({k: v for k, v in state_dict.items() if k != "global_step"})  # type: ignore[misc]

    set_dict = load = set_state_dict


def _old(kind: type[Optimizer], name: str) -> type:
    return type(name, (_Old, kind), {"_takes": kind.__init__.__code__.co_varnames, "__doc__": kind.__doc__})


SGDOptimizer, AdamOptimizer, AdamaxOptimizer = (
    _old(k, f"{k.__name__}Optimizer") for k in (optimizer.SGD, optimizer.Adam, optimizer.Adamax)
)
MomentumOptimizer, AdagradOptimizer = (_old(k, f"{k.__name__}Optimizer") for k in (optimizer.Momentum, optimizer.Adagrad))
RMSPropOptimizer, LambOptimizer = (_old(k, f"{k.__name__}Optimizer") for k in (optimizer.RMSProp, optimizer.Lamb))
OPTIMIZERS = (
    SGDOptimizer,
    AdamOptimizer,
    AdamaxOptimizer,
    MomentumOptimizer,
    AdagradOptimizer,
    RMSPropOptimizer,
    LambOptimizer,
)
BY_NAME = {name: kind for kind in OPTIMIZERS for name in (kind.__name__, kind.__name__.removesuffix("Optimizer"))}


# --- decays: the step that counts is that of the optimizer -------------------------------------------------------------------


class Decay(LRScheduler):
    """A learning rate that follows from the number of steps an optimizer has done."""

    def __init__(self, rate: Callable[[int], float], begin: int = 0) -> None:
        self._rate, self._begin = rate, begin
        super().__init__(float(rate(begin)))

    def get_lr(self) -> float:
        return float(self._rate(self._begin + self.last_epoch))


def _progress(step: int, steps: float, staircase: bool) -> float:
    return math.floor(step / steps) if staircase else step / steps


def ExponentialDecay(
    learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False, begin: int = 0
) -> Decay:
    """`learning_rate * decay_rate ** (step / decay_steps)`.

    >>> ExponentialDecay(1.0, 2, 0.5)()
    1.0
    """
    return Decay(lambda n: learning_rate * decay_rate ** _progress(n, decay_steps, staircase), begin)


def NaturalExpDecay(
    learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False, begin: int = 0
) -> Decay:
    """`learning_rate * exp(-decay_rate * step / decay_steps)`."""
    return Decay(lambda n: learning_rate * math.exp(-decay_rate * _progress(n, decay_steps, staircase)), begin)


def InverseTimeDecay(
    learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False, begin: int = 0
) -> Decay:
    """`learning_rate / (1 + decay_rate * step / decay_steps)`."""
    return Decay(lambda n: learning_rate / (1 + decay_rate * _progress(n, decay_steps, staircase)), begin)


def PiecewiseDecay(boundaries: Sequence[int], values: Sequence[float], begin: int = 0) -> Decay:
    """One rate up to each boundary, and another behind it."""
    return Decay(lambda n: values[sum(n >= b for b in boundaries)], begin)


def NoamDecay(d_model: float, warmup_steps: float, begin: int = 1) -> Decay:
    """Up for some steps, then down with the root of their number."""
    return Decay(lambda n: d_model**-0.5 * min(max(n, 1) ** -0.5, n * warmup_steps**-1.5), begin)


def CosineDecay(learning_rate: float, step_each_epoch: int, epochs: int, begin: int = 0) -> Decay:
    """Half a wave of the cosine over some epochs."""
    return Decay(lambda n: learning_rate * 0.5 * (math.cos(math.floor(n / step_each_epoch) * math.pi / epochs) + 1), begin)


DECAYS = (ExponentialDecay, NaturalExpDecay, InverseTimeDecay, PiecewiseDecay, NoamDecay, CosineDecay)


# --- checkpoints -------------------------------------------------------------------------------------------------------------

_NO_OPTIMIZER = (
    "No optimizer loaded. If you didn't save optimizer, please ignore this. The program can still work with new optimizer. "
)


def save_persistables(model_dict: dict[str, Any], dirname: str = "save_dir", optimizers: Any = None) -> None:
    """Writes parameters, by their names, and the state of optimizers into a folder."""
    by_name = {getattr(value, "name", "") or key: value for key, value in model_dict.items()}
    checkpoint.save(by_name, os.path.join(dirname, "model.pdparams"))
    listed = optimizers if isinstance(optimizers, list | tuple) else [optimizers] if optimizers else []
    state = {key: value for one in listed for key, value in one.state_dict().items()}
    path = os.path.join(dirname, "optimizers.pdopt")
    if listed:
        checkpoint.save(state, path)
    elif os.path.exists(path):
        os.remove(path)


def load_persistables(*given: Any) -> Any:
    """What was written: of `("save_dir")` parameters and the state of optimizers, of `(state_dict, "save_dir")` parameters."""
    dirname = next((one for one in given if isinstance(one, str)), "save_dir")
    parameters = checkpoint.load(os.path.join(dirname, "model.pdparams"))
    if given and isinstance(given[0], dict):
        return parameters
    path = os.path.join(dirname, "optimizers.pdopt")
    if os.path.exists(path):
        return parameters, checkpoint.load(path)
    print(_NO_OPTIMIZER)
    return parameters, {}


def save_dygraph(state_dict: dict[str, Any], model_path: str) -> None:
    """Writes a state under a prefix: parameters as `.pdparams`, that of an optimizer as `.pdopt`."""
    plain = any(isinstance(value, Parameter) for value in state_dict.values())
    learns = plain or not (state_dict or isinstance(state_dict, OptimizerState))
    checkpoint.save(dict(state_dict), f"{model_path}{'.pdparams' if learns else '.pdopt'}")


def load_dygraph(model_path: str, keep_name_table: bool = False) -> tuple[Any, Any]:
    """Parameters and the state of an optimizer of a prefix; None for what was not written."""
    parameters = checkpoint.load(f"{model_path}.pdparams") if os.path.exists(f"{model_path}.pdparams") else None
    state = checkpoint.load(f"{model_path}.pdopt") if os.path.exists(f"{model_path}.pdopt") else None
    if parameters is None and state is None:
        parameters = checkpoint.load(f"{model_path}.pdparams")  # says that there is none
    return parameters, state
