"""Arguments to values in the order of the parameters, by a function with the very parameters of the user's.

In: a signature. Out: a function that Python itself binds. It knows the defaults that the signature has.

>>> import inspect
>>> binder(inspect.signature(lambda x, /, k=2, *rest, flag=True, **more: None))(1, 3, 4, other=5)
(1, 3, (4,), True, {'other': 5})
"""

import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.tree import flatten
from d2s.errors import ArgumentError, DTypeError
from d2s.jit.signature import InputSpec, aligned

_STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def binder(signature: inspect.Signature) -> Callable[..., tuple[Any, ...]]:
    """The function that binds calls with this signature."""
    parameters = list(signature.parameters.values())
    values = "".join(f"{p.name}, " for p in parameters)
    exec(f"def bind({', '.join(listed(parameters))}):\n    return ({values})\n", scope := defaults_of(parameters))
    found: Callable[..., tuple[Any, ...]] = scope["bind"]
    return found


def defaults_of(parameters: Sequence[inspect.Parameter]) -> dict[str, Any]:
    """The defaults, by the names they have in a text."""
    return {f"d2s_default_{n}": p.default for n, p in enumerate(parameters) if p.default is not p.empty}


def listed(parameters: Sequence[inspect.Parameter]) -> list[str]:
    """The parameters as they stand in a `def`."""
    listed = []
    kinds = [p.kind for p in parameters]
    for n, p in enumerate(parameters):
        before = kinds[n - 1] if n else None
        if before is p.POSITIONAL_ONLY and p.kind is not before:
            listed.append("/")
        if p.kind is p.KEYWORD_ONLY and before not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            listed.append("*")
        listed.append(_STARS.get(p.kind, "") + p.name + (f"=d2s_default_{n}" if p.default is not p.empty else ""))
    return [*listed, "/"] if kinds and kinds[-1] is inspect.Parameter.POSITIONAL_ONLY else listed


def passed(parameters: Sequence[inspect.Parameter]) -> list[str]:
    """What a call of a function with these parameters says that hands all of them on."""
    return [f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else _STARS.get(p.kind, "") + p.name for p in parameters]


def written(name: str, parameters: Sequence[inspect.Parameter], lines: Sequence[str], objects: dict[str, Any]) -> Any:
    """A function with these parameters, of these lines; None where one has the name of an object that the lines know.

    Its file is one of d2s: nodes of the tape look for the user's line.
    """
    if {p.name for p in parameters} & objects.keys():
        return None
    text = f"def {name}({', '.join(listed(parameters))}):\n" + "".join(f"    {line}\n" for line in lines)
    exec(compile(text, f"{__file__}: written", "exec"), objects)
    return objects[name]


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """A function's signature; that of anything for a builtin that tells none."""
    try:
        return inspect.signature(function)
    except ValueError:
        kinds = {"args": inspect.Parameter.VAR_POSITIONAL, "kwargs": inspect.Parameter.VAR_KEYWORD}
        return inspect.Signature([inspect.Parameter(name, kind) for name, kind in kinds.items()])


class Binds:
    """Methods of `StaticFunction`: its arguments by parameter, in order, as leaves."""

    __name__: str
    function: Callable[..., Any]
    owner: Any
    input_spec: Sequence[Any] | None
    _bound_with: Sequence[Any] = ()  # the defaults that the binder knows
    _binder: Callable[..., tuple[Any, ...]]
    _signature: inspect.Signature

    def _values(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters, defaults filled in."""
        self.signature()
        try:
            return self._binder(*(args if self.owner is None else (self.owner, *args)), **kwargs)
        except TypeError as error:
            message = str(error).replace("bind()", f"{self.__name__}()")
            raise DTypeError("D2S0001", f"{self.__name__}{self.signature()}: {message}") from None

    def _arguments(self, values: tuple[Any, ...]) -> dict[str, Any]:
        """The arguments by parameter."""
        return dict(zip(self.signature().parameters, values, strict=True))

    def _as_given(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the function takes them."""
        bound = inspect.BoundArguments(self.signature(), self._arguments(values))  # type: ignore[arg-type]
        return bound.args, bound.kwargs

    def _names(self, arguments: dict[str, Any]) -> list[str]:
        """A name for each leaf of the arguments."""
        names = []
        for name, value in arguments.items():
            count = len(flatten(value)[0])
            names += [name] if count == 1 else [f"{name}_{k}" for k in range(count)]
        return names

    def signature(self) -> inspect.Signature:
        """The function's, with the defaults it has now."""
        named = getattr(self.function, "__kwdefaults__", None) or {}
        now = [getattr(self.function, "__defaults__", None), *named, *named.values()]
        known = self._bound_with
        if len(known) != len(now) or not all(map(operator.is_, known, now)):
            self._signature = signature_of(self.function)
            self._binder = binder(self._signature)
            self._bound_with = now
        return self._signature

    @property
    def __signature__(self) -> inspect.Signature:
        """What `inspect.signature` finds: of a method that is bound, without `self`."""
        whole = self.signature()
        return whole if self.owner is None else whole.replace(parameters=list(whole.parameters.values())[1:])

    def _specs(self, values: tuple[Any, ...]) -> list[InputSpec | None]:
        """The input_spec, in line with the leaves: of a method it does not name `self`."""
        if not self.input_spec:
            return []
        by_name, kinds = self._told(), self.signature().parameters.values()
        given = [by_name.get(p.name, () if p.kind is p.VAR_POSITIONAL else None) for p in kinds]
        return aligned(given, values)

    def _as_told(self, example: Callable[[Any], Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters, with an example of what the input_spec tells of each."""
        args, kwargs, told = list[Any](), dict[str, Any](), self._told()
        for p in self.signature().parameters.values():
            if p.kind is p.KEYWORD_ONLY and p.name in told:
                kwargs[p.name] = example(told[p.name])
            elif p.name in told:
                args += map(example, told[p.name] if p.kind is p.VAR_POSITIONAL else [told[p.name]])
        return self._values(tuple(args), kwargs)

    def _told(self) -> dict[str, Any]:
        """The input_spec by parameter. What is given by keyword only has that of its name, or the next behind the others."""
        left, found = list(self.input_spec or ()), dict[str, Any]()
        parameters = list(self.signature().parameters.values())[self.owner is not None :]
        for p in parameters:
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and left:
                found[p.name] = left.pop(0)
        apart = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        for spec in list(left):
            if isinstance(spec, InputSpec) and spec.name in apart:
                found[str(spec.name)] = spec
                left.remove(spec)
        for p in parameters:
            if p.kind is p.VAR_POSITIONAL:
                found[p.name], left = tuple(left), []
            elif p.kind is p.KEYWORD_ONLY and p.name not in found and left:
                found[p.name] = left.pop(0)
        if left:
            message = f"input_spec of '{self.__name__}' says what {len(self.input_spec or ())} arguments are, of {len(found)}"
            raise ArgumentError("D2S0004", message)
        return found
