"""Functions of a module whose annotations are never evaluated."""

from __future__ import annotations


def annotated(x: NoSuchType) -> list[NoSuchType]:  # noqa: F821
    def inner(y: NoSuchType) -> None:  # noqa: F821
        return y

    z: NoSuchType = inner(x)  # noqa: F821
    return z
