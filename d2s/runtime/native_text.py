"""The native text of eager code's door, in LLVM IR with two shorthands. `native_launcher` makes it run.

In: nothing. Out: the text `door` and `probe` are compiled from, and what its tables hold, word by word.

>>> print(expanded("%x = i64 at %case[kernel]"))
%x.at = getelementptr i64, ptr %case, i64 3
%x = load i64, ptr %x.at
"""

import re

MULTIPLIER = 0x9E3779B97F4A7C15  # mixes the words of a call into the number of a bucket
REGISTERS = 64  # what a kernel may be given: addresses and extents

# Words of a door's head, of a case, of a template: names for the text below, and the order Python fills them in.
HEAD = (
    *("tensor_type", "array_at", "stop_at", "node_at", "float_type", "int_type", "new_array", "array_type"),
    *("true", "false", "none", "tensor_template", "node_template", "edges_at", "order_at", "op_at", "attrs_at", "saved_at"),
    *("code_at", "at_at", "order", "mode", "recording", "arrays", "op"),
    *("top_at", "through_at", "frame_code", "frame_back", "frame_instruction", "frame_owner", "code_type", "code_start"),
    *("filename_at", "text_at", "package", "package_words", "package_length", "buckets"),
)
CASE = (
    *("next", "count", "words", "kernel", "descr", "rank", "dims", "extents", "extent", "records", "long", "attrs"),
    *("number_descr", "number_kind", "number_min", "number_max"),
)
PYTHON = (
    *("Py_IncRef", "Py_DecRef", "PyType_IsSubtype", "PyType_GenericAlloc", "PyTuple_New", "PyIter_Next", "PyObject_GetAttr"),
    *("PyLong_AsLongLongAndOverflow", "PyErr_Occurred", "PyEval_SaveThread", "PyEval_RestoreThread"),
    *("PyThreadState_Get", "PyLong_FromSsize_t"),
)
TEXT = """
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
declare double @llvm.fabs.f64(double)

@operands = internal constant [64 x i32] OPERANDS

; What the arguments are, as words that are equal only for calls one case serves. Returns how many, or -1: not for us.
; An array: dtype, rank, extents. A number where an array may stand: its type. Anything else: the very object.
define internal i64 @signature(ptr %head, ptr %inputs, ptr %words) {
entry:
  %n = i64 at %inputs[2]
  %few = icmp ule i64 %n, 8
  %arrays = i64 at %head[arrays]
  %tensor = ptr at %head[tensor_type]
  %float = ptr at %head[float_type]
  %int = ptr at %head[int_type]
  %array_type = ptr at %head[array_type]
  %array_at = i64 at %head[array_at]
  br i1 %few, label %next, label %no
next:
  %i = phi i64 [0, %entry], [%i1, %one], [%i1, %dims]
  %p = phi i64 [0, %entry], [%p_one, %one], [%p_dims, %dims]
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i, %n
  br i1 %more, label %input, label %end
end:
  ret i64 %p
no:
  ret i64 -1
input:
  %slot = add i64 %i, FIRST_ITEM
  %x = ptr at %inputs[%slot]
  %may_be_array = icmp slt i64 %i, %arrays
  br i1 %may_be_array, label %typed, label %one
typed:
  %type = ptr at %x[1]
  %exact = icmp eq ptr %type, %tensor
  br i1 %exact, label %array, label %number
number:
  %is_float = icmp eq ptr %type, %float
  %is_int = icmp eq ptr %type, %int
  %is_number = or i1 %is_float, %is_int
  br i1 %is_number, label %one, label %subclass
subclass:
  %sub = call i32 @PyType_IsSubtype(ptr %type, ptr %tensor)
  %is_sub = icmp ne i32 %sub, 0
  br i1 %is_sub, label %array, label %no
one:
  %object = phi ptr [%x, %input], [%type, %number]
  %word = ptrtoint ptr %object to i64
  %words[%p] := i64 %word
  %p_one = add i64 %p, 1
  br label %next
array:
  %a_at = getelementptr i8, ptr %x, i64 %array_at
  %a = load ptr, ptr %a_at
  %unset = icmp eq ptr %a, null
  br i1 %unset, label %no, label %set
set:
  %a_type = ptr at %a[1]
  %is_array = icmp eq ptr %a_type, %array_type
  br i1 %is_array, label %header, label %no
header:
  %flags_at = getelementptr i64, ptr %a, i64 8
  %flags = load i32, ptr %flags_at
  %needed = and i32 %flags, 257
  %plain = icmp eq i32 %needed, 257
  %rank_at = getelementptr i64, ptr %a, i64 3
  %rank32 = load i32, ptr %rank_at
  %rank = zext i32 %rank32 to i64
  %low = icmp ule i64 %rank, 16
  %fits = and i1 %plain, %low
  br i1 %fits, label %describe, label %no
describe:
  %descr = ptr at %a[7]
  %kind = i64 at %descr[3]
  %words[%p] := i64 %kind
  %p_rank = add i64 %p, 1
  %words[%p_rank] := i64 %rank
  %p_dims0 = add i64 %p, 2
  %extents = ptr at %a[4]
  br label %dims
dims:
  %j = phi i64 [0, %describe], [%j1, %dim]
  %p_dims = add i64 %p_dims0, %j
  %j1 = add i64 %j, 1
  %another = icmp slt i64 %j, %rank
  br i1 %another, label %dim, label %next
dim:
  %extent = i64 at %extents[%j]
  %words[%p_dims] := i64 %extent
  br label %dims
}

; The case of these words, or null.
define internal ptr @find(ptr %head, ptr %words, i64 %count) {
entry:
  br label %mix
mix:
  %i = phi i64 [0, %entry], [%i1, %mixing]
  %h = phi i64 [0, %entry], [%h1, %mixing]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %mixing, label %mixed
mixing:
  %w = i64 at %words[%i]
  %hw = xor i64 %h, %w
  %h1 = mul i64 %hw, MULTIPLIER
  %i1 = add i64 %i, 1
  br label %mix
mixed:
  %top = lshr i64 %h, 56
  %at = add i64 %top, BUCKETS_AT
  %first = ptr at %head[%at]
  br label %try
try:
  %case = phi ptr [%first, %mixed], [%following, %other]
  %none = icmp eq ptr %case, null
  br i1 %none, label %found, label %size
size:
  %case_count = i64 at %case[count]
  %case_words = ptr at %case[words]
  %same_count = icmp eq i64 %case_count, %count
  br i1 %same_count, label %compare, label %other
compare:
  %j = phi i64 [0, %size], [%j1, %word]
  %left = icmp slt i64 %j, %count
  br i1 %left, label %word, label %found
word:
  %u = i64 at %words[%j]
  %v = i64 at %case_words[%j]
  %same = icmp eq i64 %u, %v
  %j1 = add i64 %j, 1
  br i1 %same, label %compare, label %other
other:
  %following = ptr at %case[next]
  br label %try
found:
  ret ptr %case
}

; A fresh array.
define internal ptr @array(ptr %head, ptr %descr, i64 %rank, ptr %dims) {
  call void @Py_IncRef(ptr %descr)
  %new = ptr at %head[new_array]
  %type = ptr at %head[array_type]
  %rank32 = trunc i64 %rank to i32
  %a = call ptr %new(ptr %type, ptr %descr, i32 %rank32, ptr %dims, ptr null, ptr null, i32 0, ptr null)
  ret ptr %a
}

; A Python number as a 0-D array of the case's dtype, or null: it does not fit, Python says what happens then.
define internal ptr @number(ptr %head, ptr %case, ptr %x) {
entry:
  %over = alloca i32
  %kind = i64 at %case[number_kind]
  %type = ptr at %x[1]
  %float = ptr at %head[float_type]
  %is_float = icmp eq ptr %type, %float
  %to_int = icmp sge i64 %kind, 10
  br i1 %is_float, label %of_float, label %of_int
of_float:
  %d_at = getelementptr i64, ptr %x, i64 2
  %d_own = load double, ptr %d_at
  br i1 %to_int, label %no, label %to_float
of_int:
  %n = call i64 @PyLong_AsLongLongAndOverflow(ptr %x, ptr %over)
  %o = load i32, ptr %over
  %inside = icmp eq i32 %o, 0
  br i1 %inside, label %held, label %no
held:
  %d_int = sitofp i64 %n to double
  br i1 %to_int, label %range, label %to_float
range:
  %min = i64 at %case[number_min]
  %max = i64 at %case[number_max]
  %above = icmp sge i64 %n, %min
  %below = icmp sle i64 %n, %max
  %ok = and i1 %above, %below
  br i1 %ok, label %make, label %no
to_float:
  %d = phi double [%d_own, %of_float], [%d_int, %held]
  %f = fptrunc double %d to float
  %back = fpext float %f to double
  %size = call double @llvm.fabs.f64(double %d)
  %rounded = call double @llvm.fabs.f64(double %back)
  %was = fcmp olt double %size, 0x7FF0000000000000
  %is = fcmp oeq double %rounded, 0x7FF0000000000000
  %lost = and i1 %was, %is
  %single = icmp eq i64 %kind, 0
  %refused = and i1 %lost, %single
  br i1 %refused, label %no, label %make
make:
  %value = phi i64 [%n, %range], [0, %to_float]
  %real = phi double [0.0, %range], [%d, %to_float]
  %short = phi float [0.0, %range], [%f, %to_float]
  %descr = ptr at %case[number_descr]
  %a = call ptr @array(ptr %head, ptr %descr, i64 0, ptr null)
  %failed = icmp eq ptr %a, null
  br i1 %failed, label %no, label %store
store:
  %to = ptr at %a[2]
  switch i64 %kind, label %s64 [i64 0, label %f32 i64 1, label %f64 i64 10, label %s8 i64 11, label %s16 i64 12, label %s32]
f32:
  store float %short, ptr %to
  ret ptr %a
f64:
  store double %real, ptr %to
  ret ptr %a
s8:
  %v8 = trunc i64 %value to i8
  store i8 %v8, ptr %to
  ret ptr %a
s16:
  %v16 = trunc i64 %value to i16
  store i16 %v16, ptr %to
  ret ptr %a
s32:
  %v32 = trunc i64 %value to i32
  store i32 %v32, ptr %to
  ret ptr %a
s64:
  store i64 %value, ptr %to
  ret ptr %a
no:
  ret ptr null
}

; An object of a class with slots, filled as a template says: type, count, then pairs of offset and object.
define internal ptr @made(ptr %template) {
entry:
  %type = ptr at %template[0]
  %count = i64 at %template[1]
  %o = call ptr @PyType_GenericAlloc(ptr %type, i64 0)
  %failed = icmp eq ptr %o, null
  br i1 %failed, label %end, label %next
next:
  %i = phi i64 [0, %entry], [%i1, %slot]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %slot, label %end
slot:
  %twice = shl i64 %i, 1
  %k = add i64 %twice, 2
  %k1 = add i64 %twice, 3
  %offset = i64 at %template[%k]
  %v = ptr at %template[%k1]
  call void @put_shared(ptr %o, i64 %offset, ptr %v)
  %i1 = add i64 %i, 1
  br label %next
end:
  ret ptr %o
}
define internal void @put(ptr %o, i64 %offset, ptr %v) alwaysinline {
  %at = getelementptr i8, ptr %o, i64 %offset
  store ptr %v, ptr %at
  ret void
}
define internal void @put_shared(ptr %o, i64 %offset, ptr %v) alwaysinline {
  call void @Py_IncRef(ptr %v)
  call void @put(ptr %o, i64 %offset, ptr %v)
  ret void
}

; A tensor that takes over an array; without history if node is null, else it takes over the node.
define internal ptr @tensor(ptr %head, ptr %array, ptr %node) {
entry:
  %template = ptr at %head[tensor_template]
  %t = call ptr @made(ptr %template)
  %failed = icmp eq ptr %t, null
  br i1 %failed, label %end, label %fill
fill:
  %array_at = i64 at %head[array_at]
  %stop_at = i64 at %head[stop_at]
  %node_at = i64 at %head[node_at]
  %true = ptr at %head[true]
  %false = ptr at %head[false]
  %none = ptr at %head[none]
  %leaf = icmp eq ptr %node, null
  %stop = select i1 %leaf, ptr %true, ptr %false
  call void @put(ptr %t, i64 %array_at, ptr %array)
  call void @put_shared(ptr %t, i64 %stop_at, ptr %stop)
  br i1 %leaf, label %without, label %with
without:
  call void @put_shared(ptr %t, i64 %node_at, ptr %none)
  ret ptr %t
with:
  call void @put(ptr %t, i64 %node_at, ptr %node)
  ret ptr %t
end:
  ret ptr null
}

; What lies at an offset, in bytes, of an object.
define internal ptr @field(ptr %o, i64 %offset) alwaysinline {
  %at = getelementptr i8, ptr %o, i64 %offset
  %v = load ptr, ptr %at
  ret ptr %v
}

; Where the cotangent of an argument goes: nowhere (None), to the leaf itself, or to the node that made it.
define internal ptr @edge(ptr %head, ptr %x) alwaysinline {
entry:
  %none = ptr at %head[none]
  %type = ptr at %x[1]
  %float = ptr at %head[float_type]
  %int = ptr at %head[int_type]
  %is_float = icmp eq ptr %type, %float
  %is_int = icmp eq ptr %type, %int
  %is_number = or i1 %is_float, %is_int
  br i1 %is_number, label %end, label %tensor
tensor:
  %stop_at = i64 at %head[stop_at]
  %node_at = i64 at %head[node_at]
  %true = ptr at %head[true]
  %stop = call ptr @field(ptr %x, i64 %stop_at)
  %made_by = call ptr @field(ptr %x, i64 %node_at)
  %stops = icmp eq ptr %stop, %true
  %leaf = icmp eq ptr %made_by, %none
  %goes = select i1 %leaf, ptr %x, ptr %made_by
  %to = select i1 %stops, ptr %none, ptr %goes
  br label %end
end:
  %edge = phi ptr [%none, %entry], [%to, %tensor]
  ret ptr %edge
}

; Whether a file is one of d2s: its name begins as the package does. Looks at the last eight letters of that first.
define internal i1 @is_ours(ptr %head, ptr %name) {
entry:
  %length = i64 at %name[2]
  %wanted = i64 at %head[package_length]
  %long = icmp uge i64 %length, %wanted
  br i1 %long, label %tail, label %no
tail:
  %text_at = i64 at %head[text_at]
  %text = getelementptr i8, ptr %name, i64 %text_at
  %package = ptr at %head[package]
  %last = sub i64 %wanted, 8
  %ours = call ptr @field(ptr %package, i64 %last)
  %theirs = call ptr @field(ptr %text, i64 %last)
  %alike = icmp eq ptr %ours, %theirs
  %words = i64 at %head[package_words]
  br i1 %alike, label %next, label %no
next:
  %i = phi i64 [0, %tail], [%i1, %word]
  %more = icmp slt i64 %i, %words
  br i1 %more, label %word, label %yes
word:
  %a = i64 at %text[%i]
  %b = i64 at %package[%i]
  %same = icmp eq i64 %a, %b
  %i1 = add i64 %i, 1
  br i1 %same, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; Where the user's code stands: the code object of the nearest frame outside of d2s and, behind `offset`, its instruction's
; offset. Null where there is none, or frames of this Python are not known.
define internal ptr @place(ptr %head, ptr %offset) {
entry:
  %top_at = i64 at %head[top_at]
  %through_at = i64 at %head[through_at]
  %code_at = i64 at %head[frame_code]
  %back_at = i64 at %head[frame_back]
  %owner_at = i64 at %head[frame_owner]
  %filename_at = i64 at %head[filename_at]
  %code_type = ptr at %head[code_type]
  store i64 0, ptr %offset
  %known = icmp ne i64 %top_at, 0
  br i1 %known, label %start, label %nowhere
start:
  %thread = call ptr @PyThreadState_Get()
  %top = call ptr @field(ptr %thread, i64 %top_at)
  %direct = icmp slt i64 %through_at, 0
  br i1 %direct, label %look, label %through
through:
  %inner = call ptr @field(ptr %top, i64 %through_at)
  br label %look
look:
  %frame = phi ptr [%top, %start], [%inner, %through], [%back, %further]
  %end = icmp eq ptr %frame, null
  br i1 %end, label %nowhere, label %owned
owned:
  %owner_p = getelementptr i8, ptr %frame, i64 %owner_at
  %owner = load i8, ptr %owner_p
  %by_c = icmp eq i8 %owner, 3
  %has_owner = icmp ne i64 %owner_at, 0
  %shim = and i1 %by_c, %has_owner
  br i1 %shim, label %further, label %coded
coded:
  %code = call ptr @field(ptr %frame, i64 %code_at)
  %type = ptr at %code[1]
  %is_code = icmp eq ptr %type, %code_type
  br i1 %is_code, label %named, label %further
named:
  %name = call ptr @field(ptr %code, i64 %filename_at)
  %own = call i1 @is_ours(ptr %head, ptr %name)
  br i1 %own, label %further, label %found
further:
  %back = call ptr @field(ptr %frame, i64 %back_at)
  br label %look
found:
  %instruction_at = i64 at %head[frame_instruction]
  %start_at = i64 at %head[code_start]
  %at_p = getelementptr i8, ptr %frame, i64 %instruction_at
  %counted = icmp eq i64 %start_at, 0
  br i1 %counted, label %count, label %point
count:
  %units = load i32, ptr %at_p
  %wide = sext i32 %units to i64
  %bytes = shl i64 %wide, 1
  store i64 %bytes, ptr %offset
  ret ptr %code
point:
  %instruction = load i64, ptr %at_p
  %code_word = ptrtoint ptr %code to i64
  %first = add i64 %code_word, %start_at
  %distance = sub i64 %instruction, %first
  store i64 %distance, ptr %offset
  ret ptr %code
nowhere:
  %none = ptr at %head[none]
  ret ptr %none
}

; The tape's node of this call; takes over the arrays.
define internal ptr @node(ptr %head, ptr %case, ptr %inputs, ptr %arrays, ptr %out) {
entry:
  %offset = alloca i64
  %count = i64 at %head[arrays]
  %size = add i64 %count, 1
  %template = ptr at %head[node_template]
  %counter = ptr at %head[order]
  %op = ptr at %head[op]
  %attrs = ptr at %case[attrs]
  %edges_at = i64 at %head[edges_at]
  %order_at = i64 at %head[order_at]
  %op_at = i64 at %head[op_at]
  %attrs_at = i64 at %head[attrs_at]
  %saved_at = i64 at %head[saved_at]
  %code_at = i64 at %head[code_at]
  %at_at = i64 at %head[at_at]
  %n = call ptr @made(ptr %template)
  %order = call ptr @PyIter_Next(ptr %counter)
  %edges = call ptr @PyTuple_New(i64 %count)
  %saved = call ptr @PyTuple_New(i64 %size)
  %code = call ptr @place(ptr %head, ptr %offset)
  %bytes = load i64, ptr %offset
  %at = call ptr @PyLong_FromSsize_t(i64 %bytes)
  %no_n = icmp eq ptr %n, null
  %no_edges = icmp eq ptr %edges, null
  %no_saved = icmp eq ptr %saved, null
  %failed_1 = or i1 %no_n, %no_edges
  %failed = or i1 %failed_1, %no_saved
  br i1 %failed, label %end, label %fill
fill:
  call void @put(ptr %n, i64 %edges_at, ptr %edges)
  call void @put(ptr %n, i64 %order_at, ptr %order)
  call void @put_shared(ptr %n, i64 %op_at, ptr %op)
  call void @put_shared(ptr %n, i64 %attrs_at, ptr %attrs)
  call void @put(ptr %n, i64 %saved_at, ptr %saved)
  call void @put_shared(ptr %n, i64 %code_at, ptr %code)
  call void @put(ptr %n, i64 %at_at, ptr %at)
  br label %next
next:
  %i = phi i64 [0, %fill], [%i1, %item]
  %slot = add i64 %i, FIRST_ITEM
  %more = icmp slt i64 %i, %count
  br i1 %more, label %item, label %last
item:
  %a = ptr at %arrays[%i]
  %saved[%slot] := ptr %a
  %x = ptr at %inputs[%slot]
  %edge = call ptr @edge(ptr %head, ptr %x)
  call void @Py_IncRef(ptr %edge)
  %edges[%slot] := ptr %edge
  %i1 = add i64 %i, 1
  br label %next
last:
  call void @Py_IncRef(ptr %out)
  %saved[%slot] := ptr %out
  ret ptr %n
end:
  ret ptr null
}

define internal void @release(ptr %arrays, i64 %count) {
entry:
  br label %next
next:
  %i = phi i64 [0, %entry], [%i1, %one]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %one, label %end
one:
  %a = ptr at %arrays[%i]
  call void @Py_DecRef(ptr %a)
  %i1 = add i64 %i, 1
  br label %next
end:
  ret void
}

define internal ptr @declined(ptr %head) {
  %error = call ptr @PyErr_Occurred()
  %quiet = icmp eq ptr %error, null
  br i1 %quiet, label %none, label %raise
none:
  %n = ptr at %head[none]
  call void @Py_IncRef(ptr %n)
  ret ptr %n
raise:
  ret ptr null
}

; METH_O: door(arguments) -> Tensor, or None: not a case that was learned. (Out of memory may leak; it says so.)
define ptr @door(ptr %self, ptr %inputs) {
entry:
  %words = alloca [160 x i64]
  %arrays = alloca [8 x ptr]
  %registers = alloca [64 x i64]
  %head = ptr at %self[2]
  %count = call i64 @signature(ptr %head, ptr %inputs, ptr %words)
  %ours = icmp sge i64 %count, 0
  br i1 %ours, label %look, label %decline
look:
  %case = call ptr @find(ptr %head, ptr %words, i64 %count)
  %unknown = icmp eq ptr %case, null
  br i1 %unknown, label %decline, label %known
decline:
  %answer = call ptr @declined(ptr %head)
  ret ptr %answer
known:
  %k = i64 at %head[arrays]
  %float = ptr at %head[float_type]
  %int = ptr at %head[int_type]
  %array_at = i64 at %head[array_at]
  %stop_at = i64 at %head[stop_at]
  %true = ptr at %head[true]
  %false = ptr at %head[false]
  br label %next
next:
  %i = phi i64 [0, %known], [%i1, %bind]
  %wants = phi i1 [false, %known], [%wants1, %bind]
  %more = icmp slt i64 %i, %k
  br i1 %more, label %input, label %output
input:
  %slot = add i64 %i, FIRST_ITEM
  %x = ptr at %inputs[%slot]
  %type = ptr at %x[1]
  %is_float = icmp eq ptr %type, %float
  %is_int = icmp eq ptr %type, %int
  %is_number = or i1 %is_float, %is_int
  br i1 %is_number, label %number, label %tensor
number:
  %cell = call ptr @number(ptr %head, ptr %case, ptr %x)
  %unfit = icmp eq ptr %cell, null
  br i1 %unfit, label %back, label %bind
tensor:
  %stop_p = getelementptr i8, ptr %x, i64 %stop_at
  %stop = load ptr, ptr %stop_p
  %stops = icmp eq ptr %stop, %true
  %goes = icmp eq ptr %stop, %false
  %clear = or i1 %stops, %goes
  br i1 %clear, label %share, label %back
share:
  %own_p = getelementptr i8, ptr %x, i64 %array_at
  %own = load ptr, ptr %own_p
  call void @Py_IncRef(ptr %own)
  br label %bind
bind:
  %a = phi ptr [%cell, %number], [%own, %share]
  %wanting = phi i1 [false, %number], [%goes, %share]
  %wants1 = or i1 %wants, %wanting
  %arrays[%i] := ptr %a
  %data = i64 at %a[2]
  %registers[%i] := i64 %data
  %i1 = add i64 %i, 1
  br label %next
back:
  call void @release(ptr %arrays, i64 %i)
  br label %decline
output:
  %descr = ptr at %case[descr]
  %rank = i64 at %case[rank]
  %dims = ptr at %case[dims]
  %out = call ptr @array(ptr %head, ptr %descr, i64 %rank, ptr %dims)
  %no_out = icmp eq ptr %out, null
  br i1 %no_out, label %back, label %place
place:
  %out_data = i64 at %out[2]
  %registers[%k] := i64 %out_data
  %extents = i64 at %case[extents]
  %extent = ptr at %case[extent]
  br label %sizes
sizes:
  %j = phi i64 [0, %place], [%j1, %size]
  %to0 = add i64 %k, %j
  %to = add i64 %to0, 1
  %another = icmp slt i64 %j, %extents
  br i1 %another, label %size, label %run
size:
  %e = i64 at %extent[%j]
  %registers[%to] := i64 %e
  %j1 = add i64 %j, 1
  br label %sizes
run:
  %registers[%to] := i64 0
  %kernel = ptr at %case[kernel]
  %long = i64 at %case[long]
  %is_long = icmp ne i64 %long, 0
  br i1 %is_long, label %apart, label %here
here:
  call void %kernel(ptr %registers, ptr @operands)
  br label %done
apart:
  %thread = call ptr @PyEval_SaveThread()
  call void %kernel(ptr %registers, ptr @operands)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %done
done:
  %records = i64 at %case[records]
  %can = icmp ne i64 %records, 0
  %may = and i1 %can, %wants
  br i1 %may, label %ask, label %plain
ask:
  %mode = ptr at %head[mode]
  %name = ptr at %head[recording]
  %on = call ptr @PyObject_GetAttr(ptr %mode, ptr %name)
  %no_mode = icmp eq ptr %on, null
  br i1 %no_mode, label %failed, label %asked
failed:
  ret ptr null
asked:
  call void @Py_DecRef(ptr %on)
  %off = icmp eq ptr %on, %false
  br i1 %off, label %plain, label %recorded
plain:
  call void @release(ptr %arrays, i64 %k)
  %result = call ptr @tensor(ptr %head, ptr %out, ptr null)
  ret ptr %result
recorded:
  %node = call ptr @node(ptr %head, ptr %case, ptr %inputs, ptr %arrays, ptr %out)
  %no_node = icmp eq ptr %node, null
  br i1 %no_node, label %failed, label %joined
joined:
  %with = call ptr @tensor(ptr %head, ptr %out, ptr %node)
  ret ptr %with
}

; The kernel of the self-check: the address of its first input and its first extent, as it got them.
define void @probe(ptr %r, ptr %o) {
  %first32 = load i32, ptr %o
  %first = zext i32 %first32 to i64
  %x = i64 at %r[%first]
  %out = ptr at %r[2]
  %n = i64 at %r[3]
  %out[0] := i64 %x
  %out[1] := i64 %n
  ret void
}
"""
_LOAD = re.compile(r"%([\w.]+) = (i64|ptr) at %(\w+)\[([%\w]+)\]")
_STORE = re.compile(r"%(\w+)\[([%\w]+)\] := (i64|ptr) (\S+)")


def expanded(text: str) -> str:
    """The text with its two shorthands, `%x = i64 at %p[k]` and `%p[k] := i64 %x`, as LLVM writes them; k may be a name."""
    places = {name: k for names in (CASE, HEAD) for k, name in enumerate(names)}
    count = iter(range(len(text)))

    def load(found: "re.Match[str]") -> str:
        name, kind, base, at = found.groups()
        return f"%{name}.at = getelementptr i64, ptr %{base}, i64 {places.get(at, at)}\n%{name} = load {kind}, ptr %{name}.at"

    def store(found: "re.Match[str]") -> str:
        base, at, kind, value = found.groups()
        to = f"%to.{next(count)}"
        return f"{to} = getelementptr i64, ptr %{base}, i64 {places.get(at, at)}\nstore {kind} {value}, ptr {to}"

    return _STORE.sub(store, _LOAD.sub(load, text))


def whole() -> str:
    """All of it, as LLVM takes it."""
    operands = "[" + ", ".join(f"i32 {k}" for k in range(REGISTERS)) + "]"
    filled = {"OPERANDS": operands, "FIRST_ITEM": str(tuple.__basicsize__ // 8), "BUCKETS_AT": str(HEAD.index("buckets"))}
    filled["MULTIPLIER"] = str(MULTIPLIER - (1 << 64))
    return expanded(re.sub("|".join(filled), lambda m: filled[m.group()], TEXT))
