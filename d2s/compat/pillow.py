"""`Image.ANTIALIAS`, which Pillow took away in its release 10 and scripts of those years ask for: `LANCZOS` under its old name.

In: the import of `PIL.Image`, by a script or by a package of its. Out: the module, with the name. Pillow itself is imported by
nobody but the script.

>>> AntialiasFinder().find_spec("PIL.ImageFilter") is None
True
"""

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence

IMAGE, OLD, NEW = "PIL.Image", "ANTIALIAS", "LANCZOS"


class AntialiasFinder(importlib.abc.MetaPathFinder):
    """Finds `PIL.Image` where it is, and has it loaded with its old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target) if fullname == IMAGE else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Named(spec.loader)
        return spec


class _Named(importlib.abc.Loader):
    """A loader, and the old name behind it."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self.loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        self.loader.exec_module(module)
        _name(module)


def _name(module: types.ModuleType) -> None:
    if hasattr(module, NEW) and not hasattr(module, OLD):
        setattr(module, OLD, getattr(module, NEW))


def install() -> AntialiasFinder:
    """From now on; a Pillow that is imported already gets the name at once."""
    if IMAGE in sys.modules:
        _name(sys.modules[IMAGE])
    finder = AntialiasFinder()
    sys.meta_path.insert(0, finder)
    return finder
