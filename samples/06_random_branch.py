"""A network that decides by a coin at each step whether its second layer runs: control flow as one writes it in Python.

The coin is a tensor, so `to_static` makes a branch of the graph of the `if`; the graph draws the same numbers as eager code.
Where the branch is not taken, its layer has no gradient and the optimizer leaves it alone.

    python samples/06_random_branch.py [STEPS]
"""

import sys

import numpy as np

import d2s
from d2s.nn import functional as F


class Random(d2s.nn.Layer):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.linear1 = d2s.nn.Linear(inputs, hidden)
        self.linear2 = d2s.nn.Linear(hidden, hidden)
        self.linear3 = d2s.nn.Linear(hidden, 1)

    def forward(self, x):
        x = F.relu(self.linear1(x))
        if d2s.rand([1]) > 0.5:
            x = F.relu(self.linear2(x))
        return self.linear3(x)


def train(steps, static):
    d2s.seed(4)
    data, net = np.random.default_rng(4), Random(32, 64)
    samples, wanted = (data.standard_normal((200, n)).astype("float32") for n in (32, 1))
    if static:
        d2s.to_static(net)
    sgd, losses, taken = d2s.optimizer.SGD(0.01, parameters=net.parameters()), [], 0
    for _ in range(steps):
        picked = data.choice(200, 64, replace=False)
        loss = F.mse_loss(net(d2s.to_tensor(samples[picked])), d2s.to_tensor(wanted[picked]))
        loss.backward()
        taken += net.linear2.weight.grad is not None
        sgd.step()
        sgd.clear_grad(set_to_zero=False)
        losses.append(loss.item())
    print(f"{'static' if static else 'eager'}: loss {losses[0]:.4f} -> {losses[-1]:.4f}; the branch was taken {taken} times")
    return losses


def main(steps):
    assert train(steps, static=False) == train(steps, static=True), "never"
    print("eager and static agree bit for bit")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
