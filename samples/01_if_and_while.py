"""A tensor `if` inside a tensor `while`: ordinary Python, eager or static, with the same bits and the same gradients."""

import pathlib
import tempfile

import numpy as np

import d2s


def settle(x, w, steps):
    i = 0
    while i < steps:  # `steps` is a tensor: only a run knows how often
        x = d2s.tanh(x @ w)
        if x.sum() > 0:
            x = x * 0.5
        else:
            x = d2s.relu(x) - 0.1
        i += 1
    return x, i


def gradients(function, steps):
    r = np.random.default_rng(3)
    x = d2s.to_tensor(r.normal(size=(2, 4)).astype("float32"), stop_gradient=False)
    w = d2s.to_tensor(r.normal(size=(4, 4)).astype("float32"), stop_gradient=False)
    y, i = function(x, w, d2s.to_tensor(steps))
    y.sum().backward()
    return y.numpy(), i, x.grad.numpy(), None if w.grad is None else w.grad.numpy()


def main():
    static = d2s.to_static(settle)
    for steps in (0, 1, 7):
        eager, compiled = gradients(settle, steps), gradients(static, steps)
        assert all(np.array_equal(a, b) for a, b in zip(eager, compiled, strict=True)), "never"
        print(f"{steps} trips: eager and static agree bit for bit, the gradients too; the counter is {compiled[1]!r}")

    print("\nThe Python it was rewritten to, in part:")
    print("\n".join(static.text.splitlines()[2:16]))

    x = d2s.to_tensor(np.ones((2, 4), "float32"), stop_gradient=False)
    w = d2s.to_tensor(np.eye(4, dtype="float32"), stop_gradient=False)
    print("\nd2s.jit.verify:", d2s.jit.verify(static, x, w, d2s.to_tensor(3)))

    with tempfile.TemporaryDirectory() as folder, d2s.config(DUMP=folder):
        d2s.to_static(lambda x, w, n: settle(x, w, n)[0])(x, w, d2s.to_tensor(3))
        stages = [path.name.split("-", 2)[2] for path in sorted(pathlib.Path(folder).iterdir())]
        print("D2S_DUMP wrote", len(stages), "files:", ", ".join(stages[:3]), "...", stages[-1])


main()
