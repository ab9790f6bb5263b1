"""What native text does for the tape: a node for a call, its edges, and where the user's code stands.

In: nothing. Out: TEXT, functions in LLVM IR with the shorthands of `native_text`.

>>> "define internal ptr @edge" in TEXT
True
"""

TEXT = """
; Where the cotangent of an argument goes: nowhere (None; so do those of numbers and arrays), to the leaf itself, or to the node
; that made it.
define internal ptr @edge(ptr %head, ptr %x) alwaysinline {
entry:
  %none = ptr at %head[none]
  %type = ptr at %x[1]
  %float = ptr at %head[float_type]
  %int = ptr at %head[int_type]
  %is_float = icmp eq ptr %type, %float
  %is_int = icmp eq ptr %type, %int
  %array = ptr at %head[array_type]
  %is_array = icmp eq ptr %type, %array
  %true = ptr at %head[true]
  %false = ptr at %head[false]
  %is_true = icmp eq ptr %x, %true
  %is_false = icmp eq ptr %x, %false
  %is_bool = or i1 %is_true, %is_false
  %is_number = or i1 %is_float, %is_int
  %is_plain = or i1 %is_number, %is_bool
  %is_other = or i1 %is_plain, %is_array
  br i1 %is_other, label %end, label %tensor
tensor:
  %stop_at = i64 at %head[stop_at]
  %node_at = i64 at %head[node_at]
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

; A new node of the tape, of the head's template: it knows its tick and where the user's code stands. Null: no memory.
define internal ptr @begun(ptr %head) {
entry:
  %offset = alloca i64
  %template = ptr at %head[node_template]
  %n = call ptr @made(ptr %template)
  %failed = icmp eq ptr %n, null
  br i1 %failed, label %end, label %fill
fill:
  %counter = ptr at %head[order]
  %order_at = i64 at %head[order_at]
  %code_at = i64 at %head[code_at]
  %at_at = i64 at %head[at_at]
  %order = call ptr @PyIter_Next(ptr %counter)
  %code = call ptr @place(ptr %head, ptr %offset)
  %bytes = load i64, ptr %offset
  %at = call ptr @PyLong_FromSsize_t(i64 %bytes)
  call void @put(ptr %n, i64 %order_at, ptr %order)
  call void @put_shared(ptr %n, i64 %code_at, ptr %code)
  call void @put(ptr %n, i64 %at_at, ptr %at)
  br label %end
end:
  ret ptr %n
}

; Gives a node its edges and, at an offset, a tuple of objects that it takes over. False: no memory.
define internal i1 @filled(ptr %head, ptr %n, ptr %inputs, i64 %count, i64 %offset, ptr %objects, i64 %size) {
entry:
  %edges_at = i64 at %head[edges_at]
  %edges = call ptr @PyTuple_New(i64 %count)
  %saved = call ptr @packed(ptr %objects, i64 %size)
  %no_edges = icmp eq ptr %edges, null
  %no_saved = icmp eq ptr %saved, null
  %failed = or i1 %no_edges, %no_saved
  br i1 %failed, label %no, label %fill
no:
  ret i1 false
fill:
  call void @put(ptr %n, i64 %edges_at, ptr %edges)
  call void @put(ptr %n, i64 %offset, ptr %saved)
  br label %next
next:
  %i = phi i64 [0, %fill], [%i1, %item]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %item, label %end
item:
  %slot = add i64 %i, FIRST_ITEM
  %x = ptr at %inputs[%i]
  %edge = call ptr @edge(ptr %head, ptr %x)
  call void @Py_IncRef(ptr %edge)
  %edges[%slot] := ptr %edge
  %i1 = add i64 %i, 1
  br label %next
end:
  ret i1 true
}

; A tuple of objects, which it takes over.
define internal ptr @packed(ptr %objects, i64 %count) {
entry:
  %tuple = call ptr @PyTuple_New(i64 %count)
  %failed = icmp eq ptr %tuple, null
  br i1 %failed, label %end, label %next
next:
  %i = phi i64 [0, %entry], [%i1, %item]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %item, label %end
item:
  %slot = add i64 %i, FIRST_ITEM
  %object = ptr at %objects[%i]
  %tuple[%slot] := ptr %object
  %i1 = add i64 %i, 1
  br label %next
end:
  ret ptr %tuple
}
"""
