"""Seeded random Python programs with tensor control flow, as source text in a file.

In: a seed. Out: the text of a module with `f(x, y, u, v, s, r, n, k, a)`, which calls `random_helpers`, and argument sets.

Every variable keeps one type (its first letter says which), so that arms and trips can be joined. Every value is the fresh
result of an op, but for those of `Renaming`, which are often another variable's.

    x, y  float32 [m]      u  float32 [2, m]     v  float64 [m]     s  float32 []     r  float64 []
    n  int64 tensor []     k, i  Python int      a, b  Python float
"""

import random
import textwrap
from typing import Any

import numpy as np

HEAD = "import d2s\nfrom random_helpers import Point, climb, count, fold, grown, halve, kept, mix, parts, sign\n"
ARGUMENTS = "x, y, u, v, s, r, n, k, a"
KINDS = {"x": "x", "y": "x", "u": "u", "v": "v", "s": "s", "r": "r", "n": "n", "k": "i", "a": "a"}
NUMBERS = ("0.5", "2.0", "-1.5", "0.1", "1", "3", "-0.0")


class Generator:
    """One program being written."""

    perhaps_unbound = 0.01  # how often a variable is read that some path leaves unbound

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.fresh = 0
        self.budget = self.random.randint(5, 22)  # statements
        self.surely = dict(KINDS)  # variables bound on every path
        self.perhaps: dict[str, str] = {}
        self.loops = 0
        self.leaving: list[bool] = []  # for each loop around: whether `continue` may stand in it
        self.results = self.random.sample(["x", "u", "v", "s", "r", "i", "a"], self.random.randint(1, 4))

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def name(self, kind: str) -> str:
        """A variable of a kind, now and then one that may be unbound."""
        if self.random.random() < self.perhaps_unbound:
            found = [v for v, of in self.perhaps.items() if of == kind and v not in self.surely]
            if found:
                return self.pick(*found)
        return self.pick(*(v for v, of in self.surely.items() if of == kind))

    # expressions: every one is a fresh value

    def tensor(self, kind: str, depth: int = 0) -> str:
        if depth > 2:
            return self.leaf(kind)
        one = lambda: self.tensor(kind, depth + 1)  # noqa: E731
        any_scalar = {"x": "s", "u": self.pick("s", "x"), "v": self.pick("s", "r", "x"), "s": "s", "r": self.pick("s", "r")}[
            kind
        ]
        forms: list[Any] = [
            lambda: f"({one()} {self.pick('+', '-', '*')} {one()})",
            lambda: f"({one()} {self.pick('+', '-', '*')} {self.tensor(any_scalar, depth + 1)})",
            lambda: f"({self.tensor(any_scalar, depth + 1)} {self.pick('+', '-', '*')} {one()})",
            lambda: f"({one()} {self.pick('+', '-', '*')} {self.number(depth + 1)})",
            lambda: f"({self.number(depth + 1)} {self.pick('+', '-', '*')} {one()})",
            lambda: f"d2s.tanh({one()})",
            lambda: f"d2s.tanh({one()})",
            lambda: f"{one()}.relu()",
            lambda: f"(-{one()})",
            lambda: f"d2s.where({one()} {self.pick('<', '>=', '!=')} {one()}, {one()}, {one()})",
            lambda: f"({one()} if {self.condition(depth + 1)} else {one()})",
        ]
        if kind in ("x", "v", "s"):
            forms += [lambda: f"halve({one()})", lambda: f"mix({one()}, {one()})"]
            forms += [lambda: f"fold({one()}, {self.name('n')})"]
        if kind == "x":
            forms += [
                lambda: f"{self.tensor('u', depth + 1)}.sum(axis=0)",
                lambda: f"d2s.cast({self.tensor('v', depth + 1)}, 'float32')",
            ]
        if kind == "u":
            forms += [lambda: f"d2s.matmul({self.square(depth + 1)}, {one()})"]
        if kind == "v":
            forms += [lambda: f"d2s.cast({self.tensor('x', depth + 1)}, 'float64')"]
        if kind == "s":
            forms += [
                lambda: f"{self.tensor('x', depth + 1)}.sum()",
                lambda: f"{self.tensor('u', depth + 1)}.sum()",
                lambda: f"({one()} {self.pick('and', 'or')} {one()})",
                lambda: f"climb({one()}, 0)[0]",
                lambda: f"kept({self.tensor('x', depth + 1)})",
                lambda: f"{self.pick('parts', 'grown')}({self.tensor('x', depth + 1)}, {self.name('n')})",
            ]
        if kind == "r":
            forms += [
                lambda: f"{self.tensor('v', depth + 1)}.sum()",
                lambda: f"d2s.cast({self.tensor('s', depth + 1)}, 'float64')",
            ]
        return self.random.choice(forms)()

    def square(self, depth: int) -> str:
        return f"d2s.matmul({self.tensor('u', depth)}, {self.tensor('u', depth)}, False, True)"

    def leaf(self, kind: str) -> str:
        return f"({self.name(kind)} {self.pick('+', '-', '*')} {self.pick(*NUMBERS[:-1])})"

    def number(self, depth: int) -> str:
        """A Python number."""
        return self.pick(lambda: self.integer(depth), lambda: self.float(depth), lambda: self.pick(*NUMBERS))()

    def integer(self, depth: int) -> str:
        if depth > 1:
            return self.pick(self.name("i"), str(self.random.randint(-2, 3)))
        small = str(self.random.randint(-2, 3))
        return self.pick(
            lambda: f"({self.name('i')} {self.pick('+', '-')} {self.integer(depth + 1)})",
            lambda: f"({self.name('i')} + {small})",
            lambda: f"({small} if {self.condition(depth + 1)} else {self.name('i')} - 1)",
            lambda: f"sign({self.tensor('s', depth + 1)})",
            lambda: f"count({self.name('n')})",
            lambda: f"climb({self.tensor('s', depth + 1)}, {self.name('i')})[1]",
            lambda: small,
        )()

    def float(self, depth: int) -> str:
        if depth > 1:
            return self.pick(self.name("a"), "0.75")
        return self.pick(
            lambda: f"({self.name('a')} {self.pick('+', '-', '*')} {self.pick('0.5', self.name('a'))})",
            lambda: f"({self.name('i')} * 0.5)",
            lambda: f"({self.name('a')} + {self.name('i')})",
            lambda: f"(-{self.name('a')})",
            lambda: f"({self.name('a')} * 0.5 if {self.condition(depth + 1)} else {self.name('a')} + 1.0)",
        )()

    def condition(self, depth: int = 0) -> str:
        """A test on tensors, or on Python numbers."""
        return self.python_condition(depth) if self.random.random() < 0.25 else self.tensor_condition(depth)

    def python_condition(self, depth: int) -> str:
        compare = f"{self.name('i')} {self.pick('<', '>', '==', '!=', '<=')} {self.random.randint(-1, 3)}"
        return self.pick(
            compare, compare, f"not {compare}", f"{self.name('a')} > 0.5", f"{self.name('i')}", f"-1 < {self.name('i')} <= 2"
        )

    def tensor_condition(self, depth: int = 0) -> str:
        less = self.pick("<", ">", "<=", ">=", "==")
        if depth > 1:
            return f"{self.name('s')} {less} {self.pick(*NUMBERS)}"
        inner = lambda: self.tensor_condition(depth + 1)  # noqa: E731
        if not depth and self.random.random() < 0.2:  # `not` gives a bool of Python: such ones mix only with each other
            other = f" {self.pick('and', 'or')} not ({inner()})" if self.random.random() < 0.5 else ""
            return f"not ({inner()}){other}"
        if not depth and self.random.random() < 0.1:
            return f"{self.name('s')}"
        return self.pick(
            lambda: f"{self.tensor('x', 2)}.sum() {less} {self.pick(*NUMBERS)}",
            lambda: f"{self.tensor('s', depth + 1)} {less} {self.tensor('s', depth + 1)}",
            lambda: f"{self.name('s')} {less} {self.name('a')}",
            lambda: f"{self.name('n')} {less} {self.name('i')}",
            lambda: f"{self.name('r')} {less} {self.name('r')} * 0.5",
            lambda: f"({inner()} {self.pick('and', 'or')} {inner()})",
            lambda: f"({inner()} and {inner()} or {inner()})",
            lambda: f"{self.pick(*NUMBERS)} < {self.tensor('s', depth + 1)} < {self.pick('2.0', '3')}",
        )()

    # statements

    def assign(self) -> list[str]:
        kind = self.pick("x", "x", "s", "s", "u", "v", "r", "i", "a")
        own = [v for v, of in self.surely.items() if of == kind and v[0] != "c"]
        if self.random.random() < 0.3:
            self.fresh += 1
            target = f"{kind}{self.fresh}"
        else:
            target = self.pick(*own)
        if target in self.surely and self.random.random() < 0.25:
            text = f"{target} {self.pick('+=', '-=')} {self.value(kind, 1)}"
        else:
            text = f"{target} = {self.value(kind)}"
        self.surely[target] = kind
        return [text]

    def value(self, kind: str, depth: int = 0) -> str:
        if kind == "i":
            return self.integer(depth)
        if kind == "a":
            return self.float(depth)
        return self.tensor(kind, depth)

    def arm(self, depth: int) -> tuple[list[str], dict[str, str]]:
        """A block in a scope of its own; also what is surely bound behind it."""
        before = dict(self.surely)
        lines = self.block(depth + 1, self.random.randint(1, 3))
        after, self.surely = self.surely, before
        self.perhaps |= after
        return lines, after

    def branch(self, depth: int) -> list[str]:
        arms = [(f"if {self.condition()}:", *self.arm(depth))]
        while self.random.random() < 0.25 and len(arms) < 3:
            arms.append((f"elif {self.condition()}:", *self.arm(depth)))
        if self.random.random() < 0.6:
            arms.append(("else:", *self.arm(depth)))
            self.surely = {v: k for v, k in arms[0][2].items() if all(v in after for _, _, after in arms)}
        lines = []
        for head, body, _ in arms:
            lines += [head, *indented(body)]
            if depth < 3 and self.random.random() < (0.12 if self.loops == 0 else 0.2):
                lines += indented([self.exit()])
        return lines

    def exit(self) -> str:
        """How an arm ends early."""
        exits = ["raise ValueError('too much')"] if self.random.random() < 0.15 else [self.give_back()]
        if self.leaving:
            exits += ["break", "break", *["continue"] * self.leaving[-1]]
        return self.pick(*exits)

    def optional(self) -> list[str]:
        """A variable that is None on some paths."""
        self.fresh += 1
        o = f"o{self.fresh}"
        kind = self.pick("x", "s", "a")
        lines = [f"{o} = None", f"if {self.condition()}:", f"    {o} = {self.value(kind)}"]
        target = self.pick(*(v for v, of in self.surely.items() if of == kind and v[0] != "c"))
        if self.random.random() < 0.5:
            return [*lines, f"if {o} is not None:", f"    {target} = {o} + {self.name('a')}"]
        return [*lines, f"{target} = {self.value(kind)} if {o} is None else {o} * 0.5"]

    def listed(self) -> list[str]:
        """A list or a dict that some paths change, and what is in it then."""
        self.fresh += 1
        kind = self.pick("x", "s")
        made = lambda: f"{self.value(kind, 1)} * 1.0"  # noqa: E731
        changed, used = self.of_dict(kind, made) if self.random.random() < 0.25 else self.of_list(kind, made)
        lines = changed[:1]
        for change in changed[1:]:
            lines += [f"if {self.condition()}:", f"    {change}"] if self.random.random() < 0.7 else [change]
        return [*lines, *used]

    def of_list(self, kind: str, made: Any) -> tuple[list[str], list[str]]:
        name, target = f"l{self.fresh}", self.target(kind)
        changes = [f"{name} = [{', '.join(made() for _ in range(self.random.randint(0, 2)))}]"]
        for _ in range(self.random.randint(1, 4)):
            changes.append(
                self.pick(
                    *[lambda: f"{name}.append({made()})"] * 3,
                    lambda: f"{name}.insert(0, {made()})",
                    lambda: f"{name} += [{made()}]",
                    lambda: f"{name} = {name} + [{made()}]",
                    lambda: f"{name}[-1] = {made()}",
                    lambda: f"{name}[1:] = [{made()}]",
                    lambda: f"{name}.pop()",
                    lambda: f"del {name}[0]",
                    lambda: f"{name}.reverse()",
                )()
            )
        used = [f"for e in {name}:", f"    {target} = {target} + e * 0.5"]
        used = self.pick(
            used, [f"{target} = {name}[{self.pick(0, -1)}] * 0.5"], [f"if {name}:", f"    {target} = {name}.pop() * 2.0"]
        )
        return changes, [*used, f"{self.target('i')} = len({name})"]

    def filled(self) -> list[str]:
        """A list that a loop makes longer and shorter, and what is in it then."""
        self.fresh += 1
        kind = self.pick("x", "s")
        made = lambda: f"{self.value(kind, 1)} * 1.0"  # noqa: E731
        name, target = f"l{self.fresh}", self.target(kind)
        lines = [f"{name} = [{', '.join(made() for _ in range(self.random.randint(0, 2)))}]"]
        lines += [f"for _ in range(n + {self.random.randint(0, 2)}):"]
        lines += indented([f"{target} = {target} * 0.5 + {made()}"])
        for _ in range(self.random.randint(1, 3)):
            change = self.pick(
                *[f"{name}.append({self.pick(target + ' * 1.0', made())})"] * 4,
                f"{name}.insert(0, {made()})",
                f"{name} += [{made()}, {made()}]",
                f"{name} = {name} + [{made()}]",
                f"{name} = [{made()}]",
                f"if len({name}) > 1: {name}.pop({self.pick('', 0)})",
                f"if {name}: {name}[{self.pick(0, -1)}] = {made()}",
                f"if len({name}) > 2: {target} = {target} - {name}[-2]",
                f"{name}.reverse()",
            )
            guarded = self.random.random() < 0.3 and not change.startswith("if ")
            lines += indented([f"if {self.condition()}:", f"    {change}"] if guarded else [change])
        used = self.pick(
            [f"for e in {name}:", f"    {target} = {target} + e * 0.5"],
            [f"if {name}:", f"    {target} = {name}[{self.pick(0, -1)}] * 0.5"],
            [f"{target} = {target} + sum({name})"],
            [f"while len({name}) > 1:", f"    {target} = {target} * 0.5 - {name}.pop()"],
            [f"{target} = {name}[{self.pick(0, 1, -1, -3)}] * 2.0"],
        )
        return [*lines, *used, f"{self.target('i')} = len({name})"]

    def of_dict(self, kind: str, made: Any) -> tuple[list[str], list[str]]:
        name, target = f"l{self.fresh}", self.target(kind)
        changes = [f"{name} = {{'a': {made()}}}", *(f"{name}['{self.pick('a', 'b', 'c')}'] = {made()}" for _ in range(3))]
        changes += [f"{name}.pop('a', None)"] if self.random.random() < 0.5 else []
        used = [f"for e in {name}.values():", f"    {target} = {target} - e * 0.5"]
        return changes, self.pick(used, [f"if 'b' in {name}:", f"    {target} = {name}['b'] * 0.5"])

    def target(self, kind: str) -> str:
        """A variable to be assigned, which is bound on every path."""
        return self.pick(*(v for v, of in self.surely.items() if of == kind and v[0] != "c"))

    def give_back(self) -> str:
        parts = [self.value(kind) for kind in self.results]
        return f"return {', '.join(parts)}" if len(parts) > 1 else f"return {parts[0]}"

    def loop(self, depth: int) -> list[str]:
        self.fresh += 1
        c = f"c{self.fresh}"
        limit = self.random.randint(1, 4)
        kind = self.random.randrange(8)
        if kind >= 6:
            head, start, step = f"for {c} in range({self.pick('n', 'n', f'n + {limit}', f'1, n + {limit}, 2')}):", [], []
        elif kind == 5:
            head, start, step = f"for {c} in range({limit}):", [], []
        else:
            kind = 3 if kind == 3 and self.random.random() < 0.5 else kind % 3 if kind == 3 else kind
            more = f" and {self.tensor_condition(1)}" if kind != 3 and self.random.random() < 0.4 else ""
            start, test = {
                0: (f"{c} = n - n", f"{c} < n"),
                1: (f"{c} = 0", f"{c} < n"),
                2: (f"{c} = s * 0.0", f"{c} < {limit}.0"),
                3: (f"{c} = n - n", f"not ({c} >= {limit})"),
                4: (f"{c} = 0", f"{c} < {limit}"),
            }[kind]
            if kind == 4:
                more = ""
            head, start, step = f"while {test}{more}:", [start], [f"{c} {self.pick('+= 1', f'= {c} + 1')}"]
            if kind == 2:
                start = [f"{c} = d2s.where(s == s, s * 0.0, 0.0)", f"{c} = d2s.where({c} == 0.0, {c}, 0.0)"]
        self.loops += 1
        if kind in (1, 4, 5, 6, 7):
            self.surely[c] = "i" if kind in (1, 6, 7) else "loop"
        position = self.random.randint(0, 1)
        self.leaving.append(bool(position) or not step)
        body, _ = self.arm(depth)
        self.loops -= 1
        self.leaving.pop()
        self.surely.pop(c, None)
        body = step + body if position else body + step
        lines = [*start, head, *indented(body or ["pass"])]
        if self.random.random() < 0.15:
            lines += ["else:", *indented(self.arm(depth)[0])]
        return lines

    def block(self, depth: int, count: int) -> list[str]:
        lines: list[str] = []
        for _ in range(count):
            if self.budget <= 0:
                break
            self.budget -= 1
            chance = self.random.random()
            if depth < 3 and chance < 0.28:
                lines += self.branch(depth)
            elif depth < 3 and self.loops < 2 and chance < 0.45:
                lines += self.loop(depth)
            elif depth < 3 and chance < 0.5:
                lines += self.optional()
            elif self.loops == 0 and chance < 0.56:
                lines += self.filled() if self.random.random() < 0.4 else self.listed()
            else:
                lines += self.assign()
        return lines or self.assign()

    def text(self) -> str:
        body = []
        while self.budget > 0:
            body += self.block(0, 3)
        body.append(self.give_back())
        return HEAD + f"\n\ndef f({ARGUMENTS}):\n" + textwrap.indent("\n".join(["y = y + 0.0", *body]), "    ") + "\n"


class Small(Generator):
    """A program of few statements and shallow expressions: many of these cost what one large program costs."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.budget = self.random.randint(1, 4)
        self.results = self.results[:2]

    def tensor(self, kind: str, depth: int = 0) -> str:
        return super().tensor(kind, depth + 1 if depth < 2 else 3)

    def condition(self, depth: int = 0) -> str:
        return super().condition(max(depth, 1) if self.random.random() < 0.7 else depth)


class Renaming(Small):
    """A small program in which many a tensor has several names: gradients show in what order contributions to it are added."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.budget = self.random.randint(4, 10)

    def value(self, kind: str, depth: int = 0) -> str:
        renames = kind not in ("i", "a") and not depth and self.random.random() < 0.5
        return self.name(kind) if renames else super().value(kind, depth)


def listed(text: str) -> list[str]:
    """What stands between semicolons."""
    return " ".join(text.split()).rstrip(";").split("; ")


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def arguments(seed: int, t: Any) -> list[tuple[Any, ...]]:
    """Argument sets: other values, other sizes, one tensor for two arguments, special values."""
    rng = np.random.default_rng(seed)
    sets = []
    for at, m in enumerate((3, 3, 2, 5)):
        x, y = (t(rng.normal(0.3, 1.2, m), "float32") for _ in range(2))
        if at == 1:
            y = x
        if at == 3 and seed % 5 == 0:
            x.array[:2] = np.nan, np.inf
        u, v = t(rng.normal(0, 1, (2, m)), "float32"), t(rng.normal(0, 1, m), "float64")
        s, r = t(rng.normal(0.2, 1), "float32"), t(rng.normal(), "float64")
        n = t(int(rng.integers(0, 4)), "int64")
        sets.append((x, y, u, v, s, r, n, int(seed % 3), float(rng.normal())))
    return sets
