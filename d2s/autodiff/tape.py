"""The tape of eager code: every result remembers the node that made it; `backward` sweeps the nodes, latest first.

In: a result and its cotangent. Out: gradients in the `grad` of the leaves.

A node does not hold the tensors it was given but where their cotangents go - its *edges* - as it was when it was made: what
becomes of the tensors later, a change in place or another `stop_gradient`, is no matter to it, and no tensor is in a cycle.

>>> x = d2s.to_tensor([3.0], stop_gradient=False)
>>> (x * x).sum().backward()
>>> x.grad.numpy().tolist()
[6.0]
"""

import heapq
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from d2s.autodiff import writes
from d2s.autodiff.mode import mode
from d2s.errors import GradientError, NumericError
from d2s.ops import OPS
from d2s.runtime import user_lines

Hook = Callable[[Any], Any]
Edge = Any  # a leaf, a TapeNode - then its first result is meant - or a Result; None: nothing wants the cotangent
Spot = tuple["TapeNode | None", int, Any]  # node, position, None; of a leaf None, its id, itself
Watch = Callable[["TapeNode", Any], None]
watching: list[Callable[["TapeNode | None"], None]] = []  # who sees every node that any sweep comes to, and its end as None
_NOWHERE: Spot = (None, 0, None)
_order = operator.attrgetter("order")


class TapeNode:
    """One op's use on the tape. Subclasses say how a cotangent passes: see `pull`."""

    __slots__ = ("at", "code", "edges", "hooks", "order", "released")
    order: float
    position = 0
    reorders = False  # whether it may add contributions in another order than the nodes it stands for
    leads_by_path = False  # whether only a run tells which results lead to which edges
    opened: Callable[[int], Edge] | None = None  # of a node that others have taken the place of: where each result is now

    def __init__(self, edges: Iterable[Edge]) -> None:
        self.edges, self.order, self.released = tuple(edges), writes.now(), False
        self.code, self.at = user_lines.here()
        self.hooks: dict[int, list[Hook]] | None = None  # by result

    @property
    def node(self) -> "TapeNode":
        return self

    @property
    def line(self) -> str:
        """The user's line that made this node."""
        return user_lines.spelled(self.code, self.at)

    def blamed(self) -> tuple[str, str]:
        """What an error in its gradient says of it, and the user's line if the error itself knows none that is better."""
        return type(self).__name__, self.line

    def pull(self, cotangents: dict[int, Any], totals: "Totals") -> None:
        """Passes the cotangents of the results (by position) on to the edges."""
        raise NotImplementedError

    def open(self) -> None:
        """Puts the nodes it stands for in its place, if it stands for any."""

    def looked_into(self, positions: Collection[int], connected: bool = False) -> bool:
        """Whether who looks at the totals of these results sees more where the node is opened, or a connected sweep does."""
        return False

    def has_order_of_its_own(self, positions: Collection[int], totals: "Totals") -> bool:
        """Whether it adds contributions in another order than the nodes it stands for, in a sweep from these results."""
        return False

    def leading(self, edges: Sequence[bool]) -> Iterable[int] | None:
        """The results that lead to some of its edges, or of which nobody knows any more; None: all."""
        return None if self.released or any(edges) else ()

    def is_freed(self, positions: Collection[int], totals: "Totals") -> bool:
        """Whether a sweep from these results would pass what one before it has freed."""
        return self.released

    def release(self) -> None:
        """Frees what the node has saved, and what lies behind it."""
        self.released, self.edges = True, ()


class Result:
    """Another than the first result of a node, where several carry a gradient."""

    __slots__ = ("node", "position")

    def __init__(self, node: TapeNode, position: int) -> None:
        self.node, self.position = node, position


def result(node: TapeNode, position: int) -> TapeNode | Result:
    """What the tensor remembers that is a node's result number `position`."""
    return Result(node, position) if position else node


def edge(tensor: Any) -> Edge:
    """Where the cotangent of a tensor goes."""
    if tensor.stop_gradient:
        return None
    return tensor if tensor.node is None else tensor.node


def place(edge: Edge) -> tuple[TapeNode | None, int]:
    """Node and position; no node for a leaf."""
    if isinstance(edge, TapeNode):
        return edge, 0
    return (edge.node, edge.position) if isinstance(edge, Result) else (None, 0)


def where(edge: Edge) -> Spot:
    """Where an edge leads by now: where a node was opened, to one that has taken its place, or to a leaf."""
    if isinstance(edge, TapeNode):
        return (edge, 0, None) if edge.opened is None else where(edge.opened(0))
    if isinstance(edge, Result):
        node = edge.node
        return (node, edge.position, None) if node.opened is None else where(node.opened(edge.position))
    return _NOWHERE if edge is None else (None, id(edge), edge)


def now(edge: Edge) -> Edge:
    """Where an edge leads by now: where a node was opened, to one that has taken its place."""
    node = edge if isinstance(edge, TapeNode) else edge.node if isinstance(edge, Result) else None
    return edge if node is None or node.opened is None else now(node.opened(edge.position))


def _hooks_at(edge: Edge) -> tuple[dict[int, list[Hook]], int]:
    """All hooks of a node or a leaf, and the position of those that are meant."""
    node, position = place(edge)
    holder = edge if node is None else node
    if holder.hooks is None:
        holder.hooks = {}
    return holder.hooks, position


def hooks(edge: Edge) -> list[Hook]:
    """The hooks of what an edge leads to: they see its total, in the order they were added in, and may replace it."""
    edge = now(edge)
    if edge is None:
        return []  # no path that was taken leads anywhere
    known, position = _hooks_at(edge)
    return known.setdefault(position, [])


def has_hooks(edge: Edge) -> bool:
    node, position = place(now(edge))
    return node is not None and bool(node.hooks and node.hooks.get(position))


def held_hooks(tensor: Any) -> tuple[Hook, ...]:
    """The hooks of a tensor, without making place for any."""
    node, position = place(now(tensor.node))
    known = (tensor if node is None else node).hooks
    return tuple(known.get(position, ())) if known else ()


def hand_on(held: list[Hook], edge: Edge) -> None:
    """Hooks of an opened node's result are those of what an edge leads to; whoever knows the list still takes them away."""
    if edge is not None:
        known, position = _hooks_at(edge)
        known[position] = [*known[position], *held] if known.get(position) else held


class Kept:
    """The hook that leaves a result's total at its node, for whoever still holds the result."""

    def __init__(self) -> None:
        self.total: Any = None

    def __call__(self, total: Any) -> Any:
        self.total = total
        return total


class _Keeping:
    on = False  # whether sweeps keep the totals of all they pass, not only those of leaves


keeping = _Keeping()


def kept(edge: Edge) -> Kept | None:
    """What keeps the total of a node's result; None where no sweep has kept one."""
    node, position = place(now(edge))
    known = [] if node is None or not node.hooks else node.hooks.get(position, [])
    return next((hook for hook in known if isinstance(hook, Kept)), None)


def _keep(node: TapeNode, cotangents: dict[int, Any], totals: "Totals") -> None:
    for position, total in cotangents.items():
        totals.show(total)
        if kept(result(node, position)) is None:
            hooks(result(node, position)).append(Kept())


class Totals:
    """Cotangents gathered so far, by what they belong to: a result of a node, or a leaf."""

    def __init__(self, connected: bool = False, ignored: Iterable[Edge] = (), leading: set[Any] | None = None) -> None:
        self.connected = connected  # whether the sweep itself goes on the tape, for gradients of gradients
        self._leading = leading  # the nodes and ids of leaves a sweep for some inputs only has to see
        self.of_nodes: dict[TapeNode, dict[int, Any]] = {}
        self.of_leaves: dict[int, tuple[Any, Any]] = {}
        self.shown: set[int] = set()  # the ids of arrays that others than this sweep may hold
        self._ignored = {where(edge)[:2] for edge in ignored} if ignored else ()
        self._waiting: list[tuple[float, TapeNode]] = []
        self.passed_on = 0  # how many contributions there were

    @property
    def everywhere(self) -> bool:
        """Whether the sweep is towards all there is."""
        return self._leading is None

    def get(self, edge: Edge) -> Any:
        """The total so far, or None."""
        return self._held(where(edge))

    def wants(self, edge: Edge) -> bool:
        """Whether what an edge leads to wants a cotangent."""
        return self.wants_at(where(edge))

    def wants_at(self, spot: Spot) -> bool:
        node, at, _ = spot
        known = self._leading
        if known is None:
            leads = node is not None or at != 0
        else:
            leads = at in known if node is None else node in known or (node, at) in known
        return leads and not (self._ignored and (node, at) in self._ignored)

    def put(self, edge: Edge, total: Any) -> None:
        spot = where(edge)
        if self.wants_at(spot):
            self._hold(spot, total)

    def add(self, edge: Edge, contribution: Any) -> None:
        spot = where(edge)
        if self.wants_at(spot):
            self.add_at(spot, contribution)

    def add_at(self, spot: Spot, contribution: Any) -> None:
        """Adds to what wants it."""
        before = self._held(spot)
        self._hold(spot, contribution if before is None else OPS["add"](before, contribution))

    def _held(self, spot: Spot) -> Any:
        node, at, _ = spot
        if node is None:
            return self.of_leaves[at][1] if at in self.of_leaves else None
        return self.of_nodes[node].get(at) if node in self.of_nodes else None

    def _hold(self, spot: Spot, total: Any) -> None:
        node, at, leaf = spot
        self.passed_on += 1
        if node is None:
            self.of_leaves[at] = leaf, total
        elif node in self.of_nodes:
            self.of_nodes[node][at] = total
        else:
            self.of_nodes[node] = {at: total}
            heapq.heappush(self._waiting, (-node.order, node))

    def show(self, tensor: Any) -> Any:
        """Notes that users may hold a cotangent."""
        self.shown.add(id(tensor.array))
        return tensor

    def own(self, total: Any) -> Any:
        """A finished total as somebody's own: with memory that nobody else has."""
        if self.connected:
            return total
        mine = total.detach() if id(total.array) not in self.shown else type(total)(total.array.copy())
        return self.show(mine)

    def latest(self) -> TapeNode | None:
        return heapq.heappop(self._waiting)[1] if self._waiting else None


def backward(roots: Sequence[tuple[Any, Any]], retain_graph: bool = False) -> None:
    """Adds the gradients of `roots` to the `grad` of every leaf they depend on."""
    totals = sweep(roots, retain_graph)
    before, mode.recording = mode.recording, False
    try:
        for leaf, total in totals.of_leaves.values():
            leaf.grad = totals.own(total) if leaf.grad is None else OPS["add"](leaf.grad, total)
    finally:
        mode.recording = before


def sweep(
    roots: Sequence[tuple[Any, Any]],
    retain_graph: bool,
    connected: bool = False,
    watch: Watch | None = None,
    ignored: Iterable[Edge] = (),
    towards: Iterable[Edge] | None = None,
) -> Totals:
    """Takes the cotangents of `roots` back to the leaves, or only `towards` some; `watch` sees each node with its own."""
    lead, refused = None, dict[TapeNode, GradientError]()
    if towards is not None:
        lead, refused = _opened([edge(root) for root, _ in roots], [*towards], [*ignored], connected)
    totals = Totals(connected, ignored, lead)
    before, mode.recording = mode.recording, connected
    try:  # a `with` would do, but that Ctrl-C may end its __exit__ before it has done anything
        _swept(totals, roots, retain_graph, watch, refused)
    finally:
        mode.recording = before
        for look in watching:
            look(None)
    return totals


def _swept(
    totals: Totals,
    roots: Sequence[tuple[Any, Any]],
    retain_graph: bool,
    watch: Watch | None,
    refused: Mapping[TapeNode, GradientError],
) -> None:
    for root, cotangent in roots:
        totals.add(edge(root), totals.show(cotangent))
    while (node := totals.latest()) is not None:
        cotangents = totals.of_nodes.pop(node)
        if node.is_freed(cotangents, totals):
            message = "backward() a second time through a graph whose buffers were freed by the first"
            raise GradientError("D2S0006", message, hint="call the first one with retain_graph=True")
        if node in refused:
            raise refused[node]
        looked_into = (node.hooks or keeping.on) and node.looked_into(_looked_at(node, cotangents))
        if looked_into or (node.reorders and node.has_order_of_its_own(cotangents, totals)):
            node.open()
            for position, cotangent in cotangents.items():
                totals.add(result(node, position), cotangent)
            continue
        if keeping.on:
            _keep(node, cotangents, totals)
        if node.hooks:
            _hooked(node.hooks, cotangents, totals)
        if watch:
            watch(node, cotangents)
        for look in watching:
            look(node)
        before = totals.passed_on
        try:
            node.pull(cotangents, totals)
        except NumericError as error:
            raise error.in_gradient_of(*node.blamed()) from None
        if not retain_graph and (totals.everywhere or totals.passed_on > before):  # a call may lead there on other paths only
            node.release()
    for leaf, total in list(totals.of_leaves.values()):
        if leaf.hooks:
            cotangents = {0: total}
            _hooked(leaf.hooks, cotangents, totals)
            totals.put(leaf, cotangents[0])


def _looked_at(node: TapeNode, cotangents: Collection[int]) -> set[int]:
    """The results of a node whose totals somebody sees."""
    hooked = {position for position, held in (node.hooks or {}).items() if held}
    return hooked | set(cotangents) if keeping.on else hooked


def _opened(
    roots: Sequence[Edge], targets: Sequence[Edge], ignored: Sequence[Edge], connected: bool
) -> tuple[set[Any], dict[TapeNode, GradientError]]:
    """`leading`, where nodes are opened that show more so; and those that cannot be, which matters if the sweep comes there."""
    refused = dict[TapeNode, GradientError]()
    while True:
        found = leading(roots, [e for e in targets if e is not None])
        behind = {one[0] if isinstance(one, tuple) else one for one in found if not isinstance(one, int)}
        nodes = {
            n
            for n in behind.difference(refused)
            if type(n).looked_into is not TapeNode.looked_into and n.opened is None and not n.released
        }
        if not nodes:
            return found, refused
        named: dict[TapeNode | None, set[int]] = {}
        for node, position in map(place, map(now, (*targets, *ignored))):
            named.setdefault(node, set()).add(position)
        seen = any(_looked_at(n, ()) for n in behind)
        opening = [
            n
            for n in nodes
            if n.reorders or (seen and n.leads_by_path) or n.looked_into(named.get(n, set()) | _looked_at(n, ()), connected)
        ]
        if not opening:
            return found, refused
        for node in opening:
            try:
                node.open()
            except GradientError as error:
                refused[node] = error


def leading(roots: Iterable[Edge], targets: Iterable[Edge]) -> set[Any]:
    """What leads from roots to targets: ids of leaves, nodes, or some of a node's results with their positions.

    Where a freed node led, nobody knows.
    """
    found: set[Any] = {at if node is None else (node, at) for node, at, _ in map(where, targets)}
    behind: dict[TapeNode, list[Spot]] = {}
    waiting = [node for root in roots for node, _, _ in [where(root)] if node is not None]
    while waiting:
        node = waiting.pop()
        if node not in behind:
            behind[node] = spots = [where(edge) for edge in node.edges]
            waiting += [near for near, _, _ in spots if near is not None]
    for node in sorted(behind, key=_order):  # a node is younger than those its edges lead to
        leads = [at in found if near is None else near in found or (near, at) in found for near, at, _ in behind[node]]
        positions = node.leading(leads)
        if positions is None:
            found.add(node)
        elif positions:
            found.update([(node, position) for position in positions])
    return found


def _hooked(hooks: dict[int, list[Hook]], cotangents: dict[int, Any], totals: Totals) -> None:
    """Lets hooks see the totals, and replaces those they give others for."""
    for position in cotangents.keys() & hooks.keys():
        for hook in tuple(hooks[position]):
            cotangents[position] = totals.show(hook(cotangents[position]))
