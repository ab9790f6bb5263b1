"""Programs as text, both ways: what dumps show, what goldens hold, what `parse` reads back.

>>> text = '''program twice(x: f32[n,2]) -> (f32[n,2]) {
...   %0: f32[n,2] = add(x, x)  # model.py:3
...   return %0
... }
... '''
>>> show(parse(text)) == text
True
"""

import ast
import re
from collections.abc import Callable
from typing import Any

from d2s import types
from d2s.errors import CaptureError, DTypeError, FormatError
from d2s.ir.program import Node, Program, Value
from d2s.reckoned import come_to, is_reckoned
from d2s.types import DType, Type

MAX_DEPTH = 50  # brackets in one another
_SPECIAL = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan"), "True": True, "False": False, "None": None}
_PYTHON = {"int": types.int64, "float": types.float64, "bool": types.bool_}
_TOKEN = re.compile(
    r"\s*(#[^\n]*|'(?:[^'\\\n]|\\.)*'|-?(?:inf|nan)\b|-?\d[\d.]*(?:e[+-]?\d+)?|%\d+|[^\W\d]\w*(?:[*+/-]\d+)*|->|[()\[\]{}:,=])"
)


def show(program: Program) -> str:
    """The text of a Program."""
    return "\n".join(_show_program(program, "program " + program.name, "")) + "\n"


def _show_program(program: Program, head: str, pad: str) -> list[str]:
    names = {value: value.name for value in program.inputs}
    params = ", ".join(f"{v.name}: {v.type}" for v in program.inputs)
    lines = [f"{pad}{head}({params}) -> ({', '.join(str(v.type) for v in program.outputs)}) {{"]
    number = 0
    for node in program.nodes:
        for value in node.outputs:
            names[value] = f"%{number}"
            number += 1
        lines += _show_node(node, names, pad + "  ")
    returned = ", ".join(names[v] for v in program.outputs)
    return [*lines, f"{pad}  return {returned}".rstrip(), pad + "}"]


def _show_node(node: Node, names: dict[Value, str], pad: str) -> list[str]:
    regions = node.regions()
    plain = [f"{key}={_show_attr(value)}" for key, value in sorted(node.attrs.items()) if key not in regions]
    outputs = ", ".join(f"{names[v]}: {v.type}" for v in node.outputs)
    head = f"{pad}{outputs}{' = ' if outputs else ''}{node.op}({', '.join([names[v] for v in node.inputs] + plain)})"
    comment = f"  # {node.where}" if node.where else ""
    if not regions:
        return [head + comment]
    lines = [head + " {" + comment]
    for key, region in regions.items():
        lines += _show_program(region, key, pad + "  ")
    return [*lines, pad + "}"]


def _show_attr(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + "".join(_show_attr(v) + "," for v in value) + ")"
    if isinstance(value, str):
        return "'" + repr('"' + value)[2:]  # always in the one kind of quotes
    return value.short if isinstance(value, DType) else repr(value)


Program.__str__ = show  # type: ignore[assignment, method-assign]  # printed, it is its text


def parse(text: str) -> Program:
    """The Program a text describes; FormatError with the line where the text is not one."""
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.position, self.depth = text, 0, 0
        self.token = self.comment = ""
        head = re.match(r"\s*program\s+([^\s(]+)", text)  # what Python calls functions: f.<locals>.<lambda>
        if not head:
            raise self._fail("'program' and a name")
        self.name, self.position = head[1], head.end()
        self._advance()

    def _fail(self, wanted: str) -> FormatError:
        line = self.text.count("\n", 0, self.position) + 1
        return FormatError("D2S3001", f"line {line} of a program text: expected {wanted}, found {self.token!r}")

    def _advance(self) -> None:
        match = _TOKEN.match(self.text, self.position)
        if match:
            self.token, self.position = match[1], match.end()
        elif self.text[self.position :].strip():
            self.token = self.text[self.position :].strip()[:1]
            raise self._fail("a token")
        else:
            self.token = ""
        if self.token.startswith("#"):
            self.comment = self.token[1:].strip()
            self._advance()

    def _take(self, wanted: str = "") -> str:
        token = self.token
        if not token or (wanted and token != wanted):
            raise self._fail(repr(wanted) if wanted else "more text")
        self._advance()
        return token

    def _items(self, close: str, item: Any) -> list[Any]:
        """Comma-separated items up to and including `close`."""
        found = []
        while self.token != close:
            found.append(item())
            if self.token != close:
                self._take(",")
        self._take(close)
        return found

    def whole(self) -> Program:
        program = self._program(self.name)
        if self.token:
            raise self._fail("the end")
        return program

    def _program(self, name: str) -> Program:
        return self._nested(lambda: self._closed(name))

    def _nested(self, read: Callable[[], Any]) -> Any:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._fail(f"at most {MAX_DEPTH} brackets in one another")
        found = read()
        self.depth -= 1
        return found

    def _closed(self, name: str) -> Program:
        self._take("(")
        inputs = self._items(")", lambda: self._declaration(self._name()))
        self._take("->"), self._take("(")
        self._items(")", self._type)
        self._take("{")
        names, nodes = {v.name: v for v in inputs}, []
        while self.token != "return":
            nodes.append(self._node(names))
        self._take("return")
        outputs = [self._value(names)] if self.token != "}" else []
        while self.token == ",":
            self._take(",")
            outputs.append(self._value(names))
        self._take("}")
        return Program(name, tuple(inputs), tuple(nodes), tuple(outputs))

    def _name(self) -> str:
        if not self.token.isidentifier():
            raise self._fail("a name")
        return self._take()

    def _declaration(self, name: str) -> Value:
        self._take(":")
        return Value(self._type(), name)

    def _value(self, names: dict[str, Value]) -> Value:
        if self.token not in names:
            raise self._fail("the name of a value defined above")
        return names[self._take()]

    def _type(self) -> Type:
        name = self._name()
        if name == "stack":
            return types.STACK
        if name == "list":
            self._take("[")
            item: Type = self._nested(self._type)
            self._take("]")
            if item.grows:
                raise self._fail("a type of items")
            return item.list
        if name in _PYTHON:
            return Type(_PYTHON[name], python=True)
        self._take("[")
        try:
            return Type(types.dtype(name), tuple(self._items("]", self._dim)))
        except DTypeError:
            raise self._fail("a type") from None

    def _dim(self) -> int | str:
        if re.fullmatch(r"\d{1,18}", self.token, re.ASCII):
            return int(self._take())
        if not is_reckoned(self.token):
            return self._name()
        found = self._take()
        try:
            whole = come_to(found, str)
        except CaptureError:
            whole = ""
        if whole != found:
            raise self._fail("an extent")
        return found

    def _node(self, names: dict[str, Value]) -> Node:
        declared: list[tuple[str, Value]] = []
        while self.token != "=" and (declared or self.token.startswith("%")):
            if declared:
                self._take(",")
            name = self._take()
            if not re.fullmatch(r"%\d+", name):
                raise self._fail("the name of a result, like %0")
            value = self._declaration(name)
            value.name = ""
            declared.append((name, value))
        if declared:
            self._take("=")
        op = self._name()
        self._take("(")
        inputs: list[Value] = []
        attrs: dict[str, Any] = {}
        self.comment = ""
        self._items(")", lambda: self._argument(names, inputs, attrs))
        opens = self.token == "{"
        if opens:
            self._take("{")
        where = self.comment
        while opens and self.token != "}":
            key = self._name()
            attrs[key] = self._program(key)
        if opens:
            self._take("}")
        names.update(declared)
        return Node(op, tuple(inputs), tuple(v for _, v in declared), attrs, where)

    def _argument(self, names: dict[str, Value], inputs: list[Value], attrs: dict[str, Any]) -> None:
        if not re.compile(r"\s*=").match(self.text, self.position):
            inputs.append(self._value(names))
            return
        key = self._name()
        self._take("=")
        attrs[key] = self._literal()

    def _literal(self) -> Any:
        token = self._take()
        if token == "(":
            return self._nested(lambda: tuple(self._items(")", self._literal)))
        if token in _SPECIAL:
            return _SPECIAL[token]
        try:
            return types.dtype(token) if token.isidentifier() else ast.literal_eval(token)
        except (ValueError, SyntaxError, DTypeError):
            raise self._fail("a literal") from None
