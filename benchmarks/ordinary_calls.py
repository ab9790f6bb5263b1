"""Small functions as users decorate them, called with what changes at each call: the graph no slower, and captured a few times.

In: makers, so that the eager function and the graph each have objects of their own, and the arguments of call number k. Out: a
line for each: microseconds at once and as a graph, in turn, and how often it was captured.

python benchmarks/ordinary_calls.py              all of them, the slowest as a graph first
python benchmarks/ordinary_calls.py cache batch  those whose names begin so
"""

import collections
import contextlib
import dataclasses
import io
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from static_calls import BURST, ROUNDS, data, seconds

import d2s
from d2s import nn
from d2s.nn import functional as F

CALLS, WARM = 400, 120  # different arguments, and calls before any is timed
X, ROWS = data(8), data(4, 8)
Arguments = Callable[[int], tuple[Any, ...]]
Pair = collections.namedtuple("Pair", "first second")
CASES: dict[str, tuple[Callable[..., Any], Arguments, bool]] = {}


@dataclasses.dataclass
class Out:
    loss: Any
    logits: Any


class Held:
    """What calls find and change."""

    def __init__(self, **parts: Any) -> None:
        vars(self).update(parts)


def case(arguments: Arguments = lambda k: (X,), swept: bool = False, **held: Callable[[], Any]) -> Callable[[Any], Any]:
    """Puts a function into the list; `held` makes what it finds as an attribute of its first parameter."""

    def add(function: Any) -> Any:
        def made() -> tuple[Any, tuple[Any, ...]]:
            return function, (Held(**{name: make() for name, make in held.items()}),) if held else ()

        CASES[function.__name__] = made, arguments, swept
        return function

    return add


# --- NumPy, random numbers, clocks, texts


@case()
def numpy_of_a_tensor(x):
    return x * float(x.numpy().max())


@case()
def numpy_decides(x):
    return x * 0.0 if np.any(np.isnan(x.numpy())) else x * 2.0


@case()
def numpy_and_back(x):
    return d2s.to_tensor((x * 2.0).numpy() * 2)


@case()
def random_number(x):
    return x + random.random()


@case()
def random_array(x):
    return x + d2s.to_tensor(np.random.rand(8).astype("float32"))


@case()
def clock(x):
    start = time.perf_counter()
    y = x * 2.0
    return y, time.perf_counter() - start


@case()
def text(x):
    return x * 2.0, f"loss {x.sum().item():.4f}"


@case()
def raised_text(x):
    if x.sum() > 1e9:
        raise ValueError(f"too much: {x.sum()}")
    return x * 2.0


@case()
def asserted_text(x):
    assert x.sum() < 1e9, f"the sum is {x.sum().item()}"
    return x * 2.0


@case(log=list)
def printed_each_ten(held, x):
    held.log.append(float(x.sum()))
    print("so far", len(held.log))
    return x * 2.0


# --- what is kept from call to call


@case(lambda k: (data(1, 1, 8),), k=lambda: d2s.zeros([1, 1, 8]), n=int)
def cache_of_keys(held, x):
    held.n += 1
    if held.n % 64 == 0:
        held.k = d2s.zeros([1, 1, 8])
    held.k = d2s.concat([held.k, x], axis=1)
    return (held.k * x).sum()


@case(h=list)
def history(held, x):
    held.h.append(x * 2.0)
    held.h = held.h[-3:]
    return sum(held.h)


@case(h=lambda: d2s.zeros([3, 8]))
def rolling(held, x):
    held.h = d2s.concat([held.h[1:], x.unsqueeze(0)])
    return held.h.mean(0)


@case(lambda k: (X, k % 16), c=lambda: d2s.zeros([16, 8]))
def cache_of_places(held, x, place):
    held.c[place] = x
    return held.c[: place + 1].sum(0)


@case(total=float, n=int)
def metric(held, x):
    held.total += float(x.mean())
    held.n += x.shape[0]
    return held.total / held.n


@case(state=lambda: {"m": d2s.zeros([8]), "n": 0})
def state_in_a_dict(held, x):
    held.state["m"] = held.state["m"] * 0.9 + x
    held.state["n"] += 1
    return held.state["m"]


@case(losses=list)
def losses_in_a_list(held, x):
    loss = (x * 2.0).sum()
    held.losses.append(loss.item())
    return loss


@case(average=lambda: None)
def moving_average(held, x):
    held.average = x if held.average is None else held.average * 0.9 + x * 0.1
    return held.average


@case(lambda k: (ROWS,), a=lambda: nn.Linear(8, 8), b=lambda: nn.Linear(8, 8), h=lambda: d2s.zeros([4, 8]))
def recurrent_cell(held, x):
    held.h = d2s.tanh(held.a(x) + held.b(held.h)).detach()
    return held.h


@case(lambda k: (ROWS,), True, layer=lambda: nn.Linear(8, 8), norm=lambda: nn.BatchNorm1D(8), drop=lambda: nn.Dropout(0.3))
def training_forward(held, x):
    return held.drop(F.relu(held.norm(held.layer(x)))).sum()


@case(lambda k: (ROWS,), layer=lambda: nn.Linear(8, 8))
def without_gradients(held, x):
    with d2s.no_grad():
        return held.layer(x).argmax(-1)


# --- arguments and results


BATCHES = [data(n, 8) for n in range(1, 40)]


@case(lambda k: (BATCHES[k % 39],), True, layer=lambda: nn.Linear(8, 4))
def batches(held, x):
    return F.softmax(held.layer(x)).sum()


@case(lambda k: (ROWS, ROWS, ("mean", "sum")[k % 2]))
def loss_by_name(x, y, reduction):
    return F.mse_loss(x, y, reduction=reduction)


@case(lambda k: (X, k))
def decayed(x, step):
    return x * (0.9**step)


@case(lambda k: (X, k))
def each_tenth(x, step):
    return x * 2.0 if step % 10 == 0 else x * 0.5


@case(lambda k: (X, 1 + k % 7))
def so_many_times(x, n):
    for _ in range(n):
        x = x * 0.5
    return x


@case(lambda k: ([X, X + 1.0, X * 2.0, X - 1.0][: 2 + k % 3],))
def list_of_tensors(xs):
    return sum(xs[1:], xs[0])


@case(lambda k: ({"x": ROWS, "y": d2s.to_tensor([0, 1, 2, 3])},), layer=lambda: nn.Linear(8, 4))
def batch_in_a_dict(held, batch):
    return F.cross_entropy(held.layer(batch["x"]), batch["y"])


@case(lambda k: (Pair(X, X + 1.0),))
def pair(both):
    return Pair(both.first * both.second, both.first.sum())


@case()
def dataclass(x):
    return Out(x.sum(), x * 2.0)


@case()
def clipped(x):
    norm = float(x.norm())
    if norm > 1.0:
        x = x / norm
    return x


class Method:
    """Bound at each call."""

    def __init__(self) -> None:
        self.scale = 2.0

    def forward(self, x, *, bias=1.0, **more):
        return x * self.scale + bias


def _method() -> tuple[Any, tuple[Any, ...]]:
    return Method, ()


CASES["method"] = _method, lambda k: (X,), False


def runs_of(name: str) -> tuple[list[Callable[[], Any]], Any]:
    """A call at once and one as a graph, each with the next arguments; and what is static of it."""
    maker, arguments, swept = CASES[name]
    given, runs, static = [arguments(k) for k in range(CALLS)], [], None
    for is_static in (False, True):
        function, front = maker()
        if isinstance(function, type):
            made = d2s.to_static(function.forward) if is_static else function.forward
            owner = type(function.__name__, (function,), {"forward": made})()
            call: Any = lambda *args, owner=owner: owner.forward(*args)  # noqa: E731
        else:
            call = made = d2s.to_static(function) if is_static else function
        static = made
        runs.append(_run(call, front, given, swept))
    return runs, static


def _run(call: Any, front: tuple[Any, ...], given: list[tuple[Any, ...]], swept: bool) -> Callable[[], Any]:
    left = iter(int, 1)
    number = (k % CALLS for k, _ in enumerate(left))
    parameters = [
        p for held in front for layer in vars(held).values() if isinstance(layer, nn.Layer) for p in layer.parameters()
    ]

    def run() -> None:
        found = call(*front, *given[next(number)])
        if swept:
            found.backward()
            for parameter in parameters:
                parameter.clear_grad()

    return run


def measured(name: str) -> tuple[float, float, int]:
    """Microseconds at once and as a graph, the least of several rounds in turn, and how many captures that took."""
    runs, static = runs_of(name)
    for run in runs:
        seconds(run, WARM)
    count = min(CALLS, max(1, int(BURST / min(seconds(run, 3) for run in runs))))
    rounds = [[seconds(run, count) * 1e6 for run in runs] for _ in range(ROUNDS)]
    at_once, graph = (min(column) for column in zip(*rounds, strict=True))
    return at_once, graph, len(static.recompiles()) + 1


def main() -> None:
    wanted, found = tuple(sys.argv[1:]) or ("",), []
    for name in CASES:
        if name.startswith(wanted):
            with contextlib.redirect_stdout(io.StringIO()):
                found.append((*measured(name), name))
    found.sort(key=lambda row: row[0] / row[1])
    for at_once, graph, captures, name in found:
        ratio = f"{graph / at_once:6.2f}  {captures} captures"
        print(f"{name:24} {at_once:9.2f} µs at once  {graph:9.2f} µs as a graph  {ratio}")
    print(f"{sum(graph > at_once for at_once, graph, *_ in found)} of {len(found)} are slower as a graph")


if __name__ == "__main__":
    main()
