"""Layers as programs, traced with an example of their inputs.

In: a layer and inputs. Out: what it computes, and a layer that runs without its source and writes files for inference.

>>> layer = d2s.nn.Linear(2, 1)
>>> x = d2s.ones([3, 2])
>>> outputs, traced = TracedLayer.trace(layer, inputs=[x])
>>> (traced([x])[0] == outputs).numpy().all()
np.True_
"""

from collections.abc import Callable, Sequence
from typing import Any

from d2s.arguments import expect
from d2s.capture.tree import flatten
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, brief
from d2s.static.executor import Executor
from d2s.static.files import save_inference_model
from d2s.static.program import Program, data, disable_static, enable_static, in_dynamic_mode, program_guard


class TracedLayer:
    """A program that a layer wrote; `trace` makes it."""

    def __init__(self, program: Program, feeds: Sequence[Any], fetches: Sequence[Any]) -> None:
        self.program, self._feeds, self._fetches = program, list(feeds), list(fetches)

    @classmethod
    def trace(cls, layer: Any, inputs: Any) -> tuple[Any, "TracedLayer"]:
        """What a layer computes of inputs, and the program of it."""
        expect("TracedLayer.trace", "layer", layer, Callable, "a Layer")
        given = _listed(inputs)
        return layer(*given), cls(*declared(layer, given))

    def __call__(self, inputs: Any) -> list[Tensor]:
        given = _listed(inputs)
        if len(given) != len(self._feeds):
            raise ArgumentError("D2S0004", f"TracedLayer(): 'inputs' has {len(given)} tensors, expected {len(self._feeds)}")
        feed = {v.name: x for v, x in zip(self._feeds, given, strict=True)}
        return Executor().run(self.program, feed, self._fetches, return_numpy=False)

    def set_strategy(self, build_strategy: Any = None, exec_strategy: Any = None) -> None:
        """For programs that call it: how a program runs is the same whatever these say."""

    def save_inference_model(
        self, path: str, feed: Sequence[int] | None = None, fetch: Sequence[int] | None = None, **kwargs: Any
    ) -> None:
        """Writes `path.pdmodel` and its parameters; `feed` and `fetch` are the inputs and results that are part of it."""
        save_inference_model(path, *self._chosen(feed, fetch), program=self.program)

    def _chosen(self, feed: Sequence[int] | None, fetch: Sequence[int] | None) -> tuple[list[Any], list[Any]]:
        """Inputs and results by number."""
        return _numbered("feed", self._feeds, feed), _numbered("fetch", self._fetches, fetch)


def _listed(inputs: Any) -> list[Any]:
    return list(inputs) if isinstance(inputs, list | tuple) else [inputs]


def _numbered(argument: str, listed: Sequence[Any], chosen: Sequence[int] | None) -> list[Any]:
    if chosen is None:
        return list(listed)
    if not isinstance(chosen, list | tuple) or not all(type(n) is int and 0 <= n < len(listed) for n in chosen):
        message = f"save_inference_model(): '{argument}' is {brief(chosen)}, expected numbers below {len(listed)}"
        raise ArgumentError("D2S0004", message)
    return [listed[n] for n in chosen]


def declared(function: Any, inputs: Sequence[Any]) -> tuple[Program, list[Any], list[Any]]:
    """The program of a function, for inputs of any batch size, what it is fed with and what it computes."""
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
    return program, feeds, fetches
