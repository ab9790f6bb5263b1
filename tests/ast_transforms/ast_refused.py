"""Functions beyond the fence; the line that has to be blamed ends in `# here`."""

# ruff: noqa: RET504


async def coroutine(x):  # here
    return x


def async_generator(x):
    return (y async for y in x)  # here


def yields_in_an_expression(x):
    return x or (yield x)  # here


def yields_from_in_an_argument(x):
    return len((yield from x))  # here


def loops_over_global(x):
    global TOTAL
    for TOTAL in x:  # here
        print(TOTAL)


def deletes_global():
    global TOTAL
    del TOTAL  # here


def outer():
    n = 0

    def binds_nonlocal(x):
        nonlocal n
        return (n := x)  # here

    return binds_nonlocal


binds_nonlocal = outer()


def defines_global():
    global TOTAL

    def TOTAL():  # here
        pass


def loops_over_attribute(a):
    for a.x in range(3):  # here
        pass


def yields_within(lock):
    with lock:  # here
        yield 1


def yields_protected(x):
    try:  # here
        yield x
    finally:
        x = 1


def defines_class(x):
    class C:  # here
        print(x)

    return C


def matches_inside(x):
    match x:
        case (1, [2] | (3, _)):  # here
            return 2


def looks_at_frame(x):
    y = x
    return locals()  # here


def evaluates(x):
    return eval("x")  # here


def uses_our_name(x):
    _d2s = x  # here
    return _d2s
