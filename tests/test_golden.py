"""Every stage of a few functions, as text, against the files in `golden/`.

`D2S_UPDATE_GOLDEN=1 python -m pytest tests/test_golden.py` writes them anew: read the diff before you keep it.
"""

import os
import pathlib
import re

import pytest

import d2s
from d2s.ir.text import parse, show
from tests.golden_programs import GOLDEN

FOLDER = pathlib.Path(__file__).with_name("golden")


def stages(function, arguments):
    """The text of every stage, without what differs from machine to machine."""
    static = d2s.to_static(function)
    variant = static.concrete_program(*arguments)
    graph = variant.graph
    tensors = [t for t in arguments if isinstance(t, d2s.Tensor)]
    wanted = tuple(not t.stop_gradient for t in tensors)
    given = tuple(v.type.is_float for v in graph.program.outputs)
    linear, _, backward = graph.halves(wanted, given, (False,) * len(tensors))
    texts = {
        "rewritten.py": static.text,
        "program.txt": show(graph.program),
        "plan.txt": str(graph._plain.plan),
        "forward.txt": show(linear.forward),
        "backward.txt": show(linear.backward),
        "backward_plan.txt": str(backward.plan),
    }
    return {name: re.sub(r"# \S*?([\w]+\.py:\d+)", r"# \1", text) for name, text in texts.items()}


@pytest.mark.parametrize("function", GOLDEN, ids=lambda f: f.__name__)
def test_every_stage_is_as_kept(function):
    for name, text in stages(function, GOLDEN[function]).items():
        path = FOLDER / f"{function.__name__}.{name}"
        if os.environ.get("D2S_UPDATE_GOLDEN"):
            path.write_text(text)
        assert text == path.read_text(), f"{path.name} is no longer what {function.__name__} gives"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*ward.txt")) + sorted(FOLDER.glob("*.program.txt")), ids=lambda p: p.name)
def test_kept_programs_parse_back(path):
    assert show(parse(path.read_text())) == path.read_text()


def test_kernels_are_as_kept():
    from d2s.codegen import emit
    from d2s.ops import OPS
    from d2s.types import Type, bool_, float32, int8, int64

    x, row, one = Type(float32, ("n", 4)), Type(float32, (4,)), Type(float32)
    python = Type(int64, python=True)
    uses = [
        ("add", (x, row), {}),
        ("where", (Type(bool_, ("n", 1)), x, one), {}),
        ("add", (python, python), {}),
        ("cast", (x,), {"dtype": int8, "python": False}),
        ("sum", (x,), {"axis": (0,), "keepdim": False}),
        ("matmul", (x, Type(float32, (4, 2))), {"transpose_x": False, "transpose_y": False}),
    ]
    texts = []
    for name, inputs, attrs in uses:
        op = OPS[name]
        launch = emit.lower(op, inputs, op.infer(inputs, attrs), attrs)
        texts.append(f"# T = {launch.T}, extents {launch.extents}\n{launch.text}")
    path = FOLDER / "kernels.py.txt"
    if os.environ.get("D2S_UPDATE_GOLDEN"):
        path.write_text("\n\n".join(texts))
    assert "\n\n".join(texts) == path.read_text()
