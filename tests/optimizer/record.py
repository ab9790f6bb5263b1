"""Records what real Paddle does, for tests that run without it: `python tests/optimizer/record.py` where paddle is installed.

Writes references.npz beside itself: the rates of all schedules, the parameters and the state of all optimizers. Made by
Paddle 3.3.1; 2.6.2, which has no amsgrad, gives the same bits.
"""

import importlib
import pathlib
import sys

import numpy as np
import schedules
import trajectories


def record(path):
    paddle = importlib.import_module("paddle")
    found = {f"schedule {name}": np.array(schedules.run(paddle.optimizer.lr, name)) for name in schedules.SCHEDULES}
    for case in trajectories.CASES:
        with paddle.utils.unique_name.guard():
            arrays = trajectories.run(paddle, case)
        found[f"{case} names"] = np.array(list(arrays))
        found[f"{case} values"] = np.concatenate([array.reshape(-1) for array in arrays.values()])
    np.savez_compressed(path, **found)


if __name__ == "__main__":
    record(*(sys.argv[1:] or [pathlib.Path(__file__).resolve().parent / "references.npz"]))
