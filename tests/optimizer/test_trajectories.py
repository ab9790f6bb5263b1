"""Fifty steps of every optimizer and option against those of real Paddle, which `record.py` wrote down: values and state."""

import pathlib

import numpy as np
import pytest
import trajectories

import d2s

REFERENCES = np.load(pathlib.Path(__file__).parent / "references.npz")
every = pytest.mark.parametrize("case", trajectories.CASES)


@every
def test_fifty_steps_are_paddles(case):
    found = trajectories.run(d2s, case)
    assert list(found) == REFERENCES[f"{case} names"].tolist()
    values = np.concatenate([array.reshape(-1) for array in found.values()])
    np.testing.assert_allclose(values, REFERENCES[f"{case} values"], rtol=2e-5, atol=2e-7)


def test_every_optimizer_is_tried():
    tried = " ".join(trajectories.CASES.values())
    names = set(d2s.optimizer.__all__) - {"lr", "Optimizer", "LBFGS"}
    assert all(f"o.{name}(" in tried for name in names)


@every
def test_goes_on_from_its_state_with_the_same_bits(case):
    """Ten steps, or five, a new optimizer that gets the state, and five."""

    def steps(optimizer, model, begin, end):
        for step in range(begin, end):
            gradients = [d2s.to_tensor(trajectories.drawn(step, p.shape)) for p in (model.weight, model.bias)]
            ((model.weight * gradients[0]).sum() + (model.bias * gradients[1]).sum()).backward()
            optimizer.step()
            optimizer.clear_grad()

    def made(model):
        names = {"o": d2s.optimizer, "nn": d2s.nn, "reg": d2s.regularizer, "model": model}
        return eval(trajectories.CASES[case], names)

    whole, parts = trajectories.model_of(d2s, case), trajectories.model_of(d2s, case)
    steps(made(whole), whole, 0, 10)
    first = made(parts)
    steps(first, parts, 0, 5)
    second = made(parts)
    second.set_state_dict(first.state_dict())
    steps(second, parts, 5, 10)
    assert all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in zip(whole.parameters(), parts.parameters(), strict=True))
