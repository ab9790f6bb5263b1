"""`import` inside a captured function: done at capture, as a first call would; the module a name stands for is guarded.

>>> module("math").pi == imported("math", "pi")
True
>>> outermost_module("os.path").__name__
'os'
"""

import importlib
import sys
from typing import Any

from d2s.capture.symbolic import capturing
from d2s.convert.loads import attribute


def module(name: str, package: str | None = None) -> Any:
    """The module of a name."""
    return _guarded(importlib.import_module(name, package))


def outermost_module(name: str) -> Any:
    """The package that `import a.b` makes known: `a`."""
    importlib.import_module(name)
    return _guarded(sys.modules[name.partition(".")[0]])


def imported(name: str, part: str, package: str | None = None) -> Any:
    """What `from name import part` makes known."""
    owner = module(name, package)
    if not hasattr(owner, part) and hasattr(owner, "__path__"):
        try:
            return module(f"{owner.__name__}.{part}")
        except ModuleNotFoundError as error:
            if error.name != f"{owner.__name__}.{part}":
                raise
    try:
        return attribute(owner, part)
    except AttributeError:
        where = getattr(owner, "__file__", "unknown location")
        raise ImportError(f"cannot import name {part!r} from {owner.__name__!r} ({where})") from None


def _guarded(found: Any) -> Any:
    tracer, name = capturing(), found.__name__
    if tracer and sys.modules.get(name) is found:
        source = "item", sys.modules, name
        tracer.guard(("module", name), name, lambda: sys.modules[name], source=source)
    return found
