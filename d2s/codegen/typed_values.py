"""Expressions of typed kernel texts (see typed_functions.py) as LLVM IR.

In: a syntax tree. Out: a value: a truth (i1), an int (i64), a float, a `Pointer`, or a tuple of them.

>>> Unspoken.__name__
'Unspoken'
"""

import ast
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import ir

from d2s import types
from d2s.codegen import lanes
from d2s.types import DType

I1, I32, I64 = (ir.IntType(bits) for bits in (1, 32, 64))
F32, F64 = ir.FloatType(), ir.DoubleType()
_FEW = 16  # constants of a table that are chosen among by selects
_FLOATS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_INTS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.LShift: "shl", ast.RShift: "ashr"}
_BITS = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_INSTRUCTIONS = {f"{n}_of": n for n in ("sqrt", "rint", "floor", "ceil", "trunc")} | {"abs_of": "fabs"}
_INSTRUCTIONS |= {"sign_from": "copysign"}
_BY_NAME = {d.name: d for d in types.TENSOR_DTYPES} | {"bool_": types.bool_}


_BY_SHORT = {d.short: d for d in types.TENSOR_DTYPES}


def float_type(of: DType) -> Any:
    """The LLVM type of a float dtype; None of others."""
    return {"f32": F32, "f64": F64}.get(of.short)


def int_type(of: DType) -> Any:
    """The LLVM type of an integer dtype in memory."""
    return ir.IntType(8 * of.size)


class Unspoken(Exception):
    """A text says what only Numba understands."""


class Pointer(NamedTuple):
    """The address of elements of a dtype."""

    address: Any
    of: DType
    role: str  # "in", "out", "apart0" ... (no two of them in the same memory), or "" for what may be anywhere


class Cell(NamedTuple):
    """A variable that a loop or a branch changes: memory, which LLVM makes a register."""

    place: Any
    of: DType | None = None  # of an address: what lies there


class Values:
    """What expressions become. `variables` are those of the function whose text is being read, `names` those of the module."""

    def __init__(self, module: ir.Module, function: ir.Function, names: dict[str, Any], T: str) -> None:
        self.module, self.function, self.names = module, function, names
        self.dtypes = _BY_NAME | {"T": types.dtype(T)}
        self.entry = function.append_basic_block("entry")
        self.b = ir.IRBuilder(function.append_basic_block("body"))
        self.variables: dict[str, Any] = {}
        self.loads: list[Any] = []  # of what no kernel writes
        self.around: dict[str, dict[str, Any]] = {}  # what functions that stand in the kernel read of it
        self.apart: list[tuple[Any, str]] = []  # loads and stores behind pointers that are numbered

    def unspoken(self, node: ast.AST) -> Any:
        raise Unspoken(ast.unparse(node))

    def statements(self, body: Sequence[ast.stmt]) -> None:
        """Writes statements."""
        raise NotImplementedError

    def value(self, node: ast.expr) -> Any:
        return getattr(self, "of_" + type(node).__name__, self.unspoken)(node)

    def int(self, value: Any) -> Any:
        return self.b.zext(value, I64) if value.type == I1 else value

    def truth(self, value: Any) -> Any:
        if value.type == I1:
            return value
        zero = ir.Constant(value.type, 0)
        return self.b.icmp_signed("!=", value, zero) if value.type == I64 else self.b.fcmp_unordered("!=", value, zero)

    def number(self, value: Any, to: Any) -> Any:
        """A value as another of the types of expressions."""
        if value.type == to:
            return value
        if to == I64:
            return self.b.zext(value, I64) if value.type == I1 else self.unspoken(ast.Name("a float as an int"))
        if value.type in (I1, I64):
            return (self.b.uitofp if value.type == I1 else self.b.sitofp)(value, to)
        return (self.b.fpext if to == F64 else self.b.fptrunc)(value, to)

    def unified(self, *values: Any) -> list[Any]:
        """Values in the one type that holds them all."""
        kinds = {v.type for v in values}
        if len(kinds) > 1:
            to = I64 if kinds <= {I1, I64} else F64
            return [self.number(v, to) for v in values]
        return list(values)

    def of_Constant(self, node: ast.Constant) -> Any:
        return self.constant(node.value)

    def constant(self, value: Any) -> Any:
        if isinstance(value, bool):
            return I1(int(value))
        return I64(value) if isinstance(value, int) else ir.Constant(F64, float(value))

    def of_Name(self, node: ast.Name) -> Any:
        if node.id in self.variables:
            found = self.variables[node.id]
            if not isinstance(found, Cell):
                return found
            held = self.b.load(found.place)
            return Pointer(held, found.of, "") if found.of else held
        known = self.names.get(node.id)
        return self.constant(known) if isinstance(known, int | float) else self.unspoken(node)

    def of_Attribute(self, node: ast.Attribute) -> Any:
        return self.constant({"math.inf": math.inf, "math.nan": math.nan}.get(ast.unparse(node)) or self.unspoken(node))

    def of_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(e) for e in node.elts)

    def of_Subscript(self, node: ast.Subscript) -> Any:
        pointer = self.value(node.value)
        if not isinstance(pointer, Pointer):
            return self.unspoken(node)
        found = self.b.load(self.b.gep(pointer.address, [self.int(self.value(node.slice))]))
        if pointer.role == "in":
            self.loads.append(found)
        if pointer.role.startswith("apart"):
            self.apart.append((found, pointer.role))
        return self.widened(found, pointer.of)

    def widened(self, value: Any, of: DType) -> Any:
        if of.kind == "f" or value.type == I64:
            return value
        return (self.b.zext if of in (types.uint8, types.bool_) else self.b.sext)(value, I64)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.b.not_(self.truth(value))
        if not isinstance(node.op, ast.USub):
            return self.unspoken(node)
        if isinstance(value, ir.Constant) and value.type == F64:
            return ir.Constant(F64, -value.constant)
        return self.b.fneg(value) if value.type in (F32, F64) else self.b.sub(I64(0), self.int(value))

    def of_BinOp(self, node: ast.BinOp) -> Any:
        x, y = self.unified(self.value(node.left), self.value(node.right))
        kind = type(node.op)
        if kind in _BITS:
            return getattr(self.b, _BITS[kind])(x, y)
        if x.type in (F32, F64):
            return getattr(self.b, _FLOATS[kind])(x, y) if kind in _FLOATS else self.unspoken(node)
        x, y = self.int(x), self.int(y)
        if kind is ast.Div:
            return self.b.fdiv(self.number(x, F64), self.number(y, F64))
        if kind is ast.FloorDiv:
            return self.floored(x, y)
        if kind is ast.Mod:
            return self.rest(x, y)
        return getattr(self.b, _INTS[kind])(x, y) if kind in _INTS else self.unspoken(node)

    def floored(self, x: Any, y: Any) -> Any:
        """x // y; x // 0 is 0, for which a processor would stop the process."""
        none = self.b.icmp_signed("==", y, I64(0))
        y = self.b.select(none, I64(1), y)
        quotient, rest = self.b.sdiv(x, y), self.b.srem(x, y)
        below = self.b.icmp_signed("<", self.b.xor(rest, y), I64(0))
        below = self.b.and_(below, self.b.icmp_signed("!=", rest, I64(0)))
        return self.b.select(none, I64(0), self.b.sub(quotient, self.b.zext(below, I64)))

    def rest(self, x: Any, y: Any) -> Any:
        """x % y; of 0 and -1, for which a processor would stop the process, 0."""
        divides = self.b.icmp_unsigned("<=", self.b.add(y, I64(1)), I64(1))
        rest = self.b.srem(x, self.b.select(divides, I64(1), y))
        below = self.b.icmp_signed("<", self.b.xor(rest, y), I64(0))
        below = self.b.and_(below, self.b.icmp_signed("!=", rest, I64(0)))
        return self.b.select(below, self.b.add(rest, y), rest)

    def of_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) > 1 or type(node.ops[0]) not in _COMPARED:
            return self.unspoken(node)
        x, y = self.unified(self.value(node.left), self.value(node.comparators[0]))
        x, y = (self.int(x), self.int(y)) if x.type == I1 else (x, y)
        sign = _COMPARED[type(node.ops[0])]
        if x.type == I64:
            return self.b.icmp_signed(sign, x, y)
        return (self.b.fcmp_unordered if sign == "!=" else self.b.fcmp_ordered)(sign, x, y)

    def of_BoolOp(self, node: ast.BoolOp) -> Any:
        first, *rest = node.values
        if not rest:
            return self.truth(self.value(first))
        others, whole = ast.BoolOp(node.op, rest), isinstance(node.op, ast.And)
        yes, no = (others, ast.Constant(False)) if whole else (ast.Constant(True), others)
        return self.either(self.truth(self.value(first)), yes, no)

    def of_IfExp(self, node: ast.IfExp) -> Any:
        return self.either(self.truth(self.value(node.test)), node.body, node.orelse)

    def either(self, condition: Any, yes: ast.expr, no: ast.expr) -> Any:
        """One of two values, of which only that one is computed."""
        blocks = [self.function.append_basic_block(name) for name in ("yes", "no")]
        self.b.cbranch(condition, *blocks)
        ends, found = [], []
        for block, node in zip(blocks, (yes, no), strict=True):
            self.b.position_at_end(block)
            found.append(self.value(node))
            ends.append(self.b.block)
        if any(isinstance(v, Pointer | tuple) for v in found):
            return self.either_pointer(found[0], found[1], ends)
        to = found[0].type if found[0].type == found[1].type else I64 if {v.type for v in found} <= {I1, I64} else F64
        for n, end in enumerate(ends):
            self.b.position_at_end(end)
            found[n] = self.number(found[n], to)
        return self.joined(found, ends)

    def either_pointer(self, x: Any, y: Any, ends: Sequence[Any]) -> Pointer:
        if not (isinstance(x, Pointer) and isinstance(y, Pointer) and x.of is y.of):
            raise Unspoken("one of two tuples")
        return Pointer(self.joined([x.address, y.address], ends), x.of, x.role if x.role == y.role == "in" else "")

    def joined(self, values: Sequence[Any], ends: Sequence[Any]) -> Any:
        """What is the value at the end of the block that a run came from."""
        both = self.function.append_basic_block("both")
        for end in ends:
            self.b.position_at_end(end)
            self.b.branch(both)
        self.b.position_at_end(both)
        found = self.b.phi(values[0].type)
        for value, block in zip(values, ends, strict=True):
            found.add_incoming(value, block)
        return found

    # calls

    def of_Call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        given = [self.value(a) for a in node.args]
        known = self.names.get(name)
        if isinstance(known, ast.FunctionDef):
            return self.inlined(known, given)
        if isinstance(known, tuple):
            return self.looked_up(known, given[0])
        if name in self.dtypes:
            return self.converted(given[0], self.dtypes[name])
        if name in _INSTRUCTIONS:
            return self.instruction(_INSTRUCTIONS[name], given)
        short, _, role = name.partition("_")
        if (role in ("in", "out", "local", "") or role.startswith("apart")) and short in _BY_SHORT and given:
            of = _BY_SHORT[short]
            if role == "local":
                return self.array(of, given[0].constant)
            return Pointer(self.b.inttoptr(given[0], (float_type(of) or int_type(of)).as_pointer()), of, role)
        if role == "local64" and short in _BY_SHORT:
            return self.array(_BY_SHORT[short], 64)
        if name.startswith(("lanes_", "fold_")):
            return self.of_lanes(name, given)
        built_in = getattr(self, "call_" + name, None)
        return built_in(*given) if built_in else self.unspoken(node)

    def array(self, of: DType, count: Any) -> Pointer:
        """An array of the kernel's own."""
        entry, held = ir.IRBuilder(self.entry), ir.ArrayType(float_type(of) or int_type(of), count)
        return Pointer(entry.gep(entry.alloca(held), [I64(0), I64(0)], inbounds=True), of, "")

    def inlined(self, function: ast.FunctionDef, given: list[Any]) -> Any:
        """A function's text in the place of a call; it returns at its end only."""
        named = dict(zip((p.arg for p in function.args.args), given, strict=True))
        outer, self.variables = self.variables, self.around.get(function.name, {}) | named
        *body, last = function.body
        early = any(isinstance(n, ast.Return) for s in body for n in ast.walk(s))
        if early or not isinstance(last, ast.Return) or last.value is None:
            raise Unspoken(f"{function.name} returns in its midst")
        self.statements(body)
        found = self.value(last.value)
        self.variables = outer
        return found

    def converted(self, value: Any, to: DType) -> Any:
        if to is types.bool_:
            return self.truth(value)
        if to.kind == "f":
            return self.number(value, float_type(to))
        if value.type in (F32, F64):
            narrow = (self.b.fptoui if to is types.uint8 else self.b.fptosi)(value, int_type(to))
        else:
            wide = self.int(value)
            narrow = wide if to is types.int64 else self.b.trunc(wide, int_type(to))
        return self.widened(narrow, to)

    def instruction(self, name: str, given: list[Any]) -> Any:
        of = given[0].type
        if of not in (F32, F64):
            raise Unspoken(f"{name} of an int")
        return self.call(f"llvm.{name}.{'f32' if of == F32 else 'f64'}", of, [self.number(v, of) for v in given])

    def call(self, name: str, result: Any, given: list[Any]) -> Any:
        known = self.module.globals.get(name)
        return self.b.call(known or ir.Function(self.module, ir.FunctionType(result, [v.type for v in given]), name), given)

    def of_lanes(self, name: str, given: list[Any]) -> Any:
        """64 floats as one value; integers go to Numba, which tells their widths."""
        act, _, what = name.partition("_")
        if what == "ahead":
            return lanes.ask(self.b, given[0].address, given[1], given[0].of.size)
        element = (
            given[0].address.type.pointee if isinstance(given[0], Pointer) else getattr(given[0].type, "element", given[0].type)
        )
        if element not in (F32, F64):
            raise Unspoken(f"{name} of {element}")
        if act == "fold":
            return lanes.fold(self.b, lanes.JOINS[what], "f", *given)
        if what in lanes.JOINS:
            return lanes.JOINS[what](self.b, "f", *given)
        if what == "of":
            return lanes.spread(self.b, *given)
        at, align = lanes.place(self.b, given[0].address, given[1]), 4 if element == F32 else 8
        return self.b.store(given[2], at, align=align) if what == "put" else self.b.load(at, align=align)

    def call_local64(self) -> Any:
        return self.array(self.dtypes["T"], 64)

    def call_local4096(self) -> Any:
        return self.array(self.dtypes["T"], 4096)

    def call_fma(self, x: Any, y: Any, z: Any) -> Any:
        return self.instruction("fma", [x, y, z])

    def call_select(self, condition: Any, x: Any, y: Any) -> Any:
        return self.b.select(self.truth(condition), *self.unified(x, y))

    def call_bits_of(self, x: Any) -> Any:
        return self.b.bitcast(self.number(x, F64), I64)

    def call_float_of(self, x: Any) -> Any:
        return self.b.bitcast(x, F64)

    def call_bits32_of(self, x: Any) -> Any:
        return self.b.sext(self.b.bitcast(self.number(x, F32), I32), I64)

    def call_float32_of(self, x: Any) -> Any:
        return self.b.bitcast(self.b.trunc(x, I32), F32)

    def looked_up(self, values: tuple[float, ...], index: Any) -> Any:
        if len(values) < _FEW:
            found = ir.Constant(F64, float(values[0]))
            for k, value in enumerate(values[1:], 1):
                found = self.b.select(self.b.icmp_signed(">=", index, I64(k)), ir.Constant(F64, float(value)), found)
            return found
        array = ir.ArrayType(F64, len(values))
        constants = ir.GlobalVariable(self.module, array, self.module.get_unique_name("table"))
        constants.linkage, constants.global_constant = "internal", True
        constants.initializer = ir.Constant(array, [float(v) for v in values])
        self.loads.append(self.b.load(self.b.gep(constants, [I64(0), index], inbounds=True)))
        return self.loads[-1]
