"""Runs ONNX files under ONNX Runtime; stands alone, so that it runs where d2s is not installed.

In: a folder with `NAME.onnx` and `NAME.RUN.in.npz` (`f0`, `f1` ...). Out: `NAME.RUN.out.npz`, and `report.json`: failures.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime


def main(folder):
    failures = {}
    onnxruntime.set_default_logger_severity(4)
    for path in sorted(folder.glob("*.onnx")):
        try:
            onnx.checker.check_model(onnx.load(path), full_check=True)
            session = onnxruntime.InferenceSession(path)
            names = [one.name for one in session.get_inputs()]
            for file in sorted(folder.glob(path.stem + ".*.in.npz")):
                with np.load(file) as held:
                    feeds = {name: held[f"f{k}"] for k, name in enumerate(names)}
                outputs = session.run(None, feeds)
                np.savez(str(file).replace(".in.npz", ".out.npz"), **{f"o{k}": a for k, a in enumerate(outputs)})
        except Exception as error:  # whatever it raises is the result
            failures[path.stem] = f"{type(error).__name__}: {str(error)[:500]}"
    (folder / "report.json").write_text(json.dumps(failures, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
