"""Every public call, on arguments that nobody should give: wrong types, ranks, dtypes, sizes, and objects that raise.

In: a seed and a first case. Out, on stdout: a JSON line per finding - an exception that is no coded error and not what Python
itself says of a wrong call. What the process is about to do is written to a file first, so that whoever started it can tell
which call ended it. `python tests/fuzz/public_calls.py SEED CASE` does one case and shows everything.
"""

import contextlib
import copy
import faulthandler
import inspect
import io
import json
import operator
import os
import pathlib
import random
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings

import numpy as np

import d2s
from d2s.errors import D2SError, InternalError

PATIENCE = 20.0  # seconds a call may take, compiling included; what takes longer hangs
MEMORY = 3 << 30  # bytes of address space the process may add
DECLARED = 0.2  # the share of calls that are made while a program is declared
PARTS = ["", "nn", "jit", "optimizer", "static", "utils", "utils.dlpack", "utils.unique_name", "autograd", "version"]
PARTS += [
    "nn.functional",
    "nn.initializer",
    "nn.utils",
    "optimizer.lr",
    "regularizer",
    "io",
    "linalg",
    "static.nn",
    "onnx",
    "debug",
]
PARTS += ["vision", "vision.transforms", "vision.datasets", "vision.models", "metric", "callbacks", "hapi"]
PARTS += ["dataset", "dataset.mnist", "dataset.reader"]
INSIDE = {  # modules that are attributes of `d2s` and no part of its API: what users call of them is published elsewhere
    **dict.fromkeys(("arguments", "later"), "how names are published"),
    **dict.fromkeys(
        ("ast_transforms", "convert", "capture", "stages", "ir", "once", "exact", "forks", "parsing", "passes", "autodiff"),
        "machinery",
    ),
    **dict.fromkeys(("codegen", "runtime", "eager", "in_place_forms", "export", "compat"), "machinery"),
    **dict.fromkeys(
        ("memory", "place", "types", "extents", "reckoned", "default_dtype", "whereabouts"), "facts the machinery goes by"
    ),
    **dict.fromkeys(("ops", "checkpoint", "flags", "limits"), "their functions are those of `d2s` itself"),
    "errors": "exceptions, which are raised and caught",
    "pages": "what codes mean",
    "unique_name": "utils.unique_name",
    "reader": "dataset.reader",
    "hapi.callbacks": "callbacks",
}
SKIPPED = {  # not called, and why
    "nn.initializer.begin": "called by layers that have made a parameter",
    "nn.initializer.known": "called by layers that are about to make one",
    "Tensor.__class__": "Python's own",
    "Tensor.__init_subclass__": "Python's own",
    "Tensor.__subclasshook__": "Python's own",
    "Tensor.__getattribute__": "Python's own",
    "Tensor.__getstate__": "Python's own",
    "Tensor.__dir__": "Python's own",
    "Tensor.__sizeof__": "Python's own",
    "Tensor.__setattr__": "sets what kernels count on: not a call of the API",
    "Tensor.__delattr__": "the same",
    "Tensor.__init__": "makes a tensor of a tensor",
    "Tensor.__deepcopy__": "called by copy only",
    "Tensor.__reduce_ex__": "called by pickle only",
    "Tensor.__reduce__": "called by pickle only",
    "Tensor.__array_function__": "called by NumPy only",
    "jit.TranslatedLayer": "made by load()",
    "jit.TracedLayer": "made by trace()",
    "jit.StaticFunction": "made by to_static()",
    "Tensor.__new__": "leaves a tensor without values",
    **dict.fromkeys(("Model.names", "Model.numbers", "Model.split"), "steps of its loops"),
    **dict.fromkeys((f"static.Scope.{name}" for name in ("now", "optimizer", "place", "started")), "asked by the Executor"),
    **{f"vision.models.vgg{layers}": "large, and VGG of other layers" for layers in (11, 13, 16, 19)},
    **{f"vision.models.{name}": "large, and ResNet of other layers" for name in ("resnet101", "resnet152")},
    **{f"vision.models.wide_resnet{name}": "the same" for name in ("50_2", "101_2")},
    **{f"optimizer.{kind}.{name}": "asked by step()" for kind in ("SGD", "LBFGS", "AdamW") for name in ("rule_of", "numbers")},
}


OWN = {"node"}  # parameters that d2s itself gives


class Boom(Exception):
    """What hostile objects raise: the user's own exception, which is to come through or to be told."""


def _boom(*_, **__):
    raise Boom


DUNDERS = (
    *("array", "bool", "call", "contains", "eq", "float", "format", "getitem", "hash", "index", "int", "iter", "len", "lt"),
    *("add", "radd", "mul", "rmul", "neg", "str", "repr", "enter", "exit", "dlpack", "dlpack_device", "array_interface"),
    *("fspath", "complex", "next", "reduce_ex", "deepcopy", "getattr"),
)
Raising = type("Raising", (), {f"__{name}__": _boom for name in DUNDERS} | {"__slots__": ()})


class Liar:
    """Says it is what it is not."""

    shape, dtype, ndim, stop_gradient, node, position = [3], "float32", -1, False, None, 0

    def __len__(self):
        return 1 << 40

    def __index__(self):
        return 1 << 70

    def __float__(self):
        return float("nan")

    def __getitem__(self, at):
        return self


class Endless(list):
    def __iter__(self):
        raise Boom

    def __len__(self):
        return 3


def _nested(depth):
    found = [1.0]
    for _ in range(depth):
        found = [found]
    return found


def _circular():
    found = [1, 2]
    found.append(found)
    return found


def _circular_dict():
    found = {}
    found["self"] = found
    return found


TENSORS = {
    "float32 vector": lambda: d2s.to_tensor([1.0, -2.0, 3.0]),
    "float32 matrix": lambda: d2s.to_tensor(np.arange(6, dtype="float32").reshape(2, 3)),
    "float32 scalar": lambda: d2s.to_tensor(2.5),
    "int64 vector": lambda: d2s.to_tensor([2, 0, -7]),
    "int64 scalar": lambda: d2s.to_tensor(3),
    "bool vector": lambda: d2s.to_tensor([True, False, True]),
    "empty": lambda: d2s.to_tensor(np.zeros((0, 3), "float32")),
    "not finite": lambda: d2s.to_tensor([float("nan"), float("inf"), -0.0]),
    "leaf": lambda: d2s.to_tensor([1.0, 2.0, 3.0], stop_gradient=False),
    "result": lambda: d2s.to_tensor([1.0, 2.0, 3.0], stop_gradient=False) * 2.0,
}
RARE_TENSORS = {
    "float64": lambda: d2s.to_tensor(np.zeros((3, 1))),
    "uint8": lambda: d2s.to_tensor(np.array([255, 0], "uint8")),
    "int32": lambda: d2s.to_tensor(np.array([[-(2**31)]], "int32")),
    "rank 32": lambda: d2s.to_tensor(np.zeros((1,) * 32, "float32")),
    "four axes": lambda: d2s.to_tensor(np.ones((2, 1, 3, 2), "float32")),
    "int64 extremes": lambda: d2s.to_tensor([-(2**63), 2**63 - 1]),
}
PLAIN = [
    *(None, True, False, 0, 1, -1, 2, 5, 31, 64, -(10**6), 2**31, 2**62, -(2**63), 2**63, 2**64, 10**30, 10**5000),
    *(0.5, -0.0, 1e308, 1e-320, float("nan"), float("inf"), float("-inf"), 2j, ..., NotImplemented, slice(None), range(3)),
    *(
        "",
        "x",
        "float32",
        "int64",
        "bool",
        "sum",
        "cpu",
        "gpu:0",
        "folder/x",
        "\0",
        "é" * 50,
        b"",
        b"x",
        {"x": 1},
        {1: 2},
        {"shape": [3]},
    ),
    *((), (0,), (-1,), (2, 3), (1, 0), (1 << 40, 1 << 40), (10**12,), (1 << 62,), (3.5,), ("a",), (None,), {}, set(), {1}),
    *([], [0], [1.5], [-1, -1], [10**12], [2**62], [2**31, 2**31, 2**31], [1] * 40, [[1], [2, 3]], frozenset(), range(10**12)),
    *(int, float, object, np.float32, d2s.float32, d2s.Tensor, callable, np.add, d2s.add),
]
HOSTILE = {
    **{f"tensor: {name}": make for name, make in (TENSORS | RARE_TENSORS).items()},
    **{f"plain {n}: {type(v).__name__}": lambda v=v: copy.copy(v) for n, v in enumerate(PLAIN)},
    "circular list": _circular,
    "circular dict": _circular_dict,
    "deep list": lambda: _nested(100_000),
    "list of 40 levels": lambda: _nested(40),
    "uneven list": lambda: [[1, 2], [3, [4]]],
    "generator": lambda: (x for x in range(3)),
    "raising object": Raising,
    "raising list": lambda: Endless([1, 2, 3]),
    "liar": Liar,
    "lambda": lambda: lambda x: x * 2,
    "raising function": lambda: _boom,
    "object": object,
    "list with a tensor": lambda: [d2s.to_tensor([1.0]), 2],
    "tuple of tensors": lambda: (d2s.to_tensor([1.0]), d2s.to_tensor([[2.0]])),
    "list of raising objects": lambda: [Raising(), Raising()],
    "class": lambda: Raising,
    "layer": lambda: d2s.nn.Linear(3, 2),
    "NumPy float64": lambda: np.ones((2, 3)),
    "NumPy of no axis": lambda: np.array(3.0, "float32"),
    "NumPy objects": lambda: np.array([None, "x"], object),
    "NumPy text": lambda: np.array(["a", "b"]),
    "NumPy dates": lambda: np.array(["2020-01-01"], "M8[D]"),
    "NumPy records": lambda: np.zeros(2, [("a", "f4"), ("b", "i8")]),
    "NumPy complex": lambda: np.zeros(2, "complex64"),
    "NumPy float16": lambda: np.zeros(2, "float16"),
    "NumPy uint64": lambda: np.array([2**64 - 1], "uint64"),
    "NumPy big-endian": lambda: np.arange(3, dtype=">i4"),
    "NumPy int64": lambda: np.int64(3),
    "NumPy bool": lambda: np.bool_(True),
    "masked": lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    "large broadcast": lambda: np.broadcast_to(np.float32(1), (1 << 20, 1 << 20)),
}
SENSIBLE = {  # by the name of a parameter
    "axis": lambda r: r.choice([0, -1, 1, None, [0, 1], (0,)]),
    "axes": lambda r: r.choice([0, [0, 1]]),
    "shape": lambda r: r.choice([[3], [2, 3], [], [0], (1, 3), [-1], [3, 1]]),
    "dtype": lambda r: r.choice(["float32", "int64", "bool", "float64", None]),
    "keepdim": lambda r: r.choice([True, False]),
    "other": lambda r: r.choice([2, 1.5, *[t() for t in TENSORS.values()]]),
    "n": lambda r: r.choice([0, 1, 3]),
    "seed": lambda r: r.choice([0, 7]),
    "path": lambda r: r.choice(["net", "folder/net", "missing/net"]),
    "parameters": lambda r: list(d2s.nn.Linear(3, 2).parameters()),
    "input_spec": lambda r: [d2s.static.InputSpec([None, 3], "float32")],
    "function": lambda r: r.choice([lambda x: x + 1, lambda x, y: x if x.sum() > 0 else y]),
    "layer": lambda r: r.choice([d2s.nn.Linear(3, 2), lambda x: x * 2]),
    "spec": lambda r: r.choice(["", ".3f", "d", ">10"]),
    "learning_rate": lambda r: 0.1,
    "stop_gradient": lambda r: r.choice([True, False]),
}


def _methods(kind, of, *, dunders):
    for name in dir(of):
        value = getattr(of, name)
        if (name[0] != "_" or (dunders and name.startswith("__"))) and callable(value):
            yield f"{kind}.{name}", value
        elif name[0] != "_" and isinstance(value, property) and value.fset:
            yield f"{kind}.{name}", value.fset


def public():
    """Every public callable by name: functions, classes, and the methods and settable attributes of what RECEIVERS makes."""
    found = {}
    for part in PARTS:
        holder = d2s
        for name in part.split(".") if part else []:
            holder = getattr(holder, name)
        published = getattr(holder, "__all__", None)
        for name, value in ((name, getattr(holder, name)) for name in published or dir(holder)):
            # of a plain module that does not say: what it defines, not what it reads
            own = inspect.ismodule(holder) and not hasattr(holder, "__path__") and published is None
            if name[0] != "_" and callable(value) and (not own or value.__module__ == holder.__name__):
                found.setdefault(f"{part}.{name}".lstrip("."), value)
    for kind in RECEIVERS:
        found |= _methods(kind, operator.attrgetter(kind)(d2s), dunders=kind == "Tensor")
    return {name: value for name, value in sorted(found.items()) if name not in SKIPPED}


def modules(holder=d2s, path=""):
    """The modules that are attributes of d2s, and of these again what they publish."""
    for name in getattr(holder, "__all__", None) or (dir(holder) if holder is d2s else ()):
        value = getattr(holder, name)
        if inspect.ismodule(value) and name[0] != "_" and value.__name__.startswith("d2s."):
            yield f"{path}{name}"
            if f"{path}{name}" not in INSIDE:
                yield from modules(value, f"{path}{name}.")


def _fit_model():
    model = d2s.Model(d2s.nn.Linear(3, 2))
    model.prepare(d2s.optimizer.SGD(0.1, model.parameters()), d2s.nn.MSELoss(), d2s.metric.Accuracy())
    return model


RECEIVERS = {  # what methods are called on, besides tensors
    "Tensor": None,
    "nn.Layer": lambda: d2s.nn.Linear(3, 2),
    "nn.LayerList": lambda: d2s.nn.LayerList([d2s.nn.Linear(3, 2)]),
    "nn.LayerDict": lambda: d2s.nn.LayerDict({"a": d2s.nn.Linear(3, 2)}),
    "nn.ParameterList": lambda: d2s.nn.ParameterList(d2s.nn.Linear(3, 2).parameters()),
    "optimizer.SGD": lambda: d2s.optimizer.SGD(parameters=d2s.nn.Linear(3, 2).parameters()),
    "optimizer.AdamW": lambda: d2s.optimizer.AdamW(parameters=d2s.nn.Linear(3, 2).parameters()),
    "nn.Sequential": lambda: d2s.nn.Sequential(d2s.nn.Linear(3, 2), d2s.nn.ReLU()),
    "static.InputSpec": lambda: d2s.static.InputSpec([None, 3]),
    "io.Subset": lambda: d2s.io.Subset([1, 2, 3], [0, 2]),
    "io.DataLoader": lambda: d2s.io.DataLoader(d2s.io.TensorDataset([d2s.to_tensor([[1.0], [2.0]])])),
    "vision.transforms.Normalize": lambda: d2s.vision.transforms.Normalize(0.5, 0.5),
    "optimizer.LBFGS": lambda: d2s.optimizer.LBFGS(parameters=d2s.nn.Linear(3, 2).parameters()),
    "optimizer.lr.StepDecay": lambda: d2s.optimizer.lr.StepDecay(0.1, 3),
    "optimizer.lr.ReduceOnPlateau": lambda: d2s.optimizer.lr.ReduceOnPlateau(0.1),
    "metric.Accuracy": lambda: d2s.metric.Accuracy(topk=(1, 2)),
    "metric.Auc": d2s.metric.Auc,
    "metric.Precision": d2s.metric.Precision,
    "Model": _fit_model,
    "static.Program": d2s.static.Program,
    "static.Executor": d2s.static.Executor,
    "static.Scope": d2s.static.Scope,
    "jit.StaticFunction": lambda: d2s.to_static(lambda x: d2s.scale(x, 2.0)),
    "io.TensorDataset": lambda: d2s.io.TensorDataset([d2s.to_tensor([[1.0], [2.0]])]),
    "io.BatchSampler": lambda: d2s.io.BatchSampler(dataset=[1, 2, 3], batch_size=2),
}


def receiver(name, rng):
    """What a method is called on."""
    kind = name.rpartition(".")[0]
    if kind == "Tensor":
        return [("self", rng.choice(list(TENSORS.items() if rng.random() < 0.8 else RARE_TENSORS.items())))]
    return [("self", (f"a {kind}", RECEIVERS[kind]))] if kind in RECEIVERS else []


def _parameters(function):
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)]


def _value(name, rng):
    """A value for a parameter, with words for it: as it should be, or anything."""
    if rng.random() < 0.5:
        return rng.choice(list(HOSTILE.items()))
    if name in SENSIBLE:
        return "sensible", lambda: SENSIBLE[name](rng)
    return rng.choice(list(TENSORS.items()))


def case(rng, number, calls):
    """A call: its name, the function, and makers of positional and keyword arguments, with words for them."""
    name = list(calls)[number % len(calls)]
    function, given = calls[name], receiver(name, rng)
    parameters = [p for p in _parameters(function)[len(given) :] if p.name not in OWN]
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        plain += ["args"] * rng.randrange(4)
    count = len(plain) if rng.random() < 0.6 else rng.randrange(len(plain) + 2)
    given += [(n, _value(n, rng)) for n in [*plain, "one too many"][:count]]
    rest = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL and p.name not in [n for n, _ in given]]
    named = {n: _value(n, rng) for n in rest if rng.random() < 0.3 and p_kind(parameters, n)}
    if rng.random() < 0.02:
        named[rng.choice(["axes", "x", "out", "self", "_", *plain])] = _value("wrong", rng)
    return name, function, given, named


def p_kind(parameters, name):
    return next(p for p in parameters if p.name == name).kind in (
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    )


def _captured(function):
    """The same call inside of a captured function."""

    def call(*args):
        return function(*args)

    return d2s.to_static(call)


def _used(result, rng):
    """Does something with what a call returned."""
    if isinstance(result, d2s.Tensor):
        repr(result)
        if not result.stop_gradient:
            result.sum().backward()
    elif isinstance(result, d2s.nn.Layer):
        result(
            *[
                rng.choice(list(TENSORS.values() if rng.random() < 0.8 else HOSTILE.values()))()
                for _ in range(rng.choice([1, 1, 2, 3]))
            ]
        )
    elif isinstance(result, d2s.optimizer.Optimizer):
        _stepped(result)
    elif isinstance(result, d2s.optimizer.lr.LRScheduler):
        result.step(*_some(rng, 1))
        result.get_lr()
    elif isinstance(result, d2s.nn.initializer.Initializer):
        result(*_some(rng, 2))
    elif isinstance(result, (d2s.jit.StaticFunction, d2s.vision.transforms.BaseTransform, d2s.vision.transforms.Compose)):
        result(*_some(rng, 1, least=1))
    elif isinstance(result, d2s.metric.Metric):
        result.update(*_some(rng, 2, least=1))
        result.accumulate()
    elif isinstance(result, (d2s.io.Dataset, d2s.io.DataLoader, d2s.io.Sampler, d2s.io.BatchSampler)):
        next(iter(result), None)
    elif hasattr(result, "__next__"):
        next(result, None)


def _some(rng, most, least=0):
    """Up to so many values, half of them tensors."""
    kinds = [rng.choice((TENSORS, HOSTILE)) for _ in range(rng.randint(least, most))]
    return [rng.choice(list(kind.values()))() for kind in kinds]


def _stepped(optimizer):
    """Two steps, with a gradient for each parameter."""
    for _ in range(2):
        for p in optimizer._parameter_list or ():
            p.grad = d2s.ones(p.shape)
        optimizer.step()
    optimizer.state_dict()


# by NumPy, of its arrays: Python's own words
SAID_OF_ARRAYS = ("truth value of an array", "iteration over a 0-d array", "does not support ufuncs")
STANDING_IN = (
    "/d2s/convert/loads.py",
    "/d2s/convert/calls.py",
    "/d2s/convert/attributes.py",
    "/d2s/convert/operators.py",
    "/d2s/capture/by_path.py",
)  # they do what the user's own text says
OF_THE_USER = ("fn(self)",)  # lines that call a function of the user, which may be one of C and leaves no frame of its own
CALLED_WRONGLY = re.compile(r"[\w>]\(\) (missing \d+ required|takes .* argument|got an unexpected keyword|got multiple values)")


def fault(error):
    """Why an exception is a finding, or nothing."""
    frames = list(traceback.extract_tb(error.__traceback__))
    while frames[-1].filename.endswith(STANDING_IN):
        frames.pop()
    where = next((f"{f.filename.rpartition('/d2s/')[2]}:{f.lineno}" for f in reversed(frames) if "/d2s/" in f.filename), "")
    if isinstance(error, InternalError):
        return f"{error} at {where}"
    if isinstance(error, (D2SError, Boom, NotImplementedError)) or frames[-1].filename == __file__:
        return None  # told with a code; or raised by a user's own function, or by Python, which found the call wrong
    if frames[-1].line in OF_THE_USER:
        return None
    if CALLED_WRONGLY.search(str(error)) or any(words in str(error) for words in SAID_OF_ARRAYS):
        return None
    return f"{type(error).__name__}: {error!s:.200} at {where}"


def attempt(seed, number, calls, note):
    """One case; a finding as a dict, or None."""
    rng = random.Random(f"{seed}:{number}")
    name, function, given, named = case(rng, number, calls)
    through = rng.random() < 0.1 and isinstance(function, d2s.ops.Op)
    words = ", ".join([f"{n} = {w}" for n, (w, _) in given] + [f"{n}={w}" for n, (w, _) in named.items()])
    text = f"{'to_static of ' if through else ''}{name}({words:.300})"
    note(f"{number} {text}")
    np.random.seed(0)
    try:
        if rng.random() < DECLARED:
            d2s.enable_static()
        args, kwargs = [make() for _, (_, make) in given], {n: make() for n, (_, make) in named.items()}
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if through:
                _captured(function)(*args)
            else:
                _used(function(*args, **kwargs), rng)
    except BaseException as error:
        why = fault(error)
        if why:
            return {"case": number, "call": text, "why": why, "trace": "".join(traceback.format_exception(error)[-12:])[-3000:]}
    finally:
        d2s.disable_static()
        d2s.set_default_dtype("float32")
        d2s.set_printoptions(8, 1000, 3, False, 80)
    return None


def limit():
    used = (
        int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if os.path.exists("/proc") else 0
    )
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(seed, first, seconds, notes, calls, most=10**12, patience=PATIENCE):
    """Cases from `first` on, for so many seconds, at most so many; longer where kernels are compiled first.

    At least half the calls are made.
    """
    faulthandler.enable()
    d2s.add(d2s.to_tensor([1.0]), 1)
    limit()
    until, number, least = time.monotonic() + seconds, first, first + len(calls) // 2
    with open(notes, "w", buffering=1) as file:
        while number < first + most and ((now := time.monotonic()) < until or (number <= least and now < until + 3 * seconds)):
            faulthandler.dump_traceback_later(patience, exit=True)
            found = attempt(seed, number, calls, lambda text: file.write(text + "\n"))
            faulthandler.cancel_dump_traceback_later()
            if found:
                print(json.dumps(found), flush=True)
            number += 1
    print(json.dumps({"done": number - first}))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        notes = pathlib.Path(sys.argv[4]).resolve() if len(sys.argv) > 4 else None
        os.chdir(folder)
        if notes:
            main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), notes, public(), *map(int, sys.argv[5:]))
        else:
            limit()
            found = attempt(sys.argv[1], int(sys.argv[2]), public(), print)
            print(found["trace"] if found else "no finding")
