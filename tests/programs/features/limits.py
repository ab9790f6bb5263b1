"""Writes docs/limits.md: what of Python becomes part of a graph, from the marks of the rows.

In: the rows. Out: the page; `python tests/programs/features/limits.py` writes it.
"""

import itertools
import json
import pathlib
import sys
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[2])]

import feature_branches  # noqa: E402, F401 - rows, by being imported
import feature_containers  # noqa: E402, F401
import feature_effects  # noqa: E402, F401
import feature_exceptions  # noqa: E402, F401
import feature_extents  # noqa: E402, F401
import feature_functions  # noqa: E402, F401
import feature_gradients  # noqa: E402, F401
import feature_loops  # noqa: E402, F401
import feature_sources  # noqa: E402, F401
import feature_traps  # noqa: E402, F401
from feature_rows import CAPTURED, ROWS  # noqa: E402
from peers import FACTS, PEERS  # noqa: E402

KINDS = ("one graph", "refused", "wrong", "hangs", "dies")
PAGE = HERE.parents[2] / "docs" / "limits.md"
ORDER = ["Branches", "Loops", "Extents a run finds", "Containers", "Functions", "Exceptions and context"]
ORDER += ["Effects, in Python order, every call", "Gradients", "Sources", "Static-only traps"]
HEAD = """# What `to_static` holds

Each row is a function that is run eagerly and captured, several calls on every path and in both orders; values, gradients,
exceptions, printed text and what else changes are compared. *one graph* means: captured as a whole, and equal in all of that.
A code means: refused at the user's line before anything ran (`python -m d2s explain CODE` says what to write instead).
A row that is captured and differs fails the tests: there is none.

This page is written by `python tests/programs/features/limits.py` from the rows beside that file.

**{captured} of {count} rows in one graph, {refused} refused, 0 wrong.**

The other columns are measured by `peers.py` beside that file: the same text on the peer's own tensors, run eagerly and compiled
({versions};
torch.compile with fullgraph=True and its backend that only captures; Paddle with full_graph=True). *-*: the text does not run
there eagerly, is a check of ours that says more than a function, or the peer was not asked. AutoGraph is TensorFlow's, whose
tensors were given the methods that rows call. Gradients are compared for rows of that group only, not for jax and TensorFlow.

{sums}
"""


def page() -> str:
    """The page."""
    captured = sum(row.expected == CAPTURED for row in ROWS.values())
    facts = {name: fact for name, fact in json.loads(FACTS.read_text(encoding="utf-8")).items() if name in PEERS}
    versions = ", ".join(f"{name} {facts[name]['version']}" for name in PEERS)
    text = HEAD.format(captured=captured, count=len(ROWS), refused=len(ROWS) - captured, versions=versions, sums=_sums(facts))
    for group, rows in itertools.groupby(sorted(ROWS.values(), key=lambda row: ORDER.index(row.group)), lambda row: row.group):
        text += f"\n## {group}\n\n| | d2s | {' | '.join(PEERS)} |\n|---|---|{'---|' * len(PEERS)}\n"
        for row in rows:
            ours = "one graph" if row.expected == CAPTURED else row.expected
            theirs = [facts[name]["rows"].get(f"{row.group}|{row.title}", "-") for name in PEERS]
            text += f"| {row.title} | {' | '.join([ours, *theirs])} |\n"
    return text


def _sums(facts: dict[str, Any]) -> str:
    """How many rows became what, by peer; of those that ours are asked, too."""
    lines = [f"| | asked | {' | '.join(KINDS)} |\n|---|---|{'---|' * len(KINDS)}"]
    for name in PEERS:
        known = {key for row in ROWS.values() if (key := f"{row.group}|{row.title}") in facts[name]["rows"]}
        found = [facts[name]["rows"][key] for key in known]
        asked = sum(kind != "-" for kind in found)
        lines.append(f"| {name} | {asked} | {' | '.join(str(found.count(kind)) for kind in KINDS)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
