"""Train steps as users write them, each made of a `World`: the corpus of `test_train_steps.py`. Add one by adding a function.

A step is called with a batch, and with the number of the call where it takes two arguments.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import d2s
import d2s.nn.functional as F
from d2s import nn, unique_name
from d2s.optimizer import SGD, Adam, AdamW
from d2s.optimizer.lr import LRScheduler, StepDecay

EPOCH = 0


@dataclasses.dataclass
class Made:
    """What makes a step, and how often it may be captured; `outside` is done between calls."""

    make: Callable[[Any], Callable[..., Any]]
    captures: int
    outside: Callable[[Any], None]


STEPS: dict[str, Made] = {}


def train_step(captures: int = 2, outside: Callable[[Any], None] = lambda world: None) -> Any:
    """Two captures are the least: gradients are there from the second call on."""

    def note(make: Any) -> Any:
        STEPS[make.__name__] = Made(make, captures, outside)
        return make

    return note


class World:
    """All that steps may change."""

    def __init__(self) -> None:
        d2s.seed(5)
        with unique_name.guard():
            self.net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
            self.critic = nn.Linear(2, 1)
        self.rate = StepDecay(0.1, 3, 0.5)
        self.adam = Adam(self.rate, parameters=self.net.parameters())
        self.sgd = SGD(0.05, parameters=self.critic.parameters())
        self.n = self.epoch = self.bad = 0
        self.scale, self.best, self.history = 8.0, 1e9, []
        self.averages = [d2s.to_tensor(p.numpy()) for p in self.net.parameters()]

    def loss(self, x):
        return (self.net(x) ** 2).mean()

    def learn(self, loss):
        loss.backward()
        self.adam.step()
        self.adam.clear_grad()
        return loss

    def held(self) -> list[Any]:
        """All of it, as plain values."""
        parameters = [*self.net.parameters(), *self.critic.parameters()]
        state = [*self.adam.state_dict().items(), *self.sgd.state_dict().items()]
        return [
            [(plain(p), plain(p.grad), p.stop_gradient) for p in parameters],
            [(name, plain(value)) for name, value in state],
            [plain(a) for a in (*self.averages, *self.history)],
            (self.n, self.epoch, self.bad, self.scale, self.best, self.rate.last_lr, d2s.get_rng_state()),
        ]


def plain(value: Any) -> Any:
    return (value.dtype.name, value.tolist()) if isinstance(value, d2s.Tensor) else value


def batches(calls: int) -> list[Any]:
    """Some with large values, some with a nan."""
    rng = np.random.default_rng(1)
    found = rng.normal(size=(calls, 4, 3))
    found[4::7] *= 10
    found[9:11, 0, 0] = np.nan
    return [d2s.to_tensor(batch, "float32") for batch in found]


# --- Python numbers that decide whether a step is taken


@train_step(3)
def gathers_gradients(world):
    def f(x):
        loss = world.loss(x) / 3
        loss.backward()
        world.n += 1
        if world.n % 3 == 0:
            world.adam.step()
            world.adam.clear_grad()
        return loss

    return f


@train_step(3)
def gathers_by_an_argument(world):
    def f(x, i):
        loss = world.loss(x)
        loss.backward()
        if (i + 1) % 4 == 0 or i == 29:
            world.adam.step()
            world.adam.clear_grad()
        return loss

    return f


@train_step(4)
def warms_up(world):
    def f(x):
        loss = world.loss(x)
        if world.n < 5:
            loss = loss * 0.1
        loss.backward()
        if world.n >= 3 and world.n != 7:
            world.adam.step()
        world.adam.clear_grad()
        world.n += 1
        return loss

    return f


def next_epoch(world):
    global EPOCH
    world.epoch += 1
    EPOCH = world.epoch


@train_step(4, next_epoch)
def epochs_from_outside(world):
    def f(x):
        loss = world.loss(x) * world.epoch
        loss.backward()
        if world.epoch < 10:
            world.adam.step()
        world.adam.clear_grad()
        return loss

    return f


@train_step(4, next_epoch)
def a_global_epoch(world):
    def f(x):
        loss = world.loss(x) * EPOCH
        loss.backward()
        if EPOCH >= 10:
            world.adam.step()
        world.adam.clear_grad()
        return loss

    return f


@train_step(4)
def does_something_once(world):
    def f(x):
        world.n += 1
        loss = world.learn(world.loss(x))
        if world.n == 7:
            world.rate.step()
        if world.n % 5 == 0:
            print(world.n, loss.item())
        return loss

    return f


@train_step(3)
def asks_the_rate(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        if world.adam.get_lr() > 0.06:
            world.adam.step()
        world.adam.clear_grad()
        world.rate.step()
        return loss

    return f


@train_step(3)
def phases(world):
    def f(x, i):
        phase = "warm" if i < 6 else "main"
        loss = world.loss(x)
        loss.backward()
        if phase == "main":
            world.adam.step()
        world.adam.clear_grad()
        return loss

    return f


@train_step(3)
def two_networks_by_turns(world):
    def f(x, i):
        made, real = world.net(x), x[:, :2]
        critic = (world.critic(made.detach()) ** 2).mean() - world.critic(real).mean()
        critic.backward()
        world.sgd.step()
        world.sgd.clear_grad()
        if i % 5 == 0:
            world.learn(-world.critic(world.net(x)).mean())
            world.sgd.clear_grad()
        return critic

    return f


# --- tensors that decide it


@train_step(3)
def skips_nans(world):
    def f(x):
        loss = world.loss(x)
        if d2s.isfinite(loss):
            world.learn(loss)
        else:
            world.bad += 1
        return loss

    return f


@train_step(3)
def returns_before_nans(world):
    def f(x):
        loss = world.loss(x)
        if not d2s.isfinite(loss):
            return None
        return world.learn(loss)

    return f


@train_step(3)
def skips_the_step_only(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        if d2s.isfinite(loss):
            world.adam.step()
        world.adam.clear_grad()
        return loss

    return f


@train_step(3)
def limits_in_an_if(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        norm = d2s.sqrt(sum((p.grad**2).sum() for p in world.net.parameters()))
        if norm > 0.1:
            for p in world.net.parameters():
                p.grad = p.grad * (0.1 / norm)
        world.adam.step()
        world.adam.clear_grad()
        return loss, norm

    return f


@train_step()
def limits_where_they_lie(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        norm = d2s.sqrt(sum((p.grad**2).sum() for p in world.net.parameters()))
        if norm > 0.1:
            for p in world.net.parameters():
                p.grad.set_value(p.grad * (0.1 / norm))
        world.adam.step()
        world.adam.clear_grad()
        return loss

    return f


@train_step()
def limits_by_a_function(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(world.net.parameters(), 0.1)
        world.adam.step()
        world.adam.clear_grad()
        return loss, norm

    return f


@train_step(4)
def scales_losses(world):
    def f(x):
        loss = world.loss(x)
        (loss * world.scale).backward()
        fine = True
        for p in world.net.parameters():
            p.grad = p.grad / world.scale
            if not d2s.isfinite(p.grad).all():
                fine = False
        if fine:
            world.adam.step()
        else:
            world.scale = world.scale / 2
        world.adam.clear_grad()
        return loss

    return f


@train_step(4)
def clears_nans_of_gradients(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        for p in world.net.parameters():
            if p.grad is not None and d2s.isnan(p.grad).any():
                p.grad = d2s.zeros_like(p)
        world.adam.step()
        world.adam.clear_grad()
        return loss

    return f


@train_step(4)
def counts_in_a_tensor(world):
    world.count = d2s.to_tensor(0)

    def f(x):
        world.loss(x).backward()
        world.count.add_(d2s.to_tensor(1))
        if world.count % 3 == 0:
            world.adam.step()
            world.adam.clear_grad()
        return world.count * 1

    return f


@train_step(3)
def skips_at_random(world):
    def f(x):
        loss = world.loss(F.dropout(x, 0.5))
        if d2s.rand([1]) > 0.5:
            world.learn(loss)
        return loss

    return f


@train_step(3)
def skips_behind_a_batch_norm(world):
    norm = nn.BatchNorm1D(3)
    world.averages += [norm._mean, norm._variance]

    def f(x):
        loss = (world.net(norm(x)) ** 2).mean()
        if loss > 0.1:
            world.learn(loss)
        return loss

    return f


@train_step(3)
def prints_which_it_was(world):
    def f(x):
        loss = world.loss(x)
        if loss > 0.2:
            world.learn(loss)
            print("step", loss.item())
        else:
            print("skip", world.n)
            world.n += 1
        return loss

    return f


@train_step(6)
def asks_tensors_and_numbers(world):
    def f(x, i):
        loss = world.loss(x)
        if i % 2 == 0:
            loss.backward()
            if loss > 0.2:
                world.adam.step()
            elif i % 3 == 0:
                world.sgd.step()
            else:
                world.n += 1
            world.adam.clear_grad()
        return loss

    return f


@train_step(3)
def a_gradient_on_one_side(world):
    def f(x):
        y = world.loss(x)
        if y > 0.2:
            (g,) = d2s.grad(y, world.net[0].weight)
        else:
            g = world.net[0].weight * 0
        return g

    return f


# --- parameters that got other values before a step, and losses from before one


@train_step()
def clips_weights_before_its_step(world):
    def f(x):
        with d2s.no_grad():
            for p in world.net.parameters():
                p.clip_(-0.4, 0.4)
        return world.learn(world.loss(x))

    return f


@train_step()
def prunes_by_a_mask(world):
    def f(x):
        weight = world.net[0].weight
        weight.set_value(weight * (weight.abs() > 0.1).astype("float32"))
        loss = world.learn(world.loss(x))
        weight.set_value(weight * 0.99)
        return loss, world.learn(world.loss(x * 2))

    return f


@train_step()
def shortens_a_weight_on_a_path(world):
    def f(x):
        weight = world.net[2].weight
        with d2s.no_grad():
            if weight.norm() > 0.8:
                weight.set_value(weight * (0.8 / weight.norm()))
        return world.learn(world.loss(x))

    return f


@train_step()
def shortens_a_weight_on_a_path_between_steps(world):
    def f(x):
        weight = world.net[2].weight
        for _ in range(2):
            loss = world.learn(world.loss(x))
            if weight.norm() > 0.8:
                weight.set_value(weight * 0.9)
        return loss, weight * 2

    return f


@train_step()
def climbs_before_its_step(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        with d2s.no_grad():
            length = d2s.sqrt(sum((p.grad * p.grad).sum() for p in world.net.parameters()))
            moves = [p.grad * (0.05 / (length + 1e-12)) for p in world.net.parameters()]
            for p, move in zip(world.net.parameters(), moves, strict=True):
                p.add_(move)
        world.adam.clear_grad()
        world.loss(x).backward()
        with d2s.no_grad():
            for p, move in zip(world.net.parameters(), moves, strict=True):
                p.subtract_(move)
        world.adam.step()
        world.adam.clear_grad()
        return loss

    return f


@train_step()
def learns_from_where_it_was(world):
    def f(x):
        kept = [p.clone().detach() for p in world.net.parameters()]
        for _ in range(2):
            gradients = d2s.grad(world.loss(x), world.net.parameters())
            for p, g in zip(world.net.parameters(), gradients, strict=True):
                p.set_value(p - 0.1 * g)
        loss = world.loss(x * 0.5)
        loss.backward()
        for p, k in zip(world.net.parameters(), kept, strict=True):
            p.set_value(k)
        world.adam.step()
        world.adam.clear_grad()
        return loss

    return f


@train_step()
def sweeps_from_before_a_step(world):
    w = world.critic.weight

    def f(x):
        a, b = x[:, :2].sum(axis=0).unsqueeze(1), x[:, 1:].sum(axis=0).unsqueeze(1)
        world.sgd.clear_grad()
        early = (w * a).sum() + (w * b).sum() + (w * (a / 3)).sum()
        (w * a * b).sum().backward()
        world.sgd.step()
        middle = (w * (b / 7)).sum() + (w * (a * 1e3)).sum()
        w.set_value(w * 0.5 + 0.1)
        (early + middle + (w * (b / 3)).sum() + w.sum() * 0.1).backward()
        return early, *d2s.grad((w * w).sum() + (w * 3).sum(), [w])

    return f


@train_step()
def asks_for_gradients_behind_a_step(world):
    w = world.critic.weight

    def f(x):
        early = (w * x[:, :2].t()).sum()
        (w * x.mean()).sum().backward()
        world.sgd.step()
        world.sgd.clear_grad()
        (g,) = d2s.grad(early + (w * 0.1).sum() + (w * 0.7).sum(), [w], retain_graph=True)
        w.set_value(w - 0.01 * g)
        return g, *d2s.grad([early, w.sum()], [w])

    return f


@train_step()
def changes_what_it_computed(world):
    def f(x):
        h = world.net(x)
        loss = h.sum() * 0.1
        with d2s.no_grad():
            h.clip_(-0.5, 0.5)
        loss = loss + (h * h).sum()
        (g,) = d2s.grad(loss, [h], retain_graph=True)
        return world.learn(loss), g

    return f


# --- what wants a gradient changes in the step


def wanting(parts, on):
    for p in parts.parameters():
        p.stop_gradient = not on


@train_step()
def attacks_its_batch(world):
    def f(x):
        x.stop_gradient = False
        (g,) = d2s.grad(world.loss(x), x)
        return world.learn(world.loss((x + 0.1 * g.sign()).detach())), x.stop_gradient

    return f


@train_step()
def attacks_by_backward(world):
    def f(x):
        x.stop_gradient = False
        world.loss(x).backward()
        moved = x.detach() + 0.1 * x.grad.sign()
        world.adam.clear_grad()
        x.stop_gradient = True
        return world.learn(world.loss(moved)), x.grad

    return f


@train_step()
def limits_the_slope_at_its_batch(world):
    def f(x):
        before = (x * 2.0).sum()
        x.stop_gradient = False
        y = world.net(x)
        (g,) = d2s.grad(y.sum() + before, x, create_graph=True)
        world.learn((y**2).mean() + (g * g).sum(axis=1).mean())
        return g.detach()

    return f


@train_step()
def two_networks_one_of_which_rests(world):
    def f(x):
        wanting(world.critic, True)
        y = world.net(x)
        judged = world.critic(y.detach()).mean()
        judged.backward()
        world.sgd.step()
        world.sgd.clear_grad()
        wanting(world.critic, False)
        return judged, world.learn(world.critic(y).mean()), [p.stop_gradient for p in world.critic.parameters()]

    return f


@train_step(4)
def freezes_by_its_count(world):
    def f(x):
        world.n += 1
        for p in world.net[0].parameters():
            p.stop_gradient = world.n < 6
        return world.learn(world.loss(x))

    return f


@train_step(5)
def freezes_once(world):
    def f(x):
        if world.n == 4:
            wanting(world.net[0], False)
        if world.n == 9:
            wanting(world.net[0], True)
        world.n += 1
        return world.learn(world.loss(x))

    return f


@train_step(3)
def sweeps_what_a_branch_is_only_given(world):
    def f(x):
        h = world.net(x)
        judged, size = world.critic(h.detach()).square().mean(), h.abs().mean()
        if size > 0.6:
            judged = judged.detach() * world.net[0].bias.sum()
            h = h + world.net[0].bias.sum()
        judged.backward()
        size.backward()
        world.sgd.step()
        world.adam.step()
        world.sgd.clear_grad()
        world.adam.clear_grad()
        return h

    return f


@train_step()
def rests_between_two_losses(world):
    w = world.critic.weight

    def f(x):
        a, b = x[:, :2].sum(axis=0).unsqueeze(1), x[:, 1:].sum(axis=0).unsqueeze(1)
        loss = (w * a).sum() + (w * (b / 3)).sum()
        w.stop_gradient = True
        loss = loss + (w * b).sum()
        w.set_value(w * 0.9)
        w.stop_gradient = False
        loss = loss + (w * (a / 7)).sum() + (w * (b * 1e3)).sum()
        loss.backward()
        world.sgd.step()
        return loss, *d2s.grad((w * 3).sum() + (w * b).sum(), [w])

    return f


# --- updates, averages, optimizers in the user's own words


@train_step()
def averages_weights(world):
    def f(x):
        loss = world.learn(world.loss(x))
        with d2s.no_grad():
            for average, p in zip(world.averages, world.net.parameters(), strict=True):
                average.scale_(0.9)
                average.add_(p * 0.1)
        return loss

    return f


@train_step()
def averages_weights_later(world):
    def f(x):
        world.n += 1
        loss = world.learn(world.loss(x))
        if world.n > 4:
            for average, p in zip(world.averages, world.net.parameters(), strict=True):
                average.set_value(average * 0.9 + p.detach() * 0.1)
        return loss

    return f


@train_step()
def updates_by_hand(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        with d2s.no_grad():
            for p in world.net.parameters():
                p.set_value(p - 0.1 * p.grad)
                p.clear_grad()
        return loss

    return f


@train_step()
def updates_from_what_was_detached(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        for p in world.net.parameters():
            p.set_value(p.detach() - 0.1 * p.grad)
            p.grad = None
        return loss

    return f


@train_step()
def updates_in_place(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        with d2s.no_grad():
            for p in world.net.parameters():
                p.subtract_(p.grad * 0.1)
                p.grad = None
        return loss

    return f


@train_step()
def steps_without_gradients(world):
    def f(x):
        loss = world.loss(x)
        loss.backward()
        with d2s.no_grad():
            world.adam.step()
            world.adam.clear_grad()
        return loss

    return f


class Velocity:
    """An optimizer that is no `Optimizer`."""

    def __init__(self, parameters):
        self.parameters, self.steps = list(parameters), 0
        self.velocity = [d2s.zeros_like(p) for p in self.parameters]

    @d2s.no_grad()
    def step(self):
        self.steps += 1
        for i, p in enumerate(self.parameters):
            if p.grad is not None:
                self.velocity[i] = self.velocity[i] * 0.9 + p.grad
                p.set_value(p - 0.05 * self.velocity[i])
                p.clear_grad()


@train_step()
def an_optimizer_of_ones_own(world):
    own = Velocity(world.net.parameters())

    def f(x):
        loss = world.loss(x)
        loss.backward()
        own.step()
        return loss, own.steps

    return f


class Plain(d2s.optimizer.Optimizer):
    def __init__(self, rate, parameters):
        super().__init__(learning_rate=rate, parameters=parameters)

    @d2s.no_grad()
    def step(self):
        for p in self._parameter_list:
            if p.grad is not None:
                p.set_value(p - self.get_lr() * p.grad)


@train_step()
def an_optimizer_with_a_step_of_its_own(world):
    own = Plain(world.rate, world.net.parameters())

    def f(x):
        loss = world.loss(x)
        loss.backward()
        own.step()
        own.clear_grad()
        world.rate.step()
        return loss

    return f


def thaw(world):
    world.n += 1
    for p in world.net[0].parameters():
        p.stop_gradient = world.n < 6


@train_step(4, thaw)
def frozen_layers_thaw(world):
    return lambda x: world.learn(world.loss(x))


@train_step()
def groups_of_parameters(world):
    first = {"params": world.net[0].parameters(), "learning_rate": 0.5}
    world.adam = AdamW(0.1, parameters=[first, {"params": world.net[2].parameters(), "weight_decay": 0.1}])
    return lambda x: world.learn(world.loss(x))


@train_step()
def several_batches(world):
    def f(x):
        total = 0.0
        for batch in [x, x * 2, x + 1]:
            total = total + world.learn(world.loss(batch))
            world.rate.step()
        for k in range(x.shape[0]):
            world.learn(world.loss(x[k : k + 1]))
        for row in x:
            world.learn(world.loss(row.unsqueeze(0)))
        return total, world.adam.get_lr()

    return f


@train_step()
def keeps_a_history(world):
    def f(x):
        loss = world.learn(world.loss(x))
        world.history.append(loss.item())
        if loss.item() < world.best:
            world.best = loss.item()
        return loss

    return f


# --- learning rates


@train_step()
def tells_the_rate_behind_steps(world):
    def f(x):
        told = world.adam.get_lr(), world.rate.get_lr()
        loss = world.learn(world.loss(x))
        world.rate.step()
        print(f"{loss.item():.6f} {world.rate.get_lr():.4f} {world.rate()} {world.rate.last_epoch}")
        return loss, told, world.rate.last_lr, world.adam.get_lr()

    return f


@train_step()
def goes_on_before_the_step(world):
    def f(x):
        world.rate.step()
        loss = world.loss(x)
        world.rate.step()
        return world.learn(loss)

    return f


@train_step(3)
def goes_on_now_and_then(world):
    def f(x):
        loss = world.learn(world.loss(x))
        world.n += 1
        if world.n % 4 == 0:
            world.rate.step()
        return loss

    return f


class Falling(LRScheduler):
    def get_lr(self):
        return self.base_lr / (1 + self.last_epoch)


@train_step()
def a_schedule_of_ones_own(world):
    rate = Falling(0.1)
    world.adam = SGD(rate, parameters=world.net.parameters())

    def f(x):
        told = world.adam.get_lr()
        loss = world.learn(world.loss(x))
        rate.step()
        return loss, told

    return f


@train_step()
def a_rate_that_watches_losses(world):
    rate = d2s.optimizer.lr.ReduceOnPlateau(0.1, patience=2)
    world.adam = SGD(rate, parameters=world.net.parameters())

    def f(x):
        loss = world.learn(world.loss(x))
        rate.step(loss)
        return loss, rate.best if world.n else None

    return f


@train_step()
def sets_the_rate(world):
    world.adam = Adam(0.1, parameters=world.net.parameters())

    def f(x, i):
        world.adam.set_lr(0.1 * min(1.0, (i + 1) / 10))
        loss = world.learn(world.loss(x))
        return loss, world.adam.get_lr()

    return f


@train_step(5)
def sets_the_rate_at_times(world):
    world.adam = Adam(0.1, parameters=world.net.parameters())

    def f(x, i):
        if i == 5:
            world.adam.set_lr(0.01)
        if i in (8, 12):
            world.adam.set_lr(world.adam.get_lr() * 0.5)
        return world.learn(world.loss(x)), world.adam.get_lr()

    return f


def scheduled(make):
    def made(world):
        rate = make(d2s.optimizer.lr)
        sgd = SGD(rate, parameters=world.net.parameters())

        def f(x):
            loss = world.loss(x)
            loss.backward()
            sgd.step()
            sgd.clear_grad()
            rate.step()
            return loss, sgd.get_lr(), rate.get_lr(), rate.last_lr

        return f

    return made


SCHEDULES = {
    "a_cycle": lambda lr: lr.OneCycleLR(0.5, 40),
    "cycles": lambda lr: lr.CyclicLR(0.1, 0.5, 5),
    "a_warm_up": lambda lr: lr.LinearWarmup(lr.StepDecay(0.1, 3), 5, 0.0, 0.1, verbose=True),
    "warm_restarts": lambda lr: lr.CosineAnnealingWarmRestarts(0.1, 3),
    "a_function_of_epochs": lambda lr: lr.LambdaDecay(0.1, lambda epoch: 0.9**epoch),
    "a_function_that_multiplies": lambda lr: lr.MultiplicativeDecay(0.1, lambda epoch: 0.95),
    "noam": lambda lr: lr.NoamDecay(10, 5),
    "pieces": lambda lr: lr.PiecewiseDecay([3, 6], [0.1, 0.2, 0.3]),
    "a_polynomial": lambda lr: lr.PolynomialDecay(0.1, 10),
}
STEPS.update({name: Made(scheduled(make), 2, lambda world: None) for name, make in SCHEDULES.items()})
