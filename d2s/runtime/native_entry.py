"""Functions tried in turn by native code: what stands in front of the quick ways of a static function.

In: functions that return `missed` where a call is none of theirs, and one for all other calls. Out: a function that is called
with what they take. One whose parameters the arguments do not fit is as one that misses: the last says what is wrong. What
a function itself raises, its traceback tells.

>>> call = in_turn([lambda x: x if x > 0 else None], None, lambda *args: args)
>>> call(3), call(-3), call(1, 2)
(3, (-3,), (1, 2))
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from d2s.runtime.native_launcher import builtin, linked
from d2s.runtime.native_text import whole

_WITH_NAMES = 0x0003  # METH_VARARGS | METH_KEYWORDS
TEXT = """
; entered((missed, last, TypeError, *functions), arguments, arguments by name)
define ptr @entered(ptr %self, ptr %given, ptr %named) {
entry:
  %error = alloca [3 x ptr]
  %count = i64 at %self[2]
  %items = getelementptr i64, ptr %self, i64 FIRST_ITEM
  %missed = ptr at %items[0]
  %last = ptr at %items[1]
  %unfit = ptr at %items[2]
  br label %next
next:
  %k = phi i64 [3, %entry], [%k1, %other]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %try, label %rest
try:
  %function = ptr at %items[%k]
  %found = call ptr @PyObject_Call(ptr %function, ptr %given, ptr %named)
  %k1 = add i64 %k, 1
  %none = icmp eq ptr %found, null
  br i1 %none, label %failed, label %answered
answered:
  %is_missed = icmp eq ptr %found, %missed
  br i1 %is_missed, label %other, label %end
other:
  call void @Py_DecRef(ptr %found)
  br label %next
end:
  ret ptr %found
failed:
  %value_at = getelementptr ptr, ptr %error, i64 1
  %trace_at = getelementptr ptr, ptr %error, i64 2
  call void @PyErr_Fetch(ptr %error, ptr %value_at, ptr %trace_at)
  %kind = ptr at %error[0]
  %value = ptr at %error[1]
  %trace = ptr at %error[2]
  call void @PyErr_Restore(ptr %kind, ptr %value, ptr %trace)
  %inside = icmp ne ptr %trace, null
  br i1 %inside, label %raise, label %outside
outside:
  %does_not_fit = call i32 @PyErr_ExceptionMatches(ptr %unfit)
  %raises = icmp eq i32 %does_not_fit, 0
  br i1 %raises, label %raise, label %clear
raise:
  ret ptr null
clear:
  call void @PyErr_Clear()
  br label %rest
rest:
  %answer = call ptr @PyObject_Call(ptr %last, ptr %given, ptr %named)
  ret ptr %answer
}
"""


@functools.cache
def _address() -> int:
    return linked(whole(TEXT), ["entered"])["entered"]


def in_turn(functions: Sequence[Callable[..., Any]], missed: Any, last: Callable[..., Any]) -> Callable[..., Any]:
    """The functions one after the other, then the last."""
    return builtin(_address(), (missed, last, TypeError, *functions), _WITH_NAMES)
