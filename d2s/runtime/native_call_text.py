"""The native text of `native_call` that calls CPython; what is plain arithmetic is in `native_call_functions`.

In: nothing. Out: TEXT, LLVM IR with the shorthands of `native_text`. Names in brackets are words of a head: see CALL there.
What becomes of a run's results is in `native_results`.

>>> "define ptr @call" in TEXT
True
"""

from d2s.runtime import executor
from d2s.runtime.growing import MEMORY

TEXT = """
; METH_O: call(inputs) -> Tensor, or a tuple of Tensors, or None: not for us, and each head's `reason` says why.
define ptr @call(ptr %self, ptr %inputs) {
entry:
  %first = ptr at %self[2]
  br label %next
next:
  %head = phi ptr [%first, %entry], [%following, %go_on]
  %answer = call ptr @served(ptr %head, ptr %inputs)
  %none = icmp eq ptr %answer, null
  br i1 %none, label %other, label %end
end:
  ret ptr %answer
other:
  %following = ptr at %head[following]
  %last = icmp eq ptr %following, null
  br i1 %last, label %decline, label %ask
ask:
  %error = call ptr @PyErr_Occurred()
  %quiet = icmp eq ptr %error, null
  br i1 %quiet, label %go_on, label %decline
go_on:
  br label %next
decline:
  %declined = call ptr @declined(ptr %first)
  ret ptr %declined
}

; What one plan's head makes of a call; null: nothing.
define internal ptr @served(ptr %head, ptr %inputs) {
entry:
  %count = i64 at %head[inputs]
  %length = i64 at %inputs[2]
  %frame = ptr at %head[free]
  %right = icmp eq i64 %length, %count
  %none_free = icmp eq ptr %frame, null
  %why = zext i1 %none_free to i64
  %head[reason] := i64 %why
  %can = xor i1 %none_free, true
  %look = and i1 %right, %can
  br i1 %look, label %take, label %no
no:
  ret ptr null
take:
  %following = ptr at %frame[0]
  %head[free] := ptr %following
  %items = getelementptr i64, ptr %inputs, i64 FIRST_ITEM
  %fits = call i1 @taken(ptr %head, ptr %frame, ptr %items)
  br i1 %fits, label %output, label %back
back:
  call void @let_go(ptr %head, ptr %frame)
  ret ptr null
output:
  %arrays = getelementptr i64, ptr %frame, i64 3
  %placed = call i1 @placed(ptr %head, ptr %frame)
  br i1 %placed, label %run, label %undo
undo:
  call void @release(ptr %arrays, i64 %count)
  br label %back
run:
  %done = call i1 @ran(ptr %head, ptr %frame)
  br i1 %done, label %rest, label %drop
rest:
  %whole = call i1 @copied(ptr %head, ptr %frame)
  br i1 %whole, label %look_for_one, label %drop
look_for_one:
  %told = i64 at %head[same]
  %all_apart = icmp eq i64 %told, 0
  br i1 %all_apart, label %settle, label %ask
ask:
  %number = sub i64 %told, 1
  %given = call ptr @results(ptr %head, ptr %frame)
  %says = ptr at %given[%number]
  %data = ptr at %says[2]
  %byte = load i8, ptr %data
  %one = icmp ne i8 %byte, 0
  br i1 %one, label %drop, label %settle
settle:
  %settled = call i1 @settled(ptr %head, ptr %frame)
  br i1 %settled, label %finish, label %drop
drop:
  %error = call ptr @PyErr_Occurred()
  %quiet = icmp eq ptr %error, null
  br i1 %quiet, label %tidy, label %tidy_apart
tidy:
  %tidied = call i1 @settled(ptr %head, ptr %frame)
  br label %dropped
tidy_apart:
  %class = alloca ptr
  %raised = alloca ptr
  %trace = alloca ptr
  call void @PyErr_Fetch(ptr %class, ptr %raised, ptr %trace)
  %tidied_apart = call i1 @settled(ptr %head, ptr %frame)
  %the_class = load ptr, ptr %class
  %the_raised = load ptr, ptr %raised
  %the_trace = load ptr, ptr %trace
  call void @PyErr_Restore(ptr %the_class, ptr %the_raised, ptr %the_trace)
  br label %dropped
dropped:
  %made = i64 at %head[outputs]
  %results = call ptr @results(ptr %head, ptr %frame)
  call void @release(ptr %results, i64 %made)
  br label %undo
finish:
  %found = call ptr @found(ptr %head, ptr %frame, ptr %items)
  call void @let_go(ptr %head, ptr %frame)
  ret ptr %found
}

; A frame that none uses now.
define internal void @let_go(ptr %head, ptr %frame) {
  %first = ptr at %head[free]
  %frame[0] := ptr %first
  %head[free] := ptr %frame
  ret void
}

; Where a frame has the outputs' arrays.
define internal ptr @results(ptr %head, ptr %frame) alwaysinline {
  %count = i64 at %head[inputs]
  %twice = shl i64 %count, 1
  %behind = add i64 %twice, 3
  %results = getelementptr i64, ptr %frame, i64 %behind
  ret ptr %results
}

; Where a frame has its registers.
define internal ptr @registers(ptr %head, ptr %frame) alwaysinline {
  %results = call ptr @results(ptr %head, ptr %frame)
  %made = i64 at %head[outputs]
  %registers = getelementptr i64, ptr %results, i64 %made
  ret ptr %registers
}

; Whether the plan takes these inputs, where there is a tape as it should be; then their arrays are shared.
define internal i1 @taken(ptr %head, ptr %frame, ptr %items) {
entry:
  %bind = ptr at %head[bind]
  %on_tape = i64 at %head[on_tape]
  %state = call i64 %bind(ptr %head, ptr %frame, ptr %items)
  %fits = icmp sge i64 %state, 0
  br i1 %fits, label %bound, label %no
no:
  ret i1 false
bound:
  %wants = icmp ne i64 %state, 0
  br i1 %wants, label %ask, label %keep
ask:
  %mode = ptr at %head[mode]
  %name = ptr at %head[recording]
  %false = ptr at %head[false]
  %on = call ptr @PyObject_GetAttr(ptr %mode, ptr %name)
  %no_mode = icmp eq ptr %on, null
  br i1 %no_mode, label %no, label %asked
asked:
  call void @Py_DecRef(ptr %on)
  %is_on = icmp ne ptr %on, %false
  %should = icmp ne i64 %on_tape, 0
  %alike = icmp eq i1 %is_on, %should
  br i1 %alike, label %keep, label %no
keep:
  %count = i64 at %head[inputs]
  %arrays = getelementptr i64, ptr %frame, i64 3
  br label %next
next:
  %i = phi i64 [0, %keep], [%i1, %share]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %share, label %yes
share:
  %own = ptr at %arrays[%i]
  call void @Py_IncRef(ptr %own)
  %i1 = add i64 %i, 1
  br label %next
yes:
  ret i1 true
}

; The array of an output whose extents are known; null where there is no memory.
define internal ptr @fresh(ptr %head, ptr %registers, ptr %row) {
entry:
  %dims = alloca [32 x i64]
  %extents_of = ptr at %head[extents_of]
  %possible = call i64 %extents_of(ptr %registers, ptr %row, ptr %dims)
  %too_large = icmp eq i64 %possible, 0
  br i1 %too_large, label %no, label %allocate
no:
  ret ptr null
allocate:
  %descr = ptr at %row[2]
  %rank = i64 at %row[3]
  %out = call ptr @array(ptr %head, ptr %descr, i64 %rank, ptr %dims)
  ret ptr %out
}

; Allocates the outputs but for those that only a run knows the extents of; false, and nothing is, where there is no memory.
define internal i1 @placed(ptr %head, ptr %frame) {
entry:
  %made = i64 at %head[outputs]
  %first = ptr at %head[made]
  %results = call ptr @results(ptr %head, ptr %frame)
  %registers = call ptr @registers(ptr %head, ptr %frame)
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %go_on]
  %row = phi ptr [%first, %entry], [%row1, %go_on]
  %more = icmp slt i64 %k, %made
  br i1 %more, label %allocate, label %yes
allocate:
  %register = i64 at %row[0]
  %later = icmp slt i64 %register, 0
  br i1 %later, label %go_on, label %now
now:
  %out = call ptr @fresh(ptr %head, ptr %registers, ptr %row)
  %no_out = icmp eq ptr %out, null
  br i1 %no_out, label %no, label %place
place:
  %data = i64 at %out[2]
  %registers[%register] := i64 %data
  br label %go_on
go_on:
  %kept = phi ptr [null, %allocate], [%out, %place]
  %results[%k] := ptr %kept
  %k1 = add i64 %k, 1
  %row1 = call ptr @row_behind(ptr %row)
  br label %next
no:
  call void @release(ptr %results, i64 %k)
  ret i1 false
yes:
  ret i1 true
}

; Allocates the output that a step in the midst of a run asks for.
define internal i1 @placed_now(ptr %head, ptr %frame, i64 %pc) {
entry:
  %first = ptr at %head[made]
  %steps = ptr at %head[steps]
  %results = call ptr @results(ptr %head, ptr %frame)
  %registers = call ptr @registers(ptr %head, ptr %frame)
  %words = shl i64 %pc, 2
  %step = getelementptr i64, ptr %steps, i64 %words
  %register = i64 at %step[1]
  %number = i64 at %step[2]
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %pass]
  %row = phi ptr [%first, %entry], [%row1, %pass]
  %there = icmp eq i64 %k, %number
  br i1 %there, label %allocate, label %pass
pass:
  %k1 = add i64 %k, 1
  %row1 = call ptr @row_behind(ptr %row)
  br label %next
allocate:
  %out = call ptr @fresh(ptr %head, ptr %registers, ptr %row)
  %no_out = icmp eq ptr %out, null
  br i1 %no_out, label %no, label %place
place:
  %data = i64 at %out[2]
  %registers[%register] := i64 %data
  %results[%number] := ptr %out
  ret i1 true
no:
  ret i1 false
}

; Behind a run, copies of what grew in it: of what lies on the stack whose register is minus that of the row.
define internal i1 @copied(ptr %head, ptr %frame) {
entry:
  %made = i64 at %head[outputs]
  %first = ptr at %head[made]
  %results = call ptr @results(ptr %head, ptr %frame)
  %registers = call ptr @registers(ptr %head, ptr %frame)
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %go_on]
  %row = phi ptr [%first, %entry], [%row1, %go_on]
  %more = icmp slt i64 %k, %made
  br i1 %more, label %look, label %yes
look:
  %have = ptr at %results[%k]
  %missing = icmp eq ptr %have, null
  br i1 %missing, label %allocate, label %go_on
allocate:
  %out = call ptr @fresh(ptr %head, ptr %registers, ptr %row)
  %no_out = icmp eq ptr %out, null
  br i1 %no_out, label %no, label %copy
copy:
  %minus = i64 at %row[0]
  %stack = sub i64 0, %minus
  %used = add i64 %stack, 1
  %from = ptr at %registers[%stack]
  %bytes = i64 at %registers[%used]
  %to = ptr at %out[2]
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  %results[%k] := ptr %out
  br label %go_on
go_on:
  %k1 = add i64 %k, 1
  %row1 = call ptr @row_behind(ptr %row)
  br label %next
no:
  ret i1 false
yes:
  ret i1 true
}

define internal ptr @row_behind(ptr %row) alwaysinline {
  %axes = i64 at %row[3]
  %words = add i64 %axes, 5
  %behind = getelementptr i64, ptr %row, i64 %words
  ret ptr %behind
}

; Where a frame has what its memory is asked by: the arguments, and where the run stopped that asked last; 0: none has.
define internal ptr @asks(ptr %head, ptr %frame) alwaysinline {
  %registers = call ptr @registers(ptr %head, ptr %frame)
  %stacks_at = i64 at %head[stacks_at]
  %behind = add i64 %stacks_at, 2
  %asks = getelementptr i64, ptr %registers, i64 %behind
  ret ptr %asks
}

; Behind a run that had more memory than its frame: has Python make that the frame's.
define internal i1 @settled(ptr %head, ptr %frame) {
entry:
  %asks = call ptr @asks(ptr %head, ptr %frame)
  %stopped = i64 at %asks[1]
  %as_it_was = icmp eq i64 %stopped, 0
  br i1 %as_it_was, label %yes, label %ask
yes:
  ret i1 true
ask:
  %settle = ptr at %head[settle]
  %given = ptr at %asks[0]
  %answer = call i1 @answered(ptr %head, ptr %settle, ptr %given)
  ret i1 %answer
}

; Runs the plan; false: it needs Python, or Ctrl-C was pressed.
define internal i1 @ran(ptr %head, ptr %frame) {
entry:
  %execute = ptr at %head[execute]
  %steps = i64 at %head[steps]
  %operands = i64 at %head[operand_table]
  %releases = i64 at %head[releases]
  %is_long = icmp ne i64 %releases, 0
  %registers = call ptr @registers(ptr %head, ptr %frame)
  br label %run
run:
  %pc = phi i64 [0, %entry], [%again, %signals], [%behind, %has_place], [%at, %has_more]
  br i1 %is_long, label %apart, label %here
here:
  %end_here = call i64 %execute(i64 %steps, i64 %operands, ptr %registers, i64 %pc)
  br label %stopped
apart:
  %thread = call ptr @PyEval_SaveThread()
  %end_apart = call i64 %execute(i64 %steps, i64 %operands, ptr %registers, i64 %pc)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %stopped
stopped:
  %end = phi i64 [%end_here, %here], [%end_apart, %apart]
  %is_done = icmp eq i64 %end, -1
  br i1 %is_done, label %yes, label %paused
yes:
  ret i1 true
paused:
  %yields = and i64 %end, YIELD_BIT
  %looks = icmp ne i64 %yields, 0
  br i1 %looks, label %signals, label %is_asked
signals:
  %again = xor i64 %end, YIELD_BIT
  %raised = call i32 @PyErr_CheckSignals()
  %quiet = icmp eq i32 %raised, 0
  br i1 %quiet, label %run, label %no
is_asked:
  %wanted = and i64 %end, PLACE_BIT
  %asks = icmp ne i64 %wanted, 0
  br i1 %asks, label %place, label %needs_python
place:
  %step = xor i64 %end, PLACE_BIT
  %behind = add i64 %step, 1
  %is_placed = call i1 @placed_now(ptr %head, ptr %frame, i64 %step)
  br i1 %is_placed, label %has_place, label %no
has_place:
  br label %run
needs_python:
  %memory = and i64 %end, MEMORY_BITS
  %wants_more = icmp ne i64 %memory, 0
  br i1 %wants_more, label %grow, label %no
grow:
  %more = ptr at %head[more]
  %asks_at = call ptr @asks(ptr %head, ptr %frame)
  %asks_at[1] := i64 %end
  %asking = ptr at %asks_at[0]
  %grown = call i1 @answered(ptr %head, ptr %more, ptr %asking)
  br i1 %grown, label %has_more, label %no
has_more:
  %at = xor i64 %end, %memory
  br label %run
no:
  ret i1 false
}
""".replace("YIELD_BIT", str(executor.YIELD)).replace("MEMORY_BITS", str(MEMORY))
TEXT = TEXT.replace("PLACE_BIT", str(executor.PLACE))
