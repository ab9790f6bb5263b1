"""Written for Paddle 2.x: a declared program with a test clone, saved for inference. `python -m d2s.compat` runs it."""

import os
import tempfile

import numpy as np
import paddle

paddle.enable_static()
paddle.seed(3)
main, startup = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(main, startup):
    x = paddle.static.data("x", [None, 2], "float32")
    label = paddle.static.data("label", [None, 1], "int64")
    hidden = paddle.static.nn.fc(x, 16, activation="tanh")
    scores = paddle.static.nn.fc(hidden, 2)
    test = main.clone(for_test=True)
    loss = paddle.nn.functional.cross_entropy(scores, label)
    paddle.optimizer.Adam(0.05).minimize(loss)

exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(startup)
rng = np.random.RandomState(0)
points = rng.uniform(-1, 1, (200, 2)).astype("float32")
inside = ((points**2).sum(1, keepdims=True) < 0.5).astype("int64")
for _ in range(200):
    exe.run(main, feed={"x": points, "label": inside}, fetch_list=[loss])
(found,) = exe.run(test, feed={"x": points}, fetch_list=[scores])
print(f"inside or outside of a circle: {(found.argmax(1) == inside[:, 0]).mean():.0%} right")

prefix = os.path.join(tempfile.mkdtemp(), "circle")
paddle.static.save_inference_model(prefix, [x], [scores], exe, program=main)
paddle.disable_static()
loaded = paddle.jit.load(prefix)
print(f"the file gives the same: {np.array_equal(loaded(paddle.to_tensor(points)).numpy(), found)}")
