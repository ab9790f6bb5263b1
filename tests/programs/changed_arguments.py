"""Programs that change what they are given, and which of it they hand back: on paths that return and on paths that raise."""

from programs_compare import program, t

import d2s


def kept():
    """A tensor that wants no gradient: it can be changed in place."""
    return d2s.to_tensor([5.0, 6.0])


SIGNS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([30.0, 2.0]),)


@program(*((x, kept(), {"a": 1}) for (x,) in SIGNS))
def a_dict_only_where_it_raises(x, w, found):
    w.zero_()
    if x.sum() > 0:
        found["q"] = x * 2
        found["a"] += 1
        raise ValueError("bad")
    return x


@program(*((x, kept(), {}, t(n)) for (x,) in SIGNS for n in (0, 3)))
def a_dict_only_on_a_trip_that_raises(x, w, found, n):
    for k in range(n):
        w.add_(1.0)
        if k == 1:
            found["last"] = [x.sum()]
            [][0]
    return x


@program(*((x, kept(), [x], {}) for (x,) in SIGNS))
def one_given_container_into_the_other_where_it_raises(x, w, found, by_name):
    print("begun")
    if x.sum() > 0:
        by_name["found"] = found
        raise KeyError("named")
    return x + w
