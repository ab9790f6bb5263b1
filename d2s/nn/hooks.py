"""Functions called around others, in the order in which they came, until they are removed.

>>> hooks = {}
>>> removable = HookRemoveHelper(hooks, print)
>>> list(hooks.values())
[<built-in function print>]
>>> removable.remove()
>>> hooks
{}
"""

import itertools
from collections.abc import Callable
from typing import Any

from d2s.errors import DTypeError

_numbers = itertools.count()
Hooks = dict[int, Callable[..., Any]]


class HookRemoveHelper:
    """Puts a hook among others and takes it away again."""

    def __init__(self, hooks: Hooks, hook: Callable[..., Any]) -> None:
        if not callable(hook):
            raise DTypeError("D2S0001", f"a hook is to be callable, and is a {type(hook).__name__}")
        self._hooks, self._hook_id = hooks, next(_numbers)
        hooks[self._hook_id] = hook

    def remove(self) -> None:
        """Calls the hook no more; a second time does nothing."""
        self._hooks.pop(self._hook_id, None)
