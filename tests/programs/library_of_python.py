"""What Python's library offers, of what only a run will tell: orders, keys, places, texts and bits of numbers, copies."""

import bisect
import copy
import dataclasses
import heapq
import itertools
import json
import math
import os.path
import re
import statistics
import types
import typing
from collections import namedtuple

from programs_compare import program, t

import d2s.nn.functional as F

X, Y = t([1.0, -2.0, 3.0]), t([-9.0, 2.0, 3.0])
SETS = (X,), (Y,), (t([float("nan"), 2.0, 1.0]),)
KNOWN = (X,), (Y,)


class Box:
    """An object with two attributes."""

    def __init__(self, v, n=0):
        self.v = v
        self.n = n


@dataclasses.dataclass
class Point:
    """A dataclass that holds a tensor."""

    at: typing.Any
    n: int = 1


class Options(typing.TypedDict):
    """A dict of known keys."""

    scale: int


@program(*SETS)
def sorted_by_values(x):
    parts = [x[0], x[1], x[2]]
    named = {"a": x[0], "b": x[1], "c": x[2]}
    numbers = [float(v) for v in x]
    numbers.sort(reverse=True)
    return sorted(parts, key=lambda v: -v), [k for k, _ in sorted(named.items(), key=lambda kv: kv[1])], numbers


@program(*SETS)
def orders_that_python_knows(x):
    named = {"b": x[0], "a": x[1]}
    return dict(sorted(named.items())), sorted(range(3), key=lambda k: float(x[k])), max(named), list(reversed(named))


@program(*KNOWN)
def least_and_most_of_what_is_kept(x):
    kept = [v for v in x if v > 0]
    return max(kept) + 0, min(kept, key=lambda v: -v) + 0, min([v for v in x if v > 10], default=x) + 0


@program(*KNOWN)
def items_by_numbers_of_run_time(x):
    n = int(x[0])
    known = {1: x, -9: x * 2}
    return known[n], known.get(n + 1, "none"), "abcdefghijk"[n], n in known, n in {1, 5}, n in range(-9, 3, 2), range(20)[n]


@program(*KNOWN)
def a_key_that_is_not_there(x):
    try:
        return {2: x, -4: x * 3}[int(x.sum())]
    except KeyError as error:
        return str(error)


@program(*KNOWN)
def stores_at_places_of_run_time(x):
    parts = [x, x * 2, None]
    parts[int(x[0]) % 3] = x * 10
    parts[0 if x.sum() > 0 else 1] = 5
    return parts


@program(*KNOWN)
def a_place_outside_of_a_list(x):
    parts = [x, x]
    parts[int(x[0])] = 1
    return parts


@program(*KNOWN)
def bits_of_numbers(x):
    n = int(x[0])
    m = n
    m <<= 2
    return ~n, n & 6, n | 3, n ^ 5, n << 2, n >> 1, m, n.bit_length(), float(n).hex(), bin(n), chr(n + 70), format(n, "5d")


@program(*KNOWN)
def as_many_as_a_run_finds(x):
    n = abs(int(x[0]))
    return [0, n] * n, len([0.5] * n), range(2), slice(n, None).start, len(range(n))


@program(*KNOWN)
def texts_of_numbers(x):
    line = ",".join(f"{float(v):.1f}" for v in x)
    return line, "9" in line, json.dumps({"n": int(x[0])}), re.sub("-", "", line)


@program(*KNOWN)
def modules_that_only_compute(x):
    found = re.match(r"(\w+)\.(\w+)", "layer.weight")
    ordered = bisect.bisect([1, 5], int(x[0]))
    return x * statistics.mean([1, 2, 3]), found.group(2), os.path.join("a", "b"), json.loads("[1]"), ordered


@program(*KNOWN)
def copies_of_tensors(x):
    box = Box([x * 2], 1)
    other = copy.deepcopy(box)
    other.v.append(x)
    return box.v, len(other.v), other.v[0] + x, dataclasses.asdict(Point(x.detach(), 2))


@program(*KNOWN)
def objects_of_the_library(x):
    space = types.SimpleNamespace(a=x, b=2)
    if x.sum() > 0:
        space.a = x * 2
    pair = namedtuple("Pair", "first second")(x, 1)
    return space.a * space.b, pair.first + pair.second, Options(scale=3)["scale"], dict.fromkeys("ab", x)


@program(*KNOWN)
def iterators_of_the_library(x):
    parts = [1, 2, 0, 3]
    taken = list(itertools.takewhile(lambda v: v > 0, x)), list(itertools.filterfalse(lambda v: v > 0, x))
    ended = list(iter(lambda: parts.pop(0), 0))
    return taken, list(itertools.dropwhile(lambda v: v < 2, x)), ended, list(itertools.chain.from_iterable([[x], [1]]))


@program(*KNOWN)
def what_a_generator_is_sent(x):
    def scaled():
        scale = yield x
        yield x * scale

    running = scaled()
    return next(running), running.send(3)


@program(*KNOWN)
def functions_by_the_name_a_path_gives(x):
    return getattr(F, "relu" if x.sum() > 0 else "sigmoid")(x)


@program(*KNOWN)
def a_call_that_does_not_fit(x):
    def f(a):
        return a

    if x.sum() > 0:
        f(x, x)
    return f(x)


@program(*KNOWN)
def keys_by_the_path(x):
    key = "a" if x.sum() > 0 else "b"
    counts = {"pos": 0, "neg": 0}
    for v in x:
        counts["pos" if v > 0 else "neg"] += 1
    found = {key: x}
    found.setdefault(key, x * 2)
    return found, counts, {("c" if v > 2 else "d"): v for v in x}


@program((X,), (Y,), (t([0.0, 0.0, 0.0]),), (t([1000.0, 1.0, 1.0]),))
def functions_of_numbers_that_fail_inside_a_try(x):
    total = float(x.sum())
    try:
        found = math.log(total)
    except ValueError as error:
        found = str(error)
    try:
        return found, math.exp(total)
    except (OverflowError, ZeroDivisionError):
        return found, x
    finally:
        print("done")


@program(*KNOWN)
def an_error_of_a_number_that_nothing_catches(x):
    try:
        return math.sqrt(float(x.sum()))
    except KeyError:
        return x


@program(*KNOWN)
def heaps(x):
    heap = [(3, x), (1, x * 2)]
    heapq.heapify(heap)
    heapq.heappush(heap, (2, x * 3))
    smallest = heapq.heapreplace(heap, (0, x))
    order = [heapq.heappop(heap) for _ in range(2)]
    if x.sum() > 0:
        heapq.heappush(heap, (-1, x))
    return smallest, order, heap, heapq.heappushpop([5, 7], 6)
