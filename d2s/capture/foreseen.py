"""What NumPy makes of constants, which a capture has as well as a run: its numbers are constants, its arrays data for tensors.

In: a function and what a step would call it with. Out: what that gives, or MISSING where only a run can tell. Each run has
arrays of its own, so these are objects of the run, too; but the steps that make and change them are recorded only where one of
them is given to something else. Until then nobody else can have changed them, and ops take the values that they hold here.

>>> from d2s.ops.dispatch import handling
>>> tracer, computed = Tracer("f"), lambda: MISSING
>>> with handling(tracer):
...     found = result(tracer, "tri", np.tri, (2,), {}, computed)
...     none = result(tracer, "setitem", operator.setitem, (found, (0, 1), 5.0), {}, computed)
...     total = result(tracer, "sum", np.sum, (found,), {}, computed)
>>> values_in(tracer, found).tolist(), float(total), tracer.builder.nodes
([[1.0, 5.0], [1.0, 1.0]], 8.0, [])
"""

import dataclasses
import itertools
import operator
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s.capture.examples import called
from d2s.capture.forms import Foreseen, Later
from d2s.capture.guards import MISSING
from d2s.capture.only_computing import is_numpys, only_computes
from d2s.capture.symbolic import Tracer
from d2s.capture.tree import containers, flatten, rebuild
from d2s.capture.users_code import user_line

_NUMBERS = (bool, int, float, complex)
_FIXED = (*_NUMBERS, str, range, types.NoneType, types.EllipsisType)  # besides numbers and types of NumPy's
_NOBODYS = (types.NoneType, types.ModuleType, type, np.ufunc, np.generic)  # what functions and numbers are of
_PYTHONS = {getattr, setattr, called, *(f for f in vars(operator).values() if isinstance(f, types.BuiltinFunctionType))}
_ARMS = ("then", "otherwise")
_order = itertools.count()


@dataclasses.dataclass(frozen=True, eq=False)
class Unrecorded:
    """A step that no Program has yet, and what stands for its result."""

    place: int
    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    found: Later | None
    where: str


class Family:
    """Arrays that may share memory, where they were made, and the steps that make and change them."""

    record: "Callable[[Tracer, Unrecorded], Any]"  # gives the number that says which object of a run the result is

    def __init__(self, home: Tracer) -> None:
        self.home, self.path = home, home.root.heap.here()
        self.steps: list[Unrecorded] = []
        home.root.families[id(self)] = self

    def is_here(self, tracer: Tracer) -> bool:
        """Whether what is recorded now comes next behind the steps."""
        return tracer is self.home and tracer.root.heap.here() is self.path

    def is_around(self, tracer: Tracer) -> bool:
        """Whether it is so, or what is recorded is an arm of a branch that comes next."""
        inner = tracer.root.heap.inside(self.path)
        if inner is None or not all(isinstance(path, Tracer) and path.builder.name in _ARMS for path in inner):
            return False
        return tracer is (inner[-1] if inner else self.home)

    def made(self) -> list[Later]:
        return [step.found for step in self.steps if step.found is not None]

    def join(self, other: "Family") -> None:
        """Takes in another one."""
        self.steps = sorted([*self.steps, *other.steps], key=lambda step: step.place)
        for made in other.made():
            made.foreseen = Foreseen(made.foreseen.value, self)  # type: ignore[union-attr]
        del self.home.root.families[id(other)]

    def settle(self) -> None:
        """Records the steps: from now on only a run knows the arrays."""
        del self.home.root.families[id(self)]
        for step in self.steps:
            handle = Family.record(self.home, step)
            if step.found is not None:
                step.found.settled, step.found.foreseen = handle, None


def settle_all(tracer: Tracer) -> None:
    """Has runs alone know all arrays: what follows may be run again, and then records in the same order."""
    for family in list(tracer.root.families.values()):
        family.settle()


def values_in(tracer: Tracer, value: Later) -> Any:
    """What an object holds here; MISSING where only a run knows."""
    return value.foreseen.value if value.foreseen is not None and value.foreseen.family.is_around(tracer) else MISSING


def result(
    tracer: Tracer, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], example: Callable[[], Any]
) -> Any:
    """What a function gives, if it only computes, and all that it is given is foreseen here."""
    leaves, skeleton = flatten([args, kwargs])
    held = [leaf for leaf in leaves if isinstance(leaf, Later)]
    if not all(map(is_foreseen, leaves)) or not all(leaf.foreseen.family.is_here(tracer) for leaf in held):  # type: ignore[union-attr]
        return MISSING
    given, named = rebuild(skeleton, map(_here, leaves))
    inside = [c for value in (*args, *kwargs.values()) for c in containers(value)]
    if not _is_followed(function, given) or not all(_is_known(tracer, container) for container in inside):
        return MISSING
    found = _computed(function, given, named)
    if _is_constant(found):
        return found
    same = next((leaf for leaf in held if leaf.foreseen.value is found), None)  # type: ignore[union-attr]
    if tracer.catches() or not (held if found is None else same is not None or _is_held(found)):
        return MISSING
    family = _one([leaf.foreseen.family for leaf in held], tracer)  # type: ignore[union-attr]
    made = None if found is None or same is not None else Later(None, example(), Foreseen(found, family))
    args, kwargs = rebuild(skeleton, leaves)  # containers of their own, which nobody changes
    family.steps.append(Unrecorded(next(_order), name, function, tuple(args), kwargs, made, user_line()))
    return same if made is None else made


def _here(value: Any) -> Any:
    return value.foreseen.value if isinstance(value, Later) and value.foreseen is not None else value


def is_foreseen(value: Any) -> bool:
    """Whether it is a constant, or an object of a run that a capture has, too."""
    if isinstance(value, Later):
        return value.foreseen is not None
    if isinstance(value, slice):
        return all(bound is None or isinstance(bound, int | np.integer) for bound in (value.start, value.stop, value.step))
    return type(value) in _FIXED or isinstance(value, np.number | np.bool_ | np.dtype | type)


def is_followed(function: Any) -> bool:
    """Whether it is NumPy's, and only computes; a method may change what it is of."""
    free = isinstance(getattr(function, "__self__", None), _NOBODYS)
    return free and is_numpys(function) and only_computes(function)


def _is_followed(function: Any, given: Sequence[Any]) -> bool:
    if function is called:
        return isinstance(given[0], types.BuiltinMethodType) and only_computes(given[0])
    return any(function is known for known in _PYTHONS) or is_followed(function)


def _is_known(tracer: Tracer, container: Any) -> bool:
    """Whether a capture that finds something else in a container is another one."""
    guarded = (id(container), "content") in tracer.root.guards
    return isinstance(container, tuple) or tracer.root.heap.has(container) or guarded


def _computed(function: Callable[..., Any], given: Sequence[Any], named: dict[str, Any]) -> Any:
    """What a function gives; MISSING where NumPy complains: it does so in each run."""
    try:
        with np.errstate(all="raise"), warnings.catch_warnings(record=True) as complaints:
            warnings.simplefilter("always")
            found = function(*given, **named)
    except Exception:
        return MISSING
    return MISSING if complaints else found


def _is_constant(value: Any) -> bool:
    """Whether a result never changes, and leaves as it is: a number, an extent of each axis."""
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return value is MISSING or isinstance(value, np.number | np.bool_) or type(value) in _NUMBERS


def _is_held(value: Any) -> bool:
    """Whether all that is done to a result is done in steps: an array, a method of one, several."""
    if type(value) in (tuple, list):
        return all(_is_constant(part) or _is_held(part) for part in value)
    array = value.__self__ if isinstance(value, types.BuiltinMethodType) else value
    return type(array) is np.ndarray and not array.dtype.hasobject


def _one(families: Sequence[Family], tracer: Tracer) -> Family:
    """One of all."""
    first, *others = dict.fromkeys(families) or [Family(tracer)]
    for other in others:
        first.join(other)
    return first
