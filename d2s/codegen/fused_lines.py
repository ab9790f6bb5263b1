"""A kernel along lines with the elementwise nodes around it: what they make is never written, what it makes only in the end.

`sum((x - y) ** 2)` never writes the squares, and the activation behind a norm reads what is still in a register. Only texts are
put together: each op's own, rounded to its dtype in between, so the bits are those of one kernel per op.

In: the body of a `fused` node in which one node's op has a rule `lines`. Out: text and extents, as `fused.lower` gives.

>>> from d2s.ir.text import parse
>>> nodes = "%0: f32[n,4] = exp(x) %1: f32[n] = sum(%0, axis=(1,), keepdim=False) %2: f32[n] = neg(%1) return %2"
>>> body = parse("program f(x: f32[n,4]) -> (f32[n]) { " + nodes + " }")
>>> print(lower(body).text.split("# ")[-1])
fused: exp sum neg
def kernel(r, o, lo, hi):
    from0 = f32_in(r[o[0]])
    out = f32_out(r[o[1]])
    n0 = r[o[2]]
    n1 = r[o[3]]
    if hi < 0:
        return n0 if lo == 0 else 1 + 16384 // (1 + n1)
    for piece in range(lo, hi):
        v = v_of(from0, piece * n1, n1)
        out[piece] = consumed(float32(v))
    return 0
<BLANKLINE>
"""

import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from d2s.codegen import emit
from d2s.codegen.emit import Launch, loaded
from d2s.codegen.fused import WIDE, Functions, element_of
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.ops.lines import Do, Each, Step, Total, kernel
from d2s.types import Type

_WRITES = re.compile(r"(out\[(k|\{line\})\]) = (.*)", re.DOTALL)


def has_lines(node: Node) -> bool:
    """Whether a node's kernel goes along lines, and others can be joined to it."""
    return node.op != "fused" and OPS[node.op].has("lines")


def readings(node: Node) -> int:
    """How often its text reads an element of its first input; 0 where it reads it in another way, too."""
    name = OPS[node.op].names(len(node.inputs))[0]
    texts = [step.element if isinstance(step, Total) else _text(step) for step in _steps(node)[0]]
    plain = sum(len(re.findall(rf"\b{name}\[k\]", text)) for text in texts)
    return plain if plain == sum(len(re.findall(rf"\b{name}\b", text)) for text in texts) else 0


def writes_last(node: Node) -> bool:
    """Whether the last thing its kernel does is to write its first output."""
    last = _steps(node)[0][-1]
    return not isinstance(last, Total) and bool(_WRITES.fullmatch(_text(last)))


def _steps(node: Node) -> tuple[Sequence[Step], Sequence[object]]:
    types = [v.type for v in (*node.inputs, *node.outputs)]
    found: tuple[Sequence[Step], Sequence[object]] = OPS[node.op].rules["lines"](*types, **node.attrs)
    return found


def _text(step: Step) -> str:
    return step.element if isinstance(step, Total) else step.text if isinstance(step, Do | Each) else step.value


def lower(body: Program) -> Launch:
    """The kernel of a body."""
    return _Joined(body).launch()


class _Called(NamedTuple):
    """An inlined function made of elementwise nodes: its text, and the values it is given besides the core's result."""

    text: str
    given: list[Value]


class _Joined:
    def __init__(self, body: Program) -> None:
        at = next(n for n, node in enumerate(body.nodes) if has_lines(node))
        self.body, self.core = body, body.nodes[at]
        self.functions = Functions()
        self.names = {v: f"from{k}" for k, v in enumerate(body.inputs)}
        self.before = self.called("produced", body.nodes[:at], {})
        self.after = self.called("consumed", body.nodes[at + 1 :], {self.core.outputs[0]: "v"})

    def called(self, name: str, nodes: Sequence[Node], known: dict[Value, str]) -> _Called | None:
        """The function of some nodes; `known` are values that come first among its parameters."""
        if not nodes:
            return None
        held, lines, given = dict(known), list[str](), list[Value]()
        for k, node in enumerate(nodes):
            one = element_of(node)
            assert one is not None
            for v in node.inputs[: len(one.views)]:
                if v not in held:
                    held[v] = f"a{len(given)}"
                    given.append(v)
            call = f"{self.functions.of(node, one)}({', '.join(held[v] for v in node.inputs[: len(one.views)])})"
            held[node.outputs[0]] = f"w{k}"
            lines.append(f"    w{k} = {self.rounded(call, node.outputs[0].type)}")
        parameters = ", ".join([*known.values(), *(held[v] for v in given)])
        text = "\n".join([f"@inlined\ndef {name}({parameters}):", *lines, f"    return {held[nodes[-1].outputs[0]]}\n"])
        return _Called(text, given)

    @staticmethod
    def rounded(text: str, of: Type) -> str:
        return text if of.dtype.name in WIDE else f"{of.dtype.name}({text})"

    def element(self, value: Value, at: str) -> str:
        """An input where an element of the core is at hand; of a single number there is but one."""
        single = all(d == 1 for d in value.type.shape)
        return loaded(self.names[value], "0" if single else at, value.type.dtype)

    def launch(self) -> Launch:
        steps, groups = _steps(self.core)
        joined = [self.reading(step) for step in steps]
        joined[-1] = self.writing(joined[-1])
        extents, text, share, above = kernel(joined, groups)  # type: ignore[arg-type]
        lines = self.pointers()
        lines += [f"n{k} = r[o[{len(self.body.inputs) + len(self.body.outputs) + k}]]" for k in range(len(extents))]
        lines += ["if hi < 0:", f"    return {share.pieces} if lo == 0 else {share.grain}"]
        head = f"# fused: {' '.join(node.op for node in self.body.nodes)}\ndef kernel(r, o, lo, hi):\n"
        whole = above + head + textwrap.indent("\n".join(lines) + "\n" + text + "return 0\n", "    ")
        of = self.core.outputs[0].type.dtype
        called, whole = emit.called(whole, of)
        own = [part.text for part in (self.before, self.after) if part]
        vector_math = [part for part in called if part not in self.functions.texts]
        return Launch("\n\n".join([*vector_math, *self.functions.texts, *own, whole]), of.short, tuple(extents))

    def pointers(self) -> list[str]:
        """Registers by name: those of the body, and what the core's text calls its own inputs."""
        lines = [f"{self.names[v]} = {v.type.dtype.short}_in(r[o[{k}]])" for k, v in enumerate(self.body.inputs)]
        known = OPS[self.core.op].names(len(self.core.inputs))
        lines += [f"{name} = {self.names[v]}" for name, v in zip(known, self.core.inputs, strict=True) if v in self.names]
        for k, v in enumerate(self.body.outputs):
            place = self.core.outputs.index(v) if v in self.core.outputs else 0
            lines.append(f"out{place or ''} = {v.type.dtype.short}_out(r[o[{len(self.body.inputs) + k}]])")
        return lines

    def reading(self, step: Step) -> Step:
        """The step with what is computed in place of an element of the first input."""
        if self.before is None:
            return step
        name = OPS[self.core.op].names(len(self.core.inputs))[0]
        made = f"produced({', '.join(self.element(v, 'k') for v in self.before.given)})"
        if not isinstance(step, Total):
            text = re.sub(rf"\b{name}\[k\]", made, _text(step))
            return step._replace(text=text) if isinstance(step, Do | Each) else step
        given = [g for one in step.given.split(", ") for g in self.handed(one, name)]
        return step._replace(element=re.sub(rf"\b{name}\[k\]", made, step.element), given=", ".join(dict.fromkeys(given)))

    def handed(self, given: str, name: str) -> list[str]:
        assert self.before is not None
        return [self.names[v] for v in self.before.given] if given == name else [given]

    def writing(self, step: Step) -> Step:
        """The last step with what becomes of the result in place of the result."""
        found = _WRITES.fullmatch(_text(step)) if self.after else None
        if found is None or self.after is None or not isinstance(step, Do | Each):
            return step
        to, at, value = found.groups()
        others = "".join(f", {self.element(v, at)}" for v in self.after.given)
        return step._replace(text=f"{to} = consumed({self.core.outputs[0].type.dtype.name}({value}){others})")
