"""docs/migrate.md: every name in its table is there in its generation, and takes the keywords that are shown."""

import inspect
import pathlib
import re

import pytest

import d2s
from d2s import compat

TEXT = (pathlib.Path(__file__).parent.parent.parent / "docs" / "migrate.md").read_text(encoding="utf-8")
TABLE = TEXT.partition("## Names")[2].partition("## What behaves")[0]
ROWS = [[cell.strip() for cell in line[1:-1].split("|")] for line in TABLE.splitlines() if line.startswith("| ")][1:]
PATHS = {
    "F": "nn.functional",
    "adam": "optimizer.Adam",
    "model": "nn.Layer",
    "switch": "layers.Switch",
    "guard": "dygraph.guard",
}
HOMES = {"1.x": "paddle.fluid", "2.0-alpha": "paddle", "2.x": "d2s"}


def names(cell):
    """The paths a cell shows, and the keywords of each; a name without a path stands beside the one before it, or in it."""
    before: list[str] = []
    for shown in re.findall(r"`@?([^`]*)`", cell):
        found = re.match(r"(\.?[A-Za-z_][\w.]*)(\(.*\))?(?:\.(?:block|run)\(.*\))?$", shown)
        if found is None or found[1] in ("for", "while"):
            continue
        first, _, rest = found[1].partition(".")
        paths = [f"{PATHS.get(first, first)}.{rest}".strip(".")]
        if before and (not first or not rest):
            paths = [f"{home}.{found[1].lstrip('.')}" for home in (before[0].rpartition(".")[0], before[0])]
        else:
            before = paths
        yield paths, re.findall(r"(\w+)=", found[2] or "")


def resolved(root, path):
    for part in path.split("."):
        root = getattr(root, part, None)
    return root


@pytest.mark.parametrize("column", [0, 1, 2], ids=list(HOMES))
def test_the_table_tells_names_and_keywords_there_are(column):
    api, home = list(HOMES.items())[column]
    seen = 0
    with compat.installed(api):
        import paddle

        root = {"paddle.fluid": getattr(paddle, "fluid", None) if column == 0 else None, "paddle": paddle, "d2s": d2s}[home]
        for row in ROWS:
            for paths, keywords in names(row[column]):
                short = [path.removeprefix("fluid.").removeprefix("paddle.").removeprefix("d2s.") for path in paths]
                short = [path.replace("nn.Layer.", "Layer.") if column == 0 else path for path in short]
                found = next((one for path in short if callable(one := resolved(root, path))), None)
                assert found is not None, paths
                takes = inspect.signature(found).parameters
                order = getattr(found, "until_1_6", "").split() + list(getattr(found, "_order", ()))
                order += list(inspect.signature(found._set).parameters) if hasattr(found, "_set") else []
                assert all(k in takes or k in order for k in keywords), (paths, keywords)
                seen += 1
    assert seen > 20


def test_both_languages_say_as_much():
    paragraphs = TEXT.partition("## Names")[0].strip().split("\n\n")[1:]
    chinese = [p for p in paragraphs if re.search(r"[一-鿿]", p.splitlines()[0])]
    for written in ("--api 2.2", "d2s.compat.install", "DynamicRNN", "StaticRNN", "py_reader"):
        assert TEXT.count(written) >= 2, written
    assert chinese and all(len(row) == 3 for row in ROWS)
