"""Gradients of lists: the cotangent of a list is a list of the cotangents of its items.

In: nodes on lists, and the totals of what they give. Out: the totals of what they took. A list's total has as many items as the
list has where the node stands, absent ones too; whether each is there says a list of bools, or nothing if all are. A value of a
list is used once, and so is its total: what is behind a node hands it to the node, which hands it on to what is in front.

>>> SweepsLists.pull_list_append.__name__
'pull_list_append'
"""

from typing import TYPE_CHECKING, Any

from d2s.autodiff.totals import FLAG, Total, Totals, add, presence, told
from d2s.errors import GradientError
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.ops.dispatch import current
from d2s.ops.lists import LENGTH
from d2s.ops.recording import Recorder, Symbolic
from d2s.reckoned import source
from d2s.types import Type


class SweepsLists:
    """The part of a sweep that knows lists. `lengths`: of lists whose length the gradient reads, the value that is it."""

    if TYPE_CHECKING:
        region: Program
        active: set[Value]
        recorder: Recorder
        parent: Any
        lengths: dict[Value, Value]
        entered: dict[Value, Value]

        def need(self, value: Value) -> Any: ...

    def begin_lists(self, node: Node, totals: Totals) -> None:
        """Of lists that nothing behind the node has used: the cotangents of all their items are absent."""
        for v in node.outputs:
            if v.type.listed and v in self.active and v not in totals:
                totals[v] = self.absent(v)

    def absent(self, items: Value) -> Total:
        """A total of absent cotangents for a list that this region has."""
        if items not in self.lengths:
            self.lengths[items] = Value(LENGTH, "length")
        count = self.need(self.lengths[items])
        nothing = self.filled(-0.0, items.type.item)
        return Total(OPS["list_full"](count, nothing), OPS["list_full"](count, current().constant(False, FLAG)))

    def filled(self, number: float, of: Type) -> Any:
        """A value whose elements are all one number."""
        top: Any = self
        while top.parent:
            top = top.parent
        names = dict.fromkeys(d for d in of.shape if isinstance(d, str))
        defining = [self.recorder.resolve(top.need(having(top.region, name))) for name in names]
        attrs = {"dtype": of.dtype, "shape": of.shape, "python": False}
        (like,) = self.recorder.add("hole", defining, [of], attrs)
        return OPS["spread"](current().constant(number, Type(of.dtype)), like, None, False)

    def pull_list_new(self, node: Node, totals: Totals) -> None:
        """All cotangents have been taken from it."""
        totals.pop(node.outputs[0])

    pull_list_full = pull_list_new

    def pull_list_length(self, node: Node, totals: Totals) -> None:
        totals[node.inputs[0]] = totals.pop(node.outputs[0])

    def pull_list_append(self, node: Node, totals: Totals) -> None:
        items, x = node.inputs
        total = totals.pop(node.outputs[0])
        total.value, g = OPS["list_pop"](total.value)
        present = None
        if total.present is not None:
            total.present, present = OPS["list_pop"](total.present)
        totals[items] = total
        if x in self.active:
            add(totals, x, Total(g, present))

    def pull_list_pop(self, node: Node, totals: Totals) -> None:
        items, x = node.outputs
        total, g = totals.pop(items), totals.pop(x, None)
        if total.present is not None or g is None or g.present is not None:
            told([total])
            total.present = OPS["list_append"](total.present, presence(g))
        total.value = OPS["list_append"](total.value, self.filled(-0.0, x.type) if g is None else g.value)
        totals[node.inputs[0]] = total

    def pull_list_get(self, node: Node, totals: Totals) -> None:
        items, x = node.outputs
        total, g = totals.pop(items), totals.pop(x, None)
        totals[node.inputs[0]] = total
        if g is None:
            return
        place = self.need(node.inputs[1])
        total.value, before = OPS["list_get"](total.value, place)
        total.value = OPS["list_set"](total.value, place, OPS["add"](before, g.value))
        if total.present is not None:
            total.present, present = OPS["list_get"](total.present, place)
            found = presence(g) if g.present is None else OPS["where"](present, True, g.present)
            total.present = OPS["list_set"](total.present, place, found)

    def pull_list_set(self, node: Node, totals: Totals) -> None:
        items, index, x = node.inputs
        total, place = totals.pop(node.outputs[0]), self.need(index)
        told([total])
        total.value, g = OPS["list_get"](total.value, place)
        total.value = OPS["list_set"](total.value, place, self.filled(-0.0, x.type))
        flags, present = OPS["list_get"](total.present, place)
        none = current().constant(False, FLAG)
        totals[items] = Total(total.value, OPS["list_set"](flags, place, none))
        if x in self.active:
            add(totals, x, Total(g, present))

    def pull_list_stack(self, node: Node, totals: Totals) -> None:
        items, x = node.outputs
        total, g = totals.pop(items), totals.pop(x, None)
        totals[node.inputs[0]] = total
        if g is None:
            return
        count = self.need(node.inputs[1])
        total.value, before = OPS["list_stack"](total.value, count, **node.attrs)
        total.value = OPS["list_unstack"](total.value, OPS["add"](before, g.value))
        if g.present is None:
            total.present = None
        elif total.present is not None:
            total.value, length = OPS["list_length"](total.value)
            total.present, flags = _flags(total.present, length)
            total.present = OPS["list_unstack"](total.present, OPS["where"](g.present, True, flags))

    def pull_list_unstack(self, node: Node, totals: Totals) -> None:
        items, x = node.inputs
        total, number = totals.pop(node.outputs[0]), OPS["cast"](OPS["extent"](self.need(x), 0), LENGTH.dtype)
        attrs = {"finds": x.type.shape[:1], "behind": len(x.type.shape) == len(items.type.shape)}
        value, g = OPS["list_stack"](total.value, number, **attrs)
        present = None
        if total.present is not None:
            _, length = OPS["list_length"](value)
            present = OPS["not_equal"](OPS["sum"](_flags(total.present, length)[1]), 0)
        totals[items] = self.absent(items)
        if x in self.active:
            add(totals, x, Total(g, present))

    def counting(self, node: Node) -> list[Node]:
        """A node, and behind it those that tell the lengths of lists it gives."""
        counted = [v for v in node.outputs if v in self.lengths]
        if not counted:
            return [node]
        raw = {v: Value(v.type) for v in counted}
        outputs = tuple(raw.get(v, v) for v in node.outputs)
        told = [Node("list_length", (raw[v],), (v, self.lengths[v]), {}) for v in counted]
        return [Node(node.op, node.inputs, outputs, node.attrs, node.where), *told]

    def counting_inputs(self) -> list[Node]:
        """The nodes that tell the lengths of lists the region is given."""
        self.entered = {v: Value(v.type, v.name) for v in self.region.inputs if v in self.lengths}
        return [Node("list_length", (raw,), (v, self.lengths[v]), {}) for v, raw in self.entered.items()]

    def inputs(self) -> tuple[Value, ...]:
        """The inputs of the region, as `counting_inputs` has left them."""
        return tuple(self.entered.get(v, v) for v in self.region.inputs)


def having(region: Program, name: str) -> Value:
    """An input that an extent can be read of, or the one it is reckoned from."""
    found = (v for one in (name, source(name)) for v in region.inputs if one in v.type.shape and not v.type.listed)
    value = next(found, None)
    if value is None:
        raise untold(name)
    return value


def untold(name: str) -> GradientError:
    """What is said where no value tells an extent."""
    message = f"a gradient through a loop in which a tensor has '{name}' values on an axis, reckoned from what a trip found"
    return GradientError("D2S0006", message, hint="take the gradient of a call without to_static")


def _flags(present: Any, length: Any) -> Any:
    """Bools of items in one tensor, behind the list of them."""
    return OPS["list_stack"](present, length, finds=("flags",), behind=False)


def flag_of(of: Type) -> Type:
    """The type of what says whether a total is there."""
    return FLAG.list if of.listed else FLAG


def given(recorder: Any, n: int, of: Type, partly: bool) -> Total:
    """What a half is given as the cotangent of output n; `partly`: of a list of which some items have none."""
    value: Symbolic = recorder.input(of, f"g_{n}")
    return Total(value, recorder.input(flag_of(of), f"has_{n}") if partly else None)
