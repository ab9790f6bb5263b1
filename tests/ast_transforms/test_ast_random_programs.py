"""Seeded random programs: original and converted agree on every input, unbound variables included."""

# ruff: noqa: E731

import contextlib
import io
import itertools
import linecache
import random

import ast_stub_runtime as stub
import pytest

from d2s.ast_transforms import convert_function

NAMES = ("a", "b", "c", "d", "e")
INPUTS = list(itertools.product((-1, 0, 1, 2), repeat=2))


class Writer:
    """Writes one program; every loop has a budget, so every program ends."""

    def __init__(self, seed):
        self.random, self.loops, self.lines = random.Random(seed), 0, []

    def pick(self, *makers):
        return self.random.choice(makers)()

    def name(self):
        return self.random.choice(NAMES)

    def expression(self, depth=2):
        if depth == 0:
            return self.pick(self.name, lambda: str(self.random.randint(-1, 3)))
        one = lambda: self.expression(depth - 1)
        return self.pick(
            self.name,
            lambda: f"({one()} {self.random.choice(['+', '-', '*'])} {one()})",
            lambda: f"({one()} {self.random.choice(['and', 'or'])} {one()})",
            lambda: f"(not {one()})",
            lambda: f"({one()} if {one()} else {one()})",
            lambda: f"({one()} < {one()})",
            lambda: f"({one()} < {one()} <= {one()} != {one()})",
            lambda: f"say({one()})",
            lambda: f"[{one()}, {one()}][{self.random.choice([0, 1])}]",
            lambda: f"sum([{self.random.choice('ab')} + i for i in range(2)])",  # else NameError before 3.12
            lambda: f"(lambda: {self.random.choice(['a + b', 'a and b', 'a if b else 0'])})()",  # a, b: always bound
            lambda: f"({self.name()} := {one()})",
        )

    def block(self, depth, in_loop):
        for _ in range(self.random.choice([1, 1, 2])):
            self.statement(depth, in_loop)

    def line(self, depth, text):
        self.lines.append("    " * (5 - depth) + text)

    def nested(self, header, depth, in_loop):
        self.line(depth, header)
        self.block(depth - 1, in_loop)

    def statement(self, depth, in_loop):
        simple = ["assign", "assign", "augment", "return", "exit", "closure"]
        kind = self.random.choice(simple + (["if", "elif", "else", "while", "for"] * 2 if depth > 1 else []))
        getattr(self, kind)(depth, in_loop)

    def assign(self, depth, in_loop):
        self.line(depth, f"{self.name()} = {self.expression()}")

    def augment(self, depth, in_loop):
        self.line(depth, f"{self.name()} += {self.expression(1)}")

    def closure(self, depth, in_loop):
        self.line(depth, f"{self.name()} = (lambda v: v)({self.expression(1)})")

    def exit(self, depth, in_loop):
        words = ["break", "continue"] if in_loop else ["pass", "pass", "say(a)", "raise ValueError('x')"]
        self.nested_line(depth, self.random.choice(words))

    def nested_line(self, depth, word):
        self.line(depth, f"if {self.expression(1)}: {word}")

    def if_(self, depth, in_loop):
        self.nested(f"if {self.expression()}:", depth, in_loop)

    def elif_(self, depth, in_loop):
        self.if_(depth, in_loop)
        self.nested(f"elif {self.expression()}:", depth, in_loop)

    def else_(self, depth, in_loop):
        self.elif_(depth, in_loop)
        self.nested("else:", depth, in_loop)

    def while_(self, depth, in_loop):
        self.loops += 1
        counter = f"n{self.loops}"
        self.line(depth, f"{counter} = 0")
        self.line(depth, f"while {counter} < {self.random.randint(1, 3)} and {self.expression(1)}:")
        self.line(depth - 1, f"{counter} += 1")
        self.block(depth - 1, self.random.random() < 0.3)

    def for_(self, depth, in_loop):
        self.nested(f"for {self.name()} in range({self.random.randint(0, 3)}):", depth, True)

    def return_(self, depth, in_loop):
        self.nested_line(depth, f"return {self.expression(1)}")


for word in ("if", "elif", "else", "while", "for", "return"):
    setattr(Writer, word, getattr(Writer, word + "_"))


def program(seed):
    """A function from a random text, its lines where `inspect` and `linecache` find them."""
    writer = Writer(seed)
    writer.line(5, "def f(a, b):")
    for name in writer.random.sample(NAMES[2:], writer.random.choice([1, 2, 3, 3])):
        writer.line(4, f"{name} = {writer.random.randint(0, 2)}")
    for _ in range(3):
        writer.statement(4, False)
    writer.line(4, f"return {', '.join(NAMES[: writer.random.randint(1, 5)])}")
    text, filename = "\n".join(writer.lines) + "\n", f"<random program {seed}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    names = {"say": lambda value: print(value) or value}
    exec(compile(text, filename, "exec"), names)
    return names["f"], text


class BothArms:
    """As capture does it: both arms run, the one not taken first; `get` and `set` alone must undo what it did."""

    def __getattr__(self, name):
        return getattr(stub, name)

    @staticmethod
    def if_else(test, then, otherwise, get, set_, names):
        before = get()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            (otherwise if test else then)()
        set_(before)
        stub.if_else(test, then, otherwise, get, set_, names)


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_an_arm_not_taken_leaves_no_trace(first):
    for seed in range(first, first + 50):
        fn, text = program(seed)
        converted = convert_function(fn, BothArms()).function
        for args in INPUTS[::3]:
            assert stub.outcome(converted, args) == stub.outcome(fn, args), f"{args}\n{text}"


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_programs(first):
    for seed in range(first, first + 50):
        fn, text = program(seed)
        converted = stub.convert(fn)
        for args in INPUTS:
            assert stub.outcome(converted, args) == stub.outcome(fn, args), f"{args}\n{text}"


def test_random_programs_are_varied():
    texts = [program(seed)[1] for seed in range(100)]
    outcomes = {stub.outcome(program(seed)[0], (1, 2))[0][:2] for seed in range(100)}
    assert all(any(word in text for text in texts) for word in ("elif", "while", "for", "return", "break", ":="))
    assert ("raised", "UnboundLocalError") in outcomes and len(outcomes) > 10
