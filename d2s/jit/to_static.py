"""`@to_static`: a function captured once for each kind of call, and run as native code from then on.

>>> @d2s.to_static
... def double(x):
...     return x * 2 if x.sum() > 0 else x
>>> double(d2s.to_tensor([1.0, 2.0])).numpy().tolist()
[2.0, 4.0]
"""

import copy
import functools
import sys
import types as python_types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from d2s import convert
from d2s.arguments import expect, one_of
from d2s.capture.answers import OtherAnswer
from d2s.capture.locks import acting
from d2s.capture.symbolic import capturing
from d2s.capture.tree import flatten
from d2s.capture.users_code import at_users_line
from d2s.config import knob
from d2s.errors import CaptureError, DTypeError
from d2s.jit.captures import MOST_TRIED, Captures, CaptureWarning
from d2s.jit.forms import LIMIT, LOOKED_AT, Forms
from d2s.jit.graph import stays
from d2s.jit.inspected import Inspected
from d2s.jit.pieces import unwritten
from d2s.jit.quick import MISSED
from d2s.jit.recompiles import is_refused
from d2s.jit.signature import InputSpec
from d2s.jit.variant import Outdated, Unfinished, Variant
from d2s.nn import recorded as walks  # noqa: F401 - says how captures record a layer's walks
from d2s.nn.layer import Layer
from d2s.optimizer import recorded  # noqa: F401 - says how captures record an optimizer's methods
from d2s.runtime.native_entry import in_turn
from d2s.static.inlining import inlined
from d2s.static.program import current_recording
from d2s.static.recording import Recording
from d2s.static.strategies import BuildStrategy

_CAPTURES: Any = Layer._d2s_captures  # type: ignore[attr-defined]


class StaticFunction(Captures, Inspected):
    """A function made static. `owner` is what a method is bound to."""

    def __init__(
        self, function: Callable[..., Any], input_spec: Sequence[Any] | None = None, owner: Any = None, full_graph: bool = True
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self.__name__: str = getattr(function, "__name__", type(function).__name__)
        self.function, self.input_spec, self.owner, self.full_graph = function, input_spec, owner, full_graph
        self.variants, self.quick, self.forms, self.log = [], [], Forms(), []
        self.stays_open = False
        self.given_up: list[str] = []  # why calls ran as plain Python
        self.entered: list[Callable[..., Any]] = []  # what calls of it as a method begin with, if anything

    def __get__(self, owner: Any, kind: Any = None) -> "StaticFunction":
        if owner is None:
            return self
        if not isinstance(owner, Layer):
            return self.bound(owner)
        try:
            found: StaticFunction = _CAPTURES.__get__(owner)[self]
        except (AttributeError, KeyError):
            return self._kept_by(owner)
        return found

    def _kept_by(self, layer: Layer) -> "StaticFunction":
        """Bound to a layer that keeps what is captured for it: a capture knows the layer, and is freed with it."""
        bound = self.bound(layer)
        bound.__dict__.update(variants=[], quick=[], forms=Forms(), log=[], given_up=[], entered=[], unbound=bound)
        bound.enter()
        try:
            captures = _CAPTURES.__get__(layer)
        except AttributeError:
            _CAPTURES.__set__(layer, captures := {})
        return captures.setdefault(self, bound)  # type: ignore[no-any-return]

    def bound(self, owner: Any) -> "BoundFunction":
        bound = BoundFunction.__new__(BoundFunction)
        held = self.__dict__.copy()
        held.setdefault("unbound", self)
        held["owner"] = owner
        bound.__dict__ = held
        bound.enter()
        return bound

    def __deepcopy__(self, memo: dict[int, Any]) -> "StaticFunction":
        """Of a copied owner the copy's own: what was captured for the original is not."""
        return _restored(self.function, self.input_spec, copy.deepcopy(self.owner, memo))

    def __reduce__(self) -> str | tuple[Any, ...]:
        """By name where a decorator left it under the function's own name; else the function, which pickles by its name."""
        if self.owner is None and _named(self.function) is self:
            return str(self.function.__qualname__)
        found = _named(self.function)
        known = found if isinstance(found, StaticFunction) and found.function is self.function else self.function
        return _restored, (known, self.input_spec, self.owner)

    def is_same_as(self) -> tuple[Any, ...]:
        """What makes two of these the same: see `fingerprint`."""
        return self.function, self.owner

    def captured_as(self) -> Callable[..., Any]:
        """What a capture that meets this function calls."""
        return self.function if self.owner is None else python_types.MethodType(self.function, self.owner)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._of(*(() if self.owner is None else (self.owner,)), *args, **kwargs)

    def _of(self, /, *given: Any, **kwargs: Any) -> Any:
        """A call, of a method with what it is bound to in front."""
        for quick in self.quick:
            try:
                found = quick(*given, **kwargs)
            except TypeError as error:
                if error.__traceback__ and error.__traceback__.tb_next:  # it is the function's own
                    raise
                break  # the arguments do not fit the parameters
            if found is not MISSED:
                return found
        return self._otherwise(*given, **kwargs)

    def _otherwise(self, /, *given: Any, **kwargs: Any) -> Any:
        """The same where no quick way is that of the call."""
        return self._called(given if self.owner is None else given[1:], kwargs)

    def _of_owner(self, owner: Any, /, *args: Any, **kwargs: Any) -> Any:
        """`of`, as a method is called."""
        entry = self.entered[0] if self.entered else self._otherwise_of_owner
        return entry(owner, *args, **kwargs)

    def _otherwise_of_owner(self, owner: Any, /, *args: Any, **kwargs: Any) -> Any:
        """`otherwise`, as a method is called."""
        return (self if self.owner is owner else self.bound(owner))._otherwise(owner, *args, **kwargs)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        declared = current_recording()
        if declared is not None:
            return self._declared(declared, self._arguments(self._values(args, kwargs)))
        if capturing():
            return convert.call(self)(*args, **kwargs)
        if knob("EAGER") != "0":
            return self.captured_as()(*args, **kwargs)
        values = self._values(args, kwargs)
        for place, (_, variant) in enumerate(self.variants[:LOOKED_AT]):
            leaves = variant.matches(values) if variant.matches else None
            if leaves is not None:
                if place or variant.is_slow:
                    self._first(variant, leaves)
                return self._run(variant, leaves, values)
        found = self._further(values, args, kwargs)
        if found is not MISSED:
            return found
        if self._is_left():
            with acting(self._turn()):
                return self.captured_as()(*args, **kwargs)
        leaves, skeleton = flatten(self._arguments(values))
        with acting(self._turn()):  # from the capture to the end of its run: else others may change what it knows each time
            try:
                variant = self._variant(leaves, skeleton, values)
            except CaptureError as error:
                if self.full_graph or error.code == "D2S1006":
                    raise
                return self._as_python(error, args, kwargs)
            return self._run(variant, leaves, values)

    def _run(self, variant: Variant, leaves: list[Any], values: tuple[Any, ...]) -> Any:
        """A call. A run that finds another answer than its capture stands for has changed nothing: that for the other runs."""
        tried: list[tuple[Variant, int]] = []
        while len(tried) < MOST_TRIED:
            try:
                return self._ran(variant, leaves, values)
            except Outdated:
                args, kwargs = self._as_given(values)
                return self._called(args if self.owner is None else args[1:], kwargs)
            except OtherAnswer as other:
                tried.append((variant, other.place))
            try:
                variant = self._answering(tried, leaves, values)
            except CaptureError as error:
                if self.full_graph or error.code == "D2S1006":
                    raise
                self._warn_of_python(error)
                return self._eagerly(values)
        self._warn_of_python(CaptureError("D2S1003", "each of its captures asks something else", where=self._line()))
        return self._eagerly(values)

    def _further(self, values: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call for which a variant stands that stood for one of its form, but is none of those looked at first."""
        for variant in self.forms.of(values):
            found = MISSED
            if variant.quick is not None:
                found = variant.quick(*(args if self.owner is None else (self.owner, *args)), **kwargs)
            leaves = variant.matches(values) if found is MISSED and variant.matches else None
            if found is MISSED and leaves is None:
                continue
            if self.forms.is_again(variant) or variant.is_slow:
                self._first(variant, leaves or [])
            return found if leaves is None else self._run(variant, leaves, values)
        return MISSED

    def _is_left(self) -> bool:
        """Whether eager code makes a call that none of many captures stands for."""
        return len(self.log) >= LIMIT and not (self.stays_open or is_refused() or stays()) and self.forms.leaves()

    def _ran(self, variant: Variant, leaves: list[Any], values: tuple[Any, ...]) -> Any:
        """A run. Where an op fails behind changes, eager code makes these: the run has acted on nothing by then."""
        if variant.is_left(leaves):
            with acting(variant.turn):
                return self._eagerly(values)
        try:
            return variant.in_turn(leaves, values)
        except Unfinished as unfinished:
            error = unfinished.error
        if error is None:
            return self._eagerly(values)
        if not variant.can_be_repeated:
            raise unwritten(error)
        try:
            return self._eagerly(values)
        except type(error):
            raise error from None

    def _eagerly(self, values: tuple[Any, ...]) -> Any:
        """The function itself, on the values of its parameters."""
        args, kwargs = self._as_given(values)
        return self.function(*args, **kwargs)

    def _as_python(self, error: CaptureError, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call without a graph; the first time with a warning that says why."""
        self._warn_of_python(error)
        return self.captured_as()(*args, **kwargs)

    def _warn_of_python(self, error: CaptureError) -> None:
        if not self.given_up:
            message = f"'{self.__name__}' runs as plain Python, because it cannot be captured: {error}"
            at_users_line(warnings.warn)(message, CaptureWarning)
        self.given_up.append(str(error))

    def _declared(self, recording: Recording, arguments: dict[str, Any]) -> Any:
        """The function as a part of a program that is being declared."""
        leaves, skeleton = flatten(arguments)
        return inlined(recording, self._python, self.__name__, leaves, skeleton, self._names(arguments), arguments)


class FreeFunction(StaticFunction):
    """One that is no method. Its `__call__` is a slot, in which stands what native code tries in turn: the quick ways."""

    __slots__ = ("__call__",)

    def __init__(self, function: Callable[..., Any], input_spec: Sequence[Any] | None = None, full_graph: bool = True) -> None:
        super().__init__(function, input_spec, full_graph=full_graph)
        self._choose_quick()

    def _choose_quick(self) -> None:
        super()._choose_quick()
        entry = in_turn(self.quick, MISSED, self._otherwise) if self.quick else super().__call__
        object.__setattr__(self, "__call__", entry)


class BoundFunction(StaticFunction):
    """A method. All that are bound to owners that share captures have one function in their slots, which is given the owner.

    That knows none of these: `unbound` does the calls it does not.
    """

    __slots__ = ("__call__",)
    unbound: StaticFunction

    def _choose_quick(self) -> None:
        super()._choose_quick()
        self.entered[:] = [in_turn(self.quick, MISSED, self.unbound._otherwise_of_owner)] if self.quick else []
        self.enter()

    def enter(self) -> None:
        """From now on calls begin where those of the others do."""
        entry = self.entered[0] if self.entered else self.unbound._of_owner
        _set_call(self, python_types.MethodType(entry, self.owner))


_set_call = BoundFunction.__dict__["__call__"].__set__


def _named(function: Callable[..., Any]) -> Any:
    """What stands in the function's module under its name."""
    found: Any = sys.modules.get(getattr(function, "__module__", ""))
    for name in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, name, None)
    return found


def _restored(known: Any, input_spec: Any, owner: Any) -> StaticFunction:
    """A pickled one, with nothing captured yet."""
    function = known.function if isinstance(known, StaticFunction) else known
    return FreeFunction(function, input_spec) if owner is None else StaticFunction(function, input_spec).bound(owner)


def to_static(
    function: Any = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: BuildStrategy | None = None,
    backend: str | None = None,
    *,
    full_graph: bool = True,
) -> Any:
    """Makes a function, a method or a Layer static; with or without parentheses.

    What `build_strategy` and `backend` ask Paddle for - which passes, which compiler - is done in any case.

    >>> @d2s.to_static
    ... def halved(x):
    ...     while x.sum() > 1.0:
    ...         x = x / 2.0
    ...     return x
    >>> halved(d2s.to_tensor([6.0])).item()
    0.75
    """
    expect("to_static", "input_spec", input_spec, list | tuple | None, "a list")
    for spec in input_spec or ():
        expect("to_static", "input_spec", spec, (InputSpec, list, tuple, dict, str, int, float, type(None)), "InputSpecs")
    expect("to_static", "build_strategy", build_strategy, BuildStrategy | None, "a BuildStrategy")
    expect("to_static", "full_graph", full_graph, bool, "a bool")
    if backend is not None:
        one_of("to_static", "backend", backend, ("CINN",))
    again = functools.partial(to_static, input_spec=input_spec, full_graph=full_graph)
    if function is None:
        return again
    if isinstance(function, type) and issubclass(function, Layer):
        setattr(function, "forward", again(function.forward))  # noqa: B010 - a method, to mypy
        return function
    if getattr(function, "d2s_not_to_static", False):
        return function
    if isinstance(function, Layer):
        forward = function.forward
        made = again(forward)
        function.__dict__["forward"] = made
        return function
    if isinstance(function, staticmethod | classmethod):
        return type(function)(again(function.__func__))
    if isinstance(function, StaticFunction):
        found = StaticFunction(function.function, input_spec or function.input_spec, None, full_graph)
        return found if function.owner is None else found.bound(function.owner)
    if isinstance(function, python_types.MethodType):
        return StaticFunction(function.__func__, input_spec, None, full_graph).bound(function.__self__)
    if not callable(function) or isinstance(function, type):
        raise DTypeError("D2S0001", f"to_static(): expects a function, a method or a Layer, got {type(function).__name__}")
    return FreeFunction(function, input_spec, full_graph)
