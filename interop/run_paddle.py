"""Runs saved models under real Paddle; stands alone, so that it runs where d2s is not installed.

In: a folder with `NAME.pdmodel` and friends and `NAME.RUN.in.npz` (feeds `f0`, `f1` ...), and at will the only ways to
go. Out: `NAME.RUN.WAY.npz` for each way of loading, and `report.json`: what went wrong, and each op, slot and attribute
Paddle has no word for.
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("FLAGS_enable_pir_api", "0")

import numpy as np
import paddle
from paddle import inference
from paddle.base import core
from paddle.base.proto import framework_pb2


def by_jit(prefix, runs):
    layer = paddle.jit.load(prefix)
    layer.eval()
    for feeds in runs:
        found = layer(*[paddle.to_tensor(f) for f in feeds])
        yield [t.numpy() for t in (found if isinstance(found, (list, tuple)) else [found])]


def by_inference(prefix, runs, optimize=True):
    config = inference.Config(prefix + ".pdmodel", prefix + ".pdiparams")
    config.disable_gpu()
    config.switch_ir_optim(optimize)
    if hasattr(config, "disable_glog_info"):
        config.disable_glog_info()
    predictor = inference.create_predictor(config)
    for feeds in runs:
        for name, feed in zip(predictor.get_input_names(), feeds, strict=True):
            handle = predictor.get_input_handle(name)
            handle.reshape(feed.shape)
            handle.copy_from_cpu(feed)
        predictor.run()
        yield [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def by_training(prefix, runs, steps=2):
    """What a loaded layer answers after some steps of SGD on the first run."""
    layer = paddle.jit.load(prefix)
    layer.train()
    sgd = paddle.optimizer.SGD(0.01, parameters=[p for p in layer.parameters() if not p.stop_gradient])
    for _ in range(steps):
        found = layer(*map(paddle.to_tensor, runs[0]))
        first = found[0] if isinstance(found, (list, tuple)) else found
        first.stop_gradient = False  # which 2.6.2 forgets
        (first * first).mean().backward()
        sgd.step()
        sgd.clear_grad()
    layer.eval()
    for feeds in runs:
        found = layer(*map(paddle.to_tensor, feeds))
        yield [t.numpy() for t in (found if isinstance(found, (list, tuple)) else [found])]


def by_executor(prefix, runs):
    paddle.enable_static()
    try:
        executor, scope = paddle.static.Executor(paddle.CPUPlace()), paddle.static.Scope()
        with paddle.static.scope_guard(scope):
            program, names, fetches = paddle.static.load_inference_model(prefix, executor)
            for feeds in runs:
                yield executor.run(program, feed=dict(zip(names, feeds, strict=True)), fetch_list=fetches)
    finally:
        paddle.disable_static()


WAYS = {
    "jit": by_jit,
    "executor": by_executor,
    "inference": by_inference,
    "training": by_training,
    "inference_plain": lambda prefix, runs: by_inference(prefix, runs, optimize=False),
}


USUAL = ("jit", "executor", "inference", "inference_plain")


def unknown_words(path):
    """Ops, slots and attributes of a file that Paddle's own declarations do not have, or have of another type."""
    protos = {p.type: p for p in map(framework_pb2.OpProto.FromString, core.get_all_op_protos())}
    for block in framework_pb2.ProgramDesc.FromString(path.read_bytes()).blocks:
        for op in block.ops:
            proto = protos.get(op.type)
            if proto is None:
                yield f"op {op.type}"
                continue
            declared = {a.name: a.type for a in proto.attrs}
            yield from (
                f"{op.type}: input {v.parameter}" for v in op.inputs if v.parameter not in {i.name for i in proto.inputs}
            )
            yield from (
                f"{op.type}: output {v.parameter}" for v in op.outputs if v.parameter not in {o.name for o in proto.outputs}
            )
            yield from (f"{op.type}: attribute {a.name}" for a in op.attrs if declared.get(a.name) != a.type)
            given = {v.parameter for v in op.inputs if v.arguments}
            yield from (f"{op.type}: no {i.name}" for i in proto.inputs if not i.dispensable and i.name not in given)


class Genuine(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(4, 4)

    def forward(self, x):
        return paddle.tanh(self.fc(x)) * 2.0 - x


class GenuineBranch(Genuine):
    def forward(self, x):
        h = self.fc(x)
        if paddle.sum(h) > 0:
            h = h + 1.0
        else:
            h = -h
        return h


class GenuineLoop(Genuine):
    def forward(self, x):
        i = paddle.full([], 0, "int64")
        while i < 3:
            x = paddle.tanh(self.fc(x))
            if paddle.sum(x) > 0:
                x = x - 0.5
            i = i + 1
        return x


def write_genuine(folder):
    """Models Paddle itself saves, with inputs and its own answers; the names of those it could save."""
    folder.mkdir(exist_ok=True)
    for kind in (Genuine, GenuineBranch, GenuineLoop):
        paddle.seed(3)
        layer = paddle.jit.to_static(kind(), input_spec=[paddle.static.InputSpec([None, 4], "float32", "x")])
        layer.eval()
        held = {}
        for i, x in enumerate((np.ones((2, 4), "float32"), -np.ones((1, 4), "float32"))):
            held[f"r{i}_f0"], held[f"r{i}_o0"] = x, layer(paddle.to_tensor(x)).numpy()
        paddle.jit.save(layer, str(folder / kind.__name__))
        np.savez(folder / f"{kind.__name__}.npz", **held)
        yield kind.__name__


def main(folder, ways):
    report = {"paddle": paddle.__version__, "failures": {}, "unknown": {}, "genuine": []}
    if not ways and paddle.__version__.startswith("2."):  # Paddle 3 writes files of another kind
        report["genuine"] = list(write_genuine(folder / "genuine"))
    for path in sorted(folder.glob("*.pdmodel")):
        prefix = str(path)[: -len(".pdmodel")]
        files = sorted(folder.glob(path.stem + ".*.in.npz"))
        runs = []
        for file in files:
            with np.load(file) as held:
                runs.append([held[f"f{i}"] for i in range(len(held.files))])
        report["unknown"][path.stem] = sorted(set(unknown_words(path)))
        for way in ways or USUAL:
            run = WAYS[way]
            try:
                for file, outputs in zip(files, run(prefix, runs), strict=True):
                    np.savez(str(file).replace(".in.npz", f".{way}.npz"), **{f"o{i}": o for i, o in enumerate(outputs)})
            except Exception as error:  # whatever Paddle raises is the result
                lines = [line for line in str(error).splitlines() if line.strip()]
                report["failures"][f"{path.stem} by {way}"] = f"{type(error).__name__}: {' '.join(lines[-4:])[:600]}"
    (folder / "report.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
