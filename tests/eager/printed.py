"""What the text of tensors is compared on: arrays by formulas, and print options. Needs NumPy only, so that Paddle's text of
the same arrays can be made elsewhere:

    python tests/eager/printed.py paddle > tests/eager/printed_by_paddle.json
"""

import hashlib
import importlib
import json
import pathlib
import sys

import numpy as np

DEFAULT = {"precision": 8, "threshold": 1000, "edgeitems": 3, "sci_mode": False, "linewidth": 80}
OPTIONS = [
    {},
    {"precision": 4},
    {"precision": 0},
    {"sci_mode": True, "precision": 3},
    {"threshold": 10, "edgeitems": 2},
    {"linewidth": 40},
    {"threshold": 5, "edgeitems": 1, "precision": 2, "linewidth": 20},
    {"linewidth": 1},
]
SHAPES = [
    *((), (1,), (6,), (7,), (40,), (999,), (1001,), (1, 1), (3, 1), (2, 3), (2, 20), (10, 101), (1001, 1), (2, 2000), (7, 150)),
    *((2, 2, 2), (2, 1, 3, 2), (1, 1, 1, 1, 1), (7, 8, 20), (3, 3, 120), (4, 300, 1), (0,), (0, 3), (3, 0)),
]
KINDS = {
    "fractions": lambda n: ((n * 7919 % 2003 - 1001) / 7.0).astype("float32"),
    "fractions above 0": lambda n: ((n * 7919 % 2003) / 7000.0).astype("float32"),
    "float64": lambda n: (n * 7919 % 2003 - 1001) / 3.0e3,
    "whole": lambda n: (n * 31 % 17).astype("float32"),
    "of all sizes": lambda n: np.array([1e-30, -0.0, 1e10, 0.1, 3e38, -1e-7, 12345.678], "float32")[n * 3 % 7],
    "not finite": lambda n: np.array([np.nan, 1.5, np.inf, 2.0, -np.inf, -0.0], "float32")[n * 5 % 6],
    "int64": lambda n: n * 7919 % 2003 - 1001,
    "uint8": lambda n: (n * 31 % 256).astype("uint8"),
    "bool": lambda n: n * 31 % 3 == 0,
}


def digests(library, options, kind):
    """A digest of the text of each shape."""
    library.set_printoptions(**DEFAULT | options)
    try:
        arrays = [np.reshape(KINDS[kind](np.arange(np.prod(shape, dtype=int))), shape) for shape in SHAPES]
        return " ".join(hashlib.sha256(repr(library.to_tensor(a)).encode()).hexdigest()[:8] for a in arrays)
    finally:
        library.set_printoptions(**DEFAULT)


def name(options, kind):
    return f"{kind} {json.dumps(options)}"


def stored():
    """The digests of Paddle's texts."""
    return json.loads(pathlib.Path(__file__).with_name("printed_by_paddle.json").read_text())


if __name__ == "__main__":
    library = importlib.import_module(sys.argv[1])
    found = {name(options, kind): digests(library, options, kind) for options in OPTIONS for kind in KINDS}
    json.dump(found, sys.stdout, indent=0)
