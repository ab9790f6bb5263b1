"""Makes `tests/export/genuine/ops-VERSION.zip`: ops as real Paddle writes them; stands alone, and runs under 2.6.2 and 3.3.1.

In: a zip file to make. Out: for each theme, and each function with Python's control flow, its program, and `THEME.npz`: the
inputs `i_NAME`, Paddle's answers `o0`, `o1` ... and `said`, the expressions they belong to. Batches are open; what this Paddle
cannot do so stands in `THEME_fixed`, and what it cannot do at all nowhere.

    python interop/make_genuine_ops.py tests/export/genuine/ops-2.6.2.zip
"""

import os
import sys
import tempfile
import zipfile
from pathlib import Path

os.environ.update({"FLAGS_enable_pir_api": "0"})  # what Paddle 3 wrote before its new kind of file

import numpy as np
import paddle
from paddle.nn import functional as F

THEMES = {
    "slices": "x[:, ::-1]; x[::-1]; x[:, ::-2]; x[::-2]; x[:, 2::-1]; x[1::-1]; x[:, :-3:-1]; x[:, -2::-2]; x[:, ::2]; x[1::2];"
    "x[-2:]; x[:, 1:-1]; x[:, -1:0:-1]; x[:-1]; x[1:]; x[:9]; x[:, [3, 1]]; x[:, -1]; x[-1]; x[i[0, 0]]; x[:i[0, 0] + 1]",
    "orders": "paddle.topk(x, 2, axis=1)[0]; paddle.topk(x, 2, axis=1)[1]; paddle.median(x, axis=1); paddle.sort(x, axis=1);"
    "paddle.topk(x, 3, largest=False)[0]; paddle.kthvalue(x, 2)[0]; paddle.mode(x)[0]; paddle.quantile(x, 0.3, axis=1)",
    "constants": "x + paddle.to_tensor([1.0, 2.0, 3.0, 4.0]); x + paddle.assign(np.array([[1, 2, 3, 4]], 'float32'));"
    "paddle.assign(np.array([True, False])); paddle.assign(np.array([], 'float32')); paddle.to_tensor([7, 8]);"
    "paddle.put_along_axis(x, i % 3, 9.0, 1); paddle.rank(x); paddle.eye(3); paddle.eye(2, 3); paddle.linspace(0, 1, 5);"
    "paddle.meshgrid(x[0], y[0])[1]; paddle.vander(x[0])",
    "norms": "paddle.norm(x, axis=1); paddle.norm(x); paddle.norm(x, p=1, axis=0); paddle.norm(x, p=float('inf'), axis=0);"
    "paddle.norm(im, p='fro', axis=[2, 3]); F.normalize(x); F.cosine_similarity(x, y); F.pairwise_distance(x, y);"
    "paddle.dist(x, y); F.triplet_margin_loss(x, y, x + 1)",
    "activations": "F.celu(x); F.hardshrink(x); F.softshrink(x); F.tanhshrink(x); F.thresholded_relu(x); F.maxout(im, 2);"
    "F.celu(x, 0.7); F.hardshrink(x, 0.2); F.softshrink(x, 0.3); F.thresholded_relu(x, 0.4); paddle.stanh(x);"
    "paddle.logit(F.sigmoid(x)); F.rrelu(x, training=False); paddle.lerp(x, y, 0.3); paddle.lerp(x, y, F.sigmoid(y));"
    "paddle.heaviside(x, y); F.gumbel_softmax(x) * 0",
    "losses": "F.nll_loss(F.log_softmax(x), i[:, 0]); F.smooth_l1_loss(x, y); F.smooth_l1_loss(x, y, delta=0.3);"
    "F.nll_loss(F.log_softmax(x), i[:, 0], reduction='none', ignore_index=1); F.kl_div(F.log_softmax(x), F.softmax(y));"
    "F.binary_cross_entropy(F.sigmoid(x), F.sigmoid(y)); F.binary_cross_entropy_with_logits(x, F.sigmoid(y));"
    "F.sigmoid_focal_loss(x, F.sigmoid(y)); F.label_smooth(F.one_hot(i, 6)); F.cross_entropy(x, i[:, :1]);"
    "F.kl_div(F.log_softmax(x), F.softmax(y), reduction='sum'); "
    "F.binary_cross_entropy_with_logits(x, F.sigmoid(y), None, 'sum')",
    "pixels": "F.pixel_shuffle(im, 2); F.pixel_unshuffle(im, 2); F.channel_shuffle(im, 2); F.temporal_shift(im, 2, 0.25);"
    "F.unfold(im, 3, 1, 1); F.fold(F.unfold(im, 2, 2), [6, 6], 2, 2); F.affine_grid(im[:, 0, :2, :3], [2, 4, 6, 6]);"
    "F.grid_sample(im, paddle.tanh(im.transpose([0, 2, 3, 1])[:, :, :, :2])); "
    "F.affine_grid(im[:, 0, :2, :3], [2, 4, 5, 3], False);"
    "F.grid_sample(im, paddle.tanh(im.transpose([0, 2, 3, 1])[:, :, :, :2]), 'nearest', 'border', False)",
    "places": "paddle.masked_select(x, x > 0); x[x > 0]; paddle.nonzero(x > 0); paddle.masked_fill(x, x > 0, 1.0);"
    "paddle.take(x, i);"
    "F.sequence_mask(i[:, 0], maxlen=5); F.sequence_mask(i[:, 0] + 1);"
    "F.sequence_mask(i[:, 0], paddle.shape(x)[0]);"
    " paddle.index_add(x, i[:, 0] % 3, 0, y);"
    "paddle.repeat_interleave(x, 2, 1); paddle.repeat_interleave(x, 2, 0); paddle.crop(x[:1], [1, 2], [0, 1]);"
    "paddle.multiplex([x, y], i[:, :1].astype('int32') % 2)",
    "shapes": "paddle.tile(x, [2, 1]); paddle.tile(x, [3, 1, 2]); paddle.expand(x, [2, 3, 4]); paddle.expand_as(x[:1], x);"
    "paddle.flatten(x); paddle.reshape(x, [-1]); paddle.reshape(im, [-1, 6]); paddle.concat([x, y, x]); x[1:] + y[:-1];"
    "paddle.concat([x, x[:1]]); paddle.reshape(im, [0, -1]); paddle.full(paddle.shape(x), 1.5);"
    "paddle.reshape(x, [paddle.shape(x)[0] * 2, -1]); paddle.reshape(x, [paddle.max(i) + 2, 3]);"
    "paddle.tile(x, [1, i[0, 0] + 1]);"
    "paddle.tile(x, [paddle.shape(x)[0], 1]); paddle.expand(x, [paddle.max(i), -1, -1])",
    "matrices": "paddle.einsum('ij,kj->ik', x, y); paddle.kron(x, y); paddle.cross(x[:, :3], y[:, :3], 1);"
    "paddle.trace(paddle.matmul(x, y, True));"
    "paddle.diag(x[0]); paddle.diag(x[0], 1, 2.0); paddle.diag_embed(x); paddle.isclose(x, y); paddle.allclose(x, x);"
    "paddle.equal_all(x, x); paddle.linalg.multi_dot([x, y.t(), x]); F.bilinear(x, y, paddle.ones([2, 4, 4]))",
    "puts": "put(x, (slice(None), 0), 0.0); put(x, (slice(None), 1), y[:, 0]); put(x, (slice(None), slice(None, None, -1)), y);"
    "put(x, (slice(None), slice(1, 3)), 7.0); put(i, (slice(None), -1), 7)",
}


def put(x, place, value):
    return paddle.static.setitem(x * 1, place, value)


# Python's own control flow, which Paddle turns into its blocks


def leaves_early(x):
    i = paddle.zeros([1], "int64")
    while i < 3:
        x = paddle.tanh(x)
        i += 1
        if x.sum() > 1.0:
            break
    return x


def goes_on(x):
    total = x * 0.0
    for i in range(4):
        if x.sum() * i > 1.0:
            continue
        total = total + x * i
    return total


def adds_rows(x):
    total = paddle.zeros([4])
    for i in range(x.shape[0]):
        total = total + x[i]
    return total


def adds_each(x):
    total = paddle.zeros([4])
    for row in x:
        total = total + row * 2
    return total


def grows(x):
    i = paddle.zeros([1], "int64")
    t = x[:, :1]
    while i < 3:
        t = paddle.concat([t, x[:, 1:2]], 1)
        i += 1
    return t


def grows_in_batch(x):
    i = paddle.zeros([], "int64")
    t = x
    while i < 2:
        t = paddle.concat([t, x + i.astype("float32")])
        i += 1
    return t.sum(0)


def counts_in_floats(x):
    t = paddle.zeros([1])
    while t < 1.0:
        x = x * 2 + t
        t += 0.25
    return x


def one_way_only(x):
    y = x * 2
    if x.sum() > 0:
        y = y + 1
    return y


def adds_pairs(x):
    total = paddle.zeros([4])
    for row in x:
        for other in x:
            product = row * other
            total = total + product
    return total


FUNCTIONS = (adds_pairs, leaves_early, goes_on, adds_rows, adds_each, grows, grows_in_batch, counts_in_floats, one_way_only)


def feeds():
    r = np.random.default_rng(0)
    return {
        "x": r.normal(size=(3, 4)).astype("float32"),
        "y": r.normal(size=(3, 4)).astype("float32"),
        "i": r.integers(0, 3, size=(3, 4)),
        "im": r.normal(size=(2, 4, 6, 6)).astype("float32"),
    }


def declared(shapes, fed, said):
    """The variables of what is fed, and those of all expressions; of tuples, all parts."""
    variables = {n: paddle.static.data(n, shapes[n], str(a.dtype)) for n, a in fed.items()}
    found = [
        eval(one, {"paddle": paddle, "F": F, "np": np, "put": put, **variables}) for one in said
    ]  # what stands in this file
    return variables, [list(f) if isinstance(f, (list, tuple)) else [f] for f in found]


def program_of(said, fed, opened):
    """A program, its variables, and the answers to what is fed; an error where Paddle cannot."""
    shapes = {n: [-1, *a.shape[1:]] if opened else list(a.shape) for n, a in fed.items()}
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        variables, found = declared(shapes, fed, said)
    executor = paddle.static.Executor()
    executor.run(startup)
    fetched = [one for each in found for one in each]
    answers = executor.run(main, feed=fed, fetch_list=fetched)
    return main, variables, fetched, answers, [len(each) for each in found], executor


def can(one, fed, opened):
    try:
        program_of([one], fed, opened)
    except Exception as error:  # whatever Paddle says of what it cannot
        print(f"Paddle {paddle.__version__} has no {one}: {str(error).strip().splitlines()[-1][:100]}")
        return False
    return True


def make(folder, theme):
    fed = feeds()
    said = [one for one in map(str.strip, THEMES[theme].split(";")) if one]
    opened = [one for one in said if can(one, fed, True)]
    write(folder, theme, opened, fed, True)
    write(folder, f"{theme}_fixed", [one for one in said if one not in opened and can(one, fed, False)], fed, False)


def write(folder, name, said, fed, opened):
    if not said:
        return
    main, variables, fetched, answers, counts, executor = program_of(said, fed, opened)
    used = {n for block in main.blocks for op in block.ops for n in op.input_arg_names}
    read = [n for n in fed if n in used]
    paddle.static.save_inference_model(str(folder / name), [variables[n] for n in read], fetched, executor, program=main)
    expressions = [one for k, one in enumerate(said) for _ in range(counts[k])]
    given = {f"i_{n}": fed[n] for n in read}
    np.savez_compressed(folder / f"{name}.npz", said=expressions, **given, **{f"o{k}": a for k, a in enumerate(answers)})


def make_function(folder, function):
    """A file of one function, as `jit.save` writes it."""
    name, fed = function.__name__, feeds()["x"]
    spec = [paddle.static.InputSpec([None, 4], name="x")]
    try:
        paddle.jit.save(paddle.jit.to_static(function, full_graph=True), str(folder / name), input_spec=spec)
        answer = paddle.jit.load(str(folder / name))(paddle.to_tensor(fed))
    except Exception as error:
        print(f"Paddle {paddle.__version__} has no {name}: {str(error).strip().splitlines()[-1][:100]}")
        for file in folder.glob(f"{name}.*"):
            file.unlink()
        return
    np.savez_compressed(folder / f"{name}.npz", said=[name], i_x=fed, o0=answer.numpy())


def main(target):
    with tempfile.TemporaryDirectory() as folder:
        for function in FUNCTIONS:
            make_function(Path(folder), function)
        paddle.enable_static()
        for theme in THEMES:
            make(Path(folder), theme)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as held:
            for file in sorted(Path(folder).iterdir()):
                held.write(file, file.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
