"""Kernels by content: text → address, through a folder of checked object files that needs no Numba to load.

The key covers the text, the compiler's own source, the versions and the CPU; an entry that does not prove itself by its
checksum is compiled again. `D2S_CACHE_DIR` moves the folder.

>>> address("def kernel(r, o):\\n    r[o[0]] = 7\\n", "f32") == address("def kernel(r, o):\\n    r[o[0]] = 7\\n", "f32")
True
"""

import functools
import hashlib
import importlib
import importlib.metadata
import os
import pathlib
import tempfile
import threading
import warnings

import llvmlite.binding as llvm

from d2s.codegen.host import target_machine
from d2s.stages import stage

_lock = threading.Lock()
_loaded: dict[str, int] = {}
_libraries: list[object] = []  # loaded code is never unloaded


def address(text: str, T: str, name: str = "kernel") -> int:
    """The address of the compiled function `name` of a text."""
    key = hashlib.sha256(f"{_environment()}\n{T}\n{name}\n{text}".encode()).hexdigest()[:32]
    with _lock:
        if key not in _loaded:
            stage(f"kernel-{key[:8]}", f"# T = {T}\n{text}", "py")
            _loaded[key] = _link(key, _read(key) or _compile(key, text, T, name))
        return _loaded[key]


def folder() -> pathlib.Path:
    """Where object files are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(os.environ.get("D2S_CACHE_DIR") or os.path.join(base, "d2s"))


@functools.cache
def _environment() -> str:
    compiler = pathlib.Path(__file__).with_name("numba_kernel.py").read_text()
    versions = [importlib.metadata.version(p) for p in ("numba", "llvmlite")]
    return "\n".join([compiler, *versions, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()])


def _read(key: str) -> bytes:
    """The object under a key, or nothing where it is missing, damaged or another user's."""
    path = folder() / f"{key}.o"
    try:
        if os.name == "posix" and path.stat().st_uid != os.getuid():
            return b""
        data = path.read_bytes()
    except OSError:
        return b""
    if hashlib.sha256(data[32:]).digest() == data[:32]:
        return data[32:]
    warnings.warn(f"d2s: {path} is damaged and is compiled again", RuntimeWarning, stacklevel=2)
    return b""


def _compile(key: str, text: str, T: str, name: str) -> bytes:
    numba_kernel = importlib.import_module("d2s.codegen.numba_kernel")  # Numba is imported only to compile
    data: bytes = numba_kernel.object_of(text, T, name)
    try:
        folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=folder())
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(temporary, folder() / f"{key}.o")
    except OSError:
        pass  # a folder that cannot be written costs the next process a compile, nothing else
    return data


@functools.cache
def _engine() -> object:
    return llvm.create_lljit_compiler(target_machine(jit=True))


def _link(key: str, data: bytes) -> int:
    library = llvm.JITLibraryBuilder().add_object_img(data).export_symbol("kernel").add_current_process()
    linked = library.link(_engine(), key)
    _libraries.append(linked)
    return linked["kernel"]
