"""What came of the parts of a soak so far, kept in a file: another one of the same tree goes on where this one stopped.

In: the folder of the notes, and what names the soak. Out: parts by their first seeds; none where a file that decides what
comes of them is another one since.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     notes = Notes(pathlib.Path(folder), "0 to 1000")
...     notes.add(500, (500, [], []))
...     Notes(pathlib.Path(folder), "0 to 1000").parts, Notes(pathlib.Path(folder), "others").parts
({500: (500, [], [])}, {})
"""

import hashlib
import json
import os
import pathlib
from typing import Any

import d2s

HERE = pathlib.Path(__file__).parent
FOLDER = HERE.parent.parent / ".soak"


def tree() -> str:
    """What names the sources that decide what comes of a program."""
    folders = (pathlib.Path(d2s.__file__).parent, HERE, HERE.parent / "programs")
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            found.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return found.hexdigest()[:16]


class Notes:
    """The parts of one soak that have ended."""

    def __init__(self, folder: pathlib.Path, name: str) -> None:
        self._path = folder / f"{name} of {tree()}.json".replace(" ", "_")
        held: dict[str, Any] = json.loads(self._path.read_text()) if self._path.exists() else {}
        self.parts = {int(first): tuple(came) for first, came in held.items()}

    def add(self, first: int, came: tuple[int, Any, Any]) -> None:
        """Notes what came of the part that begins with this seed."""
        self.parts[first] = came
        self._path.parent.mkdir(exist_ok=True)
        beside = self._path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(self.parts))
        beside.replace(self._path)
