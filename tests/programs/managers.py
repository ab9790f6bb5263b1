"""Programs with managers of Python's library around what a tensor decides."""

import contextlib

from programs_compare import program, t

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([30.0, 2.0]),)


class Door:
    def __init__(self, weight):
        self.weight, self.closed = weight, 0

    def close(self):
        self.closed += self.weight


@program(*SETS)
def closed_however_it_is_left(x):
    door = Door(10)
    with contextlib.closing(door) as entered:
        if x.sum() < 0:
            return x * entered.weight, door.closed
        if x.sum() > 20:
            raise KeyError("unknown")
        x = x + entered.weight
    return x, door.closed


@program(*SETS)
def closed_behind_a_loop_that_raises(x):
    door = Door(1)
    try:
        with contextlib.closing(door):
            for v in x:
                if v < 0:
                    raise ValueError("negative")
    except ValueError as error:
        return x, door.closed, str(error)
    return x * 2, door.closed, ""


@program(*SETS)
def a_stack_of_managers(x):
    ends, doors = [], (Door(1), Door(2))
    with contextlib.ExitStack() as stack:
        stack.callback(ends.append, "end")
        stack.enter_context(contextlib.suppress(ValueError))
        scale = stack.enter_context(contextlib.nullcontext(3.0))
        for door in doors:
            stack.enter_context(contextlib.closing(door))
        if x.sum() < 0:
            raise ValueError("swallowed")
        if x.sum() > 20:
            raise KeyError("not swallowed")
        ends.append(x * scale)
    return x, ends, [door.closed for door in doors]


class SwallowingSome:
    def __init__(self, x):
        self.x, self.left = x, 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.left += 1
        return self.x.sum() > -2.5 if kind else None


@program(*SETS, (t([-1.0, -1.0]),))
def swallowed_by_what_a_tensor_says(x):
    manager = SwallowingSome(x)
    try:
        with manager:
            for v in x:
                if v < 0:
                    raise ValueError("negative")
                x = x * 2
        x = x + 1
    except ValueError as error:
        return x, str(error), manager.left
    return x, "", manager.left


@program(*SETS)
def one_name_for_what_is_made_by_the_path_around_managers_and_tries(x):
    step = x * 2
    total = step
    with contextlib.suppress(ValueError):
        if x.sum() > 0:
            step = x + 1
        else:
            step = x * 3
        step = step * 2
        total = total + step
    try:
        kept = x + 5
        total = total * kept
    except ValueError:
        total = x
    else:
        if x.sum() > 4:
            kept = step = x + 1
        else:
            kept = step = x * 3
        kept, step = kept * 2, step + 1
        total = total + kept * step
    return total
