"""What d2s.vision.transforms is held to: calls, and the images they are made on.

A case is a function of the module of transforms and of an image. `record.py` notes what Paddle makes of each.
"""

import numpy as np


def bytes_image(height=6, width=7, colours=3):
    """Bytes that look like nothing, but are the same everywhere."""
    size = height * width * colours
    return ((np.arange(size) * 151 + np.arange(size) ** 2 * 29) % 256).astype("uint8").reshape(height, width, colours)


CORNERS = [[0, 0], [6, 0], [6, 5], [0, 5]]
PICTURES = {  # on an image of Pillow's in Paddle: what every form is to give, exactly
    "to_tensor": lambda T, image: T.to_tensor(image),
    "pad": lambda T, image: T.pad(image, (1, 2, 3, 0), (9, 8, 7)),
    "pad edge": lambda T, image: T.pad(image, (1, 2), padding_mode="edge"),
    "pad reflect": lambda T, image: T.pad(image, 2, padding_mode="reflect"),
    "pad symmetric": lambda T, image: T.pad(image, 2, padding_mode="symmetric"),
    "crop": lambda T, image: T.crop(image, 1, 2, 3, 4),
    "center_crop": lambda T, image: T.center_crop(image, (3, 4)),
    "hflip": lambda T, image: T.hflip(image),
    "vflip": lambda T, image: T.vflip(image),
    "grayscale": lambda T, image: T.to_grayscale(image),
    "grayscale thrice": lambda T, image: T.to_grayscale(image, 3),
    "darker": lambda T, image: T.adjust_brightness(image, 0.4),
    "brighter": lambda T, image: T.adjust_brightness(image, 1.7),
    "flatter": lambda T, image: T.adjust_contrast(image, 0.3),
    "harder": lambda T, image: T.adjust_contrast(image, 2.1),
    "paler": lambda T, image: T.adjust_saturation(image, 0.3),
    "hue": lambda T, image: T.adjust_hue(image, 0.2),
    "hue back": lambda T, image: T.adjust_hue(image, -0.35),
    "rotate": lambda T, image: T.rotate(image, 30),
    "rotate about": lambda T, image: T.rotate(image, -50, center=(2, 1), fill=(1, 2, 3)),
    "rotate expand": lambda T, image: T.rotate(image, 40, expand=True),
    "rotate 90": lambda T, image: T.rotate(image, 90, expand=True),
    "affine": lambda T, image: T.affine(image, 20, (1, -1), 1.3, (10, 5)),
    "affine smaller": lambda T, image: T.affine(image, -15, (0, 2), 0.7, (0, 0), center=(1, 2)),
    "perspective": lambda T, image: T.perspective(image, CORNERS, [[1, 1], [5, 0], [5, 4], [0, 5]]),
    "normalize": lambda T, image: T.normalize(image, [127.5, 100, 90], [50, 60, 70], "HWC"),
    "normalize to_rgb": lambda T, image: T.normalize(image, [1, 2, 3], [4, 5, 6], "HWC", True),
}
ARRAYS = {  # on an array in Paddle, which has OpenCV do it: equal up to 1
    "resize": lambda T, image: T.resize(image, (9, 5)),
    "resize smaller edge": lambda T, image: T.resize(image, 4),
    "resize nearest": lambda T, image: T.resize(image, (4, 11), "nearest"),
    "resize bicubic": lambda T, image: T.resize(image, (9, 12), "bicubic"),
    "resize area": lambda T, image: T.resize(image, (3, 4), "area"),
    "resize lanczos": lambda T, image: T.resize(image, (8, 9), "lanczos"),
}
PILLOWS = {  # on an image of Pillow's in Paddle, which has Pillow do it: equal on such images
    "bilinear": lambda T, image: T.resize(image, (3, 4)),
    "bicubic": lambda T, image: T.resize(image, 4, "bicubic"),
    "box": lambda T, image: T.resize(image, (9, 3), "box"),
}
