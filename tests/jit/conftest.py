"""The modules here import each other under any import mode of pytest."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
