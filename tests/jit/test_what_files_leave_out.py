"""Files hold what results need: what a layer prints and notes besides is left out, with a warning that names it."""

import pytest

import d2s
from d2s import nn
from d2s.errors import ArgumentError
from d2s.static import InputSpec


class Noting(nn.Layer):
    """A layer with places to note something in."""

    def __init__(self):
        super().__init__()
        self.fc, self.calls, self.seen, self.last = nn.Linear(2, 2), 0, [], None
        self.register_buffer("count", d2s.zeros([1]))


class Counting(Noting):
    named = "'calls' of a Counting"

    def forward(self, x):
        self.calls += 1
        return self.fc(x)


class Keeping(Noting):
    named = "'feature' of a Keeping, 'last' of a Keeping"

    def forward(self, x):
        self.feature = self.fc(x)
        self.last = (self.feature, self.calls)
        return self.feature * 2.0


class Printing(Noting):
    named = r"print\(\)"

    def forward(self, x):
        print("shape", x.shape)
        y = self.fc(x)
        print(y)
        return y


class ByThePath(Noting):
    named = r"'calls' of a ByThePath, a list, print\(\)"

    def forward(self, x):
        if x.sum() > 0:
            self.calls += 1
            print("some")
        self.seen.append(x.mean())
        return self.fc(x)


class InALoop(Noting):
    named = r"'calls' of a InALoop, print\(\)"

    def forward(self, x):
        for row in x:
            self.calls += 1
            print(row.sum())
        return self.fc(x)


@pytest.mark.parametrize("kind", [Counting, Keeping, Printing, ByThePath, InALoop])
def test_what_no_result_needs_is_left_out(kind, tmp_path, capsys):
    net, path = kind(), str(tmp_path / "net")
    with pytest.warns(UserWarning, match=f"does not hold what forward\\(\\) does besides its results: {kind.named}$"):
        d2s.jit.save(net, path, [InputSpec([None, 2])])
    assert (net.calls, net.seen, net.last) == (0, [], None)
    capsys.readouterr()
    loaded = d2s.jit.load(path)
    for rows in (1, 3):
        x = d2s.ones([rows, 2])
        found = loaded(x)
        assert capsys.readouterr().out == ""
        assert found.tolist() == net(x).tolist()
        capsys.readouterr()
    assert sorted(loaded.state_dict()) == sorted(net.state_dict())
    loaded.train()
    loaded(d2s.ones([2, 2])).sum().backward()
    assert loaded.state_dict()["fc.weight"].grad is not None


class Scaled(Noting):
    named = "'calls' of a Scaled"

    def forward(self, x):
        self.calls += 1
        return self.fc(x) * self.calls


class Buffered(Noting):
    named = "'count' of a Buffered"

    def forward(self, x):
        self.count = self.count + 1
        return self.fc(x)


class Limited(Noting):
    named = "'calls' of a Limited"

    def forward(self, x):
        self.calls += 1
        if self.calls > 3:
            raise RuntimeError("no more calls")
        return self.fc(x)


@pytest.mark.parametrize("kind", [Scaled, Buffered, Limited])
def test_what_a_result_needs_or_belongs_to_the_state_is_refused_by_name(kind, tmp_path):
    with pytest.raises(ArgumentError, match=f"changes {kind.named}: a file cannot hold that"):
        d2s.jit.save(kind(), str(tmp_path / "net"), [InputSpec([None, 2])])


@pytest.mark.parametrize("watching", [lambda y: y.register_hook(print), lambda y: y.retain_grads()], ids=["hook", "kept"])
def test_what_later_sweeps_would_see_is_in_no_file(watching, tmp_path):
    weight = d2s.to_tensor([2.0], stop_gradient=False)

    def watched(x):
        y = x * weight
        watching(y)
        return y

    with pytest.raises(ArgumentError, match="has hooks in its gradients: a file cannot hold that"):
        d2s.jit.save(watched, str(tmp_path / "model"), input_spec=[d2s.static.InputSpec([1], "float32")])
