"""Imports go one way, stand at the top of their module, and only one module knows Numba; judged on the syntax tree.

`faults` takes the text of a module, so that the checker itself is tested on planted violations.
"""

import ast
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "d2s"
LAYERS = [  # what stands on one line may import each other and everything above
    "pages errors config stages types extents reckoned place limits flags version default_dtype memory later arguments"
    " unique_name regularizer once exact forks parsing whereabouts",
    "ir",
    "ops",
    "codegen",
    "runtime",
    "autodiff",
    "eager autograd",
    "capture",
    "convert",
    "passes",
    "nn optimizer",
    "export checkpoint",
    "io linalg metric vision dataset",
    "static",
    "jit",
    "distributed hapi callbacks onnx debug",
    "compat utils",
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names.split()}
AST_TRANSFORMS = set(LAYERS[0].split()) | {"ast_transforms"}  # Python to Python: knows nothing of tensors
ABOVE_ALL = {"__init__", "__main__"}  # the names for users
NUMBA = "codegen/numba_kernel.py"
NUMBAS = "codegen/numba_"  # the modules that only it imports
DRAWERS = {"util", "utils", "helper", "helpers", "misc", "common", "manager", "managers", "base"}
PADDLE_NAMES = {"utils", "nn/utils"}  # parts that users import by the name they have in Paddle
OPTIONAL = {"PIL", "mpi4py", "IPython"}  # packages that may be missing: imported where they are needed


def imports(tree):
    """Every (statement, module) of an import statement; `from d2s import ops` imports d2s.ops."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (
                ((node, f"{module}.{alias.name}") for alias in node.names) if module in ("d2s", ".") else [(node, module)]
            )


def may_import(where, what):
    """Whether modules of one part of d2s may import another."""
    if where in ABOVE_ALL or where == what:
        return True
    if "ast_transforms" in (where, what):
        return (
            what in AST_TRANSFORMS
            if where == "ast_transforms"
            else LEVEL[where] > LEVEL["passes"] or where in ("convert", "capture")
        )
    return what in LEVEL and LEVEL[what] <= LEVEL[where]


def faults(path, text):
    """What is wrong with the module of a path like `ops/math.py`."""
    tree = ast.parse(text)
    parts = pathlib.PurePosixPath(path).with_suffix("").parts
    where = parts[0]
    found = [] if ast.get_docstring(tree) or not text.strip() else ["no docstring"]
    if not text.strip():
        found.append("empty")
    drawers = ("/".join(parts[: k + 1]) for k, name in enumerate(parts) if name in DRAWERS)
    found += [f"a drawer named {drawer.rpartition('/')[2]}" for drawer in drawers if drawer not in PADDLE_NAMES]
    if where not in LEVEL and where not in ABOVE_ALL and where != "ast_transforms":
        return [*found, f"{where} has no layer"]
    inside = {
        n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) for n in ast.walk(f)
    }
    for node, module in imports(tree):
        first, *rest = module.split(".")
        if node in inside and first not in OPTIONAL:
            found.append(f"line {node.lineno}: an import inside a function")
        if first == "":
            found.append(f"line {node.lineno}: a relative import")
        if first == "numba" and not path.startswith(NUMBAS):
            found.append(f"line {node.lineno}: imports numba")
        if first == "d2s" and (not rest or not may_import(where, rest[0])) and where not in ABOVE_ALL:
            found.append(f"line {node.lineno}: {where} imports {'.'.join(rest) or 'd2s itself'}")
    return found


MODULES = sorted(str(p.relative_to(PACKAGE).as_posix()) for p in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES)
def test_a_module_keeps_the_rules(path):
    assert faults(path, (PACKAGE / path).read_text()) == []


def test_the_modules_were_found():
    assert {"__init__.py", "errors.py", "ops/math.py", NUMBA} <= set(MODULES)


def test_every_part_has_a_layer():
    parts = {pathlib.PurePosixPath(m).with_suffix("").parts[0] for m in MODULES}
    assert parts <= {*LEVEL, "ast_transforms", *ABOVE_ALL}


PLANTED = [
    ("ops/math.py", "from d2s.runtime import launch", "ops imports runtime"),
    ("ops/math.py", "import d2s.eager.tensor", "ops imports eager.tensor"),
    ("ops/math.py", "from d2s import eager", "ops imports eager"),
    ("ops/math.py", "import d2s", "ops imports d2s itself"),
    ("ops/math.py", "if True:\n    from d2s.jit import to_static", "ops imports jit"),
    ("ops/math.py", "def f():\n    import os", "an import inside a function"),
    ("ops/math.py", "class A:\n    async def f(self):\n        from d2s import types", "an import inside a function"),
    ("ops/math.py", "from . import shapes", "a relative import"),
    ("ops/math.py", "from ..runtime import launch", "a relative import"),
    ("ops/math.py", "import numba", "imports numba"),
    ("codegen/emit.py", "from numba.core import cgutils", "imports numba"),
    ("ast_transforms/loads.py", "from d2s.ir import program", "ast_transforms imports ir"),
    ("ops/math.py", "from d2s.ast_transforms import load", "ops imports ast_transforms"),
    ("jit/to_static.py", "from d2s.compat import v1", "jit imports compat"),
    ("nowhere/x.py", "import os", "nowhere has no layer"),
    ("ops/utils.py", "import os", "a drawer named utils"),
    ("common/x.py", "import os", "a drawer named common"),
]


@pytest.mark.parametrize("n", range(len(PLANTED)))
def test_a_planted_violation_is_caught(n):
    path, text, message = PLANTED[n]
    assert any(message in found for found in faults(path, f'"""Words."""\n{text}\n'))


def test_missing_words_are_caught():
    assert faults("ops/math.py", "import os\n") == ["no docstring"]
    assert "empty" in faults("ops/math.py", "")


IN_ORDER = [
    ("ops/math.py", "from d2s.ir.program import Value"),
    ("ops/math.py", "from d2s.ops.op import OPS"),
    ("jit/signature.py", "from d2s.static.input_spec import InputSpec"),
    ("nn/linear.py", "from d2s.optimizer import sgd"),
    ("errors.py", "from d2s import types"),
    ("convert/calls.py", "from d2s.ast_transforms import load"),
    ("ast_transforms/load.py", "from d2s.errors import D2SError"),
    (NUMBA, "import numba"),
    ("vision/image.py", "def f():\n    from PIL import Image"),
    ("__init__.py", "from d2s import jit, nn"),
]


@pytest.mark.parametrize("n", range(len(IN_ORDER)))
def test_what_is_in_order_passes(n):
    path, text = IN_ORDER[n]
    assert faults(path, f'"""Words."""\n{text}\n') == []
