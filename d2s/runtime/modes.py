"""Whether layers are in training as a capture finds it: a file holds what they do in inference, in whatever mode they are.

In: layers and a mode. Out: what `training` of them is to the captures of this thread. The layers themselves stay as they are:
others may be running them.

>>> layer = d2s.nn.Linear(2, 1)
>>> with assumed([layer], False):
...     read(layer, "training"), layer.training
(False, True)
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


class _Assumed(threading.local):
    modes: Mapping[int, bool] = {}  # by id
    noted: Callable[[Any], None] | None = None  # what is told of the layers that are asked by code that is not rewritten


_assumed = _Assumed()
_kinds: list[Any] = []  # the classes that have modes


def has_modes(kind: type) -> Any:
    """Declares a class whose objects say by `training` in which mode they are."""
    _kinds.append(kind)
    return kind


@contextlib.contextmanager
def assumed(layers: Sequence[Any], training: bool) -> Iterator[None]:
    """Captures find these layers in this mode."""
    before = _assumed.modes
    _assumed.modes = {**before, **dict.fromkeys(map(id, layers), training)}
    try:
        yield
    finally:
        _assumed.modes = before


def read(owner: Any, name: str, *default: Any) -> Any:
    """An attribute as a capture reads it; `default` where there is none."""
    if name == "training" and id(owner) in _assumed.modes:
        return _assumed.modes[id(owner)]
    return getattr(owner, name, *default)


class _Mode:
    """`training` of all layers while code runs that a capture does not rewrite; other threads find what is there."""

    def __get__(self, layer: Any, kind: Any = None) -> Any:
        if layer is None:
            return self
        if _assumed.noted and "training" in vars(layer):
            noted, _assumed.noted = _assumed.noted, None
            noted(layer)
            _assumed.noted = noted
        if id(layer) in _assumed.modes:
            return _assumed.modes[id(layer)]
        return vars(layer)["training"] if "training" in vars(layer) else layer.__getattr__("training")  # which complains

    def __set__(self, layer: Any, training: Any) -> None:
        vars(layer)["training"] = training


@contextlib.contextmanager
def not_rewritten(noted: Callable[[Any], None]) -> Iterator[None]:
    """Code that is not rewritten finds the assumed modes, too; of whom it asks, `noted` is told.

    Of one capture at a time, as all that captures do.
    """
    before, _assumed.noted = _assumed.noted, noted
    for kind in () if before else _kinds:
        kind.training = _Mode()
    try:
        yield
    finally:
        _assumed.noted = before
        for kind in () if before else _kinds:
            del kind.training
