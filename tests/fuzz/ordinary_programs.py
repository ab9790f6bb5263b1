"""Seeded random programs of what Python has besides tensors: iterators, dicts, objects, closures, exceptions, texts.

In: a seed. Out: the text of a module as `random_programs` writes it. Of what it writes more is refused than of those programs:
what counts is that nothing differs.
"""

from typing import Any

from random_programs import Small, indented

ERRORS = ("ValueError", "KeyError", "RuntimeError")


class Ordinary(Small):
    """A program of few statements, most of them about Python's own objects."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.budget = self.random.randint(2, 6)
        self.results = self.random.sample(["x", "s", "i"], 2)

    def block(self, depth: int, count: int) -> list[str]:
        lines: list[str] = []
        for _ in range(count):
            if self.budget > 0 and self.random.random() < 0.6:
                self.budget -= 1
                lines += self.ordinary(depth)
            else:
                lines += super().block(depth, 1) if self.budget > 0 else []
        return lines or self.assign()

    def ordinary(self, depth: int) -> list[str]:
        self.fresh += 1
        forms = [self.grouped, self.object_, self.closure, self.text_by_path, self.items, self.told, self.viewed]
        forms += [self.gone_over, self.gone_over, self.caught, self.made_or_raised, self.nested]
        return self.random.choice(forms)(depth)

    def new(self, letter: str) -> str:
        return f"{letter}{self.fresh}"

    def made(self, kind: str) -> str:
        return f"{self.value(kind, 2)} * 1.0"

    def perhaps_under(self, *lines: str, chance: float = 0.5) -> list[str]:
        """The lines, or an `if` around them."""
        return [f"if {self.condition()}:", *indented(list(lines))] if self.random.random() < chance else list(lines)

    def arms(self, one: list[str], other: list[str]) -> list[str]:
        return [f"if {self.condition()}:", *indented(one), "else:", *indented(other)]

    # --- statements

    def gone_over(self, depth: int) -> list[str]:
        """An iterator with a name, which several things advance."""
        it, target = self.new("it"), self.target("s")
        made = self.pick(
            f"enumerate({self.name('x')})",
            f"zip({self.name('x')}, {self.name('x')})",
            f"enumerate(reversed({self.name('x')}), 2)",
            f"enumerate(range({self.name('n')}))",
            f"zip(range({self.name('n')} + 1), range(3))",
            f"enumerate([{self.made('s')}, {self.made('s')}, {self.made('s')}])",
        )
        lines = [f"{it} = {made}"]
        for _ in range(self.random.randint(1, 3)):
            over = [f"for p, q in {it}:", f"    {target} = {target} * 0.5 + p * 0.25 - q"]
            step = self.pick(
                over,
                [*over, f"    if {target} {self.pick('<', '>')} {self.pick('0.0', '0.5')}:", "        break"],
                [f"p, q = next({it}, ({self.pick('0', '1.5')}, {self.made('s')}))", f"{target} = {target} - p + q"],
                [f"{self.target('i')} = len(list({it}))"],
                [f"{target} = {target} + sum(q * 0.5 for _, q in {it})"],
            )
            lines += self.perhaps_under(*step, chance=0.3)
        return lines

    def grouped(self, depth: int) -> list[str]:
        """Items in a dict, by what they are."""
        groups, target = self.new("g"), self.target("s")
        over = self.pick(self.name("x"), f"range({self.name('n')})", f"[{self.made('s')}, {self.made('s')}]")
        put = self.pick(
            [f"{groups}.setdefault(key, []).append(e * 1.0)"],
            [f"{groups}[key] = {groups}.get(key, 0.0) + e * 0.5"],
            [f"if key not in {groups}:", f"    {groups}[key] = 0", f"{groups}[key] += 1"],
        )
        lines = [
            f"{groups} = {{}}",
            f"for e in {over}:",
            f"    key = 'low' if e {self.pick('<', '>=')} {self.pick('0', '0.5', self.name('s'))} else 'high'",
            *indented(put),
        ]
        used = self.pick(
            [f"{self.target('i')} = len({groups}) + ({self.pick(repr('low'), repr('high'))} in {groups})"],
            [f"for key in sorted({groups}):", f"    {target} = {target} * 0.5 + len(key)"],
            [f"print(list({groups}))"],
        )
        return [*lines, *used]

    def object_(self, depth: int) -> list[str]:
        """An object whose attributes paths change."""
        p = self.new("p")
        lines = [f"{p} = Point({self.made('s')}, {self.integer(1)})"]
        for _ in range(self.random.randint(1, 3)):
            change = self.pick(
                f"{p}.at = {p}.at * 0.5 + {self.made('s')}",
                f"{p}.count += 1",
                f"{p}.move({self.made('s')})",
                f"{p} = {p}.moved({self.made('s')})",
                f"{p}.seen.append({p}.at)",
                f"{p} = Point({p}.at * 2.0, {p}.count)",
            )
            around = [f"for _ in range({self.name('n')}):"] if self.random.random() < 0.25 else []
            lines += [*around, *indented([change])] if around else self.perhaps_under(change, chance=0.6)
        return [*lines, f"{self.target('s')} = {p}.at + len({p}.seen) * 0.5", f"{self.target('i')} = {p}.count"]

    def closure(self, depth: int) -> list[str]:
        """A function that keeps what it was called with."""
        f, k, target = self.new("h"), self.new("q"), self.target("s")
        inside = self.pick(f"{k} = {k} + 1", f"{k} += 1 if z > 0 else 2")
        lines = [f"{k} = {self.random.randint(0, 2)}", f"def {f}(z, w=[0.5], *more, by={self.pick('1.0', '-0.5')}):"]
        lines += [f"    nonlocal {k}", f"    {inside}", "    w.append(by)" if self.random.random() < 0.4 else "    pass"]
        lines += [f"    return z * w[-1] + by if z < {self.name('a')} else z - len(more) * by"]
        lines = [f"def made_{f}():", *indented(lines), f"    return {f}, lambda: {k}", f"{f}, told_{f} = made_{f}()"]
        for _ in range(self.random.randint(1, 3)):
            call = self.pick(f"{f}({target})", f"{f}({self.made('s')}, [1.5], 1, 2)", f"{f}(by=2.0, z={target})")
            lines += self.perhaps_under(f"{target} = {call}")
        return [*lines, f"{self.target('i')} = told_{f}()"]

    def text_by_path(self, depth: int) -> list[str]:
        """A text that paths choose, and what is asked of it."""
        word = self.new("t")
        lines = [f"{word} = 'ab'", *self.arms([f"{word} = {word} + 'c'"], [f"{word} = {word}.upper()"])]
        used = self.pick(
            [f"if {word} == 'AB':", f"    {self.target('s')} = {self.made('s')}"],
            [f"print({word}, f'{{{self.name('i')}:>3}}', {word}[0])"],
            [f"{self.target('i')} = len({word}) + {word}.count('b')"],
            [f"{self.target('s')} = {self.name('s')} * {{'abc': 0.5, 'AB': 2.0}}[{word}]"],
        )
        return [*lines, *used]

    def items(self, depth: int) -> list[str]:
        """Comprehensions and what takes all items."""
        target, over = self.target("s"), self.pick(self.name("x"), f"[{self.made('s')}, {self.made('s')}]")
        test = f"e {self.pick('<', '>')} {self.pick('0', self.name('s'), self.name('a'))}"
        return self.pick(
            [f"{target} = {target} + sum([e * 0.5 for e in {over} if {test}])"],
            [f"{target} = max({over}) - min({over}, key=lambda e: float(e * e))"],
            [f"if any({test} for e in {over}):", f"    {target} = {self.made('s')}"],
            [f"{target} = sum(sorted({over})[:2]) * 0.5"],
            [f"{self.target('i')} = len([e for e in {over} if {test}])"],
            [f"print([{test} for e in {over}])"],
            [f"{target} = next((e * 2.0 for e in {over} if {test}), {self.made('s')})"],
            [f"found = {{i: e for i, e in enumerate({over})}}", f"{target} = found[1] - found[0]"],
        )

    def told(self, depth: int) -> list[str]:
        number = self.pick(self.name("i"), f"{self.name('s')}.item()", self.name("a"))
        return self.perhaps_under(f"print('at', {number}, sep=':', end=';')")

    def viewed(self, depth: int) -> list[str]:
        """Names of one container, and views of it."""
        d, view = self.new("d"), self.new("w")
        lines = [f"{d} = {{'a': {self.made('s')}}}", f"{view} = {d}{self.pick('', '.keys()', '.items()', '.values()')}"]
        change = self.pick(f"{d}['b'] = {self.made('s')}", f"{d}.pop('a')", f"{d}.update(c={self.made('s')}, a=1.0)")
        return [*lines, *self.perhaps_under(change, chance=0.8), f"{self.target('i')} = len({view})"]

    def caught(self, depth: int) -> list[str]:
        """What some paths raise, and others do not."""
        error, other, target = self.pick(*ERRORS), self.pick(*ERRORS), self.target("s")
        body = [f"if {self.condition()}:", f"    raise {error}({self.pick('1', repr('far'))})", f"{target} = {self.made('s')}"]
        body = body if self.random.random() < 0.7 else [f"{target} = {target} * 0.5", *body]
        handled = [
            f"{target} = {target} - 1.0",
            *(["print(type(error).__name__, error)"] if self.random.random() < 0.4 else []),
        ]
        lines = [
            "try:",
            *indented(body),
            f"except {self.pick(error, f'({error}, {other})', 'Exception')} as error:",
            *indented(handled),
        ]
        lines += ["else:", *indented(self.assign_known())] if self.random.random() < 0.3 else []
        return [*lines, *(["finally:", *indented(self.assign_known())] if self.random.random() < 0.3 else [])]

    def assign_known(self) -> list[str]:
        target = self.target("s")
        return [f"{target} = {target} + {self.pick('0.5', self.name('a'))}"]

    def made_or_raised(self, depth: int) -> list[str]:
        """Something made where the other path raises, around which something catches."""
        m, target = self.new("m"), self.target("s")
        made = self.pick(
            f"[{self.made('s')}]", f"{{'a': {self.made('s')}}}", f"(1, [{self.made('s')}])", f"Point({self.made('s')}, 1)"
        )
        part = {"[": f"{m}[0]", "{": f"{m}['a']", "(": f"{m}[1][0]", "P": f"{m}.at"}[made[0]]
        lines = self.arms([f"{m} = {made}"], [f"raise {self.pick(*ERRORS)}('none')"])
        lines += self.perhaps_under(f"{part} = {part} * 0.5" if made[0] != "(" else f"{m}[1].append({self.made('s')})")
        lines += [f"{target} = {part} + {target}"]
        if self.random.random() < 0.5:
            return ["try:", *indented(lines), "except Exception:", f"    {target} = {target} * 0.25"]
        return lines

    def nested(self, depth: int) -> list[str]:
        """Containers in containers, taken apart and put together again."""
        c, target = self.new("e"), self.target("s")
        lines = [f"{c} = [{{'v': [{self.made('s')}, 1]}}, ({self.made('s')}, 'z')]"]
        change = self.pick(
            f"{c}[0]['v'][0] = {self.made('s')}",
            f"{c}[0]['v'].append({self.integer(1)})",
            f"{c}[0] = {{'v': [{target} * 1.0, 2]}}",
            f"{c}[0]['v'][1] += 1",
            f"{c}[1] = ({c}[1][0] * 2.0, 'y')",
        )
        lines += self.perhaps_under(change, chance=0.8)
        taken: Any = [f"(first, *others), (last, word) = {c}[0]['v'], {c}[1]", f"{target} = first - last"]
        return [*lines, *taken, f"{self.target('i')} = len(others) + len(word)"]
