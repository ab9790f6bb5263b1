"""Functions of kernel texts that Numba need not see: `@native`, in a small part of Python, made LLVM IR directly.

A long text of loops over ints takes Numba seconds to compile and LLVM a fraction of one. So what is long and simple stands in
functions marked `@native` above a kernel. Their values are ints (64 bits, wrapping), numbers of the kernel's dtype T, and
pointers to either - `i64(address)`, `i32(address)` and `floats(address)`; parameters and results are ints. There are
assignments, `if`, `while`, `for ... in range(...)`, conditional expressions, and calls: of each other, of `min_of`, `max_of`,
`fma`, `T(number)`, `local_floats(count)`, `new_memory`, `free_memory` and `follow`, and of functions of a library. `//` and `%`
round down, `and` and `or` give 0 or 1. Loops of `@native_loops` become vectors where LLVM finds how; in a text that has only
`@native` functions, what should be vectors is written so.

In: the text, what T is, a library of other functions. Out: the text without these functions, and their module. The rest of
the text may call those that no native function calls.

>>> text = "@native\\ndef twice(n):\\n    return n + n\\n\\n\\ndef kernel(r, o):\\n    r[o[0]] = twice(4)\\n"
>>> rest, functions = divided(text)
>>> rest.strip().startswith("def kernel"), [f.name for f in functions]
(True, ['twice'])
>>> "mul" in module_of(functions, "f32", {}), "@\\"twice\\"" in module_of(functions, "f32", {})
(False, True)
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from llvmlite import ir

from d2s.codegen import follower
from d2s.errors import InternalError
from d2s.parsing import tree_of

I1, I32, I64 = (ir.IntType(bits) for bits in (1, 32, 64))
LOOPS = "native_loops"
FLOATS = {"f32": ir.FloatType(), "f64": ir.DoubleType()}
Library = Mapping[str, int | Callable[[ir.Module], ir.Function]]  # numbers, and functions of ints, by their names in texts

_ARITHMETIC = {ast.Add: ("add", "fadd"), ast.Sub: ("sub", "fsub"), ast.Mult: ("mul", "fmul"), ast.Div: ("sdiv", "fdiv")}
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def divided(text: str) -> tuple[str, list[ast.FunctionDef]]:
    """A kernel's text without its native functions, and these."""
    if "@native" not in text:
        return text, []
    tree = tree_of(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and _is_native(node)]
    tree.body = [node for node in tree.body if node not in functions]
    return ast.unparse(tree), functions


def _is_native(function: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id in ("native", LOOPS) for d in function.decorator_list)


def has_loops(functions: Sequence[ast.FunctionDef]) -> bool:
    """Whether LLVM is to make vectors of loops."""
    return any(isinstance(d, ast.Name) and d.id == LOOPS for f in functions for d in f.decorator_list)


def module_of(functions: Sequence[ast.FunctionDef], short: str, library: Library) -> str:
    """The LLVM IR of native functions."""
    module = ir.Module(name="native")
    known: dict[str, Any] = {}
    for function in functions:
        result = I64 if any(isinstance(n, ast.Return) and n.value for n in ast.walk(function)) else ir.VoidType()
        known[function.name] = ir.Function(module, ir.FunctionType(result, [I64] * len(function.args.args)), function.name)
    read = {n.id for f in functions for n in ast.walk(f) if isinstance(n, ast.Name)}
    known |= {name: I64(is_) if isinstance(is_, int) else is_(module) for name, is_ in library.items() if name in read}
    for function in functions:
        _Function(known, FLOATS[short], known[function.name]).write(function)
        known[function.name].linkage = "internal" if function.name in read else "external"
        if any(isinstance(node, ast.For | ast.While) for node in ast.walk(function)):
            known[function.name].attributes.add("noinline")  # what takes a while need not be there twice
    return str(module)


class _Place(NamedTuple):
    """Where a loop goes on, and where it ends."""

    next: ir.Block
    end: ir.Block


class _Function:
    """One function being written. Variables are memory, which LLVM makes registers."""

    def __init__(self, known: Mapping[str, Any], T: Any, function: ir.Function) -> None:
        self.known, self.T, self.function = known, T, function
        self.entry = function.append_basic_block("entry")
        self.b = ir.IRBuilder(function.append_basic_block("body"))
        self.variables: dict[str, Any] = {}
        self.loops: list[_Place] = []

    def write(self, source: ast.FunctionDef) -> None:
        for parameter, given in zip(source.args.args, self.function.args, strict=True):
            self.assign(parameter.arg, given)
        self.statements(source.body)
        if not self.b.block.is_terminated:
            self.b.ret_void() if self.function.ftype.return_type == ir.VoidType() else self.b.unreachable()
        ir.IRBuilder(self.entry).branch(self.function.blocks[1])

    # statements

    def statements(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            getattr(self, "do_" + type(statement).__name__, self.unknown)(statement)

    def unknown(self, node: ast.AST) -> Any:
        raise InternalError("D2S9001", f"a native function says {ast.unparse(node)}")

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.call(node.value)
        elif not isinstance(node.value, ast.Constant):
            self.unknown(node)

    def do_Pass(self, node: ast.Pass) -> None:
        """Nothing."""

    def do_Return(self, node: ast.Return) -> None:
        self.b.ret(self.int(node.value)) if node.value else self.b.ret_void()
        self.b.position_at_end(self.function.append_basic_block("behind"))

    def do_Continue(self, node: ast.Continue) -> None:
        self.b.branch(self.loops[-1].next)
        self.b.position_at_end(self.function.append_basic_block("behind"))

    def do_Assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            found = [self.value(v) for v in node.value.elts]
            for one, value in zip(target.elts, found, strict=True):
                self.store(one, value)
        else:
            self.store(target, self.value(node.value))

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        read = tree_of(ast.unparse(node.target), "eval").body
        self.store(node.target, self.value(ast.BinOp(read, node.op, node.value)))

    def store(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Subscript):
            place, value = self.element(target), self.plain(value)
            self.b.store(self.b.trunc(value, I32) if place.type.pointee == I32 else value, place)
        elif isinstance(target, ast.Name):
            self.assign(target.id, self.plain(value))
        else:
            self.unknown(target)

    def assign(self, name: str, value: Any) -> None:
        if name not in self.variables:
            self.variables[name] = ir.IRBuilder(self.entry).alloca(value.type, name=name)
        self.b.store(value, self.variables[name])

    def do_If(self, node: ast.If) -> None:
        with self.b.if_else(self.truth(node.test)) as (yes, no):
            with yes:
                self.statements(node.body)
            with no:
                self.statements(node.orelse)

    def do_While(self, node: ast.While) -> None:
        self.loop(lambda: self.truth(node.test), node.body, lambda: None)

    def do_For(self, node: ast.For) -> None:
        if not isinstance(node.iter, ast.Call) or not isinstance(node.target, ast.Name):
            self.unknown(node)
            return
        given, name = [self.int(a) for a in node.iter.args], node.target.id
        start, stop, step = [I64(0), given[0], I64(1)] if len(given) == 1 else [*given, I64(1)][:3]
        hidden = ir.IRBuilder(self.entry).alloca(I64)  # the body may assign the variable
        self.b.store(start, hidden)
        self.assign(name, start)

        def more() -> Any:
            self.b.store(self.b.load(hidden), self.variables[name])
            return self.b.icmp_signed("<", self.b.load(hidden), stop)

        self.loop(more, node.body, lambda: self.b.store(self.b.add(self.b.load(hidden), step), hidden))

    def loop(self, test: Callable[[], Any], body: Sequence[ast.stmt], advance: Callable[[], Any]) -> None:
        head, inside, onward, end = (self.function.append_basic_block(name) for name in ("head", "inside", "onward", "end"))
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(test(), inside, end)
        self.b.position_at_end(inside)
        self.loops.append(_Place(onward, end))
        self.statements(body)
        self.loops.pop()
        if not self.b.block.is_terminated:
            self.b.branch(onward)
        self.b.position_at_end(onward)
        advance()
        self.b.branch(head)
        self.b.position_at_end(end)

    # expressions

    def value(self, node: ast.expr) -> Any:
        return getattr(self, "of_" + type(node).__name__, self.unknown)(node)

    def plain(self, value: Any) -> Any:
        """A truth as a number."""
        return self.b.zext(value, I64) if value.type == I1 else value

    def int(self, node: ast.expr) -> Any:
        return self.plain(self.value(node))

    def truth(self, node: ast.expr) -> Any:
        value = self.value(node)
        return value if value.type == I1 else self.b.icmp_signed("!=", value, I64(0))

    def of_Constant(self, node: ast.Constant) -> Any:
        return I1(node.value) if isinstance(node.value, bool) else I64(node.value)

    def of_Name(self, node: ast.Name) -> Any:
        if node.id in self.variables:
            return self.b.load(self.variables[node.id])
        return self.known[node.id] if node.id in self.known else self.unknown(node)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return self.b.not_(self.truth(node.operand))
        value = self.int(node.operand)
        return self.b.sub(I64(0), value) if value.type == I64 else self.b.fneg(value)

    def of_BinOp(self, node: ast.BinOp) -> Any:
        x, y = self.int(node.left), self.int(node.right)
        if type(node.op) in _ARITHMETIC:
            return getattr(self.b, _ARITHMETIC[type(node.op)][x.type != I64])(x, y)
        if not isinstance(node.op, ast.FloorDiv | ast.Mod):
            self.unknown(node)
        quotient, rest = self.b.sdiv(x, y), self.b.srem(x, y)
        below = self.b.icmp_signed("<", self.b.xor(rest, y), I64(0))
        below = self.b.and_(below, self.b.icmp_signed("!=", rest, I64(0)))
        if isinstance(node.op, ast.FloorDiv):
            return self.b.sub(quotient, self.b.zext(below, I64))
        return self.b.add(rest, self.b.select(below, y, I64(0)))

    def of_Compare(self, node: ast.Compare) -> Any:
        x, y = self.int(node.left), self.int(node.comparators[0])
        sign = _COMPARED[type(node.ops[0])]
        return self.b.icmp_signed(sign, x, y) if x.type == I64 else self.b.fcmp_ordered(sign, x, y)

    def of_BoolOp(self, node: ast.BoolOp) -> Any:
        first, *rest = node.values
        if not rest:
            return self.truth(first)
        others = ast.BoolOp(node.op, rest)
        whole = isinstance(node.op, ast.And)
        return self.either(
            self.truth(first), lambda: self.truth(others) if whole else I1(1), lambda: I1(0) if whole else self.truth(others)
        )

    def of_IfExp(self, node: ast.IfExp) -> Any:
        return self.either(self.truth(node.test), lambda: self.int(node.body), lambda: self.int(node.orelse))

    def either(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """One of two values, of which only that one is computed."""
        blocks = [self.function.append_basic_block(name) for name in ("yes", "no", "both")]
        self.b.cbranch(condition, *blocks[:2])
        found = []
        for block, value in zip(blocks, (yes, no), strict=False):
            self.b.position_at_end(block)
            found.append((value(), self.b.block))
            self.b.branch(blocks[2])
        self.b.position_at_end(blocks[2])
        joined = self.b.phi(found[0][0].type)
        for value, block in found:
            joined.add_incoming(value, block)
        return joined

    def element(self, node: ast.Subscript) -> Any:
        return self.b.gep(self.value(node.value), [self.int(node.slice)])

    def of_Subscript(self, node: ast.Subscript) -> Any:
        value = self.b.load(self.element(node))
        return self.b.sext(value, I64) if value.type == I32 else value

    def of_Call(self, node: ast.Call) -> Any:
        return self.call(node)

    def call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "T" and isinstance(node.args[0], ast.Constant | ast.UnaryOp):
            return ir.Constant(self.T, float(ast.literal_eval(node.args[0])))
        given = [self.int(a) for a in node.args]
        if name in self.known:
            return self.b.call(self.known[name], given)
        built_in = getattr(self, "call_" + name, None)
        return built_in(*given) if built_in else self.unknown(node)

    def call_T(self, number: Any) -> Any:
        return self.b.sitofp(number, self.T)

    def call_i32(self, address: Any) -> Any:
        return self.b.inttoptr(address, I32.as_pointer())

    def call_i64(self, address: Any) -> Any:
        return self.b.inttoptr(address, I64.as_pointer())

    def call_floats(self, address: Any) -> Any:
        return self.b.inttoptr(address, self.T.as_pointer())

    def call_min_of(self, x: Any, y: Any) -> Any:
        return self.b.select(self.b.icmp_signed("<", x, y), x, y)

    def call_max_of(self, x: Any, y: Any) -> Any:
        return self.b.select(self.b.icmp_signed(">", x, y), x, y)

    def call_fma(self, x: Any, y: Any, z: Any) -> Any:
        return self.b.fma(x, y, z)

    def call_local_floats(self, count: Any) -> Any:
        place = ir.IRBuilder(self.entry).alloca(ir.ArrayType(self.T, count.constant))
        return self.b.ptrtoint(place, I64)

    def call_new_memory(self, count: Any) -> Any:
        return self.b.ptrtoint(self.b.call(self.outside("malloc", _BYTES, I64), [count]), I64)

    def call_free_memory(self, address: Any) -> Any:
        return self.b.call(self.outside("free", ir.VoidType(), _BYTES), [self.b.inttoptr(address, _BYTES)])

    def call_follow(self, *given: Any) -> Any:
        return follower.called(self.b, given)

    def outside(self, name: str, result: Any, given: Any) -> Any:
        declared = self.function.module.globals
        return declared.get(name) or ir.Function(self.function.module, ir.FunctionType(result, [given]), name)


_BYTES = ir.IntType(8).as_pointer()
