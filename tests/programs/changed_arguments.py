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


@program(*((x, kept()) for (x,) in SIGNS))
def a_path_that_raises_changes_it_too(x, w):
    w[0] = 5.0
    if x.sum() > 10:
        w += 1
        raise ValueError("too large")
    return w


@program(*((x, kept()) for (x,) in SIGNS))
def changed_then_handed_back_on_one_path(x, w):
    w.add_(1.0)
    if x.sum() > 0:
        return w
    return x if x.sum() < -10 else w + 1


@program(*((x, kept()) for (x,) in SIGNS))
def changed_then_handed_back_on_both(x, w):
    w.add_(1.0)
    if x.sum() > 0:
        return w
    return w


@program(*((x, kept()) for (x,) in SIGNS))
def changed_where_it_gets_a_second_name(x, w):
    found = w
    if x.sum() > 0:
        w.add_(x)
        found = w
    return found, w


@program(*((x, kept()) for (x,) in SIGNS))
def changed_and_one_of_two_items(x, w):
    w.add_(1.0)
    if x.sum() > 0:
        parts = [w, x]
    else:
        parts = [x, w]
    return parts[0], [parts]


@program(*((x, kept(), t(n)) for (x,) in SIGNS for n in (1, 3)))
def changed_and_items_of_a_list_that_a_loop_makes(x, w, n):
    w.add_(1.0)
    parts = []
    for i in range(n):
        parts.append(w if x.sum() > i else x)
    return parts[0], parts


@program(*((x, kept(), t(n)) for (x,) in SIGNS for n in (1, 3)))
def an_item_of_a_list_that_a_loop_makes(x, w, n):
    parts, y = [], x * 2
    for i in range(n):
        parts.append(w if x.sum() > i else y)
    return parts[0], y


@program(*((x, kept()) for (x,) in SIGNS))
def changed_and_handed_back_behind_a_print(x, w):
    w.add_(1.0)
    found = w if x.sum() > 0 else x
    print("found")
    return found


@program(*((x, kept()) for (x,) in SIGNS))
def changed_and_handed_back_by_a_path_that_prints(x, w):
    w.add_(1.0)
    found, others = x, [x]
    if x.sum() > 0:
        print("found")
        found = w
        others = [w, x]
    return {"found": found, "others": others}


@program(*((x, kept()) for (x,) in SIGNS))
def changed_to_what_has_a_name_of_its_own(x, w):
    y = x.detach() * 2
    w.set_value(y)
    return y if x.sum() > 0 else x


@program(*((x, kept()) for (x,) in SIGNS))
def changed_behind_a_path_that_raises(x, w):
    w[0] = 5.0
    if x.sum() > 10:
        w = w + 1
        raise ValueError("too large")
    w.add_(1.0)
    return w


@program(*((x, kept(), [1]) for (x,) in SIGNS))
def changed_in_a_list_behind_a_path_that_raises(x, w, found):
    found.append(w)
    if x.sum() > 10:
        found.append(w + 1)
        print("too large")
        raise ValueError("too large")
    found[1].add_(1.0)
    return found


@program(*((x, kept()) for (x,) in SIGNS))
def changed_by_a_name_that_all_paths_give_it(x, w):
    if x.sum() > 10:
        named = w
    elif x.sum() > 0:
        named = w.add_(2.0)
    else:
        named, w = w, x
    named.add_(1.0)
    return named


def wanting():
    """A leaf that wants a gradient: it cannot be changed in place."""
    return d2s.to_tensor([5.0, 6.0], stop_gradient=False)


@program(*((x, wanting(), [1], {}) for (x,) in SIGNS))
def containers_in_front_of_a_leaf_that_has_no_place(x, w, found, by_name):
    found.append(x * 2)
    by_name["x"] = x
    w.add_(1.0)
    return x


@program(*((x, wanting(), [1], {}) for (x,) in SIGNS))
def containers_in_front_of_a_leaf_that_has_no_place_where_it_raises(x, w, found, by_name):
    if x.sum() > 0:
        found.append(x * 2)
        by_name["x"] = x
        w.add_(1.0)
        raise ValueError("changed")
    return x


@program(*((x, wanting()) for (x,) in SIGNS))
def what_an_op_raises_in_front_of_a_leaf_that_has_no_place(x, w):
    y = x[w.argmax() * 5]
    w.zero_()
    return y
