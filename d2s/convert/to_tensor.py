"""`to_tensor` in a captured function: of a number, of plain data, of lists of what only a run knows.

In: what it is called with. Out: a constant of the graph, a tensor made once, or what the parts are stacked to in each run.

>>> from d2s.capture.symbolic import Tracer
>>> from d2s.ops.dispatch import handling
>>> tracer = Tracer("f")
>>> with handling(tracer):
...     made_of(None, tracer, [tracer.symbol_of(2), 1.5]).value.type
f32[2]
"""

import functools
from typing import Any

import numpy as np

from d2s.capture.alternatives import each, of_each
from d2s.capture.by_path import opened
from d2s.capture.examples import example_of
from d2s.capture.forms import Later, OneOf, Varied
from d2s.capture.growing import is_grown
from d2s.capture.guards import MISSING
from d2s.capture.kinds import NUMPYS_NUMBERS
from d2s.capture.steps import array
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.tree import flatten, rebuild
from d2s.capture.users_code import refuse
from d2s.convert.copies import leaf as leaf_of
from d2s.convert.loads import guard_content
from d2s.convert.steps import to_tensor_of
from d2s.eager.tensor import Tensor, to_tensor, values_of
from d2s.ops import OPS
from d2s.ops.compare import cast
from d2s.ops.dispatch import handlers, handling
from d2s.ops.join import stack
from d2s.place import usable
from d2s.runtime import launch
from d2s.types import DType

_NUMBERS = (bool, int, float, *NUMPYS_NUMBERS)


def made_of(call: Any, tracer: Tracer, data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Any:
    """A number becomes a constant of the graph, other data a tensor made once: it is not data of the call."""
    usable(place, "to_tensor")
    data = opened(data)
    if isinstance(data, OneOf):
        return each(data, lambda one: made_of(call, capturing() or tracer, one, dtype, place, stop_gradient))
    if isinstance(data, Later) or (isinstance(data, SymbolicTensor) and data.value.type.python):
        made = to_tensor_of(tracer, data, dtype)
        return made if stop_gradient else leaf_of(tracer, made, stop_gradient)
    if isinstance(data, SymbolicTensor | Tensor):
        return leaf_of(tracer, data if dtype is None else cast(data, dtype), stop_gradient)
    if not stop_gradient:
        refuse("D2S1003", "to_tensor() of what wants a gradient", "make it outside of the captured function")
    if is_grown(data):
        hint = "append tensors, and d2s.stack the list: parts.append(d2s.to_tensor(k))"
        return _in_a_step(tracer, data, dtype, "a list that a loop makes longer, of more than numbers and tensors", hint)
    guard_content(tracer, data)
    leaves, skeleton = flatten(data)
    if any(isinstance(leaf, OneOf) for leaf in leaves):
        return of_each(lambda one: made_of(call, capturing() or tracer, one, dtype), data)
    if any(isinstance(leaf, Later) for leaf in leaves):
        return _in_a_step(tracer, data, dtype, f"a {type(data).__name__} of what only a run will tell", "d2s.stack tensors")
    if any(isinstance(leaf, SymbolicTensor | Tensor) for leaf in leaves):
        parts = [tracer.symbol_of(leaf.item() if isinstance(leaf, np.generic) else leaf) for leaf in leaves]
        return _stacked(tracer, parts, skeleton, leaves, dtype)
    if not all(isinstance(leaf, _NUMBERS) for leaf in leaves):
        refuse(
            "D2S1003", f"to_tensor() of a {type(data).__name__}: a change of it would not be seen", "make the tensor outside"
        )
    tensor = to_tensor(data, dtype)
    if isinstance(data, _NUMBERS):
        return tracer.own_constant(tensor.item(), launch.type_of(tensor.array))
    return tracer.data(tensor)


def _in_a_step(tracer: Tracer, data: Any, dtype: Any, what: str, hint: str) -> Any:
    """What Python makes of data in each run: as long as a run finds it."""
    examples = [example_of(data, which) for which in (0, 1)]
    if examples[0] is MISSING:
        refuse("D2S1003", f"to_tensor() of {what}", hint)
    made = functools.partial(values_of, dtype=dtype)
    return array(tracer, "to_tensor", made, (data,), Varied(*map(made, examples)))


def _stacked(tracer: Tracer, symbols: list[Any], skeleton: Any, leaves: list[Any], dtype: Any) -> Any:
    """What lists of values of a run are as one tensor: a copy, through which no gradient passes."""
    examples = [example_of(leaf) for leaf in leaves]
    if any(one is MISSING for one in examples):
        refuse("D2S1003", "to_tensor() of tensors whose extents only a run will tell", "d2s.stack them")
    with handling(handlers.base):
        example = to_tensor(rebuild(skeleton, examples), dtype)
    return _joined(rebuild(skeleton, [_part(symbol, example.dtype) for symbol in symbols]))


def _part(symbol: Any, to: DType) -> Any:
    of = symbol.value.type
    if of.python and of.dtype.kind == "i" and to.kind == "f":
        symbol = OPS["cast"](symbol, "float64")  # as NumPy makes one array of numbers
    return OPS["cast"](symbol, to).detach()


def _joined(parts: Any) -> Any:
    return stack(list(map(_joined, parts))) if isinstance(parts, list | tuple) else parts
