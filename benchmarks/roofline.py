"""What this machine can do at best: fused multiply-adds, bytes read and bytes copied a second, on so many threads.

Loops in LLVM IR that do nothing else, best of several runs.

>>> limits = measured(1)
>>> limits["flops"] > 1e9 and limits["read"] > 1e8 and limits["moved"] > 1e8
True
"""

import ctypes
import threading
import time
from collections.abc import Callable

import llvmlite.binding as llvm
import numpy as np

from d2s.codegen.host import target_machine

CHAINS, WIDTH, TIMES = 20, 16, 2_000_000
BYTES = 1 << 27  # of each thread, more than any cache
_V = f"<{WIDTH} x float>"


def _fmas() -> str:
    """`void fmas(i64 times, ptr out)`: CHAINS independent chains of fmas in registers."""
    heads = [f"  %a{k} = phi {_V} [ zeroinitializer, %entry ], [ %b{k}, %loop ]" for k in range(CHAINS)]
    steps = [f"  %b{k} = call {_V} @llvm.fma.v{WIDTH}f32({_V} %a{k}, {_V} %x, {_V} %a{k})" for k in range(CHAINS)]
    sums = [f"  %s{k + 1} = fadd {_V} %{'b0' if k == 0 else f's{k}'}, %b{k + 1}" for k in range(CHAINS - 1)]
    return "\n".join(
        [
            f"declare {_V} @llvm.fma.v{WIDTH}f32({_V}, {_V}, {_V})",
            f"define void @fmas(i64 %times, {_V}* %out) {{\nentry:\n  %x = load {_V}, {_V}* %out, align 4",
            "  br label %loop\nloop:",
            "  %i = phi i64 [ 0, %entry ], [ %j, %loop ]",
            *heads,
            *steps,
            "  %j = add i64 %i, 1\n  %more = icmp slt i64 %j, %times\n  br i1 %more, label %loop, label %end\nend:",
            *sums,
            f"  store {_V} %s{CHAINS - 1}, {_V}* %out, align 4\n  ret void\n}}",
        ]
    )


def _reads(chains: int = 8) -> str:
    """`void reads(i64 vectors, ptr from)`: so many vectors added up; the first gets the sum."""
    heads = [f"  %a{k} = phi {_V} [ zeroinitializer, %entry ], [ %b{k}, %loop ]" for k in range(chains)]
    steps = []
    for k in range(chains):
        steps += [f"  %i{k} = add i64 %i, {k}", f"  %p{k} = getelementptr {_V}, {_V}* %from, i64 %i{k}"]
        steps += [f"  %x{k} = load {_V}, {_V}* %p{k}, align 4", f"  %b{k} = fadd {_V} %a{k}, %x{k}"]
    sums = [f"  %s{k + 1} = fadd {_V} %{'b0' if k == 0 else f's{k}'}, %b{k + 1}" for k in range(chains - 1)]
    return "\n".join(
        [
            f"define void @reads(i64 %vectors, {_V}* %from) {{\nentry:\n  br label %loop\nloop:",
            "  %i = phi i64 [ 0, %entry ], [ %j, %loop ]",
            *heads,
            *steps,
            f"  %j = add i64 %i, {chains}\n  %more = icmp slt i64 %j, %vectors\n  br i1 %more, label %loop, label %end\nend:",
            *sums,
            f"  store {_V} %s{chains - 1}, {_V}* %from, align 4\n  ret void\n}}",
        ]
    )


def _best(threads: int, work: Callable[[int], object], runs: int = 7) -> float:
    """Seconds of all threads doing their work at once, the best of some runs."""
    found = []
    for _ in range(runs):
        workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        found.append(time.perf_counter() - start)
    return min(found)


def measured(threads: int) -> dict[str, float]:
    """Per second: `flops` (an fma is two), bytes `read`, bytes `moved` (a copy of n bytes moves 2 n)."""
    module = llvm.parse_assembly(_fmas() + "\n" + _reads())
    engine = llvm.create_mcjit_compiler(module, target_machine(jit=True))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)
    fmas, reads = (kind(engine.get_function_address(name)) for name in ("fmas", "reads"))
    fields = [np.zeros(BYTES // 4, np.float32) for _ in range(threads)]
    others = [np.ones(BYTES // 4, np.float32) for _ in range(threads)]
    return {
        "flops": threads * 2 * WIDTH * CHAINS * TIMES / _best(threads, lambda k: fmas(TIMES, fields[k].ctypes.data)),
        "read": threads * BYTES / _best(threads, lambda k: reads(BYTES // 4 // WIDTH, fields[k].ctypes.data)),
        "moved": threads * 2 * BYTES / _best(threads, lambda k: np.copyto(others[k], fields[k])),
    }


if __name__ == "__main__":
    for count in (1, 2):
        print(count, {name: f"{value / 1e9:.4g} G/s" for name, value in measured(count).items()})
