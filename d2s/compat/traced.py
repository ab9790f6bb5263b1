"""Decorated functions the way of 1.8 and 2.0 alpha: the one that was called last is written as a folder.

In: functions made static. Out: folders for inference.

>>> declarative(lambda x: x + 1.0)(d2s.to_tensor([1.0])).tolist()
[2.0]
"""

from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError
from d2s.jit import translator
from d2s.jit.to_static import StaticFunction, to_static
from d2s.jit.traced import TracedLayer as Traced
from d2s.jit.traced import declared
from d2s.static.files import save_folder

__all__ = ["Declarative", "ProgramTranslator", "TracedLayer", "declarative"]


class TracedLayer(Traced):
    """A program that a layer wrote, which is written as a folder."""

    def save_inference_model(
        self, path: str, feed: Sequence[int] | None = None, fetch: Sequence[int] | None = None, **kwargs: Any
    ) -> None:
        """Writes a folder for inference; `feed` and `fetch` are the inputs and results that are part of it, by number."""
        save_folder(path, *self._chosen(feed, fetch), self.program)


class Declarative(StaticFunction):
    """A function made static, whose latest call can be written as a folder."""

    latest: tuple[Any, tuple[Any, ...]] | None = None

    def __get__(self, owner: Any, kind: Any = None) -> "Declarative":
        if owner is None:
            return self
        bound = Declarative(self.function, self.input_spec, owner)
        bound.variants = self.variants
        return bound

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        Declarative.latest = self, args
        return super().__call__(*args, **kwargs)


def declarative(function: Any) -> Declarative:
    """Makes a function static.

    >>> declarative(lambda x: x + 1.0)(d2s.to_tensor([1.0])).tolist()
    [2.0]
    """
    made = to_static(function)
    return Declarative(made.function, made.input_spec, made.owner)


class ProgramTranslator(translator.ProgramTranslator):
    """What is done with decorated functions as a whole, and the file of the one that was called last."""

    _one = None

    def enable(self, enable_declarative: bool = True) -> None:  # type: ignore[override]
        """Whether decorated functions run as graphs, or as the Python they are."""
        super().enable(enable_declarative)

    def save_inference_model(self, dirname: str, feed: Sequence[int] | None = None, fetch: Sequence[int] | None = None) -> None:
        """Writes the function called last."""
        if Declarative.latest is None:
            raise ArgumentError(
                "D2S0004", "save_inference_model(): no decorated function has been called", hint="call it first"
            )
        function, args = Declarative.latest
        traced = TracedLayer(*declared(function, [a for a in args if a is not None]))
        traced.save_inference_model(dirname, feed, fetch)
