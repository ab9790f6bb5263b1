"""The generations of Paddle's API, and which of them a script is written for.

In: the text of a script, and of those of its own modules that it imports. Out: the name of a generation.

>>> of_script("import paddle.fluid as fluid")
'1.x'
>>> of_script("import paddle\\npaddle.enable_imperative()")
'2.0-alpha'
>>> of_script("import paddle\\nx = paddle.to_tensor([1.0])")
'2.x'
>>> of_script("import paddle\\nimport paddle.fluid\\nx = paddle.to_tensor([1.0])")
'2.2'
"""

import ast
import dataclasses
import re
from typing import Any

from d2s.parsing import tree_of


@dataclasses.dataclass(frozen=True)
class Generation:
    """What one generation has that d2s, which is of the newest, has under other names or not at all."""

    version: str
    names: dict[str, Any]  # by the whole path, "paddle.fluid.layers.fc"
    instead: dict[str, tuple[str, ...]]  # of a module: the parts of d2s that are looked into
    same: dict[str, str] = dataclasses.field(default_factory=dict)  # modules that have the names of others
    old_values: bool = False  # what is one number has the shape [1]
    declarative: bool = False  # code declares programs until it is told to compute at once
    keeps_gradients: bool = False  # values on the way keep their gradients
    zeros_for_stopped: bool = False  # a value no gradient passes has one of 0
    divides_as_c: bool = False  # integers, towards 0, to integers
    learns_all: bool = False  # an optimizer without parameters trains what the loss reached


_OF_1X = {"fluid", "batch", "dataset", "reader", "compat", "version", "distributed", "utils", "incubate", "sysconfig"}
_OF_1X |= {"complex", "__version__"}


def of_script(*texts: str) -> str:
    """The generation whose names a script, in one text or several, uses.

    `imperative` is alpha's. `paddle.fluid` with no other name of Paddle 2's is 1.x's; beside names of Paddle 2's it tells that
    the script is older than 2.5, which has it no more. Nothing else tells 2.2 from 2.x.
    """
    first = {name.split(".")[0] for text in texts for name in _used(text)}
    if any("imperative" in name for name in first):
        return "2.0-alpha"
    return "2.x" if "fluid" not in first else "2.2" if first - _OF_1X else "1.x"


def _used(text: str) -> set[str]:
    """The names of Paddle's that a text imports or asks for, by their paths below `paddle`."""
    try:
        nodes = list(ast.walk(tree_of(text)))
    except SyntaxError:  # of a Python before 3, perhaps
        return set(re.findall(r"\bpaddle\.([\w.]+)", text))
    imported = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    called = {"paddle", *(alias.asname for alias in imported if alias.name == "paddle" and alias.asname)}
    found = {alias.name.partition(".")[2] for alias in imported if alias.name.startswith("paddle.")}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "paddle" and not node.level:
            below = (node.module or "").partition(".")[2]
            found |= {f"{below}.{alias.name}".strip(".") for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in called:
            found.add(node.attr)
    return found - {""}
