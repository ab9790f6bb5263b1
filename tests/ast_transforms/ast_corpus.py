"""Plain functions with sets of arguments. To add a test is to add a function here."""

import dataclasses

# ruff: noqa

CORPUS = []


def on(*arguments):
    """Registers a function with the argument tuples it is tried on."""

    def register(fn):
        CORPUS.append((fn, arguments))
        return fn

    return register


SMALL = [(n,) for n in range(-2, 5)]
PAIRS = [(a, b) for a in range(-1, 3) for b in range(-1, 3)]
GLOBAL = [3]


def say(value):
    print("say", value)
    return value


@on(*SMALL)
def one_arm(x):
    y = 0
    if x > 0:
        y = x + 1
    return y


@on(*SMALL)
def both_arms(x):
    if x > 0:
        t = x * 2
        y = t + 1
    else:
        t = x * 3
        y = t - 1
    return y


@on(*SMALL)
def elif_chain(x):
    if x == 0:
        y = "zero"
    elif x == 1:
        y = "one"
    elif x < 0:
        y = "negative"
    else:
        y = "many"
    return y


@on(*SMALL)
def unbound_after_if(x):
    if x > 0:
        y = x
    return y


@on(*SMALL)
def unbound_after_loop(n):
    while n > 0:
        last = n
        n -= 1
    return last


@on(*SMALL)
def unbound_augmented(x):
    if x > 0:
        y = 1
    y += x
    return y


@on(*SMALL)
def unbound_inside_arm(x):
    if x > 0:
        print(y)
        y = 1
    else:
        y = 2
    return y


@on(((),), ((1, 2),))
def unbound_after_for(values):
    for value in values:
        pass
    return value


@on(*PAIRS)
def arm_reads_before_it_writes(x, y):
    t = y
    if x > 0:
        t = t + 1
        r = t
    else:
        r = t
        t = 0
    return r


@on(*SMALL)
def early_returns(x):
    if x < 0:
        return "negative"
    y = x * 2
    if y > 4:
        return y
    elif y == 2:
        y = say(7)
    return y + 1


@on(*PAIRS)
def nested_returns(x, y):
    """Some paths of the inner `if` go on."""
    if x > 0:
        if y > 0:
            return "both"
        z = say("x")
    elif y > 1:
        z = "y"
    else:
        return None
    z = z + "!"
    if y == 0:
        return z, 0
    return z


@on(*PAIRS)
def returns_nothing(x, y):
    if x > 0:
        if y > 0:
            return
        print("on")
    print("end")


@on(*PAIRS)
def return_or_raise(x, y):
    if x > 0:
        return y
    elif y > 0:
        raise ValueError(f"{x} {y}")
    return -1


@on(*SMALL)
def return_in_loops(x):
    if x > 2:
        return "big"
    for i in range(4):
        if i == x:
            return i
        n = i
        while n:
            if n == 2 and x == -1:
                return "two"
            n -= 1
    return "none"


@on(*SMALL)
def names_of_ours(x):
    ret, values, then_3, slice, left, middle = 1, 2, 3, 4, 5, 6
    if x > 0:
        values = values + 1
        ret += 1
    if x > 1:
        return [ret, values, then_3, slice, left, middle][0:6]
    return left < say(x) < middle


@on(*PAIRS)
def names_of_placeholders(state, body):
    question = then = own_0 = shared_1 = 1
    if state > 0:
        then_body = state + body
        state = then_body - question
        if body > 0:
            state += 1
        names = state
    else:
        names = state - then
    return names, own_0, shared_1


@on(*SMALL)
def while_with_if(n):
    total = i = 0
    while i < n:
        square = i * i
        if square % 2:
            total += square
        else:
            half = square // 2
            total -= half
        i += 1
    return total, i


@on(*SMALL)
def while_walrus(n):
    total = 0
    while (step := n - 1) > 0:
        total += step
        n = step
    return total, n, step


@on(*SMALL)
def while_walrus_used_in_body_only(n):
    seen = 0
    while (left := n - 1) > 0:
        seen, n = left, left
    return seen


@on(*SMALL)
def nested_while(n):
    out = 0
    while n > 0:
        inner = n
        while inner:
            out = out + inner
            inner -= 1
        n -= 1
    else:
        out = -out
    return out


@on(*SMALL)
def break_continue_else(n):
    seen = []
    while True:
        n += 1
        if n == 2:
            continue
        if n > 4:
            break
        if n > 0:
            mark = "+"
        else:
            mark = "-"
        seen.append((mark, n))
    for i in range(n):
        if i == 3:
            break
        elif i == 1:
            continue
        seen.append(i)
    else:
        seen.append("else")
    return seen


@on(*PAIRS)
def logic(x, y):
    a = say(x) and say(y)
    b = say(x) or say(y) or "neither"
    c = not say(x)
    d = "yes" if say(x) else "no" if y else "never"
    return a, b, c, d, x and y or not x


@on(*PAIRS)
def chains(x, y):
    return (
        say(-1) < say(x) < say(y),
        0 <= x <= y < say(2) != say(1),
        say(0) < x < y,
        x < say(y) == say(1) < 3 in GLOBAL,
        1 < say(x) < (say(y) if x else 3),
    )


@on(*PAIRS)
def chain_in_chain(x, y):
    return -2 < (-1 < say(x) < say(2)) < (-1 < say(y) < say(2)) + 1


@on(*PAIRS)
def walrus(x, y):
    if (n := x + y) > 1 and (m := n * 2) > 2:
        return n, m
    k = (z := x) if x else (z := y)
    return n, k, z, [q := i for i in range(2)], q


@on((2,), (0,))
def comprehensions(n):
    if n:
        base = 10
    a = [i + base for i in range(n) if i or n]
    b = {k: v for k, v in zip("ab", range(n))}
    c = {i // 2 for i in range(4)}
    d = sum(i * j for i in range(n) for j in range(i))
    return a, b, c, d, [[j for j in range(i)] for i in range(n)]


@on(*SMALL)
def comprehensions_with_conditions(n):
    item = 7
    kept = [k * n for k in range(4) if k > n if say(k) != 2]
    pairs = {(i, j): m for i in range(3) if i for j in range(i) for m in [i + j] if m > n and (j or i)}
    last = next((k for k, *_ in [(1, 2), (3,)] if k > n), item)
    named = [y for v in range(3) if (y := v - n) > 0]
    return kept, pairs, last, named, {k for k in range(3) if not k == n}, any(say(k) > 1 for k in range(4) if k), item


@on((3,), (0,))
def comprehension_hides(n):
    if n:
        i = [1, 2]
    return [i for i in i]


@on(((1, 2, 3, 4),))
def items(x):
    key = {"a": {"b": 5}}
    return x[0], x[1:3], x[::-1], x[-1], key["a"]["b"], f"{key['a']['b']:>4}{x[0]!r}"


@on((1,), ("s",))
def attributes(x):
    return x.__class__.__name__, x.real.imag


@on(())
def order_of_arguments():
    def f(*args, **kwargs):
        return args, sorted(kwargs.items())

    return [f][say(0)](say(1), *say([2]), k=say(3), **say({"z": 4}))


@on(*SMALL)
def closure_reads(x):
    scale = 1

    def scaled(v):
        return v * scale

    if x > 0:
        scale = 5
    while x < 2:
        x += 1
        scale += 1
    return scaled(x)


@on(*SMALL)
def closure_writes(x):
    count = 0

    def bump(by=x):
        nonlocal count
        count += by

    if x > 0:
        bump()
    else:
        bump(2)
    while count < 3:
        bump(1)
    return count


SEEN = 0


@on(*SMALL)
def assigns_variables_of_others(x):
    """Of the module, and through a nested function of the text."""
    global SEEN
    SEEN, before = x, SEEN
    SEEN += 2
    rest = before
    if x > 1:
        SEEN, *rest = 3, 4, 5
    while SEEN < 9:
        SEEN = SEEN * 2 + 1
    found = before * 0, SEEN, rest
    SEEN = 0
    return found


@on(*SMALL)
def lambdas_in_loops(n):
    made = []
    i = 0
    while i < n:
        j = i
        made.append(lambda: (i, j))
        made.append(lambda k=i: k)
        i += 1
    return [f() for f in made]


@on(*SMALL)
def defined_in_an_arm(x):
    if x > 0:

        def f():
            return x

    else:
        f = abs
    return f(*([] if x > 0 else [x]))


@on(*SMALL)
def late_helper(x):
    def first():
        return second() + 1

    def second():
        return x

    if x > 0:
        x = 10
    return first()


@on(*SMALL)
def generator_sees_later_values(x):
    k = 1
    made = (k * i for i in range(3))
    if x > 0:
        k = 2
    return list(made)


@on(*SMALL)
def annotated(x: int) -> "int":
    y: int = x
    z: "nothing that exists"
    if x > 0:
        y: int = 2 * x
        z: dict[str, int] = {"k": y}
        y = z["k"]
    return y


@on(*SMALL)
def unpacking(x):
    a, (b, *c) = x, (1, 2, 3)
    if x > 0:
        a, b = b, a
    for i, (j, k) in enumerate([(a, b), (b, a)]):
        if i:
            c = [*c, j, k]
    return a, b, c, i


@on(*SMALL)
def infinite(x):
    while True:
        x += 1
        if x > 3:
            return x


@on(*SMALL)
def dead_code(x):
    for i in range(3):
        if x > i:
            break
        else:
            continue
        if x:
            y = 1
        print(y)
    return i
    if x:
        z = 1
    return z


@on(*SMALL)
def raises_in_arms(x):
    if x > 1:
        raise KeyError(x)
    y = [10, 20]
    if x > 0:
        y = y[x + 5]
    assert x != 0, say("zero")
    return 1 // (x + 1), y


@on(*SMALL)
def empty_functions(x):
    if x:
        pass


@on(*SMALL)
def temporary_in_two_levels(x):
    y = 0
    if x > 0:
        if x > 1:
            t = 1
        else:
            t = 2
        y = t
        t = 0
    while y < 3:
        t = y + 1
        if t == 2:
            t = 3
        y = t
    return y


@on((5,), (0,))
def deep(x):
    if x == 1:
        return 1
    elif x == 2:
        return 2
    elif x == 3:
        return 3
    for row in [[1], [2, 3]]:
        n = 0
        for v in row:
            if v > 1:
                while n < v:
                    if n == x:
                        hit = (n, v)
                    n += 1
    return n if x else hit


@on(*SMALL)
def walrus_read_after_the_loop_only(n):
    count = 0
    while (low := n - count) > 1:
        count += 1
    return low


@on(*SMALL)
def read_by_the_next_trip_only(n):
    y = out = 0
    for i in range(4):
        out += y
        if i < n:
            y = i
        else:
            y = -1
        if i != 2:
            continue
        y = 5
    return out


@on(*SMALL)
def read_behind_a_break_only(n):
    for i in range(3):
        if i < n:
            y = i
        else:
            y = -1
        if i == n:
            break
        y = 5
    else:
        y = 3
    return y


@on(*PAIRS)
def an_arm_reads_what_the_other_changes(x, y):
    t = y
    if (s := x) > 0:
        s = s + 1
        t = t + s
        r = t
    else:
        r = (t, s)
    return r


@dataclasses.dataclass
class Point:
    x: object
    y: object = 0


MATCHED = (0, 1, 2.5, True, None, "a", "ab", (), (1,), [1, 2], (1, 2, 3), {"k": 1}, {"k": 2, "m": 3}, {"k": [1, 5]})
MATCHED += (Point(1, 2), Point(0), Point((3, 4), 1), [Point(1), 7], range(3), b"ab")


@on(*[(v,) for v in MATCHED])
def matches_everything(v):
    match v:
        case True | None:
            return "single"
        case 0 | 1:
            return "few"
        case int(n) | float(n):
            return "number", n
        case "a" | "b" as s:
            return "letter", s
        case str():
            return "text"
        case []:
            return "nothing"
        case [1, x] if x > 5:
            return "large", x
        case [1, x] | [x, 1, _]:
            return "pair", x
        case [first, *others] if first:
            return first, others
        case {"k": 1, **rest}:
            return "k", rest
        case {"k": [_, y] as both}:
            return y, both
        case {"k": k, "m": m}:
            return k + m
        case Point(0, y):
            return "origin", y
        case Point(x=(a, b), y=c):
            return a, b, c
        case Point() as p:
            return "point", p.x
    return "other", v


@on(*PAIRS)
def match_in_a_loop_leaves_it(x, y):
    found = []
    for k in range(4):
        match k, x:
            case (1, 0):
                continue
            case (2, n) if n == y:
                break
            case (3, _):
                return found, "end"
        found.append(k)
    return found


@on(*PAIRS)
def a_failed_guard_leaves_names_bound(x, y):
    n = "before"
    match x:
        case n if n == y:
            return "same"
        case _:
            return n


@on(*PAIRS)
def walrus_in_operands(x, y):
    seen = []
    if x > 0 and (s := y) > 0 or (s := -1) and x == 0:
        seen.append(s)
    n = 0
    while n < 3 and (k := n * 2) < 4 and not (k > y and (m := k)):
        seen.append(k)
        n += 1
    r = (u := x) if y else (u := y + 1)
    if 0 < (v := x) < 2 and (w := v + 1):
        seen.append((v, w))
    z = x > 0 and (t := y)
    return seen, r, u, z, x or (q := y)


@on(*PAIRS)
def walrus_in_an_elif_and_a_test_of_a_loop_with_else(x, y):
    if x > 1:
        return x
    elif x == 0 and (s := y) or (s := 2):
        return s
    while x and (y := y - 1) > 0:
        pass
    else:
        return y


@on(*PAIRS)
def generators_drawn(x, y):
    def pairs(n):
        for k in range(n):
            got = yield k
            if got == y:
                return "stopped"
        yield from (n, x)
        return "end"

    def all_of():
        found = yield from pairs(2)
        yield found

    drawn = pairs(3)
    return list(all_of()), next(drawn), drawn.send(x), list(drawn)


@on(*[(v,) for v in range(3)])
def is_a_generator(x):
    return list(_yields(x))


def _yields(x):
    while x:
        if x > 1:
            yield x
        x -= 1
    else:
        yield "end"
        return


class Manager:
    def __init__(self, log, swallows=False):
        self.log, self.swallows = log, swallows

    def __enter__(self):
        self.log.append("in")
        return len(self.log)

    def __exit__(self, kind, error, trace):
        self.log.append(kind and kind.__name__)
        return self.swallows


@on(*PAIRS)
def protected_in_all_ways(x, y):
    log = []
    for k in range(3):
        try:
            log.append(k)
            if k == x:
                continue
            if k == y:
                break
            z = 1 // (k - y)
        except ZeroDivisionError as error:
            log.append(str(error)[:7])
            if x < 0:
                return log, "caught"
        else:
            log.append(("else", z))
        finally:
            log.append("finally")
        log.append("behind")
    else:
        log.append("no break")
    return log


@on(*PAIRS)
def leaves_a_finally(x, y):
    """Whatever is raised, or was to be returned, is forgotten then."""
    found = []
    for k in range(4):
        try:
            found.append(k)
            if x == k:
                break
            if y == k:
                raise ValueError(k)
            if x + y == k:
                return found
        except ValueError:
            found.append("caught")
            raise KeyError(k) from None
        else:
            found.append("well")
        finally:
            found.append("end")
            if k == 1:
                continue
            if x > 1:
                return found, "from finally"
    try:
        try:
            return found / x
        finally:
            if y > 0:
                return found, "last"  # noqa: B012
    except TypeError:
        return "raised"


@on(*PAIRS)
def nested_handlers(x, y):
    log = []
    try:
        try:
            if x > 0:
                raise ValueError(x)
            if y > 0:
                raise KeyError(y)
            value = 1 / x
        except (ValueError, KeyError) as error:
            log.append(type(error).__name__)
            if y == 1:
                raise
            raise TypeError("other") from error
        finally:
            log.append("inner")
    except TypeError as error:
        log.append(type(error.__cause__).__name__)
    except ValueError:
        return log
    except:
        log.append("bare")
        return log, x
    return log, value


@on(*PAIRS)
def the_name_of_an_exception_goes(x, y):
    error = "before"
    try:
        if x == y:
            raise ValueError
        found = 1
    except ValueError as error:
        pass
    return error, found


@on(*PAIRS)
def within_managers(x, y):
    log = []
    for k in range(3):
        with Manager(log) as a, Manager(log, swallows=y > 0) as b:
            log.append((a, b))
            if k == x:
                continue
            if k == y:
                return log
            1 / (k - 1)
        log.append("behind")
    return log, a


@on(*PAIRS)
def an_exception_leaves_what_was_done(x, y):
    n = 0
    try:
        n = 1
        if x:
            n = 2
            n = 1 // (x - y)
        n = 3
    except ZeroDivisionError:
        n += 10
    while n < 9:
        try:
            n += 4
            if n > y:
                break
        finally:
            n += 1
    return n


@on((1, 0), (-1, 0))
def deletes(a, _):
    b, items = a + 1, [1, 2, {"k": 3}]
    if a > 0:
        del b, items[0]
    del items[-1]["k"]
    return items, b


@on(*SMALL)
def imports(x):
    import collections.abc
    import math as m
    from math import pi, tau as round_trip
    from xml import dom

    if x > 0:
        import math

        x = math.floor(x + pi)
    return x + m.ceil(round_trip), collections.abc.__name__, dom.__name__


@on(*SMALL)
def classes_defined_inside(x):
    y = x + 1
    if x > 0:

        class Held:
            """Of a positive number."""

            scale = 2

            def __init__(self, v):
                self.__v = v

            def told(self):
                return self.__v * self.scale + y

    else:

        @dataclasses.dataclass
        class Held:
            v: int = 3

            def told(self):
                scale = self.v
                return scale - y

    class Twice(Held):
        def told(self):
            return super().told() * 2

    scale = 5
    return Twice(x).told(), Held.__name__, Held.__qualname__, Twice.told.__qualname__, scale, dataclasses.is_dataclass(Held)


def _says(function):
    print("decorates", function.__name__)
    return function


@on(*SMALL)
def decorated_inside(x):
    count = 0

    @_says
    def add(n):
        nonlocal count
        count += n

    for n in range(3):
        if n != x:
            add(n)
    return count
