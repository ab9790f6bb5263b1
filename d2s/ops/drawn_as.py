"""Draws in the shape of a tensor: what captures record where only a run knows some extents, as of a batch that stays open.

In: an op that draws in a shape. Out: one that draws the same numbers, in the shape of its last input.

>>> OPS["randint_as"].arrays, OPS["randint_as"].attributes
(('seed', 'counter', 'low', 'span', 'like'), {'dtype': None, 'wide': None})
"""

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

from d2s.ops.dispatch import OPS, current
from d2s.ops.draw import Draw, blocks, elements
from d2s.ops.open_shapes import full_of, is_open
from d2s.ops.shapes import tensor_type
from d2s.types import Type, bool_

_SHAPES = ("shape", "n")  # attributes that say a shape


def by_tensor(of: Draw, words: Callable[..., int], example: str) -> Draw:
    """Declares it, with the rules of the op; `words`: how many a number is made of, by the attributes."""

    def public(*inputs: Any, **attrs: Any) -> Any:
        return _in_shape_of(made, inputs[-1], words(**attrs), inputs[:-1], **attrs)

    def infer(*inputs: Type, **attrs: Any) -> Any:
        return of.rules["infer"](*inputs[:-1], **said(inputs[-1]), **attrs)

    def kernel(*inputs: Type, **attrs: Any) -> Any:
        *others, like, out = inputs
        return of.rules["kernel"](*others, out, **said(like), **attrs)

    def vjp(g: Any, out: Any, *inputs: Any, **attrs: Any) -> Any:
        return (None,) * len(inputs)

    def said(like: Type) -> dict[str, Any]:
        return {name: like.shape if name == "shape" else like.shape[0] for name in of.holds if name in _SHAPES}

    public.__doc__ = f"`{of.name}` in the shape of a tensor.\n\n{example}"
    holds = tuple(name for name in of.holds if name not in _SHAPES)
    made = Draw(f"{of.name}_as", public, None, public=public, reads=(*of.reads, "like"), holds=holds)
    made.signature = _signature([*made.reads, *holds])
    rules: list[tuple[Any, list[str]]] = [(infer, []), (kernel, ["out"]), (vjp, ["g", "out"])]
    for rule, first in rules:
        rule.__signature__ = _signature([*first, *made.arrays, *holds])
        made.rules[rule.__name__] = rule
    return made


def _signature(names: Sequence[str]) -> inspect.Signature:
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def in_shape(of: Draw, shape: Any, words: int, inputs: Sequence[Any], seed: int = 0, **attrs: Any) -> Any:
    """Numbers of so many words each in a shape, of which only a run may know some extents."""
    if not is_open(shape):
        return of.draw(blocks(math.prod(shape), words), inputs, seed, shape=shape, **attrs)
    like = full_of(current().constant(False, Type(bool_)), shape)
    return _in_shape_of(OPS[f"{of.name}_as"], like, words, inputs, seed, **attrs)


def _in_shape_of(of: Any, like: Any, words: int, inputs: Sequence[Any], seed: int = 0, **attrs: Any) -> Any:
    return of.draw(blocks(elements(like, tensor_type(like, of.name, "like")), words), (*inputs, like), seed, **attrs)
