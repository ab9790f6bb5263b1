"""What of a Program is run once more for a sweep: that which makes some of its outputs, without what it only changes in place.

In: a Program whose call has changed tensors in place by now, and the outputs that matter. Out: a Program of the same inputs
that reads of these tensors only what the outputs are made of, so that running statistics, say, may have moved on.

>>> from d2s.ir.text import parse
>>> text = "%0: f32[2] = tanh(x) %1: f32[2] = add(mean, %0)"
>>> program = parse(f"program f(x: f32[2], mean: f32[2]) -> (f32[2], f32[2]) {{ {text} return %0, %1 }}")
>>> [node.op for node in making(program, [True, False], (), {}).nodes]
['tanh']
"""

from collections.abc import Collection, Sequence

from d2s.autodiff.changed import Changes, may_need
from d2s.ir.program import Program, Value
from d2s.passes import drop_dead


def making(program: Program, wanted: Sequence[bool], active: Collection[Value], changes: Changes) -> Program:
    """What makes the wanted outputs - in the place of each other stands one of them - as far as a gradient can do with it.

    All of it, where a gradient may need what a change overwrites of which no output is made: the run has to see it.
    """
    some = next(v for v, has in zip(program.outputs, wanted, strict=False) if has)
    has = (*wanted, *[False] * (len(program.outputs) - len(wanted)))
    outputs = tuple(v if h else some for v, h in zip(program.outputs, has, strict=True))
    found = drop_dead.apply(Program(program.name, program.inputs, program.nodes, outputs))
    made = {v for node in found.every_node() for v in node.outputs}
    left_out = {v: change for v, change in changes.items() if v not in made}
    return program if may_need(program, active, changes, left_out) else found
