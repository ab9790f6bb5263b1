"""A file from the network: read piece by piece, its sum checked, and in its place only when it is whole and right."""

import contextlib
import hashlib
import os
import pathlib
import urllib.request

from d2s.vision.datasets.files import Source

PATIENCE = 30.0  # seconds the other side may be silent
PIECE = 1 << 20


def fetched(source: Source, folder: pathlib.Path) -> pathlib.Path:
    """Downloads a file into a folder; an OSError where that cannot be done."""
    folder.mkdir(parents=True, exist_ok=True)
    path, draft = folder / source.name, folder / f"{source.name}.{os.getpid()}.part"
    try:
        _download(source, draft)
        os.replace(draft, path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
    return path


def _download(source: Source, draft: pathlib.Path) -> None:
    total = hashlib.md5(usedforsecurity=False)
    with urllib.request.urlopen(source.folder + source.name, timeout=PATIENCE) as answer, open(draft, "wb") as file:
        while piece := answer.read(PIECE):
            total.update(piece)
            file.write(piece)
    if total.hexdigest() != source.md5:
        raise OSError(f"what came has the MD5 sum {total.hexdigest()}, expected {source.md5}")
