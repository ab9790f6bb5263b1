"""What a captured function read is changed between its calls: each gives what eager code gives, or is refused."""

import contextlib
import os
import pathlib
import types
from typing import Any

import numpy as np
import pytest
from changing_worlds import World

import d2s
from d2s.errors import D2SError

FIRST = int(os.environ.get("D2S_FUZZ_FIRST", "0"))
WORLDS, CALLS = int(os.environ.get("D2S_FUZZ_WORLDS", "300")), 8
pytestmark = pytest.mark.filterwarnings("ignore")


def outcome(function: Any, array: np.ndarray) -> tuple[Any, ...] | None:
    """Value, bits and gradient of a call, or what it raised; None where capture is refused."""
    x = d2s.to_tensor(array, stop_gradient=False)
    try:
        y = function(x)
    except D2SError as error:
        return None if error.code.startswith("D2S1") else ("raised", type(error), str(error).splitlines()[0])
    except Exception as error:
        return "raised", type(error)
    if not isinstance(y, d2s.Tensor):
        return "value", type(y), repr(y)
    gradient = None if y.stop_gradient else d2s.grad(y.sum(), x, allow_unused=True)[0]
    bits = None if gradient is None else gradient.numpy().tobytes()
    return repr(y.numpy()), y.dtype, y.stop_gradient, y.numpy().tobytes(), bits


def made(path: pathlib.Path) -> types.ModuleType:
    module = types.ModuleType(path.stem)
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("part", range(6))
def test_no_result_is_stale(part: int, tmp_path: pathlib.Path) -> None:
    compared = 0
    for seed in range(FIRST + part, FIRST + WORLDS, 6):
        world, path = World(seed), tmp_path / f"world_{seed}.py"
        path.write_text(world.text())
        module, done = made(path), []
        static = d2s.to_static(module.f)
        for call in range(CALLS):
            for change in world.changes():
                done.append(change)
                with contextlib.suppress(Exception):
                    exec(change, module.__dict__)
            array = np.arange(4, dtype="float32") + call % 2
            expected, found = outcome(module.f, array), outcome(static, array)
            said = f"world {seed}, call {call}\n{path.read_text()}\nchanges: {done}\neager {expected}\nstatic {found}"
            assert found in (None, expected), said
            compared += found is not None
        d2s.set_default_dtype("float32")
        d2s.jit.enable_to_static(True)
    assert compared > WORLDS / 6 * CALLS * 0.5
