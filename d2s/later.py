"""Names of a package that are imported when they are first asked for: `import d2s` loads no datasets, models and callbacks.

In: a package's name; for each name the module that has it, or that it is. Out: the package's `__getattr__` and `__dir__`; or a
function of a module, or a method that is one, for where there is no `__getattr__`.

>>> found, listed = names("d2s", {"Model": "d2s.hapi"})
>>> found("Model").__module__, "Model" in listed()
('d2s.hapi.model', True)
"""

import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from d2s import forks


@functools.cache
def imported(module: str) -> Any:
    """A module of d2s, imported now if it is not yet."""
    with forks.importing:
        return importlib.import_module(module)


def names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a package defines to have names later; each is looked up once."""

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        home = imported(homes[name])
        value = home if homes[name] == f"{package}.{name}" else getattr(home, name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return __getattr__, __dir__


def function(home: str, name: str) -> Callable[..., Any]:
    """A function of a module that is imported at the first call.

    >>> function("d2s.linalg", "det")(d2s.to_tensor([[2.0]])).item()
    2.0
    """

    def later(*args: Any, **kwargs: Any) -> Any:
        return getattr(imported(home), name)(*args, **kwargs)

    later.__name__ = later.__qualname__ = name
    later.__doc__ = f"`{home}.{name}`."
    return later


class Method:
    """A method of a class that is a function of a module, which is imported when the class or a value is first asked for it.

    >>> import inspect
    >>> str(inspect.signature(d2s.Tensor.det)) == str(inspect.signature(d2s.linalg.det))
    True
    """

    def __init__(self, home: str, name: str) -> None:
        self.home, self.name = home, name

    def __get__(self, value: Any, owner: type | None = None) -> Any:
        return getattr(imported(self.home), self.name).__get__(value, owner)
