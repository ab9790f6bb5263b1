"""What random programs call: rewritten once for all of them. Some call themselves, some find extents."""

import dataclasses

import d2s


def halve(x):
    if x.sum() > 1.5:
        return x * 0.5
    return x + 0.25


def mix(p, q):
    z = p * 0.5 if p.sum() > q.sum() else q + 0.0625
    return z - q


def climb(s, k):
    s = d2s.tanh(s)
    while s < 2.0:
        s = s + 0.75
        k = k + 1
    return s * 1.0, k


def fold(x, n):
    if n <= 0:
        return x * 0.5
    y = fold(d2s.tanh(x) * 0.75, n - 1)
    return y + x if y.sum() > 0.0 else fold(y * x, n - 2) - x * 0.25


def kept(x):
    return x[x > 0.25].sum()


def parts(x, n):
    y = x * 0.5 if x.sum() > 1.0 else x[:n] + 0.25
    return y[n:].sum() - y[-n:].sum() * 0.5


def grown(x, n):
    y = x[:1] * 0.5
    for _ in range(n):
        y = d2s.concat([y, d2s.tanh(y[-2:] + 0.5), x[1:]])
    return y.sum()


def count(n):
    k = 0
    while k < n:
        k += 2
    return k


def sign(s):
    return 1 if s > 0.0 else -1


@dataclasses.dataclass
class Point:
    at: d2s.Tensor
    count: int
    seen: list = dataclasses.field(default_factory=list)

    def move(self, by):
        if by > 0:
            self.seen.append(self.at)
        self.at = self.at + by

    def moved(self, by):
        return Point(self.at - by, self.count + 1, [*self.seen, by])
