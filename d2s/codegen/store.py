"""A folder of object files that any number of processes share: checked when read, replaced whole, the oldest dropped.

In: a key and bytes. Out: the bytes another process kept under that key, or nothing. A folder that cannot be used costs a
compile, never an error; one that somebody else could write to is not used, and said so once.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as place:
...     keep("3f", b"object", pathlib.Path(place))
...     found("3f", pathlib.Path(place)), found("40", pathlib.Path(place))
(b'object', b'')
"""

import contextlib
import hashlib
import os
import pathlib
import stat
import time
import warnings
from collections.abc import Iterator
from typing import NamedTuple

LIMIT = 256 << 20  # bytes of objects; the ones not used for longest go first
SPARE = 0.9  # of LIMIT is what a clean-up leaves, so that not every write cleans up
ABANDONED = 600.0  # seconds after which a temporary file belongs to a process that was killed
FRESH = 60.0  # seconds within which a use is not noted again
_POSIX = os.name == "posix"  # elsewhere folders are private by their place, and files are named by path
_FLAGS = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_since_look = float("inf")  # bytes written by this process since it last looked at the whole folder
_refused: set[str] = set()


class Entry(NamedTuple):
    """One object file as `entries` finds it."""

    name: str
    size: int
    used: float


def folder() -> pathlib.Path:
    """Where object files are kept: D2S_CACHE_DIR, or d2s in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(os.environ.get("D2S_CACHE_DIR") or os.path.join(base, "d2s"))


def found(key: str, place: pathlib.Path | None = None) -> bytes:
    """The object kept under a key, or nothing where it is missing, damaged or another user's."""
    path = (place or folder()) / f"{key}.o"
    try:
        with _opened(path.parent) as at:
            data = _private(path, at)
    except OSError:
        return b""
    if data is None or data[:32] == _checksum(key, data[32:]):
        return (data or b"")[32:]
    _warn(f"{path} is damaged and is compiled again")
    return b""


def keep(key: str, data: bytes, place: pathlib.Path | None = None) -> None:
    """Keeps an object for other processes, if the folder can be written."""
    place = place or folder()
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _opened(place) as at:
            _replace(place, f"{key}.o", _checksum(key, data) + data, at)
            _shrink_now_and_then(place, len(data))


def entries(place: pathlib.Path | None = None) -> list[Entry]:
    """All objects, the one not used for longest first."""
    listed = []
    with contextlib.suppress(OSError), os.scandir(place or folder()) as files:
        for file in files:
            with contextlib.suppress(OSError):
                status = file.stat(follow_symlinks=False)
                if file.name.endswith(".o") and stat.S_ISREG(status.st_mode):
                    listed.append(Entry(file.name, status.st_size, max(status.st_atime, status.st_mtime)))
    return sorted(listed, key=lambda e: e.used)


def clear(place: pathlib.Path | None = None) -> int:
    """Removes all objects; what running processes have loaded stays with them. Returns how many there were."""
    place = place or folder()
    gone = sum(_removed(place / entry.name) for entry in entries(place))
    _drop_abandoned(place, 0.0)
    return gone


def shrink(place: pathlib.Path, limit: int) -> None:
    """Removes the objects not used for longest, and what killed processes left behind."""
    kept = entries(place)
    total = sum(entry.size for entry in kept)
    for entry in kept if total > limit else ():
        if total <= limit * SPARE:
            break
        total -= entry.size * _removed(place / entry.name)
    _drop_abandoned(place, ABANDONED)


def _shrink_now_and_then(place: pathlib.Path, written: int) -> None:
    global _since_look
    _since_look += written
    if _since_look > LIMIT / 64:
        _since_look = 0.0
        shrink(place, LIMIT)


def _drop_abandoned(place: pathlib.Path, age: float) -> None:
    for path in place.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime >= age:
                path.unlink()


def _removed(path: pathlib.Path) -> bool:
    """A file another process is reading stays readable to it; one another process removed first is no error."""
    try:
        path.unlink()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _opened(place: pathlib.Path) -> Iterator[int | None]:
    """The folder by descriptor: what is checked is what is used, even if its path is bent in between."""
    if not _POSIX:
        yield None
        return
    at = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _trust(place, os.fstat(at))
        yield at
    finally:
        os.close(at)


def _trust(place: pathlib.Path, status: os.stat_result) -> None:
    if _ours(status):
        return
    why = "belongs to another user" if status.st_uid != os.getuid() else "can be written to by other users"
    if str(place) not in _refused:
        _refused.add(str(place))
        _warn(f"the kernel folder {place} {why} and is not used; `chmod 700` it, or name another by D2S_CACHE_DIR")
    raise PermissionError(place)


def _ours(status: os.stat_result) -> bool:
    return not _POSIX or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _private(path: pathlib.Path, at: int | None) -> bytes | None:
    """What a regular file of this user holds. No links are followed, and a pipe does not make us wait."""
    handle = os.open(path.name, os.O_RDONLY | _FLAGS, dir_fd=at) if at is not None else os.open(path, os.O_RDONLY | _FLAGS)
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not _ours(status) or status.st_size > LIMIT:
            return None
        _note_use(handle, status)
        return file.read()


def _note_use(handle: int, status: os.stat_result) -> None:
    if time.time() - status.st_atime > FRESH and os.utime in os.supports_fd:
        with contextlib.suppress(OSError):
            os.utime(handle, ns=(time.time_ns(), status.st_mtime_ns))


def _replace(place: pathlib.Path, name: str, data: bytes, at: int | None) -> None:
    """Readers see the old file or the new one, never a part."""
    temporary = f".{os.getpid()}-{os.urandom(6).hex()}.tmp"
    where = "" if at is not None else f"{place}{os.sep}"
    handle = os.open(where + temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600, dir_fd=at)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(where + temporary, where + name, src_dir_fd=at, dst_dir_fd=at)
    except OSError:
        os.unlink(where + temporary, dir_fd=at)
        raise


def _checksum(key: str, data: bytes) -> bytes:
    """Over the key, too: a good object under the name of another is as bad as a damaged one."""
    return hashlib.sha256(key.encode() + b"\0" + data).digest()


def _warn(message: str) -> None:
    warnings.warn(f"d2s: {message}", RuntimeWarning, stacklevel=2)
