"""Where files of data are, and how they come there.

`D2S_DATA_HOME`, or `datasets` in d2s's folder of the user's cache, has a folder per dataset. What is not there is downloaded,
checked, and put in its place whole; where that cannot be done the error says which file is to be put where.

>>> import tempfile
>>> folder = tempfile.mkdtemp()
>>> _ = pathlib.Path(folder, "digits").write_bytes(b"1")
>>> found(Source("digits.gz", "http://example.org/", "c4ca4238a0b923820dcc509a6f75849b"), pathlib.Path(folder), False).name
'digits'
"""

import os
import pathlib
from typing import Any, NamedTuple

from d2s import later
from d2s.codegen import store
from d2s.errors import ArgumentError, DTypeError, FileError, brief


class Source(NamedTuple):
    """A file: its name, the address of its folder, its MD5 sum."""

    name: str
    folder: str
    md5: str


def home(dataset: str) -> pathlib.Path:
    """The folder of a dataset."""
    chosen = os.environ.get("D2S_DATA_HOME")
    return (pathlib.Path(chosen) if chosen else store.folder() / "datasets") / dataset


def given(path: Any, name: str) -> pathlib.Path:
    """A path a user has given, of a file that is there."""
    try:
        found = pathlib.Path(path)
    except TypeError:
        raise DTypeError("D2S0001", f"'{name}' expects a path, got {type(path).__name__}") from None
    if "\0" in str(found) or not found.is_file():
        raise FileError("D2S3004", f"'{name}' is {brief(str(found))}, where no file is")
    return found


def found(source: Source, folder: pathlib.Path, download: bool) -> pathlib.Path:
    """A file in its folder, as it is published or unpacked; downloaded where it may be."""
    for name in (source.name, source.name.removesuffix(".gz")):
        if (folder / name).is_file():
            return folder / name
    why = "download=False"
    if download:
        try:
            # a module of its own: to import urllib costs every start of a program 5 ms
            path: pathlib.Path = later.imported("d2s.vision.datasets.download").fetched(source, folder)
            return path
        except OSError as error:
            why = f"{source.folder}{source.name} cannot be downloaded: {error}"
    hint = f"put {source.name} (MD5 {source.md5}) into {folder}, or set D2S_DATA_HOME to the folder that {folder.name}/ is in"
    raise FileError("D2S3004", f"{folder / source.name} is missing; {why}", hint=hint)


def checked_mode(mode: Any, dataset: str) -> str:
    """'train' or 'test'."""
    if not isinstance(mode, str) or mode.lower() not in ("train", "test"):
        raise ArgumentError("D2S0004", f"{dataset}(): 'mode' is {brief(mode)}, expected 'train' or 'test'")
    return mode.lower()
