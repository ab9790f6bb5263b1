"""One function for each code of refusal, as a user would write it; the tests beside hold what is said of each."""

import d2s


def keyed(x, k):
    table = {0: 1.0, 1: 2.0}
    return x * table[k]


def uneven(x):
    found = [x]
    if x.sum() > 0:
        found = 3
    while x.sum() < 9:
        x = d2s.unsqueeze(x, 0)
    return x, found


def forgetful(x):
    y = x + 1

    class Rate:
        print(y)

    return Rate


def opened(x, file):
    with file:
        return x * 2


def powered(x, k):
    return x ** (k + 1)
