"""Writes down what Paddle makes of the cases: `python tests/vision/record.py` where Paddle, Pillow and OpenCV are installed."""

import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from transform_cases import ARRAYS, PICTURES, PILLOWS, bytes_image


def noted(value):
    array = np.asarray(value)
    return {"shape": list(array.shape), "dtype": array.dtype.name, "values": [round(v, 6) for v in array.reshape(-1).tolist()]}


def main():
    import paddle.vision.transforms as T
    from PIL import Image

    T.adjust_saturation = T.functional.adjust_saturation
    array = bytes_image()
    found = {name: noted(case(T, Image.fromarray(array))) for name, case in (PICTURES | PILLOWS).items()}
    found |= {name: noted(case(T, array)) for name, case in ARRAYS.items()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in found.items())
    pathlib.Path(__file__).with_name("transforms_of_paddle.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
