"""`python -m d2s.compat [--api 1.x|2.0-alpha|2.2|2.x] script.py [args…]`, or `-m module`: runs a Paddle script on d2s.

>>> import os, tempfile
>>> path = os.path.join(tempfile.mkdtemp(), "script.py")
>>> _ = open(path, "w").write("import paddle\\nprint(paddle.__version__, __name__)")
>>> main(["--api", "2.2", path])
2.2.0-rc0 __main__
0
"""

import argparse
import os
import runpy
import sys
from collections.abc import Sequence

from d2s.compat.generation import of_script
from d2s.compat.hook import GENERATIONS, installed
from d2s.compat.texts import texts_of


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one script; its own exit status is that of a process."""
    parser = argparse.ArgumentParser("python -m d2s.compat", description="Runs a script that imports paddle on d2s.")
    parser.add_argument(
        "--api", choices=list(GENERATIONS), help="the generation it is written for; told from its names if not given"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="the script is the name of a module")
    parser.add_argument("script")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    given = parser.parse_args(argv)
    if not given.module and not os.path.exists(given.script):
        parser.error(f"there is no {given.script}")
    with installed(given.api or of_script(*texts_of(given.script, given.module))):
        before, folder = sys.argv, os.path.dirname(os.path.abspath(given.script))
        sys.argv = [given.script, *given.args]
        sys.path[:0] = [] if given.module else [folder]  # as Python itself does
        try:
            (runpy.run_module if given.module else runpy.run_path)(given.script, run_name="__main__")
        finally:
            sys.argv = before
            if not given.module:
                sys.path.remove(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
