"""The test here imports the generator beside it and the comparison of tests/programs, under any import mode of pytest."""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "programs")]
