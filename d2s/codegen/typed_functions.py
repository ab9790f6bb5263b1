"""Kernel texts of loops around scalar functions as LLVM IR, without Numba: a tenth of the time, and Numba is not imported.

A fused kernel is needed by one program only, so it must cost little to make. Its text is a small part of Python whose types
follow from those of its pointers: ints are computed with 64 bits and wrap, float32 with float32 is float32, with anything
wider it is float64, a comparison is a truth, `T` and the names of dtypes convert. Functions marked `@inlined` are written out
where they are called; those marked `@native` are made by native_functions.py and linked in; those in a kernel may read of it
what is assigned once. A text that says more than this speaks (`Unspoken`) goes to Numba; where both can, they agree bit by
bit (tests/codegen/test_typed_functions.py).

In: a kernel's text and what T is in it. Out: the text of a module in LLVM IR that defines `kernel`.

>>> text = "def kernel(r, o):\\n    x = f32_in(r[o[0]])\\n    out = f32_out(r[o[1]])\\n    out[0] = x[0] * x[1]\\n"
>>> "fmul float" in module_of(text, "f32")
True
>>> module_of("def kernel(r, o):\\n    print(r)\\n", "f32")
Traceback (most recent call last):
d2s.codegen.typed_values.Unspoken: print(r)
"""

import ast
import collections
import math
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from d2s import types
from d2s.codegen.host import native_object
from d2s.codegen.inlining import unfolded
from d2s.codegen.linking import complete, needs_more
from d2s.codegen.native_functions import divided
from d2s.codegen.sharing import PART, SHARING
from d2s.codegen.typed_calls import Calls
from d2s.codegen.typed_values import F32, F64, I1, I32, I64, Cell, Pointer, Unspoken, float_type, int_type
from d2s.parsing import tree_of
from d2s.types import DType

# llvmlite fills its table of escaped characters where a text is first asked for: not in two threads that compile at once
ir.MetaDataString(ir.Module(), "d2s").get_reference()


def object_of(text: str, T: str, name: str = "kernel") -> bytes:
    """The object of the function `name` of a text."""
    rest, natives = divided(text)
    return native_object(
        module_of(rest, T, name, natives),
        vectors=True,
        complete=lambda module: complete(module, natives, T) if needs_more(module, natives) else None,
    )


def module_of(text: str, T: str, name: str = "kernel", natives: Sequence[ast.FunctionDef] = ()) -> str:
    """A kernel's text as a module."""
    tree = unfolded(text)
    module = ir.Module(name="kernel")
    names: dict[str, Any] = {}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            names[statement.name] = statement
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            scope = {"math": math, "table": tuple} | {k: v for k, v in names.items() if not isinstance(v, ast.AST)}
            names[statement.targets[0].id] = eval(compile(ast.Expression(statement.value), "<d2s>", "eval"), scope)
        else:
            raise Unspoken(ast.unparse(statement))
    entry = names.pop(name)
    if name != "kernel":
        Writer(module, ir.Function(module, ir.FunctionType(I64, [I64] * len(entry.args.args)), "kernel"), names, T).plain(entry)
        return str(module)
    shared = len(entry.args.args) == 4
    given = [I64.as_pointer(), I32.as_pointer(), *[I64] * (len(entry.args.args) - 2)]
    function = ir.Function(module, ir.FunctionType(I64 if shared else ir.VoidType(), given), "part" if shared else "kernel")
    function.linkage = "internal" if shared else "external"
    Writer(module, function, names, T, natives).kernel(entry)
    return f"{module}\n{SHARING.replace(PART, '') if shared else ''}"


class Writer(Calls):
    """One kernel being written. `variables` are those of the function whose text is being read."""

    def __init__(self, module: ir.Module, *rest: Any) -> None:
        super().__init__(module, *rest)
        self.domain = module.add_metadata([ir.MetaDataString(module, "d2s")])
        self.scopes: dict[Any, Any] = {}  # of what is stored through each output, by its address
        self.stores: list[tuple[Any, Any]] = []
        self.awaited: dict[str, Cell | None] = {}  # variables that begin on either way through a statement
        self.ends: list[Any] = []  # where `break` leads
        self.assigned: dict[str, int] = {}  # how often the kernel's text assigns a name

    def kernel(self, source: ast.FunctionDef) -> None:
        r, o, *span = (p.arg for p in source.args.args)
        self.variables = {
            r: Pointer(self.function.args[0], types.int64, ""),
            o: Pointer(self.function.args[1], types.int32, ""),
        }
        self.variables |= dict(zip(span, self.function.args[2:], strict=True))
        self.assigned = collections.Counter(
            n.id for s in source.body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )
        self.statements(source.body)
        if not self.b.block.is_terminated:
            self.b.ret(I64(0)) if len(span) == 2 else self.b.ret_void()
        ir.IRBuilder(self.entry).branch(self.function.blocks[1])
        self.keep_apart()

    def plain(self, source: ast.FunctionDef) -> None:
        """A function of ints."""
        self.variables = dict(zip((p.arg for p in source.args.args), self.function.args, strict=True))
        self.statements(source.body)
        if not self.b.block.is_terminated:
            self.b.unreachable()
        ir.IRBuilder(self.entry).branch(self.function.blocks[1])

    def keep_apart(self) -> None:
        """Tells LLVM that no input lies in an output, and no output in another, so that loops need no checks."""
        self.keep_numbered_apart()
        if not self.scopes:
            return
        every = self.module.add_metadata(list(self.scopes.values()))
        for load in self.loads:
            load.set_metadata("noalias", every)
        for store, scope in self.stores:
            store.set_metadata("alias.scope", self.module.add_metadata([scope]))
            others = [s for s in self.scopes.values() if s is not scope]
            if others:
                store.set_metadata("noalias", self.module.add_metadata(others))

    def keep_numbered_apart(self) -> None:
        """The same of what lies behind pointers of other numbers."""
        names = {role: ir.MetaDataString(self.module, role) for _, role in self.apart}
        scopes = {role: self.module.add_metadata([name, self.domain]) for role, name in names.items()}
        for instruction, role in self.apart:
            instruction.set_metadata("alias.scope", self.module.add_metadata([scopes[role]]))
            if others := [scope for other, scope in scopes.items() if other != role]:
                instruction.set_metadata("noalias", self.module.add_metadata(others))

    # statements

    def statements(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if self.b.block.is_terminated:
                return
            getattr(self, "do_" + type(statement).__name__, self.unspoken)(statement)

    def do_Pass(self, node: ast.Pass) -> None:
        """Nothing."""

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.value(node.value)
        elif not isinstance(node.value, ast.Constant):
            self.unspoken(node)

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function in a kernel: what it reads of the kernel is as it is here, so nobody may assign that a second time."""
        bound = _stored([node]) | {p.arg for p in node.args.args}
        free = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - bound
        if any(self.assigned.get(name, 0) > 1 for name in free):
            raise Unspoken(f"{node.name} reads what changes")
        self.names[node.name] = node
        self.around[node.name] = {name: self.variables[name] for name in free & self.variables.keys()}

    def do_Return(self, node: ast.Return) -> None:
        self.b.ret(self.int(self.value(node.value)) if node.value else self.unspoken(node))

    def do_Assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        self.store(target, self.value(node.value))

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        read = tree_of(ast.unparse(node.target), "eval").body
        self.store(node.target, self.value(ast.BinOp(read, node.op, node.value)))

    def store(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, tuple):
            for one, part in zip(target.elts, value, strict=True):
                self.store(one, part)
        elif isinstance(target, ast.Subscript):
            self.put(self.value(target.value), self.int(self.value(target.slice)), value)
        elif isinstance(target, ast.Name):
            self.assign(target.id, value)
        else:
            self.unspoken(target)

    def assign(self, name: str, value: Any) -> None:
        bound = self.variables.get(name)
        if name in self.awaited and not isinstance(value, Pointer | tuple):
            bound = self.awaited[name] or Cell(ir.IRBuilder(self.entry).alloca(value.type, name=name))
            self.variables[name] = self.awaited[name] = bound
        if not isinstance(bound, Cell):
            self.variables[name] = value
            return
        of, held = _kept(name, value)
        if bound.of is not of or bound.place.type.pointee != held.type:
            raise Unspoken(f"{name} changes its type")
        self.b.store(held, bound.place)

    def put(self, pointer: Pointer, index: Any, value: Any) -> None:
        at = self.b.gep(pointer.address, [index])
        stored = self.b.store(self.element(value, pointer.of), at)
        if pointer.role.startswith("apart"):
            self.apart.append((stored, pointer.role))
        if pointer.role == "out":
            if pointer.address not in self.scopes:
                name = ir.MetaDataString(self.module, f"out{len(self.scopes)}")
                self.scopes[pointer.address] = self.module.add_metadata([name, self.domain])
            self.stores.append((stored, self.scopes[pointer.address]))

    def element(self, value: Any, of: DType) -> Any:
        """A value as it lies in memory."""
        if of.kind == "f":
            return value if value.type == float_type(of) else self.unspoken(ast.Name(f"a {value.type} among {of.name}"))
        if value.type in (F32, F64):
            raise Unspoken(f"a {value.type} among {of.name}")
        return value if value.type == int_type(of) else (self.b.zext if value.type == I1 else self.b.trunc)(value, int_type(of))

    def cells(self, body: Sequence[ast.stmt]) -> None:
        """Makes memory of the variables a loop or a branch changes."""
        for name in sorted(_stored(body) & set(self.variables)):
            value = self.variables[name]
            if isinstance(value, Cell):
                continue
            of, held = _kept(name, value)
            self.variables[name] = Cell(ir.IRBuilder(self.entry).alloca(held.type, name=name), of)
            self.b.store(held, self.variables[name].place)

    def do_If(self, node: ast.If) -> None:
        self.cells([*node.body, *node.orelse])
        yes, no, both = (self.function.append_basic_block(name) for name in ("yes", "no", "both"))
        self.b.cbranch(self.truth(self.value(node.test)), yes, no)
        before = dict(self.variables)
        joined = self.await_both(node)
        for block, body in ((yes, node.body), (no, node.orelse)):
            self.b.position_at_end(block)
            self.variables = dict(before)
            self.statements(body)
            if not self.b.block.is_terminated:
                self.b.branch(both)
        self.variables = before | self.arrived(joined)
        self.b.position_at_end(both)

    def await_both(self, node: ast.If | ast.For | ast.While) -> set[str]:
        """The variables that begin on either way through a statement, and so are there behind it."""
        begun = {s.targets[0].id for s in node.orelse if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}
        joined = (begun & _stored(node.body)) - self.variables.keys() - self.awaited.keys()
        self.awaited |= dict.fromkeys(joined)
        return joined

    def arrived(self, joined: set[str]) -> dict[str, Any]:
        """What has become of them."""
        return {name: cell for name in joined if (cell := self.awaited.pop(name))}

    def do_While(self, node: ast.While) -> None:
        self.cells(node.body)
        self.loop(lambda: self.truth(self.value(node.test)), node, lambda: None)

    def do_For(self, node: ast.For) -> None:
        if not isinstance(node.iter, ast.Call) or not isinstance(node.target, ast.Name) or len(node.iter.args) > 3:
            self.unspoken(node)
            return
        given, name = [self.int(self.value(a)) for a in node.iter.args], node.target.id
        start, stop, step = [I64(0), *given, I64(1)] if len(given) == 1 else [*given, I64(1)][:3]
        sign = ">" if len(node.iter.args) == 3 and ast.unparse(node.iter.args[2]).startswith("-") else "<"
        self.cells(node.body)
        index = ir.IRBuilder(self.entry).alloca(I64, name=name)
        self.b.store(start, index)
        self.variables[name] = Cell(index)
        self.loop(
            lambda: self.b.icmp_signed(sign, self.b.load(index), stop),
            node,
            lambda: self.b.store(self.b.add(self.b.load(index), step, flags=["nsw"]), index),
        )

    def do_Break(self, node: ast.Break) -> None:
        self.b.branch(self.ends[-1])

    def loop(self, test: Callable[[], Any], node: ast.For | ast.While, advance: Callable[[], Any]) -> None:
        head, inside, end, over = (self.function.append_basic_block(name) for name in ("head", "inside", "end", "over"))
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(test(), inside, end)
        self.b.position_at_end(inside)
        before, joined = dict(self.variables), self.await_both(node)
        self.ends.append(over)
        self.statements(node.body)
        self.ends.pop()
        self.variables = dict(before)
        if not self.b.block.is_terminated:
            advance()
            self.b.branch(head)
        self.b.position_at_end(end)
        self.statements(node.orelse)
        self.b.branch(over)
        self.b.position_at_end(over)
        self.variables = before | self.arrived(joined)


def _kept(name: str, value: Any) -> tuple[DType | None, Any]:
    """What memory keeps of a variable: a value, or an address and what lies there."""
    if isinstance(value, Pointer):
        return value.of, value.address
    if isinstance(value, tuple):
        raise Unspoken(f"{name}, several values, changes")
    return None, value


def _stored(body: Sequence[ast.stmt]) -> set[str]:
    """The variables that statements give values."""
    return {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
