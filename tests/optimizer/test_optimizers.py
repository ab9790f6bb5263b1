"""What optimizers do besides the arithmetic: where they write, what they keep, what they refuse."""

import copy
import pickle

import numpy as np
import pytest

import d2s
from d2s.codegen import threads
from d2s.errors import ArgumentError, D2SError, DTypeError, GradientError, ShapeError
from d2s.optimizer import update

o, nn = d2s.optimizer, d2s.nn
OPTIMIZERS = {
    "SGD": lambda p, **k: o.SGD(0.1, p, **k),
    "Momentum": lambda p, **k: o.Momentum(0.1, 0.9, p, **k),
    "Adam": lambda p, **k: o.Adam(0.1, parameters=p, **k),
    "AdamW": lambda p, **k: o.AdamW(0.1, parameters=p, **k),
    "Adamax": lambda p, **k: o.Adamax(0.1, parameters=p, **k),
    "Adagrad": lambda p, **k: o.Adagrad(0.1, parameters=p, **k),
    "Adadelta": lambda p, **k: o.Adadelta(0.1, parameters=p, **k),
    "RMSProp": lambda p, **k: o.RMSProp(0.1, centered=True, parameters=p, **k),
    "Lamb": lambda p, **k: o.Lamb(0.1, parameters=p, **k),
}
every = pytest.mark.parametrize("name", OPTIMIZERS)


def parameter(values, name=None, **options):
    found = nn.Parameter(np.array(values, options.pop("dtype", "float32")), stop_gradient=False, name=name)
    for key, value in options.items():
        setattr(found, key, value)
    return found


def with_gradient(p, values):
    p.grad = d2s.to_tensor(np.array(values, p.array.dtype))
    return p


@every
def test_a_step_is_in_the_parameters_own_memory(name):
    p = with_gradient(parameter([1.0, 2.0]), [0.5, -0.5])
    memory, view, version = p.array, p.detach(), p.inplace_version
    OPTIMIZERS[name]([p]).step()
    assert p.array is memory
    assert p.inplace_version > version
    assert view.tolist() == p.tolist() != [1.0, 2.0]
    assert p.grad.tolist() == [0.5, -0.5]


@every
def test_bits_depend_on_no_number_of_threads(name):
    def trained(count):
        threads.set_num_threads(count)
        p = parameter(np.random.default_rng(1).standard_normal(100_003))
        optimizer = OPTIMIZERS[name]([p], grad_clip=nn.ClipGradByGlobalNorm(1.0))
        for step in range(3):
            with_gradient(p, np.random.default_rng(step).standard_normal(p.shape))
            optimizer.step()
        return p.numpy().tobytes()

    before = threads.get_num_threads()
    try:
        assert trained(1) == trained(2) == trained(4)
    finally:
        threads.set_num_threads(before)


@every
def test_an_elements_step_depends_on_no_other_element(name):
    if name == "Lamb":
        pytest.skip("Lamb's step has the length of the whole parameter")
    values, slopes = np.random.default_rng(0).standard_normal((2, 1000))
    whole, part = with_gradient(parameter(values), slopes), with_gradient(parameter(values[37:90]), slopes[37:90])
    OPTIMIZERS[name]([whole]).step()
    OPTIMIZERS[name]([part]).step()
    assert whole.numpy()[37:90].tobytes() == part.numpy().tobytes()


@every
def test_float64_is_computed_in_float64(name):
    p = with_gradient(parameter([1.0 + 1e-12], dtype="float64"), [1e-3])
    q = with_gradient(parameter([1.0], dtype="float64"), [1e-3])
    for each in (p, q):
        OPTIMIZERS[name]([each]).step()
    assert p.dtype == "float64"
    assert 0 < abs(p.item() - q.item()) < 1e-11


@every
def test_empty_and_0_d_parameters(name):
    empty, scalar = with_gradient(parameter(np.zeros([0, 3])), np.zeros([0, 3])), with_gradient(parameter(2.0), 1.0)
    OPTIMIZERS[name]([empty, scalar]).step()
    assert empty.shape == [0, 3]
    assert scalar.shape == []
    assert scalar.item() < 2.0


@every
def test_no_kernel_is_compiled_for_another_rate_or_shape(name, monkeypatch):
    p = with_gradient(parameter([1.0, 2.0]), [0.5, -0.5])
    optimizer = OPTIMIZERS[name]([p])
    optimizer.step()
    monkeypatch.setattr(update, "cache", None)  # who asked it for a kernel would fail
    for step in range(5):
        optimizer.set_lr(0.1 / (step + 1))
        optimizer.step()
    OPTIMIZERS[name]([with_gradient(parameter(np.ones([3, 4])), np.ones([3, 4]))]).step()


@every
def test_without_a_gradient_nothing_happens(name):
    p, frozen = parameter([1.0]), with_gradient(parameter([1.0]), [1.0])
    frozen.stop_gradient = True
    optimizer = OPTIMIZERS[name]([p, frozen])
    optimizer.step()
    assert (p.tolist(), frozen.tolist()) == ([1.0], [1.0])
    assert optimizer.state_dict() == {}


@every
def test_copies_and_pickles_go_on_alone(name):
    p = with_gradient(parameter([1.0, 2.0], name="p"), [0.5, -0.5])
    optimizer = OPTIMIZERS[name]([p])
    optimizer.step()
    for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        before = p.tolist()
        twin._parameter_list[0].grad = d2s.to_tensor([1.0, 1.0])
        twin.step()
        assert p.tolist() == before != twin._parameter_list[0].tolist()


def test_other_memory_of_a_parameter_is_noticed():
    p = with_gradient(parameter([1.0]), [1.0])
    sgd = o.SGD(0.5, [p])
    sgd.step()
    layer = nn.Layer()
    layer.w = p
    layer.to(dtype="float64")
    with_gradient(p, [1.0])
    sgd.step()
    assert (p.tolist(), p.dtype) == ([0.0], d2s.float64)


def test_what_is_needed_of_old_values_is_missed():
    p = parameter([2.0])
    loss = (p * p).sum()
    with_gradient(p, [1.0])
    o.SGD(0.5, [p]).step()
    with pytest.raises(GradientError, match="D2S0006"):
        loss.backward()


def test_read_only_memory_is_refused():
    values = np.ones(2, "float32")
    values.flags.writeable = False
    p = with_gradient(nn.Parameter(values, stop_gradient=False), [1.0, 1.0])
    with pytest.raises(ArgumentError, match="read-only"):
        o.SGD(0.5, [p]).step()


def test_nan_and_infinity_stay_where_they_are():
    p = with_gradient(parameter([1.0, 1.0, 1.0, 1.0]), [np.nan, np.inf, -np.inf, 1.0])
    o.SGD(0.5, [p], grad_clip=nn.ClipGradByValue(1.0)).step()
    assert np.isnan(p.numpy()[0])
    assert p.tolist()[1:] == [0.5, 1.5, 0.5]


def test_a_scheduler_says_the_rate():
    p = with_gradient(parameter([1.0]), [1.0])
    scheduler = o.lr.StepDecay(0.5, 1, gamma=0.5)
    sgd = o.SGD(scheduler, [p])
    sgd.step()
    scheduler.step()
    assert sgd.get_lr() == 0.25
    sgd.step()
    assert p.tolist() == [0.25]
    assert sgd.state_dict() == {"LR_Scheduler": {"last_epoch": 1, "last_lr": 0.25}}
    with pytest.raises(ArgumentError, match="scheduler"):
        sgd.set_lr(0.1)


def test_the_ratio_of_a_parameter_multiplies_its_rate():
    def moved(**options):
        p = with_gradient(parameter([1.0], name="p"), [1.0])
        o.AdamW(0.1, parameters=[p], weight_decay=0.0, **options).step()
        return 1.0 - p.item()

    assert moved(lr_ratio=lambda p: 0.5 if p.name == "p" else 1.0) == pytest.approx(moved() / 2, rel=1e-5)


def test_a_group_stands_in_place_of_the_parameters_attributes():
    """As in Paddle: a group that says no rate or decay has the optimizer's, whatever the ParamAttr says."""
    attr = d2s.ParamAttr(learning_rate=0.5, regularizer=d2s.regularizer.L2Decay(0.5))
    for parameters, wanted in ((lambda p: [p], 0.9375), (lambda p: [{"params": p}], 0.95)):
        p = d2s.nn.Layer().create_parameter([1], attr, default_initializer=d2s.nn.initializer.Constant(1.0))
        optimizer = d2s.optimizer.SGD(0.05, parameters(p))
        (p * (2.0 if wanted == 0.9375 else 1.0)).sum().backward()
        optimizer.step()
        assert p.item() == pytest.approx(wanted)


def test_rescaled_gradients():
    p, q = with_gradient(parameter([1.0]), [2.0]), with_gradient(parameter([1.0]), [1.0])
    o.Momentum(0.5, 0.9, [p], rescale_grad=0.5).step()
    o.Momentum(0.5, 0.9, [q]).step()
    assert p.tolist() == q.tolist()


def test_minimize_takes_the_gradients_there_are():
    p = parameter([1.0])
    loss = (p * 2.0).sum()
    loss.backward()
    ops, pairs = o.SGD(0.25, [p]).minimize(loss)
    assert (ops, [(a is p, g.tolist()) for a, g in pairs]) == ([], [(True, [2.0])])
    assert p.tolist() == [0.5]


def test_clear_grad_sets_to_zero_or_takes_away():
    p = with_gradient(parameter([1.0]), [1.0])
    sgd = o.SGD(0.1, [p])
    sgd.clear_grad()
    assert p.grad.tolist() == [0.0]
    sgd.clear_grad(set_to_zero=False)
    assert p.grad is None


def test_a_limit_of_the_users_own():
    class Halving(nn.clip.ClipGradBase):
        def _dygraph_clip(self, params_grads):
            return [(p, g * 0.5) for p, g in params_grads]

    p = with_gradient(parameter([1.0]), [1.0])
    o.SGD(0.5, [p], grad_clip=Halving()).step()
    assert p.tolist() == [0.75]


@pytest.mark.parametrize("clip", [nn.ClipGradByValue(0.5), nn.ClipGradByNorm(0.7), nn.ClipGradByGlobalNorm(0.9)])
def test_a_limit_called_and_a_limit_fused_are_the_same(clip):
    slopes = np.random.default_rng(3).standard_normal((2, 5)).astype("float32")
    called = clip([(parameter(np.zeros(5)), d2s.to_tensor(g)) for g in slopes])
    fused = [with_gradient(parameter(np.zeros(5)), g) for g in slopes]
    o.SGD(1.0, fused, grad_clip=clip).step()
    for (_, g), p in zip(called, fused, strict=True):
        np.testing.assert_array_equal(g.numpy(), -p.numpy())


def test_a_captured_step_in_a_branch_is_taken_where_the_branch_is():
    p = with_gradient(parameter([1.0]), [1.0])
    sgd = o.SGD(0.1, [p])

    def training(x):
        if x > 0:
            sgd.step()
        return x

    static = d2s.to_static(training)
    found = []
    for x in (-1.0, 1.0, -1.0):
        static(d2s.to_tensor([x]))
        found += p.tolist()
    assert found == [1.0, np.float32(0.9), np.float32(0.9)]


def test_static_training_sees_each_step():
    layer, twin = nn.Linear(3, 2), nn.Linear(3, 2)
    twin.set_state_dict(layer.state_dict())
    x = d2s.to_tensor(np.random.default_rng(0).standard_normal([4, 3]).astype("float32"))
    losses = []
    for model, forward in ((layer, layer), (twin, d2s.to_static(lambda x: twin(x)))):
        adam = o.Adam(0.1, parameters=model.parameters())
        for _ in range(5):
            loss = (forward(x) * forward(x)).sum()
            loss.backward()
            adam.step()
            adam.clear_grad()
            losses.append(loss.item())
    assert losses[:5] == losses[5:]
    assert losses[4] < losses[0]


def test_state_is_taken_from_paddles_names():
    p = parameter([1.0, 2.0], name="linear_0.w_0")
    adam = o.Adam(parameters=[p])
    state = {
        "linear_0.w_0_moment1_0": np.array([1.0, 2.0], "float32"),
        "linear_0.w_0_moment2_3": d2s.to_tensor([3.0, 4.0]),
        "linear_0.w_0_beta1_pow_acc_0": np.array([0.5], "float32"),
        "linear_0.w_0_beta2_pow_acc_0": np.float32(0.25),
        "someone_else.w_0_moment1_0": np.zeros(7),
        "master_weights": {},
    }
    adam.set_state_dict(state)
    found = {name: t.tolist() for name, t in adam.state_dict().items()}
    assert found == {
        "linear_0.w_0_moment1_0": [1.0, 2.0],
        "linear_0.w_0_moment2_0": [3.0, 4.0],
        "linear_0.w_0_beta1_pow_acc_0": [0.5],
        "linear_0.w_0_beta2_pow_acc_0": [0.25],
    }


P = [parameter([1.0], name="p")]
REFUSED = {
    "pairs that are none": (lambda: o.SGD(0.1, P).apply_gradients([(3, 4)]), DTypeError, "and its gradient"),
    "no parameters": (lambda: o.Adam(0.1), ArgumentError, "'parameters' is missing"),
    "one parameter": (lambda: o.Adam(0.1, parameters=P[0]), DTypeError, "'parameters'"),
    "a dict of parameters": (lambda: o.Adam(0.1, parameters={"a": P[0]}), DTypeError, "'parameters'"),
    "numbers for parameters": (lambda: o.Adam(0.1, parameters=[1.0]), DTypeError, "'parameters'"),
    "ints to be learnt": (lambda: o.SGD(0.1, [d2s.to_tensor([1])]), DTypeError, "int64"),
    "a decay that is no float": (lambda: o.SGD(0.1, P, weight_decay=10**400), ArgumentError, "'weight_decay'"),
    "a parameter twice": (lambda: o.SGD(0.1, [*P, *P]), ArgumentError, "'p' is listed twice"),
    "a parameter in two groups": (lambda: o.SGD(0.1, [{"params": P}, {"params": P}]), ArgumentError, "listed twice"),
    "two parameters of one name": (lambda: o.SGD(0.1, [*P, parameter([2.0], "p")]), ArgumentError, "the name of a parameter"),
    "a group without params": (lambda: o.SGD(0.1, [{"learning_rate": 1.0}]), ArgumentError, "'params'"),
    "a group and a parameter": (lambda: o.SGD(0.1, [{"params": []}, P[0]]), ArgumentError, "'params'"),
    "a setting no one knows": (lambda: o.SGD(0.1, [{"params": P, "beta1": 0.5}]), ArgumentError, "'beta1'"),
    "a rate that is text": (lambda: o.SGD("0.1", P), DTypeError, "'learning_rate'"),
    "a decay that is text": (lambda: o.SGD(0.1, P, weight_decay="x"), DTypeError, "'weight_decay'"),
    "no decay for AdamW": (lambda: o.AdamW(0.1, parameters=P, weight_decay=None), DTypeError, "'weight_decay'"),
    "a limit that is a number": (lambda: o.SGD(0.1, P, grad_clip=3), DTypeError, "'grad_clip'"),
    "a beta of 1": (lambda: o.Adam(0.1, beta1=1.0, parameters=P), ArgumentError, "'beta1'"),
    "an epsilon below 0": (lambda: o.Adam(0.1, epsilon=-1.0, parameters=P), ArgumentError, "'epsilon'"),
    "no momentum": (lambda: o.Momentum(0.1, momentum=None, parameters=P), ArgumentError, "'momentum'"),
    "a ratio that is a number": (lambda: o.AdamW(0.1, parameters=P, lr_ratio=2.0), DTypeError, "'lr_ratio'"),
    "a rate set to text": (lambda: o.SGD(0.1, P).set_lr("x"), DTypeError, "'value'"),
    "a state that is none": (lambda: o.SGD(0.1, P).set_state_dict(3), DTypeError, "'state_dict'"),
    "half a state": (lambda: o.Adam(parameters=P).set_state_dict({"p_moment1_0": [1.0]}), ArgumentError, "p_moment2_0"),
    "a state of another shape": (
        lambda: o.Momentum(0.1, 0.9, P).set_state_dict({"p_velocity_0": [1.0, 2.0]}),
        ShapeError,
        "[2]",
    ),
    "L-BFGS without a closure": (lambda: o.LBFGS(parameters=P).step(), DTypeError, "'closure'"),
    "L-BFGS with a decay": (lambda: o.LBFGS(parameters=P, weight_decay=0.1), ArgumentError, "'weight_decay'"),
    "L-BFGS with another search": (lambda: o.LBFGS(parameters=P, line_search_fn="x"), ArgumentError, "'line_search_fn'"),
    "a coefficient that is text": (lambda: d2s.regularizer.L2Decay("x"), DTypeError, "'coeff'"),
    "a norm that is text": (lambda: nn.ClipGradByNorm("x"), DTypeError, "'clip_norm'"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    function, error, words = REFUSED[what]
    with pytest.raises(error) as caught:
        function()
    assert isinstance(caught.value, D2SError)
    assert words in str(caught.value)


def test_the_base_is_no_optimizer():
    with pytest.raises(NotImplementedError, match="Adam"):
        o.Optimizer(0.1, P)
