"""Programs that change lists, dicts and objects which stood in others before: the same ones stand there behind each call.

Rows as in `effects`; a state holds the containers and which of those inside are still the ones that were.
"""

import collections
import dataclasses

from effects import A, B, Box, box, row
from programs_compare import t

CALM, LOUD = t([0.0, 0.5]), t([2.0, 3.0])
BOTH_WAYS = ((CALM,), (LOUD,), (LOUD,), (CALM,), (LOUD,))


def kept(container):
    """How to look at a container: what it holds, and which of the containers in it are still those of now."""
    places = list(container) if isinstance(container, dict) else list(range(len(container)))
    there = {k: container[k] for k in places if isinstance(container[k], list | dict | set | Box)}
    return lambda: (container, [container[k] is value for k, value in there.items()])


@row(captures=3)
def a_list_in_a_dict_beside_a_count():
    held = {"l": [], "n": 0}

    def add(x):
        held["l"].append(x.sum())
        held["n"] = held["n"] + 1
        return x

    return add, kept(held)


@row(captures=3)
def a_list_that_setdefault_has_made():
    held = {}

    def add(x):
        held.setdefault("l", []).append(float(x.sum()))
        held["n"] = held.get("n", 0) + 1
        return {"n": held["n"]}

    return add, lambda: held


@row()
def what_a_changed_dict_holds_and_nobody_changes():
    held = {"l": [1], "m": {"a": [3]}, "s": {2}, "n": 0}

    def count(x):
        held["n"] = held["n"] + held["l"][0]
        return x * held["m"]["a"][0]

    return count, kept(held)


@row(captures=3)
def sets_and_lists_deep_inside():
    held = {"m": {"a": [3]}, "s": set(), "t": ([1], 2), "n": 0}
    inner = held["m"]["a"], held["t"][0]

    def change(x):
        held["n"] = len(held) + len(held["m"])
        held["s"].add(3)
        held["m"]["a"][0] = x.sum()
        held["t"][0].append(x.max())
        return x

    return change, lambda: (held, inner[0] is held["m"]["a"], inner[1] is held["t"][0])


@row(captures=6)
def lists_that_change_places():
    held = [[], [], 0]

    def swap(x):
        held[2] += 1
        held[0].append(x.sum())
        held[0], held[1] = held[1], held[0]
        return x

    state = held[0], held[1]
    return swap, lambda: (held, [held[0] is one for one in state])


@row(captures=3)
def two_names_of_one_list():
    held = {"a": []}
    held["b"] = held["a"]

    def add(x):
        held["n"] = 1
        held["b"].append(x.sum())
        held["c"] = held["a"] is held["b"]
        return x

    return add, kept(held)


@row(captures=6)
def an_object_in_a_dict():
    held = {"o": box(l=[], k=0), "n": 0}

    def change(x):
        owner = held["o"]
        held["n"] += 1
        held["p"] = owner
        owner.l.append(x)
        owner.k += 1
        return x

    return change, lambda: (held["n"], held["o"].l, held["o"].k, held.get("p") is held["o"], list(held))


@row(*BOTH_WAYS, captures=2)
def the_best_and_all_losses():
    held = {"best": None, "hist": []}

    def keep(x):
        loss = x.sum()
        if held["best"] is None or loss < held["best"]:
            held["best"] = loss
        held["hist"].append(loss)
        return loss

    return keep, kept(held)


@row((t([1.0, 2.0]),), (t([1.0, 2.0, 3.0]),), (t([4.0]),), captures=3)
def a_list_and_a_count_in_a_loop():
    held = {"l": [], "n": 0}

    def add(x):
        for part in x:
            held["l"].append(part)
            held["n"] = held["n"] + 1
        return x

    return add, kept(held)


# --- dicts that get keys where a tensor says so


@row(*BOTH_WAYS, captures=1)
def a_key_in_an_if():
    held = {"a": 1}

    def mark(x):
        if x.sum() > 1:
            held["loud"] = x.max()
        return x

    return mark, kept(held)


@row(*BOTH_WAYS, captures=11)
def a_key_in_an_if_of_a_dict_that_is_read():
    held = {"a": [], "n": 0}

    def mark(x):
        held["a"].append(x.sum())
        held["n"] += 1
        if x.sum() > 1:
            held["b"] = held["n"]
        held["c"] = len(held["a"])
        return x

    return mark, kept(held)


@row(*BOTH_WAYS, captures=7)
def another_list_on_each_path():
    held = {"best": None, "hist": {"a": []}}

    def mark(x):
        loss = x.sum()
        if loss > 1:
            held["best"] = loss
            held["hist"]["a"].append(loss)
        else:
            held["hist"]["b"] = [loss]
        return loss

    return mark, kept(held)


@row(*BOTH_WAYS, captures=4)
def a_list_that_a_path_clears():
    held = box(seen=[], n=0)
    seen = held.seen

    def mark(x):
        held.seen.append(x.sum())
        if x.sum() > 1:
            held.n = len(held.seen)
            held.seen.clear()
        return x

    return mark, lambda: (held.seen is seen, held.seen, held.n)


# --- keys that are others at each call


@row((A,), (B,), (A,), (B,), (A,), captures=1)
def losses_by_step():
    held = box(step=0, hist={}, log={0: None})

    def step(x):
        loss = x.square().sum()
        held.step += 1
        held.hist[held.step] = loss
        held.log[held.step - 1] = loss.item()
        return loss

    return step, lambda: (held.step, held.hist, held.log)


@row(*BOTH_WAYS, captures=1)
def losses_by_step_on_a_path():
    held = box(step=0, hist={})

    def step(x):
        held.step += 1
        if x.sum() > 1:
            held.hist[held.step] = x.max()
        else:
            held.hist["calm"] = held.step
        return x

    return step, lambda: (held.step, held.hist)


@row((A, t(2)), (B, t(3)), (A, t(0)), captures=3)
def items_by_the_counter_of_a_loop():
    held = {}

    def fill(x, n):
        for i in range(n):
            held[i] = x * i
        return x

    return fill, lambda: held


@row((A,), (B,), (A,), (B,), (A,), captures=10)
def a_step_that_is_looked_for():
    held = box(step=0, hist={})

    def step(x):
        held.step += 1
        if held.step in held.hist:
            return x * 2
        held.hist[held.step] = x.sum()
        return x

    return step, lambda: (held.step, held.hist)


# --- statements that are captured once for each answer: what they read stays as unknown as it was


def attempts(change):
    """A row for a `try` whose body changes an object on some paths and raises on others."""

    def make():
        global LEVEL
        held, LEVEL = box(n=0, f=0.5, seen=[]), 0
        return change(held), lambda: (held.n, held.f, held.seen)

    make.__name__ = change.__name__
    row((CALM,), (LOUD,), (t([-2.0, 0.25]),), (LOUD,), (t([-1.0, -1.0]),), captures=3)(make)


@attempts
def a_count_in_a_try_that_raises_behind_it(held):
    def step(x):
        s = x.sum()
        try:
            if s > 0.5:
                held.n = held.n + 1
            if s < 0:
                raise ValueError(1)
        except ValueError:
            held.f = 3.0
        return x

    return step


@attempts
def a_number_that_a_handler_stores_and_the_body_reads(held):
    def step(x):
        s = x.sum()
        try:
            if s > held.f:
                held.n = held.n + 1
            if s < 0:
                raise ValueError(1)
        except ValueError:
            held.f = float(s)
        return x

    return step


@attempts
def what_was_stored_on_one_path_and_is_read_by_the_handler(held):
    def step(x):
        s = x.sum()
        try:
            if s > 0.5:
                held.n = 1
            if s < 0:
                raise ValueError(held.n)
            held.seen.append(held.n)
            if s > 4:
                raise KeyError(held.n + 1)
        except ValueError as error:
            held.f = held.n + error.args[0]
        except KeyError as error:
            held.n = error.args[0]
        finally:
            held.f = held.f * 0.5
        return x + held.n

    return step


LEVEL = 0


@attempts
def a_global_in_a_try(held):
    def step(x):
        global LEVEL
        s = x.sum()
        try:
            if s > 0.5:
                LEVEL = LEVEL + 1
            if s < 0:
                raise ValueError(LEVEL)
            if s < 0.8:
                raise KeyError(LEVEL)
        except ValueError:
            LEVEL = 0
        except KeyError:
            held.f = LEVEL * 0.5
        held.n = LEVEL
        return x

    return step


# --- one object by several names


class Made:
    """An object whose class has an attribute that objects may have for themselves."""

    count, items = 0, (1,)


@dataclasses.dataclass
class Record:
    value: object
    items: list


@row(captures=12)
def lists_from_outside_in_a_dataclass():
    items = [1.0]
    held = {"r": Record(2.0, items), "more": Record(1.0, [items])}

    def renew(x):
        held["r"] = dataclasses.replace(held["r"], value=x.sum())
        if x.sum() > 1:
            held["more"] = Record(x.max(), items)
        return x * held["r"].value

    return renew, lambda: [held["r"].items is items, items, held["more"].items[0] is items or held["more"].items is items]


@row(*BOTH_WAYS, captures=8)
def a_tuple_that_is_handed_on():
    held = box(now=(1, [2.0]), before=None, first=None, pairs=[(3, "a")])
    held.first = held.now

    def move(x):
        held.before = held.now
        held.kept = held.pairs[0]
        if x.sum() > 1:
            held.now[1].append(x.sum())
        return x

    return move, lambda: [held.before is held.first, held.kept is held.pairs[0], held.now]


@row(captures=3)
def what_a_dict_in_a_list_holds():
    inner = [0.5]
    held = box(l=[{"in": inner}, inner, box(n=1)], a=None, b=None, c=None)

    def take(x):
        held.a, held.b, held.c = held.l[0]["in"], held.l[1], held.l[2]
        return x

    return take, lambda: [held.a is inner, held.b is inner, held.c is held.l[2]]


@row(*BOTH_WAYS, captures=12)
def items_of_a_defaultdict():
    groups, counts = collections.defaultdict(list, a=[1]), collections.defaultdict(int)

    def put(x):
        s = x.sum()
        groups["high" if s > 1 else "a"].append(float(s))
        if s > 1:
            counts["n"] += 1
        return x * len(groups["a" if s > 1 else "none"])

    return put, lambda: [list(groups.items()), list(counts.items())]


@row(captures=4)
def a_list_in_a_dict_that_gets_more():
    items = [1.0]
    held = {"l": items}

    def more(x):
        held["l"] += [3]
        return x

    return more, lambda: [items, held["l"] is items]


@row(*BOTH_WAYS, captures=4)
def an_attribute_that_an_object_gets_for_itself_on_some_paths():
    first, other = Made(), Made()

    def count(x):
        if x.sum() > 1:
            first.count += 1
            other.items = (2,)
        return x * first.count + len(other.items)

    return count, lambda: [vars(first), vars(other)]


@row((CALM,), (LOUD,), captures=12)
def a_default_that_calls_share():
    class Kept:
        def put(self, value, into=[]):  # noqa: B006 - what calls share is what this is about
            into.append(value)
            return into

    kept = Kept()
    return lambda x: x * len(kept.put(x.sum())), lambda: Kept.put.__defaults__


@row(*BOTH_WAYS, captures=8)
def a_list_of_a_closure_that_is_another_now_and_then():
    def keeper():
        count, kept = 0, [1.0]

        def put(value):
            nonlocal count, kept
            count += 1
            if count % 3 == 0:
                kept = [value]
            else:
                kept.append(value)
            return kept

        return put, lambda: [count, kept]

    put, tell = keeper()
    said = []

    def step(x):
        put(x.sum())
        try:
            raise KeyError("a")
        except KeyError as error:
            said.append(str(error))
        return x + len(tell()[1])

    return step, lambda: [tell(), said]


@row(*BOTH_WAYS, captures=4)
def attributes_whose_names_are_a_matter_of_the_path():
    held = box(high=0, low=0, gone=1)

    def count(x):
        name = "high" if x.sum() > 1 else "low"
        setattr(held, name, getattr(held, name) + 1)
        return x * held.high

    return count, lambda: vars(held)


@row((CALM,), (CALM,), (CALM,), captures=12)
def one_tensor_in_two_places():
    one, other = t([1.0, 2.0]), t([3.0, 4.0])
    held = box(l=[one, other], e=[one, other], m=None)

    def move(x):
        try:
            held.m = held.l[:]
            if x.sum() > 5:
                raise ValueError
        finally:
            held.n = 2
        held.e = [*held.e, x]
        held.l = [*held.l, 1.0]
        return x

    return move, lambda: [[a is b for a, b in zip(held.m, held.l, strict=False)], held.m[0] is one, held.e[1] is other]


@row(*BOTH_WAYS, captures=12)
def one_tensor_that_a_run_which_raises_leaves_in_two_places():
    held = box(l=[], m=[], w=t([1.0]))
    held.v = held.first = held.w

    def step(x):
        y = x * 2.0
        held.l.append(y)
        held.m.append(y)
        if x.sum() > 1:
            held.v = held.w * 2.0
        raise ValueError

    return step, lambda: [held.l[-1] is held.m[-1], held.v is held.first]


# --- what paths make and several names know


@row(*BOTH_WAYS, captures=3)
def a_list_of_a_path_in_two_places():
    held = box(a=None, b=None, d={})

    def step(x):
        if x.sum() > 1:
            made = [x * 1]
            held.a = made
            held.b = (made, 1)
            held.d["l"] = made
        return x

    return step, lambda: held.a is None or [held.b[0] is held.a, held.d["l"] is held.a, held.a]


@row(*BOTH_WAYS, captures=3)
def lists_of_either_path_that_change_behind_them():
    def step(x):
        if x.sum() > 1:
            made = [x * 1]
            held = {"l": made}
        else:
            made = [x * 2]
            held = {"l": made}
        made.append(x)
        held["l"].append(1.0)
        return made, held

    return step, lambda: None


@row(*BOTH_WAYS, captures=3)
def objects_of_a_loop_in_two_places():
    held = box(a=None, b=None)

    def step(x):
        for value in x:
            made = box_of(value)
            held.a, held.b = made, [made]
        return x

    return step, lambda: [held.a is held.b[0], held.a.value]


def box_of(value):
    made = Box()
    made.value = value
    return made


@row(*BOTH_WAYS, captures=3)
def a_list_of_a_try_in_two_places():
    held = box(a=None, b=None)

    def step(x):
        try:
            made = [x * 1]
            held.a = made
            if x.sum() > 1:
                raise ValueError
            held.b = made
        except ValueError:
            held.b = held.a
        return made

    return step, lambda: [held.a is held.b]


# --- lists of which a function only asks how long they are


MANY = tuple((t([float(k), 2.0 - k]),) for k in range(40))


@row(*MANY, captures=1)
def how_long_a_list_is_that_each_call_makes_longer():
    held = box(log=[])

    def add(x):
        before = len(held.log)
        held.log.append(x.sum().item())
        held.log.extend([before, x])
        return x * len(held.log), before, f"call {len(held.log)}"

    return add, kept(held.log)


@row(*MANY, captures=1)
def how_long_a_list_is_in_branches_and_loops():
    held = box(log=[1])

    def add(x):
        held.log.append(2)
        if x.sum() > 1:
            x = x / len(held.log)
        for k in range(len(held.log)):
            x = x + k
        if len(held.log) % 10 == 0:
            print("so many", len(held.log))
        return x

    return add, kept(held.log)


@row(*MANY, captures=2)
def a_list_that_is_emptied_when_it_is_full():
    held = box(log=[])

    def add(x):
        held.log.append(x)
        if len(held.log) >= 10:
            held.log.clear()
        return x * 2.0

    return add, kept(held.log)


@row(*MANY, captures=2)
def how_long_a_list_is_that_others_make_longer():
    held = box(log=[])

    def look(x):
        return x * len(held.log), len(held.log) > 3

    return look, lambda: held.log.append("more")


@row(*MANY[:6], captures=12)
def how_long_a_list_is_of_which_more_is_asked():
    held = box(log=[])

    def add(x):
        before = len(held.log)
        held.log.append(1.5)
        held.log.insert(0, len(held.log))
        return x * sum(held.log) / len(held.log), held.log[-1], before

    return add, kept(held.log)
