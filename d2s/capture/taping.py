"""`no_grad()` and its kin in a captured function: what is computed in them is no part of a tape.

In: the switch a `with` statement is given. Out: while it is open, results are recorded as `detached`.

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

from d2s.capture.symbolic import Tracer


class Taping:
    """Whether a capture's results have gradients, for a `with` block."""

    def __init__(self, tracer: Tracer, on: bool) -> None:
        self.root, self.on, self.before = tracer.root, on, list[bool]()

    def __enter__(self) -> None:
        self.before.append(self.root.taping)
        self.root.taping = self.on

    def __exit__(self, *raised: Any) -> None:
        self.root.taping = self.before.pop()


def switched(tracer: Tracer, on: bool) -> Taping:
    """`Switch(on)`."""
    return Taping(tracer, on)
