"""`import paddle` as d2s: modules that are made of names when they are asked for.

In: a generation of the API. Out: modules `paddle`, `paddle.nn.functional`, `paddle.fluid.dygraph`, ... A name is first looked
up in what the generation has of its own, then in d2s; a name that neither has is refused at the user's line.

>>> with installed("2.x"):
...     import paddle.nn.functional as F
>>> F.relu is d2s.nn.functional.relu
True
"""

import contextlib
import difflib
import importlib.abc
import importlib.machinery
import inspect
import sys
import types
from collections.abc import Iterator
from typing import Any

from d2s.arguments import expect
from d2s.capture.users_code import user_columns, user_line
from d2s.compat import alpha, fluid, pillow, second
from d2s.compat.generation import Generation
from d2s.compat.keywords import refusing, refusing_class
from d2s.compat.old_values import Methods, old, old_layer
from d2s.errors import ArgumentError, MissingModule, MissingName
from d2s.nn.layer import Layer
from d2s.static.program import Program, disable_static, enable_static, program_guard

GENERATIONS: dict[str, Generation] = {
    "1.x": fluid.GENERATION,
    "2.0-alpha": alpha.GENERATION,
    "2.2": second.GENERATION_2_2,
    "2.x": second.GENERATION,
}
_MISSING = object()


class Face(types.ModuleType):
    """A module of Paddle's, whose names are found when they are asked for."""

    def __init__(self, name: str, finder: "Finder") -> None:
        super().__init__(name, f"{name}, as d2s has it.")
        self.__path__: list[str] = []
        self.__dict__["_finder"] = finder

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # what `import *` takes
            return self._finder.names_in(self.__name__)
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        found = self._finder.find(f"{self.__name__}.{name}")
        if found is _MISSING:
            message = self._finder.missing(f"{self.__name__}.{name}")
            raise MissingName("D2S5001", message, where=user_line(), columns=user_columns())
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        return self._finder.names_in(self.__name__)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `paddle` and all below it."""

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self.found: dict[str, Any] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != "paddle":
            return None
        found = self.find(fullname)
        if found is _MISSING:
            raise MissingModule("D2S5001", self.missing(fullname), where=user_line())
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        found = self.find(spec.name)
        return found if isinstance(found, types.ModuleType) else Face(spec.name, self)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""

    def find(self, path: str) -> Any:
        """What stands under a name; _MISSING if nothing does."""
        if path not in self.found:
            self.found[path] = self._looked_up(path)
        return self.found[path]

    def _looked_up(self, path: str) -> Any:
        names, same = self.generation.names, self.generation.same
        module, _, name = path.rpartition(".")
        if path == "paddle.__version__":
            return self.generation.version
        if path in same or module in same:
            return Face(path, self) if path in same else self.find(f"{same[module]}.{name}")
        if path in names:
            return self._named(path, names[path])
        held = [found for place in self._places(path) if (found := _in_d2s(place)) is not _MISSING]
        inside = any(name.startswith(path + ".") for name in (*names, *self.generation.instead))
        if path == "paddle" or path in self.generation.instead or inside or (held and inspect.ismodule(held[0])):
            return Face(path, self)
        return self._as_then(path, held[0]) if held else _MISSING

    def _places(self, path: str) -> list[str]:
        """Where in d2s a name may stand."""
        module, _, name = path.rpartition(".")
        own = path.partition(".")[2]
        instead = [f"{place}.{name}".lstrip(".") for place in self.generation.instead.get(module, ())]
        return [own, *instead]

    def _named(self, path: str, found: Any) -> Any:
        """A thing of the generation's own, which refuses keywords in words."""
        if isinstance(found, type):
            return refusing_class(found) if found.__module__.startswith(__package__) else found
        return refusing(path, found) if inspect.isfunction(found) else found

    def _as_then(self, path: str, found: Any) -> Any:
        """A thing of d2s's as the generation has it."""
        if not self.generation.old_values:
            return found
        if isinstance(found, type):
            return old_layer(found) if issubclass(found, Layer) and found.__name__.endswith("Loss") else found
        return refusing(path, old(found)) if callable(found) and not isinstance(found, types.ModuleType) else found

    def names_in(self, module: str) -> list[str]:
        """The names of a module."""
        module = self.generation.same.get(module, module)
        own = {name[len(module) + 1 :].partition(".")[0] for name in self.generation.names if name.startswith(module + ".")}
        for place in (module.partition(".")[2], *self.generation.instead.get(module, ())):
            held = _in_d2s(place)
            names = () if held is _MISSING else dir(held)
            own |= {n for n in names if not n.startswith("_") and _in_d2s(f"{place}.{n}".lstrip(".")) is not _MISSING}
        return sorted(own)

    def missing(self, path: str) -> str:
        """The words for a name there is not."""
        module, _, name = path.rpartition(".")
        nearest = difflib.get_close_matches(name, self.names_in(module), 3, 0.5)
        return f"{path} is not in d2s; nearest: {', '.join(f'{module}.{n}' for n in nearest) or 'none'}"


_MODULES = {"autograd", "callbacks", "dataset", "hapi", "io", "jit", "linalg", "metric", "nn", "onnx", "optimizer", "reader"}
_MODULES |= {"regularizer", "static", "utils", "version", "vision", "nn.clip", "nn.layer", "vision.transforms.functional"}


def _in_d2s(path: str) -> Any:
    """What stands in d2s under a path, but for modules that only d2s has."""
    found: Any = sys.modules["d2s"]
    for n, name in enumerate(names := path.split(".") if path else []):
        holder, found = found, getattr(found, name, _MISSING)
        private = inspect.ismodule(found) and name not in getattr(holder, "__all__", ())
        if found is _MISSING or (private and ".".join(names[: n + 1]) not in _MODULES):
            return _MISSING
    return found


# --- installing --------------------------------------------------------------------------------------------------------------

_installed: list[tuple[Finder, pillow.AntialiasFinder, Methods, dict[str, Any], Any]] = []


def install(api: str = "2.x") -> None:
    """From now on, `import paddle` finds d2s, as a generation: "1.x", "2.0-alpha", "2.2" or "2.x".

    >>> install("2.x")
    >>> import paddle
    >>> paddle.Tensor is d2s.Tensor
    True
    >>> uninstall()
    """
    expect("install", "api", api, str, "a str")
    if api not in GENERATIONS:
        raise ArgumentError("D2S0004", f"install(): 'api' is {api!r}", hint=f"one of {', '.join(GENERATIONS)}")
    uninstall()
    finder = Finder(GENERATIONS[api])
    before = _modules()
    for name in before:
        del sys.modules[name]
    programs = program_guard(Program(), Program())  # a script begins with none declared
    programs.__enter__()
    _installed.append((finder, pillow.install(), Methods(GENERATIONS[api]), before, programs))
    sys.meta_path.insert(0, finder)
    if GENERATIONS[api].declarative:
        enable_static()


def uninstall() -> None:
    """`import paddle` finds what it found before."""
    while _installed:
        finder, images, methods, before, programs = _installed.pop()
        sys.meta_path.remove(finder)
        sys.meta_path.remove(images)
        methods.restore()
        for name in _modules():
            del sys.modules[name]
        sys.modules.update(before)
        disable_static()
        programs.__exit__(None, None, None)


def _modules() -> dict[str, Any]:
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "paddle"}


@contextlib.contextmanager
def installed(api: str = "2.x") -> Iterator[None]:
    """The same inside a `with` block."""
    install(api)
    try:
        yield
    finally:
        uninstall()
