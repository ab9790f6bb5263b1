"""Seeded random sessions: what a caller does with the results of a function, in a random order, and all that is seen of it.

In: a function of `random_programs` and arguments for it. Out: what was seen, as plain data: two functions that do the same have
the same of it, whatever of their results is hooked, kept, asked for gradients of gradients, detached or changed.
"""

import hashlib
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from programs_compare import copies, leaves

import d2s
from d2s.errors import D2SError


class Session:
    """One caller."""

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any], seed: int) -> None:
        self.function, self.random = function, random.Random(seed)
        self.arguments = list(copies(tuple(arguments)))
        self.inputs = [t for t in leaves(tuple(self.arguments)) if t.dtype.kind == "f"]
        self.results: list[Any] = []
        self.seen: list[Any] = []
        self.kept: list[Any] = []  # ids of tensors that are gone would tell nothing
        self.unlike = False  # whether some result has no history on the path that was taken

    def run(self) -> list[Any]:
        self.take(Session.call)
        for _ in range(self.random.randint(2, 6) if self.results else 0):
            self.take(self.random.choice(STEPS))
        self.see("gradients", *(t.grad for t in (*self.inputs, *self.results)))
        return self.seen

    def take(self, step: Callable[["Session"], None]) -> None:
        before = len(self.seen)
        try:
            step(self)
        except D2SError as error:
            if error.code.startswith("D2S1"):
                raise
            changed = "changed in place" in str(error)
            del self.seen[before:]  # how far a sweep came that is refused is no matter
            self.seen.append((step.__name__, type(error).__name__, "changed in place" if changed else error.code))
        except Exception as error:
            self.seen.append((step.__name__, type(error).__name__, str(error)))

    def see(self, what: str, *values: Any) -> None:
        self.kept.append(values)
        self.seen.append((what, [_bits(v) for v in values]))

    def pick(self) -> Any:
        return self.random.choice(self.results)

    def some(self) -> list[Any]:
        return self.random.sample(self.results, self.random.randint(1, len(self.results)))

    def total(self, tensors: Sequence[Any]) -> Any:
        """A sum that gives each value another weight, or a product of sums."""
        terms = [d2s.cast((t * (0.5 + n)).sum(), "float64") for n, t in enumerate(tensors)]
        return sum(terms[1:], terms[0]) if self.random.random() < 0.7 else terms[0] * terms[-1]

    def call(self) -> None:
        """Calls the function, now and then with a result in the place of an argument."""
        given = list(self.arguments)
        for n, t in enumerate(given):
            fitting = [r for r in self.results if isinstance(t, d2s.Tensor) and r.dtype is t.dtype and r.shape == t.shape]
            if fitting and self.random.random() < 0.4:
                given[n] = self.random.choice(fitting)
        with d2s.set_grad_enabled(self.random.random() < 0.9):
            found = leaves(self.function(*given))
        self.see("call", *found)
        self.unlike |= any(t.dtype.kind == "f" and t.stop_gradient for t in found)
        self.results += [t for t in found if t.dtype.kind == "f"]

    def hook(self) -> None:
        factor = self.random.choice((2.0, 0.5))
        self.pick().register_hook(lambda g: (self.see("hook", g), g * factor)[1])

    def look(self) -> None:
        self.random.choice((*self.results, *self.inputs)).register_hook(lambda g: self.see("look", g))

    def keep(self) -> None:
        self.pick().retain_grads()

    def backward(self) -> None:
        self.total(self.some()).backward(retain_graph=self.random.random() < 0.6)

    def grad(self) -> None:
        towards = self.random.sample([*self.inputs, *self.results], 2)
        cut = [self.pick()] if self.random.random() < 0.2 else None
        again = self.random.random() < 0.5
        found = d2s.grad(self.total(self.some()), towards, create_graph=again, allow_unused=True, no_grad_vars=cut)
        self.see("grad", *found)
        self.results += [g for g in found if again and g is not None and not g.stop_gradient]

    def clear(self) -> None:
        self.random.choice(self.inputs).clear_gradient(self.random.random() < 0.5)

    def detach(self) -> None:
        self.results.append(self.pick().detach() * 2.0 + self.pick().sum())

    def freeze(self) -> None:
        t = self.random.choice(self.inputs)
        t.stop_gradient = not t.stop_gradient

    def write(self) -> None:
        with d2s.no_grad():
            t = self.random.choice(self.inputs)
            t.set_value(t * 0.5)

    def change(self) -> None:
        self.pick().multiply_(d2s.to_tensor(0.5))


STEPS = [Session.call, Session.call, Session.hook, Session.look, Session.keep, *[Session.backward] * 3, *[Session.grad] * 3]
STEPS += [Session.clear, Session.detach, Session.freeze, Session.write, Session.change]


def _bits(value: Any) -> Any:
    if not isinstance(value, d2s.Tensor):
        return repr(value)
    array = value.numpy()
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    shown = np.array2string(array, threshold=6, floatmode="unique")
    return array.dtype.name, array.shape, hashlib.sha1(np.ascontiguousarray(array).tobytes()).hexdigest()[:10], shown
