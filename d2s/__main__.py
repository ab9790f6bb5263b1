"""The command line: `python -m d2s warmup | explain CODE | cache | info | inspect MODEL | run MODEL`.

>>> main(["explain", "D2S0070"])
D2S0070 is no code of d2s. Nearest: D2S0001, D2S0002, D2S0003, D2S0004
1
"""

import argparse
import io
import itertools
import json
import os
import platform
import sys
import textwrap
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from importlib import metadata
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

import d2s
from d2s import export, jit, types
from d2s.codegen import cache, emit, host, store
from d2s.errors import ArgumentError, D2SError, FileError
from d2s.export import summary
from d2s.jit.translated_layer import TranslatedLayer
from d2s.ops import OPS, Op
from d2s.ops.dispatch import handlers
from d2s.pages import PAGES
from d2s.runtime import executor, native_launcher
from d2s.static import save_to_file
from d2s.types import Type

Shapes = tuple[tuple[int, ...], ...]
PATTERNS: dict[int, tuple[Shapes, ...]] = {  # by the number of arrays; sizes do not matter, which axes repeat does
    1: (((7,),), ((3, 5),)),
    2: (
        ((7,), (7,)),
        ((4, 4), (4, 4)),
        ((7,), ()),
        ((), (7,)),
        ((3, 5), (5,)),
        ((3, 5), (3, 1)),
        ((3, 5), (5, 3)),
        ((2, 3, 5), (3, 1)),
    ),
    3: (((7,), (7,), (7,)), ((7,), (7,), ()), ((7,), (), (7,)), ((3, 5), (5,), (5,))),
}
FLAGS = (False, True)
WIDTH = 30  # of the progress bar


class Job(NamedTuple):
    """A kernel to have ready."""

    name: str
    text: str
    T: str


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    parser = _parser()
    given = parser.parse_args(argv)
    if given.command is None:
        parser.print_help()
        return 0
    try:
        status: int = given.command(given)
        sys.stdout.flush()
    except D2SError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m d2s", description="What d2s is, keeps and says.")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(metavar="command")
    warm = commands.add_parser("warmup", help="compile the kernels of every op for common dtypes and shapes ahead of time")
    warm.add_argument("--dtypes", default="float32,int64,bool", help="separated by commas (default: %(default)s)")
    warm.set_defaults(command=_warmup)
    page = commands.add_parser("explain", help="what a code like D2S0002 means, an example, the way out")
    page.add_argument("code", nargs="?", default="", help="without it: all codes")
    page.set_defaults(command=_explain)
    kept = commands.add_parser("cache", help="where compiled kernels are kept, how many, how large")
    kept.add_argument("--clear", action="store_true", help="remove them")
    kept.set_defaults(command=_cache)
    commands.add_parser("info", help="versions, CPU, threads").set_defaults(command=_info)
    shown = commands.add_parser("inspect", help="what a saved model is: inputs, outputs, ops, control flow, sizes")
    shown.add_argument("--json", action="store_true", help="as JSON")
    shown.set_defaults(command=_inspect)
    ran = commands.add_parser("run", help="run a saved model on arrays from .npy files")
    said = "one for each input, in order or as NAME=x.npy"
    ran.add_argument("--input", action="append", default=[], metavar="x.npy", help=said)
    ran.add_argument("--output", metavar="y.npz", help="where results go (default: they are printed)")
    ran.set_defaults(command=_run)
    for command in (shown, ran):
        command.add_argument("model", help="path of the model, with or without .pdmodel, or a folder of Paddle 1.x")
        command.add_argument("--method", default="forward", help="of a model with several (default: %(default)s)")
        command.add_argument("--params", metavar="FILE", help="the file of a folder that holds all its parameters")
    return parser


def _loaded(given: argparse.Namespace) -> tuple[TranslatedLayer, export.Model]:
    """The layer a command is about, and the model of its method."""
    layer = jit.load(given.model.removesuffix(".pdmodel"), params_filename=given.params)
    models = layer.models()
    if given.method not in models:
        raise ArgumentError("D2S0004", f"'{given.model}' has no method '{given.method}'", hint=f"--method {', '.join(models)}")
    return layer, models[given.method]


def _inspect(given: argparse.Namespace) -> int:
    layer, model = _loaded(given)
    facts = {"method": given.method, "methods": list(layer.models())} | summary.summary(model)
    print(json.dumps(facts, indent=1) if given.json else summary.text(facts))
    return 0


def _run(given: argparse.Namespace) -> int:
    layer, model = _loaded(given)
    ordered, named = [], {}
    for text in given.input:
        name, _, path = text.rpartition("=")
        if name in model.feeds:
            named[name] = d2s.to_tensor(_array(path))
        else:
            ordered.append(d2s.to_tensor(_array(text)))
    found = layer.method(given.method)(*ordered, **named)
    results = dict(zip(model.fetches, results_of(found), strict=False))
    if given.output:
        content = io.BytesIO()
        np.savez(content, **results)  # type: ignore[arg-type]
        save_to_file(given.output.removesuffix(".npz") + ".npz", content.getvalue())
        return 0
    for name, array in results.items():
        print(f"{name} {array.dtype.name}{list(array.shape)}\n{array}")
    return 0


def results_of(found: Any) -> list[np.ndarray]:
    """The arrays of whatever structure a model returns, in order."""
    if isinstance(found, dict | list | tuple):
        return [a for part in (found.values() if isinstance(found, dict) else found) for a in results_of(part)]
    return [np.asarray(found.numpy() if hasattr(found, "numpy") else found)]


def _array(path: str) -> np.ndarray:
    try:
        found = np.load(path, allow_pickle=False)
        if not isinstance(found, np.ndarray):
            with found:
                raise ValueError(f"it holds several, {', '.join(found)}")
    except (OSError, ValueError, EOFError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FileError("D2S3004", f"{path} cannot be read as an array: {why}", hint="numpy.save makes such files") from None
    return found


def _explain(given: argparse.Namespace) -> int:
    code = given.code.upper()
    if not code:
        print("\n".join(f"{name}  {page.meaning}" for name, page in PAGES.items()))
        return 0
    if code not in PAGES:
        whole = code if code.startswith("D2S") else f"D2S{code}"
        like = {name: SequenceMatcher(None, whole, name).ratio() for name in PAGES}
        near = ", ".join(sorted(sorted(PAGES, key=lambda name: (-like[name], name))[:4]))
        print(f"{given.code} is no code of d2s. Nearest: {near}")
        return 1
    print(page(code))
    return 0


def page(code: str) -> str:
    """The page of a code, as `explain` prints it."""
    meaning, *texts = PAGES[code]
    titles = ("An example that raises it:", "The way out:", "The example, corrected:")
    parts = [f"{title}\n\n{textwrap.indent(text.strip(), '    ')}" for title, text in zip(titles, texts, strict=True) if text]
    return "\n\n".join([f"{code}: {meaning}", *parts])


def _cache(given: argparse.Namespace) -> int:
    if given.clear:
        print(f"removed  {store.clear()} kernels")
    found = store.entries()
    print(f"folder   {store.folder()}\nkernels  {len(found)}")
    print(f"size     {_megabytes(sum(e.size for e in found))} of at most {_megabytes(store.LIMIT)}")
    return 0


def _megabytes(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB"


def _info(given: argparse.Namespace) -> int:
    cpu, features = host.cpu()
    vectors = [name for name in ("avx2", "fma", "avx512f", "neon", "sve") if f"+{name}" in features.split(",")]
    rows = {"d2s": d2s.__version__, "python": f"{platform.python_implementation()} {platform.python_version()}"}
    rows |= {package: _version(package) for package in ("numpy", "numba", "llvmlite")}
    rows |= {"LLVM": ".".join(map(str, llvm.llvm_version_info)), "system": platform.platform()}
    rows |= {"CPU": f"{cpu} ({', '.join(vectors) or 'no vector unit d2s knows'})", "threads": str(_threads())}
    native = getattr(handlers.base, "classes", None) is not None
    rows |= {"eager": "native doors" if native else "plain launcher", "kernels": str(store.folder())}
    print("\n".join(f"{name:9}{value}" for name, value in rows.items()))
    return 0


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _warmup(given: argparse.Namespace) -> int:
    dtypes = [types.dtype(name) for name in given.dtypes.split(",")]
    jobs = list(dict.fromkeys(_jobs(dtypes)))
    before, failed = len(store.entries()), list[str]()
    with cache.quiet():
        executor.execute()
        native_launcher.symbols()
        for done, job in enumerate(jobs, 1):
            _report(done, len(jobs), job.name)
            if not _compiled(job):
                failed.append(job.name)
    made = max(0, len(store.entries()) - before)
    ready, ops = len(jobs) - len(failed), len({job.name for job in jobs} - set(failed))
    print(f"{ready} kernels of {ops} ops are ready, {made} objects of them new, in {store.folder()}")
    if failed:
        print(f"left to their first use: {', '.join(dict.fromkeys(failed))}")
    return 0


def _compiled(job: Job) -> bool:
    """Compiles a kernel or loads it; not every op means something for every dtype asked for."""
    try:
        return cache.address(job.text, job.T) != 0
    except Exception:  # Numba's errors are no types of ours, and must not be imported for this
        return False


def _report(done: int, count: int, name: str) -> None:
    """A bar on a terminal, a line per tenth of the work elsewhere."""
    if sys.stdout.isatty():
        bar = "#" * (WIDTH * done // count)
        sys.stdout.write(f"\r[{bar:{WIDTH}}] {done}/{count} {name:20.20}" + ("\r\x1b[K" if done == count else ""))
        sys.stdout.flush()
    elif done * 10 // count > (done - 1) * 10 // count:
        print(f"{done}/{count} {name}")


def _jobs(dtypes: Sequence[types.DType]) -> Iterator[Job]:
    for op in [op for op in OPS.values() if "seed" not in op.arrays]:  # draws are too many: shapes are their attributes
        for inputs, attrs in _uses(op, dtypes):
            job = _job(op, inputs, attrs)
            if job:
                yield job


def _uses(op: Op, dtypes: Sequence[types.DType]) -> Iterator[tuple[tuple[Type, ...], dict[str, Any]]]:
    """Inputs and attributes an op is commonly called with."""
    for dtype, shapes in itertools.product(dtypes, PATTERNS.get(len(op.arrays), ())):
        inputs = tuple(Type(types.bool_ if k < op.kept else dtype, shape) for k, shape in enumerate(shapes))
        for attrs in _attributes(op, dtypes):
            yield inputs, attrs


def _attributes(op: Op, dtypes: Sequence[types.DType]) -> Iterator[dict[str, Any]]:
    """The defaults, and for what an axis or a dtype may be, the usual ones."""
    choices = {"axis": (None, 0, -1), "dtype": tuple(dtypes)} | dict.fromkeys(("keepdim", "transpose_x", "transpose_y"), FLAGS)
    names = list(op.attributes)
    for values in itertools.product(*(choices.get(name, (op.attributes[name],)) for name in names)):
        yield dict(zip(names, values, strict=True))


def _job(op: Op, inputs: tuple[Type, ...], attrs: dict[str, Any]) -> Job | None:
    """The kernel of a use; nothing where the op does not take these inputs or is none of one kernel."""
    try:
        attributes = op.canonical(inputs, attrs)
        outputs = op.infer(inputs, attributes)
        launch = emit.lower(op, inputs, outputs, attributes)
    except (D2SError, TypeError, ValueError, KeyError, IndexError, AttributeError):  # asking every op everything
        return None
    return Job(op.name, launch.text, launch.T)


if __name__ == "__main__":
    sys.exit(main())
