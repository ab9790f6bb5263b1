"""`match` becomes `if`: what a pattern takes apart is one question to the runtime, its values are comparisons.

In: a function. Out: the same without `match`. Names are bound once all of a pattern but its guard has matched.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     match x:
...         case 0 | 1:
...             return 'few'
...         case y, 2:
...             return y
...         case _:
...             return x''', transform)
def f(x):
    subject_3 = x
    if subject_3 == 0 or subject_3 == 1:
        return 'few'
    else:
        parts_6 = _d2s.taken_apart(subject_3, ('sequence', (True, True), 0, ())
            )
        if parts_6 is not None and parts_6[1] == 2:
            y = parts_6[0]
            return y
        else:
            return x
"""

import dataclasses

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote, quote_expression
from d2s.errors import CaptureError


def transform(function: Function) -> None:
    """Rewrites all `match` statements of `function`."""
    _Match(function).generic_visit(function.tree)


class _Match(Rewriter):
    def visit_Match(self, node: gast.Match) -> list[gast.stmt]:
        self.generic_visit(node)
        subject = self.function.fresh(f"subject_{node.lineno}")
        statements: list[gast.stmt] = []
        for case in reversed(node.cases):
            statements = self.case(case, subject, statements)
        return quote("subject = x", node, subject=subject, x=node.subject) + statements

    def case(self, case: gast.match_case, subject: str, rest: list[gast.stmt]) -> list[gast.stmt]:
        """One case; `rest` is what happens where it does not match."""
        at = case.pattern
        patterns = at.patterns if isinstance(at, gast.MatchOr) and not _is_value(at) else [at]
        ways = [_Way(self.function, pattern, subject, n, n == len(patterns)) for n, pattern in enumerate(patterns, 1)]
        tests = [way.test for way in ways]
        test = None if None in tests else _joined(gast.Or(), [t for t in tests if t], at)
        before = [statement for way in ways for statement in way.before]
        binding = _bindings(ways, at)
        if case.guard and binding:
            hit = self.function.fresh(f"hit_{at.lineno}")
            before += quote("hit = test", at, hit=hit, test=test or gast.copy_location(gast.Constant(True, None), at))
            asked = quote("hit = guard", case.guard, hit=hit, guard=case.guard)
            before += quote("if hit:\n    bind", at, hit=hit, bind=binding + asked)
            test, binding = quote_expression(hit, at), []
        elif case.guard:
            test = _joined(gast.And(), [*([test] if test else []), case.guard], at)
        if test is None:
            return before + binding + case.body
        (made,) = quote("if test:\n    body", at, test=test, body=binding + case.body)
        made.orelse = rest
        return [*before, made]


def _joined(op: gast.boolop, tests: list[gast.expr], at: gast.AST) -> gast.expr:
    return tests[0] if len(tests) == 1 else gast.copy_location(gast.BoolOp(op, tests), at)


def _bindings(ways: "list[_Way]", at: gast.AST) -> list[gast.stmt]:
    """The names a match binds: all ways bind the same ones, and the first that matches counts."""
    made = []
    for name, last in ways[-1].names.items():
        value = last
        for way in reversed(ways[:-1]):
            value = quote_expression("first if test else other", at, first=way.names[name], test=way.asked(), other=value)
        made += quote("name = value", at, name=name, value=value)
    return made


def _is_value(pattern: gast.AST) -> bool:
    if isinstance(pattern, gast.MatchOr):
        return all(map(_is_value, pattern.patterns))
    return isinstance(pattern, (gast.MatchValue, gast.MatchSingleton))


class _Way:
    """One pattern: how it takes its subject apart, what must hold then, and what it binds."""

    def __init__(self, function: Function, pattern: gast.AST, subject: str, number: int, last: bool) -> None:
        self.function, self.at = function, pattern
        self.names: dict[str, gast.expr] = {}
        self.outside: dict[str, gast.expr] = {}  # keys and classes, by the names they have in the spec
        self.tests: list[gast.expr] = []
        self.before: list[gast.stmt] = []
        self.parts, self.count = "", 0
        if _is_plain(pattern):
            self.leaf(pattern, lambda: quote_expression(subject, pattern))
        else:
            self.parts = function.fresh(f"parts_{pattern.lineno}" + ("" if last and number == 1 else f"_{number}"))
            made = quote_expression(self.spec(pattern), pattern, **self.outside)
            self.before = quote("parts = _d2s.taken_apart(x, how)", pattern, parts=self.parts, x=subject, how=made)
            self.tests.insert(0, quote_expression("parts is not None", pattern, parts=self.parts))
        self.test = _joined(gast.And(), self.tests, pattern) if self.tests else None

    def asked(self) -> gast.expr:
        """The test once more, for what depends on which way matched."""
        return gast.parse(gast.unparse(self.test), mode="eval").body if self.test else gast.Constant(True, None)

    def spec(self, pattern: gast.AST) -> str:
        """How to take a subject apart, as text; the parts that are looked at are numbered in this order."""
        if isinstance(pattern, gast.MatchSequence):
            return self.sequence(pattern)
        if isinstance(pattern, gast.MatchMapping):
            keys = "".join(f"{self.named(key)}, " for key in pattern.keys)
            inner = "".join(f"{self.spec(p)}, " for p in pattern.patterns)
            if pattern.rest:
                self.names[pattern.rest] = self.part(pattern)()
            return f"('mapping', ({keys}), ({inner}), {bool(pattern.rest)})"
        if isinstance(pattern, gast.MatchClass):
            inner = "".join(f"{self.spec(p)}, " for p in pattern.patterns)
            named = "".join(f"{self.spec(p)}, " for p in pattern.kwd_patterns)
            return f"('class', {self.named(pattern.cls)}, ({inner}), {tuple(pattern.kwd_attrs)}, ({named}))"
        if isinstance(pattern, gast.MatchAs) and pattern.pattern is not None and not _is_plain(pattern):
            self.names[pattern.name] = self.part(pattern)()
            return f"('also', {self.spec(pattern.pattern)})"
        if isinstance(pattern, gast.MatchOr) and not _is_value(pattern):
            message = f"'{self.function.tree.name}' holds a `|` between patterns that take something apart, inside another"
            raise CaptureError("D2S1003", message, where=self.function.where(pattern), hint="write a `case` for each")
        if isinstance(pattern, gast.MatchAs) and pattern.name is None:
            return "None"
        self.leaf(pattern, self.part(pattern))
        return "True"

    def sequence(self, pattern: gast.MatchSequence) -> str:
        stars = [n for n, p in enumerate(pattern.patterns) if isinstance(p, gast.MatchStar)]
        at = stars[0] if stars else len(pattern.patterns)
        before = "".join(f"{self.spec(p)}, " for p in pattern.patterns[:at])
        star = pattern.patterns[at].name if stars else None
        if star:
            self.names[star] = self.part(pattern)()
        after = "".join(f"{self.spec(p)}, " for p in pattern.patterns[at + 1 :])
        return f"('sequence', ({before}), {2 if star else len(stars)}, ({after}))"

    def named(self, value: gast.expr) -> str:
        name = f"outside_{len(self.outside)}"
        self.outside[name] = value
        return name

    def part(self, at: gast.AST) -> "_Part":
        self.count += 1
        return _Part(self.parts, self.count - 1, at)

    def leaf(self, pattern: gast.AST, subject: "_Part | object") -> None:
        """What holds of a subject that is not taken apart, and what it is called."""
        if isinstance(pattern, gast.MatchAs):
            if pattern.pattern is not None:
                self.leaf(pattern.pattern, subject)
            if pattern.name is not None:
                self.names[pattern.name] = subject()  # type: ignore[operator]
        else:
            values = pattern.patterns if isinstance(pattern, gast.MatchOr) else [pattern]
            self.tests.append(_joined(gast.Or(), [_equal(p, subject()) for p in values], pattern))  # type: ignore[operator]


@dataclasses.dataclass(frozen=True)
class _Part:
    """One of the parts a subject was taken into."""

    parts: str
    number: int
    at: gast.AST

    def __call__(self) -> gast.expr:
        return quote_expression(f"parts[{self.number}]", self.at, parts=self.parts)


def _is_plain(pattern: gast.AST) -> bool:
    """Whether nothing is taken apart."""
    inner = isinstance(pattern, gast.MatchAs) and (pattern.pattern is None or _is_plain(pattern.pattern))
    return inner or _is_value(pattern)


def _equal(pattern: gast.AST, subject: gast.expr) -> gast.expr:
    if isinstance(pattern, gast.MatchOr):
        return _joined(gast.Or(), [_equal(p, subject) for p in pattern.patterns], pattern)
    if isinstance(pattern, gast.MatchSingleton):
        return quote_expression(f"x is {pattern.value}", pattern, x=subject)
    return quote_expression("x == value", pattern, x=subject, value=pattern.value)
