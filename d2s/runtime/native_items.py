"""The items of a list that a native call has found as one array, made tensors in native text.

In: an array with the items along its first axis, and the tape's node of the call, or None. Out: a tensor for each item, in
memory of its own; on the tape, item k is result `number + (k + 1) * several` of the node.

>>> from d2s.ops.dispatch import handlers
>>> classes, array = handlers.base.classes, np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
>>> classes is None or [t.tolist() for t in Items(classes).tensors(array)] == array.tolist()
True
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.runtime import native_objects, native_results
from d2s.runtime.native_launcher import Classes, builtin, layout, linked, offsets, template
from d2s.runtime.native_text import CALL, HEAD, whole

TEXT = """
; METH_O: apart((array, node or None)) -> a tuple of tensors, or of arrays.
define ptr @apart(ptr %self, ptr %given) {
entry:
  %head = ptr at %self[2]
  %items = getelementptr i64, ptr %given, i64 FIRST_ITEM
  %array = ptr at %items[0]
  %told = ptr at %items[1]
  %nothing = ptr at %head[none]
  %is_none = icmp eq ptr %told, %nothing
  %node = select i1 %is_none, ptr null, ptr %told
  %number = i64 at %head[inputs]
  %several = i64 at %head[outputs]
  %bare = i64 at %head[returned]
  %as_tensor = icmp eq i64 %bare, 0
  %data = i64 at %array[2]
  %axes_p = getelementptr i8, ptr %array, i64 24
  %axes32 = load i32, ptr %axes_p
  %axes = sext i32 %axes32 to i64
  %rank = sub i64 %axes, 1
  %dims = ptr at %array[4]
  %count = i64 at %dims[0]
  %inside = getelementptr i64, ptr %dims, i64 1
  %descr = ptr at %array[7]
  %bytes = call i64 @bytes_of(ptr %head, ptr %descr, i64 %rank, ptr %inside)
  %tuple = call ptr @PyTuple_New(i64 %count)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %no, label %next
no:
  ret ptr null
next:
  %k = phi i64 [0, %entry], [%k1, %done]
  %at = phi i64 [%data, %entry], [%behind, %done]
  %place = phi i64 [%number, %entry], [%position, %done]
  %position = add i64 %place, %several
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %end
end:
  ret ptr %tuple
one:
  %item = call ptr @array(ptr %head, ptr %descr, i64 %rank, ptr %inside)
  %no_item = icmp eq ptr %item, null
  br i1 %no_item, label %short, label %copy
short:
  %error = call ptr @PyErr_Occurred()
  %is_said = icmp ne ptr %error, null
  br i1 %is_said, label %lost, label %say
say:
  %said = call ptr @PyErr_NoMemory()
  br label %lost
copy:
  %to = ptr at %item[2]
  %from = inttoptr i64 %at to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  br i1 %as_tensor, label %whose, label %done
whose:
  %off_tape = icmp eq ptr %node, null
  br i1 %off_tape, label %make, label %taped
taped:
  %python = call ptr @PyLong_FromSsize_t(i64 %position)
  %no_python = icmp eq ptr %python, null
  br i1 %no_python, label %drop, label %known
known:
  %made = call ptr @history(ptr %head, ptr %node, ptr %python)
  call void @Py_DecRef(ptr %python)
  %no_made = icmp eq ptr %made, null
  br i1 %no_made, label %drop, label %make
make:
  %history = phi ptr [null, %whose], [%made, %known]
  %tensor = call ptr @tensor(ptr %head, ptr %item, ptr %history)
  %no_tensor = icmp eq ptr %tensor, null
  br i1 %no_tensor, label %drop, label %done
drop:
  call void @Py_DecRef(ptr %item)
  br label %lost
lost:
  call void @Py_DecRef(ptr %tuple)
  ret ptr null
done:
  %found = phi ptr [%item, %copy], [%tensor, %make]
  %slot = add i64 %k, FIRST_ITEM
  %tuple[%slot] := ptr %found
  %k1 = add i64 %k, 1
  %behind = add i64 %at, %bytes
  br label %next
}
"""


@functools.cache
def _address() -> int:
    return linked(whole(native_objects.TEXT, native_results.HISTORY, TEXT), ["apart"])["apart"]


class Items:
    """A list's native function; the list is result `number` of several of a node, if it is on the tape."""

    def __init__(self, classes: Classes, result: Any = None, number: int = 0, several: int = 1) -> None:
        """`result`: an example of what a tensor on the tape remembers."""
        words, templates = layout(classes)
        words |= {"inputs": number, "outputs": several}
        if result is not None:
            at = offsets(type(result))
            templates.append(template(result, at, ("node", "position")))
            words |= {"result_template": templates[-1].ctypes.data, "result_node_at": at["node"], "position_at": at["position"]}
        self.kept = classes, result, templates  # what the heads point at
        self._tensors, self._arrays = (_apart(words | {"returned": bare}) for bare in (0, 1))

    def tensors(self, items: np.ndarray, node: Any = None) -> list[Any]:
        """The items of an array in row-major order, as tensors; results of the node, if there is one."""
        return [*self._tensors((items, node))]

    def arrays(self, items: np.ndarray) -> tuple[np.ndarray, ...]:
        """The items as arrays."""
        return self._arrays((items, None))


def _apart(words: dict[str, int]) -> Callable[[tuple[np.ndarray, Any]], tuple[Any, ...]]:
    return builtin(_address(), np.array([words.get(name, 0) for name in (*HEAD, *CALL)], np.int64))
