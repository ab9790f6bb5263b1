"""Whole train steps in one captured function - forward, backward, update - are eager ones bit for bit, and one plan."""

import contextlib

import numpy as np
import pytest
from test_training_of_networks import Block, Branching, Dropping, LeNet, Recurrent, Residual

import d2s
import d2s.nn.functional as F
from d2s import nn, unique_name
from d2s.compat.old_rules import LarsMomentum
from d2s.nn.clip import ClipGradBase
from d2s.optimizer import SGD, Adam, AdamW, Lamb, Momentum
from d2s.optimizer.lr import ExponentialDecay, StepDecay

STEPS = 100


def trained(kind, static, to_zero):
    """The losses of all steps, and what network and optimizer hold in the end."""
    d2s.seed(11)
    with unique_name.guard():
        net = kind()
    net.train()
    rate = ExponentialDecay(0.01, 0.99)
    clip = nn.ClipGradByGlobalNorm(1.0)
    optimizer = Adam(rate, parameters=net.parameters(), grad_clip=clip, weight_decay=0.001)

    def step(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad(to_zero)
        return loss

    made = d2s.to_static(step) if static else step
    rng, losses = np.random.default_rng(3), []
    for _ in range(STEPS):
        x, y = d2s.to_tensor(rng.normal(size=(4, 64)), "float32"), d2s.to_tensor(rng.integers(0, 3, 4))
        losses.append(made(x, y).item())
        rate.step()
    if static:
        assert len(made.recompiles()) == to_zero  # gradients that are there from the second call on; no rate counts
    held = net.state_dict() | optimizer.state_dict()
    return losses, {name: value.numpy() if isinstance(value, d2s.Tensor) else value for name, value in held.items()}


@pytest.mark.parametrize("kind", [LeNet, Dropping, Recurrent, Residual, Block, Branching], ids=lambda k: k.__name__)
def test_whole_steps_are_eager_steps(kind):
    to_zero = kind in (LeNet, Branching)
    (losses, state), (static_losses, static_state) = (trained(kind, static, to_zero) for static in (False, True))
    assert static_losses == losses
    assert static_state.keys() == state.keys()
    for name, value in state.items():
        np.testing.assert_array_equal(static_state[name], value, err_msg=name)
    assert losses[-1] != losses[0]


# --- smaller functions: each is built anew, eagerly and static, and called with the same arguments


class Small:
    """A network, its optimizer, and a function that trains it."""

    def __init__(self, optimizer=lambda p: Adam(0.1, parameters=p)):
        d2s.seed(5)
        with unique_name.guard():
            self.net, self.other = nn.Linear(3, 2), nn.Linear(3, 2)
        self.optimizer = optimizer([*self.net.parameters(), *self.other.parameters()])

    def loss(self, x):
        return (self.net(x) ** 2).mean()

    def held(self):
        parameters = [*self.net.parameters(), *self.other.parameters()]
        grads = [None if p.grad is None else p.grad.tolist() for p in parameters]
        kept = [(k, v.tolist() if isinstance(v, d2s.Tensor) else v) for k, v in self.optimizer.state_dict().items()]
        return [p.tolist() for p in parameters], grads, kept


def inputs(count=4, wanting=False):
    rng = np.random.default_rng(0)
    return [d2s.to_tensor(rng.normal(size=(4, 3)), "float32", stop_gradient=not wanting) for _ in range(count)]


def outcomes(make, static, calls, optimizer, **config):
    small = Small(*optimizer)
    function = make(small)
    function = d2s.to_static(function) if static else function
    found = []
    with d2s.config(**config):
        for args in calls():
            try:
                results = function(*args)
            except (ValueError, d2s.errors.GradientError) as error:
                results = (str(error).splitlines()[0],)
            results = results if isinstance(results, tuple) else (results,)
            grads = [None if a.grad is None else a.grad.tolist() for a in args if isinstance(a, d2s.Tensor)]
            told = [r.tolist() if isinstance(r, d2s.Tensor) else r for r in results]
            found.append((told, grads, small.held()))
    return found


def same(make, calls=lambda: [(x,) for x in inputs()], *optimizer, **config):
    """Static calls leave what eager calls leave, each of them."""
    expected, got = (outcomes(make, static, calls, optimizer, **config) for static in (False, True))
    for n, (one, other) in enumerate(zip(expected, got, strict=True)):
        assert repr(one) == repr(other), f"call {n}"
    return expected


def plain(small):
    def f(x):
        loss = small.loss(x)
        loss.backward()
        small.optimizer.step()
        small.optimizer.clear_grad()
        return loss

    return f


class Halved(ClipGradBase):
    """A limit in the user's own words."""

    def __init__(self, most):
        self.most = most

    def _dygraph_clip(self, params_grads):
        limited = []
        for p, g in params_grads:
            if getattr(p, "need_clip", True):
                g = g * 0.5 if g.abs().max() > self.most else g * 1.0
            limited.append((p, g))
        return limited


RULES = {
    "limited by the user's": lambda p: Adam(0.1, parameters=p, grad_clip=Halved(0.2), weight_decay=0.01),
    "sgd": lambda p: SGD(0.1, parameters=p, weight_decay=0.01, grad_clip=nn.ClipGradByNorm(0.3)),
    "momentum": lambda p: Momentum(0.1, parameters=p, use_nesterov=True, grad_clip=nn.ClipGradByValue(0.05)),
    "adamw": lambda p: AdamW(StepDecay(0.1, 2), parameters=p, weight_decay=0.1, grad_clip=nn.ClipGradByNorm(9.0)),
    "groups": lambda p: Adam(0.1, parameters=[{"params": p[:1], "learning_rate": 0.5}, {"params": p[1:], "weight_decay": 0.1}]),
    "lamb": lambda p: Lamb(StepDecay(0.1, 2), parameters=p, exclude_from_weight_decay_fn=lambda q: q.ndim == 1),
    "lamb limited": lambda p: Lamb(0.1, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.1), always_adapt=True),
    "lars": lambda p: LarsMomentum(0.1, 0.9, lars_coeff=0.1, parameters=p, grad_clip=nn.ClipGradByNorm(0.3)),
}


@pytest.mark.parametrize("rule", RULES)
def test_optimizers(rule):
    same(plain, lambda: [(x,) for x in inputs()], RULES[rule])


def twice(small):
    def f(x):
        for _ in range(2):
            loss = small.loss(x)
            loss.backward()
            small.optimizer.step()
            small.optimizer.clear_grad()
        return loss

    return f


@pytest.mark.parametrize("rule", ["lamb", "lars"])
def test_steps_of_the_length_of_tensors(rule):
    same(on_a_path, lambda: [(x,) for x in inputs(6)], RULES[rule])
    same(twice, lambda: [(x,) for x in inputs()], RULES[rule])


@pytest.mark.parametrize("config", [{"EXECUTOR": "interpreter"}, {"CHECK": "2"}], ids=str)
def test_interpreter(config):
    same(plain, **config)
    same(on_a_path, **config)


def on_a_path(small):
    def f(x):
        y = small.net(x) if x.sum() > 0 else small.other(x)
        loss = (y**2).mean()
        loss.backward()
        small.optimizer.step()
        small.optimizer.clear_grad(False)
        return loss

    return f


def test_a_path_without_a_gradient_leaves_parameter_and_state():
    found = same(on_a_path, lambda: [(x,) for x in inputs(6)])
    assert len(found[0][2][2]) == 8 < len(found[-1][2][2])  # state begins with the first step


def test_gradients_are_gathered_over_calls():
    def make(small):
        def f(x, last):
            small.loss(x).backward()
            if last:
                small.optimizer.step()
                small.optimizer.clear_grad()

        return f

    same(make, lambda: [(x, n % 2 == 1) for n, x in enumerate(inputs(6))])


def test_several_steps_in_a_call():
    def make(small):
        def f(x):
            for _ in range(2):
                loss = small.loss(x)
                loss.backward()
                small.optimizer.step()
                small.optimizer.clear_grad()
            return loss, small.net.weight * 2, small.net(x)

        return f

    same(make, CHECK="2")


def test_what_was_read_before_a_step_stays():
    def make(small):
        def f(x):
            old = small.net.weight * 1.0
            kept = small.net.weight.detach() * 1.0
            small.optimizer.clear_grad()
            (small.loss(x) + (small.other(x) ** 2).sum()).backward()
            small.optimizer.step()
            return small.net.weight - old, kept, small.net.weight.grad * 2

        return f

    same(make, CHECK="2")


def test_through_a_loop():
    def make(small):
        def f(x):
            h = small.net(x)
            while (h * h).sum() < 9:
                h = h * 1.5 + small.net.bias
            loss = (h**2).mean()
            loss.backward(retain_graph=True)
            loss.backward()
            small.optimizer.step()
            return loss

        return f

    same(make)


def doubled(h, n):
    while n > 0:
        h, n = h * h.tanh(), n - 1
    return h


def chosen(h, n):
    return h * h.tanh() if n > 0 else h


@pytest.mark.parametrize("through", [doubled, chosen])
def test_two_sweeps_through_one_region(through):
    def make(small):
        def f(x, n):
            loss = (through(small.net(x), n) ** 2).mean()
            loss.backward(retain_graph=True)
            loss.backward()
            small.optimizer.step()
            return loss

        return f

    same(make, lambda: [(x, d2s.to_tensor(n)) for n, x in enumerate(inputs(3))], CHECK="2")


def test_two_optimizers_and_detach():
    def make(small):
        second = SGD(0.1, parameters=small.other.parameters())

        def f(x):
            first = ((small.net(x) - small.other(x).detach()) ** 2).mean()
            first.backward()
            small.optimizer.step()
            small.optimizer.clear_grad()
            with d2s.no_grad():
                target = small.net(x)
            ((target - small.other(x)) ** 2).mean().backward()
            second.step()
            second.clear_grad()
            return first

        return f

    same(make)


def test_gradients_of_arguments():
    def make(small):
        def f(x):
            y = (small.net(x).tanh() ** 2).sum()
            (g,) = d2s.grad(y, x, create_graph=True)
            loss = y + ((g * g).sum() - 1) ** 2
            loss.backward()
            small.optimizer.step()
            small.optimizer.clear_grad()
            return loss, g, x.grad * 1.0

        return f

    same(make, lambda: [(x,) for x in inputs(3, wanting=True) for _ in range(2)])


def test_steps_by_hand():
    def make(small):
        def f(x):
            small.loss(x).backward()
            for p in small.net.parameters():
                p.set_value(p - 0.1 * p.grad)
                p.grad = None
            with d2s.no_grad():
                small.net.bias.add_(d2s.ones([2]))
            return [p.stop_gradient for p in small.net.parameters()]

        return f

    same(make)


def test_a_loss_from_before_a_step_that_its_gradient_needs():
    def make(small):
        def f(x):
            y = small.loss(x)
            small.loss(x).backward(retain_graph=True)
            small.optimizer.step()
            (y * 2).backward()

        return f

    found = same(make, lambda: [(x,) for x in inputs(2, wanting=True)])
    assert "changed in place" in found[0][0][0]


def test_towards_nothing_through_what_was_freed():
    def make(small):
        def f(x):
            loss = small.loss(x)
            loss.backward()
            return d2s.grad([loss], [small.other.weight], allow_unused=True)

        return f

    found = same(make)
    assert "a second time" in found[0][0][0]


@pytest.mark.parametrize("swept_inside", [True, False])
def test_what_a_gradient_needs_and_a_with_has_changed_in_place(swept_inside):
    def make(small):
        def f(x):
            z = x * 1.0
            with contextlib.suppress(ValueError):
                y = z * small.net.weight.sum()
                z.add_(x)
                if swept_inside:
                    y.mean().backward()
            if not swept_inside:
                y.mean().backward()
            small.optimizer.step()

        return f

    assert "changed in place" in same(make)[0][0][0]


def test_what_is_changed_in_place_on_some_paths_of_a_try():
    def make(small):
        def f(x):
            z = x * 1.0
            try:
                y = z * small.net.weight.sum()
                if x.sum() > 0:
                    raise ValueError("too much")
                z.add_(x)
            except ValueError:
                y = y * 2.0
            return y

        def swept(x):
            y = call(x)
            y.mean().backward()
            return y

        call = d2s.to_static(f) if make.static else f
        return swept

    found = []
    for make.static in (False, True):
        found.append(outcomes(make, False, lambda: [(x,) for x in inputs(6)], ()))
    assert repr(found[0]) == repr(found[1])
    assert {"changed in place" in str(results) for results, _, _ in found[0]} == {True, False}


def test_schedules_go_on_behind_the_step():
    def make(small):
        rate = StepDecay(0.1, 2)
        sgd = SGD(rate, parameters=small.net.parameters())

        def f(x):
            small.loss(x).backward()
            told = sgd.get_lr()
            sgd.minimize(None)
            small.net.clear_gradients()
            rate.step()
            return told * 2

        return f

    same(make, lambda: [(x,) for x in inputs(6)])


def test_a_step_before_a_raise_is_made():
    def make(small):
        def f(x):
            loss = small.loss(x)
            loss.backward()
            small.optimizer.step()
            if loss > 0.1:
                raise ValueError("too much")
            return loss

        return f

    same(make)


@pytest.mark.parametrize("returned", ["what is watched", "what was made of it"])
def test_hooks_registered_inside_are_called_by_later_sweeps(returned):
    found = []
    for wrap in (lambda f: f, d2s.to_static):
        small, seen = Small(), []

        def f(x, small=small, seen=seen):
            y = small.net(x)
            y.register_hook(lambda g: seen.append(g.sum().item()))
            return y if returned == "what is watched" else (y**2).mean()

        static = wrap(f)
        for x in inputs(4):
            static(x).sum().backward()
        found.append((seen, small.held()))
        assert len(seen) == 4
    assert repr(found[0]) == repr(found[1])


def test_a_tensor_that_is_watched_is_freed_with_the_others():
    def make(small):
        def f(x):
            y = small.net(x)
            y.retain_grads()
            y.mean().backward()
            y.sum().backward()

        return f

    assert "a second time" in same(make)[0][0][0]


@pytest.mark.parametrize("again", [False, True])
def test_gradients_to_what_rests_since(again):
    def make(small):
        def f(x):
            loss = small.loss(x)
            x.stop_gradient = small.net.weight.stop_gradient = True
            later = small.loss(x * 2.0) + loss
            if again:
                x.stop_gradient = False
            return tuple(d2s.grad([later], [x, small.net.weight], allow_unused=True))

        return f

    found = same(make, lambda: [(x,) for x in inputs(wanting=True)])
    assert all(g is not None for g in found[0][0])


def test_freed_graphs():
    def make(small):
        def f(x):
            loss = small.loss(x)
            loss.backward()
            if x.shape[0] == 4:
                loss.backward()

        return f

    assert "a second time" in same(make)[0][0][0]

    def returned(small):
        def f(x):
            loss = small.loss(x)
            loss.backward()
            return loss

        return f

    for static in (False, True):
        loss = (d2s.to_static if static else lambda f: f)(returned(Small()))(inputs()[0])
        with pytest.raises(d2s.errors.GradientError, match="a second time"):
            loss.backward()


def in_an_if_behind_a_step(small):
    def f(x):
        for batch in (x, x * 2):
            loss = small.loss(batch)
            if loss > 0:
                loss.backward()
                small.optimizer.step()

    return f


def of_another_kind(small):
    class InOwnWords(SGD):
        def _change(self, slot, group, gradient, rate, limit):
            slot.parameter.array[...] = 0

    own = InOwnWords(0.1, parameters=small.net.parameters())

    def f(x):
        small.loss(x).backward()
        own.step()

    return f


def behind_a_store_to_the_optimizer(small):
    sgd = SGD(0.1, parameters=small.net.parameters())

    def f(x):
        small.loss(x).backward()
        sgd.regularization = None
        sgd.step()

    return f


def raising_behind_a_step(small):
    def f(x):
        try:
            loss = small.loss(x)
            loss.backward()
            small.optimizer.step()
            if loss > 0.1:
                raise ValueError("too much")
        except ValueError:
            small.optimizer.clear_grad()

    return f


def with_hooks_that_tell_in_the_order_of_a_run(small):
    for p in small.net.parameters():
        p.register_hook(lambda g: print(g.shape))

    def f(x):
        y = small.net(x) if x.sum() > 0 else small.net(x * 2.0)
        y.mean().backward()

    return f


def with_a_hook_of_what_was_computed_outside(small):
    y = small.net.weight * 2.0
    y.register_hook(lambda g: g * 2.0)

    def f(x):
        return d2s.grad((x @ y).sum(), [y])

    return f


def with_a_hook_inside_that_gives_another_gradient(small):
    def f(x):
        y = small.net(x)
        y.register_hook(lambda g: g * 2.0)
        y.mean().backward()

    return f


def with_a_hook_of_a_parameter_registered_inside(small):
    def f(x):
        small.net.weight.register_hook(lambda g: g * 2.0)
        small.loss(x).backward()

    return f


def of_one_tensor_by_the_path(small):
    def f(x):
        kept = small.net.weight if x.sum() > 0 else small.other.weight
        small.loss(x).backward()
        small.optimizer.step()
        return kept * 1.0

    return f


def limited_in_its_own_words_on_a_path(small):
    small.optimizer = SGD(0.1, parameters=[*small.net.parameters(), *small.other.parameters()], grad_clip=Halved(0.2))
    return on_a_path(small)


REFUSED = (
    in_an_if_behind_a_step,
    limited_in_its_own_words_on_a_path,
    of_another_kind,
    behind_a_store_to_the_optimizer,
    raising_behind_a_step,
    with_hooks_that_tell_in_the_order_of_a_run,
    with_a_hook_of_what_was_computed_outside,
    with_a_hook_inside_that_gives_another_gradient,
    with_a_hook_of_a_parameter_registered_inside,
    of_one_tensor_by_the_path,
)


@pytest.mark.parametrize("make", REFUSED)
def test_refused(make):
    with pytest.raises(d2s.errors.CaptureError) as error:
        d2s.to_static(make(Small()))(inputs()[0])
    assert error.value.code == "D2S1003"


def test_one_plan():
    small = Small()
    f = d2s.to_static(plain(small))
    x = inputs()[0]
    text = f.plan(x)
    assert text.count("plan ") == 1 and text.count("update") == 2
    assert [node.op for node in f.program(x).nodes].count("update") == 2


def test_a_state_that_is_loaded_is_used():
    def make(small):
        f, saved = plain(small), {}

        def run(x, act):
            if act == "save":
                saved.update({k: d2s.to_tensor(v.numpy()) for k, v in small.optimizer.state_dict().items()})
            if act == "load":
                small.optimizer.set_state_dict(saved)
            return static[0](x)

        static = [d2s.to_static(f) if make.static else f]
        return run

    found = []
    for make.static in (False, True):
        calls = [(x, act) for x, act in zip(inputs(4), ("", "save", "", "load"), strict=True)]
        found.append(outcomes(make, False, lambda calls=calls: calls, ()))
    assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("wants", [True, False])
def test_what_rests_and_then_wants_a_gradient_again_has_its_history(wants):
    found = []
    for static in (False, True):
        net = d2s.nn.Linear(2, 1)
        net.weight.set_value(d2s.ones([2, 1]))
        net.weight.stop_gradient = not wants

        def f(x, w=net.weight):
            w.stop_gradient = not w.stop_gradient
            rested = w * 3.0
            w.stop_gradient = not w.stop_gradient
            return rested, (w * x).sum()

        called = d2s.to_static(f) if static else f
        for k in range(3):
            rested, result = called(d2s.to_tensor([[float(k)], [2.0]]))
            for one in (rested, result):
                if not one.stop_gradient:
                    one.sum().backward()
            grad = net.weight.grad
            found.append((static, rested.stop_gradient, result.stop_gradient, None if grad is None else grad.tolist()))
    assert [one[1:] for one in found[:3]] == [one[1:] for one in found[3:]]
    assert found[0][2] is not wants
