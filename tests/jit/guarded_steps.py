"""Train steps in managers and around what may be raised: rows of the corpus of `train_steps.py`."""

import contextlib

from train_steps import STEPS, train_step

import d2s

BEFORE = set(STEPS)


class Counting:
    """A manager of the user's that notes how often it was entered and left."""

    def __init__(self, world):
        self.world = world

    def __enter__(self):
        self.world.n += 1
        return self

    def __exit__(self, kind, error, trace):
        self.world.bad += kind is None


@contextlib.contextmanager
def without_gradients_behind(optimizer):
    try:
        yield optimizer
    finally:
        optimizer.clear_grad()


@train_step()
def in_a_manager(world):
    def f(x):
        with Counting(world):
            return world.learn(world.loss(x))

    return f


@train_step()
def managers_in_trips(world):
    def f(x):
        with Counting(world):
            for _ in range(2):
                with Counting(world) as inner:
                    loss = inner.world.learn(world.loss(x))
        return loss

    return f


@train_step()
def in_a_generator_that_cleans_up(world):
    def f(x):
        with without_gradients_behind(world.adam) as adam:
            loss = world.loss(x)
            loss.backward()
            adam.step()
        return loss

    return f


@train_step()
def cleans_up_at_last(world):
    def f(x):
        try:
            loss = world.loss(x)
            loss.backward()
            world.adam.step()
        finally:
            world.adam.clear_grad()
        return loss

    return f


@train_step()
def catches_what_is_never_raised(world):
    def f(x):
        with contextlib.suppress(ValueError), d2s.enable_grad():
            try:
                loss = world.learn(world.loss(x))
            except RuntimeError:
                return None
        return loss

    return f


@train_step(4)
def raises_before_its_step(world):
    def f(x):
        try:
            loss = world.loss(x)
            if not d2s.isfinite(loss):
                raise ValueError("no number")
            loss.backward()
            world.adam.step()
        except ValueError as error:
            return str(error)
        finally:
            world.adam.clear_grad()
        return loss

    return f


@train_step(3)
def asks_in_a_manager(world):
    def f(x):
        with Counting(world):
            loss = world.loss(x)
            loss.backward()
            if d2s.isfinite(loss):
                world.adam.step()
            world.adam.clear_grad()
        return loss

    return f


@train_step(4)
def gathers_in_a_manager(world):
    def f(x, n):
        with Counting(world):
            world.loss(x).backward()
            if n % 3 == 2 or world.n == 20:
                world.adam.step()
                world.adam.clear_grad()

    return f


@train_step()
def catches_a_second_sweep(world):
    def f(x):
        loss = world.loss(x)
        try:
            loss.backward()
            loss.backward()
        except d2s.errors.GradientError as error:
            world.adam.step()
            world.adam.clear_grad()
            return error.code
        return loss

    return f


@train_step()
def rests_in_a_manager(world):
    def f(x):
        with Counting(world):
            world.net[0].bias.stop_gradient = True
            loss = world.learn(world.loss(x))
            world.net[0].bias.stop_gradient = False
        return loss

    return f


@train_step()
def sets_values_in_a_manager(world):
    def f(x):
        with Counting(world):
            first = world.loss(x)
            world.net[0].weight.set_value(world.net[0].weight * 0.5)
            return world.learn(first.detach() + world.loss(x))

    return f


GUARDED = tuple(name for name in STEPS if name not in BEFORE)
