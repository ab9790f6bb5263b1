"""Writes docs/limits.md: what of Python becomes part of a graph, from the marks of the rows.

In: the rows. Out: the page; `python tests/programs/features/limits.py` writes it.
"""

import itertools
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[2])]

import feature_branches  # noqa: E402, F401 - rows, by being imported
import feature_containers  # noqa: E402, F401
import feature_effects  # noqa: E402, F401
import feature_exceptions  # noqa: E402, F401
import feature_functions  # noqa: E402, F401
import feature_gradients  # noqa: E402, F401
import feature_loops  # noqa: E402, F401
import feature_sources  # noqa: E402, F401
import feature_traps  # noqa: E402, F401
from feature_rows import CAPTURED, ROWS  # noqa: E402

PAGE = HERE.parents[2] / "docs" / "limits.md"
ORDER = ["Branches", "Loops", "Containers", "Functions", "Exceptions and context"]
ORDER += ["Effects, in Python order, every call", "Gradients", "Sources", "Static-only traps"]
HEAD = """# What `to_static` holds

Each row is a function that is run eagerly and captured, several calls on every path and in both orders; values, gradients,
exceptions, printed text and what else changes are compared. *one graph* means: captured as a whole, and equal in all of that.
A code means: refused at the user's line before anything ran (`python -m d2s explain CODE` says what to write instead).
A row that is captured and differs fails the tests: there is none.

This page is written by `python tests/programs/features/limits.py` from the rows beside that file.

**{captured} of {count} rows in one graph, {refused} refused, 0 wrong.** Others, of 79 such rows (one graph and right):
TorchScript 37, AutoGraph 36, Paddle 36, torch.compile(fullgraph) 17, jax.jit 8; wrong without an error: Paddle 13, AutoGraph 8,
jax.jit 7 (measured with paddle 3.3.1, TensorFlow 2.21, torch 2.15 and jax 0.10.2).
"""


def page() -> str:
    """The page."""
    captured = sum(row.expected == CAPTURED for row in ROWS.values())
    text = HEAD.format(captured=captured, count=len(ROWS), refused=len(ROWS) - captured)
    for group, rows in itertools.groupby(sorted(ROWS.values(), key=lambda row: ORDER.index(row.group)), lambda row: row.group):
        text += f"\n## {group}\n\n| | d2s |\n|---|---|\n"
        text += "".join(f"| {row.title} | {'one graph' if row.expected == CAPTURED else row.expected} |\n" for row in rows)
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
