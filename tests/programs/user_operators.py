"""Programs whose objects answer Python's operators in code of their own, with tensors deciding in it."""

import functools

from programs_compare import program, t

SETS = (t([1.0, 2.0]),), (t([-3.0, 1.0]),), (t([0.5, 0.25]),)


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __sub__(self, other):
        return self + -other

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        size = (self.x * self.x + self.y * self.y).sum()
        return size if size > 10 else size * 2

    def __matmul__(self, other):
        return (self.x * other.x + self.y * other.y).sum()

    def __eq__(self, other):
        return ((self.x - other.x).abs() + (self.y - other.y).abs()).sum() == 0

    __hash__ = None

    def __lt__(self, other):
        return bool(abs(self) < abs(other))

    def __bool__(self):
        return bool(self.x.sum() > 0)

    def __getitem__(self, place):
        return (self.x, self.y)[place]

    def __setitem__(self, place, value):
        if place == 0:
            self.x = value
        else:
            self.y = value

    def __len__(self):
        return 2

    def __iter__(self):
        yield self.x
        yield self.y

    def __contains__(self, value):
        return bool(self.x.sum() == value)

    def __call__(self, scale):
        return self.x * scale + self.y

    def __iadd__(self, other):
        self.x = self.x + other.x
        return self


@program(*SETS)
def arithmetic(x):
    v, w = Vector(x, x * 2), Vector(x + 1, x)
    return (v + w).y, (v - w).x, (3 * v * x).x, (-v).y, abs(v), v @ w, sum([v, w]).x, v(2.0)


@program(*SETS)
def questions(x):
    v, w = Vector(x, x), Vector(x, x.abs())
    same = x * 2 if v == w else x
    less = x * 3 if v < Vector(x, x * 3) else -x
    more = x * 3 if v > Vector(x, x * 3) else -x
    held = x * 5 if 3.0 in v else x
    return same, x if v != w else -x, less, more, held, x if v else -x, x * len(v), bool(v), not v


@program(*SETS)
def items(x):
    v = Vector(x, x * 2)
    v[0] = x * 5
    v[1] += x
    total = 0.0
    for part in v:
        total = total + part
    a, b = v
    return total, a - b, [*v][1], list(v), v[0]


@program(*SETS)
def in_place_it_stays_itself(x):
    v = Vector(x, x)
    w = v
    v += Vector(x, x)
    return v.x, w.x, v is w


@program(*SETS)
def on_a_path(x):
    v = Vector(x, x)
    if x.sum() > 0:
        v = v + v
    else:
        v = -v
    return v.x, v.y


@program(*SETS)
def in_loops(x):
    v = Vector(x, x)
    for row in x:
        v = v + v * row
    while abs(v) < 100:
        v = v + Vector(x * x, x)
    return v.x, v.y


class Reflected:
    def __init__(self, value):
        self.value = value

    def __rsub__(self, other):
        return other - self.value

    def __rtruediv__(self, other):
        return other / self.value

    def __and__(self, other):
        return Reflected((self.value > 0) & (other.value > 1))

    def __invert__(self):
        return Reflected(~self.value)

    def __index__(self):
        return 1

    def __float__(self):
        return 1.5

    def __divmod__(self, other):
        return self.value * other, other

    def __pow__(self, other):
        return self.value * self.value * other


@program(*SETS)
def reflected(x):
    one = Reflected(x)
    masked = (~(one & one)).value
    return 1.0 - one, 2.0 / one, masked, x[one], [x, x * 2][one], x * float(one), divmod(one, 2)[0], one**3


@functools.total_ordering
class Rank:
    def __init__(self, k):
        self.k = k

    def __lt__(self, other):
        return self.k < other.k

    def __eq__(self, other):
        return self.k == other.k

    __hash__ = None


@program(*SETS)
def ranks(x):
    by_tensor = x if Rank(x.sum()) <= Rank(2.0) else -x
    first = sorted([Rank(3), Rank(1), Rank(2)], reverse=True)[0].k
    return x * (Rank(1) <= Rank(2)), by_tensor, x * first, max(Rank(1), Rank(4)).k, [Rank(1), Rank(2)].index(Rank(2))


class Steps:
    def __init__(self, n):
        self.n, self.i = n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i


class Places:
    def __init__(self, held):
        self.held = held

    def __getitem__(self, place):
        return self.held[place]


@program(*SETS)
def iterators(x):
    total = 0.0
    for value in Places([x, x * 2]):
        total = total + value
    for k in Steps(3):
        x = x * k
    return x, total, list(Steps(2)), sum(Steps(3)), 2 in Places([1, 2]), dict(zip("ab", Steps(2), strict=True))


class Apart:
    def __add__(self, other):
        return NotImplemented


@program(*SETS)
def nobody_answers(x):
    try:
        return Apart() + 1
    except TypeError as error:
        print(error)
        return x
