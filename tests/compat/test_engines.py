"""One training by four engines: fluid at once and declared, and 2.x at once and captured."""

import numpy as np

from d2s import compat

STEPS = 20


def _batches():
    rng = np.random.RandomState(3)
    return [(rng.rand(4, 1, 12, 12).astype("float32"), rng.randint(0, 3, (4, 1)).astype("int64")) for _ in range(STEPS)]


def _fluid_model(fluid):
    class Net(fluid.dygraph.Layer):
        def __init__(self, name_scope):
            super().__init__(name_scope)
            self.conv = fluid.dygraph.Conv2D(self.full_name(), num_filters=2, filter_size=3, act="relu", num_channels=1)
            self.pool = fluid.dygraph.Pool2D(self.full_name(), pool_size=2, pool_type="max", pool_stride=2)
            self.fc = fluid.dygraph.FC(self.full_name(), 3, act="softmax")

        def forward(self, x):
            return self.fc(self.pool(self.conv(x)))

    return Net("net")


def _fluid_dygraph(first):
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            net, adam = _fluid_model(fluid), fluid.optimizer.AdamOptimizer(learning_rate=0.01)
            net(fluid.dygraph.to_variable(_batches()[0][0]))
            for p, value in zip(net.parameters(), first, strict=True):
                p.set_value(value)
            for x, y in _batches():
                cost = net(fluid.dygraph.to_variable(x))
                loss = fluid.layers.mean(fluid.layers.cross_entropy(cost, fluid.dygraph.to_variable(y)))
                loss.backward()
                adam.minimize(loss)
                net.clear_gradients()
            return [p.numpy() for p in net.parameters()]


def _fluid_executor(first):
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        main_, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main_, startup), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
            img, label = fluid.layers.data("img", [1, 12, 12]), fluid.layers.data("label", [1], dtype="int64")
            net = _fluid_model(fluid)
            loss = fluid.layers.mean(fluid.layers.cross_entropy(net(img), label))
            fluid.optimizer.AdamOptimizer(learning_rate=0.01).minimize(loss)
            exe = fluid.Executor(fluid.CPUPlace())
            exe.run(startup)
            names = [p.name for p in net.parameters()]
            for name, value in zip(names, first, strict=True):
                fluid.global_scope().find_var(name).get_tensor().set(value, fluid.CPUPlace())
            for x, y in _batches():
                out = exe.run(main_, feed={"img": x, "label": y}, fetch_list=[loss.name, *names])
            assert out[0].shape == (1,)
            return out[1:]


def _second(first, captured):
    with compat.installed("2.x"):
        import paddle
        import paddle.nn.functional as F

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.conv, self.pool = paddle.nn.Conv2D(1, 2, 3), paddle.nn.MaxPool2D(2, 2)
                self.fc = paddle.nn.Linear(50, 3)

            def forward(self, x):
                x = self.pool(F.relu(self.conv(x)))
                return F.softmax(self.fc(paddle.reshape(x, [x.shape[0], 50])))

        net = Net()
        for p, value in zip(net.parameters(), first, strict=True):
            p.set_value(value)
        forward = paddle.jit.to_static(net) if captured else net
        adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
        for x, y in _batches():
            cost = forward(paddle.to_tensor(x))
            losses = F.cross_entropy(cost, paddle.to_tensor(y), use_softmax=False, reduction="none")
            paddle.mean(losses).backward()
            adam.step()
            adam.clear_grad()
        return [p.numpy() for p in net.parameters()]


def test_four_engines_agree_bit_for_bit_over_20_steps():
    rng = np.random.RandomState(0)
    first = [rng.uniform(-0.3, 0.3, s).astype("float32") for s in ((2, 1, 3, 3), (2,), (50, 3), (3,))]
    found = [_fluid_dygraph(first), _fluid_executor(first), _second(first, False), _second(first, True)]
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))
    assert not np.array_equal(found[0][0], first[0])
