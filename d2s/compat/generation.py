"""The generations of Paddle's API, and which of them a script is written for.

In: the text of a script. Out: the name of a generation.

>>> of_script("import paddle.fluid as fluid")
'1.x'
>>> of_script("import paddle\\npaddle.enable_imperative()")
'2.0-alpha'
>>> of_script("import paddle\\nx = paddle.to_tensor([1.0])")
'2.x'
"""

import ast
import dataclasses
import re
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Generation:
    """What one generation has that d2s, which is of the newest, has under other names or not at all."""

    version: str
    names: Mapping[str, Any]  # by the whole path, "paddle.fluid.layers.fc"
    instead: Mapping[str, tuple[str, ...]]  # of a module: the parts of d2s that are looked into
    old_values: bool = False  # what is one number has the shape [1]
    declarative: bool = False  # code declares programs until it is told to compute at once
    keeps_gradients: bool = False  # values on the way keep their gradients
    zeros_for_stopped: bool = False  # a value no gradient passes has one of 0
    learns_all: bool = False  # an optimizer without parameters trains what the loss reached


_SIGNS = {"1.x": r"\bfluid\b", "2.0-alpha": r"\bimperative\b|\benable_imperative\b|\bdisable_imperative\b"}


def of_script(text: str) -> str:
    """The generation whose names a script uses."""
    code = _without_words(text)
    return next((name for name, sign in _SIGNS.items() if re.search(sign, code)), "2.x")


def _without_words(text: str) -> str:
    """The text without comments and strings, where it can be read."""
    try:
        return " ".join(_names(ast.parse(text)))
    except SyntaxError:
        return text


def _names(tree: ast.AST) -> list[str]:
    found = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found += [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
    return found
