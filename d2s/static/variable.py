"""What a declared program is written with: variables, and what the inputs of a program are.

In: values of a program that is being declared. Out: variables, of which kind and shape can be asked, and nothing else.

>>> d2s.enable_static()
>>> with d2s.static.program_guard(d2s.static.Program()):
...     x = d2s.static.data("x", [None, 2])
>>> d2s.disable_static()
>>> x.shape, x.ndim, x.name
([-1, 2], 2, 'x')
"""

import dataclasses
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from d2s.capture import in_place
from d2s.capture.symbolic import SymbolicTensor
from d2s.capture.users_code import in_package, refuse
from d2s.eager.tensor import Tensor, stop_flag
from d2s.extents import agree
from d2s.ops.compare import cast
from d2s.ops.found import places_along
from d2s.ops.item import get_item, set_item
from d2s.types import Dim, bool_


@dataclasses.dataclass(frozen=True, slots=True)
class Fed:
    """An input that each run is given."""

    name: str


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Held:
    """An input that is read from a tensor: a parameter, a buffer, a constant."""

    tensor: Tensor


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """An input that is the seed (part 0) or the counter (1) of the stream of random numbers when a run begins."""

    part: int


class Called(NamedTuple):
    """A call of Python whose gradient is another one, which is told some of the inputs and results, by number."""

    backward: Callable[..., Any]
    inputs: "list[Variable]"
    outputs: "list[Variable]"
    told: list[int]


class Step(NamedTuple):
    """What each run does at its end: a step of an optimizer with gradients the program computes."""

    optimizer: Any
    gradients: list[tuple[Tensor, Any]]  # variables


def _unknown(asked: str, way_out: str) -> Callable[..., NoReturn]:
    def method(self: Any, *_: Any, **__: Any) -> NoReturn:
        refuse("D2S1001", f"{asked} of a variable of a declared program: only a run has its values", way_out)

    return method


class Variable(SymbolicTensor):
    """A value of a declared program: what it is only a run tells, of what kind it is can be asked."""

    __slots__ = ()

    __bool__ = _unknown("bool()", "static.nn.cond() and static.nn.while_loop() decide in a run")
    __int__ = _unknown("int()", "fetch it with Executor.run()")
    __float__ = _unknown("float()", "fetch it with Executor.run()")
    numpy = _unknown("numpy()", "fetch it with Executor.run()")
    item = _unknown("item()", "fetch it with Executor.run()")
    backward = _unknown("backward()", "static.append_backward(), or optimizer.minimize()")
    clear_gradient = clear_grad = _unknown("clear_gradient()", "a run computes gradients anew: there is none to clear")
    _the_grad = _unknown("the grad", "static.append_backward() or static.gradients(), and fetch what they return")
    grad = property(_the_grad, _the_grad)

    @property
    def root(self) -> Any:
        """The recording of the program it belongs to."""
        return self.recorder.root  # type: ignore[attr-defined]

    @property
    def shape(self) -> list[int]:
        """The extents; an open one is -1 to users, as in Paddle, and an `Extent` to d2s itself."""
        if in_package(sys._getframe(1).f_code.co_filename):
            return list(self.value.type.shape)  # type: ignore[arg-type]
        return [_seen(d) for d in self.value.type.shape]

    @property
    def size(self) -> int:
        """How many values it has; -1 where only a run can tell."""
        found: Any = math.prod(self.value.type.shape)  # type: ignore[arg-type]
        return found if isinstance(found, int) or in_package(sys._getframe(1).f_code.co_filename) else -1

    def __len__(self) -> int:
        if self.ndim and isinstance(self.value.type.shape[0], str):
            refuse("D2S1001", "len() of a variable: only a run knows how long it is", "give the extent in static.data()")
        return super().__len__()

    @property
    def name(self) -> str:
        return self.root.name_of(self)

    @name.setter
    def name(self, name: str) -> None:
        self.root.call(self, name)

    @property
    def stop_gradient(self) -> bool:  # type: ignore[override]
        """Whether no gradient passes here."""
        return self.value in self.root.stopped

    @stop_gradient.setter
    def stop_gradient(self, stop: bool) -> None:
        (self.root.stopped.add if stop_flag(stop) else self.root.stopped.discard)(self.value)

    @property
    def persistable(self) -> bool:
        return isinstance(self.root.roles.get(self.value), Held)

    @property
    def is_data(self) -> bool:
        """Whether each run is given it."""
        return isinstance(self.root.roles.get(self.value), Fed)

    need_check_feed = is_data
    is_parameter = belong_to_optimizer = False
    lod_level, error_clip = 0, None

    @property
    def block(self) -> Any:
        """Where it is declared."""
        return self.root.program.global_block()

    @property
    def op(self) -> Any:
        """The operator that computes it; None of what is given."""
        return next((op for op in self.block.ops if self.value in op.node.outputs), None)

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        return repr(self)

    def set_value(self, value: Any, scope: Any = None) -> None:
        refuse("D2S1003", "set_value() of a variable: only a run has its values", "give a run other values to feed")

    def __getitem__(self, index: Any) -> Any:
        return get_item(self, self._plain(index))

    def _plain(self, index: Any) -> Any:
        """An index as ops take it: of a mask of the first axes the places where it holds."""
        if not (isinstance(index, Variable) and index.dtype is bool_ and index.ndim):
            return index
        dims, want = index.value.type.shape, self.value.type.shape[: index.ndim]
        if not agree(dims, want):
            refuse("D2S0007", f"a mask of shape {list(dims)} does not fit axes of {list(want)} values")
        return tuple(places_along(index))

    def __setitem__(self, index: Any, value: Any) -> None:  # type: ignore[override]
        self._become(set_item(self, self._plain(index), value))

    def _become(self, result: Any, history: bool = True) -> Any:
        """The variable is another one from here on."""
        self._check_taken(result.value.type)
        if result.recorder is not self.recorder:
            refuse("D2S1003", "a variable from outside is changed in a declared branch or loop", "return the new one")
        self.value = result.value
        return self

    def __getattr__(self, name: str) -> Any:
        method = in_place.method(self, name)
        if method is not None:
            return method
        if hasattr(Tensor, name):
            refuse("D2S1003", f"'{name}' of a variable: only a run has its values", "fetch it with Executor.run()")
        raise AttributeError(f"'Variable' object has no attribute '{name}'")

    def detach(self) -> "Variable":  # type: ignore[override]
        """The same values, where gradients stop."""
        found: Variable = cast(self, self.dtype)
        found.stop_gradient = True
        return found

    def __repr__(self) -> str:  # type: ignore[override]
        kind = f"{self.value.type.dtype.name}, {[_seen(d) for d in self.value.type.shape]}"
        return f"Variable({self.name}: {kind}, stop_gradient={self.stop_gradient})"

    __str__ = __repr__  # type: ignore[assignment]

    def __format__(self, spec: str) -> str:  # type: ignore[override]
        return format(repr(self), spec)

    def minimized_by(self, optimizer: Any, startup: Any, parameters: Any, no_grad_set: Any) -> Any:
        """What `optimizer.minimize(loss)` does for a declared loss: each run ends with a step."""
        pairs = self.gradients_for(optimizer, parameters, no_grad_set)
        return self.applied_by(optimizer, pairs), pairs

    def gradients_for(self, optimizer: Any, parameters: Any, no_grad_set: Any) -> list[tuple[Tensor, "Variable"]]:
        """What `optimizer.backward(loss)` does for a declared loss."""
        return self.root.append_backward(self, parameters or optimizer._parameter_list or None, no_grad_set)

    def applied_by(self, optimizer: Any, pairs: Sequence[tuple[Tensor, "Variable"]]) -> list[Any]:
        """What `optimizer.apply_gradients` does with declared gradients, of which this is one."""
        if not optimizer._parameter_list:
            optimizer._groups = [optimizer._group({"params": [p for p, _ in pairs]})]
        self.root.steps.append(Step(optimizer, list(pairs)))
        return []


def _seen(dim: Dim) -> int:
    return -1 if isinstance(dim, str) else dim
