"""Written for Paddle 1.5: digits with fluid.dygraph, and the same model under an Executor. `python -m d2s.compat` runs it."""

import numpy as np
import paddle
import paddle.fluid as fluid

BATCH = 50


class Digits(fluid.dygraph.Layer):
    def __init__(self, name_scope):
        super().__init__(name_scope)
        self._conv = fluid.dygraph.Conv2D(self.full_name(), num_filters=8, filter_size=5, act="relu")
        self._pool = fluid.dygraph.Pool2D(self.full_name(), pool_size=4, pool_type="max", pool_stride=4)
        self._out = fluid.dygraph.FC(self.full_name(), 10, act="softmax")

    def forward(self, images):
        return self._out(self._pool(self._conv(images)))


def batches():
    reader = paddle.batch(paddle.dataset.mnist.train(), batch_size=BATCH, drop_last=True)
    for data in reader():
        images = np.array([x[0].reshape(1, 28, 28) for x in data]).astype("float32")
        yield images, np.array([x[1] for x in data]).astype("int64").reshape(-1, 1)


with fluid.dygraph.guard():
    fluid.default_startup_program().random_seed = 1
    model, adam = Digits("digits"), fluid.optimizer.AdamOptimizer(learning_rate=0.01)
    for step, (images, labels) in enumerate(batches()):
        cost = model(fluid.dygraph.to_variable(images))
        loss = fluid.layers.mean(fluid.layers.cross_entropy(cost, fluid.dygraph.to_variable(labels)))
        loss.backward()
        adam.minimize(loss)
        model.clear_gradients()
        if step % 10 == 0:
            print(f"eager, step {step}: {loss.numpy():.7}")
    eager = [p.numpy() for p in model.parameters()]

images = fluid.layers.data(name="images", shape=[1, 28, 28], dtype="float32")
labels = fluid.layers.data(name="labels", shape=[1], dtype="int64")
model = Digits("digits")
cost = model(images)
loss = fluid.layers.mean(fluid.layers.cross_entropy(cost, labels))
fluid.optimizer.AdamOptimizer(learning_rate=0.01).minimize(loss)
exe = fluid.Executor(fluid.CPUPlace())
fluid.default_startup_program().random_seed = 1
exe.run(fluid.default_startup_program())
names = [p.name for p in model.parameters()]
for step, (a, b) in enumerate(batches()):
    out = exe.run(fluid.default_main_program(), feed={"images": a, "labels": b}, fetch_list=[loss.name, *names])
    if step % 10 == 0:
        print(f"Executor, step {step}: {out[0]:.7}")
print(f"the same parameters: {all(np.array_equal(a, b) for a, b in zip(eager, out[1:], strict=False))}")
