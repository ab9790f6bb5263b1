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


def _yields(x, n):
    """Generators of all kinds of yields, by `n`."""
    for k in range(n):
        got = yield x + k
        if got is None and k == 3:
            return
    if n == 1:
        return (yield "last")
    try:
        yield from (k for k in range(n) if k % 2)
        while n > 2:
            n -= 1
            yield n
    finally:
        print("end")


@pytest.mark.parametrize("n", range(6))
def test_a_generator_turned_inside_out_yields_the_same(n):
    def all_of(x, n):
        return list(_yields(x, n))

    def some_of(x, n):
        found = []
        for item in _yields(x, n):
            found.append(item)
            if len(found) == 2:
                break
        return found

    for loop, plainly in (("staying", all_of), ("leaving", some_of)):
        assert stub.outcome(stub.inverted(_yields, loop), (5, n)) == stub.outcome(plainly, (5, n))
