"""What Paddle's users write fits: each public function takes the arguments of Paddle 2.6.2, by name, order and default.

`paddle-2.6.2.txt` holds the signatures, as `record.py` found them. d2s may take more arguments, behind those.
"""

import functools
import inspect
import pathlib
import re

import d2s

RECORDED = pathlib.Path(__file__).with_name("paddle-2.6.2.txt")
PARTS = ["", "Tensor", "nn", "nn.functional", "nn.initializer", "nn.Layer", "optimizer", "optimizer.Optimizer", "optimizer.lr"]
PARTS += ["regularizer", "jit", "static", "static.nn", "static.Program", "static.Executor", "io", "metric", "metric.Metric"]
PARTS += ["vision", "vision.datasets", "vision.transforms", "vision.models", "callbacks", "callbacks.Callback", "Model"]
PARTS += ["nn.utils", "linalg", "autograd", "utils", "utils.dlpack", "utils.unique_name", "onnx", "optimizer.lr.LRScheduler"]
OTHERWISE = {  # and why
    **dict.fromkeys(("std", "var", "Tensor.std", "Tensor.var"), "'unbiased' is None and not True"),  # which says True
    **dict.fromkeys(("norm", "linalg.norm", "Tensor.norm"), "'p' is None and not 'fro'"),  # as in 3.3.1, and the same norm
    **{f"nn.{kind}1D": "'data_format' is 'NCHW' and not 'NCL'" for kind in ("BatchNorm", "InstanceNorm")},  # the same layout
    **{f"nn.{kind}3D": "'data_format' is 'NCHW' and not 'NCDHW'" for kind in ("BatchNorm", "InstanceNorm")},
    "nn.Conv1D": "'data_format' is '' and not 'NCL'",  # which it stands for
    **dict.fromkeys(("nn.Conv2D", "nn.Conv2DTranspose"), "'data_format' is '' and not 'NCHW'"),
    **dict.fromkeys(("nn.Conv3D", "nn.Conv3DTranspose"), "'data_format' is '' and not 'NCDHW'"),
    **dict.fromkeys(("nn.Layer", "nn.RNNCellBase"), "'dtype' is None and not 'float32'"),  # None: the default dtype
    **{f"nn.{name}": "'data_format' is None and not 'NCHW'" for name in ("Upsample", "functional.upsample", "functional.pad")},
    "nn.functional.interpolate": "'data_format' is None and not 'NCHW'",  # None: channels first, of any rank
    "jit.TranslatedLayer": "no 'programs'; no 'persistable_vars'",  # made by load()
    "static.append_backward": "no 'distop_context'",  # Paddle's own machinery
    "utils.unique_name.switch": "no 'new_para_name_checker'",
    "onnx.export": "'opset_version' is 18 and not 9",  # older ones cannot say all that d2s writes
    "io.DataLoader": "; ".join(  # 'reader_buffer_size' stands before them, as in 3.3.1
        f"{name!r} is not number {n}"
        for n, name in enumerate(
            ("prefetch_factor", "use_shared_memory", "timeout", "worker_init_fn", "persistent_workers"), 11
        )
    ),
}
PARAMETER = re.compile(r"(\*{0,2}|!)(\w+)(?:=(.*))?", re.DOTALL)


def names():
    """The public callables of d2s."""
    for part in PARTS:
        holder = functools.reduce(getattr, part.split("."), d2s) if part else d2s
        for name in getattr(holder, "__all__", None) or dir(holder):
            value = getattr(holder, name)
            if name[0] != "_" and callable(value) and not inspect.ismodule(value):
                yield f"{part}.{name}".lstrip(".")


def read(line):
    """A line of the record: a name, and (kind, name, default) of each parameter."""
    name, _, rest = line.rstrip(")\n").partition("(")
    parts = re.split(r", (?=(?:\*{0,2}|!)[A-Za-z_]\w*(?:=|,|$))", rest) if rest else []
    return name, [PARAMETER.fullmatch(part).groups() for part in parts]


RECORD = dict(map(read, RECORDED.read_text().splitlines())) if RECORDED.exists() else {}


def own(name):
    """What d2s has under a name: (kind, name, default) of each parameter."""
    value = functools.reduce(getattr, name.split("."), d2s)
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.KEYWORD_ONLY: "!"}
    found = inspect.signature(value).parameters.values()
    return [(kinds.get(p.kind, ""), p.name, None if p.default is p.empty else repr(p.default)) for p in found]


def same_default(ours, theirs):
    if theirs is None or ours is None:
        return ours == theirs or ours is not None  # what Paddle wants may be left out
    as_list = re.sub(r"^\((.*?),?\)$", r"[\1]", ours)
    return theirs == "<object>" or theirs in (ours, as_list) or number(ours) == number(theirs) is not None


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def differences(name):
    """What fits Paddle's signature and not ours."""
    ours, theirs = own(name), [p for p in RECORD[name] if p[1] != "name"]
    if re.match(r"Tensor\.|nn\.Layer\.|Model\.|[\w.]+\.(Optimizer|Program|Executor|Metric|Callback|LRScheduler)\.", name):
        ours, theirs = ours[1:], theirs[1:]  # self
    ours = [p for p in ours if p[1] != "name"]
    open_ended = any(kind == "**" for kind, _, _ in ours)
    taken = {n: default for kind, n, default in ours if kind in ("", "!")}
    order = [n for kind, n, _ in ours if kind == ""]
    for position, (kind, n, default) in enumerate(theirs):
        if kind in ("*", "**"):
            continue
        if n not in taken:
            if not open_ended:
                yield f"no {n!r}"
        elif kind == "" and order[position : position + 1] != [n]:
            yield f"{n!r} is not number {position}"
        elif not same_default(taken[n], default):
            yield f"{n!r} is {taken[n]} and not {default}"
    for _, n, default in [p for p in ours if p[0] == ""][len(theirs) :]:
        if default is None:
            yield f"{n!r} is wanted"


def test_signatures_are_those_of_paddle():
    found = {name: "; ".join(differences(name)) for name in RECORD}
    assert {name: said for name, said in found.items() if said} == OTHERWISE


if __name__ == "__main__":
    print("\n".join(names()))
