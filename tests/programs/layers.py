"""Programs that call layers: parameters are read, their gradients compared."""

from programs_compare import program, t

import d2s

SETS = (t([[1.0, 2.0]]),), (t([[-1.0, -2.0], [0.5, 0.1]]),), (t([[3.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),)


class Net(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = d2s.nn.Linear(2, 4), d2s.nn.Linear(4, 2)
        self.other = d2s.nn.Linear(4, 2)
        self.scale = 2.0

    def forward(self, x):
        h = self.first(x).relu()
        if h.sum() > 2.0:
            return self.second(h) * self.scale
        return self.other(h)


class Looping(Net):
    def forward(self, x):
        y = super().forward(x)
        while (y * y).sum() < 10.0:
            y = y * 1.5 + self.second.bias
        return y


class Stack(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = [d2s.nn.Linear(2, 2) for _ in range(3)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return x


d2s.seed(7)
NET, LOOPING, STACK = Net(), Looping(), Stack()
SHARED = d2s.nn.Linear(2, 2)
BLOCKS = d2s.nn.LayerList([d2s.nn.Linear(2, 2) for _ in range(3)])
CHAIN = d2s.nn.Sequential(d2s.nn.Linear(2, 2), d2s.nn.Tanh(), d2s.nn.Linear(2, 2))
BY_NAME = d2s.nn.LayerDict({"a": d2s.nn.Linear(2, 2), "b": d2s.nn.Linear(2, 2)})
BIASES = d2s.nn.ParameterList([d2s.nn.Linear(2, 2).bias for _ in range(2)])


@program(*SETS)
def linear(x):
    return SHARED(x)


@program(*SETS)
def net(x):
    return NET(x)


@program(*SETS)
def looping(x):
    return LOOPING(x)


@program(*SETS)
def layers_in_a_list(x):
    return STACK(x)


@program(*SETS)
def one_layer_three_times(x):
    return SHARED(SHARED(SHARED(x)))


@program(*SETS)
def layer_in_one_arm(x):
    y = SHARED(x)
    if y.sum() > 0:
        y = SHARED(y)
    return y


@program(*SETS)
def layer_in_a_loop(x):
    k = x.sum() * 0
    while k < 2:
        x = SHARED(x).tanh()
        k = k + 1
    return x


@program(*SETS)
def parameters_directly(x):
    return d2s.matmul(x, NET.first.weight) + NET.first.bias


@program(*SETS)
def gives_back_a_parameter(x):
    return x + SHARED.bias, SHARED.bias


@program(*SETS)
def training_flag(x):
    return x * 2 if NET.training else x


@program(*SETS[:2])
def a_part_of_the_layers_and_from_behind(x):
    for layer in reversed(BLOCKS):
        x = layer(x)
    for k, (layer, scale) in enumerate(zip(reversed(CHAIN), BLOCKS[1:], strict=False)):
        x = scale(layer(x)) + k
    for layer in BLOCKS[::-1]:
        x = layer(x)
    for bias in reversed(BIASES):
        x = x + bias * 2
    for bias in BIASES[1:]:
        x = x * bias
    for key in reversed(BY_NAME):
        x = BY_NAME[key](x)
    body, last = CHAIN[:-1], CHAIN[-1]
    return last(body(x)), len(BLOCKS[1:]), BLOCKS[1:][0] is BLOCKS[1]


@program(*SETS[:2])
def a_layer_that_a_run_chooses(x):
    place = int(x.sum() > 0)
    y = CHAIN[place](BLOCKS[place - 1](x)) + BIASES[place]
    for layer in BLOCKS[place:]:
        y = layer(y)
    return CHAIN[: place + 1](y)


@program(*SETS)
def layers_that_trips_choose(x):
    place = 0
    while place < 2 and x.sum() < 100:
        x = BLOCKS[place](x) + 25
        place += 1
    return x, place


@program((t([[1.0, 2.0]]),), (t([[100.0, 2.0]]),))
def a_place_that_no_layer_has(x):
    place = int(x.abs().sum() > 50) * 7
    try:
        return BLOCKS[place](x)
    except IndexError:
        return x


@program(*SETS[:2])
def reversed_of_what_never_changes(x):
    for a, b in zip(reversed((1, 2)), reversed("ab"), strict=True):
        x = x * a + len(b)
    return x, [*reversed((x, 1))]
