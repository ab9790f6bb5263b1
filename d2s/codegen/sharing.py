"""What makes a kernel of a `part` that does some pieces of its work: alone, or in chunks by the pool of threads.

In: a module that defines `i64 part(r, o, lo, hi)`. Out: with this text behind it, one that defines `kernel(r, o)`.

>>> "define void @kernel" in SHARING
True
"""

PART = "declare i64 @part(ptr, ptr, i64, i64)\n"
SHARING = (
    PART
    + """\
declare void @d2s_fork(ptr, ptr, ptr, i64, i64)
define void @kernel(ptr %r, ptr %o) {
  %count = call i64 @part(ptr %r, ptr %o, i64 0, i64 -1)
  %grain = call i64 @part(ptr %r, ptr %o, i64 1, i64 -1)
  %small = icmp sle i64 %count, %grain
  br i1 %small, label %alone, label %shared
alone:
  %done = call i64 @part(ptr %r, ptr %o, i64 0, i64 %count)
  ret void
shared:
  call void @d2s_fork(ptr @part, ptr %r, ptr %o, i64 %count, i64 %grain)
  ret void
}
"""
)
