"""One engine, alive for a whole run: reads a statement and a count per line, answers seconds. Run by benchmarks/run.py.

echo '{"setup": "x = 1", "statement": "x + 1", "number": 1000}' | python worker.py
"""

import json
import linecache
import sys
import timeit
from typing import Any

_names: dict[str, dict[str, Any]] = {}


def seconds(setup: str, statement: str, number: int) -> float:
    """The time of `number` runs."""
    if setup not in _names:
        _names.clear()  # operands of the case before are many bytes
        _names[setup] = {}
        path = "<benchmark>"
        lines = [line + "\n" for line in setup.splitlines()]
        linecache.cache[path] = (len(setup), None, lines, path)  # engines that read a function's source find it
        exec(compile(setup, path, "exec"), _names[setup])
    return timeit.timeit(statement, globals=_names[setup], number=number)


def main() -> None:
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = {"seconds": seconds(**json.loads(line))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
