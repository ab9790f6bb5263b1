"""`fn.plan(...)` and `fn.kernels(...)`: what a call runs, as text, with the user's lines."""

import d2s


@d2s.to_static
def scaled(x, w):
    y = d2s.tanh(x * w)
    return y.sum()


def test_a_plan_names_kernels_and_lines():
    x = d2s.to_tensor([1.0, 2.0])
    text = scaled.plan(x, x * 2)
    assert text.startswith("plan scaled(x: ") and text.count("plan ") == 1
    assert "(multiply tanh)" in text and "test_shown.py:9" in text and " sum " in text


def test_where_a_gradient_is_wanted_both_halves_are_shown():
    x, w = d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([0.5, 0.5], stop_gradient=False)
    assert "plan scaled_grad(" in scaled.plan(x, w)
    with d2s.no_grad():
        assert "plan scaled_grad(" not in scaled.plan(x, w)


def test_kernels_stand_under_the_lines_they_compute():
    x = d2s.to_tensor([1.0, 2.0])
    text = scaled.kernels(x, x * 2)
    assert text.count("def kernel(") == 2
    told = [line for line in text.splitlines() if line.startswith("# ") and "test_shown.py" in line]
    assert [line.split()[1] for line in told] == ["multiply", "tanh", "sum"]
