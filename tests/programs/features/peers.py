"""What other compilers make of the rows: each row's own text, on the tensors of a peer, run eagerly and compiled.

In: the name of a peer, and a Python that has it. Out: its column of `peers.json`; `python peers.py torch.compile` writes it. A
row is asked where the peer's eager code can run it as it stands; each in a process of its own, with a time limit.
"""

import ast
import contextlib
import importlib
import io
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
FACTS = HERE / "peers.json"
SECONDS = 60
MODULES = ("branches", "loops", "containers", "functions", "exceptions", "effects", "gradients", "traps", "extents")
CANNOT = (AttributeError, NotImplementedError, TypeError, RuntimeError)  # eagerly: the row does not fit the peer's tensors


class Later:
    """A tensor that the process which runs the row will make."""

    def __init__(self, data, dtype=None):
        self.data = data


class Torch:
    module = "torch"

    def __init__(self):
        import torch

        self.torch, self.version = torch, torch.__version__

    def tensor(self, data, learning):
        made = self.torch.tensor(data)
        return made.requires_grad_(learning and made.is_floating_point())

    def names(self):
        t = self.torch
        return {"concat": t.cat, "to_tensor": t.tensor, "cast": lambda x, dtype: x.to(getattr(t, dtype))}

    def plain(self, x):
        return x.detach().tolist() if isinstance(x, self.torch.Tensor) else None

    def gradients(self, results, inputs):
        wanting = [x for x in results if x.requires_grad]
        sum((x.sum() for x in wanting), self.torch.tensor(0.0)).backward() if wanting else None
        return [None if x.grad is None else x.grad.tolist() for x in inputs]


class Compile(Torch):
    def compiled(self, function):
        return self.torch.compile(function, fullgraph=True, backend="eager")


class Script(Torch):
    def compiled(self, function):
        return self.torch.jit.script(function)


class Jax:
    module = "jax"

    def __init__(self):
        import jax

        self.jax, self.version = jax, jax.__version__

    def tensor(self, data, learning):
        return self.jax.numpy.array(data)

    def names(self):
        numpy = self.jax.numpy
        return {"concat": numpy.concatenate, "to_tensor": numpy.array, "cast": lambda x, dtype: x.astype(dtype)}

    def plain(self, x):
        return x.tolist() if isinstance(x, self.jax.Array) else None

    def gradients(self, results, inputs):
        return []

    def compiled(self, function):
        return self.jax.jit(function)


class Paddle:
    module = "paddle"

    def __init__(self):
        import paddle

        self.paddle, self.version = paddle, paddle.__version__

    def tensor(self, data, learning):
        made = self.paddle.to_tensor(data)
        made.stop_gradient = not (learning and made.is_floating_point())
        return made

    def names(self):
        p = self.paddle
        return {"concat": p.concat, "to_tensor": p.to_tensor, "cast": p.cast}

    def plain(self, x):
        return x.tolist() if isinstance(x, self.paddle.Tensor) else None

    def gradients(self, results, inputs):
        wanting = [x for x in results if not x.stop_gradient]
        sum((x.sum() for x in wanting), self.paddle.to_tensor(0.0)).backward() if wanting else None
        return [None if x.grad is None else x.grad.tolist() for x in inputs]

    def compiled(self, function):
        return self.paddle.jit.to_static(function, full_graph=True)


class AutoGraph:
    """TensorFlow's tensors have few methods: they get those that rows ask, by its own functions."""

    module = "tensorflow"

    def __init__(self):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow

        self.tf, self.version = tensorflow, tensorflow.__version__
        tf, of = tensorflow, tensorflow.Tensor
        of.sum, of.max, of.tanh = tf.reduce_sum, tf.reduce_max, tf.tanh
        of.reshape, of.tolist = tf.reshape, lambda x: x.numpy().tolist()
        of.item = lambda x: x.numpy().item()

    def tensor(self, data, learning):
        return self.tf.constant(data)

    def names(self):
        tf = self.tf
        return {"concat": tf.concat, "to_tensor": tf.constant, "cast": tf.cast}

    def plain(self, x):
        return x.numpy().tolist() if isinstance(x, self.tf.Tensor) else None

    def gradients(self, results, inputs):
        return []

    def compiled(self, function):
        return self.tf.function(function, autograph=True)


PEERS = {"torch.compile": Compile, "TorchScript": Script, "jax.jit": Jax, "Paddle": Paddle, "AutoGraph": AutoGraph}


def main(name):
    shim = types.ModuleType("d2s")
    sys.modules |= {"d2s": shim, "programs_compare": types.ModuleType("programs_compare")}
    vars(sys.modules["programs_compare"]).update(t=Later, outcome=None, Refused=Exception)
    peer = PEERS[name]()
    with tempfile.TemporaryDirectory() as folder:
        sys.path[:0] = [folder, str(HERE)]
        write_facts(name, peer, shim, folder)


def write_facts(name, peer, shim, folder):
    for module in MODULES:
        pathlib.Path(folder, f"feature_{module}.py").write_text(undecorated((HERE / f"feature_{module}.py").read_text()))
        importlib.import_module(f"feature_{module}")
    rows = importlib.import_module("feature_rows").ROWS
    found = {f"{group}|{title}": asked(peer, shim, row) for (group, title), row in rows.items() if row.make}
    facts = json.loads(FACTS.read_text()) if FACTS.exists() else {}
    facts[name] = {"version": peer.version, "rows": found}
    FACTS.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")


def undecorated(text):
    """A module of rows whose functions are put into the table behind their text: Paddle calls their decorators again."""
    tree = ast.parse(text)
    body = []
    for node in tree.body:
        marks = [d for d in getattr(node, "decorator_list", ()) if ast.unparse(d).startswith("row")]
        body.append(node)
        for mark in marks:
            node.decorator_list.remove(mark)
            body.append(ast.Expr(ast.Call(mark, [ast.Name(node.name, ast.Load())], [])))
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))


def asked(peer, shim, row):
    """What becomes of a row in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            os.write(writing, judged(peer, shim, row).encode())
        finally:
            os._exit(0)
    os.close(writing)
    until = time.monotonic() + SECONDS
    while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < until:
        time.sleep(0.05)
    if not ended[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "hangs"
    with os.fdopen(reading) as said:
        found = said.read()
    assert found or os.WIFSIGNALED(ended[1]), row.title
    return found or "dies"


def judged(peer, shim, row):
    vars(shim).update(peer.names())
    try:
        expected = run(peer, row, lambda function: function)
    except CANNOT:
        return "-"
    try:
        found = run(peer, row, peer.compiled)
    except Exception:
        return "refused"
    if len(found) < len(expected) or any(b[0] != a[0] and b[0][0] == "raised" for a, b in zip(expected, found, strict=False)):
        return "refused"
    return "one graph" if found == expected else "wrong"


def run(peer, row, made):
    """What every call gives, prints and leaves behind, and its gradients."""
    subject = row.make()
    function, seen = made(subject.function), []
    for n, args in enumerate((*row.sets, *row.sets, *row.sets[::-1])):
        subject.before(n)
        given = [peer.tensor(a.data, row.group == "Gradients") if isinstance(a, Later) else a for a in args]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                result = function(*given)
                ended = "returned", plain(peer, result)
            except CANNOT:
                raise
            except Exception as error:
                result, ended = None, ("raised", type(error).__name__)
        tensors = [x for x in given if peer.plain(x) is not None]
        gradients = peer.gradients([x for x in flat(result) if peer.plain(x) is not None], tensors)
        seen.append((ended, printed.getvalue(), repr(plain(peer, subject.state())), gradients))
    return seen


def flat(value):
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else None
    return [value] if parts is None else [leaf for part in parts for leaf in flat(part)]


def plain(peer, value):
    """A result by structure and values; numbers of Python are told from tensors."""
    if isinstance(value, dict):
        return {k: plain(peer, v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [plain(peer, v) for v in value]
    found = peer.plain(value)
    return ("tensor", repr(found)) if found is not None else repr(value)


if __name__ == "__main__":
    main(sys.argv[1])
