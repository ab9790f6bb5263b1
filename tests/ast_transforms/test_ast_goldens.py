"""The rewritten text of some functions, as a person reads it. `D2S_UPDATE_GOLDEN=1` writes the files anew."""

import os
import pathlib
import re

import ast_corpus
import ast_stub_runtime as stub
import pytest

from d2s.ast_transforms import convert_function

FOLDER = pathlib.Path(__file__).parent / "golden"
GOLDEN = ("nested_returns", "while_with_if", "break_continue_else", "chains", "closure_writes", "unbound_augmented")


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    converted = convert_function(getattr(ast_corpus, name), stub)
    # names carry the line of their statement: here counted from the function's first
    path, text = FOLDER / f"{name}.py.txt", relative(converted.text, converted.firstlineno)
    if os.environ.get("D2S_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


def relative(text, first):
    """`then_412` as `then_4` in a function that begins at line 409: goldens do not change with the lines above."""
    for line in range(first, first + 100):
        text = re.sub(rf"_{line}\b", f"_{line - first + 1}", text)
    return text
