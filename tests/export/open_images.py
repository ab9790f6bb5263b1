"""Layers that take images of any size: windows that move by steps, sizes that come and go, skips round both."""

import numpy as np

import d2s
from d2s.nn import functional as F


class Narrowing(d2s.nn.Layer):
    """What a ResNet is made of."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = d2s.nn.Conv2D(3, 4, 3, stride=2, padding=1), d2s.nn.BatchNorm2D(4)
        self.skip, self.conv = d2s.nn.Conv2D(4, 4, 1, stride=2), d2s.nn.Conv2D(4, 4, 3, stride=2, padding=1)
        self.depthwise, self.fc = d2s.nn.Conv2D(4, 4, (2, 3), (1, 2), (0, 1), (2, 1), groups=4), d2s.nn.Linear(4, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 3, 2, 1)
        x = F.relu(self.conv(x) + self.skip(x))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1)), self.depthwise(x)


class AndBack(d2s.nn.Layer):
    """What a U-Net is made of; images of an even size."""

    def __init__(self):
        super().__init__()
        self.down, self.same = d2s.nn.Conv2D(3, 4, 3, stride=2, padding=1), d2s.nn.Conv2D(4, 4, 3, padding=1)
        self.up = d2s.nn.Conv2DTranspose(4, 3, 4, stride=2, padding=1)
        self.other = d2s.nn.Conv2DTranspose(4, 3, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x):
        y = F.relu(self.same(F.relu(self.down(x))))
        return d2s.concat([self.up(y), self.other(y), F.interpolate(y, scale_factor=2.0), x], 1)


class Filtered(d2s.nn.Layer):
    """Something to learn."""

    def __init__(self):
        super().__init__()
        self.conv = d2s.nn.Conv2D(3, 2, 3, padding=1)


class Pooled(Filtered):
    def forward(self, x):
        x = self.conv(x)
        up = F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.avg_pool2d(x, 3, 2, ceil_mode=True)
        return [*up, F.avg_pool2d(x, 2, 2, 1, exclusive=False), F.adaptive_avg_pool2d(x, (3, 2)), F.adaptive_max_pool2d(x, 2)]


class Padded(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = d2s.nn.Conv2D(3, 2, 3, stride=2)

    def forward(self, x):
        around = [F.pad(x, [1, 2, 0, 1], mode=mode) for mode in ("reflect", "replicate")]
        return [self.conv(F.pad(x, [1, 1, 1, 1])), F.pad(x, [0, 3, 2, 1], value=3.0), *around]


class Resized(Filtered):
    def forward(self, x):
        x = self.conv(x)
        found = [F.interpolate(x, scale_factor=2), F.interpolate(x, scale_factor=0.5, mode="bilinear")]
        found += [F.interpolate(x, scale_factor=[3, 1.5], mode="bilinear", align_corners=True)]
        return [*found, F.interpolate(x, scale_factor=2, mode="bicubic"), F.interpolate(x, size=[9, 7], mode="bilinear")]


class ResizedAsOthers(Filtered):
    """What a pyramid of features is made of: sizes that others have, that are reckoned, that a shape says."""

    def forward(self, x):
        fine = self.conv(x)
        coarse = F.max_pool2d(fine, 4, 3)
        found = [fine + F.interpolate(coarse, size=fine.shape[2:], mode=mode) for mode in ("nearest", "bilinear")]
        found += [F.interpolate(coarse, size=[x.shape[2] // 2 + 1, 7], mode="bilinear", align_corners=True)]
        return [*found, F.interpolate(coarse, d2s.shape(x)[2:], mode="bicubic") * fine]


class Laid(d2s.nn.Layer):
    """Pixels as channels, channels as pixels, windows as columns; images of an even size."""

    def __init__(self):
        super().__init__()
        self.conv = d2s.nn.Conv2D(3, 4, 3, padding=1)

    def forward(self, x):
        x = self.conv(x)
        found = [F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), F.channel_shuffle(x, 2)]
        return [*found, F.unfold(x, 2, 2), x.std([2, 3]), x.var()]


class Framed(Filtered):
    """Zeros around lines and tables, behind what turns them; around channels, too."""

    def forward(self, x):
        lines = self.conv(x).sum(2)
        table = lines.sum([0, 1])
        rows = F.pad(lines.transpose([0, 2, 1]), [1, 2]), F.pad(lines, [1, 0, 2, 1, 0, 1], value=0.5)
        return [*rows, F.pad(table + 1.0, [1, 2]), F.pad(lines.sum(0), [2, 0, 0, 1]), F.pad(x, [0, 0, 1, 1, 2, 0, 1, 0])]


LAYERS = {"narrowing": Narrowing, "and_back": AndBack, "pooled": Pooled, "padded": Padded, "resized": Resized, "laid": Laid}
LAYERS |= {"framed": Framed, "as_others": ResizedAsOthers}


def images():
    rng = np.random.default_rng(3)
    return [rng.normal(size=(rows, 3, *size)).astype("float32") for rows, size in ((2, (18, 16)), (1, (24, 30)))]
