"""Models that draw random numbers: a file says that they do, the process in which it runs says where its stream is.

In a file's Program the node `stream` gives seed and counter, and `moved` says where the stream is left. To run it, both are
what they are in every captured Program: two inputs behind all others, and one more output.

>>> from d2s.ir.text import parse, show
>>> program = parse("program f(seed: i64[], counter: i64[]) -> (i64[1], i64[]) { "
...     "%0: i64[1] = randperm(seed, counter, dtype=i64, n=1) return %0, counter }")
>>> print(show(for_file(program)))
program f() -> (i64[1]) {
  %0: i64[], %1: i64[] = stream()
  %2: i64[1] = randperm(%0, %1, dtype=i64, n=1)
  moved(%1)
  return %2
}
<BLANKLINE>
>>> print(show(to_run(for_file(program))) == show(program), draws(program), draws(for_file(program)))
True False True
"""

from d2s.errors import FormatError
from d2s.ir.program import Node, Program, Value
from d2s.types import Type, int64

STREAM, MOVED = "stream", "moved"


def for_file(program: Program) -> Program:
    """The Program of a file, of one whose last inputs are seed and counter, and whose last output is the counter behind it."""
    state = [Value(Type(int64)), Value(Type(int64))]
    known = dict(zip(program.inputs[-2:], state, strict=True))
    nodes = [Node(n.op, tuple(known.get(v, v) for v in n.inputs), n.outputs, n.attrs, n.where) for n in program.nodes]
    *outputs, left = (known.get(v, v) for v in program.outputs)
    ends = Node(STREAM, (), tuple(state), {}), Node(MOVED, (left,), (), {})
    return Program(program.name, program.inputs[:-2], (ends[0], *nodes, ends[1]), tuple(outputs))


def to_run(program: Program) -> Program:
    """The Program to run, of that of a file."""
    if not draws(program):
        return program
    first, nodes, last = program.nodes[0], program.nodes[1:-1], program.nodes[-1]
    if first.op != STREAM or last.op != MOVED or any(node.op in (STREAM, MOVED) for node in nodes):
        raise FormatError("D2S3001", "the stream of random numbers does not begin and end with the program")
    taken = {v.name for v in program.inputs}
    seed, counter = (Value(v.type, _free(name, taken)) for v, name in zip(first.outputs, ("seed", "counter"), strict=True))
    known = dict(zip(first.outputs, (seed, counter), strict=True))
    changed = [Node(n.op, tuple(known.get(v, v) for v in n.inputs), n.outputs, n.attrs, n.where) for n in nodes]
    outputs = (*program.outputs, *last.inputs)
    return Program(program.name, (*program.inputs, seed, counter), tuple(changed), tuple(known.get(v, v) for v in outputs))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def draws(program: Program) -> bool:
    """Whether the Program of a file does."""
    return any(node.op in (STREAM, MOVED) for node in program.nodes)
