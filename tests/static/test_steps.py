"""Steps of optimizers inside the native call of a run: the parameters, the state and the bits of a loop of eager code."""

import numpy as np
import pytest

import d2s
from d2s import nn, optimizer, static
from d2s.compat.old_rules import LarsMomentum
from d2s.nn.clip import ClipGradBase

F = nn.functional


class Halving(ClipGradBase):
    """A limit in words of its own."""

    def _dygraph_clip(self, params_grads):
        return [(p, g * 0.5) for p, g in params_grads]


def trained_eagerly(make, xs, loss_of):
    d2s.seed(4)
    with d2s.utils.unique_name.guard():
        layer = nn.Linear(3, 2)
    opt = make(layer.parameters())
    for x in xs:
        loss_of(layer, d2s.to_tensor(x)).backward()
        opt.step()
        opt.clear_grad()
    return [p.numpy() for p in layer.parameters()], opt.state_dict()


def declared_program(make, main, startup, loss_of):
    x = static.data("x", [None, 3])
    startup.random_seed = 4
    layer = nn.Linear(3, 2)
    loss = loss_of(layer, x)
    opt = make(None)
    opt.minimize(loss)
    static.Executor().run(startup)
    return layer, opt, loss


def now(layer):
    return [np.array(static.global_scope().find_var(p.name).get_tensor()) for p in layer.parameters()]


def loss_of(layer, x):
    return (layer(x) ** 2).mean()


XS = [np.random.RandomState(k).rand(2 + k % 2, 3).astype("float32") * (k + 1) for k in range(6)]
MAKES = {
    "a rate of a schedule, one norm": lambda ps: optimizer.AdamW(
        optimizer.lr.StepDecay(0.1, 2), parameters=ps, weight_decay=0.1, grad_clip=nn.ClipGradByGlobalNorm(0.5)
    ),
    "a norm each, L1Decay": lambda ps: optimizer.Momentum(
        0.1, parameters=ps, weight_decay=d2s.regularizer.L1Decay(0.1), grad_clip=nn.ClipGradByNorm(0.5)
    ),
    "values": lambda ps: optimizer.SGD(0.1, parameters=ps, grad_clip=nn.ClipGradByValue(0.1)),
    "lengths of parameters": lambda ps: optimizer.Lamb(0.1, parameters=ps, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "lengths of gradients": lambda ps: LarsMomentum(0.1, 0.9, lars_coeff=0.1, parameters=ps),
    "a limit of one's own": lambda ps: optimizer.SGD(0.1, parameters=ps, grad_clip=Halving()),
}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_parameters_and_state_are_those_of_eager_code(declared, make):
    d2s.disable_static()
    wanted, state = trained_eagerly(make, XS, loss_of)
    d2s.enable_static()
    main, _ = declared
    layer, _opt, loss = declared_program(make, *declared, loss_of)
    for x in XS:
        static.Executor().run(main, feed={"x": x}, fetch_list=[loss])
    assert all(np.array_equal(a, b) for a, b in zip(now(layer), wanted, strict=True))
    found = main.state_dict("opt")
    assert found.keys() == state.keys()
    assert all(np.array_equal(found[k].numpy(), v.numpy()) for k, v in state.items() if isinstance(v, d2s.Tensor))


@pytest.mark.parametrize("name, updates", [("values", 2), ("lengths of parameters", 4)])
def test_a_run_is_one_native_call_with_its_updates(declared, name, updates):
    main, _ = declared
    _layer, _, loss = declared_program(MAKES[name], *declared, loss_of)
    static.Executor().run(main, feed={"x": XS[0]}, fetch_list=[loss])
    (compiled,) = main.compiled.values()
    (segment,) = compiled.segments
    assert sum(node.op == "update" for node in segment.call.program.nodes) == updates
    assert compiled.steps == []


def test_a_path_without_a_gradient_takes_no_step_before_it_had_one(declared):
    def branching(layer, x):
        y = x.sum()
        return static.nn.cond(y > 10.0, lambda: (layer(x) ** 2).mean(), lambda: y * 1.0)

    def make(ps):
        return optimizer.Momentum(0.1, parameters=ps, grad_clip=nn.ClipGradByGlobalNorm(0.5))

    xs = [np.full((2, 3), v, "float32") for v in (1, 3, 1, 1, 3)]
    main, _ = declared
    layer, _, _ = declared_program(make, *declared, branching)
    begun, found = now(layer), []
    for x in xs:
        static.Executor().run(main, feed={"x": x})
        found.append(now(layer))
    d2s.disable_static()
    wanted, _ = trained_eagerly(make, xs[1:], lambda layer, x: (layer(x) ** 2).mean() * float(x.numpy().sum() > 10))
    assert np.array_equal(found[0][0], begun[0])  # no gradient so far
    assert all(np.array_equal(a, b) for a, b in zip(found[-1], wanted, strict=True))  # momentum goes on with gradients of 0
    d2s.enable_static()


def test_two_losses_take_steps_one_after_the_other(declared):
    main, startup = declared
    x = static.data("x", [None, 2])
    y = static.nn.fc(x, 1, weight_attr=nn.initializer.Constant(1.0), bias_attr=False)
    sgd = optimizer.SGD(0.5)
    sgd.minimize(y.sum())
    optimizer.Adam(0.5).minimize(y.mean() * 2.0)
    exe = static.Executor()
    exe.run(startup)
    before, after = (exe.run(main, feed={"x": np.ones((2, 2), "float32")}, fetch_list=[y, "fc_0.w_0"]) for _ in range(2))
    assert before[0].tolist() == [[2.0], [2.0]]
    assert np.allclose(before[1], -0.5)
    assert np.allclose(after[0], -1.0)


def test_what_a_user_changes_between_runs_counts(declared):
    main, _ = declared
    layer, opt, loss = declared_program(lambda ps: optimizer.SGD(0.1, parameters=ps), *declared, loss_of)
    exe, feed = static.Executor(), {"x": XS[0]}
    exe.run(main, feed=feed)
    first = now(layer)
    opt.set_lr(0.0)
    exe.run(main, feed=feed)
    assert all(np.array_equal(a, b) for a, b in zip(now(layer), first, strict=True))
    opt.set_lr(0.1)
    layer.weight.stop_gradient = True
    exe.run(main, feed=feed, fetch_list=[loss])
    assert np.array_equal(now(layer)[0], first[0])
    assert not np.array_equal(now(layer)[1], first[1])
