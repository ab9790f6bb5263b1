"""Written for Paddle 1.8: digits with layers that name no scope. `python -m d2s.compat` runs it."""

import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.dygraph import BatchNorm, Conv2D, Dropout, Linear, Pool2D, to_variable


class Digits(fluid.dygraph.Layer):
    def __init__(self):
        super().__init__()
        self.conv = Conv2D(num_channels=1, num_filters=8, filter_size=5)
        self.norm = BatchNorm(8, act="relu")
        self.pool = Pool2D(pool_size=4, pool_type="max", pool_stride=4)
        self.drop = Dropout(0.1)
        self.out = Linear(input_dim=8 * 6 * 6, output_dim=10, act="softmax")

    def forward(self, images):
        x = self.pool(self.norm(self.conv(images)))
        return self.out(self.drop(fluid.layers.reshape(x, [0, -1])))


def batches():
    shuffled = paddle.reader.shuffle(paddle.dataset.mnist.train(), buf_size=1000)
    for data in paddle.batch(shuffled, batch_size=50, drop_last=True)():
        images = np.array([x[0].reshape(1, 28, 28) for x in data]).astype("float32")
        yield images, np.array([x[1] for x in data]).astype("int64").reshape(-1, 1)


with fluid.dygraph.guard():
    model = Digits()
    rate = fluid.dygraph.CosineDecay(learning_rate=0.01, step_each_epoch=10, epochs=3)
    adam = fluid.optimizer.AdamOptimizer(learning_rate=rate, parameter_list=model.parameters())
    model.train()
    for images, labels in batches():
        cost = model(to_variable(images))
        loss = fluid.layers.mean(fluid.layers.cross_entropy(cost, to_variable(labels)))
        loss.backward()
        adam.minimize(loss)
        model.clear_gradients()
    print(f"loss {loss.numpy()}")
    fluid.save_dygraph(model.state_dict(), "digits")

    again = Digits()
    again.set_dict(fluid.load_dygraph("digits")[0])
    model.eval()
    again.eval()
    images, labels = next(batches())
    answers, same = model(to_variable(images)), again(to_variable(images))
    accuracy = fluid.layers.accuracy(input=answers, label=to_variable(labels)).numpy()
    print(f"right: {float(accuracy):.2f}; loaded, the same: {np.array_equal(answers.numpy(), same.numpy())}")
