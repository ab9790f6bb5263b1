"""What a network is made of: the tree, and counts that are those of real Paddle 2.6.2."""

import pytest

import d2s
from d2s.errors import ArgumentError, DTypeError

nn, models = d2s.nn, d2s.vision.models
FLOPS = [
    (lambda: models.LeNet(), [1, 1, 28, 28], 347560, 61610),
    (lambda: models.resnet18(), [1, 3, 32, 32], 37625856, 11699112),
    (lambda: models.mobilenet_v2(), [2, 3, 32, 32], 15334528, 3538984),
    (lambda: nn.Sequential(nn.Conv2D(2, 3, 3), nn.AvgPool2D(2), nn.AdaptiveAvgPool2D(1)), [1, 2, 10, 10], 3747, 57),
    (lambda: nn.Sequential(nn.Conv1D(3, 2, 2, stride=2), nn.AdaptiveAvgPool1D(2)), [2, 3, 9], 136, 14),
    (lambda: nn.Sequential(nn.LeakyReLU(), nn.Dropout()), [7, 3], 21, 0),
]


@pytest.mark.parametrize(("make", "size", "number", "params"), FLOPS)
def test_flops_are_paddles(make, size, number, params, capsys):
    assert d2s.flops(make(), size) == number
    assert capsys.readouterr().out == f"Total Flops: {number}     Total Params: {params}\n"


def test_flops_in_detail(capsys):
    net = nn.Sequential(nn.Conv2DTranspose(2, 3, 2, stride=2, bias_attr=False), nn.ReLU())
    assert d2s.flops(net, [1, 2, 4, 4], custom_ops={nn.ReLU: lambda layer, x, y: y.size}, print_detail=True) == 576
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["layer", "0", "1", "Total"]
    assert lines[2].split()[-2:] == ["0", "192"]


class Reused(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Sequential(nn.Linear(3, 2), self.a)
        self.c = nn.Linear(5, 5)
        self.c.weight.trainable = False

    def forward(self, x):
        return self.b[0](self.a(self.a(x)))


def test_the_tree(capsys):
    net = Reused()
    assert d2s.summary(net, (4, 3)) == {"total_params": 50, "trainable_params": 25}
    rows = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert rows[2:-2] == [
        "Reused                        [4, 2]          50    96",
        "  a: Linear (called 2 times)  [4, 3]          12    72",
        "  b: Sequential               not called      20    24",
        "    0: Linear                 [4, 2]           8    24",
        "    1: Linear (again)         [4, 3]",
        "  c: Linear                   not called      30     0",
    ]
    assert rows[-1].startswith("50 parameters, 25 of them trained; 200 bytes, and ")


def test_the_network_is_as_before():
    net = nn.Sequential(nn.BatchNorm1D(3), nn.Dropout())
    net[1].eval()
    d2s.summary(net, (4, 3))
    assert (net.training, net[0].training, net[1].training) == (True, True, False)
    assert not net[0]._forward_post_hooks
    assert net[0]._mean.tolist() == [0.0] * 3


def test_inputs_of_all_forms(capsys):
    class Two(nn.Layer):
        def __init__(self):
            super().__init__()
            self.of, self.onto = nn.Embedding(7, 4), nn.Linear(4, 2)

        def forward(self, words, x):
            return self.of(words).sum(axis=1) + self.onto(x)[:, :1]

    spec = d2s.static.InputSpec
    given = {"words": d2s.zeros([1, 5], "int64"), "x": d2s.zeros([1, 4])}
    for options in (
        {"input_size": [(1, 5), (1, 4)], "dtypes": ["int64", "float32"]},
        {"input_size": [spec([None, 5], "int64"), spec([-1, 4])]},
        {"input": given},
        {"input": list(given.values())},
    ):
        assert d2s.summary(Two(), **options)["total_params"] == 38
        assert capsys.readouterr().out.splitlines()[3].split() == ["of:", "Embedding", "[1,", "5,", "4]", "28", "0"]


def test_what_is_refused():
    net = nn.Linear(3, 2)
    for call, kind in (
        (lambda: d2s.summary(net), ArgumentError),
        (lambda: d2s.summary(net, "x"), ArgumentError),
        (lambda: d2s.summary(net, [(1, 3)], dtypes=["float32"] * 2), ArgumentError),
        (lambda: d2s.summary(3, (1, 3)), DTypeError),
        (lambda: d2s.flops(net, [1, 3], custom_ops={3: 4}), DTypeError),
    ):
        with pytest.raises(kind):
            call()
