"""Work shared among threads: for now, chunk by chunk on the caller's."""

import llvmlite.binding as llvm

from d2s.codegen import cache
from d2s.codegen.host import target_machine

_SERIAL = """
define void @d2s_fork(ptr %part, ptr %r, ptr %o, i64 %count, i64 %grain) {
entry:
  br label %loop
loop:
  %lo = phi i64 [0, %entry], [%end, %loop]
  %end = add i64 %lo, %grain
  %past = icmp sgt i64 %end, %count
  %hi = select i1 %past, i64 %count, i64 %end
  %done = call i64 %part(ptr %r, ptr %o, i64 %lo, i64 %hi)
  %more = icmp slt i64 %hi, %count
  br i1 %more, label %loop, label %out
out:
  ret void
}
"""


def fork() -> int:
    """The address of `d2s_fork(part, r, o, count, grain)`."""

    def compiled() -> bytes:
        data: bytes = target_machine(reloc="pic", codemodel="small").emit_object(llvm.parse_assembly(_SERIAL))
        return data

    return cache.linked(_SERIAL, compiled, ["d2s_fork"])["d2s_fork"]


cache.provide("d2s_fork", fork)
