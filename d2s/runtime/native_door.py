"""The door of an op in native text: which case a call is, and doing it.

In: nothing. Out: TEXT, functions in LLVM IR with the shorthands of `native_text`; `probe` is the kernel of a self-check.

>>> "define ptr @door" in TEXT
True
"""

TEXT = """
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

; METH_O: door(arguments) -> Tensor, or several, or None: not a case that was learned, or its kernel found a fault, which Python
; finds again and names. (Out of memory may leak; it says so.)
define ptr @door(ptr %self, ptr %inputs) {
entry:
  %words = alloca [160 x i64]
  %arrays = alloca [16 x ptr]
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
  %results = getelementptr i64, ptr %arrays, i64 %k
  %made = i64 at %case[count_of_results]
  %rows = ptr at %case[results_rows]
  %held = add i64 %k, %made
  br label %result
result:
  %q = phi i64 [0, %output], [%q1, %place]
  %held_now = add i64 %k, %q
  %left = icmp slt i64 %q, %made
  br i1 %left, label %allocate, label %placed
allocate:
  %word = mul i64 %q, 3
  %row = getelementptr i64, ptr %rows, i64 %word
  %descr = ptr at %row[0]
  %rank = i64 at %row[1]
  %dims = ptr at %row[2]
  %out = call ptr @array(ptr %head, ptr %descr, i64 %rank, ptr %dims)
  %no_out = icmp eq ptr %out, null
  br i1 %no_out, label %short, label %place
place:
  %results[%q] := ptr %out
  %out_data = i64 at %out[2]
  %registers[%held_now] := i64 %out_data
  %q1 = add i64 %q, 1
  br label %result
short:
  %have = phi i64 [%held_now, %allocate], [%held, %done]
  call void @release(ptr %arrays, i64 %have)
  br label %decline
placed:
  %extents = i64 at %case[extents]
  %extent = ptr at %case[extent]
  br label %sizes
sizes:
  %j = phi i64 [0, %placed], [%j1, %size]
  %to = add i64 %held, %j
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
  %fault = i64 at %registers[%to]
  %fine = icmp eq i64 %fault, 0
  br i1 %fine, label %good, label %short
good:
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
  %result_alone = call ptr @handed_out(ptr %head, ptr %results, i64 %made, ptr null)
  ret ptr %result_alone
recorded:
  %node = call ptr @node(ptr %head, ptr %case, ptr %inputs, ptr %arrays, i64 %made)
  %no_node = icmp eq ptr %node, null
  br i1 %no_node, label %failed, label %joined
joined:
  %with = call ptr @handed_out(ptr %head, ptr %results, i64 %made, ptr %node)
  ret ptr %with
}

; The tensor of the only result, or a tuple of several, of which the first has a history; takes over the arrays and the node.
define internal ptr @handed_out(ptr %head, ptr %results, i64 %made, ptr %node) {
entry:
  %out = ptr at %results[0]
  %first = call ptr @tensor(ptr %head, ptr %out, ptr %node)
  %alone = icmp eq i64 %made, 1
  %lost = icmp eq ptr %first, null
  %end = or i1 %alone, %lost
  br i1 %end, label %one, label %several
one:
  ret ptr %first
several:
  %results[0] := ptr %first
  br label %next
next:
  %i = phi i64 [1, %several], [%i1, %item]
  %more = icmp slt i64 %i, %made
  br i1 %more, label %item, label %whole
item:
  %array = ptr at %results[%i]
  %tensor = call ptr @tensor(ptr %head, ptr %array, ptr null)
  %results[%i] := ptr %tensor
  %i1 = add i64 %i, 1
  %none = icmp eq ptr %tensor, null
  br i1 %none, label %no, label %next
no:
  ret ptr null
whole:
  %tuple = call ptr @packed(ptr %results, i64 %made)
  ret ptr %tuple
}

; The tape's node of this call; takes over the arrays of the inputs, and shares those of the results, which stand behind them.
define internal ptr @node(ptr %head, ptr %case, ptr %inputs, ptr %arrays, i64 %made) {
entry:
  %count = i64 at %head[arrays]
  %size = add i64 %count, %made
  %n = call ptr @begun(ptr %head)
  %failed = icmp eq ptr %n, null
  br i1 %failed, label %end, label %share
share:
  %i = phi i64 [%count, %entry], [%i1, %one]
  %more = icmp slt i64 %i, %size
  br i1 %more, label %one, label %fill
one:
  %result = ptr at %arrays[%i]
  call void @Py_IncRef(ptr %result)
  %i1 = add i64 %i, 1
  br label %share
fill:
  %op = ptr at %head[op]
  %attrs = ptr at %case[attrs]
  %op_at = i64 at %head[op_at]
  %attrs_at = i64 at %head[attrs_at]
  %saved_at = i64 at %head[saved_at]
  %items = getelementptr i64, ptr %inputs, i64 FIRST_ITEM
  call void @put_shared(ptr %n, i64 %op_at, ptr %op)
  call void @put_shared(ptr %n, i64 %attrs_at, ptr %attrs)
  %whole = call i1 @filled(ptr %head, ptr %n, ptr %items, i64 %count, i64 %saved_at, ptr %arrays, i64 %size)
  %node = select i1 %whole, ptr %n, ptr null
  ret ptr %node
end:
  ret ptr null
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
