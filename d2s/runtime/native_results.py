"""What becomes of the outputs of a native call: tensors, and the tape's node where there is a tape.

In: nothing. Out: TEXT and HISTORY, functions in LLVM IR with the shorthands of `native_text`, parts of that of `native_call`.

>>> "define internal ptr @found" in TEXT
True
"""

TEXT = """
; What a run gives: a tensor, or a tuple of them. Takes over what the frame has of arrays.
define internal ptr @found(ptr %head, ptr %frame, ptr %items) {
entry:
  %on_tape = i64 at %head[on_tape]
  %count = i64 at %head[inputs]
  %made = i64 at %head[outputs]
  %returned = i64 at %head[returned]
  %row0 = ptr at %head[made]
  %arrays = getelementptr i64, ptr %frame, i64 3
  %results = call ptr @results(ptr %head, ptr %frame)
  %records = icmp ne i64 %on_tape, 0
  br i1 %records, label %record, label %tensors
record:
  %new = call ptr @recorded(ptr %head, ptr %frame, ptr %items)
  %no_node = icmp eq ptr %new, null
  br i1 %no_node, label %failed, label %tensors
failed:
  ret ptr null
tensors:
  %node = phi ptr [null, %entry], [%new, %record]
  %single = icmp eq i64 %returned, 1
  br i1 %single, label %one, label %several
one:
  %only_array = ptr at %results[0]
  %only_node = call ptr @reached(ptr %head, ptr %results, i64 0, ptr %node)
  %only = call ptr @given(ptr %head, ptr %frame, ptr %items, ptr %row0, ptr %only_array, ptr %only_node)
  br label %leave
several:
  %tuple = call ptr @PyTuple_New(i64 %returned)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %failed, label %next
next:
  %n = phi i64 [0, %several], [%n1, %item]
  %row = phi ptr [%row0, %several], [%row1, %item]
  %left = icmp slt i64 %n, %returned
  br i1 %left, label %item, label %leave
item:
  %array = ptr at %results[%n]
  %its_node = call ptr @reached(ptr %head, ptr %results, i64 %n, ptr %node)
  %tensor = call ptr @given(ptr %head, ptr %frame, ptr %items, ptr %row, ptr %array, ptr %its_node)
  %slot = add i64 %n, FIRST_ITEM
  %tuple[%slot] := ptr %tensor
  %row1 = call ptr @row_behind(ptr %row)
  %n1 = add i64 %n, 1
  br label %next
leave:
  %result = phi ptr [%only, %one], [%tuple, %next]
  %kept = getelementptr i64, ptr %results, i64 %returned
  %rest = sub i64 %made, %returned
  call void @release(ptr %kept, i64 %rest)
  br i1 %records, label %on, label %off
on:
  call void @Py_DecRef(ptr %node)
  ret ptr %result
off:
  call void @release(ptr %arrays, i64 %count)
  ret ptr %result
}

; The node, where a result depends on something that wants a gradient on the path the run took.
define internal ptr @reached(ptr %head, ptr %results, i64 %n, ptr %node) {
entry:
  %taken = ptr at %head[taken]
  %none = icmp eq ptr %taken, null
  br i1 %none, label %same, label %look
look:
  %number = i64 at %taken[%n]
  %surely = icmp slt i64 %number, 0
  br i1 %surely, label %same, label %ask
same:
  ret ptr %node
ask:
  %array = ptr at %results[%number]
  %data = ptr at %array[2]
  %byte = load i8, ptr %data
  %not = icmp eq i8 %byte, 0
  %its = select i1 %not, ptr null, ptr %node
  ret ptr %its
}

; The tape's node of a run: it takes over the inputs' arrays, and shares those of the outputs.
define internal ptr @recorded(ptr %head, ptr %frame, ptr %items) {
entry:
  %count = i64 at %head[inputs]
  %made = i64 at %head[outputs]
  %row0 = ptr at %head[made]
  %came_out = ptr at %head[came_out]
  %arrays = getelementptr i64, ptr %frame, i64 3
  %results = call ptr @results(ptr %head, ptr %frame)
  %n = call ptr @begun(ptr %head)
  %failed = icmp eq ptr %n, null
  br i1 %failed, label %no, label %number
no:
  ret ptr null
number:
  %i = phi i64 [0, %entry], [%i1, %known]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %look, label %result
look:
  %own = ptr at %arrays[%i]
  %i1 = add i64 %i, 1
  %is_float = icmp eq ptr %own, null
  br i1 %is_float, label %float, label %known
float:
  %x = ptr at %items[%i]
  call void @Py_IncRef(ptr %x)
  %arrays[%i] := ptr %x
  br label %known
known:
  br label %number
result:
  %k = phi i64 [0, %number], [%k1, %share]
  %row = phi ptr [%row0, %number], [%row1, %share]
  %left = icmp slt i64 %k, %made
  br i1 %left, label %ask, label %fill
ask:
  %fresh = ptr at %results[%k]
  %in = call i64 %came_out(ptr %head, ptr %frame, ptr %row)
  %is_new = icmp slt i64 %in, 0
  br i1 %is_new, label %share, label %replace
replace:
  %same = ptr at %arrays[%in]
  call void @Py_IncRef(ptr %same)
  call void @Py_DecRef(ptr %fresh)
  %results[%k] := ptr %same
  br label %share
share:
  %array = phi ptr [%fresh, %ask], [%same, %replace]
  call void @Py_IncRef(ptr %array)
  %k1 = add i64 %k, 1
  %row1 = call ptr @row_behind(ptr %row)
  br label %result
fill:
  %results_at = i64 at %head[results_at]
  %arrays_at = i64 at %head[arrays_at]
  %kept = call ptr @packed(ptr %results, i64 %made)
  call void @put(ptr %n, i64 %results_at, ptr %kept)
  %no_kept = icmp eq ptr %kept, null
  %whole = call i1 @filled(ptr %head, ptr %n, ptr %items, i64 %count, i64 %arrays_at, ptr %arrays, i64 %count)
  %lost = xor i1 %whole, true
  %lacking = or i1 %no_kept, %lost
  %node = select i1 %lacking, ptr null, ptr %n
  ret ptr %node
}

; An output's tensor: that of the input that came out here as it went in, or a new one, which takes over the array.
define internal ptr @given(ptr %head, ptr %frame, ptr %items, ptr %row, ptr %array, ptr %node) {
entry:
  %came_out = ptr at %head[came_out]
  %k = call i64 %came_out(ptr %head, ptr %frame, ptr %row)
  %is_new = icmp slt i64 %k, 0
  br i1 %is_new, label %fresh, label %same
same:
  %x = ptr at %items[%k]
  %type = ptr at %x[1]
  %array_type = ptr at %head[array_type]
  call void @Py_IncRef(ptr %x)
  call void @Py_DecRef(ptr %array)
  %bare = icmp eq ptr %type, %array_type
  br i1 %bare, label %fresh, label %end
fresh:
  %held = phi ptr [%array, %entry], [%x, %same]
  %position = ptr at %row[4]
  %history = call ptr @history(ptr %head, ptr %node, ptr %position)
  %t = call ptr @tensor(ptr %head, ptr %held, ptr %history)
  br label %end
end:
  %tensor = phi ptr [%x, %same], [%t, %fresh]
  ret ptr %tensor
}
"""
HISTORY = """
; What a tensor remembers that is a node's result: nothing (0), the node itself (1), or else an object with both.
define internal ptr @history(ptr %head, ptr %node, ptr %position) {
entry:
  %told = ptrtoint ptr %position to i64
  %off_tape = icmp eq ptr %node, null
  %number = select i1 %off_tape, i64 0, i64 %told
  switch i64 %number, label %another [i64 0, label %none i64 1, label %first]
none:
  ret ptr null
first:
  call void @Py_IncRef(ptr %node)
  ret ptr %node
another:
  %template = ptr at %head[result_template]
  %node_at = i64 at %head[result_node_at]
  %position_at = i64 at %head[position_at]
  %r = call ptr @made(ptr %template)
  %failed = icmp eq ptr %r, null
  br i1 %failed, label %none, label %fill
fill:
  call void @put_shared(ptr %r, i64 %node_at, ptr %node)
  call void @put_shared(ptr %r, i64 %position_at, ptr %position)
  ret ptr %r
}
"""
