"""The texts a script is made of: its own, and those of the modules beside it that it imports.

In: the path of a script, or the name of a module. Out: texts; nothing is imported for it.

>>> import pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "main.py").write_text("import net, os"), (folder / "net.py").write_text("import paddle.fluid")
>>> texts_of(str(folder / "main.py"), False)
['import net, os', 'import paddle.fluid']
"""

import ast
import os
import sys

from d2s.parsing import tree_of


def texts_of(script: str, is_module: bool) -> list[str]:
    """The texts; none where the first cannot be read, which running it will say."""
    if not is_module:
        return list(_read(script, os.path.dirname(os.path.abspath(script)), "").values())
    for folder in sys.path:
        for name in (f"{script}.__main__", script):  # of a package, what Python runs
            path = _file(folder, name)
            if path:
                return list(_read(path, folder, name.rpartition(".")[0]).values())
    return []


def _file(folder: str, module: str) -> str:
    """The file of a module below a folder; empty if there is none."""
    path = os.path.join(folder, *module.split("."))
    return next(filter(os.path.isfile, (f"{path}.py", os.path.join(path, "__init__.py"))), "")


def _read(first: str, folder: str, package: str) -> dict[str, str]:
    """Texts by file, of a file and what it imports from a folder."""
    found: dict[str, str] = {}
    waiting = [(first, package)]
    while waiting:
        path, package = waiting.pop(0)
        text = _text(path)
        if path in found or text is None:
            continue
        found[path] = text
        waiting += [(file, name.rpartition(".")[0]) for name in _imported(text, package) if (file := _file(folder, name))]
    return found


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def _imported(text: str, package: str) -> list[str]:
    """The modules a text may import."""
    try:
        nodes = list(ast.walk(tree_of(text)))
    except SyntaxError:
        return []
    found = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join(filter(None, [*above, node.module]))
            found += [module, *(f"{module}.{alias.name}".strip(".") for alias in node.names)]
    return [name for name in found if name]
