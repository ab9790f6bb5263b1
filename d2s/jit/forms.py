"""Calls by the form of their arguments: which captures stood for calls like one, and whether another is worth making.

In: the values of a call's parameters. Out: captures to ask first. Where a function was captured so often that captures go, a
call that none stands for is left to eager code, but for the 1st, 2nd, 4th, 8th ... of them: what changes at each call costs
ever fewer captures, and what stays from then on gets one after all.

>>> forms = Forms()
>>> forms.add((1, [2, 3]), "a capture")
>>> forms.of((5, [6, 7])), forms.of((5, [6]))
(['a capture'], [])
>>> [n for n in range(1, 20) if not forms.leaves()]
[1, 2, 4, 8, 16]
"""

from typing import Any

LOOKED_AT = 8  # captures whose checks are asked before all else
LIMIT = 32  # captures kept of one function; the one used longest ago goes first
_KNOWN = 1024  # forms


class Forms:
    """Of one function."""

    def __init__(self) -> None:
        self._found: dict[Any, list[Any]] = {}
        self._missed = 0
        self._last: Any = None

    def of(self, values: tuple[Any, ...]) -> list[Any]:
        """The captures that stood for calls of this form, the one found last first."""
        return self._found.get(_form(values), [])

    def add(self, values: tuple[Any, ...], capture: Any) -> None:
        """Notes that a capture stands for a call."""
        form = _form(values)
        if len(self._found) >= _KNOWN:
            self._found.clear()
        others = [other for other in self._found.get(form, ()) if other is not capture]
        self._found[form] = [capture, *others[: LOOKED_AT - 1]]

    def is_again(self, capture: Any) -> bool:
        """Whether the same capture was asked about before any other."""
        last, self._last = self._last, capture
        return last is capture

    def forget(self, capture: Any) -> None:
        """Notes that a capture is kept no longer."""
        self._found = {form: left for form, held in self._found.items() if (left := [c for c in held if c is not capture])}

    def known(self) -> list[Any]:
        """The captures that stood for more calls than one."""
        return [capture for held in self._found.values() for capture in held]

    def leaves(self) -> bool:
        """Whether eager code makes a call that no capture stands for, where that is seen for some time already."""
        self._missed += 1
        return self._missed & (self._missed - 1) != 0

    def leaves_at_once(self) -> bool:
        """The same, asked in front of all else: a call that is not left is not counted, for it will be."""
        missed = self._missed
        if not (missed + 1) & missed:
            return False
        self._missed = missed + 1
        return True


def _form(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([(type(v), len(v)) if type(v) in (list, tuple, dict) else v if type(v) is str else type(v) for v in values])
