"""L-BFGS on functions whose minimum is known; the losses on Rosenbrock's valley are those real Paddle goes through."""

import numpy as np
import pytest

import d2s

FIRST, SECOND = d2s.to_tensor([1.0, 0.0]), d2s.to_tensor([0.0, 1.0])


def rosenbrock(p):
    x, y = (p * FIRST).sum(), (p * SECOND).sum()
    return (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x)


def minimized(loss_of, begin, steps, **options):
    p = d2s.nn.Parameter(np.array(begin, "float32"), stop_gradient=False, name="p")
    lbfgs, asked = d2s.optimizer.LBFGS(parameters=[p], **options), []

    def closure():
        lbfgs.clear_grad()
        loss = loss_of(p)
        loss.backward()
        asked.append(loss.item())
        return loss

    losses = [(lbfgs.step(closure).item(), len(asked)) for _ in range(steps)]
    return p, losses, lbfgs, closure


def test_rosenbrocks_valley_with_a_search():
    p, losses, _, _ = minimized(rosenbrock, [-1.2, 1.0], 4, line_search_fn="strong_wolfe")
    assert [n for _, n in losses] == [25, 44, 45, 46]  # as often as Paddle
    assert losses[0][0] == pytest.approx(24.2, rel=1e-6)
    assert losses[1][0] == pytest.approx(0.42347, rel=1e-3)
    np.testing.assert_allclose(p.numpy(), [1.0, 1.0], atol=1e-4)


def test_a_bowl_without_a_search():
    p, losses, _, _ = minimized(lambda p: ((p - 3.0) * (p - 3.0)).sum(), [0.0, 10.0], 5, learning_rate=0.5, max_iter=5)
    assert losses[-1][0] < 1e-6 * losses[0][0]
    np.testing.assert_allclose(p.numpy(), [3.0, 3.0], atol=1e-3)


@pytest.mark.parametrize("setter", ["set_state_dict", "set_dict", "load_state_dict"])
def test_goes_on_from_its_state(setter):
    _, _, first, _ = minimized(rosenbrock, [-1.2, 1.0], 1, line_search_fn="strong_wolfe", max_iter=4)
    second = d2s.optimizer.LBFGS(parameters=first._parameter_list, line_search_fn="strong_wolfe", max_iter=4)
    getattr(second, setter)(first.state_dict())
    assert second.memory.n_iter == first.memory.n_iter > 0
    assert first.memory.old_sk
    assert all((a == b).all() for a, b in zip(first.memory.old_sk, second.memory.old_sk, strict=True))


def test_at_the_minimum_nothing_moves():
    p, losses, _, _ = minimized(lambda p: (p * p).sum(), [0.0, 0.0], 2)
    assert p.tolist() == [0.0, 0.0]
    assert [n for _, n in losses] == [1, 2]
