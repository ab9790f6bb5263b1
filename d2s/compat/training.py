"""Optimizers as 1.x and 2.0 alpha had them, and checkpoints of a folder or a prefix.

In: a loss whose gradients there are, or a declared one. Out: a step.

>>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
>>> sgd = SGDOptimizer(learning_rate=0.5, parameter_list=[p])
>>> loss = (p * 2.0).sum()
>>> loss.backward()
>>> _ = sgd.minimize(loss)
>>> p.tolist()
[0.0]
"""

import os
from typing import Any

import numpy as np

from d2s import checkpoint, optimizer
from d2s.compat import old_rules as rules
from d2s.compat.decays import Decay
from d2s.compat.declared_rates import DeclaredRate, rate_of
from d2s.compat.old_values import learnt
from d2s.eager.tensor import to_tensor
from d2s.errors import ArgumentError
from d2s.nn.parameter import Parameter
from d2s.optimizer.optimizer import Optimizer
from d2s.static.program import default_main_program
from d2s.static.variable import Variable


class OptimizerState(dict):  # type: ignore[type-arg]
    """The state of an optimizer: a file says that it is one, also where it is empty."""


class _Old:
    """What an optimizer of then does otherwise: without parameters it trains all that the loss reached."""

    _order: tuple[str, ...]  # of the arguments
    _learning_rate: Any
    _used: float | None = None  # the rate of the latest step
    _declared = False
    _shown: Any = None  # a tensor that is the rate, where that was asked for

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(self._order):
            raise TypeError(f"{type(self).__name__}() takes {len(self._order)} arguments, and {len(args)} were given")
        given = dict(zip(self._order, args, strict=False)) | kwargs
        given["learning_rate"] = rate_of(given.get("learning_rate"))
        parameters, decay = given.pop("parameter_list", None), given.pop("regularization", None)
        given |= {"parameters": list(parameters or [])} | ({} if decay is None else {"weight_decay": decay})
        super().__init__(**given)
        self._all = parameters is None

    def minimize(
        self, loss: Any, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None, grad_clip: Any = None
    ) -> Any:
        self._declared = isinstance(loss, Variable)
        if isinstance(self._learning_rate, DeclaredRate):
            self._learning_rate.declare(loss)
        self._limit(grad_clip or (default_main_program().notes.get("gradient_clip") if self._declared else None))
        if self._all and not self._declared:
            self._find()
        found = super().minimize(loss, startup_program, parameter_list, no_grad_set)  # type: ignore[misc]
        if not self._declared:
            self._stepped()
        return found

    def _limit(self, clip: Any) -> None:
        if clip is not None and self._grad_clip is None:  # type: ignore[has-type]
            self._grad_clip = clip
            for group in self._groups:  # type: ignore[has-type]
                group.clip = clip

    def _stepped(self) -> None:
        rate = self._learning_rate
        self._used = self.get_lr()  # type: ignore[attr-defined]
        if self._shown is not None:
            self._shown.set_value(np.array([self._used], "float32"))
        if isinstance(rate, Decay):
            rate.step()

    def _raise_powers(self, slot: Any, group: Any) -> None:
        super()._raise_powers(slot, group)  # type: ignore[misc]
        if self._declared and slot is self._groups[0].slots[0]:
            self._stepped()

    def _global_learning_rate(self, program: Any = None) -> Any:
        """The learning rate as a variable, which a run may be asked for."""
        if isinstance(self._learning_rate, DeclaredRate):
            return self._learning_rate.rate
        if self._shown is None:
            self._shown = to_tensor([self.get_lr()], "float32")  # type: ignore[attr-defined]
        return self._shown

    def current_step_lr(self) -> float:
        """The learning rate of the latest step, or of the first."""
        return self.get_lr() if self._used is None else self._used  # type: ignore[attr-defined]

    def _find(self) -> None:
        """Takes in the parameters that have got gradients."""
        known = {id(p) for p in self._parameter_list}  # type: ignore[attr-defined]
        reached = [p for key, p in learnt.items() if key not in known and p._grad is not None and not p.stop_gradient]
        if reached:
            self._groups = [g for g in self._groups if g.slots] + [self._group({"params": reached})]  # type: ignore
        if not self._parameter_list:  # type: ignore[attr-defined]
            message = "minimize(): no parameter of a layer has a gradient"
            raise ArgumentError("D2S0004", message, hint="loss.backward() first, or parameter_list=model.parameters()")

    def state_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = super().state_dict()  # type: ignore[misc]
        found.pop("LR_Scheduler", None)
        rate = self._learning_rate
        if isinstance(rate, Decay):
            found["global_step"] = to_tensor([rate.count], "int64")
        return OptimizerState(found)

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        rate = self._learning_rate
        if "global_step" in state_dict and isinstance(rate, Decay):
            rate.count = int(to_tensor(state_dict["global_step"]).item())
        super().set_state_dict({k: v for k, v in state_dict.items() if k != "global_step"})  # type: ignore[misc]

    set_dict = load = set_state_dict


_REST = " parameter_list regularization grad_clip name"
_ORDERS: dict[type[Optimizer], str] = {
    optimizer.SGD: "learning_rate" + _REST,
    rules.Adam: "learning_rate beta1 beta2 epsilon" + _REST,
    optimizer.Adamax: "learning_rate beta1 beta2 epsilon" + _REST,
    optimizer.Momentum: "learning_rate momentum parameter_list use_nesterov regularization grad_clip name",
    optimizer.Adagrad: "learning_rate epsilon" + _REST,
    rules.Adadelta: "learning_rate epsilon rho" + _REST,
    optimizer.RMSProp: "learning_rate rho epsilon momentum centered" + _REST,
    rules.Lamb: "learning_rate lamb_weight_decay beta1 beta2 epsilon parameter_list regularization grad_clip "
    "exclude_from_weight_decay_fn name",
    rules.LarsMomentum: "learning_rate momentum lars_coeff lars_weight_decay" + _REST,
    rules.DecayedAdagrad: "learning_rate decay epsilon" + _REST,
    rules.Ftrl: "learning_rate l1 l2 lr_power" + _REST,
}


def _old(kind: type[Optimizer], order: str) -> type:
    return type(f"{kind.__name__}Optimizer", (_Old, kind), {"_order": (*order.split(),), "__doc__": kind.__doc__})


OPTIMIZERS = [_old(kind, order) for kind, order in _ORDERS.items()]
SGDOptimizer, AdamOptimizer = OPTIMIZERS[:2]
BY_NAME = {name: kind for kind in OPTIMIZERS for name in (kind.__name__, kind.__name__.removesuffix("Optimizer"))}


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
    """Parameters and the state of an optimizer of a prefix, as arrays; None for what was not written."""
    parameters, state = (f"{model_path}{end}" for end in (".pdparams", ".pdopt"))
    if not os.path.exists(state) or os.path.exists(parameters):
        return _arrays(parameters), _arrays(state) if os.path.exists(state) else None
    return None, _arrays(state)


def _arrays(path: str) -> Any:
    """What a file holds, whose tensors are arrays."""
    return checkpoint.load(path, return_numpy=True)
