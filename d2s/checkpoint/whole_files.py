"""Files that are there whole or not at all, and those of one model together.

In: what each file holds, or a block that writes one. Out: the files, in the places of those that were there; drafts of other
names until then, of which nothing is left when writing fails.

>>> import tempfile
>>> folder = tempfile.mkdtemp()
>>> replace({folder + "/a": b"1", folder + "/b": b"2"})
>>> sorted(os.listdir(folder)), read(folder + "/b")
(['a', 'b'], b'2')
"""

import contextlib
import itertools
import os
import stat
import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from d2s.errors import FileError, FormatError

_drafts = itertools.count()


class _Turn:
    """Whose it is to write, or read, the files of one model."""

    def __init__(self) -> None:
        self.lock = threading.RLock()


_turns: weakref.WeakValueDictionary[str, _Turn] = weakref.WeakValueDictionary()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_turns.clear)  # what another thread held would never be given back


@contextlib.contextmanager
def together(prefix: str) -> Iterator[None]:
    """One thread at a time has to do with the files that begin with `prefix`."""
    turn = _turns.setdefault(os.path.realpath(prefix), _Turn())
    with turn.lock:
        yield


@contextlib.contextmanager
def replaced(path: str) -> Iterator[BinaryIO]:
    """A file to write, which takes its place when it is whole: who is stopped before leaves what was there.

    Behind a symbolic link it is the file linked to that is replaced.
    """
    with _written_instead(path), _draft(os.path.realpath(path)) as draft:
        with open(draft, "wb") as file:
            yield file
        os.replace(draft, os.path.realpath(path))


def replace(files: Mapping[str, bytes]) -> None:
    """Puts files in the places of others when all of them are written."""
    with contextlib.ExitStack() as stack:
        drafts = {}
        for path, data in files.items():
            with _written_instead(path):
                drafts[path] = stack.enter_context(_draft(os.path.realpath(path)))
                with open(drafts[path], "wb") as file:
                    file.write(data)
        for path, draft in drafts.items():
            with _written_instead(path):
                os.replace(draft, os.path.realpath(path))


@contextlib.contextmanager
def _draft(path: str) -> Iterator[str]:
    """The name of a file beside another, which nobody else has."""
    name = f"{path}.{os.getpid()}-{next(_drafts)}.part"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        yield name
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


@contextlib.contextmanager
def _written_instead(path: str) -> Iterator[None]:
    if "\0" in path:
        raise FileError("D2S3004", f"{path!r} cannot be written: it is no path of a file")
    try:
        yield
    except OSError as error:
        raise FileError("D2S3004", f"{path} cannot be written: {error.strerror}") from None


def read(path: str) -> bytes:
    """What a file holds; of what is none, such as a pipe, nobody waits for more."""
    if "\0" in path:
        raise FormatError("D2S3001", f"{path!r} cannot be read: it is no path of a file")
    try:
        refuse_other(path)
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise FormatError("D2S3001", f"{path} cannot be read: {error.strerror}") from None


def refuse_other(path: str) -> None:
    """Refuses what lies there instead of a file."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # of which Python says so itself
        raise FormatError("D2S3001", f"{path} cannot be read: it is no file, but a pipe, a socket or a device")
