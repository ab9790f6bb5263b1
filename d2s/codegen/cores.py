"""How many cores this process may use: those it is allowed to run on, and no more than its quota of their time.

>>> 1 <= available() <= (os.cpu_count() or 1)
True
"""

import math
import os
import pathlib
from collections.abc import Iterator


def available(root: str = "/") -> int:
    """The number of cores, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([allowed, *map(math.ceil, _quotas(pathlib.Path(root)))]))


def _quotas(root: pathlib.Path) -> Iterator[float]:
    """The cores' worth of time each of Linux' control groups around this process gives it, where one limits it."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        group = pathlib.PurePosixPath(path)
        for inside in (group, *group.parents):
            if not controllers:
                yield from _ratio(_read(root / "sys/fs/cgroup" / str(inside).lstrip("/") / "cpu.max"))
            elif "cpu" in controllers.split(","):
                folder = root / "sys/fs/cgroup" / controllers / str(inside).lstrip("/")
                yield from _ratio(" ".join(_read(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period")))


def _ratio(text: str) -> list[float]:
    """Of "quota period"; none where the quota is "max", -1 or not there."""
    numbers = text.split()
    if len(numbers) < 2 or not all(n.isdigit() for n in numbers) or numbers[1] == "0":
        return []
    return [int(numbers[0]) / int(numbers[1])]


def _read(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
