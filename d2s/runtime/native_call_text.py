"""The native text of `native_call`: what is plain arithmetic as native functions, what calls CPython as LLVM IR.

In: nothing. Out: FUNCTIONS, in the small part of Python that `native_functions` knows, and TEXT, with the shorthands of
`native_text`. Names in brackets are words of a head: see CALL there.

>>> "def came_out" in FUNCTIONS, "define ptr @call" in TEXT
(True, True)
"""

from d2s.runtime import executor

FUNCTIONS = '''
@native
def bind(head, frame, items):
    """The registers of a call. -1: an argument is not what the plan takes; 1: one wants a gradient."""
    h, f, x = i64(head), i64(frame), i64(items)
    count, row, wants = h[inputs], h[rows], 0
    r = i64(frame + (3 + 2 * count + h[outputs]) * 8)
    r[0], r[1] = f[1], f[2]
    for k in range(count):
        told, tensor = i64(row), i64(x[k])
        register, axes = told[1], told[2]
        f[3 + k] = 0
        if tensor[1] != told[0]:
            return 0 - 1
        if axes < 0:
            f[3 + count + k] = tensor[2]
            r[register] = frame + (3 + count + k) * 8
            row = row + 32
        else:
            place = i64(x[k] + h[array_at])[0]
            if place == 0:
                return 0 - 1
            array, flags = i64(place), i32(place + 64)[0]
            if array[1] != h[array_type] or flags % 2 == 0 or flags // 256 % 2 == 0:
                return 0 - 1
            if i64(array[7] + 24)[0] != told[3] or i32(place + 24)[0] != axes:
                return 0 - 1
            extents, row = i64(array[4]), row + 32
            for axis in range(axes):
                wanted = i64(row)[axis]
                if wanted >= 0:
                    if extents[axis] != wanted:
                        return 0 - 1
                else:
                    kept = (0 - wanted) // 2
                    if (0 - wanted) % 2 == 1:
                        r[kept] = extents[axis]
                        if extents[axis] == 1:
                            return 0 - 1
                    if r[kept] != extents[axis]:
                        return 0 - 1
            stop = i64(x[k] + h[stop_at])[0]
            if stop != h[true]:
                wants = 1
                if stop != h[false]:
                    return 0 - 1
            f[3 + k] = place
            r[register] = array[2]
            row = row + axes * 8
    return wants


@native
def extents_of(registers, row, to):
    """The extents of an output; 0 if it is larger than memory may be."""
    r, told, dims, size = i64(registers), i64(row), i64(to), 1
    for axis in range(told[3]):
        d = told[4 + axis]
        if d < 0:
            d = r[0 - d]
        if d > 0 and size > largest // d:
            return 0
        size = size * d
        dims[axis] = d
    return 1


@native
def came_out(head, frame, row):
    """Which input came out as it went in at an output; -1: none, or more than one."""
    h, f, told = i64(head), i64(frame), i64(row)
    count, found = h[inputs], 0 - 1
    r = i64(frame + (3 + 2 * count + h[outputs]) * 8)
    if told[0] == told[1]:
        return 0 - 1
    for k in range(count):
        if f[3 + k] != 0 and i64(f[3 + k])[2] == r[told[1]]:
            if found >= 0:
                return 0 - 1
            found = k
    return found
'''
TEXT = """
; METH_O: call(inputs) -> Tensor, or a tuple of Tensors, or None: not for us, and `reason` says why.
define ptr @call(ptr %self, ptr %inputs) {
entry:
  %dims = alloca [32 x i64]
  %head = ptr at %self[2]
  %count = i64 at %head[inputs]
  %made = i64 at %head[outputs]
  %row0 = ptr at %head[made]
  %head[reason] := i64 0
  %length = i64 at %inputs[2]
  %right = icmp eq i64 %length, %count
  br i1 %right, label %look, label %decline
look:
  %frame = ptr at %head[free]
  %none_free = icmp eq ptr %frame, null
  br i1 %none_free, label %no_frame, label %take
no_frame:
  %head[reason] := i64 1
  br label %decline
decline:
  %answer = call ptr @declined(ptr %head)
  ret ptr %answer
take:
  %following = ptr at %frame[0]
  %head[free] := ptr %following
  %items = getelementptr i64, ptr %inputs, i64 FIRST_ITEM
  %arrays = getelementptr i64, ptr %frame, i64 3
  %twice = shl i64 %count, 1
  %results = getelementptr i64, ptr %arrays, i64 %twice
  %registers = getelementptr i64, ptr %results, i64 %made
  %bind = ptr at %head[bind]
  %state = call i64 %bind(ptr %head, ptr %frame, ptr %items)
  %fits = icmp sge i64 %state, 0
  br i1 %fits, label %bound, label %give_back
give_back:
  call void @let_go(ptr %head, ptr %frame)
  br label %decline
bound:
  %wants = icmp ne i64 %state, 0
  br i1 %wants, label %ask, label %output
ask:
  %mode = ptr at %head[mode]
  %name = ptr at %head[recording]
  %false = ptr at %head[false]
  %on = call ptr @PyObject_GetAttr(ptr %mode, ptr %name)
  %no_mode = icmp eq ptr %on, null
  br i1 %no_mode, label %give_back, label %asked
asked:
  call void @Py_DecRef(ptr %on)
  %off = icmp eq ptr %on, %false
  br i1 %off, label %output, label %give_back
output:
  %k = phi i64 [0, %bound], [0, %asked], [%k1, %place]
  %row = phi ptr [%row0, %bound], [%row0, %asked], [%row1, %place]
  %more = icmp slt i64 %k, %made
  br i1 %more, label %allocate, label %keep
allocate:
  %extents_of = ptr at %head[extents_of]
  %possible = call i64 %extents_of(ptr %registers, ptr %row, ptr %dims)
  %too_large = icmp eq i64 %possible, 0
  br i1 %too_large, label %undo, label %fresh
fresh:
  %descr = ptr at %row[2]
  %rank = i64 at %row[3]
  %out = call ptr @array(ptr %head, ptr %descr, i64 %rank, ptr %dims)
  %no_out = icmp eq ptr %out, null
  br i1 %no_out, label %undo, label %place
place:
  %register = i64 at %row[0]
  %data = i64 at %out[2]
  %registers[%register] := i64 %data
  %results[%k] := ptr %out
  %k1 = add i64 %k, 1
  %wide = add i64 %rank, 4
  %row1 = getelementptr i64, ptr %row, i64 %wide
  br label %output
undo:
  %so_far = phi i64 [%k, %allocate], [%k, %fresh], [%made, %stopped]
  call void @release(ptr %results, i64 %so_far)
  br label %give_back
keep:
  %i = phi i64 [0, %output], [%i1, %share]
  %another = icmp slt i64 %i, %count
  br i1 %another, label %share, label %run
share:
  %own = ptr at %arrays[%i]
  call void @Py_IncRef(ptr %own)
  %i1 = add i64 %i, 1
  br label %keep
run:
  %pc = phi i64 [0, %keep], [%again, %go_on]
  %execute = ptr at %head[execute]
  %steps = i64 at %head[steps]
  %operands = i64 at %head[operand_table]
  %releases = i64 at %head[releases]
  %is_long = icmp ne i64 %releases, 0
  br i1 %is_long, label %apart, label %here
here:
  %end_here = call i64 %execute(i64 %steps, i64 %operands, ptr %registers, i64 %pc)
  br label %ran
apart:
  %thread = call ptr @PyEval_SaveThread()
  %end_apart = call i64 %execute(i64 %steps, i64 %operands, ptr %registers, i64 %pc)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %ran
ran:
  %end = phi i64 [%end_here, %here], [%end_apart, %apart]
  %is_done = icmp eq i64 %end, -1
  br i1 %is_done, label %done, label %paused
paused:
  %yields = and i64 %end, YIELD_BIT
  %looks = icmp ne i64 %yields, 0
  br i1 %looks, label %signals, label %needs_python
signals:
  %again = xor i64 %end, YIELD_BIT
  %raised = call i32 @PyErr_CheckSignals()
  %quiet = icmp eq i32 %raised, 0
  br i1 %quiet, label %go_on, label %stopped
go_on:
  br label %run
needs_python:
  %no_room = and i64 %end, FULL_BIT
  %full = icmp ne i64 %no_room, 0
  %why = select i1 %full, i64 2, i64 0
  %head[reason] := i64 %why
  br label %stopped
stopped:
  call void @release(ptr %arrays, i64 %count)
  br label %undo
done:
  %single = icmp eq i64 %made, 1
  br i1 %single, label %one, label %several
one:
  %only_array = ptr at %results[0]
  %only = call ptr @came(ptr %head, ptr %frame, ptr %items, ptr %row0, ptr %only_array)
  br label %leave
several:
  %tuple = call ptr @PyTuple_New(i64 %made)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %stopped, label %next
next:
  %n = phi i64 [0, %several], [%n1, %item]
  %from = phi ptr [%row0, %several], [%from1, %item]
  %left = icmp slt i64 %n, %made
  br i1 %left, label %item, label %leave
item:
  %array = ptr at %results[%n]
  %tensor = call ptr @came(ptr %head, ptr %frame, ptr %items, ptr %from, ptr %array)
  %slot = add i64 %n, FIRST_ITEM
  %tuple[%slot] := ptr %tensor
  %axes = i64 at %from[3]
  %words = add i64 %axes, 4
  %from1 = getelementptr i64, ptr %from, i64 %words
  %n1 = add i64 %n, 1
  br label %next
leave:
  %result = phi ptr [%only, %one], [%tuple, %next]
  call void @release(ptr %arrays, i64 %count)
  call void @let_go(ptr %head, ptr %frame)
  ret ptr %result
}

; A frame that none uses now.
define internal void @let_go(ptr %head, ptr %frame) {
  %first = ptr at %head[free]
  %frame[0] := ptr %first
  %head[free] := ptr %frame
  ret void
}

; An output's tensor: that of the input that came out here as it went in, or a new one, which takes over the array.
define internal ptr @came(ptr %head, ptr %frame, ptr %items, ptr %row, ptr %array) {
entry:
  %came_out = ptr at %head[came_out]
  %k = call i64 %came_out(ptr %head, ptr %frame, ptr %row)
  %new = icmp slt i64 %k, 0
  br i1 %new, label %fresh, label %same
fresh:
  %t = call ptr @tensor(ptr %head, ptr %array, ptr null)
  ret ptr %t
same:
  %x = ptr at %items[%k]
  call void @Py_IncRef(ptr %x)
  call void @Py_DecRef(ptr %array)
  ret ptr %x
}
""".replace("YIELD_BIT", str(executor.YIELD)).replace("FULL_BIT", str(executor.FULL))
