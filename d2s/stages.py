"""The one hook every stage reports to, by name: what D2S_DUMP writes and D2S_PRINT prints.

In: a stage's name and its text. Out: a numbered file and/or a print, or nothing.

>>> from d2s.config import config
>>> with config(PRINT="plan"):
...     stage("plan:settle", "run 1 step")
--- plan:settle
run 1 step
"""

import itertools
import os
import pathlib
import sys
from collections.abc import Callable

from d2s.config import knob
from d2s.errors import FileError

_number = itertools.count(1)


def stage(name: str, artefact: str | Callable[[], str], suffix: str = "txt") -> None:
    """Reports one stage; a callable artefact is only asked for its text when somebody looks."""
    folder, printed = knob("DUMP"), bool({name, name.partition(":")[0]} & {*knob("PRINT").split(",")})
    if not folder and not printed:
        return
    text = artefact if isinstance(artefact, str) else artefact()
    if printed:
        sys.stdout.write(f"--- {name}\n{text.rstrip()}\n")
    if folder:
        _write(pathlib.Path(folder), f"{name}.{suffix}", text)


def _write(folder: pathlib.Path, name: str, text: str) -> None:
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name if c not in "<>")  # of "<lambda>"
    path = folder / f"{os.getpid()}-{next(_number):03d}-{safe}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError("D2S3004", f"D2S_DUMP: {path} cannot be written: {error.strerror}") from None
