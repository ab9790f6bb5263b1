"""Names no two things share: the scopes of layers (`linear_0`), parameters (`linear_0.w_0`), tensors without a name.

In: what a thing is. Out: that, and a number counted up for each kind of thing.

>>> with guard():
...     generate("linear"), generate("linear"), generate("conv2d")
('linear_0', 'linear_1', 'conv2d_0')
"""

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

from d2s.errors import DTypeError


class UniqueNames:
    """Counts the names of each kind, behind a prefix that all of them get."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix, self.counts = prefix, dict[str, Iterator[int]]()

    def __call__(self, key: str) -> str:
        """No two threads get the same; a lock would do, but for a fork while another thread has it."""
        return f"{self.prefix}{key}_{next(self.counts.setdefault(key, itertools.count()))}"


_current = [UniqueNames()]


def generate(key: str) -> str:
    """The next name of a kind.

    >>> with d2s.utils.unique_name.guard():
    ...     d2s.utils.unique_name.generate("fc")
    'fc_0'
    """
    _expect("generate", "key", key, str, "a str")
    return _current[0](key)


def _expect(function: str, name: str, value: Any, kind: Any, words: str) -> None:
    if not isinstance(value, kind):
        raise DTypeError("D2S0001", f"unique_name.{function}(): '{name}' expects {words}, got {type(value).__name__}")


def switch(new_generator: UniqueNames | None = None) -> UniqueNames:
    """Counts with `new_generator` from now on, or from 0; returns what counted before.

    >>> before = d2s.utils.unique_name.switch()
    >>> d2s.utils.unique_name.generate("fc")
    'fc_0'
    >>> _ = d2s.utils.unique_name.switch(before)
    """
    _expect("switch", "new_generator", new_generator, UniqueNames | None, "what switch() returned")
    before, _current[0] = _current[0], new_generator or UniqueNames()
    return before


@contextlib.contextmanager
def guard(new_generator: str | UniqueNames | None = None) -> Iterator[None]:
    """Counts anew inside a `with` block; a string becomes the prefix of the names in it.

    >>> with d2s.utils.unique_name.guard("A_"):
    ...     d2s.utils.unique_name.generate("fc")
    'A_fc_0'
    """
    _expect("guard", "new_generator", new_generator, str | UniqueNames | None, "a str or what switch() returned")
    before = switch(UniqueNames(new_generator) if isinstance(new_generator, str) else new_generator)
    try:
        yield
    finally:
        switch(before)
