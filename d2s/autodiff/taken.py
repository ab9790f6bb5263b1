"""Whether results depend on an input that wants a gradient on the path that a run takes, as eager code's `stop_gradient` says.

In: a forward half, which of its inputs want a gradient, which results may depend on them. Out: the half with bools behind its
outputs, one for each result that depends on one of them on some paths only, and which output that is.

>>> from d2s.ir.text import parse
>>> program = parse(
...     "program f(c: b1[], x: f32[2], w: f32[2]) -> (f32[2]) { %0: f32[2] = cond(c, x, w) { "
...     "then(x: f32[2], w: f32[2]) -> (f32[2]) { return x } otherwise(x: f32[2], w: f32[2]) -> (f32[2]) { return w } } "
...     "%1: f32[2] = tanh(%0) return %1 }"
... )
>>> told(program, [False, False, True], [True])[1], told(program, [False, True, True], [True])[1]
([1], [-1])
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from d2s.autodiff.linear import uniquely_named
from d2s.autodiff.program import depending
from d2s.autodiff.totals import FLAG
from d2s.ir.program import Node, Program, Value

Taken = bool | Value  # on each path or on none, or what says so at run time


def told(
    forward: Program, wanted: Sequence[int], reached: Sequence[bool], stopped: Collection[Value] = ()
) -> tuple[Program, list[int]]:
    """The half, and for each result the output that says whether it depends on what is wanted; -1: nobody needs to."""
    paths = _Paths(depending(forward, wanted, stopped))
    asked = [v for v, has in zip(forward.outputs, reached, strict=False) if has and not v.type.grows]
    paths.ask(forward, asked)
    wanting = {v: True for v, w in zip(forward.inputs, wanted, strict=True) if w}
    nodes, held = paths.followed(forward, wanting)
    flags = list(dict.fromkeys(flag for flag in (held.get(v) for v in asked) if isinstance(flag, Value)))
    numbers = [flags.index(flag) if isinstance(flag := v in asked and held.get(v), Value) else None for v in forward.outputs]
    first = len(forward.outputs)
    found = [-1 if n is None else first + n for n in numbers[: len(reached)]]
    return Program(forward.name, forward.inputs, nodes, (*forward.outputs, *flags)), found


class _Paths:
    """What is known of one Program: the values that may depend on what is wanted, and those it matters of."""

    def __init__(self, active: set[Value]) -> None:
        self.active = active
        self.asked: set[Value] = set()

    def ask(self, region: Program, values: Iterable[Value]) -> None:
        """Notes these values of a region, and all they may have it from."""
        asked = self.asked
        asked.update(v for v in values if v in self.active)
        for node in reversed(region.nodes):
            if asked.isdisjoint(node.outputs):
                continue
            if node.op not in ("cond", "while_loop"):
                asked.update(v for v in node.inputs if v in self.active)
                continue
            for inside in node.regions().values() if node.op == "cond" else (node.attrs["body"],):
                self._ask_inside(node, inside)

    def _ask_inside(self, node: Node, inside: Program) -> None:
        before, asked = -1, self.asked
        while before != len(asked):  # a loop's carries may hand it on to each other
            before = len(asked)
            self.ask(inside, [v for v, out in zip(inside.outputs, node.outputs, strict=True) if out in asked])
            around = zip(inside.inputs, node.inputs[node.op == "cond" :], strict=True)
            asked.update(v for p, v in around if p in asked and v in self.active)
            if node.op == "while_loop":
                self.ask(inside, [v for p, v in zip(inside.inputs, inside.outputs, strict=False) if p in asked])

    def followed(self, region: Program, held: Mapping[Value, Taken]) -> tuple[tuple[Node, ...], dict[Value, Taken]]:
        """The nodes of a region with those that say it, and what is known of each value it matters of."""
        nodes, known = list[Node](), dict(held)
        for node in region.nodes:
            if self.asked.isdisjoint(node.outputs):
                nodes.append(node)
            elif node.op == "cond":
                self._cond(node, nodes, known)
            elif node.op == "while_loop":
                self._loop(node, nodes, known)
            else:
                nodes.append(node)
                taken = bool(node.regions()) or any(v.type.grows for v in (*node.inputs, *node.outputs))
                either = taken or _either([known.get(v, False) for v in node.inputs if v in self.active], nodes)
                known |= {v: either for v in node.outputs if v in self.active}
        return tuple(nodes), known

    def _cond(self, node: Node, nodes: list[Node], known: dict[Value, Taken]) -> None:
        reads = node.inputs[1:]
        outer = list(dict.fromkeys(flag for v in reads if isinstance(flag := known.get(v), Value) and v in self.asked))
        arms = []
        for name in ("then", "otherwise"):
            arm = node.attrs[name]
            inner = {flag: Value(FLAG, "taken") for flag in outer}
            inside, held = self.followed(arm, self._inside(arm, reads, known, inner))
            arms.append((name, arm, inner, list(inside), [held.get(v, False) for v in arm.outputs]))
        mixed = list[int]()
        for k, out in enumerate(node.outputs):
            if out in self.asked:
                a, b = (results[k] for *_, results in arms)
                known[out] = a if type(a) is bool and a is b else Value(FLAG, "taken")
                mixed += [k] * isinstance(known[out], Value)
        regions = {}
        for name, arm, inner, told, results in arms:
            flags = [_as_value(results[k], told) for k in mixed]
            inputs = tuple(uniquely_named([*arm.inputs, *inner.values()]))
            regions[name] = Program(arm.name, inputs, tuple(told), (*arm.outputs, *flags))
        outputs = (*node.outputs, *(known[node.outputs[k]] for k in mixed))
        nodes.append(Node("cond", (*node.inputs, *outer), outputs, node.attrs | regions, node.where))  # type: ignore[arg-type]

    def _inside(
        self, region: Program, given: Sequence[Value], known: Mapping[Value, Taken], inner: Mapping[Value, Value]
    ) -> dict[Value, Taken]:
        """What a region knows of its inputs, where it has bools of its own for those around."""
        held = {p: known.get(v, False) for p, v in zip(region.inputs, given, strict=True) if p in self.asked}
        return {p: inner[flag] if isinstance(flag, Value) else flag for p, flag in held.items()}

    def _loop(self, node: Node, nodes: list[Node], known: dict[Value, Taken]) -> None:
        test, body, count = node.attrs["test"], node.attrs["body"], node.attrs["carries"]
        fixed = node.inputs[count:]
        outer = list(dict.fromkeys(flag for v in fixed if isinstance(flag := known.get(v), Value) and v in self.asked))
        inner = {flag: Value(FLAG, "taken") for flag in outer}
        held = self._inside(Program(body.name, body.inputs[count:], (), ()), fixed, known, inner)
        starts = {p: known.get(v, False) for p, v in zip(body.inputs, node.inputs[:count], strict=False) if p in self.asked}
        carried: dict[Value, Taken] = {p: Value(FLAG, "taken") if isinstance(s, Value) else s for p, s in starts.items()}
        while True:
            inside, found = self.followed(body, held | carried)
            results = {p: found.get(v, False) for p, v in zip(body.inputs, body.outputs, strict=False) if p in starts}
            moved = [p for p, taken in carried.items() if isinstance(taken, bool) and results[p] is not taken]
            if not moved:
                break
            carried |= {p: Value(FLAG, "taken") for p in moved}
        mixed = {p: taken for p, taken in carried.items() if isinstance(taken, Value)}
        first, trip = [_as_value(starts[p], nodes) for p in mixed], list(inside)
        results_behind = (*body.outputs, *(_as_value(results[p], trip) for p in mixed))
        ends = {p: Value(FLAG, "taken") for p in mixed}
        known |= {out: ends.get(p, carried[p]) for p, out in zip(body.inputs, node.outputs, strict=False) if p in carried}
        flags = [*mixed.values(), *inner.values()]
        asked = uniquely_named(_placed(test.inputs, count, [Value(FLAG, "taken") for _ in flags], len(mixed)))
        asking = Program(test.name, tuple(asked), test.nodes, test.outputs)
        changing = uniquely_named(_placed(body.inputs, count, flags, len(mixed)))
        trips = Program(body.name, tuple(changing), tuple(trip), results_behind)
        attrs = node.attrs | {"test": asking, "body": trips, "carries": count + len(mixed)}
        inputs = _placed(node.inputs, count, [*first, *outer], len(mixed))
        nodes.append(Node("while_loop", inputs, (*node.outputs, *ends.values()), attrs, node.where))


def _placed(values: Sequence[Value], carries: int, flags: Sequence[Value], carried: int) -> tuple[Value, ...]:
    """The inputs of a loop with those of flags: the first ones are carried, too."""
    return (*values[:carries], *flags[:carried], *values[carries:], *flags[carried:])


def _either(taken: Sequence[Taken], nodes: list[Node]) -> Taken:
    """Whether one of them holds."""
    if any(one is True for one in taken):
        return True
    found: Taken = False
    for flag in dict.fromkeys(one for one in taken if isinstance(one, Value)):
        if isinstance(found, Value):
            nodes.append(Node("logical_or", (found, flag), (Value(FLAG),), {}))
            found = nodes[-1].outputs[0]
        else:
            found = flag
    return found


def _as_value(taken: Taken, nodes: list[Node]) -> Value:
    if isinstance(taken, Value):
        return taken
    nodes.append(Node("constant", (), (Value(FLAG),), {"value": taken, "dtype": FLAG.dtype, "python": False}))
    return nodes[-1].outputs[0]
