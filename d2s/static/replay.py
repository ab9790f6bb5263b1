"""A declared program as it is in one run: all extents known, gradients worked out, ready to be compiled.

In: a recording, and what its open extents are. Out: nodes of the IR on values of their own, and which of them stand for what
was declared. Types are inferred anew; a `backward` becomes the gradient Program of all that stands before it.

>>> from d2s.ops.dispatch import handling
>>> from d2s.types import Type, float32
>>> recording = Recording("main")
>>> x = recording.feed("x", Type(float32, ("n", 2)))
>>> with handling(recording):
...     y = d2s.tanh(x)
>>> Replay(recording, {"x": (3, 2)}).value(y.value).type
f32[3,2]
"""

from collections.abc import Mapping, Sequence
from typing import Any

from d2s.autodiff.program import linearize
from d2s.errors import ArgumentError, CaptureError, D2SError, IndexRangeError
from d2s.extents import Answer, Extent, axes, come_to
from d2s.ir.program import Builder, Node, Program, Value
from d2s.ops import OPS
from d2s.ops.control import still_apart
from d2s.static.recording import Recording
from d2s.static.testing import as_tested
from d2s.static.variable import Fed
from d2s.types import Dim, Type


class Replay:
    """The nodes of a recording, one after the other, for one choice of extents (numbers, or names for a file)."""

    def __init__(self, recording: Recording, shapes: Mapping[str, Sequence[Dim]]) -> None:
        self.recording = recording
        self.values: dict[Value, Value] = {}
        self.types: dict[Value, Type] = {}  # of all declared values, those of regions too
        self.present: dict[Value, Value] = {}  # of a gradient: whether the path a run took has one
        self.absent: set[Value] = set()  # gradients no path has
        self.unfed: dict[Value, str] = {}  # what depends on a feed that has no value
        self.builder = Builder(recording.builder.name, [])
        for value in recording.builder.inputs:
            role = recording.roles.get(value)
            if isinstance(role, Fed) and role.name not in shapes:
                self.unfed[value] = role.name
                continue
            of = Type(value.type.dtype, tuple(shapes[role.name])) if isinstance(role, Fed) else value.type
            self.types[value], self.values[value] = of, Value(of, value.name)
            self.builder.inputs.append(self.values[value])
        nodes = as_tested(recording) if recording.tested else recording.builder.nodes
        for node in nodes:
            needed = next((self.unfed[v] for v in node.inputs if v in self.unfed), None)
            if needed is None:
                self._node(self.builder, self.values, node)
            if needed is not None:
                self.unfed.update(dict.fromkeys(node.outputs, needed))
        self._check_answers()

    def value(self, declared: Value) -> Value:
        """What stands for a declared value."""
        if declared in self.unfed:
            raise ArgumentError("D2S0004", f"Executor.run(): 'feed' has no value for '{self.unfed[declared]}'")
        if declared not in self.values:
            what = declared.name or f"{declared.type}, which has no name,"
            raise ArgumentError("D2S0004", f"a variable {what} of another program is asked for")
        return self.values[declared]

    def _check_answers(self) -> None:
        """What code was told about extents must be so in this run."""
        for answer in self.recording.ledger.answers:
            if not self._holds(answer):
                message = f"this program was declared for feeds of which {answer.said}, and is run with others"
                raise CaptureError("D2S1001", message, hint="give the extents in static.data()")

    def _holds(self, answer: Answer) -> bool:
        """Whether it is so; of what this run does not compute nothing is asked, nor of names in files."""
        whole = [self.types.get(value) for value, _ in (*axes(answer.left), *axes(answer.right))]
        numbers = all(of is not None and all(isinstance(d, int) for d in of.shape) for of in whole)
        return answer.holds(self._axis) if numbers else True

    def _axis(self, axis: tuple[Value, int]) -> Dim:
        return self.types[axis[0]].shape[axis[1]]

    def type(self, of: Type) -> Type:
        return Type(of.dtype, tuple(self._attr(d) for d in of.shape), of.python)

    def _attr(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            parts = [self._attr(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return come_to(value.meant, self._axis) if isinstance(value, Extent) else value

    def _node(self, builder: Builder, values: dict[Value, Value], node: Node) -> None:
        if node.op == "backward":
            self._backward(node)
            return
        inputs = [values[v] for v in node.inputs]
        attrs = self._attrs(node, inputs)
        if node.op == "constant" and isinstance(attrs["value"], str):
            values[node.outputs[0]] = self._number(builder, values, node)
            return
        try:
            _refuse_in_front(node, attrs)
            found = self._types(node, inputs, attrs)
        except D2SError as error:
            raise error.at(node.where) from None
        for declared, of in zip(node.outputs, found, strict=True):
            self._note(declared, of, node.where)
        outputs = builder.add(node.op, inputs, found, attrs, node.where)
        values.update(zip(node.outputs, outputs, strict=True))

    def _number(self, builder: Builder, values: Mapping[Value, Value], node: Node) -> Value:
        """An extent as a number, where it has a name: in a file it is counted of a value that has it."""
        extent = node.attrs["value"]
        products = list(extent.meant)
        single = len(products) == 1 and len(products[0]) == 1 and extent.meant[products[0]] == 1
        if not single or products[0][0][0] not in values:
            message = f"a number made of {extent}, which only runs of the file tell"
            raise CaptureError("D2S1001", message, where=node.where, hint="give it in static.data()")
        ((value, axis),) = products[0]
        of = node.outputs[0].type
        self.types[node.outputs[0]] = of
        return builder.add("extent", [values[value]], [of], {"axis": axis}, node.where)[0]

    def _note(self, declared: Value, of: Type, where: str) -> None:
        """The type of a declared value in this run, which must be one the declared type allows."""
        self.types[declared] = of
        fits = len(of.shape) == len(declared.type.shape) and all(
            isinstance(d, str) or type(was) is str or self._attr(was) == d  # a plain name: only a run tells
            for was, d in zip(declared.type.shape, of.shape, strict=True)
        )
        if not fits:
            message = f"a value declared as {declared.type} is {of} in this run, and code may have relied on what it was"
            raise CaptureError("D2S1001", message, where=where, hint="give the extents in static.data()")

    def _attrs(self, node: Node, inputs: Sequence[Value]) -> dict[str, Any]:
        attrs = {name: self._attr(value) for name, value in node.attrs.items() if not isinstance(value, Program)}
        fed = inputs[1:] if node.op == "cond" else inputs
        regions = {name: self._region(region, fed) for name, region in node.regions().items()}
        if node.op == "cond" and "finds" in attrs:
            attrs["finds"] = still_apart(attrs["finds"], list(node.regions().values()), list(regions.values()))
        return attrs | regions

    def _types(self, node: Node, inputs: Sequence[Value], attrs: dict[str, Any]) -> Sequence[Type]:
        if node.op == "host":
            return [self._of_feeds(of) for of in node.attrs["types"]]
        return OPS[node.op].infer([v.type for v in inputs], attrs)

    def _of_feeds(self, of: Type) -> Type:
        """What a call of Python returns: open extents are those of the feeds with that name."""
        ledger = self.recording.ledger
        shape = [ledger.of_feeds(d) if isinstance(d, Extent) else d for d in of.shape]
        return self.type(Type(of.dtype, tuple(shape)))

    def _region(self, region: Program, inputs: Sequence[Value]) -> Program:
        values = {v: Value(i.type, v.name) for v, i in zip(region.inputs, inputs, strict=True)}
        self.types.update((declared, value.type) for declared, value in values.items())
        builder = Builder(region.name, list(values.values()))
        for node in region.nodes:
            self._node(builder, values, node)
        stopped = self.recording.stopped.intersection(values)
        self.values.update((v, values[v]) for v in stopped)
        return builder.finish([values[v] for v in region.outputs])

    # --- gradients

    def _backward(self, node: Node) -> None:
        count = node.attrs["targets"]
        targets = [self.values[v] for v in node.inputs[:count]]
        behind = count + sum(node.attrs["given"])
        given = iter(self.values[v] for v in node.inputs[count:behind])
        cotangents = [next(given) if has else self._ones(t) for t, has in zip(targets, node.attrs["given"], strict=True)]
        stops = {self.values[v] for v in node.inputs[behind : behind + node.attrs["stops"]]}
        wanted = [self.values[v] for v in node.inputs[behind + node.attrs["stops"] :]]
        at_once = [v for v in wanted if v in self.builder.inputs]
        found = self._gradients(targets, cotangents, at_once, stops) if at_once else {}
        for value in wanted:
            if value not in at_once:
                found |= self._gradients(targets, cotangents, [value], stops)
        for declared, value in zip(node.outputs, wanted, strict=True):
            self._put(declared, value, found.get(value))

    def _put(self, declared: Value, value: Value, gradient: tuple[Value, Value | None] | None) -> None:
        if gradient is None:
            self.absent.add(declared)
            self.values[declared] = self._everywhere(value.type, 0.0)
            return
        self.values[declared], present = gradient
        if present is not None:
            self.present[declared] = present

    def _gradients(
        self, targets: Sequence[Value], cotangents: Sequence[Value], wanted: Sequence[Value], stops: set[Value]
    ) -> dict[Value, tuple[Value, Value | None]]:
        """The gradients there are, each with whether a run's path has one (None: every path)."""
        cut = [v for v in wanted if v not in self.builder.inputs]
        inputs = [*self.builder.inputs, *cut]
        nodes = tuple(n for n in self.builder.nodes if not (cut and cut[0] in n.outputs))
        whole = Program(self.builder.name, tuple(inputs), nodes, tuple(targets))
        stopped = ({self.values[v] for v in self.recording.stopped if v in self.values} | stops) - set(cut)
        linear = linearize(whole, [v in wanted for v in inputs], [True] * len(targets), [False] * len(inputs), stopped)
        if not cut:
            self.builder.nodes[:] = linear.forward.nodes
        elif any(n.op == "stack" for n in linear.forward.nodes):
            raise D2SError("D2S0006", "the gradient in a value computed on the way, with an `if` or `while` behind it")
        saved = [(whole.inputs if is_input else linear.forward.outputs)[n] for is_input, n in linear.saved]
        gs = [g for n, g in enumerate(cotangents) if n in linear.reached]
        known = dict(zip(linear.backward.inputs, [*saved, *gs], strict=True))
        for node in linear.backward.nodes:
            inside = tuple(known.get(v, v) for v in node.inputs)
            self.builder.nodes.append(Node(node.op, inside, node.outputs, node.attrs, node.where))
        outputs = [known.get(v, v) for v in linear.backward.outputs]
        return {inputs[n]: (outputs[total], outputs[flag] if flag >= 0 else None) for n, total, flag in linear.totals}

    def _ones(self, like: Value) -> Value:
        return self._everywhere(like.type, 1.0)

    def _everywhere(self, of: Type, number: float) -> Value:
        """One number in a shape."""
        attrs = {"value": number, "dtype": of.dtype, "python": False}
        (made,) = self.builder.add("constant", [], [Type(of.dtype)], attrs)
        return self.builder.add("expand", [made], [of], {"shape": of.shape})[0] if of.shape else made


def _refuse_in_front(node: Node, attrs: Mapping[str, Any]) -> None:
    """A place that was counted when the extent was open is no place to be counted from the end again."""
    for declared, place in zip(node.attrs.get("starts", ()), attrs.get("starts", ()), strict=True):
        if isinstance(declared, Extent) and isinstance(place, int) and place < 0:
            raise IndexRangeError("D2S0007", f"place {declared} is {place} in this run, in front of the first one")
