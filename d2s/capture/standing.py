"""What a capture that takes gradients depends on: which tensors want one, are leaves, have one already, and who watches them.

In: the arguments that are values of run time, the tensors met on the way, what is read anew at each call. Out: `Standing`: its
`now` is at each call what it was at the capture.

>>> w = d2s.to_tensor([3.0], stop_gradient=False)
>>> standing = Standing([0], [], [], [w])
>>> w.stop_gradient = True
>>> standing.now([w]) == standing.kept
False
"""

from collections.abc import Sequence
from typing import Any

from d2s.autodiff import tape
from d2s.capture.outside import Read
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError


class Standing:
    """That of one capture."""

    def __init__(self, arguments: Sequence[int], met: Sequence[Tensor], reads: Sequence[Read], leaves: Sequence[Any]) -> None:
        self.arguments, self.met = [n for n in arguments if isinstance(leaves[n], Tensor)], met
        self.reads = [read.read for read in reads if isinstance(read.read(), Tensor)]
        self.kept = self.now(leaves)
        if not self.kept[0]:
            message = "a tensor that calls find in a place which they change is one they also read otherwise"
            raise CaptureError("D2S1003", message, hint="take gradients outside of the captured function")

    def now(self, leaves: Sequence[Any]) -> list[Any]:
        met = [*(leaves[n] for n in self.arguments), *self.met, *(read() for read in self.reads)]
        apart = not self.reads or len({id(t) for t in met}) == len(met)
        standing = [
            (t.stop_gradient, t.node is None, t._grad is None, tape.held_hooks(t))
            for t in met
            if isinstance(t, Tensor)  # what is found in a place may be none any more
        ]
        return [apart, *standing]
