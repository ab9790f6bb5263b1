"""`no_grad()` and its kin in a captured function: what is computed in them is no part of a tape.

In: the switch a `with` statement is given. Out: while it is open, results are recorded as `detached`.

A graph does for callers with a tape and for those without: these get no gradients. Where there is more to it - `enable_grad()`
in the function, gradients taken there, steps of Python's that are shown tensors by the path - it is captured once for each.
Without a tape it is `Untaped`: all results are `detached` but what `enable_grad()` is around, and it runs as if there was one.

>>> from d2s.capture.symbolic import Tracer
>>> from d2s.ops.dispatch import handling
>>> from d2s.types import Type, float32
>>> tracer = Tracer("f")
>>> x = tracer.input(Type(float32, (2,)), "x")
>>> with handling(tracer), Taping(tracer, False):
...     y = x + x
>>> [node.op for node in tracer.builder.nodes]
['add', 'detached']
"""

from typing import Any

from d2s.autodiff.mode import F, Switch, recording
from d2s.autodiff.passed import has_regions
from d2s.capture.symbolic import Tracer
from d2s.capture.users_code import user_line
from d2s.errors import CaptureError
from d2s.ir.program import Program
from d2s.runtime import host


class Untaped(CaptureError):
    """What is captured for a caller without a tape has to be captured so."""


class Taping:
    """Whether a capture's results have gradients, for a `with` block."""

    def __init__(self, tracer: Tracer, on: bool) -> None:
        self.root, self.on, self.before = tracer.root, on, list[bool]()
        self.is_entered = False

    def __enter__(self) -> None:
        self.is_entered = True
        self.before.append(self.root.taping)
        self.root.taping = self.on

    def __exit__(self, *raised: Any) -> None:
        self.root.taping = self.before.pop()

    def __call__(self, function: F) -> F:
        """A function defined in the captured one, with the switch as its decorator."""
        self.is_entered = True
        return Switch(self.on)(function)


def switched(tracer: Tracer, on: bool) -> Taping:
    """`Switch(on)`."""
    if on:
        tracer.root.asks_tape = True
        refuse_untaped()
    return Taping(tracer, on)


def lasting(tracer: Tracer, on: bool) -> Taping:
    """`Lasting(on)`, which would hold from here on: for a `with` block only."""
    made = switched(tracer, on)
    tracer.root.lasting.append((made, user_line()))
    return made


def refuse_lasting(tracer: Tracer) -> None:
    """Ends a capture that leaves its caller with or without a tape."""
    for made, where in tracer.lasting:
        if not made.is_entered:
            message = "set_grad_enabled() that holds from here on is not part of graphs"
            raise CaptureError("D2S1003", message, where=where, hint="with d2s.set_grad_enabled(...): around what it is for")


def depends_on_tape(tracer: Tracer, program: Program) -> bool:
    """Whether a capture is one for callers with a tape, or for those without."""
    return tracer.asks_tape or tracer.training is not None or (host.acts(program) and has_regions(program))


def refuse_untaped() -> None:
    """Ends a capture that depends on it, if there is no tape: it is made anew as if there was one."""
    if not recording():
        raise Untaped("D2S1003", "a capture for a caller without a tape")
