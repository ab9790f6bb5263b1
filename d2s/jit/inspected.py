"""What a function made static shows of itself: its captures, their Programs and plans, the text they come from.

>>> double = d2s.to_static(lambda x: x * 2.0)
>>> [node.op for node in double.program(d2s.to_tensor([1.0])).nodes], double.recompiles()
(['constant', 'multiply'], [])
"""

from collections.abc import Callable
from typing import Any

from d2s import convert
from d2s.capture.tree import flatten
from d2s.errors import ArgumentError
from d2s.ir.program import Program
from d2s.jit.captures import MOST_TRIED
from d2s.jit.signature import Key
from d2s.jit.variant import Variant
from d2s.nn.layer import Layer
from d2s.runtime.plan import Plan


class Inspected:
    """Methods of `StaticFunction`."""

    __name__: str
    function: Callable[..., Any]
    owner: Any
    variants: list[tuple[Key, Variant]]
    log: list[str]
    captured_as: Callable[[], Callable[..., Any]]
    _values: Callable[..., tuple[Any, ...]]
    _arguments: Callable[[tuple[Any, ...]], dict[str, Any]]
    _variant: Callable[..., Variant]
    _answering: Callable[..., Variant]

    def concrete_program(self, *args: Any, **kwargs: Any) -> Variant:
        """The variant a call with these arguments runs, captured if need be."""
        values = self._values(args, kwargs)
        leaves, skeleton = flatten(self._arguments(values))
        variant, tried = self._variant(leaves, skeleton, values), list[tuple[Variant, int]]()
        while (place := variant.other_answer(leaves)) is not None and len(tried) < MOST_TRIED:
            tried.append((variant, place))
            variant = self._answering(tried, leaves, values)
        return variant

    def recompiles(self) -> list[str]:
        """Why this function was captured again, each time since the first."""
        return list(self.log)

    def leaves(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The argument leaves of a call, in the order a variant takes them."""
        return flatten(self._arguments(self._values(args, kwargs)))[0]

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The Program that a call with these arguments runs."""
        return self.concrete_program(*args, **kwargs).graph.program

    def plan(self, *args: Any, **kwargs: Any) -> str:
        """The steps that a call with these arguments runs; where a gradient is wanted, those of `backward` behind them."""
        return "\n".join(map(str, self._plans(args, kwargs)))

    def kernels(self, *args: Any, **kwargs: Any) -> str:
        """The texts of the kernels these steps call, under the lines they come from."""
        return "\n\n".join(plan.kernels() for plan in self._plans(args, kwargs))

    def _plans(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Plan]:
        return self.concrete_program(*args, **kwargs).plans(self.leaves(*args, **kwargs))

    @property
    def main_program(self) -> Program:
        """The Program that ran last."""
        if not self.variants:
            raise ArgumentError("D2S0004", f"'{self.__name__}' has no program yet", hint="call it first, or use program(...)")
        return self.variants[0][1].graph.program

    @property
    def text(self) -> str:
        """The rewritten Python."""
        return convert.converted(self.function).text  # type: ignore[arg-type]

    code = text

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The function as it was given, bound to what this is bound to."""
        return self.captured_as()

    def rollback(self) -> Callable[..., Any]:
        """The function as it was given, also where it stands in a layer."""
        if isinstance(self.owner, Layer) and self.owner.__dict__.get("forward") is self:
            del self.owner.__dict__["forward"]
        return self.captured_as()
