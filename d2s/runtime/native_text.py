"""Native text that works on objects of CPython: LLVM IR with two shorthands, made whole here.

In: parts of text (`native_objects`, `native_tape`, `native_door`, `native_call`). Out: what LLVM takes. What the tables hold
that Python fills and these texts read is listed here, word by word.

>>> print(expanded("%x = i64 at %case[kernel]"))
%x.at = getelementptr i64, ptr %case, i64 3
%x = load i64, ptr %x.at
"""

import re

from d2s.memory import LARGE, LINE

MULTIPLIER = 0x9E3779B97F4A7C15  # mixes the words of a call into the number of a bucket
CARRAY = 0x501  # flags of an array whose memory somebody else has: in rows, aligned, writable
REGISTERS = 64  # what a kernel may be given: addresses and extents

# Words of a door's head, of a case, of a template: names for the text below, and the order Python fills them in.
HEAD = (
    *("tensor_type", "array_at", "stop_at", "node_at", "float_type", "int_type", "new_array", "array_type"),
    *("set_base", "byte_descr", "size_at", "asked_from", "fits"),
    *("true", "false", "none", "tensor_template", "node_template", "edges_at", "order_at", "op_at", "attrs_at", "saved_at"),
    *("code_at", "at_at", "order", "mode", "recording", "arrays", "op"),
    *("top_at", "through_at", "frame_code", "frame_back", "frame_instruction", "frame_owner", "code_type", "code_start"),
    *("filename_at", "text_at", "package", "package_words", "package_length", "buckets"),
)
CASE = (
    *("next", "count", "words", "kernel", "count_of_results", "results_rows", "extents", "extent", "records", "long", "attrs"),
    *("number_descr", "number_kind", "number_min", "number_max"),
)
CALL = (  # behind the words of a head, where it is that of a plan: see `native_call`
    *("free", "reason", "inputs", "outputs", "rows", "made", "bind", "extents_of", "came_out", "execute", "steps"),
    *("operand_table", "releases", "following", "on_tape", "returned", "result_template", "result_node_at", "position_at"),
    *("arrays_at", "results_at", "stacks", "stack_rows", "stacks_at", "taken", "same", "more", "settle"),
)
PYTHON = (
    *("Py_IncRef", "Py_DecRef", "PyType_IsSubtype", "PyType_GenericAlloc", "PyTuple_New", "PyIter_Next", "PyObject_GetAttr"),
    *("PyLong_AsLongLongAndOverflow", "PyErr_Occurred", "PyEval_SaveThread", "PyEval_RestoreThread"),
    *("PyThreadState_Get", "PyLong_FromSsize_t", "PyErr_CheckSignals"),
    *("PyObject_Call", "PyErr_ExceptionMatches", "PyErr_Clear", "PyErr_Fetch", "PyErr_Restore", "PyErr_NoMemory"),
)
DECLARED = """
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare i32 @PyType_IsSubtype(ptr, ptr)
declare ptr @PyType_GenericAlloc(ptr, i64)
declare ptr @PyTuple_New(i64)
declare ptr @PyIter_Next(ptr)
declare ptr @PyObject_GetAttr(ptr, ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare ptr @PyErr_Occurred()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyThreadState_Get()
declare ptr @PyLong_FromSsize_t(i64)
declare i32 @PyErr_CheckSignals()
declare ptr @PyObject_Call(ptr, ptr, ptr)
declare i32 @PyErr_ExceptionMatches(ptr)
declare void @PyErr_Clear()
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare ptr @PyErr_NoMemory()
declare double @llvm.fabs.f64(double)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

@operands = internal constant [64 x i32] OPERANDS
"""
_LOAD = re.compile(r"%([\w.]+) = (i64|ptr) at %(\w+)\[([%\w]+)\]")
_STORE = re.compile(r"%(\w+)\[([%\w]+)\] := (i64|ptr) (\S+)")


def expanded(text: str) -> str:
    """The text with its two shorthands, `%x = i64 at %p[k]` and `%p[k] := i64 %x`, as LLVM writes them; k may be a name."""
    places = {name: k for names in (CASE, (*HEAD, *CALL)) for k, name in enumerate(names)}
    count = iter(range(len(text)))

    def load(found: "re.Match[str]") -> str:
        name, kind, base, at = found.groups()
        return f"%{name}.at = getelementptr i64, ptr %{base}, i64 {places.get(at, at)}\n%{name} = load {kind}, ptr %{name}.at"

    def store(found: "re.Match[str]") -> str:
        base, at, kind, value = found.groups()
        to = f"%to.{next(count)}"
        return f"{to} = getelementptr i64, ptr %{base}, i64 {places.get(at, at)}\nstore {kind} {value}, ptr {to}"

    return _STORE.sub(store, _LOAD.sub(load, text))


def whole(*parts: str) -> str:
    """Parts and what they declare, as LLVM takes it."""
    operands = "[" + ", ".join(f"i32 {k}" for k in range(REGISTERS)) + "]"
    filled = {"OPERANDS": operands, "FIRST_ITEM": str(tuple.__basicsize__ // 8), "BUCKETS_AT": str(HEAD.index("buckets"))}
    filled |= {"LARGE_ARRAY": str(LARGE), "CACHE_LINE": str(LINE), "CARRAY": str(CARRAY)}
    filled["MULTIPLIER"] = str(MULTIPLIER - (1 << 64))
    return expanded(re.sub("|".join(filled), lambda m: filled[m.group()], "\n".join([DECLARED, *parts])))
