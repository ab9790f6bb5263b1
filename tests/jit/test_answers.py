"""Captures for one answer to a question, numbers from outside that calls read anew: never stale, no more than needed."""

import sys
import time
import types

import pytest

import d2s
from d2s import nn
from d2s.errors import CaptureError
from d2s.jit.captures import CaptureWarning
from d2s.optimizer import SGD


def learning(bound=0.0):
    """A function that takes a step where its loss is above a bound, and what it has to do with."""
    d2s.seed(3)
    net = nn.Linear(2, 1)
    has = types.SimpleNamespace(net=net, sgd=SGD(0.1, parameters=net.parameters()), n=0, every=3, bound=bound)

    def f(x):
        loss = (net(x) ** 2).mean()
        if loss > has.bound:
            loss.backward()
            has.sgd.step()
            has.sgd.clear_grad()
        return loss

    def counting(x):
        (net(x) ** 2).mean().backward()
        has.n += 1
        if has.n % has.every == 0:
            has.sgd.step()
            has.sgd.clear_grad()
        return net.weight * 1

    has.f, has.counting = f, counting
    return has


X = d2s.to_tensor([[1.0, 2.0], [3.0, -1.0]])


def test_what_is_asked_may_change_its_kind():
    eager, static = learning(), learning()
    made = d2s.to_static(static.counting)
    for every in (3, 3, 3, 2, 2, 2.0, 2.5, True, d2s.to_tensor(2), 0.5, 2, 1, 1 << 70, 3):
        for has, f in ((eager, eager.counting), (static, made)):
            has.every = every
            has.told = f(X).tolist()
        assert static.told == eager.told, every
        assert (static.n, static.net.weight.grad.tolist()) == (eager.n, eager.net.weight.grad.tolist())
    for has, f in ((eager, eager.counting), (static, made)):
        has.every = 0
        with pytest.raises(ZeroDivisionError):
            f(X)
        del has.every
        with pytest.raises(AttributeError):
            f(X)
        has.every = 2
        has.told = f(X).tolist()
    assert static.told == eager.told


def test_an_answer_costs_a_capture_and_a_counter_none():
    has = learning()
    made = d2s.to_static(has.counting)
    for _ in range(60):
        made(X)
    assert len(made.recompiles()) == 2
    assert made.recompiles()[-1].startswith("what is asked at test_answers.py:")
    with d2s.jit.fail_on_recompile():
        made(X)


def test_questions_are_asked_in_no_time():
    has = types.SimpleNamespace(n=0)
    net = nn.Linear(2, 1)
    sgd = SGD(0.1, parameters=net.parameters())

    def f(x):
        has.n += 1
        net(x).sum().backward()
        if has.n % 7 == 1000:
            sgd.step()

    made = d2s.to_static(f)
    for _ in range(6):
        made(X)
    (variant,) = [v for _, v in made.variants if v.matches and v.matches((X,))]

    def best(check):
        return min(_timed(check) for _ in range(20))

    assert len(variant.captured.answered) == 1
    asked = best(variant.matches)
    variant.captured.answered.clear()
    variant.write_check([X])
    assert asked - best(variant.matches) < 1e-6


def _timed(check):
    begin = time.perf_counter()
    for _ in range(100):
        check((X,))
    return (time.perf_counter() - begin) / 100


def test_the_program_of_a_call_is_that_of_its_answer():
    has = learning()
    made = d2s.to_static(has.f)
    updates = []
    for has.bound in (0.0, 1e9, 0.0, 1e9):
        updates.append(sum(node.op == "update" for node in made.program(X).nodes))
    assert updates == [2, 0, 2, 0]
    assert has.net.weight.grad is None


@pytest.mark.parametrize("bound", [0.0, 1e9])
def test_verify(bound):
    has = learning(bound)
    before = has.net.weight.tolist()
    made = d2s.to_static(has.f)
    for _ in range(2):
        assert d2s.jit.verify(made, X).outputs == 1
        assert has.net.weight.tolist() == before
    made(X)
    assert (has.net.weight.tolist() == before) == (bound > 0)


def test_an_answer_without_a_capture_runs_as_python():
    has = learning()

    class Written(SGD):
        def _change(self, slot, group, gradient, rate, limit):
            slot.parameter.array[...] = 0

    own = Written(0.1, parameters=has.net.parameters())

    def f(x):
        loss = (has.net(x) ** 2).mean()
        if loss > has.bound:
            loss.backward()
        else:
            loss.backward()
            own.step()
        return loss

    made = d2s.to_static(f, full_graph=False)
    made(X)
    has.bound = 1e9
    with pytest.warns(CaptureWarning, match="step\\(\\) of Written"):
        made(X)
    assert has.net.weight.tolist() == [[0.0], [0.0]]
    whole = d2s.to_static(f)
    with pytest.raises(CaptureError, match="step\\(\\) of Written"):
        whole(X)


def test_no_file_holds_one_answer_only(tmp_path):
    net = nn.Linear(2, 1)

    def f(x):
        y = net(x).sum()
        if y > 0:
            (g,) = d2s.grad(y, net.weight)
        else:
            g = net.weight * 0
        return g

    made = d2s.to_static(f, input_spec=[d2s.static.InputSpec([None, 2])])
    assert made(X).shape == [2, 1]
    with pytest.raises(CaptureError, match="grad"):
        d2s.jit.save(made, str(tmp_path / "f"))


def test_a_question_behind_a_step_is_refused_with_a_way_out():
    has = learning()

    def f(x):
        for batch in (x, x * 2):
            has.f(batch)

    with pytest.raises(CaptureError) as error:
        d2s.to_static(f)(X)
    assert error.value.code == "D2S1003"
    assert "call it once for each step" in str(error.value)


def test_results_with_a_history():
    def make():
        d2s.seed(3)
        net = nn.Linear(2, 1)

        def f(x):
            y = net(x)
            if y.sum() > 0:
                (g,) = d2s.grad(y.sum(), net.weight, create_graph=True)
            else:
                (g,) = d2s.grad((y * y).sum(), net.weight, create_graph=True)
            return (g * g).sum() + y.sum()

        return net, f

    told = []
    for static in (False, True):
        net, f = make()
        made = d2s.to_static(f) if static else f
        found = []
        for x in (X, -X, X, -X):
            out = made(x)
            out.backward()
            found.append((out.tolist(), net.weight.grad.tolist()))
        told.append(found)
    assert told[0] == told[1]


def test_captures_that_ask_one_question_in_different_places_find_its_answer_once(in_time):
    """Where the path taken needs the number itself, a capture knows it, and asks less than one that reads it anew."""
    told = []
    for static in (False, True):
        has = types.SimpleNamespace(n=0, by_number={}, seen=[])

        def f(x, has=has):
            total, y = x.sum(), x * 1.0
            try:
                if has.n > 1 and total > 0.0:
                    return y * 2.0
                if total < 0.0:
                    raise ValueError(1)
            except ValueError:
                has.by_number[has.n] = 0.25
            has.n = has.n + 1
            has.by_number[len(has.by_number)] = total
            if total < 0.0:
                has.seen.append(total)
            return y

        call = d2s.to_static(f) if static else f
        values = ([0.5, 1.0], [-2.0, 0.25], [3.0, 1.0], [0.5, 1.0], [-1.0, -1.0])
        told.append([(call(d2s.to_tensor(v)).tolist(), has.n, len(has.seen), sorted(has.by_number)) for v in values])
    assert told[0] == told[1]
    assert len(call.recompiles()) < 10


def test_a_call_that_no_capture_ends_is_eager_codes_and_says_so(monkeypatch):
    monkeypatch.setattr(sys.modules["d2s.jit.to_static"], "MOST_TRIED", 0)
    with pytest.warns(CaptureWarning, match="runs as plain Python.*asks something else"):
        assert d2s.to_static(lambda x: x * 2.0)(X).tolist() == (X * 2.0).tolist()


# --- numbers from outside


def test_numbers_that_change_outside_are_read_anew():
    has = types.SimpleNamespace(n=1, rate=0.5, axis=0, flag=True)

    def f(x):
        y = (x * has.n + has.rate).sum(has.axis)
        return y if has.flag else -y

    made = d2s.to_static(f)
    for has.n in range(5):
        for has.rate in (0.5, 0.25, 0.125):
            assert made(X).tolist() == f(X).tolist()
    assert len(made.recompiles()) == 2
    for has.axis in (0, 1, 0, 1, -1):
        assert made(X).tolist() == f(X).tolist()
    for has.n in (True, 2, 2.5, d2s.to_tensor(3.0), 4, 1 << 80, 5):
        assert made(X).tolist() == f(X).tolist()


SCALE = 1


def test_variables_that_change_outside_are_read_anew():
    global SCALE
    inner = 1

    def f(x):
        return x * SCALE + inner

    made = d2s.to_static(f)
    for SCALE in (1, 2, 3, 4, 2.5, 5):  # noqa: B007 - which f reads
        for inner in (1, 2, 3):  # noqa: B007
            assert made(X).tolist() == f(X).tolist()
    assert len(made.recompiles()) <= 4


def test_another_scheduler_is_another_capture():
    layer = d2s.nn.Linear(1, 1)
    sgd = d2s.optimizer.SGD(d2s.optimizer.lr.StepDecay(0.5, 2), parameters=layer.parameters())
    told = d2s.to_static(lambda x: x * sgd.get_lr())
    assert told(d2s.ones([1])).item() == 0.5
    sgd.set_lr_scheduler(d2s.optimizer.lr.StepDecay(0.125, 2))
    assert told(d2s.ones([1])).item() == 0.125
    assert "scheduler of a SGD" in told.recompiles()[0]


class Kept:
    def __init__(self):
        self.limit, self.total, self.items, self.counts, self.pair = 0.5, 1.0, [], {}, [[], [1.0]]


def test_what_an_answer_makes_unreachable_is_no_end_of_the_call():
    kept = Kept()

    def f(x):
        s, y = x.sum(), x * 1.0
        if y.max() > 1.0:
            kept.pair[0], kept.pair[1] = kept.pair[1], kept.pair[0]
        if s > kept.limit:
            kept.total = kept.total * 0.5 + s
        if s > 0.5:
            kept.counts["n"] = kept.counts.get("n", 0) + 1
            kept.items.append(0.25)
        for _ in range(2):
            if s > kept.limit:
                kept.items = []
        return y

    def ran(call):
        vars(kept).update(vars(Kept()))
        results = [call(d2s.to_tensor(v)).tolist() for v in ([0.5, 1.0], [-2.0, 0.25], [3.0, 1.0])]
        return results, float(kept.total), kept.items, kept.counts, kept.pair

    assert ran(d2s.to_static(f)) == ran(f)
