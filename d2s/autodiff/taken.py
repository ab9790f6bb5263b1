"""Whether results depend on an input that wants a gradient on the path that a run takes, as eager code's `stop_gradient` says.

In: a forward half, which of its inputs want a gradient, which results may depend on them. Out: the half with bools behind its
outputs, one for each result that depends on one of them on some paths only, of a list a list of them, and which output it is.

>>> from d2s.ir.text import parse
>>> program = parse(
...     "program f(c: b1[], x: f32[2], w: f32[2]) -> (f32[2]) { %0: f32[2] = cond(c, x, w) { "
...     "then(x: f32[2], w: f32[2]) -> (f32[2]) { return x } otherwise(x: f32[2], w: f32[2]) -> (f32[2]) { return w } } "
...     "%1: f32[2] = tanh(%0) return %1 }"
... )
>>> told(program, [False, False, True], [True])[1], told(program, [False, True, True], [True])[1]
([1], [-1])
"""

from collections.abc import Collection, Mapping, Sequence

from d2s.autodiff.active import active_values, wanted_inputs
from d2s.autodiff.passed import has_regions
from d2s.autodiff.shadows import Kind, Shadow, Shadows
from d2s.autodiff.totals import FLAG
from d2s.ir.program import Node, Program, Value
from d2s.types import Type, int64

_COUNT = Type(int64)


def told(
    forward: Program,
    wanted: Sequence[int],
    reached: Sequence[bool],
    stopped: Collection[Value] = (),
    begun: Collection[Value] = (),
) -> tuple[Program, list[int]]:
    """The half, and for each result the output that says whether it depends on what is wanted; -1: nobody needs to.

    `begun`: what wants a gradient, too, and was computed.
    """
    active = active_values(forward, wanted_inputs(forward, wanted).union(begun), stopped)
    paths = Shadows(_Depends(active, begun))
    asked = [v for v, has in zip(forward.outputs, reached, strict=False) if has]
    paths.ask(forward, asked)
    wanting = {v: True for v, w in zip(forward.inputs, wanted, strict=True) if w}
    nodes, held, _ = paths.followed(forward, wanting)
    flags = list(dict.fromkeys(flag for flag in (held.get(v) for v in asked) if isinstance(flag, Value)))
    numbers = [flags.index(flag) if isinstance(flag := v in asked and held.get(v), Value) else None for v in forward.outputs]
    first = len(forward.outputs)
    found = [-1 if n is None else first + n for n in numbers[: len(reached)]]
    return Program(forward.name, forward.inputs, tuple(nodes), (*forward.outputs, *flags)), found


def telling(forward: Program, begun: Collection[Value], active: Collection[Value]) -> Program:
    """The Program, in which steps of Python's are told whether tensors they are given want a gradient, where paths decide that.

    `begun`: what does on all paths; `active`: what may.
    """
    steps = _Steps(set(active), begun)
    if not (has_regions(forward) and any(map(steps.told, forward.every_node()))):
        return forward
    paths = Shadows(steps)
    paths.ask(forward, ())
    nodes, _, _ = paths.followed(forward, dict.fromkeys(begun, True))
    made = Program(forward.name, forward.inputs, tuple(nodes), forward.outputs)
    return made if any("told" in node.attrs for node in made.every_node()) else forward


class _Depends(Kind):
    """`active`: the values that may depend on what is wanted."""

    type, beginning = FLAG, False

    def __init__(self, active: set[Value], begun: Collection[Value]) -> None:
        self.active, self.begun, self._stacks = active, dict.fromkeys(begun, True), 0

    def follows(self, value: Value) -> bool:
        return value in self.active or value.type.listed

    def sources(self, node: Node) -> Sequence[Value]:
        return node.inputs

    def made(self, node: Node, given: Sequence[Shadow], clock: Shadow, nodes: list[Node]) -> Shadow:
        """Whether one of them holds."""
        if any(one is True for one in given) or any(v.type.grows for v in (*node.inputs, *node.outputs)):
            return True
        found: Shadow = False
        for flag in dict.fromkeys(one for one in given if isinstance(one, Value)):
            if isinstance(found, Value):
                nodes.append(Node("logical_or", (found, flag), (Value(FLAG),), {}))
                found = nodes[-1].outputs[0]
            else:
                found = flag
        return found

    def of_all(self, items: Value, clock: Shadow, nodes: list[Node]) -> tuple[Value, Shadow]:
        self._stacks += 1
        name = f"flags{self._stacks}"
        types = FLAG.list, _COUNT, FLAG.list, Type(FLAG.dtype, (name,)), _COUNT, _COUNT, FLAG
        counted, number, left, flags, count, none, found = map(Value, types)
        nodes.append(Node("list_length", (items,), (counted, number), {}))
        nodes.append(Node("list_stack", (counted, number), (left, flags), {"finds": (name,), "behind": False}))
        nodes.append(Node("sum", (flags,), (count,), {"axis": (0,), "keepdim": False}))
        nodes.append(Node("constant", (), (none,), {"value": 0, "dtype": _COUNT.dtype, "python": False}))
        nodes.append(Node("not_equal", (count, none), (found,), {}))
        return left, found


class _Steps(_Depends):
    """The same, which steps of Python's are told."""

    def told(self, node: Node) -> Sequence[Value]:
        given = node.inputs[: node.attrs.get("count")] if node.op in ("host", "again") else ()  # which may lead to steps
        return [v for v in given if self.follows(v) and not v.type.python]

    def telling(self, node: Node, shadows: Mapping[Value, Value]) -> Node:
        if node.op != "host":
            return node
        count = node.attrs.get("count", len(node.inputs))
        flags = list(dict.fromkeys(shadows.values()))
        places = {n: len(node.inputs) + flags.index(shadows[v]) for n, v in enumerate(node.inputs[:count]) if v in shadows}
        attrs = node.attrs | {"count": count, "told": places}
        return Node(node.op, (*node.inputs, *flags), node.outputs, attrs, node.where)
