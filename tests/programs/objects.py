"""Programs that make objects of the user's classes."""

import dataclasses

from programs_compare import program, t

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([0.5, 0.25]),)


@dataclasses.dataclass
class Point:
    a: object
    n: object = 0
    tags: list = dataclasses.field(default_factory=list)

    def moved(self, by):
        return Point(self.a + by, self.n + 1)

    @property
    def norm(self):
        return self.a.sum() if self.a.sum() > 0 else -self.a.sum()

    @classmethod
    def seven(cls, x):
        return cls(x, 7)


@dataclasses.dataclass(frozen=True)
class Fixed:
    a: object
    b: int = 3


@dataclasses.dataclass(slots=True)
class Slotted:
    a: object
    b: object = None

    def __post_init__(self):
        print("made")
        if self.a.sum() > 0:
            self.b = self.a * 2


class Total:
    step = 5

    def __init__(self, x, scale=2.0):
        self.x, self.scale = x, scale
        self.log = [x * 1] if x.sum() > 0 else []

    def add(self, value):
        self.x = self.x + value * self.scale
        self.log.append(self.x)
        return self

    def __call__(self, value):
        return self.x * value

    def __enter__(self):
        self.scale = self.scale + 1
        return self

    def __exit__(self, *error):
        self.scale = self.scale * 2
        return False


class More(Total):
    def __init__(self, x):
        super().__init__(x, 3.0)
        self.extra = 1

    def add(self, value):
        super().add(value)
        self.extra += 1
        return self


class Holder:
    point = None


HOLDER = Holder()


@program(*SETS)
def asked_and_changed(x):
    point = Point(x * 1)
    if x.sum() > 0:
        point.n, point.a = 5, point.a * 2
        point.tags.append(1)
    return point.a * 1, point.n, point.tags, point.norm, point.moved(1.0).n, Point.seven(x).n


@program(*SETS)
def made_in_an_arm(x):
    point = Point(x * 1, 1) if x.sum() > 0 else Point(x * 2, 2)
    point.n += 10
    maybe = None
    if x.max() > 1:
        maybe = Point(x * 3, 3)
    return point.a * 1, point.n, x * 4 if maybe is None else maybe.a * maybe.n


@program(*SETS)
def changed_in_a_loop(x):
    point = Point(x * 1, 0)
    other = point
    while point.a.sum() < 10 and other.n < 4:
        point.a = point.a * point.a + 1
        point.n += 1
    return point.a * 1, point.n, other is point


@program(*SETS)
def new_at_each_trip(x):
    point, fixed = Point(x * 1), Fixed(x * 1, 0)
    while fixed.b < 4 and point.a.sum() < 10:
        point, fixed = Point(point.a + 1, point.n + 1), Fixed(fixed.a * 2, fixed.b + 1)
    return point.a * 1, point.n, fixed.a * 1, fixed.b


@program(*SETS)
def two_that_change_places(x):
    a, b = Point(x * 1, 1), Point(x * 2, 2)
    while a.n < 5:
        a, b = b, a
        a.n += 3
    return a.a * 1, a.n, b.a * 1, b.n


@program(*SETS)
def slots_and_what_comes_after_init(x):
    made = Slotted(x * 1)
    return made.a * 3 if made.b is None else made.b * 1


@program(*SETS)
def a_class_of_a_class(x):
    made = More(x * 1).add(x).add(x * 2)
    told = made.extra, len(made.log), isinstance(made, Total), type(made) is More, made.scale, made.step
    return told, made(x), made.x * 1


@program(*SETS)
def entered(x):
    made = Total(x * 1)
    with made as inner:
        inner.x = inner.x * inner.scale
    return made.x * 1, made.scale


@program(*SETS)
def wrong_arguments(x):
    return Point()


@program(*SETS)
def nothing_of_that_name(x):
    point = Point(x)
    del point.n
    return hasattr(point, "n"), point.n, getattr(point, "zz", 4), point.zz


@program(*SETS)
def of_a_frozen_class(x):
    fixed = Fixed(x * 1)
    try:
        fixed.b = 4
    except dataclasses.FrozenInstanceError as error:
        return fixed.a * 2, str(error)


@program(*SETS)
def printed(x):
    point = Point(x * 1, 2)
    if x.sum() > 0:
        point.n = 3
    print(point, [point])
    return x * 1


@program(*SETS)
def inside_one_another(x):
    point = Point(Point(x * 1, 1), 2)
    if x.sum() > 0:
        point.a.n = 8
    else:
        point.a = Point(x * 5, 9)
    match point:
        case Point(Point(a=a, n=8), n):
            return a * n
        case Point(inner, n):
            return inner.a * n, inner.n


@program(*SETS)
def in_a_list(x):
    points = [Point(x * k, k) for k in range(3)]
    if x.sum() > 0:
        points.append(Point(x * 9, 9))
    points[0].n = 100
    while points[1].n < 4:
        for point in points[:3]:
            point.a, point.n = point.a + 1, point.n + 1
    return [point.n for point in points[:3]], points[-1].a * 1, len(points)


@program(*SETS)
def kept_outside(x):
    HOLDER.point = Point(x * 1, 4)
    if x.sum() > 0:
        HOLDER.point.n = 6
    return HOLDER.point.n


@program(*SETS)
def in_a_try(x):
    point = Point(x * 1, 0)
    try:
        if x.sum() > 0:
            point.n = 1
            raise ValueError("a")
        point.n = 2
    except ValueError:
        point.n = point.n + 10
    return point.n, point.a * 1


@program(*SETS)
def lists_that_nobody_saw_made(x):
    parts = [1, 2, 3]
    _, *rest = parts
    made = list(parts), parts[:], [*parts, 4], sorted(parts), rest, parts.copy(), parts * 1
    named = dict(k=1)  # noqa: C408
    if x.sum() > 0:
        for one in made:
            one[0] = 9
        named["k"] = 2
    return made, named, x * 1


@program(*SETS)
def replaced_on_the_way(x):
    point = Fixed(x)
    while point.a.sum() < 20 and point.b < 9:
        point = dataclasses.replace(point, a=point.a * 2, b=point.b + 1)
    if x.sum() > 1:
        point = dataclasses.replace(point, a=x * 3)
    return dataclasses.replace(point, b=point.b + 1).b, point.a * 1


class Placed:
    __slots__ = ("__dict__", "__hidden", "seen")

    def __init__(self):
        self.__hidden = self.seen = 0

    def look(self, x):
        if x.sum() > 0:
            self.__hidden, self.seen = 1, x
        else:
            self.sign = -1
        return self.__hidden


class Single:
    __slots__ = "only"


@program(*SETS)
def places_of_every_kind(x):
    placed, single = Placed(), Single()
    single.only = 1
    if x.sum() > 0:
        single.only = x * 2
    return placed.look(x), placed.seen, getattr(placed, "sign", 0), single.only
