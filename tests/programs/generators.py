"""Programs that loop over generators which yield by what a tensor says, and enter managers made of generators."""

import contextlib
import functools

from effects import A, B, row
from programs_compare import t

SIGNS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([3.0, -0.5]),)


def positive(parts):
    for part in parts:
        if part.sum() > 0:
            yield part * 2


def falling(x):
    while x.sum() > 1:
        yield x
        x = x * 0.5


def counted():
    n = 0
    while True:
        yield n
        n += 1


@row(*SIGNS)
def a_loop_that_ends_by_a_tensor():
    def f(x):
        total, seen = x * 0, 0
        for part in positive([x, -x, x + 1]):
            if part.max() > 5:
                break
            total = total + part
            seen += 1
        else:
            total = total - 1
        return total, seen

    return f, lambda: None


@row((t([1.0, 2.0]),), (t([9.0, -2.0]),), (t([0.0, 0.5]),))
def a_generator_with_a_loop_on_a_tensor():
    def f(x):
        total, last = x * 0, None
        for part in falling(x):
            total = total + part
            last = part
            if total.sum() > 9:
                return total * 100
        return total, last

    return f, lambda: None


@row((t(5.0),), (t(0.0),), (t(2.5),), captures=1)
def a_generator_without_an_end():
    def f(x):
        for n in counted():
            if x < n:
                break
        return x * n

    return f, lambda: None


@row(*SIGNS)
def generators_of_generators():
    def both(x):
        yield from positive([x, -x])
        if x.max() > 2:
            yield x
            return
        got = yield -x
        if got is None:
            yield x - 1

    def f(x):
        total = x * 0
        for k, part in enumerate([x, x * 2]):
            for inner in both(part):
                total = total + inner * (k + 1)
                if total.sum() < -50:
                    continue
                total = total * 0.5
        return total

    return f, lambda: None


@row(*SIGNS)
def what_a_generator_does_happens_in_its_place():
    log = []

    def noisy(x):
        log.append("start")
        try:
            for k in range(3):
                if x.sum() > k:
                    print("before", k)
                    yield x * k
                print("after", k)
        finally:
            log.append("end")

    def f(x):
        total = x * 0
        for part in noisy(x):
            print("part", part)
            total = total + part
        return total

    return f, lambda: list(log)


@row((A,), (B,))
def a_body_that_raises_closes_the_generator():
    log = []

    def guarded(x):
        try:
            yield x
            yield x * 2
        except ValueError:
            log.append("never")
        finally:
            log.append("closed")

    def f(x):
        try:
            for _part in guarded(x):
                raise ValueError("from the body")
        except ValueError as error:
            return x * len(str(error))

    return f, lambda: list(log)


@row((A,), (B,))
def drawn_by_hand_and_by_a_loop():
    def parts(x):
        yield x
        yield x * 2
        yield x * 3

    def f(x):
        found = parts(x)
        first = next(found)
        total = x * 0
        for part in found:
            if part.sum() > 0:
                total = total + part
        return first, total, list(parts(x)), sum(parts(x)), [p + 1 for p in parts(x)]

    return f, lambda: None


@row((A,), (B,), captures=1)
def a_generator_given_too_few_arguments():
    def f(x):
        try:
            found = positive()
        except TypeError as error:
            return x * len(str(error))
        return found

    return f, lambda: None


# --- managers


@contextlib.contextmanager
def scaled(log, scale, swallows=()):
    log.append("in")
    try:
        yield scale * 2
    except swallows as error:
        log.append(str(error))
    else:
        log.append("well")
    finally:
        log.append("out")


class Settings:
    def __init__(self):
        self.scale = 1.0

    @contextlib.contextmanager
    def changed(self, scale):
        before, self.scale = self.scale, scale
        try:
            yield self
        finally:
            self.scale = before


@row(*SIGNS)
def a_return_from_inside():
    log = []

    def f(x):
        with scaled(log, 2.0) as scale, scaled(log, scale + 1) as more:
            if x.sum() > 0:
                return x * scale
            y = x * more
        return y - 1

    return f, lambda: list(log)


@row(*SIGNS)
def a_manager_that_swallows():
    log = []

    def f(x):
        y = x
        with scaled(log, 1.0, (ValueError,)):
            y = x + 1
            if x.sum() > 0:
                raise ValueError("positive")
            y = x + 2
        return y * 3

    return f, lambda: list(log)


@row((A,), (B,), (A,))
def a_manager_that_does_not_swallow():
    log = []

    def f(x):
        with scaled(log, 1.0, (KeyError,)):
            if x.sum() > 0:
                raise ValueError("positive")
        return x

    return f, lambda: list(log)


@row(*SIGNS, captures=1)
def a_manager_of_an_object():
    settings = Settings()

    def f(x):
        with settings.changed(3.0) as now:
            y = x * now.scale
            if x.sum() > 0:
                y = y * settings.scale
        return y * settings.scale

    return f, lambda: settings.scale


@row((A,), (B,))
def a_manager_that_never_yields():
    @contextlib.contextmanager
    def empty():
        if False:
            yield

    def f(x):
        with empty():
            x = x + 1
        return x * 2

    return f, lambda: None


@row((A,), (B,))
def in_a_loop_on_a_tensor():
    settings = Settings()

    def f(x):
        while x.sum() < 9:
            with settings.changed(2.0) as now:
                x = x + now.scale
                if x.max() > 7:
                    break
        return x * settings.scale

    return f, lambda: settings.scale


@row((A,), (B,), captures=1)
def what_takes_items_goes_on_between_them():
    """A generator says when each item is taken."""
    said = []

    def parts(x):
        for k in range(3):
            said.append(("yields", k))
            yield x * k if x.sum() > 0 else x - k

    def noted(x):
        said.append("taken")
        return x

    def f(x):
        doubled = [noted(part) * x for part in parts(x)]
        folded = functools.reduce(lambda a, b: noted(a) * 0.5 + b, parts(x), x)
        return doubled, folded, sum(part * x for part in parts(x)), sum(parts(x), x)

    return f, lambda: said
