"""What scripts for Paddle write around programs: forms of gradients and steps, names, strategies, layers as calls."""

import numpy as np
import pytest

import d2s
from d2s import nn, static

X = np.arange(6, dtype="float32").reshape(2, 3) / 10


def run(*fetches, feed=None):
    return static.Executor().run(static.default_main_program(), feed=feed or {"x": X}, fetch_list=list(fetches))


def fixed(value):
    return nn.initializer.Constant(value)


def test_gradients_are_found_and_applied_apart(declared):
    x = static.data("x", [None, 3])
    loss = static.nn.fc(x, 1, weight_attr=fixed(0.5)).mean()
    sgd = d2s.optimizer.SGD(0.1)
    pairs = sgd.backward(loss)
    assert [(p.name, g.name) for p, g in pairs] == [("fc_0.w_0", "fc_0.w_0@GRAD"), ("fc_0.b_0", "fc_0.b_0@GRAD")]
    sgd.apply_gradients([(p, g * 2.0) for p, g in pairs])
    static.Executor().run(static.default_startup_program())
    run()
    assert np.allclose(run("fc_0.w_0")[0], np.float32(0.5) - np.float32(0.4) * X.mean(axis=0, keepdims=True).T)


def test_eager_steps_with_gradients_that_are_given():
    p = nn.Parameter(np.ones(2, "float32"), stop_gradient=False)
    (p * 3.0).sum().backward()
    sgd = d2s.optimizer.SGD(0.5, parameters=[p])
    assert [(q is p, g.tolist()) for q, g in sgd.backward(None)] == [(True, [3.0, 3.0])]
    sgd.apply_gradients([(p, d2s.to_tensor([1.0, 2.0]))])
    assert (p.tolist(), p.grad.tolist()) == ([0.5, 0.0], [3.0, 3.0])


def test_a_loss_is_one_number_and_a_loop_asks_a_bool(declared):
    x = static.data("x", [None, 3])
    with pytest.raises(d2s.errors.D2SError, match="expected one number"):
        static.append_backward(static.nn.fc(x, 2))
    with pytest.raises(d2s.errors.DTypeError, match="'cond' returns i64"):
        static.nn.while_loop(lambda i: i, lambda i: [i + 1], [d2s.full([1], 0, "int64")])


def test_gradients_of_one_variable_keep_the_first_name(declared):
    x = static.data("x", [None, 3])
    x.stop_gradient = False
    first, second = (static.gradients([x * x * k], [x])[0] for k in (1.0, 2.0))
    assert first.name == "x@GRAD" != second.name
    assert np.array_equal(run(second)[0], run(first)[0] * 2)


def test_a_tensor_is_assigned_to_by_each_run(declared):
    count = static.create_global_var([1], 2.0, "float32", persistable=True, name="count")
    y = static.data("x", [None, 3]) * count
    d2s.assign(count + 1.0, count)
    static.Executor().run(static.default_startup_program())
    assert [run(y, "count")[1].tolist() for _ in range(2)] == [[3.0], [4.0]]


def test_a_name_that_is_given_begins_those_of_parameters(declared):
    static.nn.fc(static.data("x", [None, 3]), 2, name="head")
    assert [p.name for p in static.default_main_program().all_parameters()] == ["head.w_0", "head.b_0"]


def test_a_variable_for_what_python_returns(declared):
    x = static.data("x", [None, 3])
    out = static.default_main_program().current_block().create_var(name="twice", dtype="float32", shape=[-1, 3])
    assert static.py_func(lambda a: np.array(a) * 2, x, out) is out
    for rows in (2, 1):
        assert np.array_equal(run(out + 1.0, feed={"x": X[:rows]})[0], X[:rows] * 2 + 1)


def test_the_state_of_a_program_is_arrays(declared, tmp_path):
    main, startup = declared
    static.nn.fc(static.data("x", [None, 3]), 2, weight_attr=fixed(0.5), name="f")
    static.Executor().run(startup)
    static.save(main, str(tmp_path / "c"))
    state = static.load_program_state(str(tmp_path / "c"))
    assert all(type(v) is np.ndarray for v in state.values())
    static.set_program_state(main, {name: v * 0 for name, v in state.items()})
    assert not run("f.w_0")[0].any()


def test_strategies_and_places_are_there(declared):
    y = static.data("x", [None, 3]) * 2.0
    strategy = static.BuildStrategy()
    strategy.memory_optimize = True
    strategy.reduce_strategy = static.BuildStrategy.ReduceStrategy.Reduce
    main = static.default_main_program()
    with static.device_guard("cpu"):
        z = y + 1.0
    compiled = static.CompiledProgram(main, build_strategy=strategy).with_data_parallel(loss_name=y.name)
    found = static.Executor().run(compiled, feed={"x": X}, fetch_list=[z], use_program_cache=True, return_numpy=False)
    assert np.array_equal(np.array(found[0]), X * 2 + 1)


def test_layers_as_calls_are_those_of_nn(declared):
    x = static.data("x", [None, 2, 4, 4])
    made = {
        "conv2d_transpose": static.nn.conv2d_transpose(x, 2, filter_size=2, param_attr=fixed(0.1)),
        "layer_norm": static.nn.layer_norm(x),
        "group_norm": static.nn.group_norm(x, 1),
        "instance_norm": static.nn.instance_norm(x),
        "prelu": static.nn.prelu(x - 0.5, "channel"),
        "bilinear": static.nn.bilinear_tensor_product(x[:, 0, 0], x[:, 1, 0], 3, param_attr=fixed(0.2)),
    }
    static.Executor().run(static.default_startup_program())
    pictures = np.arange(64, dtype="float32").reshape(2, 2, 4, 4) / 64
    found = dict(zip(made, run(*made.values(), feed={"x": pictures}), strict=True))
    d2s.disable_static()
    given = d2s.to_tensor(pictures)
    assert np.array_equal(found["layer_norm"], nn.LayerNorm([2, 4, 4])(given).numpy())
    assert np.array_equal(found["group_norm"], nn.GroupNorm(1, 2)(given).numpy())
    assert np.array_equal(found["instance_norm"], nn.InstanceNorm2D(2)(given).numpy())
    assert np.array_equal(found["prelu"], nn.PReLU(2)(given - 0.5).numpy())
    assert np.allclose(found["conv2d_transpose"].sum(), pictures.sum() * 0.1 * 8)
    sums = pictures[:, 0, 0].sum(axis=1) * pictures[:, 1, 0].sum(axis=1) * 0.2
    assert np.allclose(found["bilinear"], sums[:, None].repeat(3, 1))
    d2s.enable_static()
