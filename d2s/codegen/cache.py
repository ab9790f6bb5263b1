"""Kernels by content: text → address, through a folder of checked object files that needs no Numba to load.

The key covers the text, the compiler's own source, the versions and the CPU; an entry that does not prove itself by its
checksum is compiled again. `D2S_CACHE_DIR` moves the folder.

>>> address("def kernel(r, o):\\n    r[o[0]] = 7\\n", "f32") == address("def kernel(r, o):\\n    r[o[0]] = 7\\n", "f32")
True
"""

import concurrent.futures
import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import itertools
import os
import pathlib
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import llvmlite.binding as llvm

from d2s import forks
from d2s.codegen import store
from d2s.codegen.cores import available
from d2s.codegen.host import cpu, target_machine
from d2s.stages import stage

folder = store.folder
_loaded: dict[str, dict[str, int]] = {}
_libraries: list[object] = []  # loaded code is never unloaded
_tries = itertools.count()  # a library's name is taken even if it could not be loaded
SHARED = "def kernel(r, o, lo, hi):"
_provided: dict[str, Callable[[], int]] = {}
Kernel = tuple[str, str]  # its text, and what T stands for in it
_NONE: Mapping[Kernel, bytes] = {}
_NOT_COMPILING = {
    "__init__.py",
    "cache.py",
    "store.py",
    "emit.py",
    "threads.py",
    "threads_text.py",
    "cores.py",
}  # of this folder: they shape no code but by its text


def address(text: str, T: str, name: str = "kernel", objects: "Mapping[Kernel, bytes]" = _NONE) -> int:
    """The address of the compiled function `name` of a text; `objects` are compiled already."""

    imports = {symbol: provide() for symbol, provide in _provided.items()} if SHARED in text else {}
    shown = functools.partial(_show, f"# T = {T}\n{text}")
    compiled = lambda: objects.get((text, T)) or _compiled(text, T, name)  # noqa: E731
    return linked(f"{T}\n{name}\n{text}", compiled, ["kernel"], shown, imports)["kernel"]


def addresses(kernels: Sequence[Kernel]) -> list[int]:
    """The addresses of the kernels of a plan; those nobody needed before are compiled at the same time, on all cores."""
    objects = _compiled_at_once([kernel for kernel in dict.fromkeys(kernels) if not _is_known(*kernel)])
    return [address(text, T, objects=objects) for text, T in kernels]


def _is_known(text: str, T: str) -> bool:
    key = _key(f"{T}\nkernel\n{text}")
    return key in _loaded or (folder() / f"{key}.o").exists()


def _compiled_at_once(kernels: Sequence[Kernel]) -> dict[Kernel, bytes]:
    """Their objects; none where there is one kernel, one core, or no thread to be had: then each is compiled when asked for."""
    workers = min(len(kernels), available()) if len(kernels) > 1 else 1  # how many cores there are takes its time to tell
    if workers < 2:
        return {}
    longest_first = sorted(kernels, key=lambda kernel: -len(kernel[0]))
    with forks.linking, contextlib.suppress(RuntimeError):
        _progress.begin()
        try:
            with concurrent.futures.ThreadPoolExecutor(workers) as pool:
                made = pool.map(lambda kernel: _compiled(kernel[0], kernel[1], "kernel"), longest_first)
                return dict(zip(longest_first, made, strict=True))
        finally:
            _progress.end()
    return {}


def _compiled(text: str, T: str, name: str) -> bytes:
    """The object of a text; what compiles is imported here, because a warm process needs none of it."""
    typed = importlib.import_module("d2s.codegen.typed_functions")
    with contextlib.suppress(typed.Unspoken):
        return bytes(typed.object_of(text, T, name))
    return bytes(importlib.import_module("d2s.codegen.numba_kernel").object_of(text, T, name))


def provide(symbol: str, address: Callable[[], int]) -> None:
    """Names what kernels whose work is shared may call; it is asked for when the first of them is loaded."""
    _provided[symbol] = address


def _show(text: str, key: str) -> None:
    stage(f"kernel:{key}", text, "py")


def linked(
    content: str,
    compiled: Callable[[], bytes],
    exports: Sequence[str],
    loading: Callable[[str], None] = lambda key: None,
    imports: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """The addresses of the symbols `exports` of an object: loaded already, kept in the folder, or compiled now."""
    with forks.linking:
        key = _key(content)
        if key not in _loaded:
            loading(key[:8])
            _loaded[key] = _kept(key, exports, imports or {}) or _new(key, compiled, exports, imports or {})
        return _loaded[key]


def _kept(key: str, exports: Sequence[str], imports: Mapping[str, int]) -> dict[str, int]:
    data = store.found(key)
    try:
        return _link(key, data, exports, imports) if data else {}
    except RuntimeError:
        warnings.warn(f"d2s: {store.folder() / key}.o cannot be loaded and is compiled again", RuntimeWarning, stacklevel=2)
        return {}


def _new(key: str, compiled: Callable[[], bytes], exports: Sequence[str], imports: Mapping[str, int]) -> dict[str, int]:
    _progress.begin()
    try:
        data = compiled()
    finally:
        _progress.end()
    addresses = _link(key, data, exports, imports)
    store.keep(key, data)
    return addresses


@functools.cache
def _environment() -> str:
    """Everything but the text that decides which code comes out."""
    here = pathlib.Path(__file__).parent
    sources = [path for path in sorted(here.glob("*.py")) if path.name not in _NOT_COMPILING]
    compiler = [path.read_text(encoding="utf-8") for path in (*sources, here.parent / "types.py")]
    versions = [_version(package) for package in ("d2s", "numba", "llvmlite", "numpy")]
    python = f"{sys.implementation.cache_tag} {sys.platform}"
    return "\n".join([*compiler, *versions, python, str(llvm.llvm_version_info), *cpu()])


@functools.cache
def _digest() -> Any:
    """The hash of that, to go on from: it is long, and a capture asks for dozens of kernels."""
    return hashlib.sha256(f"{_environment()}\n".encode())


def _key(content: str) -> str:
    digest = _digest().copy()
    digest.update(content.encode())
    return str(digest.hexdigest()[:32])


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "run from its source"


@functools.cache
def _engine() -> object:
    return llvm.create_lljit_compiler(target_machine(jit=True))


def _link(key: str, data: bytes, exports: Sequence[str], imports: Mapping[str, int]) -> dict[str, int]:
    library = llvm.JITLibraryBuilder().add_object_img(data).add_current_process()
    for name in exports:
        library.export_symbol(name)
    for name, at in imports.items():
        library.import_symbol(name, at)
    tracked = library.link(_engine(), f"{key}-{next(_tries)}")
    _libraries.append(tracked)
    return {name: tracked[name] for name in exports}


class _Progress:
    """One line on a terminal while compiling takes longer than a second in all; gone before the program goes on."""

    PATIENCE, PAUSE = 1.0, 1.0  # seconds until the line appears, and after which compiling has ended

    def __init__(self) -> None:
        self.count, self.started, self.ended = 0, 0.0, 0.0
        self.timer: threading.Timer | None = None
        self.shown, self.muted, self.lock = False, False, threading.Lock()

    def begin(self) -> None:
        now = time.monotonic()
        if now - self.ended > self.PAUSE:
            self.count, self.started = 0, now
        self.count += 1
        if self.muted or sys.stderr is None or not sys.stderr.isatty():
            return
        self.timer = threading.Timer(max(0.0, self.started + self.PATIENCE - now), self.show, [self.count])
        self.timer.daemon = True
        self.timer.start()

    def show(self, count: int) -> None:
        with self.lock:
            if self.timer is not None and count == self.count:
                self.shown = True
                self._write(f"\rd2s: compiling kernels ... {count}")

    def end(self) -> None:
        self.ended = time.monotonic()
        if self.timer is None:
            return
        self.timer.cancel()
        with self.lock:
            self.timer = None
            if self.shown:
                self.shown = False
                self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        stream: Any = sys.stderr
        stream.write(text)
        stream.flush()


_progress = _Progress()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Shows no line while compiling: the caller shows its own."""
    _progress.muted = True
    try:
        yield
    finally:
        _progress.muted = False


def _renew() -> None:
    """In a forked child nobody else compiles."""
    global _progress
    _progress = _Progress()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
