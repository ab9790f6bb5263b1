"""Programs that change lists, dicts and objects which stood in others before: the same ones stand there behind each call.

Rows as in `effects`; a state holds the containers and which of those inside are still the ones that were.
"""

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
