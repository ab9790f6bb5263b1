"""What a run has stored when it raises is what eager code leaves: tensors with a history, through which gradients go."""

import types

import pytest

import d2s

BOX, KEPT, TABLE = types.SimpleNamespace(), [], {}
WEIGHT = d2s.to_tensor([2.0, 3.0, 4.0], stop_gradient=False)
GLOBAL = None


def an_attribute(x):
    BOX.y = x * WEIGHT
    if x.sum() > 0:
        raise ValueError("positive")
    return x * 2


def a_global(x):
    global GLOBAL
    GLOBAL = x * x
    if x.sum() > 0:
        raise ValueError("positive")
    return GLOBAL


def a_list(x):
    KEPT.append(x * WEIGHT)
    print("kept", x.sum().item())
    KEPT.extend([KEPT[-1] * x, x.detach() * 2, x])
    if not x.sum() < 0:
        raise AssertionError("positive")
    return x


def a_dict(x):
    TABLE["k"] = d2s.tanh(x)
    TABLE["n"] = TABLE.get("n", 0) + 1
    return {2: x}[int(x.sum()) * 5]


def before_and_behind_a_loop(x):
    y = x
    while y.sum() < 30:
        y = y.abs() * 2
        BOX.y = y
    BOX.z = BOX.y * WEIGHT
    if x[0] > 0:
        raise RuntimeError(f"{x[0].item()}")
    BOX.z = x
    return y


def in_a_branch(x):
    if x[1] < 0:
        BOX.y = x * 3
    else:
        BOX.y = x * WEIGHT
    BOX.n = 1
    return 10 // (int(x.sum()) - 2)


def from_a_callee(x):
    def inner(y):
        BOX.inner = y * WEIGHT
        if y.sum() > 1:
            raise KeyError("inner")
        return y

    BOX.y = x + 1
    try:
        return inner(x)
    except KeyError as error:
        BOX.caught = inner(-x) * 2
        raise ValueError("outer") from error


def a_step_that_raises(x):
    BOX.y = x * WEIGHT
    return x * float(f"{x.sum().item():.1f}" + ("" if x.sum() < 0 else "?"))


def in_place(x):
    y = x * WEIGHT
    BOX.y = y
    y.add_(x)
    BOX.z = y * y
    if x.sum() > 0:
        raise ValueError("positive")
    return y


FUNCTIONS = [
    an_attribute,
    a_global,
    a_list,
    a_dict,
    before_and_behind_a_loop,
    in_a_branch,
    from_a_callee,
    a_step_that_raises,
    in_place,
]


def stored():
    found = {**vars(BOX), **TABLE, "global": GLOBAL, **{f"item {n}": v for n, v in enumerate(KEPT)}}
    return {name: value for name, value in found.items() if isinstance(value, d2s.Tensor)}


def shown(tensor):
    return tensor.tolist() if isinstance(tensor, d2s.Tensor) else tensor


def left(function):
    """What calls leave, and what gradients of it are, each of a call of its own."""
    global GLOBAL
    found = []
    for values in ([1.0, -2.0, 3.0], [-9.0, 2.0, 3.0], [1.0, -2.0, 3.0]):
        for which in range(6):
            vars(BOX).clear()
            KEPT.clear()
            TABLE.clear()
            GLOBAL = WEIGHT.grad = None
            x = d2s.to_tensor(values, stop_gradient=False)
            try:
                found.append(("returned", shown(function(x))))
            except Exception as error:
                found.append((type(error), str(error)))
            held = stored()
            found.append({k: (v.tolist(), v.stop_gradient, v.is_leaf, v is x) for k, v in held.items()})
            wanting = [v for v in held.values() if not v.stop_gradient]
            if which < len(wanting):
                (wanting[which] * 1.5).sum().backward()
            found.append((shown(x.grad), shown(WEIGHT.grad)))
    return found


@pytest.mark.parametrize("executor", ["numba", "interpreter"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_what_was_stored_has_its_history(function, executor):
    expected = left(function)
    with d2s.config(EXECUTOR=executor):
        assert left(d2s.to_static(function)) == expected
    assert any(isinstance(entry, tuple) and entry[0] != "returned" for entry in expected[::3])


def test_without_gradients_nothing_is_run_again():
    with d2s.no_grad(), pytest.raises(ValueError, match="positive"):
        d2s.to_static(an_attribute)(d2s.to_tensor([1.0, 2.0, 3.0], stop_gradient=False))
    assert BOX.y.stop_gradient
