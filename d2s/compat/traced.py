"""Models as programs, the way of 2.0 alpha: traced with an example, or by the calls of a decorated function.

In: a layer and inputs. Out: what it computes, and a layer that runs without its source and writes folders for inference.

>>> layer = d2s.nn.Linear(2, 1)
>>> x = d2s.ones([3, 2])
>>> outputs, traced = TracedLayer.trace(layer, inputs=[x])
>>> (traced([x])[0] == outputs).numpy().all()
np.True_
"""

from collections.abc import Sequence
from typing import Any

from d2s.capture.tree import flatten
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.jit import translator
from d2s.jit.to_static import StaticFunction, to_static
from d2s.static.executor import Executor
from d2s.static.files import save_folder
from d2s.static.program import Program, data, disable_static, enable_static, in_dynamic_mode, program_guard


class TracedLayer:
    """A program that a layer wrote; `trace` makes it."""

    def __init__(self, program: Program, feeds: Sequence[Any], fetches: Sequence[Any]) -> None:
        self.program, self._feeds, self._fetches = program, list(feeds), list(fetches)

    @staticmethod
    def trace(layer: Any, inputs: Any) -> tuple[Any, "TracedLayer"]:
        """What a layer computes of inputs, and the program of it."""
        given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        return layer(*given), declared(layer, given)

    def __call__(self, inputs: Any) -> list[Tensor]:
        given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        feed = {v.name: x for v, x in zip(self._feeds, given, strict=True)}
        return Executor().run(self.program, feed, self._fetches, return_numpy=False)

    def save_inference_model(self, dirname: str, feed: Sequence[int] | None = None, fetch: Sequence[int] | None = None) -> None:
        """Writes a folder for inference; `feed` and `fetch` are the inputs and results that are part of it, by number."""
        feeds = self._feeds if feed is None else [self._feeds[n] for n in feed]
        fetches = self._fetches if fetch is None else [self._fetches[n] for n in fetch]
        save_folder(dirname, feeds, fetches, self.program)


def declared(function: Any, inputs: Sequence[Any]) -> TracedLayer:
    """The program of a function, for inputs of any batch size."""
    program, dynamic = Program(), in_dynamic_mode()
    enable_static()
    try:
        with program_guard(program, Program()):
            feeds = [data(f"feed_{n}", [None, *x.shape[1:]], x.dtype) for n, x in enumerate(inputs) if isinstance(x, Tensor)]
            variables = iter(feeds)
            results = function(*(next(variables) if isinstance(x, Tensor) else x for x in inputs))
            fetches = [v for v in flatten(results)[0] if v is not None]
    finally:
        if dynamic:
            disable_static()
    return TracedLayer(program, feeds, fetches)


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
        declared(function, [a for a in args if a is not None]).save_inference_model(dirname, feed, fetch)
