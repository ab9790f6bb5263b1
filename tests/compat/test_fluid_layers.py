"""`fluid.layers`, function by function: what each gives, worked out with NumPy from what its documentation says.

A row is a function of `layers` and NumPy's answer; it is computed at once, and declared and run by an Executor.
"""

import numpy as np
import pytest

import d2s
from d2s import compat

X = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, -4.0]], "float32")
Y = np.array([[2.0, 1.0, -1.0], [0.5, 3.0, 2.0]], "float32")
P = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]], "float32")
IMAGE = np.arange(32, dtype="float32").reshape(1, 2, 4, 4)
LABEL = np.array([[2], [0]])
NAN = np.array([1.0, np.nan], "float32")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(x))


def smooth(d):
    return np.where(d < 0.25, 2 * d * d, d - 0.125)


ROWS = {
    "argmax takes the first axis": (lambda L, x: L.argmax(x), X, X.argmax(0)),
    "argmin along an axis": (lambda L, x: L.argmin(x, 1), X, X.argmin(1)),
    "argsort gives values": (lambda L, x: L.argsort(x)[0], X, np.sort(X)),
    "argsort gives places": (lambda L, x: L.argsort(x, descending=True)[1], X, np.argsort(-X)),
    "brelu": (lambda L, x: L.brelu(x, 0.5, 2.0), X, np.clip(X, 0.5, 2)),
    "bpr_loss": (lambda L, x: L.bpr_loss(x, L.assign(LABEL)), X, None),
    "cast": (lambda L, x: L.cast(x, "int32"), X, X.astype("int32")),
    "clip_by_norm": (lambda L, x: L.clip_by_norm(x, 2.0), X, X * 2 / np.sqrt((X * X).sum())),
    "clip_by_norm leaves what is short": (lambda L, x: L.clip_by_norm(x, 99.0), X, X),
    "concat": (lambda L, x: L.concat([x, x], 1), X, np.concatenate([X, X], 1)),
    "cos_sim": (
        lambda L, x: L.cos_sim(X=x, Y=L.assign(Y)),
        X,
        ((X * Y).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1))[:, None],
    ),
    "crop": (lambda L, x: L.crop(x, [1, 2], [1, 1]), X, X[1:2, 1:3]),
    "cross_entropy": (lambda L, x: L.cross_entropy(x, L.assign(LABEL)), P, -np.log([[0.3], [0.1]])),
    "cumsum": (lambda L, x: L.cumsum(x), X, X.cumsum(1)),
    "cumsum, exclusive and reverse": (
        lambda L, x: L.cumsum(x, 1, exclusive=True, reverse=True),
        X,
        X[:, ::-1].cumsum(1)[:, ::-1] - X,
    ),
    "diag": (lambda L, x: L.diag(L.assign(NAN[:1])) + L.reduce_sum(x) * 0.0, X, [[1.0]]),
    "elementwise_add in the middle": (
        lambda L, x: L.elementwise_add(x, L.assign(np.arange(2, dtype="float32")), axis=1),
        IMAGE,
        IMAGE + np.arange(2).reshape(1, 2, 1, 1),
    ),
    "elementwise_floordiv": (lambda L, x: L.elementwise_floordiv(L.cast(x, "int32"), L.assign(np.int32(2))), 2 * X, None),
    "elementwise_max": (lambda L, x: L.elementwise_max(x, L.assign(Y)), X, np.maximum(X, Y)),
    "elementwise_pow": (lambda L, x: L.elementwise_pow(x, L.assign(np.float32(2.0))), X, X**2),
    "expand repeats": (lambda L, x: L.expand(x, [2, 3]), X, np.tile(X, [2, 3])),
    "expand_as repeats": (lambda L, x: L.expand_as(x, L.zeros([4, 3], "float32")), X, np.tile(X, [2, 1])),
    "addcmul": (lambda L, x: L.addcmul(x, x, x, value=0.5), X, X + X * X / 2),
    "clamp": (lambda L, x: L.clamp(x, -1.0, max=2.0), X, np.clip(X, -1, 2)),
    "dot keeps its axis": (lambda L, x: L.dot(x, L.assign(Y)), X, (X * Y).sum(1, keepdims=True)),
    "elementwise_equal": (lambda L, x: L.elementwise_equal(x, L.assign(Y)), X, X == Y),
    "is_empty": (lambda L, x: L.is_empty(x), X, [False]),
    "logsumexp": (lambda L, x: L.logsumexp(x, dim=1), X, np.log(np.exp(X).sum(1))),
    "mean_iou": (lambda L, x: L.mean_iou(L.cast(x, "int32"), L.assign(np.int32([[1, 0, 1]] * 2)), 5)[0], np.abs(X), [7 / 60]),
    "trace": (lambda L, x: L.trace(x, 1), X, [X[0, 1] + X[1, 2]]),
    "eye": (lambda L, x: L.eye(2, 3) + x * 0.0, X, np.eye(2, 3)),
    "flatten keeps two axes": (lambda L, x: L.flatten(x, 2), IMAGE, IMAGE.reshape(2, 16)),
    "flatten all": (lambda L, x: L.flatten(x, 0), IMAGE, IMAGE.reshape(1, 32)),
    "flatten nothing": (lambda L, x: L.flatten(x, 2), X, X.reshape(6, 1)),
    "gather": (lambda L, x: L.gather(x, L.assign(np.array([1, 1]))), X, X[[1, 1]]),
    "hard_sigmoid": (lambda L, x: L.hard_sigmoid(x), X, np.clip(0.2 * X + 0.5, 0, 1)),
    "hard_swish": (lambda L, x: L.hard_swish(x), X, X * np.clip(X + 3, 0, 6) / 6),
    "has_inf": (lambda L, x: L.has_inf(x), X, [False]),
    "has_nan": (lambda L, x: L.has_nan(x), NAN, [True]),
    "huber_loss": (lambda L, x: L.huber_loss(x, L.assign(Y), 1.5), X, None),
    "isfinite is of all": (lambda L, x: L.isfinite(x), NAN, [False]),
    "kldiv_loss": (lambda L, x: L.kldiv_loss(x, L.assign(P), "sum"), X, [(P * (np.log(P) - X)).sum()]),
    "l2_normalize": (lambda L, x: L.l2_normalize(x, 1), X, X / np.linalg.norm(X, axis=1, keepdims=True)),
    "leaky_relu": (lambda L, x: L.leaky_relu(x), X, np.where(X < 0, 0.02 * X, X)),
    "log_loss": (lambda L, x: L.log_loss(x, L.assign(np.float32(P > 0.4))), P, None),
    "logsigmoid": (lambda L, x: L.logsigmoid(x), X, -softplus(-X)),
    "margin_rank_loss": (
        lambda L, x: L.margin_rank_loss(L.assign(np.ones_like(X)), x, L.assign(Y), 0.5),
        X,
        np.maximum(0, 0.5 - (X - Y)),
    ),
    "matmul by a number": (lambda L, x: L.matmul(x, L.assign(Y), transpose_y=True, alpha=2.0), X, 2 * X @ Y.T),
    "mean has the shape 1": (lambda L, x: L.mean(x), X, [X.mean()]),
    "mse_loss": (lambda L, x: L.mse_loss(x, L.assign(Y)), X, [((X - Y) ** 2).mean()]),
    "mul": (lambda L, x: L.mul(x, L.assign(np.ones((32, 2), "float32"))), IMAGE, np.full((1, 2), IMAGE.sum())),
    "mul of more axes": (
        lambda L, x: L.mul(x, L.assign(np.ones((4, 2, 5), "float32")), 3, 1),
        IMAGE,
        np.broadcast_to(IMAGE.sum(3)[..., None, None], (1, 2, 4, 2, 5)),
    ),
    "one_hot": (lambda L, x: L.one_hot(L.cast(x, "int64"), 3), np.float32(LABEL), np.eye(3)[[2, 0]]),
    "pad": (lambda L, x: L.pad(x, [0, 1, 2, 0], 7.0), X, np.pad(X, [(0, 1), (2, 0)], constant_values=7)),
    "pad2d": (lambda L, x: L.pad2d(x, [1, 0, 0, 2]), IMAGE, np.pad(IMAGE, [(0, 0), (0, 0), (1, 0), (0, 2)])),
    "pad2d, edges": (lambda L, x: L.pad2d(x, [1, 1, 1, 1], "edge"), IMAGE, np.pad(IMAGE, [(0, 0)] * 2 + [(1, 1)] * 2, "edge")),
    "pad_constant_like": (lambda L, x: L.pad_constant_like(L.zeros([3, 3], "float32"), x, 1.0), X, None),
    "pool2d of all": (lambda L, x: L.pool2d(x, pool_type="avg", global_pooling=True), IMAGE, IMAGE.mean((2, 3), keepdims=True)),
    "pow": (lambda L, x: L.pow(x, 2.0), X, X**2),
    "range": (lambda L, x: L.range(0, 6, 2, "float32") + x * 0.0, X, [[0, 2, 4]] * 2),
    "rank_loss": (
        lambda L, x: L.rank_loss(L.assign(np.ones_like(X)), x, L.assign(Y)),
        X,
        softplus(X - Y) - (X - Y),
    ),
    "reduce_all": (lambda L, x: L.reduce_all(x > 0.0, dim=1), X, (X > 0).all(1)),
    "reduce_sum over axes": (lambda L, x: L.reduce_sum(x, dim=[0], keep_dim=True), X, X.sum(0, keepdims=True)),
    "relu6": (lambda L, x: L.relu6(x, 2.0), X, np.clip(X, 0, 2)),
    "resize_bilinear": (lambda L, x: L.resize_bilinear(x, [2, 2]), IMAGE, IMAGE[:, :, ::3, ::3]),
    "reverse": (lambda L, x: L.reverse(x, 1), X, X[:, ::-1]),
    "scale before": (lambda L, x: L.scale(x, 2.0, 1.0, bias_after_scale=False), X, (X + 1) * 2),
    "scatter adds up": (
        lambda L, x: L.scatter(x, L.assign(np.array([1])), L.ones([1, 3], "float32"), overwrite=False),
        X,
        None,
    ),
    "shape is int32": (lambda L, x: L.shape(x), X, np.array([2, 3], "int32")),
    "shuffle_channel": (lambda L, x: L.shuffle_channel(x, 2), IMAGE, IMAGE),
    "sigmoid_cross_entropy_with_logits": (
        lambda L, x: L.sigmoid_cross_entropy_with_logits(x, L.assign(np.float32(Y > 0)), normalize=True),
        X,
        (np.maximum(X, 0) - X * (Y > 0) + np.log1p(np.exp(-np.abs(X)))) / 6,
    ),
    "smooth_l1": (lambda L, x: L.smooth_l1(x, L.assign(Y), sigma=2.0), X, smooth(np.abs(X - Y)).sum(1, keepdims=True)),
    "soft_relu": (lambda L, x: L.soft_relu(x, 2.0), X, softplus(np.clip(X, -2, 2))),
    "split takes the last axis": (lambda L, x: L.split(x, 3)[1], X, X[:, 1:2]),
    "squeeze": (lambda L, x: L.squeeze(x, [0]), IMAGE, IMAGE[0]),
    "squeeze all": (lambda L, x: L.squeeze(x, []), IMAGE, IMAGE[0]),
    "stack of one": (lambda L, x: L.stack(x), X, X[None]),
    "sum is of tensors": (lambda L, x: L.sum([x, x]), X, 2 * X),
    "swish": (lambda L, x: L.swish(x, 2.0), X, X * sigmoid(2 * X)),
    "topk": (lambda L, x: L.topk(x, 2)[0], X, -np.sort(-X)[:, :2]),
    "transpose": (lambda L, x: L.transpose(x, perm=[1, 0]), X, X.T),
    "unsqueeze": (lambda L, x: L.unsqueeze(x, axes=[1]), X, X[:, None]),
    "where gives places": (lambda L, x: L.where(x > 0.0), X, np.argwhere(X > 0)),
    "zeros": (lambda L, x: L.zeros([2, 3], "float32") + x, X, X),
}
WORKED_OUT = {
    "bpr_loss": lambda: np.stack(
        [[np.mean([softplus(X[n, j] - X[n, y]) for j in range(3) if j != y])] for n, y in enumerate(LABEL[:, 0])]
    ),
    "elementwise_floordiv": lambda: (2 * X).astype("int32") // 2,
    "huber_loss": lambda: np.where((d := np.abs(X - Y)) <= 1.5, 0.5 * d * d, 1.5 * (d - 0.75)),
    "log_loss": lambda: np.where(P > 0.4, -np.log(P + 1e-4), -np.log(1 - P + 1e-4)),
    "pad_constant_like": lambda: np.vstack([X, np.ones((1, 3))]),
    "scatter adds up": lambda: np.vstack([X[0], np.ones(3)]),
}
EAGER_ONLY = {"where gives places"}  # the extent is that of what a run finds


def wanted(name):
    return WORKED_OUT[name]() if ROWS[name][2] is None else ROWS[name][2]


@pytest.mark.parametrize("name", list(ROWS))
def test_at_once(name):
    function, given, _ = ROWS[name]
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            found = function(fluid.layers, fluid.dygraph.to_variable(given)).numpy()
    np.testing.assert_allclose(found, wanted(name), rtol=2e-5, atol=1e-6)
    assert found.shape == np.shape(wanted(name))


@pytest.mark.parametrize("name", [name for name in ROWS if name not in EAGER_ONLY])
def test_declared(name):
    function, given, _ = ROWS[name]
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        x = fluid.data("x", list(given.shape), "float32")
        result = function(fluid.layers, x)
        found = fluid.Executor(fluid.CPUPlace()).run(feed={"x": given}, fetch_list=[result])[0]
    np.testing.assert_allclose(found, wanted(name), rtol=2e-5, atol=1e-6)
    assert np.shape(found) == np.shape(wanted(name))


def test_names_that_mean_something_else_today_are_not_taken_for_today_s():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        for name in ("einsum", "unique", "bincount", "moveaxis", "DynamicRNN"):
            with pytest.raises(d2s.errors.MissingName):
                getattr(fluid.layers, name)


LEARNING = {
    "embedding takes the place of a last axis": (lambda L, x: L.embedding(L.cast(x, "int64"), [5, 3]), [2, 1], [2, 3]),
    "fc of several": (lambda L, x: L.fc([x, x], 4), [2, 3], [2, 4]),
    "conv2d_transpose": (lambda L, x: L.conv2d_transpose(x, 3, filter_size=2, stride=2), [1, 2, 4, 4], [1, 3, 8, 8]),
    "conv3d": (lambda L, x: L.conv3d(x, 3, 2, act="relu"), [1, 2, 4, 4, 4], [1, 3, 3, 3, 3]),
    "layer_norm": (lambda L, x: L.layer_norm(x, shift=False), [2, 3], [2, 3]),
    "group_norm": (lambda L, x: L.group_norm(x, 2), [1, 4, 2, 2], [1, 4, 2, 2]),
    "instance_norm": (lambda L, x: L.instance_norm(x), [1, 4, 2, 2], [1, 4, 2, 2]),
    "prelu": (lambda L, x: L.prelu(x, "channel"), [1, 4, 2, 2], [1, 4, 2, 2]),
    "adaptive_pool2d": (lambda L, x: L.adaptive_pool2d(x, 2, "avg"), [1, 4, 5, 5], [1, 4, 2, 2]),
}


@pytest.mark.parametrize("name", list(LEARNING))
def test_layers_that_learn(name):
    function, given, wanted_shape = LEARNING[name]
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        x = fluid.data("x", given, "float32")
        result = function(fluid.layers, x)
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(fluid.default_startup_program())
        found = exe.run(feed={"x": np.ones(given, "float32")}, fetch_list=[result])[0]
    assert list(found.shape) == wanted_shape and np.isfinite(found).all()


def test_groups_of_convolutions_and_attention():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        x, q = fluid.data("x", [2, 3, 8, 8], "float32"), fluid.data("q", [2, 5, 6], "float32")
        group = fluid.nets.img_conv_group(x, [4, 4], 2, conv_with_batchnorm=True, conv_batchnorm_drop_rate=0.2, pool_stride=2)
        weighed = fluid.nets.scaled_dot_product_attention(q, q, q, num_heads=2)
        halved = fluid.nets.glu(q)
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(fluid.default_startup_program())
        feed = {"x": np.ones((2, 3, 8, 8), "float32"), "q": np.ones((2, 5, 6), "float32")}
        found = exe.run(feed=feed, fetch_list=[group, weighed, halved])
    assert [list(one.shape) for one in found] == [[2, 4, 4, 4], [2, 5, 6], [2, 5, 3]]
    np.testing.assert_allclose(found[1], 1.0, rtol=1e-6)


def test_dropout_of_then_makes_smaller_in_evaluation():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            layer = fluid.dygraph.Dropout(0.25)
            layer.eval()
            assert layer(fluid.dygraph.to_variable(np.ones(2, "float32"))).numpy().tolist() == [0.75, 0.75]


def test_a_loop_whose_body_is_a_block():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        L = fluid.layers
        i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 5)
        x, total = fluid.data("x", [2]), L.fill_constant([2], "float32", 0.0)
        go_on = L.less_than(i, n)
        with L.While(cond=go_on).block():
            L.assign(total + x * L.cast(i, "float32"), total)
            j = L.fill_constant([1], "int64", 0)
            again = L.less_than(j, i)
            with L.While(again).block():
                L.assign(total * 1.5, total)
                L.increment(j)
                L.less_than(j, i, cond=again)
            L.increment(x=i, value=1, in_place=True)
            L.less_than(x=i, y=n, cond=go_on)
        found = fluid.Executor().run(feed={"x": np.array([1, 2], "float32")}, fetch_list=[i, total])
        assert found[0].tolist() == [5] and found[1].tolist() == [206.0595703125, 412.119140625]  # as Paddle 1.8.5 has it
        with pytest.raises(d2s.errors.CaptureError, match="does not write its condition"), L.While(go_on).block():
            L.increment(i)


def closed_over(L, number):
    i, total, n = number(0), number(0), number(4)
    L.while_loop(lambda *_: L.less_than(i, n), lambda *_: [i + 1, total + i], [i, total])
    return [i, total, total * 10]


def changed_in_place(L, number):
    i, n = number(0), number(4)

    def body(i):
        L.increment(i)
        return i

    return [*L.while_loop(lambda i: L.less_than(i, n), body, [i]), i]


def loop_that_has_run(L, number):  # when the outer one comes again
    i, j, total, n = number(0), number(0), number(0), number(3)

    def body(i, total):
        return [i + 1, L.while_loop(lambda j, t: L.less_than(j, n), lambda j, t: [j + 1, t + 10], [j, total])[1]]

    return [*L.while_loop(lambda i, _: L.less_than(i, n), body, [i, total]), j]


def loop_in_an_arm(L, number):
    i, n = number(0), number(3)
    return [
        L.cond(L.less_than(i, n), lambda: L.while_loop(lambda i: L.less_than(i, n), lambda i: [i + 1], [i])[0], lambda: i),
        i,
    ]


def arm_that_writes(L, number):
    seen, other, one = number(0), number(7), number(1)
    L.cond(L.less_than(seen, one), lambda: L.assign(one + 4, output=seen), lambda: L.assign(one, output=other))
    return [seen, other]


def arm_in_a_block(L, number):
    i, total, n, two = number(0), number(0), number(4), number(2)
    go_on = L.less_than(i, n)
    with L.While(go_on).block():
        L.cond(L.less_than(i, two), lambda: L.increment(total, 10), lambda: total)
        L.increment(i)
        L.less_than(i, n, cond=go_on)
    return [total, i]


def tensor_of_the_program(L, number):
    held, n = L.create_global_var([1], 5, "int64", persistable=True), number(8)
    L.while_loop(lambda held: L.less_than(held, n), lambda held: [held + 1], [held])
    return [held]


WRITTEN = {  # as Paddle 1.8.5 has it
    closed_over: [5, 10, 100],
    changed_in_place: [4, 4],
    loop_that_has_run: [3, 30, 3],
    loop_in_an_arm: [3, 3],
    arm_that_writes: [5, 7],
    arm_in_a_block: [20, 4],
    tensor_of_the_program: [8],
}


@pytest.mark.parametrize("declare", list(WRITTEN))
def test_loops_and_arms_write_the_variables_they_are_given(declare):
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        fetched = declare(fluid.layers, lambda value: fluid.layers.fill_constant([1], "int64", value))
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        found = exe.run(fluid.default_main_program(), fetch_list=fetched)
    assert [v.tolist() for v in found] == [[value] for value in WRITTEN[declare]]


def test_a_loop_refuses_a_condition_that_is_no_bool_and_other_counts():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        i = fluid.layers.fill_constant([1], "int64", 0)
        with pytest.raises(d2s.errors.DTypeError, match="'cond' returns no bool"):
            fluid.layers.while_loop(lambda i: i, lambda i: [i], [i])
        with pytest.raises(d2s.errors.ArgumentError, match="'body' returns 2 values for 1 variables"):
            fluid.layers.while_loop(lambda i: i < 3, lambda i: [i, i], [i])


IMAGES = np.arange(18, dtype="float32").reshape(1, 2, 3, 3)
RESIZED = {  # the first channel, as Paddle 1.8.5 has it
    "nearest": (lambda L, x: L.resize_nearest(x, [5, 2]), [[0, 2], [3, 5], [3, 5], [6, 8], [6, 8]]),
    "nearest, corners apart": (
        lambda L, x: L.resize_nearest(x, [5, 2], align_corners=False),
        [[0, 1], [0, 1], [3, 4], [3, 4], [6, 7]],
    ),
    "the shorter side": (lambda L, x: L.image_resize_short(x, 2), [[0, 2], [6, 8]]),
}


@pytest.mark.parametrize("name", list(RESIZED))
def test_images_of_another_size(name):
    function, wanted = RESIZED[name]
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            assert function(fluid.layers, fluid.dygraph.to_variable(IMAGES)).numpy()[0, 0].tolist() == wanted


KINDS = {
    "Conv2DTranspose": (lambda D: D.Conv2DTranspose(2, 1, 2, output_size=[7, 7], stride=2), [1, 2, 3, 3], [1, 1, 7, 7]),
    "Conv3D": (lambda D: D.Conv3D(1, 2, 2, act="relu"), [1, 1, 3, 3, 3], [1, 2, 2, 2, 2]),
    "GroupNorm": (lambda D: D.GroupNorm(2, 1), [1, 2, 3, 3], [1, 2, 3, 3]),
    "InstanceNorm": (lambda D: D.InstanceNorm(2), [1, 2, 3, 3], [1, 2, 3, 3]),
    "PRelu": (lambda D: D.PRelu("element", input_shape=[1, 2, 3, 3]), [1, 2, 3, 3], [1, 2, 3, 3]),
    "Flatten": (lambda D: D.Flatten(), [1, 2, 3, 3], [1, 18]),
}


@pytest.mark.parametrize("name", list(KINDS))
def test_layers_of_dygraph(name):
    make, given, wanted = KINDS[name]
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            found = make(fluid.dygraph)(fluid.dygraph.to_variable(np.ones(given, "float32")))
    assert found.shape == wanted and np.isfinite(found.numpy()).all()


def test_a_gated_unit_has_its_weights_one_behind_the_other():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            weights = np.linspace(-1, 1, 12, dtype="float32").reshape(2, 6)
            start = fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(weights))
            unit = fluid.dygraph.GRUUnit(6, param_attr=start)
            given = (np.linspace(-1, 1, 6, dtype="float32")[None], np.array([[0.5, -0.25]], "float32"))
            hidden, passed, gates = unit(*map(fluid.dygraph.to_variable, given))
    np.testing.assert_allclose(hidden.numpy(), [[0.505241, 0.024557]], atol=1e-5)
    assert passed.shape == [1, 2] and gates.shape == [1, 6]


def test_a_leaf_that_wants_gradients_is_incremented():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            x = fluid.dygraph.to_variable(np.ones(1, "float32"))
            assert fluid.layers.increment(x) is x and x.numpy() == 2.0 and not x.stop_gradient


@pytest.fixture
def declared():
    """`paddle.fluid` of 1.x, and an executor."""
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.unique_name.guard():
            yield fluid, fluid.Executor(fluid.CPUPlace())


def test_moving_averages_are_parameters_that_do_not_learn_and_are_kept(declared, tmp_path):
    fluid, exe = declared
    fluid.layers.batch_norm(fluid.layers.fc(fluid.data("x", [None, 2]), 3), name="bn", moving_mean_name="mean")
    exe.run(fluid.default_startup_program())
    known = {p.name: p.trainable for p in fluid.default_main_program().global_block().all_parameters()}
    assert known == {"fc_0.w_0": True, "fc_0.b_0": True, "bn.w_0": True, "bn.b_0": True, "mean": False, "bn.w_1": False}
    fluid.io.save_params(exe, str(tmp_path / "all"))
    assert sorted(p.name for p in (tmp_path / "all").iterdir()) == sorted(known)
    fluid.io.save_vars(exe, str(tmp_path / "some"), predicate=lambda v: v.name.startswith("bn"))
    held = fluid.global_scope().find_var("bn.w_1").get_tensor()
    held.set(np.full(3, 7.0, "float32"), fluid.CPUPlace())
    fluid.io.load_vars(exe, str(tmp_path / "some"), vars=["bn.w_1"])
    assert len(list((tmp_path / "some").iterdir())) == 3 and np.array(held).tolist() == [1.0] * 3


def test_accuracy_tells_how_many_were_right_of_how_many(declared):
    fluid, exe = declared
    scores, label = fluid.data("s", [None, 3]), fluid.data("l", [None, 1], "int64")
    correct, total = fluid.layers.create_tensor("int64"), fluid.layers.create_tensor("int64")
    share = fluid.layers.accuracy(scores, label, correct=correct, total=total)
    feed = {"s": np.eye(3, dtype="float32"), "l": np.array([[0], [1], [0]])}
    found = exe.run(feed=feed, fetch_list=[share, correct, total])
    assert [v.tolist() for v in found] == [[np.float32(2 / 3)], [2], [3]]


def test_steps_of_sequences_are_declared_once_and_learn(declared):
    fluid, exe = declared
    x = fluid.data("x", [3, None, 2])
    rnn = fluid.layers.StaticRNN()
    with rnn.step():
        now, before = rnn.step_input(x), rnn.memory(shape=[-1, 1], batch_ref=x)
        after = fluid.layers.fc([now, before], 1, bias_attr=False, param_attr=fluid.initializer.Constant(0.5))
        rnn.update_memory(before, after)
        rnn.output(after, now)
    states, seen = rnn()
    assert list(states.shape) == [3, -1, 1]
    fluid.optimizer.SGD(1.0).minimize(fluid.layers.reduce_mean(states))
    exe.run(fluid.default_startup_program())
    given = np.arange(12, dtype="float32").reshape(3, 2, 2)
    found, back, *_ = exe.run(feed={"x": given}, fetch_list=[states, seen])
    wanted, state = [], np.zeros((2, 1), "float32")
    for part in given:
        state = (part.sum(1, keepdims=True) + state) * 0.5
        wanted.append(state)
    assert np.array_equal(found, np.stack(wanted)) and np.array_equal(back, given)
    moved = np.array(fluid.global_scope().find_var("fc_0.w_1").get_tensor()).item()  # of what was remembered
    slopes = [wanted[0] * 0.0, wanted[0], wanted[1] + wanted[0] * 0.5]
    assert moved == pytest.approx(0.5 - np.mean(slopes))
    with pytest.raises(d2s.errors.D2SError, match="its steps are not known"), rnn.step():
        rnn.step_input(fluid.data("open", [None, 2]))


def test_what_a_loop_and_a_switch_write_into_a_global_variable_stays(declared):
    fluid, exe = declared
    layers = fluid.layers
    i, end = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    total = layers.create_global_var([1], 1.0, "float32", persistable=True, name="total")
    go_on = layers.less_than(i, end)
    with layers.While(go_on).block():
        layers.assign(total * 2.0, total)
        layers.less_than(layers.increment(i), end, cond=go_on)
    exe.run(fluid.default_startup_program())
    assert [exe.run(fetch_list=[total])[0].item() for _ in range(2)] == [8.0, 64.0]
    with pytest.raises(d2s.errors.ArgumentError, match="no case before it"), layers.Switch() as switch, switch.default():
        pass
    with pytest.raises(d2s.errors.D2SError, match="in a case of a Switch"), layers.Switch() as switch, switch.case(go_on):
        layers.assign(layers.zeros([2], "float32"), total)


def test_steps_of_recurrent_units(declared):
    fluid, exe = declared
    x, h, c = fluid.data("x", [2, 3]), fluid.data("h", [2, 1]), fluid.data("c", [2, 1])
    after = fluid.layers.gru_unit(x, h, 3, fluid.initializer.Constant(0.0), bias_attr=False)[0]
    made = fluid.layers.lstm_unit(x, h, c, 1.0, param_attr=fluid.initializer.Constant(0.5), bias_attr=False)
    exe.run(fluid.default_startup_program())
    given = {"x": X, "h": np.full((2, 1), 0.25, "float32"), "c": np.full((2, 1), 2.0, "float32")}
    g = 0.5 * (X.sum(1, keepdims=True) + 0.25)
    cell = sigmoid(g + 1) * 2 + sigmoid(g) * np.tanh(g)
    found = exe.run(feed=given, fetch_list=[*made, after])
    assert np.allclose(found[0], sigmoid(g) * np.tanh(cell), atol=1e-6) and np.allclose(found[1], cell, atol=1e-6)
    new = sigmoid(X[:, :1])
    assert np.allclose(found[2], (1 - new) * 0.25 + new * np.tanh(X[:, 2:]), atol=1e-6)
