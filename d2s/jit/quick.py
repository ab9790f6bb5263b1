"""A static call in one step: a function with the user's parameters that asks what `checks` asks, and calls the plan natively.

In: a variant and the signature of its function. Out: a function that gives the result of a call, or MISSED where this is not
the variant of the call, or anything else stands in the way; then the long way finds out. What tensors look like is asked by
the native call itself (`runtime/native_call.py`), so the function's text has a line only for what Python alone can tell.

>>> double = d2s.to_static(lambda x: x * 2.0)
>>> [double(d2s.to_tensor([k])).tolist() for k in (1.0, 2.0, 3.0)]
[[2.0], [4.0], [6.0]]
>>> [quick(d2s.to_tensor([4.0])).tolist() for quick in double.quick]
[[8.0]]
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s.capture.result import Made, Recipe
from d2s.config import unusual
from d2s.jit.binding import defaults_of, listed
from d2s.jit.checks import Check
from d2s.jit.signature import Leaf
from d2s.ops.dispatch import handlers
from d2s.types import Type

MISSED = object()
_NOT_AS_BEFORE = "(AttributeError, LookupError, ValueError, TypeError, OverflowError, MemoryError)"
_FILE = __file__ + ": written"  # the text is one of d2s: nodes of the tape look for the user's line
Quick = Callable[..., Any]


def quick_of(variant: Any, function: Callable[..., Any], signature: inspect.Signature, inputs: Sequence[Any]) -> Quick | None:
    """The function, if the variant does nothing but compute; for inputs of the classes of these, as far as it ran before."""
    captured = variant.captured
    if captured.draws or captured.stores or captured.reads or captured.told or variant.graph.acts:
        return None
    if captured.standing is not None:
        return None
    check = _Quick()
    check.arguments(variant.key)
    check.guards(captured.guards)
    check.rest(variant)
    named = [check.leaves[n] + "_" * (variant.key.leaves[n].fixed is int) for n in captured.arguments]
    named += [check.named(t) for t in captured.lifted]
    inputs = [np.asarray(x, np.int64) if type(x) is int else x for x in inputs]
    result = _Result(check, [v.type.python for v in variant.graph.program.outputs]).text(captured.result)
    entry = variant.graph.entry(inputs) if result else None
    return check.quick(function, signature, named, result, entry) if entry else None


class _Quick(Check):
    """The checks of a variant but for those of tensors and floats, which the native call makes."""

    def _leaf(self, name: str, leaf: Leaf) -> None:
        if leaf.dtype is None:
            super()._leaf(name, leaf)
        elif leaf.fixed is int:
            self.test(f"type({name}) is int")
            self.lines.append(f"{name}_ = asarray({name}, int64)")

    def _lifted(self, held: str, was: Type) -> None:
        """Nothing."""

    def defaults(self, function: Callable[..., Any]) -> None:
        """The function has the defaults it had; one that is no plain function keeps none that may change."""
        for name in ("__defaults__", "__kwdefaults__"):
            if kept := getattr(function, name, None):
                self.test(f"{self.named(function)}.{name} is {self.named(kept)}")

    def quick(
        self, function: Callable[..., Any], signature: inspect.Signature, inputs: list[str], result: str, entry: Any
    ) -> Quick | None:
        """The function, compiled; None where a parameter has the name of something in the text."""
        parameters = list(signature.parameters.values())
        defaults = defaults_of(parameters)
        if any(defaults):
            self.defaults(function)
        native = {"call": entry.call, "declined": entry.declined, "unusual": unusual, "handlers": handlers, "MISSED": MISSED}
        native |= {"asarray": np.asarray, "int64": np.int64}
        self.objects |= native | defaults
        if {p.name for p in parameters} & self.objects.keys():
            return None
        values = "".join(f"{p.name}, " for p in parameters)
        lines = [
            "if unusual or handlers.stack: return MISSED",
            f"values = ({values})",
            *(line.replace("return None", "return MISSED") for line in self.lines),
            f"r = call(({''.join(f'{name}, ' for name in inputs)}))",
            "if r is not None:",
            f"    return {result}",
            "declined()",
        ]
        body = "".join(f"        {line}\n" for line in lines)
        head = f"def quick({', '.join(listed(parameters))}):\n    try:\n"
        text = f"{head}{body}    except {_NOT_AS_BEFORE}:\n        pass\n    return MISSED\n"
        exec(compile(text, _FILE, "exec"), self.objects)
        found: Quick = self.objects["quick"]
        return found


class _Result:
    """The text of what a call returns, made of `r`, what the native call has found; empty where that takes more than a text."""

    def __init__(self, check: Check, python: list[bool]) -> None:
        self.check, self.python, self.made = check, python, set[int]()

    def text(self, recipe: Recipe) -> str:
        if isinstance(recipe, Made):
            return self.container(recipe)
        if not isinstance(recipe, tuple):
            return ""
        kind, at = recipe
        if kind == "output":
            found = "r" if len(self.python) == 1 else f"r[{at}]"
            return f"{found}.item()" if self.python[at] else found
        if kind == "argument":
            return self.check.leaves[at]
        return self.check.named(at) if kind == "outside" else ""

    def container(self, recipe: Made) -> str:
        """A container that stands in the result once."""
        parts = [self.text(part) for part in recipe.parts]
        if id(recipe) in self.made or not all(parts):
            return ""
        self.made.add(id(recipe))
        if recipe.kind is dict:
            return "{" + ", ".join(f"{self.check.named(k)}: {part}" for k, part in zip(recipe.keys, parts, strict=True)) + "}"
        inside = "".join(f"{part}, " for part in parts)
        if recipe.kind in (tuple, list, set):
            return {tuple: f"({inside})", list: f"[{inside}]", set: f"{{{inside}}}" if parts else ""}[recipe.kind]
        return f"{self.check.named(recipe.kind)}({inside})"
