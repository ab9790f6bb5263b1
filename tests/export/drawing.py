"""Functions that draw random numbers, and are saved: how many outputs there are, and whether the ops alone say all of it."""

import d2s
from d2s.nn import functional as F


def noised(x):
    return x + d2s.randn(x.shape) * 0.5 + d2s.uniform([4], min=1.0, max=1.01)


def in_a_loop(x):
    i = d2s.zeros([], "int64")
    while i < 3:
        x = x + d2s.randn(x.shape) + d2s.randn([4]) * 0.01
        i = i + 1
    return x


def in_one_arm(x):
    if x.sum() > -1e9:
        x = x + d2s.rand(x.shape)
    else:
        x = x * 2.0
    return x + d2s.rand([4], "float64").astype("float32") * 0.01


def in_nested_arms(x):
    total = x * 0.0
    for k in range(d2s.full([], 4, "int64")):
        if k > 1:
            total = total + d2s.normal(0.0, 2.0, [x.shape[0], 1])
        else:
            total = total + d2s.randint(-3, 3, [x.shape[0], 4]).astype("float32")
    return total + d2s.randn([]) * 0.01


def of_classes(x):
    numbers = d2s.randint(0, 5, [3]), d2s.randint(0, 9, [x.shape[0]], "int32")
    return d2s.multinomial(F.softmax(x), 1), d2s.bernoulli(F.sigmoid(x)), *numbers, d2s.multinomial(F.softmax(x), 3)


def of_gumbel(x):
    return F.gumbel_softmax(x, hard=True), d2s.normal(x, d2s.exp(x * 0.1))


def in_a_list(x):
    drawn, i = [], d2s.zeros([], "int64")
    while i < 3:
        drawn.append(d2s.multinomial(F.softmax(x), 2, replacement=True)[:, 0])
        i = i + 1
    return d2s.stack(drawn)


def mixed(x):
    return x[d2s.randperm(x.shape[0])], x[:, d2s.randperm(4)]


def dropped(x):
    return F.dropout(x + 1.0, 0.5, training=True), F.dropout(x + 1.0, 0.25, training=True, mode="downscale_in_infer")


FUNCTIONS = {f.__name__: f for f in (noised, in_a_loop, in_one_arm, in_nested_arms, of_classes, of_gumbel)}
NOT_BY_OPS = {f.__name__: f for f in (in_a_list, mixed, dropped)}  # an order is said by sorting; dropout is left out
