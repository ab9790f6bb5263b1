"""The blocks of a ProgramDesc as a tree that is known to be sound, before anything is made of it.

In: the block messages `protobuf.decode` made, and the names of the ops one can read. Out: Blocks of Ops; FormatError
where a block is missing, claimed twice or inside of itself, or an op is unknown.

>>> blocks_of([], set())
Traceback (most recent call last):
d2s.errors.FormatError: [D2S3001] the file holds no blocks
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NoReturn

from d2s.errors import FormatError
from d2s.export.model import BUFFER, PARAMETER, Role
from d2s.export.paddle_writer import MAX_DEPTH
from d2s.export.protobuf import Message

_BOOLEAN = 6
_LINE = r'\s*File "([^"\n]+\.py|<[^"\n]+>)", line (\d{1,9})'
_FIELDS = {  # by kind of attribute
    0: "i", 1: "f", 2: "s", 3: "ints", 4: "floats", 5: "strings", 7: "bools", 8: "block_idx", 9: "l", 11: "longs",
    12: "float64s", 15: "float64", 16: "scalar", 17: "scalars",
}  # fmt: skip
_SCALARS = (16, 17)
_OF_SCALAR = {1: "b", 2: "i", 3: "r"}  # by its kind


DRAWING = frozenset({"uniform_random", "gaussian_random", "randint", "randperm", "bernoulli", "poisson", "multinomial"})
DRAWING |= {"gumbel_softmax"}
CHANGED_ANYWAY = ("MeanOut", "VarianceOut")  # which an op for inference names, and leaves as they are
SEED, COUNTER = "@seed", "@counter"  # what these ops read and write besides: variables no file has


def fail(message: str, where: str = "") -> NoReturn:
    """The complaint about a file; `where` is the line of the user the op came from."""
    raise FormatError("D2S3001", message, where=where)


class Op:
    """One op of a file, its attributes by name."""

    def __init__(self, described: Message) -> None:
        self.type = described["type"]
        self.inputs = {v["parameter"]: v["arguments"] for v in described["inputs"] if v["arguments"]}
        self.outputs = {v["parameter"]: v["arguments"] for v in described["outputs"] if v["arguments"]}
        self.attrs = {a["name"]: a.get(_FIELDS.get(a["type"], "")) for a in described["attrs"]}
        self.attrs |= {a["name"]: bool(a["b"]) for a in described["attrs"] if a["type"] == _BOOLEAN}
        for a in described["attrs"]:
            if a["type"] in _SCALARS:
                self.attrs[a["name"]] = list(map(_scalar, self.attrs[a["name"]]))
        lines = self.attrs.get("op_callstack")
        found = re.match(_LINE, str(lines[0])) if isinstance(lines, list) and lines else None
        # complaints quote the line they name: a file must not choose /dev/zero
        self.where = f"{found[1]}:{found[2]}" if found else ""

    def take(self, name: str, default: Any) -> Any:
        """An attribute of the type of its default; lists are of ints, or of what the default holds."""
        value = self.attrs.get(name, default)
        of = type(default[0]) if isinstance(default, list) and default else int
        if type(value) is not type(default) or (isinstance(value, list) and not all(type(v) is of for v in value)):
            fail(f"attribute '{name}' of {self.type} is {value!r}", self.where)
        return value

    def one(self, slot: str, outputs: bool = False) -> str:
        names = (self.outputs if outputs else self.inputs).get(slot, [])
        if len(names) != 1:
            fail(f"{self.type} has {len(names)} names for '{slot}', one is wanted", self.where)
        return names[0]

    def written(self, but: Sequence[str]) -> list[str]:
        """The variables it writes, but for those of some slots."""
        return [n for slot, names in self.outputs.items() if slot not in but for n in names]

    @property
    def out(self) -> str:
        return self.one("Out", outputs=True)


def _scalar(described: Message) -> Any:
    kind = _OF_SCALAR.get(described["type"])
    return described[kind] if kind else None


class Block:
    """One block: its ops, the variables it declares, and the names it reads and writes outside of it."""

    def __init__(self, described: Message, index: int) -> None:
        self.index, self.parent = index, described["parent_idx"]
        self.declared = {v["name"]: v for v in described["vars"]}
        self.ops = [Op(o) for o in described["ops"]]
        self.reads: list[str] = []
        self.writes: list[str] = []

    def link(self, children: Sequence["Block"]) -> None:
        reads = [n for op in self.ops for names in op.inputs.values() for n in names]
        writes = [n for op in self.ops for n in op.written(CHANGED_ANYWAY)]
        if any(op.type in DRAWING for op in self.ops):
            reads, writes = [*reads, SEED, COUNTER], [*writes, COUNTER]
        for child in children:
            reads += child.reads
            writes += child.writes
        self.reads = [n for n in dict.fromkeys(reads) if n not in self.declared]
        self.writes = [n for n in dict.fromkeys(writes) if n not in self.declared]


def roles_of(described: Message) -> dict[str, Role]:
    """What the variables of a file say of themselves."""
    return {v["name"]: _role(v) for block in described["blocks"][:1] for v in block["vars"]}


def _role(variable: Message) -> Role:
    return Role(variable["name"], not variable["stop_gradient"], PARAMETER if variable["is_parameter"] else BUFFER)


def blocks_of(described: Sequence[Message], known: AbstractSet[str]) -> list[Block]:
    """The blocks of a file, whose tree is sound: every block but the first belongs to one op of an earlier one."""
    blocks = [Block(b, i) for i, b in enumerate(described)]
    if not blocks:
        fail("the file holds no blocks")
    top = {"feed", "fetch"}
    unknown = {op.type for b in blocks for op in b.ops if b.index or op.type not in top} - known
    if unknown:
        fail(f"the file holds ops d2s does not know: {', '.join(sorted(unknown))}")
    depth, owned = [0], set[int]()
    for block in blocks[1:]:
        if not 0 <= block.parent < block.index:
            fail(f"block {block.index} says it is inside of block {block.parent}")
        depth.append(depth[block.parent] + 1)
        if depth[-1] > MAX_DEPTH:
            fail(f"blocks are nested more than {MAX_DEPTH} deep")
    for block in reversed(blocks):
        children = [op.take("sub_block", 0) for op in block.ops if "sub_block" in op.attrs]
        for child in children:
            if not block.index < child < len(blocks) or blocks[child].parent != block.index or child in owned:
                fail(f"an op of block {block.index} claims block {child}")
            owned.add(child)
        block.link([blocks[child] for child in children])
    return blocks
