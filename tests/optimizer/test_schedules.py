"""Learning rates against those of real Paddle, which `record.py` wrote down; their state; what is refused."""

import pathlib

import numpy as np
import pytest
import schedules

import d2s
from d2s.errors import ArgumentError, D2SError, DTypeError

lr = d2s.optimizer.lr
REFERENCES = np.load(pathlib.Path(__file__).parent / "references.npz")
every = pytest.mark.parametrize("name", schedules.SCHEDULES)


@every
def test_rates_are_paddles_bit_for_bit(name):
    assert schedules.run(lr, name) == REFERENCES[f"schedule {name}"].tolist()


def test_every_scheduler_is_tried():
    tried = " ".join(schedules.SCHEDULES.values())
    assert all(f"lr.{name}(" in tried for name in lr.__all__ if name != "LRScheduler")


@every
def test_goes_on_from_its_state(name):
    def made():
        return eval(schedules.SCHEDULES[name], {"lr": lr})

    def step(scheduler, k):
        scheduler.step(*([schedules.watched(k)] if name.startswith("plateau") else []))
        return scheduler()

    whole, first, second = made(), made(), made()
    expected = [step(whole, k) for k in range(60)]
    found = [step(first, k) for k in range(25)]
    second.set_state_dict(first.state_dict())
    if name.startswith("warm_restarts"):
        second.step(first.last_epoch)
    assert found + [step(second, k) for k in range(25, 60)] == expected


def test_state_has_paddles_keys():
    assert lr.StepDecay(0.1, 3).state_dict() == {"last_epoch": 0, "last_lr": 0.1}
    warm = lr.LinearWarmup(lr.StepDecay(0.1, 3), 5, 0.0, 0.1)
    assert warm.state_dict() == {"last_epoch": 0, "last_lr": 0.0, "LinearWarmup_LR": {"last_epoch": 0, "last_lr": 0.1}}
    assert set(lr.ReduceOnPlateau(0.1).state_dict()) == {"cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"}


def test_verbose_says_each_rate(capsys):
    lr.StepDecay(0.5, 1, verbose=True).step()
    said = capsys.readouterr().out
    assert said == "Epoch 0: StepDecay set learning rate to 0.5.\nEpoch 1: StepDecay set learning rate to 0.05.\n"


def test_plateau_takes_tensors_and_arrays_of_one_number():
    scheduler = lr.ReduceOnPlateau(0.5, factor=0.5, patience=0)
    for loss in (d2s.to_tensor(1.0), d2s.to_tensor([1.0]), np.array([[1.0]])):
        scheduler.step(loss)
    assert scheduler() == 0.125


REFUSED = {
    "a rate that is none": (lambda: lr.StepDecay("x", 2), DTypeError, "'learning_rate'"),
    "a rate below 0": (lambda: lr.StepDecay(-1.0, 2), ArgumentError, "below 0"),
    "no step": (lambda: lr.StepDecay(0.1, 0), ArgumentError, "'step_size'"),
    "half a step": (lambda: lr.StepDecay(0.1, 2.5), DTypeError, "'step_size'"),
    "a factor that grows": (lambda: lr.StepDecay(0.1, 2, gamma=2.0), ArgumentError, "'gamma'"),
    "milestones out of order": (lambda: lr.MultiStepDecay(0.1, [3, 2]), ArgumentError, "'milestones'"),
    "milestones that are a number": (lambda: lr.MultiStepDecay(0.1, 3), DTypeError, "'milestones'"),
    "one value too few": (lambda: lr.PiecewiseDecay([1], [0.1]), ArgumentError, "2 values"),
    "no function": (lambda: lr.LambdaDecay(0.1, 3), DTypeError, "'lr_lambda'"),
    "a warm-up that falls": (lambda: lr.LinearWarmup(0.1, 3, 1.0, 0.0), ArgumentError, "'end_lr'"),
    "a warm-up to text": (lambda: lr.LinearWarmup("x", 3, 0.0, 1.0), DTypeError, "'learning_rate'"),
    "an unknown mode": (lambda: lr.ReduceOnPlateau(0.1, mode="x"), ArgumentError, "'mode'"),
    "a factor of 1": (lambda: lr.ReduceOnPlateau(0.1, factor=1.0), ArgumentError, "'factor'"),
    "two losses": (lambda: lr.ReduceOnPlateau(0.1).step(np.ones(2)), ArgumentError, "one number"),
    "a loss that is text": (lambda: lr.ReduceOnPlateau(0.1).step("x"), DTypeError, "'metrics'"),
    "a share above 1": (lambda: lr.OneCycleLR(0.1, 10, phase_pct=2.0), ArgumentError, "'phase_pct'"),
    "a factor of 0": (lambda: lr.OneCycleLR(0.1, 10, divide_factor=0), ArgumentError, "'divide_factor'"),
    "an unknown strategy": (lambda: lr.OneCycleLR(0.1, 10, anneal_strategy="x"), ArgumentError, "'anneal_strategy'"),
    "an end that is a list": (lambda: lr.PolynomialDecay(0.1, 5, end_lr=[1]), DTypeError, "'end_lr'"),
    "values that are text": (lambda: lr.PiecewiseDecay([1], ["a", "b"]), DTypeError, "'values'"),
    "no warm-up": (lambda: lr.NoamDecay(64, 0), ArgumentError, "'warmup_steps'"),
    "an epoch of many digits": (lambda: lr.StepDecay(0.1, 2, last_epoch=10**5000), ArgumentError, "'last_epoch' is an int of"),
    "a step of many digits": (lambda: lr.StepDecay(0.1, 10**5000), ArgumentError, "'step_size' is an int of"),
    "a cycle from text": (lambda: lr.CyclicLR("x", 0.2, 3), DTypeError, "'base_learning_rate'"),
    "an unknown cycle": (lambda: lr.CyclicLR(0.1, 0.2, 3, mode="x"), ArgumentError, "'mode'"),
    "a start of 0": (lambda: lr.LinearLR(0.1, 5, start_factor=0), ArgumentError, "'start_factor'"),
    "no first restart": (lambda: lr.CosineAnnealingWarmRestarts(0.1, 0), ArgumentError, "'T_0'"),
    "an epoch that is text": (lambda: lr.StepDecay(0.1, 2).step("x"), DTypeError, "StepDecay.step(): 'epoch' expects an int"),
    "an epoch before the first": (lambda: lr.StepDecay(0.1, 2).step(-2), ArgumentError, "'epoch' is -2"),
    "an epoch of a plateau": (lambda: lr.ReduceOnPlateau(0.1).step(1.0, epoch="x"), DTypeError, "'epoch'"),
    "a state without a key": (lambda: lr.StepDecay(0.1, 2).set_state_dict({}), ArgumentError, "'last_epoch' is missing"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    function, error, words = REFUSED[what]
    with pytest.raises(error) as caught:
        function()
    assert isinstance(caught.value, D2SError)
    assert words in str(caught.value)


def test_a_factor_of_each_epoch_is_asked_for_once():
    asked = []
    schedule = lr.MultiplicativeDecay(1.0, lambda epoch: asked.append(epoch) or 0.5)
    for _ in range(5):
        schedule.step()
    assert asked == [1, 2, 3, 4, 5] and schedule() == 0.5**5
    schedule.step(2)
    assert schedule() == 0.25
    schedule.base_lr = 8.0
    schedule.step(3)
    assert schedule() == 1.0
