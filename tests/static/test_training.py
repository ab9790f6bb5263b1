"""One model class, unchanged: eagerly, through to_static, under Executor; the same parameters bit for bit."""

import numpy as np
import pytest

import d2s
from d2s import nn, static
from d2s.errors import ArgumentError

F = nn.functional
STEPS = 100


class Classifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.hidden, self.norm, self.drop = nn.Linear(6, 8), nn.BatchNorm1D(8), nn.Dropout(0.25)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.drop(F.relu(self.norm(self.hidden(x)))))


class Branching(nn.Layer):
    """Its path depends on the batch."""

    def __init__(self):
        super().__init__()
        self.hidden, self.spare, self.out = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 3)

    @d2s.to_static
    def forward(self, x):
        x = F.relu(self.hidden(x))
        if x.mean() > 0.35:
            x = self.spare(x)
        return self.out(x)


def batches():
    rng = np.random.RandomState(0)
    sizes = (4, 4, 7, 4, 2)
    return [
        (rng.rand(n, 6).astype("float32"), rng.randint(0, 3, (n, 1)).astype("int64"))
        for n in (sizes[k % len(sizes)] for k in range(STEPS))
    ]


def optimizer(parameters=None):
    clip = nn.ClipGradByGlobalNorm(1.0)
    rate = d2s.optimizer.lr.StepDecay(0.05, step_size=30)
    return d2s.optimizer.AdamW(rate, parameters=parameters, weight_decay=0.02, grad_clip=clip)


def eager(kind, captured):
    d2s.seed(5)
    with d2s.utils.unique_name.guard():
        model = kind()
    net = d2s.to_static(model) if captured else model
    adam, losses = optimizer(model.parameters()), []
    for x, y in batches():
        loss = F.cross_entropy(net(d2s.to_tensor(x)), d2s.to_tensor(y))
        loss.backward()
        adam.step()
        adam.clear_grad()
        adam._learning_rate.step()
        losses.append(loss.item())
    return losses, {name: p.numpy() for name, p in model.state_dict().items()}


def declared_run(kind, main, startup):
    x, y = static.data("x", [None, 6]), static.data("y", [None, 1], "int64")
    model = kind()
    loss = F.cross_entropy(model(x), y)
    adam = optimizer()
    adam.minimize(loss)
    exe = static.Executor(d2s.CPUPlace())
    startup.random_seed = 5
    exe.run(startup)
    main.random_seed = 0
    losses = []
    for a, b in batches():
        (value,) = exe.run(main, feed={"x": a, "y": b}, fetch_list=[loss])
        adam._learning_rate.step()
        losses.append(value.item())
    scope = static.global_scope()
    names = {name: tensor.name for name, tensor in model.state_dict().items()}
    return losses, {name: np.array(scope.find_var(held).get_tensor()) for name, held in names.items()}


def alike(one, other):
    assert one[0] == other[0]
    assert all(np.array_equal(one[1][name], other[1][name]) for name in one[1])


class Plain(Classifier):
    """Without what draws: to_static refuses it so far."""

    def forward(self, x):
        return self.out(F.relu(self.hidden(x)))


def test_parameters_agree_after_100_steps_of_three_engines(declared):
    by_executor = declared_run(Plain, *declared)
    d2s.disable_static()
    alike(by_executor, eager(Plain, False))
    alike(by_executor, eager(Plain, True))


def test_batch_norm_and_dropout_agree_with_eager_code(declared):
    main, _startup = declared
    d2s.disable_static()
    wanted = eager(Classifier, False)
    d2s.enable_static()
    with_seed = static.Program()
    with static.program_guard(main, with_seed):
        d2s.seed(5)
        alike(_streamed(main, with_seed), wanted)


def _streamed(main, startup):
    """Initial values and dropout from one stream, as eager code has them."""
    x, y = static.data("x", [None, 6]), static.data("y", [None, 1], "int64")
    model = Classifier()
    loss = F.cross_entropy(model(x), y)
    adam = optimizer()
    adam.minimize(loss)
    exe = static.Executor()
    exe.run(startup)
    losses = []
    for a, b in batches():
        losses.append(exe.run(main, feed={"x": a, "y": b}, fetch_list=[loss])[0].item())
        adam._learning_rate.step()
    scope = static.global_scope()
    held = {name: scope.find_var(t.name) for name, t in model.state_dict().items()}
    return losses, {name: np.array(v.get_tensor()) for name, v in held.items()}


def test_a_captured_branch_in_a_declared_program(declared):
    by_executor = declared_run(Branching, *declared)
    d2s.disable_static()
    alike(by_executor, eager(Branching, False))


def test_a_clone_for_tests_neither_drops_nor_learns(declared):
    main, startup = declared
    x, y = static.data("x", [None, 6]), static.data("y", [None, 1], "int64")
    model = Classifier()
    out = model(x)
    test = main.clone(for_test=True)
    d2s.optimizer.SGD(0.1).minimize(F.cross_entropy(out, y))
    exe = static.Executor()
    exe.run(startup)
    a, b = batches()[0]
    before = exe.run(test, feed={"x": a}, fetch_list=[out])[0]
    assert np.array_equal(before, exe.run(test, feed={"x": a}, fetch_list=[out])[0])
    exe.run(main, feed={"x": a, "y": b})
    assert not np.array_equal(before, exe.run(test, feed={"x": a}, fetch_list=[out])[0])


def test_a_clone_knows_names_given_since_but_not_what_is_declared_since(declared):
    main, _ = declared
    x = static.data("x", [None, 2])
    y = x * 2.0
    test = main.clone(for_test=True)
    later = y + 1.0
    assert test.has(y.name) and test.global_block().var(y.name) is y and not test.has(later.name)
    found = static.Executor().run(test, feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y.name])
    assert found[0].tolist() == [[2.0, 2.0]]
    with pytest.raises(d2s.errors.ArgumentError):
        static.Executor().run(test, feed={"x": np.ones((1, 2), "float32")}, fetch_list=[later.name])


def test_the_same_program_is_trained_in_two_scopes_apart(declared):
    main, startup = declared
    x = static.data("x", [None, 2])
    loss = static.nn.fc(x, 1, weight_attr=nn.initializer.Constant(1.0)).mean()
    adam = d2s.optimizer.Adam(0.1)
    adam.minimize(loss)
    exe, scopes = static.Executor(), [static.Scope(), static.Scope()]
    found = []
    for scope, steps in zip(scopes, (1, 3), strict=True):
        with static.scope_guard(scope):
            exe.run(startup)
            for _ in range(steps):
                exe.run(main, feed={"x": np.ones((2, 2), "float32")})
            found.append(np.array(scope.find_var("fc_0.w_0").get_tensor()))
    assert (found[0] > found[1]).all()
    with static.scope_guard(scopes[0]):
        for _ in range(2):
            exe.run(main, feed={"x": np.ones((2, 2), "float32")})
        assert np.array_equal(np.array(scopes[0].find_var("fc_0.w_0").get_tensor()), found[1])


def test_parameters_without_values_are_named(declared):
    x = static.data("x", [None, 2])
    y = static.nn.fc(x, 1)
    with pytest.raises(d2s.errors.D2SError, match=r"'fc_0\.w_0' has no values") as caught:
        static.Executor().run(feed={"x": np.ones((2, 2), "float32")}, fetch_list=[y])
    assert "default_startup_program" in str(caught.value)


def test_averages_stand_in_for_parameters_inside_of_a_block_only(declared):
    """0.8 of an average stays, less at first where steps are counted; what they began with is taken off."""
    main, startup = declared
    x = static.data("x", [1])
    w = static.create_parameter([1], default_initializer=nn.initializer.Constant(3.0))
    y = x * w
    d2s.optimizer.SGD(1.0).minimize(y)
    steps = d2s.to_tensor([0.0])
    plain, counted = static.ExponentialMovingAverage(0.8), static.ExponentialMovingAverage(0.8, thres_steps=steps)
    plain.update()
    counted.update()
    exe = static.Executor()
    exe.run(startup)
    test, feed = main.clone(for_test=True), {"x": np.ones(1, "float32")}
    for _ in range(3):  # w becomes 2, 1, 0
        exe.run(main, feed=feed)
    exe.run(test, feed=feed)
    found = []
    for average in (plain, counted):
        with average.apply(exe):
            found.append(exe.run(test, feed=feed, fetch_list=[y])[0].item())
    assert exe.run(test, feed=feed, fetch_list=[y])[0].item() == 0.0
    np.testing.assert_allclose(found, [0.416 / 0.488, 0.108 / 0.999], rtol=1e-5)
    with pytest.raises(ArgumentError, match="nothing is in their place"):
        plain.restore(exe)
