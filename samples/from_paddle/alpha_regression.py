"""Written for Paddle 2.0 alpha: a line through points, imperative, saved and loaded. `python -m d2s.compat` runs it."""

import os
import tempfile

import numpy as np
import paddle
from paddle.imperative import declarative, to_variable

paddle.enable_imperative()


class Line(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(1, 1, dtype="float32")

    @declarative
    def forward(self, x):
        return self.fc(x)


xs = np.linspace(-1, 1, 20).astype("float32").reshape(-1, 1)
ys = 3 * xs + 0.5
line = Line()
sgd = paddle.optimizer.SGDOptimizer(learning_rate=0.3, parameter_list=line.parameters())
for _step in range(100):
    error = line(to_variable(xs)) - to_variable(ys)
    loss = paddle.mean(error * error)
    loss.backward()
    sgd.minimize(loss)
    line.clear_gradients()

prefix = os.path.join(tempfile.mkdtemp(), "line")
paddle.imperative.save(line.state_dict(), prefix)
parameters, _ = paddle.imperative.load(prefix)
other = Line()
other.set_dict(parameters)
print(f"slope {float(other.fc.weight.numpy()):.3f}, offset {float(other.fc.bias.numpy()):.3f}")
