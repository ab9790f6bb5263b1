"""Programs that change what was there before, draw random numbers, and act: equal to eager code call by call, in one graph.

A row makes the function to run, from fresh state, and how to look at that state afterwards.
"""

import dataclasses
import logging
import math
import random

import numpy as np
from programs_compare import t

import d2s

A, B = t([1.0, 2.0]), t([-3.0, 0.5])
ROWS = []


def row(*argument_sets, captures=2):
    """Calls with these argument sets, in turn; the whole takes at most so many captures."""

    def add(make):
        ROWS.append((make, argument_sets or ((A,), (B,), (A,)), captures))
        return make

    return add


class Box:
    """An object of the user's."""


def box(**attributes):
    made = Box()
    made.__dict__ |= attributes
    return made


@dataclasses.dataclass
class Point:
    n: int
    x: object


# --- random numbers


@row()
def dropout_in_training():
    layer = d2s.nn.Dropout(0.5)
    return layer.forward, lambda: None


@row((A, t(0)), (A, t(3)), (B, t(2)))
def draws_in_loops_and_branches():
    def draws(x, n):
        for i in range(n):
            if x.sum() > i:
                x = x + d2s.randn([2])
            else:
                x = d2s.nn.functional.dropout(x * 1, 0.4) + d2s.rand([2])
        return x

    return draws, lambda: None


@row((t([[1.0, 2.0], [3.0, 5.0]]),), (t([[1.0, -2.0], [3.0, 5.0], [0.5, 2.0]]),), (t([[1.0, 2.0]] * 5),), captures=3)
def a_net_in_training():
    net = d2s.nn.Sequential(d2s.nn.Linear(2, 3), d2s.nn.BatchNorm1D(3), d2s.nn.ReLU(), d2s.nn.Dropout(0.3))
    return net.forward, lambda: [list(net.named_buffers()), list(net.named_parameters())]


@row((t([[1.0, 0.0, 2.0], [0.5, 0.5, 3.0]]),), (t([[1.0, 1.0, 2.0]] * 4),), captures=2)
def multinomial_draws():
    return lambda x: d2s.multinomial(x, 3, replacement=True) + d2s.multinomial(x, 2)[:, :1], lambda: None


@row((t([-1.0, 2.0]),), (t([0.0, 0.0]),), (t([float("inf"), 1.0]),), (t([0.0, 1.0]),), (t([2.0, 1.0]),), captures=1)
def multinomial_of_what_are_no_likelihoods():
    return lambda x: d2s.multinomial(x, 2), lambda: None


@row((t([[1.0, 2.0], [3.0, 4.0]]),))
def channels_dropped_as_a_whole():
    functional = d2s.nn.functional

    def draws(x):
        image = x.reshape([1, 2, 2, 1])
        return functional.dropout2d(image), functional.alpha_dropout(x, 0.4), functional.dropout(x, 0.4, axis=1)

    return draws, lambda: None


@row()
def draws_of_every_kind():
    def draws(x):
        p = d2s.nn.functional.sigmoid(x.detach())
        return d2s.bernoulli(p), d2s.randint(0, 9, [3]), d2s.randperm(4), d2s.uniform([2]) * x, d2s.normal(0.0, 1.0, [2])

    return draws, lambda: None


BATCHES = [(t([[0.5 * k + j for j in range(4)] for k in range(n)]),) for n in (2, 3, 5, 4, 1)]


@row(*BATCHES, captures=3)
def draws_of_the_shape_of_a_batch():
    def draws(x):
        noise = (
            d2s.randn(x.shape) * 0.5 + d2s.rand([x.shape[0], 1]) + d2s.uniform([x.shape[0] * 2, 2], min=1.0).reshape(x.shape)
        )
        numbers = d2s.randint(0, 9, [x.shape[0]]), d2s.randint_like(x, 5), d2s.randint(0, 1 << 40, [x.shape[0], 2])
        return x + noise, numbers, d2s.normal(1.0, 2.0, [3, x.shape[0]]), d2s.uniform([x.shape[0]], "float64", seed=5)

    return draws, lambda: None


@row(*BATCHES, captures=3)
def draws_about_a_batch():
    def draws(x):
        mixed = x[d2s.randperm(x.shape[0])] * 0.3 + x * 0.7
        return mixed, d2s.normal(x, 0.5), d2s.normal(x, d2s.exp(x.detach())), d2s.normal(0.0, x.detach()[:, :1] + 1.0)

    return draws, lambda: None


@row(*BATCHES, captures=3)
def draws_of_classes():
    functional = d2s.nn.functional

    def draws(x):
        return functional.gumbel_softmax(x, 0.5), functional.gumbel_softmax(x, hard=True, axis=0)

    return draws, lambda: None


@row((t([1.0, -1.0, 2.0]),), (t([1.0, 1.0]),), (t([-1.0, -2.0, -1.0]),))
def as_many_draws_as_a_run_finds():
    def draws(x):
        n = (x > 0).sum()
        return d2s.rand([n, 2]), d2s.randn([int(n) + 1])

    return draws, lambda: None


@row((t([1.0, 0.5]),), (t([0.0, 2.0]),), (t([1.0, -1.0]),), (t([float("nan"), 1.0]),), captures=1)
def normals_whose_deviation_is_below_0():
    return lambda x: d2s.normal(x, x) * 2.0, lambda: None


# --- attributes


class Counting(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.calls, self.h, self.seen, self.scale = 0, None, False, 1.0
        self.inner = d2s.nn.Linear(2, 2)

    def forward(self, x):
        self.calls += 1
        self.seen = True
        if x.sum() > 0:
            self.scale = self.scale * 1.5
        y = self.inner(x) * self.scale
        self.h = y if self.h is None else self.h.detach() * 0.5 + y
        return self.h * 1 + self.calls


@row(captures=3)
def state_of_a_layer():
    layer = Counting()
    return layer.forward, lambda: [layer.calls, layer.h, layer.seen, layer.scale, list(layer.named_buffers())]


@row(captures=1)
def a_list_from_outside_gets_what_the_path_adds():
    made = box(log=[], steps=0)

    def adds(x):
        made.log.append("start")
        if x.sum() > 0:
            made.log.append(x * x)
            made.log.extend([x, x.sum().item()])
        try:
            if x[0] > 0:
                raise ValueError("positive")
            made.log.append("fine")
        except ValueError as error:
            made.log.append(str(error))
            made.log.append(1)
        return x * 2

    return adds, lambda: made.log


@row(captures=1)
def a_list_from_outside_gets_longer_in_a_loop():
    log, made = [], box(steps=0)

    def adds(x):
        while x.abs().sum() < 50:
            x = x * 2
            made.steps += 1
            log.append((x, made.steps))
        return x

    return adds, lambda: [log, made.steps]


@row(captures=1)
def a_list_from_outside_keeps_what_was_added_before_a_run_raised():
    log = []

    def adds(x):
        while x.abs().sum() < 50:
            x = x * 2
            log.append(x.sum().item())
            if x.sum() > 40:
                raise OverflowError("too large")
        return x

    return adds, lambda: log


@row((A, t(3)), (B, t(1)), (A, t(0)))
def an_attribute_changes_in_a_loop():
    counts = box(n=5, best=(A * 0).detach())

    def counted(x, trips):
        for i in range(trips):
            counts.n += i
            if x.sum() > i:
                counts.best = (x * i).detach()
        return x * counts.n, counts.best

    return counted, lambda: vars(counts)


@row()
def an_attribute_that_is_there_on_some_paths():
    found = box()

    def finds(x):
        if x.sum() > 0:
            found.best = x * 2
        return hasattr(found, "worst"), x

    return finds, lambda: vars(found)


@row()
def a_method_that_changes_its_object():
    point = Point(0, 1.0)

    def moved(self, by):
        self.n, self.x = self.n + 1, self.x * by.sum()
        return self

    Box.moved = moved
    own = box(n=0, x=1.0)

    def moves(x):
        for _ in range(2):
            own.moved(x)
        point.n = own.n
        return own.x

    return moves, lambda: [vars(own), vars(point)]


@row()
def a_flag_and_a_name():
    state = box(mode="cold", log=())

    def runs(x):
        before = state.mode
        state.mode = "warm"
        state.log = (*state.log, before) if len(state.log) < 1 else state.log
        return x * (2 if before == "cold" else 3), state.mode

    return runs, lambda: vars(state)


class Celsius:
    def __init__(self):
        self._k = 0.0

    @property
    def degrees(self):
        return self._k - 273

    @degrees.setter
    def degrees(self, value):
        self._k = value + 273


@row()
def a_property_is_set():
    state = Celsius()

    def sets(x):
        state.degrees = x.sum()
        return x

    return sets, lambda: vars(state)


class Kelvin(Celsius):
    def __init__(self):
        self._k, self.asked = 300.0, 0

    @property
    def degrees(self):
        self.asked += 1
        print("asked")
        return self._k

    @degrees.setter
    def degrees(self, value):
        self._k = value


@row(captures=3)
def a_property_of_one_of_several_is_asked_and_set():
    state = Celsius(), Kelvin()

    def asks(x):
        one = state[0] if x.sum() > 0 else state[1]
        before = one.degrees
        one.degrees = x.sum() + before
        return x + one.degrees

    return asks, lambda: [vars(one) for one in state]


@row((t([1.0, -1.0]), 2.0), (t([1.0, 2.0]), 3.0), (t([1.0, 2.0]), 3.5))
def a_loss_kept_for_later():
    model = box(aux=None, total=0.0)

    def forward(x, factor):
        model.aux = (x * x).sum() * factor
        model.total += factor
        return x * 2

    return lambda x, factor: (forward_of(forward)(x, factor), model.aux), lambda: model.total


def forward_of(function):
    return function


# --- containers from outside


@row(captures=1)
def what_is_only_added_is_not_asked_for():
    log, best = [], {}

    def logs(x):
        log.append(x * 2)
        best["last"] = x.sum()
        return x

    return logs, lambda: [log, best]


@row((t([1.0, 2.0]), [A * 1, B * 1]), (t([3.0, 2.0]), [A * 1, B * 1]))
def a_list_of_the_caller():
    def changes(x, parts):
        parts[0] = parts[0] + x
        parts.append(x)
        last = parts.pop(1)
        return parts, last

    return changes, lambda: None


@row((t([1.0, 2.0]), {"a": A * 1}), (t([3.0, 2.0]), {"a": B * 1}))
def a_dict_of_the_caller():
    def changes(x, parts):
        if x.sum() > 4:
            parts["a"] = parts["a"] * 2
        parts["b"] = x
        return parts["a"] + parts["b"]

    return changes, lambda: None


@row()
def states_in_a_list():
    model = box(states=[A * 0, A * 0], steps=[0, 0])

    def steps(x):
        for k, h in enumerate(model.states):
            model.states[k] = h * 0.5 + x
            model.steps[k] += 1
        return model.states[0] + model.states[1], model.steps[1]

    return steps, lambda: vars(model)


@row()
def a_cache_by_key():
    model = box(cache={"k": A * 0, "n": 3})

    def steps(x):
        model.cache["k"] = model.cache["k"] + x
        model.cache["n"] += 1
        return model.cache["k"] * model.cache["n"]

    return steps, lambda: vars(model)


# --- tensors in place


@row()
def in_place_on_locals():
    def changes(x):
        y = x * 2
        z = y
        y.add_(1.0)
        if x.sum() > 0:
            y.multiply_(x)
            z[0] = 7.0
        for i in range(2):
            z[i] += 1.0
        return y, z is y, y.exp_().scale_(2.0, 1.0)

    return changes, lambda: None


@row((A, t(2)), (B, t(0)))
def in_place_in_a_loop():
    def changes(x, n):
        out = d2s.zeros([4])
        for i in range(n):
            out[i] = x.sum() * i
        out[3] = x[1]
        return out

    return changes, lambda: None


@row((A,), (B,), (t([0.0, 0.0]),))
def in_place_on_some_paths():
    def changes(x):
        out, left, kept = d2s.zeros([2]), d2s.ones([2]), d2s.zeros([2])
        for i in range(2):
            if x[i] > 0:
                out[i] = x[i] * 2
        for i, v in enumerate(x):
            if v < 0:
                continue
            left[i] = v * 3
        for i in range(2):
            if x[i] < 0:
                break
            kept[i] = x[i]
        kept.add_(1.0)
        return out * x, left * x, kept * x

    return changes, lambda: None


@row((d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([3, 4])), (d2s.to_tensor([-1.0, 2.0]), d2s.to_tensor([5, 6])))
def in_place_on_arguments():
    def changes(x, k):
        x.add_(1.0)
        if x.sum() > 2:
            k[0] = 9
            x.zero_()
        return x, k * 2

    return changes, lambda: None


@row((A,), (B,))
def gradients_stopped():
    def changes(x):
        y = x * 2
        before = y * 3
        y.stop_gradient = True
        z = x + 1
        if x.sum() > 0:
            z.stop_gradient = True
        return (y * 4 + before) * x, z * x

    return changes, lambda: None


@row()
def in_place_on_what_is_outside():
    total, count = d2s.to_tensor([0.0, 0.0]), d2s.to_tensor(0)

    def changes(x):
        total.add_(x.detach())
        count.add_(1)
        return total * x, count

    return changes, lambda: [total, count]


@row()
def set_value_keeps_no_history():
    kept = d2s.to_tensor([0.0, 0.0])

    def changes(x):
        y = x * 2
        kept.set_value(y)
        return y * kept

    return changes, lambda: kept


@row()
def masks_that_store():
    def changes(x):
        y = x * 2
        y[y > 1] = 0.0
        y[:1] = x[1:] * 3
        return y

    return changes, lambda: None


# --- steps of Python's own


@row((A, t(2)), (B, t(3)), (A, t(0)))
def prints_in_order():
    def prints(x, n):
        print("start", x, [x.sum(), {"n": n}], sep="; ")
        for i in range(n):
            y = x * i
            if y.sum() > 0:
                print("trip", i, f"{y.sum().item():.3f}", end="!\n")
            else:
                print(f"{i:>4}|{x!r}", "%d %s" % (i, y), "{} of {}".format(i, n))  # noqa: UP031, UP032
        print("end", str(x), repr(n))
        return x * 2

    return prints, lambda: None


@row()
def prints_what_changes():
    state = box(n=0)

    def prints(x):
        y = x * 1
        print(y)
        y.add_(1.0)
        state.n += 1
        print(y, state.n)
        return y

    return prints, lambda: state.n


@row()
def logs():
    heard = []
    logger = logging.Logger("effects")
    handler = logging.Handler()
    handler.emit = lambda record: heard.append((record.levelname, record.getMessage()))
    logger.addHandler(handler)

    def logging_(x):
        logger.info("sum %s", x.sum().item())
        if x.sum() > 0:
            logger.warning("positive: %s", x)
        return x * 2

    return logging_, lambda: heard


@row(*((t([1.5, -2.0]), k, t(n)) for k, n in ((3, 7), (3, 2), ((1 << 64) - 1, 0), (-1, 4), (5, -1))), captures=3)
def seeds():
    def starts_anew(x, k, n):
        before = d2s.rand([2])
        d2s.seed(k)
        y = x * d2s.rand([2])
        if x.sum() < n:
            d2s.seed(int(n))
            y = y + d2s.nn.functional.dropout(x, 0.5)
        return before, y, d2s.randn([3])

    return starts_anew, list


@row((t([1.0, 2.0]),))
def seeds_in_a_loop():
    def starts_anew(x):
        for i in range(x.sum().astype("int64")):
            d2s.seed(i)
            x = x + d2s.rand([2])
        return x

    return starts_anew, list


@row()
def draws_of_python_and_numpy():
    random.seed(3)
    np.random.seed(4)
    own = np.random.default_rng(5)

    def draws(x):
        y = x * random.random() + random.randint(1, 6)
        if x.sum() > 0:
            y = y * random.uniform(2.0, 3.0) + random.choice([x, x * 2, x * 3])
        noise = d2s.to_tensor(np.random.randn(2).astype("float32"))
        return y + noise * np.random.rand() + d2s.to_tensor(own.normal(size=2), "float32"), random.gauss(0.0, 1.0)

    return draws, lambda: [random.random(), float(np.random.rand())]


@row((t([1.5, -2.0]),), (t([0.0, 7.25]),), (t([-1.0, -4.0]),))
def numpys_places_between_prints():
    log = []

    def places(x):
        log.append(float(x.sum()))
        print("sum", x.sum())
        kept = np.where(x.numpy() > 0)[0]
        print(kept, len(kept))
        y = x[t(kept)] * 2
        print(y.shape[0])
        return y, y.sum() + x

    return places, lambda: list(log)


@row((t([1.5, -2.0]),), (t([0.0, 7.25]),), (t([-1.0, 4.0]),))
def numbers_of_tensors():
    def numbers(x):
        total, whole, positive = x.sum().item(), int(x[1]), bool(x[0] > 0)
        half = float(x[0]) / 2
        if total > 3:
            whole += 1
        return total, whole, positive, half, x * total + whole, x.tolist(), round(half), math.floor(total), math.exp(half)

    return numbers, lambda: None


@row((t([1.5, -2.0]),), (t([0.0, 7.25]),))
def numpy_inside():
    def inside(x):
        a = x.numpy()
        b = np.maximum(a, 0.5) * 2
        if b.sum() > 4:
            b = np.sqrt(b)
        b[0] = 9.0
        return x * float(np.mean(b)) + d2s.to_tensor(b), b.shape == (2,), x * a.max()

    return inside, lambda: None


@row((t([3.0]),), (t([0.0]),), (t([-4.0]),))
def steps_that_raise():
    state = box(n=0, last=None, log=[])

    def raises(x):
        state.n += 1
        state.log.append(state.n)
        state.last = (x * 2).detach()
        print("before")
        y = math.sqrt(x.item())
        state.n += 10
        if y < 1:
            raise ValueError("too small")
        return x * y

    return raises, lambda: vars(state)


@row((A, t(3)), (B, t(0)), (A, t(1)))
def raises_in_a_loop():
    state = box(n=0, kept=[])

    def raises(x, n):
        x = d2s.nn.functional.dropout(x, 0.5)
        for i in range(n):
            state.n += 1
            if i > 1:
                raise KeyError("third")
        if x.shape[0] > 1 and state.n < 0:
            return x
        state.kept = [x, state.n]
        return x * 2

    return raises, lambda: vars(state)


@row()
def raises_always():
    state = box(n=0)

    def raises(x):
        state.n += 1
        print("going")
        raise LookupError(f"nothing in {x.ndim}")

    return raises, lambda: state.n


@row()
def results_of_pythons_own():
    def results(x):
        name = f"sum {x.sum().item():.1f}"
        return name, len(name), name.upper(), [name, x * 2]

    return results, lambda: None


@row()
def what_is_deleted():
    state = box(n=1, cache={"a": 1, "b": A * 1}, spare=A * 2)

    def deletes(x):
        y = x * 2
        z = y + 1
        del y
        parts = [x, z, z * 2]
        del parts[0], parts[-1]
        if x.sum() > 0 and hasattr(state, "spare"):
            del state.spare
        if "b" in state.cache:
            del state.cache["b"]
        if x.sum() > 100:
            del z
        return parts[0] + z

    return deletes, lambda: vars(state)


@row()
def a_deleted_variable_is_not_there():
    def deletes(x):
        y = x * 2
        if x.sum() > 0:
            del y
        return y

    return deletes, lambda: None


class Loud:
    """An object whose text is computed, and told."""

    def __init__(self, n):
        self.n = n

    def __str__(self):
        print("asked")
        return f"<{self.n}>"


@row(captures=1)
def texts_of_objects():
    loud, point = Loud(1), Point(2, None)

    def f(x):
        said = f"{loud} {point!r:>30}" + " and %s" % loud  # noqa: UP031
        if x.sum() > 0:
            said = f"{said} {loud!s}"
        print(said)
        return x * 2

    def state():
        point.n += 1
        loud.n += 1

    return f, state


@row((A, t(2)), (B, t(2)), (A, t(0)), captures=2)
def changes_on_paths_that_all_end_in_an_exception():
    """No run that comes to its end has changed anything."""
    counted, last = d2s.zeros([2]), box(x=None)

    def f(x, n):
        for i in range(n):
            if x.sum() > i:
                counted.add_(x)
                last.x = x
            raise ValueError("no trip")
        return x * 2

    return f, lambda: (counted.numpy().tolist(), None if last.x is None else last.x.numpy().tolist())


@row((A, t(0)), (A, t(5)), captures=2)
def an_op_fails_behind_a_change_in_front_of_an_exception():
    counted = d2s.zeros([2])

    def f(x, n):
        for _ in range(n + 1):
            counted.add_(x)
            raise ValueError(float(x[n]))
        return x

    return f, lambda: counted.numpy().tolist()
