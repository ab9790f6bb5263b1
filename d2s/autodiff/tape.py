"""The tape of eager code: every result remembers the node that made it; `backward` sweeps the nodes, latest first.

In: a result and its cotangent. Out: gradients in the `grad` of the leaves.

>>> x = d2s.to_tensor([3.0], stop_gradient=False)
>>> (x * x).sum().backward()
>>> x.grad.numpy().tolist()
[6.0]
"""

import contextlib
import heapq
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from d2s.autodiff.sweep import pull
from d2s.errors import GradientError
from d2s.ops import OPS, Op

_order = itertools.count()
Watch = Callable[["TapeNode", Any], None]


class _Mode(threading.local):
    recording = True


_mode = _Mode()


def recording() -> bool:
    """Whether eager results remember how they were made."""
    return _mode.recording


def no_grad() -> contextlib.AbstractContextManager[None]:
    """Eager code in this block makes no tape."""
    return _recording(False)


def enable_grad() -> contextlib.AbstractContextManager[None]:
    """Eager code in this block makes a tape, also inside of `no_grad`."""
    return _recording(True)


@contextlib.contextmanager
def _recording(on: bool) -> Iterator[None]:
    before, _mode.recording = _mode.recording, on
    try:
        yield
    finally:
        _mode.recording = before


class TapeNode:
    """One op's use on the tape. Subclasses say how a cotangent passes: see `pull`."""

    __slots__ = ("inputs", "order", "released")

    def __init__(self, inputs: Sequence[Any]) -> None:
        self.inputs, self.order, self.released = tuple(inputs), next(_order), False

    def pull(self, cotangents: dict[int, Any], totals: "Totals") -> None:
        """Passes the cotangents of the outputs (by position) on to the inputs."""
        raise NotImplementedError

    def release(self) -> None:
        self.released = True


class OpNode(TapeNode):
    """An op; `saved` holds inputs and result as they were, as tensors without history (with it, they would be a cycle)."""

    __slots__ = ("attrs", "op", "saved")

    def __init__(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any], saved: Sequence[Any]) -> None:
        super().__init__(inputs)
        self.op, self.attrs, self.saved = op, attrs, saved

    def pull(self, cotangents: dict[int, Any], totals: "Totals") -> None:
        self.pass_on(self.saved, cotangents, totals)

    def pass_on(self, saved: Sequence[Any], cotangents: dict[int, Any], totals: "Totals") -> None:
        """The op's own rule, on tensors for its inputs and its result."""
        *inputs, out = saved
        wanted = [not x.stop_gradient for x in self.inputs]
        pull(self.op, self.attrs, cotangents[0], out, inputs, wanted, lambda i, c: totals.add(self.inputs[i], c))

    def release(self) -> None:
        self.released, self.saved = True, ()


class Totals:
    """Cotangents gathered so far, by the tensor they belong to: of a result its node and position, of a leaf the leaf."""

    def __init__(self, connected: bool = False) -> None:
        self.connected = connected  # whether the sweep itself goes on the tape, for gradients of gradients
        self.of_nodes: dict[TapeNode, dict[int, Any]] = {}
        self.of_leaves: dict[int, tuple[Any, Any]] = {}
        self._waiting: list[tuple[int, TapeNode]] = []

    def get(self, tensor: Any) -> Any:
        """The total so far, or None."""
        if tensor.node is None:
            return self.of_leaves.get(id(tensor), (None, None))[1]
        return self.of_nodes.get(tensor.node, {}).get(tensor.position)

    def put(self, tensor: Any, total: Any) -> None:
        if tensor.node is None:
            self.of_leaves[id(tensor)] = tensor, total
            return
        if tensor.node not in self.of_nodes:
            self.of_nodes[tensor.node] = {}
            heapq.heappush(self._waiting, (-tensor.node.order, tensor.node))
        self.of_nodes[tensor.node][tensor.position] = total

    def add(self, tensor: Any, contribution: Any) -> None:
        before = self.get(tensor)
        self.put(tensor, contribution if before is None else OPS["add"](before, contribution))

    def latest(self) -> TapeNode | None:
        return heapq.heappop(self._waiting)[1] if self._waiting else None


def backward(root: Any, cotangent: Any, retain_graph: bool = False) -> None:
    """Adds the gradient of `root` to the `grad` of every leaf it depends on."""
    totals = sweep([(root, cotangent)], retain_graph)
    with no_grad():
        for leaf, total in totals.of_leaves.values():
            leaf.grad = total.detach() if leaf.grad is None else OPS["add"](leaf.grad, total)


def sweep(
    roots: Sequence[tuple[Any, Any]],
    retain_graph: bool,
    connected: bool = False,
    watch: Watch | None = None,
) -> Totals:
    """Takes the cotangents of `roots` back to the leaves; `watch` sees each node with those of its results."""
    totals = Totals(connected)
    with _recording(connected):
        for root, cotangent in roots:
            totals.add(root, cotangent)
        while (node := totals.latest()) is not None:
            if node.released:
                message = "backward() a second time through a graph whose buffers were freed by the first"
                raise GradientError("D2S0006", message, hint="call the first one with retain_graph=True")
            cotangents = totals.of_nodes.pop(node)
            if watch:
                watch(node, cotangents)
            node.pull(cotangents, totals)
            if not retain_graph:
                node.release()
    return totals
