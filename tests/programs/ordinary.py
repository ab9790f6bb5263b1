"""Programs as users write them: what the library offers for choosing and folding, layers made where they are used."""

import collections
import dataclasses
import enum
import functools
import itertools
import operator

from programs_compare import program, t

import d2s
from d2s import nn

X, Y = t([1.0, -2.0, 3.0]), t([9.0, 2.0, -3.0])
SETS = (X,), (Y,)
GRID = t([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])


@program(*SETS)
def greatest_and_least(x):
    a, b, c = x
    return max(a, b, c) * 2, min(a, b) * 1.0, max([b, c]) + 0, max(x[0], 0.5) * 1.0


@program(*SETS)
def least_of_a_number_and_a_tensor(x):
    norm = (x * x).sum().sqrt()
    return x * min(1.0 / (norm + 1e-6), 1.0)


@program((t([1.0, float("nan")]),), (t([float("nan"), 1.0]),))
def greatest_beside_a_nan(x):
    return max(x[0], x[1]) * 1.0, min(x[0], x[1]) * 1.0


@program(*SETS)
def greatest_by_a_key(x):
    scores = {"a": x[0] * 2, "b": x[1].abs(), "c": x[2]}
    best = max(scores, key=lambda name: scores[name])
    return scores[best] * 3, best, min(range(3), key=lambda k: (k - 1) ** 2)


@program(*SETS)
def greatest_of_what_a_loop_counts(x):
    count = 0
    while x.sum() < 20:
        x = x.abs() * 1.5
        count += 1
    return x / max(count, 1), min([count, 3])


@program(*SETS)
def greatest_of_nothing(x):
    return max([], default=x) * 2, max(iter([]))


@program(*SETS)
def folded(x):
    total = functools.reduce(operator.add, [x, x * 2, x * 3])
    larger = functools.reduce(lambda a, b: a if a.sum() > b.sum() else b, [x, -x], x * 0.5)
    return total, larger * 1.0, functools.reduce(operator.mul, [], 3)


@program(*SETS)
def folded_functions(x):
    steps = [functools.partial(d2s.add, x), functools.partial(lambda scale, y: y * scale, 3.0), d2s.tanh]
    return functools.reduce(lambda y, step: step(y), steps, x)


@dataclasses.dataclass(frozen=True)
class Config:
    """What a layer is told."""

    scale: float = 0.5
    name: str = "relu"
    sizes: tuple = (1, 2)


CONFIG = Config()


@program(*SETS)
def a_changed_config(x, config=CONFIG):
    for size in config.sizes:
        x = getattr(nn.functional, config.name)(x) * config.scale + size
    if x.sum() > 6:
        config = dataclasses.replace(config, scale=2.0)
    return x * config.scale


class Kind(enum.Enum):
    """Activations by name."""

    RELU = "relu"
    TANH = "tanh"

    def function(self):
        return getattr(nn.functional, self.value)


@program(*SETS)
def each_of_an_enum(x):
    found = {kind.name: kind.function()(x) for kind in Kind}
    return found if x.sum() > 3 else found["TANH"]


@functools.lru_cache
def offsets(n):
    return tuple(range(n))


@program(*SETS)
def a_cached_function(x):
    return [x + k for k in offsets(3)]


@program((GRID,))
def layers_made_where_they_are_used(x):
    x = nn.ReLU()(x) + nn.Softmax(axis=-1)(x)
    for name, layer in sorted({"flat": nn.Flatten(), "leaky": nn.LeakyReLU(0.1)}.items()):
        x = layer(x) if name else x
    return nn.MSELoss(reduction="sum")(x, x * 2) if x.sum() > 0 else nn.L1Loss()(x, x * 2)


Output = collections.namedtuple("Output", "loss aux")


@program(*SETS)
def a_named_tuple_replaced(x):
    output = Output(x, None) if x.sum() > 3 else Output(x * 2, None)
    return output._replace(aux=x.mean()), Output(x, 1)._asdict()


@program(*SETS)
def keys_made_of_places(x):
    found = {}
    for k, value in enumerate(x):
        found[f"value_{k:02d}"] = value * 2 if value > 0 else -value
    return found, {k: value * 1.0 for k, value in enumerate(x)}


@program((GRID,))
def rows_against_rows(x):
    total = 0
    for k, (a, b) in enumerate(zip(x, reversed(x), strict=True)):
        total = total + a * b * k
    return total


@program(*SETS)
def named_in_the_test_of_a_loop(x):
    count = 0
    while (total := x.abs().sum()) < 50:
        if total > 30:
            x = x + 1
            continue
        x = x * 2
        count += 1
    return total * 1.0, count


@program((GRID,))
def lists_as_indices(x):
    y = x * 1
    y[:, [0, 2]] = 5.0
    return x[:, [0, 2]], x[[1, 0]], x[[True, False]], x[[-1]], y


class Gated(nn.Layer):
    """A property with a setter."""

    def __init__(self):
        super().__init__()
        self._gate = None

    @property
    def gate(self):
        return 1.0 if self._gate is None else self._gate

    @gate.setter
    def gate(self, value):
        self._gate = value

    def forward(self, x):
        return x * self.gate


@program(*SETS)
def a_property_of_a_layer(x):
    LAYER.gate = 2.0 if x.sum() > 3 else 3.0
    y = LAYER(x)
    LAYER.gate = None
    return y


LAYER = Gated()


@program(*SETS)
def side_by_side(x):
    total = 0
    for a, b in itertools.product([1, 2], [3.0]):
        total = total + x * a * b
    return total, list(itertools.accumulate([x, x, x]))


@program(*SETS)
def loops_as_calls(x):
    def body(k, v):
        if v.sum() > 0:
            v = v - x
        else:
            v = v * 2.0
        return [k + 1, d2s.concat([v, x]).sum() + v]

    k, v = d2s.static.nn.while_loop(lambda k, v: k < 4, body, [d2s.zeros([], "int64"), x])
    many = d2s.static.nn.while_loop(lambda rows: rows.shape[0] < 9, lambda rows: [d2s.concat([rows, x])], [x])
    return k, v, many[0], d2s.in_dynamic_mode()


@program(*SETS)
def loops_as_calls_inside_of_others(x):
    def inner(v):
        return d2s.static.nn.while_loop(lambda j, u: j < 2, lambda j, u: (j + 1, u * u), (d2s.zeros([], "int64"), v))[1]

    return d2s.static.nn.while_loop(lambda v: v.abs().max() < 90.0, lambda v: [inner(v) + 1.0], [x])[0]


@program((t([[3.0, 1.0, 2.0], [1.0, 5.0, 4.0], [2.0, 4.0, 6.0]]),))
def results_of_many(x):
    f, plane = nn.functional, x.reshape([1, 1, 3, 3])
    rows = f.max_pool1d(x.unsqueeze(0), 2, return_mask=True), f.adaptive_max_pool1d(x.unsqueeze(0), 2, return_mask=True)
    planes = f.max_pool2d(plane, 2, return_mask=True), f.adaptive_max_pool2d(plane, 2, return_mask=True)
    planes += nn.MaxPool2D(2, return_mask=True)(plane)
    ordered = d2s.topk(x, 2), d2s.kthvalue(x, 2), d2s.mode(x), d2s.cummax(x, 1), d2s.cummin(x, 1)
    parts = d2s.split(x, 3), d2s.chunk(x, 3), d2s.unbind(x), d2s.unstack(x), x.split(3), x.unbind(), d2s.meshgrid(x[0], x[1])
    found = d2s.unique(x, return_index=True, return_counts=True), d2s.nonzero(x > 2, as_tuple=True), d2s.where(x > 2)
    solved = d2s.linalg.qr(x), d2s.linalg.svd(x), d2s.linalg.eigh(x @ x.t()), d2s.linalg.slogdet(x)
    return rows, planes, ordered, parts, found, solved, d2s.broadcast_tensors([x, x[0]])
