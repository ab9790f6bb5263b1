"""One step of a parameter as one kernel, written where it lies.

In: a `Rule`: which state a parameter has, which numbers a step is told, and the text of what happens to one element. Out: an
`Update`, bound to the memory of a parameter and its state; a step costs one launch, reads each of them once and writes it once.
Numbers such as the learning rate are read at run time: no text and no kernel depends on them. Threads share the elements;
each of these is computed on its own.

>>> rule = Rule("sgd", (), ("lr",), "p = p - lr * g\\n")
>>> p = np.array([1.0, 2.0], "float32")
>>> Update(rule, (p,)).run(np.array([2.0, 4.0], "float32"), (0.25,))
>>> p.tolist()
[0.5, 1.0]
>>> print(text_of(rule, types.float32))
# sgd
def kernel(r, o, lo, hi):
    p_ = f32_apart0(r[o[0]])
    g_ = f32_apart1(r[o[1]])
    s = f64(r[o[2]])
    lr = T(s[0])
    if hi < 0:
        return r[o[3]] if lo == 0 else 16384
    for i in range(lo, hi):
        p = p_[i]
        g = g_[i]
        p = p - lr * g
        p_[i] = p
    return 0
<BLANKLINE>
"""

import ctypes
import functools
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s import types
from d2s.codegen import cache
from d2s.codegen.emit import CHUNK
from d2s.types import DType

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_OPERANDS = (ctypes.c_int32 * 16)(*range(16))


class Rule(NamedTuple):
    """What a step does to an element `p` of a parameter with the gradient `g`. `state` names the arrays it has besides."""

    name: str
    state: tuple[str, ...]
    numbers: tuple[str, ...]
    element: str

    def behind(self, numbers: Sequence[str], element: str) -> "Rule":
        """The same with something done before, such as a decay, whose numbers have names of their own."""
        assert not {*numbers} & {*self.numbers, *self.state}
        return self._replace(numbers=(*self.numbers, *numbers), element=element + self.element)


def text_of(rule: Rule, dtype: DType) -> str:
    """The kernel of a rule: every array is read and written at the same place, and none lies in another."""
    held = ("p", *rule.state)
    arrays = ("p", "g", *rule.state)
    lines = [f"{name}_ = {dtype.short}_apart{k}(r[o[{k}]])" for k, name in enumerate(arrays)]
    lines += [f"s = f64(r[o[{len(arrays)}]])", *(f"{name} = T(s[{k}])" for k, name in enumerate(rule.numbers))]
    lines += ["if hi < 0:", f"    return r[o[{len(arrays) + 1}]] if lo == 0 else {CHUNK}", "for i in range(lo, hi):"]
    element = "".join(f"{name} = {name}_[i]\n" for name in arrays) + rule.element
    element += "".join(f"{name}_[i] = {name}\n" for name in held)
    body = "\n".join(lines) + "\n" + textwrap.indent(element, "    ") + "return 0\n"
    return f"# {rule.name}\ndef kernel(r, o, lo, hi):\n{textwrap.indent(body, '    ')}"


@functools.lru_cache(maxsize=256)
def _kernel(rule: Rule, dtype: DType) -> Callable[[Any, Any], None]:
    return _KERNEL(cache.address(text_of(rule, dtype), dtype.short))


class Update:
    """A rule bound to the memory it changes: a parameter and its state, in the order of `rule.state`."""

    def __init__(self, rule: Rule, arrays: Sequence[np.ndarray]) -> None:
        self.arrays = tuple(arrays)
        dtype = types.dtype(arrays[0].dtype)
        self._kernel = _kernel(rule, dtype)
        self._numbers = (ctypes.c_double * max(len(rule.numbers), 1))()
        held, *state = (_address(array) for array in arrays)
        block = [held, 0, *state, ctypes.addressof(self._numbers), arrays[0].size]
        self._block = (ctypes.c_int64 * len(block))(*block)

    def run(self, gradient: np.ndarray, numbers: Sequence[float]) -> None:
        """A step with a gradient of the parameter's dtype and shape."""
        self._numbers[: len(numbers)] = [*numbers]
        self._block[1] = _address(gradient)
        self._kernel(self._block, _OPERANDS)


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])
