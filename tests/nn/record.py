"""Records what real Paddle does with the cases of `compared`, for tests that run without it: `python tests/nn/record.py`.

Writes paddle.json beside itself, or the file named: of each result three numbers, see `compared.prints`. Made by Paddle 2.6.2.
"""

import importlib
import json
import pathlib
import sys
import warnings

import compared


def record(path):
    warnings.simplefilter("ignore")
    paddle, found = importlib.import_module("paddle"), {}
    for name in compared.CASES:
        try:
            arrays = compared.run(paddle, name)
        except Exception as error:  # what this Paddle has not, or cannot do on a CPU
            print(f"left out: {name}: {str(error).strip().splitlines()[-1:]}", file=sys.stderr)
            continue
        found[name] = {key: [list(a.shape), *(float(f"{n:.6g}") for n in compared.prints(a))] for key, a in arrays.items()}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(values)}" for name, values in found.items())
    pathlib.Path(path).write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    record(*(sys.argv[1:] or [pathlib.Path(__file__).resolve().parent / "paddle.json"]))
