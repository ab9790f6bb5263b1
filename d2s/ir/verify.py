"""What must hold of every Program, checked: definitions before uses, closed regions, extents defined by inputs or by nodes;
what grows is used once.

In: a Program. Out: nothing, or an InternalError that names the node and the rule. Types are checked by the ops layer's `infer`.

>>> from d2s.ir.text import parse
>>> verify(parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[m] = tanh(x) return %0 }"))
Traceback (most recent call last):
d2s.errors.InternalError: [D2S9001] program 'f': extent 'm' of tanh is not defined by an input or a node before it
"""

from collections.abc import Callable, Iterator, Mapping

from d2s.errors import InternalError
from d2s.ir.program import Node, Program, Value
from d2s.reckoned import is_reckoned, source
from d2s.types import Type

_LOOKING = ("host", "fail")
_CHANGING = ("list_append", "list_pop", "list_set")
Infer = Callable[[Node], tuple[Type, ...]]


def verify(program: Program, infer: Infer | None = None) -> None:
    """Checks a Program and its regions; with `infer`, the types of every node too."""
    _verify(program, infer, set(), {}, region=False)


def _verify(
    program: Program, infer: Infer | None, owned: set[Value], called: Mapping[str, Program], region: bool = True
) -> None:
    """`owned` are the values the rest of the whole has defined, `called` the bodies of the functions around.

    A list tells a region what its items' extents are called; what a call is given as a list has no items that tell.
    """
    defined: set[Value] = set()
    extents = {d for v in program.inputs if region or not v.type.listed for d in v.type.shape if isinstance(d, str)}
    growing: set[Value] = set()  # those that are used up
    names = [v.name for v in program.inputs]
    _rule(len(set(names)) == len(names) and all(n.isidentifier() for n in names), program, f"input names {names}")
    for value in program.inputs:
        _rule(value not in owned, program, f"{value!r} belongs to another region too")
    defined.update(program.inputs)
    owned |= defined
    for node in program.nodes:
        used_up = _used_up(node)
        for value in node.inputs:
            _rule(value in defined, program, f"{node.op} reads {value!r} before it is defined, or from outside")
            _rule(value not in growing, program, f"{node.op} reads {value!r}, which something else has used up")
            growing |= {value} & used_up
        for value in node.outputs:
            _rule(value not in owned, program, f"{node.op} defines {value!r} a second time")
            owned.add(value)
        extents |= {d for d in node.attrs.get("finds", ()) if isinstance(d, str) and not is_reckoned(d)}
        for value in node.outputs:
            for dim in value.type.shape:
                _rule(
                    isinstance(dim, int) or dim in extents or source(dim) in extents,
                    program,
                    f"extent '{dim}' of {node.op} is not defined by an input or a node before it",
                )
        defined.update(node.outputs)
        if node.op == "again":
            _again(program, node, called.get(node.attrs["name"]))
        within = {**called, node.attrs["name"]: node.attrs["body"]} if node.op == "call" else called
        for inner in node.regions().values():
            _verify(inner, infer, owned, within)
        if infer:
            have, want = tuple(v.type for v in node.outputs), infer(node)
            _rule(have == want, program, f"{node.op} at {node.where or '?'} is typed {have}, its rule says {want}")
    for value in program.outputs:
        _rule(value in defined, program, f"output {value!r} is not defined")
        _rule(value not in growing, program, f"output {value!r} has been used up")
        growing |= {value} if value.type.grows else set()


def _used_up(node: Node) -> set[Value]:
    """What grows, and nothing behind the node may read: what it is given, but for lists that it only looks into."""
    grown = {v for v in node.inputs if v.type.grows and node.op not in _LOOKING}
    return grown - set(_lent(node)) if any(v.type.listed for v in grown) else grown


def _lent(node: Node) -> Iterator[Value]:
    """The lists that a node with regions leaves as they were: these look into them, or the test of a loop asks for items."""
    carries = 1 if node.op == "cond" else node.attrs.get("carries")  # of a `cond`, the condition is in front
    if node.op not in ("cond", "while_loop") or not isinstance(carries, int):
        return
    given = [(name == "test" and _asks(region), region, _left_behind(region)) for name, region in node.regions().items()]
    for n, value in enumerate(node.inputs[carries:], 0 if node.op == "cond" else carries):
        inside = [(asks, region.inputs[n], used_up) for asks, region, used_up in given if n < len(region.inputs)]
        kept = inside and all(asks or own not in used_up for asks, own, used_up in inside)
        if kept and value.type.listed and value not in node.inputs[:carries]:
            yield value


def _left_behind(region: Program) -> set[Value]:
    """What a region uses up, or gives back as its own."""
    return set(region.outputs).union(*map(_used_up, region.nodes))


def _asks(test: Program) -> bool:
    return not any(node.op in _CHANGING for node in test.every_node())


def _again(program: Program, node: Node, body: Program | None) -> None:
    name = node.attrs["name"]
    _rule(body is not None, program, f"again calls '{name}', which is no function around it")
    assert body is not None
    for have, want, what in ((node.inputs, body.inputs, "gets"), (node.outputs, body.outputs, "gives")):
        types = [v.type for v in have], [v.type for v in want]
        _rule(types[0] == types[1], program, f"again of '{name}' {what} {types[0]}, the function {types[1]}")


def _rule(holds: bool, program: Program, message: str) -> None:
    if not holds:
        raise InternalError("D2S9001", f"program '{program.name}': {message}")
