"""A declared program as Paddle shows it: blocks, which hold operators and variables.

In: a program. Out: what users look at, and rarely change.

>>> d2s.enable_static()
>>> with d2s.static.program_guard(d2s.static.Program()):
...     x = d2s.static.data("x", [2])
...     y = d2s.tanh(x)
>>> d2s.disable_static()
>>> op = x.block.ops[0]
>>> op.type, op.input_names, op.input("X"), op.output_arg_names == [y.name], x.block.var("x") is x
('tanh', ['X'], ['x'], True, True)
"""

from collections.abc import Iterator, Sequence
from typing import Any

from d2s import memory, types, unique_name
from d2s.arguments import expect
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, brief
from d2s.ir.program import Node, Value
from d2s.nn.parameter import Parameter
from d2s.ops import OPS
from d2s.static.input_spec import InputSpec
from d2s.static.variable import Held, Variable
from d2s.types import Dim, Type


class Operator:
    """One node of a program: an op of d2s by its own name, with its own names of what goes in, in capitals as Paddle's are."""

    def __init__(self, block: "Block", node: Node, idx: int) -> None:
        self.block, self.node, self.idx = block, node, idx

    @property
    def type(self) -> str:
        return self.node.op

    @property
    def input_names(self) -> list[str]:
        """What the op calls its inputs."""
        return list(self._slots(self.node.inputs))

    @property
    def output_names(self) -> list[str]:
        return ["Out"] if self.node.outputs else []

    @property
    def input_arg_names(self) -> list[str]:
        """The names of the variables that go in."""
        return [self.block.name_of(value) for value in self.node.inputs]

    @property
    def output_arg_names(self) -> list[str]:
        return [self.block.name_of(value) for value in self.node.outputs]

    def input(self, name: str) -> list[str]:
        """The names of the variables under one of the op's own names."""
        return [self.block.name_of(value) for value in self._known("input", self._slots(self.node.inputs), name)]

    def output(self, name: str) -> list[str]:
        found: Sequence[Value] = self._known("output", dict.fromkeys(self.output_names, self.node.outputs), name)
        return [self.block.name_of(value) for value in found]

    def _slots(self, values: Sequence[Value]) -> dict[str, Sequence[Value]]:
        arrays = OPS[self.type].arrays if self.type in OPS else ()
        if not arrays or len(arrays) > len(values):
            return {"X": values} if values else {}
        last = len(arrays) - 1
        return {name.capitalize(): values[n : None if n == last else n + 1] for n, name in enumerate(arrays)}

    def _known(self, what: str, held: dict[str, Any], name: str) -> Any:
        expect(what, "name", name, str, "a str")
        if name not in held:
            raise ArgumentError("D2S0004", f"{what}(): {self.type} has none named {brief(name)}", hint=", ".join(held))
        return held[name]

    @property
    def attr_names(self) -> list[str]:
        return list(self.node.attrs)

    def all_attrs(self) -> dict[str, Any]:
        return dict(self.node.attrs)

    def has_attr(self, name: str) -> bool:
        return name in self.node.attrs

    def attr(self, name: str) -> Any:
        return self._known("attr", self.node.attrs, name)

    def to_string(self, throw_on_error: bool = False) -> str:
        results, given = ", ".join(self.output_arg_names), ", ".join(self.input_arg_names)
        attrs = ", ".join(f"{name}={value!r:.60}" for name, value in self.node.attrs.items())
        return f"{{{results}}} = {self.type}(inputs={{{given}}}{', ' if attrs else ''}{attrs})"

    __str__ = __repr__ = to_string


class Block:
    """The variables and nodes of a program."""

    idx, parent_idx, forward_block_idx = 0, -1, -1

    def __init__(self, program: Any) -> None:
        self.program = program

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and other.program is self.program

    def __hash__(self) -> int:
        return id(self.program)

    @property
    def ops(self) -> list[Operator]:
        return [Operator(self, node, n) for n, node in enumerate(self.program.recording.builder.nodes)]

    def name_of(self, value: Value) -> str:
        """What a value of the program is called: what is read of a tensor, like that."""
        role = self.program.recording.roles.get(value)
        if isinstance(role, Held) and role.tensor.name:
            return str(role.tensor.name)
        return str(self.program.recording.name_of(Variable(self.program.recording, value)))

    @property
    def vars(self) -> dict[str, Any]:
        return {v.name: v for v in self.program.list_vars()}

    def var(self, name: str) -> Any:
        """The variable of that name."""
        return self.program.named(name)

    def create_var(self, name: str | None = None, shape: Any = None, dtype: Any = "float32", **more: Any) -> Any:
        """A variable for what `py_func` returns; persistable, a tensor that the program keeps."""
        recording = self.program.recording
        found = name or unique_name.generate("_generated_var")
        spec = InputSpec([] if shape is None else shape, dtype)
        if more.get("persistable"):
            held = Tensor(memory.zeros("create_var", [d or 1 for d in spec.shape], spec.dtype.numpy))
            held.name = found
            return held
        return recording.feed(found, Type(types.dtype(spec.dtype), named_extents(spec.shape)))

    def has_var(self, name: str) -> bool:
        return bool(self.program.has(name))

    def all_parameters(self) -> list[Parameter]:
        return list(self.program.all_parameters())

    def iter_parameters(self) -> Iterator[Parameter]:
        return iter(self.all_parameters())

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        return str(self.program.to_string(throw_on_error, with_details))

    __str__ = __repr__ = to_string


def named_extents(shape: Sequence[int | None]) -> tuple[Dim, ...]:
    return tuple(f"n{k}" if d is None else d for k, d in enumerate(shape))
