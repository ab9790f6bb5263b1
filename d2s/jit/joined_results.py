"""Results of which there is one on each path, as one output of a file: what reads it without our notes finds the result.

In: the recipe of what a function returns, and its Program. Out: the recipe, with single leaves where tensors of one dtype and
rank were told apart by a number, and the Program that computes them.

>>> from d2s.ir.text import parse, show
>>> program = parse("program f(k: int, x: f32[n], y: f32[m]) -> (int, f32[n], f32[m]) { return k, x, y }")
>>> joined = Joined(program, lambda leaf: program.outputs[leaf[1]])
>>> joined.recipe(Choice(("output", 0), [("output", 1), ("output", 2)]))[1].type, [n.op for n in joined.program.nodes]
(f32[e0], ['constant', 'equal', 'cond'])
"""

from collections.abc import Callable, Iterator
from typing import Any

from d2s.capture.guards import MISSING
from d2s.capture.result import Choice, Filled, Leaf, Made, Recipe
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.ops.control import apart
from d2s.types import Type, bool_, int64


class Joined:
    """`program` grows with each result that is joined; `value` says what a leaf of a recipe is in it."""

    def __init__(self, program: Program, value: Callable[[Leaf], Value]) -> None:
        self.program, self._value = program, value

    def recipe(self, recipe: Recipe) -> Recipe:
        """The same with what can be joined as one leaf."""
        if isinstance(recipe, Choice):
            parts = [self.recipe(part) for part in recipe.parts]
            there = {k: part for k, part in enumerate(parts) if part != ("outside", MISSING)}  # no run comes to the others
            if len(there) == 1:
                return next(iter(there.values()))
            return self._joined(recipe.tag, there) or Choice(recipe.tag, parts)
        if isinstance(recipe, Filled):
            return Filled(recipe.kind, [self.recipe(part) for part in recipe.parts])
        if isinstance(recipe, Made):
            return Made(recipe.kind, recipe.keys, [self.recipe(part) for part in recipe.parts])
        return recipe

    def _joined(self, tag: Leaf, parts: dict[int, Recipe]) -> Leaf | None:
        if not all(isinstance(part, tuple) and part[0] in ("output", "argument", "read", "joined") for part in parts.values()):
            return None
        values = {k: self._value(part) for k, part in parts.items()}  # type: ignore[arg-type]
        kinds = {(v.type.dtype, len(v.type.shape), v.type.python, v.type.listed) for v in values.values()}
        if len(kinds) > 1 or next(iter(kinds))[3]:
            return None
        *others, (_, found) = values.items()
        for k, value in reversed(others):
            found = self._chosen(self._value(tag), k, value, found)
        return "joined", found

    def _chosen(self, tag: Value, k: int, value: Value, other: Value) -> Value:
        """`value` where the tag is that number, else the other."""
        number = self._add("constant", (), {"dtype": int64, "python": True, "value": k}, Type(int64, python=True))
        test = self._add("equal", (tag, number), {}, Type(bool_, python=True))
        arms = [_arm(name, value.type, other.type, n) for n, name in enumerate(("then", "otherwise"))]
        free = self._free()
        attrs: dict[str, Any] = {"then": arms[0], "otherwise": arms[1]}
        attrs |= {"finds": finds} if (finds := tuple(next(free) for _ in apart(*arms))) else {}
        (of,) = OPS["cond"].infer([test.type, value.type, other.type], attrs)
        return self._add("cond", (test, value, other), attrs, of)

    def _add(self, op: str, inputs: tuple[Value, ...], attrs: dict[str, Any], of: Type) -> Value:
        found, old = Value(of), self.program
        self.program = Program(old.name, old.inputs, (*old.nodes, Node(op, inputs, (found,), attrs)), old.outputs)
        return found

    def _free(self) -> Iterator[str]:
        """Names that no extent has."""
        values = [*self.program.inputs, *(v for node in self.program.every_node() for v in node.outputs)]
        used = {d for v in values for d in v.type.shape}
        return (name for n in range(len(used) + 1 << 8) if (name := f"e{n}") not in used)


def _arm(name: str, first: Type, second: Type, taken: int) -> Program:
    inputs = Value(first, "v"), Value(second, "v_1")
    return Program(name, inputs, (), (inputs[taken],))
