"""Parameters in groups: what users list for an optimizer, and what is known of each parameter between steps.

In: parameters, or dicts that say how some of them are trained. Out: groups of slots.

>>> layer = d2s.nn.Linear(2, 1)
>>> groups = [{"params": [layer.weight]}, {"params": [layer.bias], "learning_rate": 0.5}]
>>> sgd = d2s.optimizer.SGD(0.1, parameters=groups)
>>> [(len(group.slots), group.rate) for group in sgd._groups]
[(1, 1.0), (1, 0.5)]
"""

from collections.abc import Iterable, Sequence
from typing import Any

from d2s import unique_name
from d2s.arguments import expect, number
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError
from d2s.nn.clip import ClipGradBase
from d2s.ops.dispatch import handlers
from d2s.ops.op import flag
from d2s.optimizer.update import Rule, Update
from d2s.regularizer import L2Decay, WeightDecayRegularizer
from d2s.types import NUMBERS

_SWITCHES = ("use_nesterov", "centered")  # settings that are on or off; all others are numbers
_OF_GROUPS = ("params", "learning_rate", "weight_decay", "grad_clip")  # what a group of any optimizer may hold


class Slot:
    """A parameter, its state, and the update bound to the memory of both, made again when that is another."""

    def __init__(self, parameter: Any) -> None:
        self.parameter, self.state = parameter, dict[str, Tensor]()
        self.bound: dict[Rule, Update] = {}

    def __getstate__(self) -> Any:
        return {"parameter": self.parameter, "state": self.state, "bound": {}}

    def update(self, rule: Rule) -> Update:
        arrays = (self.parameter.array, *(self.state[name].array for name in rule.state))
        found = self.bound.get(rule)
        if found is None or any(a is not b for a, b in zip(arrays, found.arrays, strict=True)):
            if not arrays[0].flags.writeable:
                raise ArgumentError("D2S0004", f"the memory of parameter '{self.parameter.name}' is read-only")
            found = self.bound[rule] = Update(rule, arrays)
        return found


class Group:
    """Parameters that are trained alike: `settings` are the optimizer's, but for those the group has of its own.

    A `rate`, which any group written down has, takes the place of what the parameters' attributes say of rate and decay.
    """

    def __init__(self, parameters: Sequence[Any], settings: dict[str, Any], decay: Any, clip: Any, rate: float | None) -> None:
        self.slots = [Slot(p) for p in parameters]
        self.settings, self.decay, self.clip, self.rate = settings, decay, clip, rate


class Groups:
    """Methods of `Optimizer`."""

    settings: dict[str, Any]
    regularization: WeightDecayRegularizer | None
    _grad_clip: ClipGradBase | None
    _groups: list[Group]
    _listed: Sequence[Any] = ()

    def _grouped(self, parameters: Any) -> list[Group]:
        if parameters is None and handlers.stack:
            return []  # a declared loss says what it depends on
        if parameters is None:
            raise ArgumentError("D2S0004", f"{type(self).__name__}(): 'parameters' is missing", hint="model.parameters()")
        if isinstance(parameters, Tensor | dict | str) or not isinstance(parameters, Iterable):
            got = type(parameters).__name__
            message = f"{type(self).__name__}(): 'parameters' expects a list of Tensors, or of dicts that are groups, got {got}"
            raise DTypeError("D2S0001", message)
        given = list(parameters)
        if given and isinstance(given[0], dict):
            return [self._group(group, 1.0) for group in given]
        return [self._group({"params": given})]

    def _group(self, given: Any, rate: float | None = None) -> Group:
        if not isinstance(given, dict) or "params" not in given:
            raise ArgumentError("D2S0004", "a group of parameters is a dict with 'params'; all groups are, or none")
        own = {key: value for key, value in given.items() if key in self.settings or key not in _OF_GROUPS}
        unknown = sorted(own.keys() - self.settings.keys())
        if unknown:
            known = ", ".join(dict.fromkeys([*_OF_GROUPS, *self.settings]))
            raise ArgumentError("D2S0004", f"a group of {type(self).__name__} has no {unknown[0]!r}", hint=f"one of {known}")
        listed = given["params"]
        expect(type(self).__name__, "params", listed, Iterable, "a list of Tensors")
        parameters = [listed] if isinstance(listed, Tensor) else list(listed)
        for p in parameters:
            self._check_parameter(p)
        clip = checked_clip(given["grad_clip"]) if "grad_clip" in given else self._grad_clip
        decays = "weight_decay" in given and "weight_decay" not in self.settings
        decay = self._decay(given["weight_decay"]) if decays else self.regularization
        own_rate = number(type(self).__name__, "learning_rate", given.get("learning_rate", rate)) if rate else None
        return Group(parameters, self.settings | self._checked(own), decay, clip, own_rate)

    def _checked(self, settings: dict[str, Any]) -> dict[str, Any]:
        name = type(self).__name__
        return {key: flag(value, key) if key in _SWITCHES else number(name, key, value) for key, value in settings.items()}

    def _check_parameter(self, parameter: Any) -> None:
        if not isinstance(parameter, Tensor):
            got = type(parameter).__name__
            raise DTypeError("D2S0001", f"{type(self).__name__}(): 'parameters' expects Tensors, and holds a {got}")
        if parameter.dtype.kind != "f":
            raise DTypeError("D2S0003", f"{type(self).__name__}(): {parameter.dtype.name} is not learnt; floats are")
        parameter.name = parameter.name or unique_name.generate("generated_tensor")

    def _check_apart(self) -> None:
        """State is kept by name: each parameter stands once, under a name of its own."""
        seen: dict[str, Any] = {}
        for p in self._parameter_list:
            if p.name in seen:
                what = "the parameter" if seen[p.name] is p else "the name of a parameter,"
                raise ArgumentError("D2S0004", f"{type(self).__name__}(): {what} '{p.name}' is listed twice")
            seen[p.name] = p

    def _decay(self, given: Any) -> WeightDecayRegularizer | None:
        """A decay of gradients; a number is that of an L2Decay."""
        if isinstance(given, NUMBERS) and not isinstance(given, bool):
            return L2Decay(number(type(self).__name__, "weight_decay", given)) if given else None
        if not isinstance(given, WeightDecayRegularizer | None):
            got = type(given).__name__
            raise DTypeError(
                "D2S0001", f"{type(self).__name__}(): 'weight_decay' expects a number, L1Decay or L2Decay, got {got}"
            )
        return given

    @property
    def _slots(self) -> list[Slot]:
        return [slot for group in self._groups for slot in group.slots]

    @property
    def _parameter_list(self) -> list[Any]:
        """The same list as long as it holds the same: captures that read it depend on it."""
        found, known = [slot.parameter for slot in self._slots], self._listed
        if len(found) != len(known) or any(p is not q for p, q in zip(found, known, strict=True)):
            self._listed = found
        return self._listed  # type: ignore[return-value]


def checked_clip(clip: Any) -> ClipGradBase | None:
    if not isinstance(clip, ClipGradBase | None):
        raise DTypeError("D2S0001", f"'grad_clip' expects a ClipGradByValue, -Norm or -GlobalNorm, got {type(clip).__name__}")
    return clip
