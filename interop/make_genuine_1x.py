"""Makes the files in `tests/export/genuine/paddle-1.8.5`, as real Paddle 1.8.5 writes them; stands alone.

In: a folder. Out: a folder for each model, as `fluid.io.save_inference_model` wrote it: `__model__` and a file for each
parameter, or one for all (`combined`), and `NAME.npz`: inputs `rI_fJ` and what Paddle answered, `rI_oJ`.

    python interop/make_genuine_1x.py tests/export/genuine/paddle-1.8.5

paddlepaddle 1.8.5 needs Python 3.8 and: protobuf 3.20.3, numpy 1.19.5, scipy 1.5.4, opencv-python 4.2.0.32.
"""

import sys
from pathlib import Path

import numpy as np
import paddle.fluid as fluid
from paddle.fluid import layers

HEADS, WIDTH = 2, 8


def linear(x):
    return [layers.fc(layers.fc(x, 5, act="relu"), 2)]


def conv_bn(x):
    h = layers.batch_norm(layers.conv2d(x, 3, 3, padding=1), act="relu", is_test=True)
    return [layers.fc(layers.pool2d(h, 2, "max", 2), 2, act="softmax")]


def branch(x):
    h = layers.fc(x, 4)
    zero = layers.fill_constant([1], "float32", 0.0)
    return [layers.cond(layers.reduce_sum(h) > zero, lambda: h + 1.0, lambda: layers.scale(h, -1.0))]


def loop(x, n):
    def body(i, h):
        h = layers.tanh(layers.fc(h, 4, param_attr="w", bias_attr="b"))
        zero = layers.fill_constant([1], "float32", 0.0)
        return i + 1, layers.cond(layers.reduce_sum(h) > zero, lambda: h - 0.5, lambda: layers.scale(h, 1.0))

    i = layers.fill_constant([1], "int64", 0)
    i, h = layers.while_loop(lambda i, h: i < n, body, [i, layers.assign(x)])  # x itself 1.8.5 would save wrongly
    return [h, i]


def lstm(x):
    """Five steps of Paddle's `lstm_unit`, one behind the other."""
    h = layers.fill_constant_batch_size_like(x, [-1, 4], "float32", 0.0)
    c = layers.fill_constant_batch_size_like(x, [-1, 4], "float32", 0.0)
    shown = []
    for t in range(5):
        step = layers.squeeze(layers.slice(x, axes=[1], starts=[t], ends=[t + 1]), [1])
        h, c = layers.lstm_unit(step, h, c, forget_bias=1.0, param_attr="w", bias_attr="b")
        shown.append(h)
    return [layers.stack(shown, axis=1), c]


def split_heads(h):
    return layers.transpose(layers.reshape(h, [0, 0, HEADS, WIDTH // HEADS]), [0, 2, 1, 3])


def block(ids):
    x = fluid.embedding(ids, [11, WIDTH])
    q, k, v = (split_heads(layers.fc(x, WIDTH, num_flatten_dims=2)) for _ in range(3))
    weights = layers.softmax(layers.matmul(q, k, transpose_y=True, alpha=(WIDTH // HEADS) ** -0.5))
    weights = layers.dropout(weights, 0.1, is_test=True, dropout_implementation="upscale_in_train")
    seen = layers.reshape(layers.transpose(layers.matmul(weights, v), [0, 2, 1, 3]), [0, 0, WIDTH])
    x = layers.layer_norm(x + layers.fc(seen, WIDTH, num_flatten_dims=2), begin_norm_axis=2)
    h = layers.fc(layers.fc(x, 16, num_flatten_dims=2, act="gelu"), WIDTH, num_flatten_dims=2)
    return [layers.fc(layers.layer_norm(x + h, begin_norm_axis=2), 3, num_flatten_dims=2, act="softmax")]


# a name: what makes the outputs, what it is fed, and the shapes (or the very values) of some calls
MODELS = {
    "linear": (linear, [("x", [None, 4], "float32")], [[(3, 4)], [(1, 4)]]),
    "conv_bn": (conv_bn, [("x", [None, 1, 4, 4], "float32")], [[(3, 1, 4, 4)], [(1, 1, 4, 4)]]),
    "if": (branch, [("x", [None, 4], "float32")], [[(2, 4)], [(1, 4)], [(5, 4)], [(3, 4)]]),
    "while": (loop, [("x", [None, 4], "float32"), ("n", [1], "int64")], [[(2, 4), [4]], [(2, 4), [1]], [(1, 4), [0]]]),
    "lstm": (lstm, [("x", [None, 5, 3], "float32")], [[(2, 5, 3)], [(1, 5, 3)]]),
    "block": (block, [("ids", [None, 4], "int64")], [[[[3, 1, 4, 1], [5, 9, 2, 6]]], [[[5, 3, 5, 8]]]]),
}


def make(folder, name, build, spec, runs):
    generator, held = np.random.RandomState(3), {}
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 3
    with fluid.program_guard(main, startup), fluid.scope_guard(fluid.Scope()), fluid.unique_name.guard():
        fed = [fluid.data(*one) for one in spec]
        fetched = build(*fed)
        executor = fluid.Executor(fluid.CPUPlace())
        executor.run(startup)
        for i, run in enumerate(runs):
            arrays = [np.array(f) if isinstance(f, list) else generator.normal(size=f).astype("float32") for f in run]
            feed = {spec[j][0]: array for j, array in enumerate(arrays)}
            held.update({f"r{i}_f{j}": a for j, a in enumerate(arrays)})
            found = executor.run(main, feed=feed, fetch_list=fetched)
            held.update({f"r{i}_o{j}": a for j, a in enumerate(found)})
        params = "combined" if name in ("block", "conv_bn") else None
        names = [one[0] for one in spec]
        fluid.io.save_inference_model(str(folder / name), names, fetched, executor, main, params_filename=params)
    np.savez(str(folder / (name + ".npz")), **held)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name, model in MODELS.items():
        make(target, name, *model)
