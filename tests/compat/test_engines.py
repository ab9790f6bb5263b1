"""One training by five engines, bit for bit: the MNIST of the seed documents in fluid, at once and declared, and in 2.x."""

import itertools
import pathlib

import numpy as np
import pytest

from d2s import compat

STEPS, BATCH = 20, 16
SHAPES = [(20, 1, 5, 5), (20,), (50, 20, 5, 5), (50,), (800, 10), (10,)]


@pytest.fixture
def batches(monkeypatch):
    """Digits, as `paddle.dataset.mnist` reads them."""
    monkeypatch.setenv("D2S_DATA_HOME", str(pathlib.Path(__file__).parent.parent.parent / "samples"))
    with compat.installed("1.x"):
        import paddle

        read = paddle.batch(paddle.dataset.mnist.train(), batch_size=BATCH, drop_last=True)
        found = [list(zip(*rows, strict=True)) for rows in itertools.islice(read(), STEPS)]
    return [(np.array(x).reshape(-1, 1, 28, 28), np.array(y).reshape(-1, 1)) for x, y in found]


@pytest.fixture
def first():
    rng = np.random.RandomState(0)
    return [rng.uniform(-0.1, 0.1, shape).astype("float32") for shape in SHAPES]


def _fluid_model(fluid):
    class SimpleImgConvPool(fluid.dygraph.Layer):
        def __init__(self, name_scope, num_channels, num_filters, filter_size, pool_size, pool_stride, act=None):
            super().__init__(name_scope)
            self._conv2d = fluid.dygraph.Conv2D(
                self.full_name(), num_filters=num_filters, filter_size=filter_size, act=act, num_channels=num_channels
            )
            self._pool2d = fluid.dygraph.Pool2D(self.full_name(), pool_size=pool_size, pool_type="max", pool_stride=pool_stride)

        def forward(self, inputs):
            return self._pool2d(self._conv2d(inputs))

    class MNIST(fluid.dygraph.Layer):
        def __init__(self, name_scope):
            super().__init__(name_scope)
            self._simple_img_conv_pool_1 = SimpleImgConvPool(self.full_name(), 1, 20, 5, 2, 2, act="relu")
            self._simple_img_conv_pool_2 = SimpleImgConvPool(self.full_name(), 20, 50, 5, 2, 2, act="relu")
            scale = (2.0 / (800**2 * 10)) ** 0.5
            normal = fluid.initializer.NormalInitializer(loc=0.0, scale=scale)
            attr = fluid.param_attr.ParamAttr(initializer=normal)
            self._fc = fluid.dygraph.FC(self.full_name(), 10, param_attr=attr, act="softmax")

        def forward(self, inputs):
            return self._fc(self._simple_img_conv_pool_2(self._simple_img_conv_pool_1(inputs)))

    return MNIST("mnist")


def fluid_at_once(first, batches):
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            net, adam = _fluid_model(fluid), fluid.optimizer.AdamOptimizer(learning_rate=0.001)
            net(fluid.dygraph.to_variable(batches[0][0]))
            for p, value in zip(net.parameters(), first, strict=True):
                p.set_value(value)
            for x, y in batches:
                cost = net(fluid.dygraph.to_variable(x))
                loss = fluid.layers.mean(fluid.layers.cross_entropy(cost, fluid.dygraph.to_variable(y)))
                loss.backward()
                adam.minimize(loss)
                net.clear_gradients()
            return [p.numpy() for p in net.parameters()]


def fluid_declared(first, batches):
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        main_, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main_, startup), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
            img, label = fluid.layers.data("img", [1, 28, 28]), fluid.layers.data("label", [1], dtype="int64")
            net = _fluid_model(fluid)
            loss = fluid.layers.mean(fluid.layers.cross_entropy(net(img), label))
            fluid.optimizer.AdamOptimizer(learning_rate=0.001).minimize(loss)
            exe = fluid.Executor(fluid.CPUPlace())
            exe.run(startup)
            names = [p.name for p in net.parameters()]
            for name, value in zip(names, first, strict=True):
                fluid.global_scope().find_var(name).get_tensor().set(value, fluid.CPUPlace())
            for x, y in batches:
                out = exe.run(main_, feed={"img": x, "label": y}, fetch_list=[loss.name])
            assert out[0].shape == (1,)
            return [np.array(fluid.global_scope().find_var(name).get_tensor()) for name in names]


def _second_model(paddle, first):
    class MNIST(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = paddle.nn.Conv2D(1, 20, 5), paddle.nn.Conv2D(20, 50, 5)
            self.pool, self.fc = paddle.nn.MaxPool2D(2, 2), paddle.nn.Linear(800, 10)

        def forward(self, x):
            x = self.pool(paddle.nn.functional.relu(self.conv1(x)))
            x = self.pool(paddle.nn.functional.relu(self.conv2(x)))
            return paddle.nn.functional.softmax(self.fc(paddle.reshape(x, [x.shape[0], 800])))

    net = MNIST()
    for p, value in zip(net.parameters(), first, strict=True):
        p.set_value(value)
    return net


def _second_loss(paddle, cost, label):
    losses = paddle.nn.functional.cross_entropy(cost, label, use_softmax=False, reduction="none")
    return paddle.mean(losses)


def second_at_once(first, batches, captured=False):
    with compat.installed("2.x"):
        import paddle

        net = _second_model(paddle, first)
        forward = paddle.jit.to_static(net) if captured else net
        adam = paddle.optimizer.Adam(0.001, parameters=net.parameters())
        for x, y in batches:
            _second_loss(paddle, forward(paddle.to_tensor(x)), paddle.to_tensor(y)).backward()
            adam.step()
            adam.clear_grad()
        return [p.numpy() for p in net.parameters()]


def second_captured(first, batches):
    return second_at_once(first, batches, captured=True)


def second_declared(first, batches):
    with compat.installed("2.x"):
        import paddle

        net = _second_model(paddle, first)
        paddle.enable_static()
        main_, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main_, startup):
            img, label = paddle.static.data("img", [None, 1, 28, 28]), paddle.static.data("label", [None, 1], "int64")
            loss = _second_loss(paddle, net(img), label)
            paddle.optimizer.Adam(0.001, parameters=net.parameters()).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(startup)
        for x, y in batches:
            exe.run(main_, feed={"img": x, "label": y}, fetch_list=[loss])
        paddle.disable_static()
        return [p.numpy() for p in net.parameters()]


OTHERS = [fluid_declared, second_at_once, second_captured, second_declared]


def test_five_engines_agree_bit_for_bit_over_20_steps(first, batches):
    wanted = fluid_at_once(first, batches)
    for engine in OTHERS:
        found = engine(first, batches)
        differing = [n for n, (a, b) in enumerate(zip(wanted, found, strict=True)) if not np.array_equal(a, b)]
        assert not differing, (engine.__name__, differing)
    assert len(batches) == STEPS and all(not np.array_equal(a, b) for a, b in zip(wanted, first, strict=True))
