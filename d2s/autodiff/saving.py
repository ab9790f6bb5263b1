"""Forward nodes with regions as the forward half of a gradient has them: they also push what their gradients pop.

In: a `cond` or a `while_loop`, how its regions were swept, and the stack of residuals. Out: the same node with the stack.

>>> saving_cond.__name__
'saving_cond'
"""

from collections.abc import Sequence
from typing import Any

from d2s.autodiff.linear import uniquely_named
from d2s.autodiff.loop import TRIPS
from d2s.ir.program import Node, Program, Value
from d2s.types import STACK


def saving_cond(node: Node, arms: Sequence[Any], stack: Value) -> Node:
    regions = {}
    for (name, region), scope in zip(node.regions().items(), arms, strict=True):
        inside = Value(STACK, "residuals")
        nodes, top = scope.saving_region((), inside)
        inputs = uniquely_named((*scope.inputs(), inside))  # another sweep may have left a stack of its own
        regions[name] = Program(region.name, tuple(inputs), nodes, (*region.outputs, top))
    return Node("cond", (*node.inputs, stack), (*node.outputs, Value(STACK)), node.attrs | regions, node.where)


def saving_loop(node: Node, loop: Any, stack: Value) -> list[Node]:
    """The loop, also counting its trips and pushing what each trip's gradient reads."""
    count, test, body = node.attrs["carries"], node.attrs["test"], node.attrs["body"]
    zero, one = (Node("constant", (), (Value(TRIPS),), {"value": n, "dtype": TRIPS.dtype, "python": False}) for n in (0, 1))
    counter, inside = Value(TRIPS, "trips"), Value(STACK, "residuals")
    count_up = Node("add", (counter, one.outputs[0]), (Value(TRIPS),), {})
    nodes, top = loop.scope.saving_region((one, count_up), inside)
    own = loop.scope.inputs()
    inputs = uniquely_named((*own[:count], counter, inside, *own[count:]))
    saving = Program(body.name, tuple(inputs), nodes, (*body.outputs, count_up.outputs[0], top))
    inputs = uniquely_named((*test.inputs[:count], Value(TRIPS, "trips"), Value(STACK, "residuals"), *test.inputs[count:]))
    asking = Program(test.name, tuple(inputs), test.nodes, test.outputs)
    attrs = node.attrs | {"test": asking, "body": saving, "carries": count + 2}
    fed = (*node.inputs[:count], zero.outputs[0], stack, *node.inputs[count:])
    return [zero, Node("while_loop", fed, (*node.outputs, loop.trips, Value(STACK)), attrs, node.where)]
