"""Programs as they are declared: variables, extents, gradients, control flow, calls of Python, what is refused."""

import numpy as np
import pytest

import d2s
from d2s import static
from d2s.errors import D2SError

ONES = np.ones((2, 3), "float32")


def run(feed, *fetches):
    return static.Executor().run(static.default_main_program(), feed=feed, fetch_list=list(fetches))


def test_a_variable_says_what_it_is(declared):
    x = static.data("x", [None, 3])
    y = d2s.tanh(x)
    assert (x.name, x.shape, x.dtype, x.ndim, x.stop_gradient) == ("x", [-1, 3], d2s.float32, 2, True)
    assert (y.name, y.shape, y.stop_gradient) == ("tanh_0.tmp_0", [-1, 3], False)
    assert repr(y) == "Variable(tanh_0.tmp_0: float32, [-1, 3], stop_gradient=False)"
    assert static.default_main_program().global_block().var("x") is x


def test_fetches_are_variables_or_names(declared):
    x = static.data("x", [None, 3])
    y = x * 2.0
    y.name = "twice"
    assert np.array_equal(run({"x": ONES}, y)[0], run({"x": ONES}, "twice")[0])
    with pytest.raises(d2s.errors.ArgumentError, match="no variable of the program is named 'thrice'"):
        run({"x": ONES}, "thrice")


def test_what_is_added_to_a_variable_is_a_new_one_and_the_default_program_runs_it(declared):
    x = static.data("x", [2, 2])
    x += 10
    assert static.Executor().run(feed={"x": np.ones((2, 2), "float32")}, fetch_list=[x])[0].tolist() == [[11.0] * 2] * 2


@pytest.mark.parametrize("n", [1, 2, 64])
def test_numbers_made_of_an_open_extent_follow_the_feed(declared, n):
    x = static.data("x", [None, 3, 4])
    y = d2s.concat([x.flatten(1), x.reshape([x.shape[0], 12])], axis=0)
    z = d2s.expand(x.sum(axis=0, keepdim=True), [5, 3, 4])
    found = run({"x": np.ones((n, 3, 4), "float32")}, y, z, y.reshape([-1]).flip(0).sum() / 2.0)
    assert [f.shape for f in found] == [(2 * n, 12), (5, 3, 4), ()]
    assert found[1].min() == n
    assert found[2] == n * 12


def test_gradients_of_targets_in_inputs_and_in_values_on_the_way(declared):
    x = static.data("x", [None, 3])
    x.stop_gradient = False
    y = x * x
    gx, gy = static.gradients([(y * 3.0).sum()], [x, y])
    found = run({"x": ONES * 2}, gx, gy)
    assert found[0].tolist() == [[12.0] * 3] * 2
    assert found[1].tolist() == [[3.0] * 3] * 2


def test_weights_of_targets(declared):
    x = static.data("x", [3])
    x.stop_gradient = False
    (g,) = static.gradients([x * x], [x], [static.data("w", [3])])
    assert run({"x": ONES[0], "w": np.array([1, 2, 3], "float32")}, g)[0].tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(D2SError, match=r"'target_gradients' has shape \[3\], expected \[\]"):
        static.gradients([x.sum()], [x], [x])
    with pytest.raises(D2SError, match="'target_gradients' expects variables of a program, or None, got float"):
        static.gradients([x.sum()], [x], [1.0])


def test_no_gradient_passes_a_stop(declared):
    x = static.data("x", [3])
    x.stop_gradient = False
    stopped = x * 2.0
    stopped.stop_gradient = True
    assert static.gradients([stopped.sum()], [x]) == [None]
    (g,) = static.gradients([(stopped * x).sum()], [x])
    assert run({"x": ONES[0]}, g)[0].tolist() == [2.0] * 3
    with d2s.no_grad():
        assert static.gradients([(x * x).sum()], [x]) == [None]
    assert static.gradients([x.detach().sum()], [x]) == [None]


def test_append_backward_names_gradients(declared):
    x = static.data("x", [None, 3])
    loss = static.nn.fc(x, 2, weight_attr="w", bias_attr=False).sum()
    ((parameter, gradient),) = static.append_backward(loss)
    assert (parameter.name, gradient.name) == ("w", "w@GRAD")
    static.Executor().run(static.default_startup_program())
    assert run({"x": ONES}, "w@GRAD")[0].tolist() == [[2.0, 2.0]] * 3


def test_gradients_on_the_way_are_found_by_name(declared):
    x = static.data("x", [None, 3])
    x.stop_gradient = False
    h = x * x
    h.name = "squares"
    aside = x + 1.0
    aside.name = "aside"
    static.append_backward((h * 3.0).sum())
    found = run({"x": ONES * 2}, "squares@GRAD", "x@GRAD")
    assert [f.tolist() for f in found] == [[[3.0] * 3] * 2, [[12.0] * 3] * 2]
    assert static.default_main_program().global_block().var("squares@GRAD").shape == [-1, 3]
    for nothing in ("aside@GRAD", "h@GRAD"):
        with pytest.raises(d2s.errors.ArgumentError, match=f"no variable of the program is named '{nothing}'"):
            run({"x": ONES}, nothing)


@pytest.mark.parametrize("listed", [lambda h: {h}, lambda h: [h.name], lambda h: (h.name, "x2")])
def test_gradients_do_not_pass_what_is_listed(listed, declared):
    x, w = (
        static.data("x", [None, 3]),
        static.create_parameter([3], name="w", default_initializer=d2s.nn.initializer.Constant(2.0)),
    )
    h = x * w
    z = (h * h * w).sum()
    static.append_backward(z, no_grad_set=listed(h))
    (again,) = static.gradients(z, [w])
    (apart,) = static.gradients(z, [w], no_grad_set=listed(h))
    static.Executor().run(static.default_startup_program())
    found = run({"x": ONES}, "w@GRAD", again, apart)
    assert [f.tolist() for f in found] == [[8.0] * 3, [24.0] * 3, [8.0] * 3]  # 2 w**2 and not 6 w**2


def test_variables_and_tensors_are_changed_in_place(declared):
    x, steps = static.data("x", [2, 3]), static.create_global_var([1], 0.0, "float32", name="steps")
    assert d2s.increment(steps) is steps
    k = d2s.full([1], 0, "int64")
    trips, total = static.nn.while_loop(lambda k, t: k < 3, lambda k, t: [d2s.increment(k), t.add_(x)], [k, d2s.zeros([2, 3])])
    y = x * 1.0
    assert d2s.assign(x * 3.0, y) is y
    d2s.nn.functional.relu_(y).scale_(2.0)
    static.Executor().run(static.default_startup_program())
    for n in (1, 2):
        found = run({"x": ONES}, trips, total, y, steps)
        assert [f.tolist() for f in found] == [[3], [[3.0] * 3] * 2, [[6.0] * 3] * 2, [n]]
    with pytest.raises(d2s.errors.CaptureError, match=r"D2S1003.*a variable from outside is changed"):
        static.nn.cond(x.sum() > 0, lambda: y.add_(x), lambda: x)
    with pytest.raises(d2s.errors.ShapeError, match=r"shape \[2, 3\] cannot take shape \[3\] in place"):
        d2s.assign(x.sum(0), y)


def test_parameters_that_are_listed_or_left_out(declared):
    loss = static.nn.fc(static.data("x", [None, 3]), 2, weight_attr="w", bias_attr="b").sum()
    assert [p.name for p, _ in static.append_backward(loss, parameter_list=["b"])] == ["b"]
    assert [p.name for p, _ in static.append_backward(loss, no_grad_set={"b"})] == ["w"]


def test_cond_and_while_loop_with_gradients(declared):
    x, n = static.data("x", [None, 3]), static.data("n", [1], "int64")
    x.stop_gradient = False
    i, y = static.nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, y * x], [d2s.full([1], 0, "int64"), x])
    z = static.nn.cond(y.sum() > 20.0, lambda: y * 2.0, lambda: y + x)
    (g,) = static.gradients([z.sum()], [x])
    for k, value in ((0, 2.0), (1, 4.0), (3, 16.0)):
        count, made, slope = run({"x": ONES * 2, "n": np.array([k])}, i, z, g)
        taken = value * 6 > 20
        assert count.tolist() == [k]
        assert made[0, 0] == (value * 2 if taken else value + 2) == made.max()
        assert slope.max() == (2 if taken else 1) * (k + 1) * 2.0**k + (not taken)


def test_arms_return_structures_and_what_is_alike_on_both(declared):
    x = static.data("x", [3])
    found = static.nn.cond(x.sum() > 0.0, lambda: {"a": (x, 1.0), "b": None}, lambda: {"a": (x * 2.0, 1.0), "b": None})
    assert found["b"] is None
    assert found["a"][1] == 1.0
    assert run({"x": -ONES[0]}, found["a"][0])[0].tolist() == [-2.0] * 3


@pytest.mark.parametrize(("then", "otherwise"), [("x", "(x, x)"), ("x", "x.sum()"), ("x", "x.astype('float64')"), ("x", "'s'")])
def test_arms_that_differ_are_refused(declared, then, otherwise):
    x = static.data("x", [3])
    arms = [eval(f"lambda: {text}", {"x": x}) for text in (then, otherwise)]
    with pytest.raises(d2s.errors.CaptureError, match="D2S1002"):
        static.nn.cond(x.sum() > 0.0, *arms)


def test_a_loop_variable_keeps_its_kind(declared):
    x = static.data("x", [3])
    with pytest.raises(d2s.errors.CaptureError, match=r"f32\[3\] becomes f32\[6\]"):
        static.nn.while_loop(lambda v: v.sum() < 9.0, lambda v: d2s.concat([v, v]), [x])


def test_cases(declared):
    x, k = static.data("x", [3]), static.data("k", [1], "int64")
    picked = static.nn.switch_case(k, {1: lambda: x, 4: lambda: x * 4.0}, lambda: x * 0.0)
    first = static.nn.case([(k > 3, lambda: x + 3.0), (k > 1, lambda: x + 1.0)])
    for number, one, other in ((0, 0.0, 2.0), (1, 1.0, 2.0), (4, 4.0, 4.0)):
        found = run({"x": ONES[0], "k": np.array([number])}, picked, first)
        assert [f[0] for f in found] == [one, other]


def test_python_is_called_in_the_order_it_was_declared(declared, capsys):
    x = static.data("x", [None, 3])
    seen = []
    out = static.data("out", [2, 3])
    static.py_func(lambda t: (seen.append(t.shape), t.numpy() * 3)[1], x * 2.0, out)
    y = static.Print(out + 1.0, message="here:")
    assert run({"x": ONES}, y)[0].tolist() == [[7.0] * 3] * 2
    assert seen == [[2, 3]]
    assert capsys.readouterr().out.startswith(
        "Variable: add_0.tmp_0\n  - message: here:\n  - lod: {}\n  - place: Place(cpu)\n  - shape: [2, 3]\n"
    )


def test_what_python_returns_is_what_was_declared(declared):
    out = static.data("out", [4])
    static.py_func(lambda t: t.numpy(), static.data("x", [3]), out)
    with pytest.raises(d2s.errors.ArgumentError, match=r"returns float32\[3\], 'out' declares f32\[4\]"):
        run({"x": ONES[0]}, out)


FEEDS = [
    ({}, "no value for 'x'"),
    ({"x": np.ones((2, 3))}, "declared as float32, and is fed float64"),
    ({"x": np.ones((2, 4), "float32")}, r"is fed shape \[2, 4\]"),
    ({"x": np.ones(3, "float32")}, r"is fed shape \[3\]"),
    ([{"x": ONES}, {}], "'feed' expects a dict"),
    ({"x": "rows"}, "'x' is fed 'rows', no array: could not convert"),
    ({"x": [[1], [2, 3]]}, "'x' is fed .*, no array: setting an array element"),
]


@pytest.mark.parametrize(("feed", "message"), FEEDS)
def test_a_feed_that_does_not_fit_is_refused_by_name(declared, feed, message):
    y = static.data("x", [None, 3]) * 2.0
    with pytest.raises(d2s.errors.D2SError, match=message):
        run(feed, y)


def test_lists_and_numbers_are_fed_as_what_was_declared(declared):
    y = static.data("x", [None, 3]) * 2.0
    assert run({"x": [[1, 2, 3]], "unknown": 5}, y)[0].tolist() == [[2.0, 4.0, 6.0]]


def test_two_feeds_of_different_lengths(declared):
    a, b = static.data("a", [None, 3]), static.data("b", [None, 3])
    assert run({"a": ONES, "b": np.ones((5, 3), "float32")}, d2s.matmul(a, b, transpose_y=True))[0].shape == (2, 5)


def test_extents_that_do_not_meet_are_refused_at_the_line_of_the_op(declared):
    y = static.data("a", [None, 3]) + static.data("b", [None, 3])
    with pytest.raises(d2s.errors.ShapeError, match=r"test_programs\.py"):
        run({"a": ONES, "b": np.ones((5, 3), "float32")}, y)


def test_data_needs_the_mode():
    with pytest.raises(d2s.errors.DTypeError, match="enable_static"):
        static.data("x", [1])


def test_modes_are_left_as_they_were_found(declared):
    assert not d2s.in_dynamic_mode()
    d2s.disable_static()
    assert d2s.in_dynamic_mode()
    assert d2s.to_tensor([1.0]).exp().shape == [1]
    d2s.enable_static()
    with static.program_guard(static.Program()):
        assert static.data("z", [1]).shape == [1]
    assert not static.default_main_program().has("z")


def test_an_area_under_a_curve_is_kept_over_runs(declared):
    scores, labels = static.data("s", [None, 2]), static.data("l", [None, 1], "int64")
    whole, batch, _ = static.auc(scores, labels)
    static.Executor().run(static.default_startup_program())
    high, low = [0.1, 0.9], [0.9, 0.1]
    feeds = [([high, low], [[1], [0]]), ([high, low], [[0], [1]])]
    found = [run({"s": np.array(s, "float32"), "l": np.array(y)}, whole, batch) for s, y in feeds]
    assert [[float(v) for v in f] for f in found] == [[1.0, 1.0], [0.5, 0.0]]


def test_random_numbers_of_a_program_with_a_seed(declared):
    main, _ = declared
    main.random_seed = 3
    y = d2s.nn.functional.dropout(static.data("x", [8, 8]), 0.5)
    first, second = (run({"x": np.ones((8, 8), "float32")}, y)[0] for _ in range(2))
    assert set(np.unique(first)) == {0.0, 2.0}
    assert not np.array_equal(first, second)


def test_an_item_that_is_assigned_to_makes_another_value_of_a_variable(declared):
    x = static.data("x", [None, 3])
    y = x * 1.0
    y[:, 1] = 5.0
    assert run({"x": ONES}, y)[0].tolist() == [[1.0, 5.0, 1.0]] * 2
    with pytest.raises(d2s.errors.CaptureError, match="only a run has its values"):
        y.backward()
    with pytest.raises(d2s.errors.CaptureError, match=r"static\.nn\.cond"):
        assert y.sum() > 0


class Drawing(d2s.nn.Layer):
    """A static function that draws, and changes a buffer."""

    def __init__(self):
        super().__init__()
        self.norm = d2s.nn.BatchNorm1D(3)

    @d2s.to_static
    def forward(self, x):
        return d2s.nn.functional.dropout(self.norm(x), 0.5)


def test_what_a_static_function_leaves_each_run_leaves(declared):
    main, startup = declared
    x = static.data("x", [None, 3])
    model = Drawing()
    y = model(x)
    static.Executor().run(startup)
    d2s.disable_static()
    d2s.seed(2)
    with static.program_guard(main, startup):
        declared_runs = [run({"x": np.eye(3, dtype="float32")}, y)[0] for _ in range(2)]
    mean = np.array(static.global_scope().find_var(model.norm._mean.name).get_tensor())
    d2s.seed(2)
    other = Drawing()
    assert all(np.array_equal(a, other(d2s.to_tensor(np.eye(3, dtype="float32"))).numpy()) for a in declared_runs)
    assert np.array_equal(mean, other.norm._mean.numpy())


def test_gradients_of_what_a_program_does_not_hold_are_refused(declared):
    x = static.data("x", [2])
    x.stop_gradient = False
    for wrong in ([], [x, 3]):
        with pytest.raises(d2s.errors.D2SError, match="'targets'"):
            static.gradients(wrong, x)
    with pytest.raises(d2s.errors.ArgumentError, match="'inputs' holds a tensor that the program does not read"):
        static.gradients(x * x, d2s.nn.Parameter(np.ones(2, "float32")))
    with pytest.raises(d2s.errors.DTypeError, match="'no_grad_set'"):
        static.append_backward(x.sum(), no_grad_set=[3])
    with pytest.raises(d2s.errors.ArgumentError, match="'device_count'"):
        static.cpu_places(2**31)


def test_a_call_of_python_has_the_gradient_that_another_call_says(declared):
    """Two calls behind each other, one result of which nothing depends on, and a way around them."""
    main, startup = declared
    x, w = static.data("x", [2, 3]), static.create_parameter([3], default_initializer=d2s.nn.initializer.Constant(2.0))
    told = []

    def doubled(a, b):
        return a.numpy() * 2, b.numpy() * a.numpy()

    def back(a, first, g, other):
        told.append((a.tolist(), first.tolist(), g.tolist(), other.tolist()))
        return g.numpy() * 2, other.numpy()

    block = main.global_block()
    one, two, three = (block.create_var(name, [2, 3]) for name in ("one", "two", "three"))
    held = x * w
    static.py_func(doubled, [held, x], [one, two], back, skip_vars_in_backward_input=[x, two])
    static.py_func(lambda a: np.tanh(a.numpy()), one, three, lambda a, y, g: g.numpy() * (1 - y.numpy() ** 2))
    loss = (three + held).sum()
    ((parameter, gradient),) = static.append_backward(loss)
    assert parameter is w
    exe = static.Executor()
    exe.run(startup)
    value = np.arange(6, dtype="float32").reshape(2, 3) / 10
    (found,) = exe.run(main, feed={"x": value}, fetch_list=[gradient])
    y = np.tanh(value * 4)
    np.testing.assert_allclose(found, (value * (2 * (1 - y**2) + 1)).sum(0), rtol=1e-6)
    assert told[0][0] == (value * 2).tolist() and told[0][3] == np.zeros([2, 3]).tolist()
