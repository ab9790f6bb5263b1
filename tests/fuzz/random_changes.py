"""Seeded random programs that change in place what they have read, and what a caller then does with their gradients.

In: a seed. Out: the text of a module with `f(x, b, n)`, which also knows the tensors W and G; what a caller saw of it.
"""

import random
from collections.abc import Callable
from typing import Any

import d2s
from d2s.errors import D2SError

NUMBERS, INDICES = ("0.5", "2.0", "-1.5"), ("1:3", "0", "3", "2:")
HEAD = """import d2s

W = d2s.to_tensor([1.5, -1.0, 0.5, 1.0], stop_gradient=False)
G = d2s.to_tensor([0.25, -0.5, 1.0, 2.0])

def f(x, b, n):
"""


class Changing:
    """One program being written. Tensors y are made once and may be changed, tensors z are made anew on any path."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["    y0 = x * 1.5", "    z0 = W * x"]
        self.changed, self.renewed, self.loops = ["y0"], ["z0"], 0

    def text(self) -> str:
        self.block(0, self.random.randint(3, 7))
        made = self.changed + self.renewed
        given = self.random.sample(made, min(len(made), self.random.randint(1, 3)))
        return HEAD + "\n".join(self.lines) + f"\n    return {', '.join(given)},\n"

    def tensor(self) -> str:
        return self.random.choice(["x", "W", "b", "G", *2 * self.changed, *self.renewed])

    def value(self, depth: int = 0) -> str:
        if depth > 1 or self.random.random() < 0.2:
            return self.tensor()
        one, other = self.value(depth + 1), self.value(depth + 1)
        number = self.random.choice(NUMBERS)
        forms = [f"({one} * {other})", f"({one} * {other})", f"({one} + {other})", f"({one} - {other})", f"d2s.tanh({one})"]
        return self.random.choice([*forms, f"({one} * {number})", f"({one} + {number})", f"({one} * ({other} * 1.0).detach())"])

    def change(self) -> str:
        target = self.random.choice(["b", "b", "G", "G", *2 * self.changed])
        value = self.value(1)
        if target not in self.changed and self.random.random() < 0.85:
            value = f"({value} * 1.0).detach()"
        index = self.random.choice(INDICES)
        forms = [f"{target}.add_({value})", f"{target}.multiply_({value})", f"{target}[{index}] = ({value})[{index}]"]
        return self.random.choice([*forms, f"{target}.scale_(0.5, 0.25)"])

    def condition(self) -> str:
        return self.random.choice([f"{self.tensor()}.sum() > 0", f"{self.tensor()}[0] < {self.tensor()}[1]", "n > 1", "n > 0"])

    def block(self, depth: int, count: int) -> None:
        for _ in range(count):
            kind = self.random.random()
            if kind < 0.2 and depth == 0:
                name = f"{self.random.choice('yz')}{len(self.lines)}"
                self.write(depth, f"{name} = {self.value()} * 1.0")
                (self.changed if name[0] == "y" else self.renewed).append(name)
            elif kind < 0.35:
                self.write(depth, f"{self.random.choice(self.renewed)} = {self.value()} * 1.0")
            elif kind < 0.7 or depth == 2:
                self.write(depth, self.change())
            elif kind < 0.88:
                self.write(depth, f"if {self.condition()}:")
                self.block(depth + 1, self.random.randint(1, 2))
                self.write(depth, "else:")
                self.block(depth + 1, self.random.randint(1, 2))
            else:
                self.loops += 1
                self.write(depth, f"for i{self.loops} in range(n):")
                self.block(depth + 1, self.random.randint(1, 2))

    def write(self, depth: int, line: str) -> None:
        self.lines.append("    " * (depth + 1) + line)


class Caller:
    """What a caller does, in a random order, and all that is seen of it."""

    def __init__(self, function: Callable[..., Any], known: dict[str, Any], seed: int, given: tuple[Any, Any, int]) -> None:
        self.function, self.w, self.g, self.random = function, known["W"], known["G"], random.Random(seed)
        self.x, self.b = d2s.to_tensor(given[0], stop_gradient=False), d2s.to_tensor(given[1])
        self.n, self.results, self.seen = d2s.to_tensor(given[2]), list[Any](), list[Any]()

    def run(self) -> list[Any]:
        before = self.g.numpy()
        self.call()
        for _ in range(self.random.randint(2, 4)):
            self.take(self.random.choice(STEPS))
        self.see("left", self.g, self.b, self.x.grad, self.w.grad)
        self.w.grad = None
        self.g.detach_().set_value(before)
        return self.seen

    def take(self, step: Callable[["Caller"], None]) -> None:
        count = len(self.seen)
        try:
            step(self)
        except D2SError as error:
            if error.code.startswith("D2S1"):
                raise
            del self.seen[count:]  # how far a sweep came that is refused is no matter
            self.seen.append((step.__name__, "changed in place" if "changed in place" in str(error) else error.code))

    def see(self, what: str, *values: Any) -> None:
        self.seen.append((what, [None if v is None else (v.numpy().tobytes(), v.stop_gradient) for v in values]))

    def call(self) -> None:
        self.results += self.function(self.x, self.b, self.n)
        self.see("call", *self.results)

    def total(self) -> Any:
        some = self.random.sample(self.results, self.random.randint(1, len(self.results)))
        return sum(((t * t).sum() for t in some[1:]), some[0].sum())

    def backward(self) -> None:
        self.total().backward(retain_graph=True)
        self.see("backward", self.x.grad, self.w.grad)

    def towards(self) -> None:
        towards = [self.random.choice(self.results), self.x, self.w]
        self.see("towards", *d2s.grad(self.total(), towards, retain_graph=True, allow_unused=True))

    def second(self) -> None:
        given = d2s.grad(self.total(), [self.x, self.w], create_graph=True, allow_unused=True)
        squares = [(g * g).sum() for g in given if g is not None and not g.stop_gradient]
        again = d2s.grad(sum(squares[1:], squares[0]), self.x, allow_unused=True, retain_graph=True) if squares else []
        self.see("second", *given, *again)

    def hook(self) -> None:
        self.random.choice(self.results).register_hook(lambda g: self.see("hook", g))

    def keep(self) -> None:
        kept = self.random.choice(self.results)
        kept.grad = None  # a sweep that was refused may have come there, or not
        kept.retain_grads()
        self.total().backward(retain_graph=True)
        self.see("kept", kept.grad)


STEPS = [Caller.call, Caller.backward, Caller.backward, Caller.towards, Caller.second, Caller.second, Caller.hook, Caller.keep]
