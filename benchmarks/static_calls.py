"""Small programs of every kind a static call knows, each at once and as a graph in turn: the graph must be no slower.

python benchmarks/static_calls.py              all of them, the slowest as a graph first, least of many runs
python benchmarks/static_calls.py list mask    those whose names begin so
"""

import contextlib
import io
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import d2s
from d2s import nn
from d2s.nn import functional as F

ROUNDS, BURST = 9, 0.004  # rounds of either, seconds of one
_random = np.random.default_rng(0)
Case = tuple[Callable[..., Any], tuple[Any, ...]]
CASES: dict[str, Case] = {}  # a name that ends in "grad" is swept, too


def data(*shape: int, wants: bool = False) -> Any:
    return d2s.to_tensor(_random.standard_normal(shape).astype("float32"), stop_gradient=not wants)


def case(name: str, *given: Any) -> Callable[[Any], Any]:
    """Puts a function into the list, once for each kind of use: with arguments as they are, on the tape, and swept."""

    def add(function: Any) -> Any:
        CASES[name] = function, given
        return function

    return add


def trained(name: str, *given: Any) -> Callable[[Any], Any]:
    """The same of one whose first argument may want a gradient: plainly, on the tape, and with the sweep behind it."""

    def add(function: Any) -> Any:
        wanting = d2s.to_tensor(given[0].numpy(), stop_gradient=False)
        CASES[name] = function, given
        CASES[f"{name}_taped"] = function, (wanting, *given[1:])
        CASES[f"{name}_grad"] = function, (wanting, *given[1:])
        return function

    return add


EIGHT, ROWS, THREE, TEN = data(8), data(4, 8), d2s.to_tensor(3), d2s.to_tensor(10)


@trained("elements", EIGHT)
def elements(x):
    return x * 2.0 + 1.0


@trained("branch", EIGHT)
def branch(x):
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = x - 1.0
    return y


@trained("early_return", EIGHT)
def early_return(x):
    if x.sum() > 0:
        return x * 2.0
    return x - 1.0


@trained("loop", EIGHT, THREE)
@trained("loop_10", EIGHT, TEN)
def loop(x, n):
    i = 0
    while i < n:
        x = d2s.tanh(x) * 0.5
        i += 1
    return x


@trained("broken_loop", EIGHT, TEN)
def broken_loop(x, n):
    for _ in range(n):
        if x.sum() > 1e6:
            break
        x = x * 1.5
    return x


@trained("list", EIGHT, THREE)
@trained("list_10", EIGHT, TEN)
def stacked(x, n):
    kept = []
    for _ in range(n):
        kept.append(x * 0.5)
        x = x + 1.0
    return d2s.stack(kept)


@case("returned_list", EIGHT, THREE)
@case("returned_list_10", EIGHT, TEN)
@case("returned_list_taped", data(8, wants=True), TEN)
def listed(x, n):
    kept = []
    for _ in range(n):
        x = x + 1.0
        kept.append(x)
    return kept


@trained("lengthened", EIGHT, TEN)
def lengthened(x, n):
    y = x
    for _ in range(n):
        y = d2s.concat([y, x])
    return y


@trained("recursion", EIGHT, THREE)
def recursion(x, n):
    return x if n <= 0 else recursion(x * 0.5, n - 1)


@trained("mask", EIGHT)
@trained("mask_1e4", data(10_000))
@case("mask_1e6", data(1_000_000))
def mask(x):
    return x[x > 0.0]


@case("places", EIGHT)
@case("places_1e6", data(1_000_000))
def places(x):
    return d2s.nonzero(x > 0.0)


@trained("slice_found", EIGHT, THREE)
def slice_found(x, n):
    return x[:n] * 2.0


@trained("dropout", EIGHT)
def dropped(x):
    return F.dropout(x, 0.5)


@case("drawn", EIGHT)
def drawn(x):
    return x + d2s.randn([8])


_norm, _linear, _attention = nn.BatchNorm1D(8), nn.Linear(8, 8), nn.MultiHeadAttention(16, 2)


@trained("batch_norm", ROWS)
def normed(x):
    return _norm(x)


@trained("linear", ROWS)
def linear(x):
    return _linear(x)


@trained("attention", data(2, 4, 16))
def attention(x):
    return _attention(x, x, x)


class Counted:
    """What calls change."""

    def __init__(self) -> None:
        self.calls, self.total, self.buffer = 0, d2s.to_tensor(0.0), d2s.zeros([8])


_counted = Counted()


@case("attribute", EIGHT)
def attribute(x):
    _counted.calls += 1
    return x * 2.0


@case("total", EIGHT)
def total(x):
    _counted.total = _counted.total + x.sum()
    return _counted.total


@case("in_place", EIGHT)
def in_place(x):
    _counted.buffer.add_(x)
    return x * 2.0


@trained("print_branch", EIGHT)
def printed_on_a_path(x):
    if x.sum() > -100.0:
        print("a line")
    return x * 2.0


@case("print", EIGHT)
def printed(x):
    print("a line")
    return x * 2.0


@case("several_results", EIGHT)
def several_results(x):
    return {"one": x + 1.0, "two": (x * 2.0, x - 1.0)}


@case("some_or_none", EIGHT)
def some_or_none(x):
    return x * 2.0 if x.sum() > 0 else None


@case("item", EIGHT)
def item(x):
    return x.sum().item()


@case("assert", EIGHT)
def asserted(x):
    assert x.sum() < 1e9
    return x * 2.0


@case("try", EIGHT)
def tried(x):
    try:
        if x.sum() > 1e9:
            raise ValueError("too much")
    except ValueError:
        return x
    return x * 2.0


@case("numbers", EIGHT, 3, 0.5, "a")
def numbers(x, k, a, which):
    return x * k + a if which == "a" else x


@case("containers", [EIGHT, ROWS], {"a": EIGHT, "b": EIGHT + 1.0})
def containers(pair, named):
    return pair[0] + named["a"] * named["b"]


_optimizer = d2s.optimizer.Adam(1e-3, parameters=_linear.parameters())


@case("whole_step", ROWS)
def whole_step(x):
    loss = (_linear(x) ** 2).mean()
    loss.backward()
    _optimizer.step()
    _optimizer.clear_grad()
    return loss


def run_of(name: str, call: Callable[..., Any], given: tuple[Any, ...]) -> Callable[[], Any]:
    """One call; of a "grad" with its sweep."""
    if not name.endswith("_grad"):
        return lambda: call(*given)

    def swept() -> None:
        call(*given).sum().backward()
        given[0].clear_grad()

    return swept


def seconds(run: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


def measured(name: str, function: Callable[..., Any], given: tuple[Any, ...]) -> tuple[float, float]:
    """Microseconds at once and as a graph, the least of several rounds in turn."""
    runs = [run_of(name, call, given) for call in (function, d2s.to_static(function))]
    for run in runs:
        seconds(run, 5)
    count = max(1, int(BURST / min(seconds(run, 3) for run in runs)))
    rounds = [[seconds(run, count) * 1e6 for run in runs] for _ in range(ROUNDS)]
    at_once, graph = (min(column) for column in zip(*rounds, strict=True))
    return at_once, graph


def main() -> None:
    wanted = tuple(sys.argv[1:]) or ("",)
    found = []
    for name, (function, given) in CASES.items():
        if name.startswith(wanted):
            with contextlib.redirect_stdout(io.StringIO()):
                found.append((*measured(name, function, given), name))
    found.sort(key=lambda row: row[0] / row[1])
    for at_once, graph, name in found:
        print(f"{name:24} {at_once:9.2f} µs at once  {graph:9.2f} µs as a graph  {graph / at_once:6.2f}")
    slower = sum(graph > at_once for at_once, graph, _ in found)
    print(f"{slower} of {len(found)} are slower as a graph")


if __name__ == "__main__":
    main()
