"""Seeded random functions that Python has a part in at each call: steps among float ops, and gradients behind.

In: a seed. Out: the text of a module with `f(x, a, b)` and what it reads and changes outside, and what a caller does before and
behind each call: two batch sizes, arguments that want no gradient or are one tensor, sweeps in several orders.
"""

import random

from random_programs import indented, listed

HEAD = """
import logging
import math
import random
import time

import numpy as np

import d2s
from d2s import nn


class Box:
    pass


class Kept(logging.Handler):
    def emit(self, record):
        SAID.append(record.getMessage())


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.register_buffer("mean", d2s.linspace(-0.3, 0.7, 8))

    def forward(self, x):
        return self.fc(x) - self.mean


LOG = logging.getLogger(f"{{__name__}}.acting")
LOG.propagate = False
LOG.setLevel(logging.INFO)
LOG.handlers[:] = [Kept()]
d2s.seed(3)
S, SAID = Box(), []
S.h, S.n, S.log, S.g = None, 0, [], None
NET, W = Net(), d2s.to_tensor(np.linspace(-1.7, 0.9, 8).astype('float32'), stop_gradient=False)
OPT = d2s.optimizer.{optimizer}(0.05, parameters=[*NET.parameters(), W])
R = random.Random(5)


@d2s.to_static
def quiet(t, u):
    return d2s.tanh(t * u) + t * 0.3 + u * t


@d2s.to_static
def loud(t):
    print("loud", t.sum().item())
    return t * 1.1 + t * t * W


def plain(t):
    k = float(t.numpy().max())
    return t * k + t


def flat(r):
    if isinstance(r, d2s.Tensor):
        return [r] if not r.stop_gradient else []
    parts = r.values() if isinstance(r, dict) else r if isinstance(r, (list, tuple)) else []
    return [t for part in parts for t in flat(part)]


def loss(ts):
    return sum([(t * t).sum() + (t * 0.7).sum() for t in ts], d2s.zeros([]))


STATE = None
"""
TENSORS = listed(
    """
{t} * {t}; {t} - {t} * 0.7; {t} * {t} + {t}; {t} * {t} * 0.3 + {t} * 1.7; {t} * {t} - {t} * {t}; {t} / ({t} * {t} + 1.3);
d2s.tanh({t}); d2s.tanh({t}) + {t}; {t} * 0.37 + 1.9; NET({t}); d2s.tanh(NET({t})) + {t}; {t} * W; {t} + W * {t}; {t} +
NET.mean; {t} * {s}; {t} * {s} + {t}; {t} * {s} + {t} * {t}; {t} + {s}; {t} / (abs({s}) + 1.0); d2s.to_tensor({t}.numpy()) *
{t}; {t} * W + d2s.to_tensor(np.ones([8], 'float32') * 0.3); {t} * {t} + d2s.to_tensor(np.ones({t}.shape, 'float32'));
quiet({t}, {t}); loud({t}); plain({t}) + {t}; {t} + {t}.sum() * 0.01; {t}.flip([0]) * {t}; {t}.clone() + {t}; {t} *
{t}.mean(); {t}.detach() * {t}; {t} * d2s.to_tensor(random.random()) + {t}; nn.functional.dropout({t}, 0.3) * {t}; {t} @
NET.fc.weight; sum([{t}, {t}, {t}]); d2s.where({t} > 0.0, {t}, {t} * 0.1); d2s.concat([{t}, {t}])[::2] * 0.9 + {t}[0];
nn.functional.softmax({t}) * {t}; {t}; {t} * {t} - {t}.mean(0); {t} * d2s.to_tensor(np.tanh({t}.numpy())) + {t}; {t}[:, :1]
* {t}; d2s.stack([{t}, {t}]).sum(0) * {t}; {t}.unbind(0)[0] * {t}; {t}.split(2, 1)[1].sum() * {t}; d2s.maximum({t}, {t});
({t} if {s} > 0.3 else {t}) * {t};
"""
)
NUMBERS = listed(
    """
float({t}.numpy().max()); random.random(); float(np.random.rand()); float(np.mean({t}.numpy())); {t}.sum().item(); {s} * 0.5;
{s} + 0.25; math.tanh({s}); float(time.time() > 0.0); R.uniform(-1.0, 1.0); max({s}, 0.1); S.n * 0.1; float({t}.mean());
float(np.abs({t}.numpy()).sum() > 3.0); {t}.numpy()[0, 0].item(); float(len(S.log));
"""
)
ACTS = (
    *("print('at', {s})", "print({t}.sum())", "print('here')", "print(f'{{{s}:.3f}}')", "LOG.info('sum %s', {t}.sum().item())"),
    *("print({t}[0])", "S.n += 1", "S.log.append({s})", "LOG.info('n %s', S.n)", "random.random()", "assert {s} < 1e9"),
    *("q = [{t}, {t}]\nq.append({e})\n{l} = q[0] * q[2] + q[1]", "q = [{t}, {t}]\nprint(len(q))\n{l} = q[0] + q[1] * q[0]"),
    *("d = {{'k': {t}}}\nd['m'] = {e}\n{l} = d['k'] * d['m'] + d['k']", "{l} = {l} * 0.9 + {t} * {t} * 0.3 + {t} * 1.7"),
    *("{l} = {t}", "for _ in d2s.arange(2):\n    {l} = {t}", "if {t}.sum() > 0.0:\n    {l} = {t}", "print({l}.stop_gradient)"),
    *("if {t}.mean() > {t}.max() * 0.1:\n    {l} = {e}\nelse:\n    {l} = {e}", "{l}, {m} = {m}, {l}", "{l} = {m} = {e}"),
)
DENSE = (
    *(
        "{l} = {t} * {s}",
        "{l} = x * {s}",
        "{l} = {l} * {s} + x",
        "{l} = x * x * 0.3 + {l}",
        "print({s})",
        "{n} = random.random()",
    ),
    *(
        "if {s} > 0.1:\n    print('in')\n    {l} = x * x * 0.3 + x * 1.7\nelse:\n    {l} = x",
        "for _ in d2s.arange(2):\n    {l} = x",
    ),
    *("if {s} > 0.1:\n    print('in')\n    {l} = {m} * {t} + {l}", "for _ in d2s.arange(2):\n    {l}, {m} = {m}, {m}"),
    *(
        "{k} = d2s.to_tensor(0)\nwhile {k} < 2:\n    print('trip')\n    {k} = {k} + 1\n    {l} = {l} + x * x * 0.3",
        "{l} = W * {s}",
    ),
    *("{l} = {m} * {s} + {m} * {l} + {l} * {l} * 0.3", "{l} = {m} * {l} * {s} + {m} * {m} * 0.3 + {t} * {m} + {m} * 1.3"),
)  # few ops, many reads of what a step stands between
RARE = (
    *(
        "{l}.add_({t})",
        "{l}[0] = {t}[1]",
        "{l}[0] = 0.0",
        "{l} *= {s}",
        "{l} += {t}",
        "{l}.scale_(0.5)",
        "{l}[:, 1] = {t}[:, 0]",
    ),
    *("with d2s.no_grad():\n    NET.mean.add_({t}.mean(0) * 0.1)", "NET.mean.set_value(NET.mean * 0.9)", "{l} = {l}.detach()"),
    *(
        "with d2s.no_grad():\n    {l} = {e}\n    {n} = {v}",
        "{l}.stop_gradient = True",
        "S.h = {t}.detach()",
        "S.h = {t}",
        "np.random.rand()",
    ),
    *("if {s} > 1e6:\n    raise ValueError('large')", "S.h = {t}\nprint(S.h.sum())", "print({t}.shape, {t}.stop_gradient)"),
)
LOOPS = (
    "for k in range(2):",
    "for k in range(3):",
    "for k in d2s.arange(2):",
    "{k} = d2s.to_tensor(0)\nwhile {k} < 2:\n    {k} = {k} + 1",
    "{k} = 0.0\nwhile {k} < 1.0:\n    {k} = {k} + 0.6",
    "{k} = {s}\nwhile {k} < 1.0:\n    {k} = {k} + 0.6",
    "for k in range(int(({t} > 0.0).sum())):",
    "for row in {t}:",
)
TESTS = ("{t}.sum() > 0.0", "{s} > 0.4", "{t}.mean() > {t}.max() * 0.1", "{t}.sum().item() > 0.0", "S.n % 2 == 0", "{s} > -9.0")
SWEEPS = (
    "",
    "if flat(r): loss(flat(r)).backward()",
    "if flat(r): loss(flat(r)).backward()",
    "if flat(r): loss(flat(r)[::-1]).backward()",
    "if flat(r): flat(r)[0].sum().backward()",
    "if flat(r): flat(r)[-1].backward()",
    "[(t * 1.3).sum().backward(retain_graph=True) for t in flat(r)]",
    "[(t * t).sum().backward(retain_graph=True) for t in flat(r)[::-1]]",
    "if flat(r): d2s.autograd.backward(flat(r))",
    "if flat(r): S.g = d2s.grad([loss(flat(r))], [x, a, W], allow_unused=True, retain_graph=True)",
    "if flat(r): S.g = d2s.grad([loss(flat(r))], [x, NET.fc.weight], allow_unused=True)",
    "if flat(r):\n    g, = d2s.grad([loss(flat(r))], [x], create_graph=True, allow_unused=True)\n"
    "    if g is not None and not g.stop_gradient: (g * g).sum().backward()",
    "if flat(r): (loss(flat(r)) + (x * W).sum() + (NET(x) * x).sum()).backward()",
    "for t in flat(r): t.register_hook(lambda g: print('hook', g))\nif flat(r): loss(flat(r)).backward()",
    "if flat(r):\n    loss(flat(r)).backward(retain_graph=True)\n    loss(flat(r)).backward()",
    "if flat(r):\n    loss(flat(r)).backward()\n    loss(flat(r)).backward()",
)
STEPS = ("", "", "OPT.step()\nOPT.clear_grad()", "OPT.step()", "W.clear_grad()", "W.set_value(W * 0.9)")
BEFORE = "random.seed(1)\nnp.random.seed(2)\n"
GIVEN = (
    "a, b = d2s.to_tensor(x.numpy() * 0.37 + 0.11, stop_gradient=False), d2s.to_tensor(x.numpy() * -1.3)",
    "a, b = d2s.to_tensor(x.numpy() * 0.37 + 0.11, stop_gradient=False), d2s.to_tensor(x.numpy() - 0.7, stop_gradient=False)",
    "a, b = x, d2s.to_tensor(x.numpy() - 0.7, stop_gradient=False)",
    "a, b = d2s.to_tensor(x.numpy() - 0.7), x",
    "a = b = d2s.to_tensor(x.numpy() * 0.9 + 0.2, stop_gradient=False)",
    "a, b = x * 0.7 + 0.1, d2s.tanh(x)",
)


class Acting:
    """One module, and what is done before and behind its calls."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        draw = self.random.uniform
        self.wants_gradient = self.random.random() < 0.9
        self.optimizer = self.random.choice(("SGD", "Momentum", "Adam"))
        self.arguments = tuple([[draw(-2, 2) for _ in range(8)] for _ in range(n)] for n in (2, 2, 2, 2, 4, 2, 4, 2))
        self.tensors, self.numbers, self.locals = ["x", "x", "a", "b"], ["s0"], list[str]()
        self.body = [self.filled(self.random.choice(("s0 = 0.7", "s0 = float({t}.numpy().max())", "s0 = random.random()")))]
        self.body.append("y0 = " + self.filled("{e}"))
        self.tensors, self.locals = [*self.tensors, "y0"], ["y0"]
        if self.random.random() < 0.5:
            self.dense()
        else:
            for _ in range(self.random.randint(3, 9)):
                self.body += self.statement(0)
        shown = [self.random.choice(self.tensors[3:]) for _ in range(self.random.choice((1, 1, 2, 3)))] + self.locals[-1:]
        form = self.random.choice(("{0},", "{0},", "[{0}]", "{1}", "{1}", "{{'k': {1}}}", "{0}, {2}", "x, {0}"))
        self.body.append("return " + form.format(", ".join(shown), shown[-1], self.random.choice(self.numbers)))
        given = self.random.choices(GIVEN, k=2) if self.random.random() < 0.3 else [self.random.choice(GIVEN)] * 2
        sweeps = self.random.choices(SWEEPS, k=2)
        self.calls = []
        for _ in self.arguments:
            before = BEFORE + self.random.choice((given[0], given[0], given[1])) + "\nalso = (a, b)\nS.given = [x, a, b]"
            behind = self.random.choice((sweeps[0], sweeps[0], sweeps[1])) + "\n" + self.random.choice(STEPS)
            self.calls.append((before, behind))

    def filled(self, form: str) -> str:
        for hole in ("{l}", "{m}"):
            form = form.replace(hole, self.random.choice(self.locals or ["y0"]))
        for hole, forms in (("{e}", TENSORS), ("{v}", NUMBERS)):
            while hole in form:
                form = form.replace(hole, self.random.choice(forms), 1)
        form = form.replace("{n}", self.random.choice(self.numbers))
        for hole, names in (("{t}", self.tensors), ("{s}", self.numbers)):
            while hole in form:
                form = form.replace(hole, self.random.choice(names), 1)
        return form.replace("{{", "{").replace("}}", "}")

    def dense(self) -> None:
        for name in ("y1", "y2"):
            self.body.append(f"{name} = {self.filled(self.random.choice(('x * {s}', 'x * 2.0', '{e}')))}")
            self.tensors.append(name)
            self.locals.append(name)
        self.numbers.append("s1")
        self.body.append("s1 = random.random()")
        for n in range(self.random.randint(2, 6)):
            self.body += self.filled(self.random.choice(DENSE).replace("{k}", f"k{n}")).splitlines()
        self.body.append(self.filled("y3 = {t} * {t} * s1 + {t} * x * 0.3 + {t} * 1.3 + y0 * 0.9 + {t}"))
        self.locals.append("y3")
        self.tensors.append("y3")

    def statement(self, depth: int) -> list[str]:
        form = self.random.random()
        if form < 0.35:
            made = self.filled("{e}")
            return [f"{self.name(self.tensors, depth)} = {made}"]
        if form < 0.5:
            made = self.filled("{v}")
            if depth:
                return [f"{self.random.choice(self.numbers)} = {made}"]
            self.numbers.append(f"s{len(self.numbers)}")
            return [f"{self.numbers[-1]} = {made}"]
        if form < 0.75 or depth > 1:
            return self.filled(self.random.choice(ACTS if self.random.random() < 0.9 else RARE)).splitlines()
        inner = [line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth + 1)]
        if form < 0.9:
            found = [f"if {self.filled(self.random.choice(TESTS))}:", *indented(inner)]
            if self.random.random() < 0.5:
                found += ["else:", *indented(self.statement(depth + 1))]
            return found
        head = self.filled(self.random.choice(LOOPS).replace("{k}", f"k{depth}")).splitlines()
        return [*head, *indented(inner)]

    def name(self, known: list[str], depth: int) -> str:
        if depth:
            return self.random.choice(self.locals)
        known.append(f"y{len(self.locals)}")
        self.locals.append(known[-1])
        return known[-1]

    def text(self) -> str:
        head = HEAD.format(optimizer=self.optimizer).replace("STATE = None", "STATE = [S, SAID, W, NET.parameters(), NET.mean]")
        return head + "\n\ndef f(x, a, b):\n" + "\n".join(indented(self.body)) + "\n"
