"""Seeded random modules whose function reads what lies about, and random changes of what it reads.

In: a seed. Out: the text of a module with `f(x)`, and statements, each of which changes something `f` may have read.
"""

import random

import changing_layers
import changing_objects
import changing_places

IMPORTS = ("import collections, dataclasses, enum, functools, types", "import numpy as np", "import d2s", "")
WAYS = {  # how a read may stand in the function, and what is defined for it
    "{read}": "",
    "(lambda: {read})()": "",
    "[{read} for _ in range(1)][0]": "",
    "(0.0, {read})[1]": "",
    "{{'r': {read}}}['r']": "",
    "call_{n}()": "def call_{n}():\n    return {read}",
    "getter_{n}.get()": "class Getter{n}:\n    def get(self):\n        return {read}\n\n\ngetter_{n} = Getter{n}()",
    "first_{n}()": "def first_{n}():\n    def go():\n        yield {read}\n\n    return next(iter(list(go())))",
}
PLACES = changing_places.PLACES | changing_objects.PLACES | changing_layers.PLACES
USES = ("y = y + {read}", "y = y + {read}", "y = y * 2 if {read} else y - 1")


class World:
    """One module, its function, and what may be changed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.places = [PLACES[name] for name in self.random.sample(sorted(PLACES), self.random.randint(1, 3))]

    def text(self) -> str:
        lines, body = [*IMPORTS, *(place.made for place in self.places)], []
        for n in range(self.random.randint(1, 4)):
            read = self.random.choice(self.random.choice(self.places).reads)
            way, defined = self.random.choice(list(WAYS.items()))
            lines += ["", "", defined.format(read=read, n=n)]
            body.append(self.random.choice(USES).format(read=way.format(read=read, n=n)))
            if self.random.random() < 0.3:
                body += ["if y.sum() > 5:", "    y = y * 0.5"]
        return "\n".join([*lines, "", "", "def f(x):", "    y = x * 1", *(f"    {line}" for line in body), "    return y", ""])

    def changes(self) -> list[str]:
        """What is changed before one call."""
        return [self.random.choice(self.random.choice(self.places).changes) for _ in range(self.random.choice((0, 1, 1, 1, 2)))]
