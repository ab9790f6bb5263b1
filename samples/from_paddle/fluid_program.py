"""Written for Paddle 1.5: a program from `fluid.layers` and `fluid.nets`, fed rows. `python -m d2s.compat` runs it."""

import paddle
import paddle.fluid as fluid

image = fluid.layers.data(name="image", shape=[1, 28, 28], dtype="float32")
label = fluid.layers.data(name="label", shape=[1], dtype="int64")
pooled = fluid.nets.simple_img_conv_pool(input=image, num_filters=8, filter_size=5, pool_size=4, pool_stride=4, act="relu")
prediction = fluid.layers.fc(input=fluid.layers.batch_norm(pooled), size=10, act="softmax")
loss = fluid.layers.mean(fluid.layers.cross_entropy(input=prediction, label=label))
accuracy = fluid.layers.accuracy(input=prediction, label=label)
test_program = fluid.default_main_program().clone(for_test=True)
fluid.optimizer.Adam(learning_rate=0.01).minimize(loss)

place = fluid.CPUPlace()
exe = fluid.Executor(place)
exe.run(fluid.default_startup_program())
feeder = fluid.DataFeeder(feed_list=[image, label], place=place)
train = paddle.batch(paddle.dataset.mnist.train(), batch_size=50, drop_last=True)
for step, rows in enumerate(train()):
    cost = exe.run(feed=feeder.feed(rows), fetch_list=[loss])[0]
    if step % 10 == 0:
        print(f"step {step}: {cost[0]:.4f}")

counted = fluid.metrics.Accuracy()
for rows in paddle.batch(paddle.dataset.mnist.test(), batch_size=50)():
    cost, share = exe.run(test_program, feed=feeder.feed(rows), fetch_list=[loss.name, accuracy.name])
    counted.update(value=share, weight=len(rows))
print(f"right: {counted.eval():.2f}")

fluid.io.save_persistables(exe, "values")
before = exe.run(test_program, feed=feeder.feed(rows), fetch_list=[loss])[0]
exe.run(fluid.default_startup_program())
fluid.io.load_persistables(exe, "values")
after = exe.run(test_program, feed=feeder.feed(rows), fetch_list=[loss])[0]
print(f"values kept: {before == after}")
