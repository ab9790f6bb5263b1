"""Train steps with hooks of parameters and arguments: rows of the corpus of `train_steps.py`."""

from train_steps import STEPS, train_step

import d2s

BEFORE = set(STEPS)


def learning(world):
    return lambda x: world.learn(world.loss(x))


@train_step()
def limits_each_gradient(world):
    for p in world.net.parameters():
        p.register_hook(lambda g: g.clip(-0.01, 0.01))
    return learning(world)


@train_step()
def several_hooks_of_one(world):
    weight, bias = world.net.parameters()[:2]
    for hook in (lambda g: g * 0.5, lambda g: None, lambda g: g + 0.25, lambda g: world.history.append(g.sum().item())):
        weight.register_hook(hook)
    bias.register_hook(lambda g: d2s.zeros(g.shape) + world.net[2].bias.mean())
    return learning(world)


@train_step()
def hooks_that_change_what_they_are_given(world):
    weight, bias = world.net.parameters()[:2]

    def limited(g):
        g.clip_(-0.01, 0.01)
        return g

    def zeroed(g):
        g.zero_()

    weight.register_hook(limited)
    bias.register_hook(zeroed)
    return learning(world)


@train_step()
def limits_by_the_run(world):
    def limited(g):
        if g.norm() > 0.1:
            return g * (0.1 / g.norm())
        return None

    for p in world.net.parameters():
        p.register_hook(limited)
    return learning(world)


@train_step()
def tells_of_gradients_in_order(world):
    names = [name for name, _ in world.net.named_parameters()]

    def told(name):
        return lambda g: print(name, float(g.abs().max()))

    for name, p in zip(names, world.net.parameters(), strict=True):
        p.register_hook(told(name))
    return learning(world)


@train_step()
def draws_in_hooks(world):
    for p in world.net.parameters():
        p.register_hook(lambda g: g + d2s.randn(g.shape) * 0.01)
    return learning(world)


@train_step()
def keeps_what_a_hook_sees(world):
    def keep(g):
        world.averages[0] = g
        return g

    world.net.parameters()[0].register_hook(keep)
    return learning(world)


@train_step()
def hooks_by_the_path(world):
    """The critic has a gradient on some paths only: its hook runs there only."""
    for p in world.critic.parameters():
        p.register_hook(lambda g: g * 0.0 + 1.0)

    def f(x):
        y = world.net(x)
        loss = (y**2).mean()
        if x.sum() > 0:
            loss = loss + world.critic(y).mean()
        world.learn(loss)
        world.sgd.step()
        world.sgd.clear_grad()
        return loss

    return f


@train_step(3)
def gathers_what_hooks_give(world):
    world.net[0].weight.register_hook(lambda g: g.sign())

    def f(x, n):
        world.loss(x).backward()
        if n % 3 == 2:
            world.adam.step()
            world.adam.clear_grad()
        return world.net[0].weight.grad

    return f


@train_step()
def two_sweeps_with_hooks(world):
    world.net[0].weight.register_hook(lambda g: g + 1.0)

    def f(x):
        loss = world.loss(x)
        loss.backward(retain_graph=True)
        (loss * 0.5).backward()
        world.adam.step()
        world.adam.clear_grad()
        return loss

    return f


@train_step()
def gradients_asked_for(world):
    weight = world.net[0].weight
    weight.register_hook(lambda g: g * 3.0)

    def f(x):
        (slope,) = d2s.grad(world.loss(x), [weight])
        with d2s.no_grad():
            weight.set_value(weight - 0.01 * slope)
        return slope

    return f


@train_step()
def a_penalty_of_hooked_gradients(world):
    weight = world.net[0].weight
    weight.register_hook(lambda g: g * weight)

    def f(x):
        (slope,) = d2s.grad(world.loss(x), [weight], create_graph=True)
        return world.learn((slope * slope).mean())

    return f


def ends_hook(world):
    """Behind some calls a hook goes, behind others one comes."""
    world.n += 1
    weight = world.net[0].weight
    if world.n == 5:
        world.handles.append(weight.register_hook(lambda g: g * 100.0))
    if world.n == 9:
        world.handles.pop(0).remove()


@train_step(4, ends_hook)
def hooks_that_come_and_go(world):
    world.handles = [world.net[0].weight.register_hook(lambda g: g * 0.1)]
    return learning(world)


def other_scale(world):
    world.scale *= 0.5 if world.n % 4 == 3 else 1.0
    world.n += 1


@train_step(9, other_scale)
def a_hook_that_reads_what_changes(world):
    world.net[0].weight.register_hook(lambda g: g * world.scale)
    return learning(world)


@train_step()
def watches_what_is_computed(world):
    def f(x):
        h = world.net(x)
        h.register_hook(lambda g: print("h", float(g.abs().max())))
        y = h * 2.0
        loss = (h**2).mean() + y.mean()
        loss.register_hook(lambda g: print("loss", float(g)))
        h.register_hook(lambda g: world.history.append(g))
        y.register_hook(lambda g: print("y", float(g.sum())))
        return world.learn(loss)

    return f


@train_step()
def keeps_gradients_on_the_way(world):
    def f(x):
        h = world.net(x)
        h.retain_grads()
        before = h.grad
        loss = (h**2).mean()
        loss.backward(retain_graph=True)
        first = h.grad
        (loss * 2.0).backward()
        world.adam.step()
        world.adam.clear_grad()
        return before is None, first, h.grad

    return f


@train_step()
def keeps_gradients_by_the_path(world):
    def f(x):
        h = world.critic(world.net(x))
        h.retain_grads()
        h.register_hook(lambda g: print("seen", g.shape))
        loss = world.loss(x)
        if x.sum() > 0:
            loss = loss + h.sum() * 0.1
        world.learn(loss)
        return loss, h.grad

    return f


@train_step()
def clears_what_was_kept(world):
    def f(x):
        h = world.net(x)
        h.retain_grads()
        (h**2).mean().backward()
        h.grad.add_(d2s.ones(h.shape))
        seen = h.grad * 1.0
        h.clear_grad()
        return seen, h.grad

    return f


@train_step()
def keeps_what_it_returns(world):
    """Who is given it may ask for its gradient: eager code makes such calls."""

    def f(x):
        h = world.net(x)
        h.retain_grads()
        (h**2).mean().backward()
        return h, h.grad

    return f


@train_step()
def asks_past_what_is_watched(world):
    def f(x):
        h = world.net(x)
        h.retain_grads()
        h.register_hook(lambda g: print(float(g.sum())))
        (slope,) = d2s.grad((h**2).mean(), [world.net[0].weight])
        return slope, h.grad

    return f


HOOKED = tuple(name for name in STEPS if name not in BEFORE)
