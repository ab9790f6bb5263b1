"""Numbers that go along with values through a Program: whether a value depends on what wants a gradient, which tensor it is.

In: a Program, the values asked about, and a `Kind` that says what goes along with the result of a plain op. Out: the Program
with nodes that compute it; known numbers are Python's. Where paths join, trips end or a function calls itself, it goes the way
of the value; with a list goes a list.

>>> Kind.__name__
'Kind'
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from d2s.autodiff.linear import uniquely_named
from d2s.ir.program import Node, Program, Value, calls_of
from d2s.ops.control import described
from d2s.types import Type, int64

Shadow = Any  # a bool or an int of Python, or the Value that is it at run time
_REPEATED = ("while_loop", "call")
_LENGTH, _SIZE = Type(int64), Type(int64, python=True)
_OF_LISTS = (
    "list_append",
    "list_set",
    "list_get",
    "list_pop",
    "list_length",
    "list_full",
    "list_stack",
    "list_unstack",
    "list_new",
)


class Kind:
    """What goes along: of which type, with which values, and what follows from what."""

    type: Type
    beginning: Shadow  # of what nobody told of
    counts = False  # whether a number of trips and calls goes along, too: `clock`
    begun: Mapping[Value, Shadow] = {}  # with these it goes, whatever they were made of

    def follows(self, value: Value) -> bool:
        raise NotImplementedError

    def sources(self, node: Node) -> Sequence[Value]:
        """The inputs of a plain op that it follows from."""
        raise NotImplementedError

    def made(self, node: Node, given: Sequence[Shadow], clock: Shadow, nodes: list[Node]) -> Shadow:
        """What goes along with the results of a plain op."""
        raise NotImplementedError

    def told(self, node: Node) -> Sequence[Value]:
        """What a node is given that has to know what goes along with it."""
        return ()

    def telling(self, node: Node, shadows: Mapping[Value, Value]) -> Node:
        """That node, told of these, which only a run knows."""
        raise NotImplementedError

    def of_all(self, items: Value, clock: Shadow, nodes: list[Node]) -> tuple[Value, Shadow]:
        """The list that goes along with what was stacked, and what goes along with the stack."""
        raise NotImplementedError


class _Function:
    """A function that calls itself: which of its inputs and results it matters of."""

    def __init__(self, inputs: Sequence[int], results: Sequence[int], carries: int, counting: bool) -> None:
        self.inputs, self.results, self.carries, self.counting = inputs, results, carries, counting


class Shadows:
    """What is known of one Program: the values that matter, and of functions around which of theirs do."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.asked: set[Value] = set()
        self._functions: dict[str, _Function] = {}
        self._counting: set[Node] = set()  # nodes in which trips or calls are counted

    # --- which values matter

    def ask(self, region: Program, values: Iterable[Value]) -> None:
        """Notes these values of a region, and all they may have it from."""
        asked = self.asked
        asked.update(v for v in values if self.kind.follows(v))
        for node in reversed(region.nodes):
            asked.update(self.kind.told(node))
            if asked.isdisjoint(node.outputs) and not self._tells(node):
                continue
            if node.op in ("cond", *_REPEATED):
                self._ask_inside(node)
            elif node.op != "again":
                followed = node.inputs if node.op in _OF_LISTS or node.op == "renamed" else self.kind.sources(node)
                asked.update(v for v in followed if self.kind.follows(v))
                asked.update(v for v in node.outputs if v.type.listed and self.kind.follows(v))

    def _ask_inside(self, node: Node) -> None:
        before, asked = -1, self.asked
        again = list(calls_of(node.attrs["body"], node.attrs["name"])) if node.op == "call" else []
        while before != len(asked):  # a loop's carries may hand it on to each other
            before = len(asked)
            for inside in [r for name, r in node.regions().items() if name != "test"]:
                for call in (node, *again):
                    self.ask(inside, [v for v, out in zip(inside.outputs, call.outputs, strict=True) if out in asked])
                    around = zip(inside.inputs, call.inputs[node.op == "cond" :], strict=True)
                    asked.update(v for p, v in around if p in asked and self.kind.follows(v))
                for call in again:
                    asked.update(out for v, out in zip(inside.outputs, call.outputs, strict=True) if v in asked)
                if node.op == "call":
                    asked.update(out for v, out in zip(inside.outputs, node.outputs, strict=True) if v in asked)
                if node.op == "while_loop":
                    self._ask_test(node)
                    asked.update(p for p, out in zip(inside.inputs, node.outputs, strict=False) if out in asked)
                    self.ask(inside, [v for p, v in zip(inside.inputs, inside.outputs, strict=False) if p in asked])

    def _ask_test(self, loop: Node) -> None:
        """The same of a loop's test, which makes nothing that goes on."""
        test, body = loop.attrs["test"], loop.attrs["body"]
        self.ask(test, ())
        self.asked.update(
            v for p, *given in zip(test.inputs, body.inputs, loop.inputs, strict=True) if p in self.asked for v in given
        )

    def count(self, region: Program, functions: Collection[str] = ()) -> bool:
        """Notes where trips and calls are counted, those of functions around included; whether that is anywhere in a region."""
        found = False
        for node in region.nodes if self.kind.counts else ():
            asked = node.op in _REPEATED and not self.asked.isdisjoint(node.outputs)
            around = (*functions, node.attrs["name"]) if asked and node.op == "call" else functions
            inside = [self.count(r, around) for r in node.regions().values()]
            if asked or (node.op == "again" and node.attrs["name"] in functions) or any(inside):
                self._counting.add(node)
                found = True
        return found

    # --- the nodes that compute it

    def followed(
        self, region: Program, held: Mapping[Value, Shadow], clock: Shadow = 0
    ) -> tuple[list[Node], dict[Value, Shadow], Shadow]:
        """The nodes of a region with those that say it, what is known of each value it matters of, and the clock behind it."""
        nodes, known = list[Node](), dict(held)
        for node in region.nodes:
            again = node.op == "again" and node.attrs["name"] in self._functions
            entered = node in self._counting or again or self._calls(node) or self._tells(node)
            if self.asked.isdisjoint(node.outputs) and not entered:
                nodes.append(self._telling(node, known))
                continue
            step = {"cond": self._cond, "while_loop": self._loop, "call": self._call, "again": self._again}.get(node.op)
            if step:
                clock = step(node, nodes, known, clock)
            else:
                nodes.append(node)
                self._plain(node, nodes, known, clock)
            known |= {v: self.kind.begun[v] for v in node.outputs if v in self.kind.begun}
        return nodes, known, clock

    def _plain(self, node: Node, nodes: list[Node], known: dict[Value, Shadow], clock: Shadow) -> None:
        if node.op in _OF_LISTS:
            self._list(node, nodes, known, clock)
        elif node.op == "renamed":
            known[node.outputs[0]] = self._known(known, node.inputs[0])
        else:
            given = [self._known(known, v) for v in self.kind.sources(node) if self.kind.follows(v)]
            for v in node.outputs:
                if self.kind.follows(v):
                    known[v] = self.kind.made(node, given, clock, nodes)

    def _calls(self, node: Node) -> bool:
        """Whether a function around is called in its regions, which is given more now."""
        return any(True for region in node.regions().values() for name in self._functions for _ in calls_of(region, name))

    def _tells(self, node: Node) -> bool:
        """Whether something in its regions is told."""
        return any(map(self.kind.told, (inner for region in node.regions().values() for inner in region.every_node())))

    def _telling(self, node: Node, known: Mapping[Value, Shadow]) -> Node:
        """A node, told what only a run knows of what it is given."""
        found = {v: shadow for v in self.kind.told(node) if isinstance(shadow := known.get(v), Value)}
        return self.kind.telling(node, found) if found else node

    def _known(self, known: Mapping[Value, Shadow], value: Value) -> Shadow:
        return known.get(value, self.kind.beginning)

    def _list(self, node: Node, nodes: list[Node], known: dict[Value, Shadow], clock: Shadow) -> None:
        """The same on the list that goes along."""
        of, outputs = self.kind.type, node.outputs
        if node.op == "list_stack":
            known[outputs[0]], known[outputs[1]] = self.kind.of_all(known[node.inputs[0]], clock, nodes)
        elif node.op == "list_new":
            known[outputs[0]] = _added(nodes, Node("list_new", (), (Value(of.list),), _item(of)))
        elif node.op == "list_length":
            known[outputs[0]] = known[node.inputs[0]]
        elif node.op == "list_full":
            one = self.value(self._known(known, node.inputs[1]), nodes)
            known[outputs[0]] = _added(nodes, Node("list_full", (node.inputs[0], one), (Value(of.list),), {}))
        elif node.op == "list_unstack":
            one = self.value(self.kind.made(node, [self._known(known, node.inputs[1])], clock, nodes), nodes)
            size = _added(nodes, Node("extent", (node.inputs[1],), (Value(_SIZE),), {"axis": 0}))
            number = _added(nodes, Node("cast", (size,), (Value(_LENGTH),), {"dtype": _LENGTH.dtype, "python": False}))
            known[outputs[0]] = _added(nodes, Node("list_full", (number, one), (Value(of.list),), {}))
        elif node.op in ("list_append", "list_set"):
            one = self.value(self._known(known, node.inputs[-1]), nodes)
            inputs = (known[node.inputs[0]], *node.inputs[1:-1], one)
            known[outputs[0]] = _added(nodes, Node(node.op, inputs, (Value(of.list),), {}))
        else:  # list_get, list_pop
            made = Value(of.list), Value(of)
            nodes.append(Node(node.op, (known[node.inputs[0]], *node.inputs[1:]), made, {}))
            known[outputs[0]], known[outputs[1]] = made

    def _cond(self, node: Node, nodes: list[Node], known: dict[Value, Shadow], clock: Shadow) -> Shadow:
        counting = node in self._counting
        outer = list(dict.fromkeys(s for v in node.inputs[1:] if isinstance(s := known.get(v), Value) and v in self.asked))
        outer += [clock] if isinstance(clock, Value) and clock not in outer else []
        arms = []
        for name, arm in node.regions().items():
            inner = {s: Value(s.type, "taken") for s in outer}
            own = inner[clock] if isinstance(clock, Value) else clock
            inside, found, end = self.followed(arm, self._inside(arm, node.inputs[1:], known, inner), own)
            arms.append((name, arm, inner, inside, [self._known(found, v) for v in arm.outputs], end))
        results, more = list[list[Shadow]](), list[Value]()
        for k, out in enumerate(node.outputs):
            if out in self.asked:
                pair = [shadows[k] for *_, shadows, _ in arms]
                same = _same(*pair)
                known[out] = pair[0] if same else Value(_along(self.kind.type, out), "taken")
                if not same:
                    results.append(pair)
                    more.append(known[out])
        if counting:
            results.append([end for *_, end in arms])
            more.append(Value(self.kind.type, "clock"))
        regions = {}
        for at, (name, arm, inner, inside, _, _) in enumerate(arms):
            told = [self.value(pair[at], inside) for pair in results]
            inputs = tuple(uniquely_named([*arm.inputs, *inner.values()]))
            regions[name] = Program(arm.name, inputs, tuple(inside), (*arm.outputs, *told))
        nodes.append(Node("cond", (*node.inputs, *outer), (*node.outputs, *more), node.attrs | regions, node.where))
        return more[-1] if counting else clock

    def _inside(
        self, region: Program, given: Sequence[Value], known: Mapping[Value, Shadow], inner: Mapping[Value, Value]
    ) -> dict[Value, Shadow]:
        """What a region knows of its inputs, where it has values of its own for those around."""
        held = {p: self._known(known, v) for p, v in zip(region.inputs, given, strict=True) if p in self.asked}
        return {p: inner[s] if isinstance(s, Value) else s for p, s in held.items()}

    def _loop(self, node: Node, nodes: list[Node], known: dict[Value, Shadow], clock: Shadow) -> Shadow:
        test, body, count = node.attrs["test"], node.attrs["body"], node.attrs["carries"]
        fixed, counting = node.inputs[count:], node in self._counting
        outer = list(dict.fromkeys(s for v in fixed if isinstance(s := known.get(v), Value) and v in self.asked))
        inner = {s: Value(s.type, "taken") for s in outer}
        held = self._inside(Program(body.name, body.inputs[count:], (), ()), fixed, known, inner)
        starts = {p: self._known(known, v) for p, v in zip(body.inputs, node.inputs[:count], strict=False) if p in self.asked}
        carried = {p: Value(_along(self.kind.type, p), "taken") if isinstance(s, Value) else s for p, s in starts.items()}
        ticks = Value(self.kind.type, "clock") if counting else clock
        while True:
            inside = list[Node]()
            now = self._tick(ticks, inside) if counting else ticks
            more, found, end = self.followed(body, held | carried, now)
            inside += more
            results = {p: self._known(found, v) for p, v in zip(body.inputs, body.outputs, strict=False) if p in starts}
            moved = [p for p, s in carried.items() if not isinstance(s, Value) and not _same(results[p], s)]
            if not moved:
                break
            carried |= {p: Value(_along(self.kind.type, p), "taken") for p in moved}
        mixed: dict[Any, Value] = {p: s for p, s in carried.items() if isinstance(s, Value)}
        first, behind = [self.value(starts[p], nodes) for p in mixed], [self.value(results[p], inside) for p in mixed]
        ends: dict[Any, Value] = {p: Value(mixed[p].type, "taken") for p in mixed}
        if counting:
            mixed[None], ends[None] = ticks, Value(self.kind.type, "clock")
            first, behind = [*first, self.value(clock, nodes)], [*behind, self.value(end, inside)]
        known |= {out: ends.get(p, carried[p]) for p, out in zip(body.inputs, node.outputs, strict=False) if p in carried}
        flags = [*mixed.values(), *inner.values()]
        told = {s: Value(s.type, "taken") for s in flags}  # the same as the test has them
        asked = uniquely_named(_placed(test.inputs, count, list(told.values()), len(mixed)))
        asking = list(test.nodes)
        if any(map(self.kind.told, test.every_node())):
            around = {p: held.get(v, carried.get(v)) for p, v in zip(test.inputs, body.inputs, strict=True) if p in self.asked}
            asking, _, _ = self.followed(test, {p: told[s] if isinstance(s, Value) else s for p, s in around.items()}, clock)
        changing = uniquely_named(_placed(body.inputs, count, flags, len(mixed)))
        trips = Program(body.name, tuple(changing), tuple(inside), (*body.outputs, *behind))
        tested = Program(test.name, tuple(asked), tuple(asking), test.outputs)
        attrs = node.attrs | {"test": tested, "body": trips, "carries": count + len(mixed)}
        inputs = _placed(node.inputs, count, [*first, *outer], len(mixed))
        nodes.append(Node("while_loop", inputs, (*node.outputs, *ends.values()), attrs, node.where))
        return ends.get(None, clock)

    def _call(self, node: Node, nodes: list[Node], known: dict[Value, Shadow], clock: Shadow) -> Shadow:
        body, name, count = node.attrs["body"], node.attrs["name"], node.attrs["carries"]
        counting, before = node in self._counting, self._functions.get(name)
        asked = [k for k, p in enumerate(body.inputs) if p in self.asked]
        results = [k for k, out in enumerate(node.outputs) if out in self.asked]
        self._functions[name] = _Function(asked, results, count, counting)
        own = {body.inputs[k]: Value(_along(self.kind.type, body.inputs[k]), "taken") for k in asked}
        ticks, inside = Value(self.kind.type, "clock"), list[Node]()
        now = self._tick(ticks, inside) if counting else clock
        more, found, end = self.followed(body, own, now)
        inside += more
        behind = [self.value(self._known(found, body.outputs[k]), inside) for k in results]
        behind += [self.value(end, inside)] if counting else []
        first = [self.value(self._known(known, node.inputs[k]), nodes) for k in asked]
        first += [self.value(clock, nodes)] if counting else []
        ends = [Value(_along(self.kind.type, node.outputs[k]), "taken") for k in results]
        known |= {node.outputs[k]: s for k, s in zip(results, ends, strict=True)}
        ends += [Value(self.kind.type, "clock")] if counting else []
        flags = [*own.values(), *([ticks] if counting else [])]
        inputs = uniquely_named(_placed(body.inputs, count, flags, len(flags)))
        attrs = node.attrs | {"body": Program(body.name, tuple(inputs), tuple(inside), (*body.outputs, *behind))}
        given = _placed(node.inputs, count, first, len(first))
        outputs = (*node.outputs, *ends)
        nodes.append(Node("call", given, outputs, attrs | {"carries": count + len(first)}, node.where))
        del self._functions[name]
        self._functions |= {name: before} if before else {}
        return ends[-1] if counting else clock

    def _again(self, node: Node, nodes: list[Node], known: dict[Value, Shadow], clock: Shadow) -> Shadow:
        function, counting = self._functions[node.attrs["name"]], self._functions[node.attrs["name"]].counting
        first = [self.value(self._known(known, node.inputs[k]), nodes) for k in function.inputs]
        first += [self.value(clock, nodes)] if counting else []
        ends = [Value(_along(self.kind.type, node.outputs[k]), "taken") for k in function.results]
        known |= {node.outputs[k]: s for k, s in zip(function.results, ends, strict=True)}
        ends += [Value(self.kind.type, "clock")] if counting else []
        attrs = node.attrs | {"results": (*node.attrs["results"], *described([s.type for s in ends]))}
        given = _placed(node.inputs, function.carries, first, len(first))
        nodes.append(Node("again", given, (*node.outputs, *ends), attrs, node.where))
        return ends[-1] if counting else clock

    def _tick(self, clock: Value, nodes: list[Node]) -> Value:
        return _added(nodes, Node("add", (clock, self.value(1, nodes)), (Value(self.kind.type),), {}))

    def value(self, shadow: Shadow, nodes: list[Node]) -> Value:
        """A number as a value of the graph."""
        if isinstance(shadow, Value):
            return shadow
        of = self.kind.type
        return _added(nodes, Node("constant", (), (Value(of),), {"value": shadow, "dtype": of.dtype, "python": False}))


def _along(of: Type, value: Value) -> Type:
    """The type of what goes along with a value: with a list goes a list."""
    return of.list if value.type.listed else of


def _item(of: Type) -> dict[str, Any]:
    return {"dtype": of.dtype, "shape": of.shape, "python": of.python}


def _same(a: Shadow, b: Shadow) -> bool:
    return not isinstance(a, Value) and not isinstance(b, Value) and type(a) is type(b) and bool(a == b)


def _added(nodes: list[Node], node: Node) -> Value:
    nodes.append(node)
    return node.outputs[0]


def _placed(values: Sequence[Value], carries: int, more: Sequence[Value], carried: int) -> tuple[Value, ...]:
    """The inputs of a loop or a call with more: the first of them are carried, too."""
    return (*values[:carries], *more[:carried], *values[carries:], *more[carried:])
