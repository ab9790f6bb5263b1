"""What this machine can do at best: fused multiply-adds, bytes read and bytes copied a second, on so many threads.

Loops that do nothing else, best of several runs; of bytes, for memory of several sizes, because caches are faster. Memory is
written first: pages of zeros that nobody wrote to are all one page, which any cache holds.

>>> limits = measured(1, sizes=(1 << 20,))
>>> limits["flops"] > 1e9 and limits["read"][1 << 20] > 1e8 and limits["moved"][1 << 20] > 1e8
True
>>> nearest(limits["read"], 5) == limits["read"][1 << 20]
True
"""

import ctypes
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from d2s.codegen.host import target_machine

CHAINS, WIDTH, TIMES = 20, 16, 2_000_000
SIZES = (1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28)  # bytes of all threads together
AT_LEAST = 1 << 27  # bytes that go by in one run
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


def _repeated(call: Callable[[], object], size: int) -> None:
    for _ in range(max(1, AT_LEAST // size)):
        call()


def _read(threads: int, size: int, reads: Any) -> float:
    """Bytes read a second: every thread adds up a part of its own, again and again."""
    parts = [np.ones(size // threads // 4, np.float32) for _ in range(threads)]
    vectors = parts[0].size // WIDTH // 8 * 8
    seconds = _best(threads, lambda k: _repeated(lambda: reads(vectors, parts[k].ctypes.data), size))
    return threads * vectors * WIDTH * 4 * max(1, AT_LEAST // size) / seconds


def _moved(threads: int, size: int) -> float:
    """Bytes read and written a second: every thread copies a part of its own."""
    part = size // threads // 2
    pairs = [[np.ones(part, np.uint8) for _ in range(2)] for _ in range(threads)]
    addresses = [[a.ctypes.data for a in pair] for pair in pairs]
    seconds = _best(threads, lambda k: _repeated(lambda: ctypes.memmove(*addresses[k], part), size))
    return threads * 2 * part * max(1, AT_LEAST // size) / seconds


def measured(threads: int, sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """Per second: `flops` of float32 (an fma is two); by size, bytes `read`, and bytes `moved` (a copy of n moves 2 n)."""
    module = llvm.parse_assembly(_fmas() + "\n" + _reads())
    engine = llvm.create_mcjit_compiler(module, target_machine(jit=True))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)
    fmas, reads = (kind(engine.get_function_address(name)) for name in ("fmas", "reads"))
    fields = [np.zeros(WIDTH, np.float32) for _ in range(threads)]
    return {
        "flops": threads * 2 * WIDTH * CHAINS * TIMES / _best(threads, lambda k: fmas(TIMES, fields[k].ctypes.data)),
        "read": {size: _read(threads, size, reads) for size in sizes},
        "moved": {size: _moved(threads, size) for size in sizes},
    }


def nearest(by_size: dict[int, float], size: int) -> float:
    """The figure for memory of about that size."""
    return by_size[min(by_size, key=lambda s: abs(math.log(s / max(size, 1))))]


if __name__ == "__main__":
    for count in (1, 2):
        found = measured(count)
        print(count, f"{found['flops'] / 1e9:.4g} GFLOP/s")
        for name in ("read", "moved"):
            print(count, name, {f"{size >> 20} MB": f"{value / 1e9:.4g} GB/s" for size, value in found[name].items()})
