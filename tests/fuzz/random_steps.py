"""Seeded random train steps: losses, sweeps, steps of optimizers, reads of parameters before and behind them, in any order.

In: a seed. Out: the text of a module with two small nets, their optimizers and `f(x)`, and what a caller does behind each call.
"""

import random

from random_programs import indented

HEAD = """
import d2s
from d2s import nn
from d2s.errors import D2SError


class Box:
    pass


d2s.seed(3)
NET, TOP = nn.Linear(2, 2), nn.Linear(2, 1)
OPT = d2s.optimizer.{optimizer}(0.1, parameters=NET.parameters())
SGD = d2s.optimizer.SGD(0.05, parameters=TOP.parameters())
S = Box()
S.h, S.n, S.log, S.kept = None, 0, [], {{}}
STATE = [S, NET.parameters(), TOP.parameters()]
"""
LOSSES = (
    "NET(x).square().mean()",
    "TOP(NET(x)).mean()",
    "TOP({e}.detach()).square().mean()",
    "TOP({e}).mean()",
    "(NET.weight * NET.weight).sum() * 0.1",
    "{l} + {l}",
    "{l} * 0.5",
    "{e}.abs().mean()",
    "{l}.detach() * NET.bias.sum()",
)
TENSORS = (
    "NET(x)",
    "{e} * 0.5",
    "{e}.detach()",
    "NET.weight.clone()",
    "NET.weight * 2.0",
    "{e} + NET.bias",
    "TOP({e})[:, 0]",
    "x * {l}",
    "d2s.nn.functional.dropout(NET(x), 0.5)",
)
ACTS = (
    "{l}.backward()",
    "{l}.backward()",
    "{l}.backward(retain_graph=True)",
    "OPT.step()",
    "OPT.step()\nOPT.clear_grad()",
    "SGD.step()\nSGD.clear_grad()",
    "OPT.clear_grad()",
    "OPT.minimize({l})",
    "with d2s.no_grad():\n    NET.weight.set_value(NET.weight * 0.9)",
    "NET.bias.set_value(NET.bias - 0.1)",
    "if NET.weight.grad is not None:\n    NET.weight.set_value(NET.weight - 0.1 * NET.weight.grad)",
    "TOP.weight.set_value(TOP.weight.clip(-0.5, 0.5))",
    "NET.bias.stop_gradient = S.n % 2 == 0",
    "NET.weight.stop_gradient = not NET.weight.stop_gradient",
    "x.stop_gradient = not x.stop_gradient",
    "with d2s.no_grad():\n    NET.weight.clip_(-0.7, 0.7)",
    "NET.bias.set_value(NET.bias.detach() * 0.5)\nNET.bias.clear_gradient(False)",
    "if {l} > 0.2:\n    NET.weight.set_value(NET.weight * 0.8)",
    "{e}, = d2s.grad([{l}], [x], allow_unused=True, retain_graph=True)",
    "S.h = {e}",
    "S.h = {e}.detach()",
    "S.kept['w'] = NET.weight.clone()",
    "S.log.append({l}.item())",
    "S.n += 1",
    "print('loss', {l})",
    "print(float({l}), {e}.shape)",
    "{e}, = d2s.grad([{l}], [NET.weight], allow_unused=True, retain_graph=True)",
    "OPT.set_lr(OPT.get_lr() * 0.5)",
)
TESTS = ("{l} > 0.1", "S.n % 2 == 0", "{l}.item() < 0.3", "x.sum() > 0.0", "S.h is None")
STEP = "{l} = NET(x).square().mean()\n{l}.backward()\nOPT.step()\nOPT.clear_grad()"
BEHIND = (
    "",
    "",
    "sum([t.sum() for t in r if t is not None and not t.stop_gradient]).backward()",
    "(r[0].sum() + (NET.weight * 2.0).sum()).backward()",
    "r[-1].sum().backward()",
    "NET(d2s.ones([1, 2])).sum().backward()\nOPT.step()\nOPT.clear_grad()",
    "[t.sum().backward() for t in r]",
    "S.h = d2s.zeros([2])",
    "d2s.grad([r[0].sum()], [NET.weight], allow_unused=True)",
)


class WholeStep:
    """One module, and what is done behind its calls."""

    arguments = tuple([[a, 1.0], [-0.5, b], [0.25, 0.75]] for a, b in ((0.5, 1.0), (-2.0, 0.25), (3.0, -1.0), (0.5, 1.0)))

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.wants_gradient = self.random.random() < 0.3
        self.optimizer = self.random.choice(("SGD", "Momentum", "Adam"))
        self.losses, self.tensors = ["l0"], ["e0"]
        self.body = ["l0 = NET(x).square().mean()", "e0 = NET(x) * 1.0"]
        for _ in range(self.random.randint(2, 7)):
            self.body += self.statement(0)
        shown = self.random.sample(self.losses + self.tensors, min(2, len(self.losses + self.tensors)))
        self.body.append(f"return {', '.join(shown)},")
        self.calls = [("", self.random.choice(BEHIND)) for _ in self.arguments]

    def filled(self, form: str) -> str:
        return form.replace("{l}", self.random.choice(self.losses)).replace("{e}", self.random.choice(self.tensors))

    def statement(self, depth: int) -> list[str]:
        form = self.random.random()
        if form < 0.2:
            made = self.filled(self.random.choice(LOSSES))
            name = self.name(self.losses, "l", depth)
            return [f"{name} = {made}"]
        if form < 0.4:
            made = self.filled(self.random.choice(TENSORS))
            name = self.name(self.tensors, "e", depth)
            return [f"{name} = {made}"]
        if form < 0.8 or depth:
            return self.filled(self.random.choice(ACTS)).splitlines()
        inner = [line for _ in range(self.random.randint(1, 3)) for line in self.statement(1)]
        if form < 0.92:
            return [f"if {self.filled(self.random.choice(TESTS))}:", *indented(inner)]
        return ["for _ in range(2):", *indented([*self.filled(STEP).splitlines(), *inner])]

    def name(self, known: list[str], letter: str, depth: int) -> str:
        """A new name; inside of other statements one that has a value on all paths."""
        if depth:
            return self.random.choice(known)
        known.append(f"{letter}{len(known)}")
        return known[-1]

    def text(self) -> str:
        return HEAD.format(optimizer=self.optimizer) + "\n\ndef f(x):\n" + "\n".join(indented(self.body)) + "\n"
