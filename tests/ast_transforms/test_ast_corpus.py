"""Each function of the corpus, converted, does what the original does; so does each transform alone."""

import ast_corpus
import ast_stub_runtime as stub
import pytest

from d2s import ast_transforms
from d2s.ast_transforms import load, source

NAMED = pytest.mark.parametrize("fn, arguments", ast_corpus.CORPUS, ids=[fn.__name__ for fn, _ in ast_corpus.CORPUS])


@NAMED
def test_same_outcome(fn, arguments):
    converted = stub.convert(fn)
    for args in arguments:
        assert stub.outcome(converted, args) == stub.outcome(fn, args), args


@NAMED
@pytest.mark.parametrize("module", ast_transforms.PIPELINE, ids=lambda m: m.__name__.rpartition(".")[2])
def test_each_transform_alone(module, fn, arguments):
    function = source.read(fn)
    if module is not ast_transforms.fence:  # input of all behind it: variables of others are assigned by calls
        ast_transforms.outer.transform(function)
    if module.__name__.endswith(("if_else", "while_loop", "for_loop", "protect")):  # input: no name unbound
        for earlier in (ast_transforms.annotations, ast_transforms.deletes, ast_transforms.loads):
            earlier.transform(function)
    if module is ast_transforms.loads:  # input: no `del`
        ast_transforms.deletes.transform(function)
    if module is not ast_transforms.outer:
        module.transform(function)
    if module is ast_transforms.deletes:  # whether a variable has a value, `loads` asks
        ast_transforms.loads.transform(function)
    converted = load.build(function, fn, stub)
    for args in arguments:
        assert stub.outcome(converted, args) == stub.outcome(fn, args), args


@NAMED
def test_text_is_the_code(fn, arguments):
    compile(ast_transforms.convert_function(fn, stub).text, "<text>", "exec")
