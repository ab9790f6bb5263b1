"""The test modules here import the corpus and the runtime stub beside them, under any import mode of pytest."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
