"""What native text does with objects of CPython and NumPy: reads their fields, makes arrays, tensors, numbers.

In: nothing. Out: TEXT, functions in LLVM IR with the shorthands of `native_text`.

>>> "define internal ptr @array" in TEXT
True
"""

TEXT = """
; How many bytes the elements of an array take.
define internal i64 @bytes_of(ptr %head, ptr %descr, i64 %rank, ptr %dims) {
entry:
  %size_at = i64 at %head[size_at]
  %size_p = getelementptr i8, ptr %descr, i64 %size_at
  %size = load i32, ptr %size_p
  %item = zext i32 %size to i64
  br label %next
next:
  %i = phi i64 [0, %entry], [%i1, %dim]
  %bytes = phi i64 [%item, %entry], [%product, %dim]
  %more = icmp slt i64 %i, %rank
  br i1 %more, label %dim, label %end
dim:
  %d = i64 at %dims[%i]
  %product = mul i64 %bytes, %d
  %i1 = add i64 %i, 1
  br label %next
end:
  ret i64 %bytes
}

; A fresh array; a large one begins where a line of the cache does. Null: there is no room for it.
define internal ptr @array(ptr %head, ptr %descr, i64 %rank, ptr %dims) {
entry:
  %bytes = call i64 @bytes_of(ptr %head, ptr %descr, i64 %rank, ptr %dims)
  %large = icmp sge i64 %bytes, LARGE_ARRAY
  br i1 %large, label %look, label %small
small:
  %plain = call ptr @array_in(ptr %head, ptr %descr, i64 %rank, ptr %dims, ptr null)
  ret ptr %plain
look:
  %asked_from = i64 at %head[asked_from]
  %huge = icmp sgt i64 %bytes, %asked_from
  br i1 %huge, label %ask, label %spacious
ask:
  %fits = call i1 @fits(ptr %head, i64 %bytes)
  br i1 %fits, label %spacious, label %no
no:
  ret ptr null
spacious:
  %a = call ptr @aligned(ptr %head, ptr %descr, i64 %rank, ptr %dims, i64 %bytes)
  ret ptr %a
}

; Whether so many bytes are free, as Python finds it.
define internal i1 @fits(ptr %head, i64 %bytes) {
entry:
  %function = ptr at %head[fits]
  %given = call ptr @PyTuple_New(i64 1)
  %none = icmp eq ptr %given, null
  br i1 %none, label %no, label %fill
no:
  ret i1 false
fill:
  %number = call ptr @PyLong_FromSsize_t(i64 %bytes)
  %given[FIRST_ITEM] := ptr %number
  %lost = icmp eq ptr %number, null
  br i1 %lost, label %drop, label %ask
ask:
  %answer = call i1 @answered(ptr %head, ptr %function, ptr %given)
  br label %drop
drop:
  %fits = phi i1 [false, %fill], [%answer, %ask]
  call void @Py_DecRef(ptr %given)
  ret i1 %fits
}

; Whether what Python answers is True.
define internal i1 @answered(ptr %head, ptr %function, ptr %given) {
entry:
  %true = ptr at %head[true]
  %answer = call ptr @PyObject_Call(ptr %function, ptr %given, ptr null)
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %no, label %look
no:
  ret i1 false
look:
  %is = icmp eq ptr %answer, %true
  call void @Py_DecRef(ptr %answer)
  ret i1 %is
}

; An array in memory that is given, or, where that is null, in memory of its own.
define internal ptr @array_in(ptr %head, ptr %descr, i64 %rank, ptr %dims, ptr %memory) {
  call void @Py_IncRef(ptr %descr)
  %new = ptr at %head[new_array]
  %type = ptr at %head[array_type]
  %rank32 = trunc i64 %rank to i32
  %own = icmp eq ptr %memory, null
  %flags = select i1 %own, i32 0, i32 CARRAY
  %a = call ptr %new(ptr %type, ptr %descr, i32 %rank32, ptr %dims, ptr null, ptr %memory, i32 %flags, ptr null)
  ret ptr %a
}

; An array in the memory of an array of bytes that is a little larger, and goes with it.
define internal ptr @aligned(ptr %head, ptr %descr, i64 %rank, ptr %dims, i64 %bytes) {
entry:
  %count = alloca i64
  %room = add i64 %bytes, CACHE_LINE
  store i64 %room, ptr %count
  %byte = ptr at %head[byte_descr]
  %base = call ptr @array_in(ptr %head, ptr %byte, i64 1, ptr %count, ptr null)
  %none = icmp eq ptr %base, null
  br i1 %none, label %no, label %inside
inside:
  %begin = i64 at %base[2]
  %behind = add i64 %begin, CACHE_LINE
  %rest = urem i64 %begin, CACHE_LINE
  %line = sub i64 %behind, %rest
  %memory = inttoptr i64 %line to ptr
  %a = call ptr @array_in(ptr %head, ptr %descr, i64 %rank, ptr %dims, ptr %memory)
  %lost = icmp eq ptr %a, null
  br i1 %lost, label %back, label %own
back:
  call void @Py_DecRef(ptr %base)
  br label %no
no:
  ret ptr null
own:
  %set_base = ptr at %head[set_base]
  %failed = call i32 %set_base(ptr %a, ptr %base)
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
"""
