"""A program in the style of Paddle 1.8: a reader that is part of it, steps of a StaticRNN, a learning rate of variables.

    python -m d2s.compat samples/from_paddle/fluid_1_8_steps.py

It learns whether the numbers of a sequence rise or fall on the whole.
"""

import numpy as np
import paddle
import paddle.fluid as fluid
import paddle.fluid.layers as layers

STEPS, HIDDEN, BATCH = 6, 8, 32


def sequences():
    rng = np.random.RandomState(0)
    for _ in range(640):
        numbers = rng.uniform(-1.0, 1.0, (STEPS, 1)).astype("float32")
        yield numbers, int(numbers[-1, 0] > numbers[0, 0])


def warmed_up(rate, steps):
    """Half of the rate in the first steps."""
    found = layers.create_global_var([1], 0.0, "float32", persistable=True, name="learning_rate")
    step = layers.cast(layers.autoincreased_step_counter(begin=0), "float32")
    with layers.Switch() as switch:
        with switch.case(step < float(steps)):
            layers.assign(rate * 0.5, found)
        with switch.default():
            layers.assign(rate, found)
    return found


def scores_of(numbers):
    steps = layers.transpose(numbers, [1, 0, 2])
    rnn = layers.StaticRNN()
    with rnn.step():
        number = rnn.step_input(steps)
        before = rnn.memory(shape=[-1, HIDDEN], batch_ref=steps)
        after = layers.fc([number, before], HIDDEN, act="tanh")
        rnn.update_memory(before, after)
        rnn.step_output(after)
    last = layers.reshape(layers.slice(rnn(), axes=[0], starts=[STEPS - 1], ends=[STEPS]), [-1, HIDDEN])
    return layers.fc(last, 2, act="softmax")


def main():
    fluid.default_startup_program().random_seed = 1
    reader = layers.py_reader(8, [(-1, STEPS, 1), (-1, 1)], ["float32", "int64"], name="sequences")
    numbers, label = layers.read_file(reader)
    scores = scores_of(numbers)
    loss, right = layers.mean(layers.cross_entropy(scores, label)), layers.accuracy(scores, label)
    rate = warmed_up(layers.exponential_decay(0.02, decay_steps=20, decay_rate=0.9), 10)
    fluid.optimizer.Adam(rate).minimize(loss)
    reader.decorate_paddle_reader(paddle.batch(sequences, BATCH))
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    seen = []
    for epoch in range(8):
        reader.start()
        try:
            while True:
                seen.append([np.mean(v) for v in exe.run(fetch_list=[loss, right, rate])])
        except fluid.core.EOFException:
            reader.reset()
        share = np.mean([right for _, right, _ in seen[-20:]])
        print(f"epoch {epoch}: loss {seen[-1][0]:.3f}, right {share:.2f}, rate {seen[-1][2]:.4f}")
    print(f"first rates: {seen[0][2]:.4f} {seen[10][2]:.4f}")


if __name__ == "__main__":
    main()
