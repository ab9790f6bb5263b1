"""What users look up in a declared program: blocks, operators, variables; and what names are not there."""

import numpy as np
import pytest

import d2s
from d2s import static
from d2s.errors import ArgumentError, CaptureError, DTypeError


@pytest.fixture
def layer(declared):
    x = static.data("x", [None, 3])
    fc = d2s.nn.Linear(3, 2)
    return x, fc, d2s.nn.functional.relu(fc(x))


def test_an_operator_says_what_it_reads_and_writes(declared, layer):
    (main, _), (x, fc, y) = declared, layer
    first, last = main.global_block().ops
    assert (first.type, first.idx, first.block == y.block) == ("linear", 0, True)
    assert first.input_names == ["X", "Weight", "Bias"]
    assert first.input_arg_names == [x.name, fc.weight.name, fc.bias.name]
    assert first.input("X") == ["x"] and first.output_names == ["Out"]
    assert last.input_arg_names == first.output_arg_names and last.output("Out") == [y.name]
    assert y.op.type == "relu" and x.op is None
    reduced = y.sum(axis=1).op
    assert reduced.attr_names == ["axis", "keepdim"] and reduced.has_attr("axis") and reduced.attr("axis") == (1,)
    assert reduced.all_attrs()["keepdim"] is False
    assert str(last) == f"{{{y.name}}} = relu(inputs={{{last.input_arg_names[0]}}})"
    for asked in (lambda: last.attr("nope"), lambda: last.input("Y"), lambda: main.block(1)):
        with pytest.raises(ArgumentError, match="D2S0004"):
            asked()


def test_a_block_has_every_variable_by_name(declared, layer):
    (main, _), (x, fc, y) = declared, layer
    block = main.global_block()
    assert y.block == block and x.block.program is main and block.parent_idx == -1
    names = [v.name for v in main.list_vars()]
    assert {"x", y.name, fc.weight.name, fc.bias.name}.union(block.ops[0].output_arg_names) == set(names)
    assert block.var(block.ops[0].output_arg_names[0]).shape == [-1, 2]
    assert list(block.iter_parameters()) == block.all_parameters() == [fc.weight, fc.bias]
    assert block.to_string() == str(block) == main.to_string()


def test_a_variable_says_of_what_kind_it_is(declared, layer):
    x, _, y = layer
    assert (x.is_data, x.need_check_feed, y.is_data) == (True, True, False)
    assert (y.is_parameter, y.lod_level, y.to_string(True)) == (False, 0, str(y))
    with pytest.raises(CaptureError, match=r"set_value\(\) of a variable"):
        y.set_value(np.zeros([1, 2]))


@pytest.mark.parametrize("pred", ["s", None])
def test_a_condition_is_no_text(declared, layer, pred):
    x, *_ = layer
    for choose in (lambda: static.nn.cond(pred, lambda: x, lambda: x), lambda: static.nn.case([(pred, lambda: x)], lambda: x)):
        with pytest.raises(DTypeError, match=rf"'pred' expects a bool Tensor, got {type(pred).__name__}"):
            choose()


def test_names_that_are_not_there_are_warned_of(declared, layer):
    (main, startup), (_, fc, y) = declared, layer
    d2s.optimizer.Adam(0.1).minimize(y.sum())
    exe = static.Executor()
    exe.run(startup)
    exe.run(main, feed={"x": np.ones([2, 3], "float32")})
    state = main.state_dict()
    for give in (lambda held: static.set_program_state(main, held), main.set_state_dict):
        give(state)
        with pytest.warns(UserWarning, match="nothing in the program is named 'nope'"):
            give({"nope": np.zeros(2), fc.bias.name: np.ones(2, "float32")})
    assert main.state_dict()[fc.bias.name].tolist() == [1.0, 1.0]


def test_what_another_program_computes_is_refused_by_its_kind(declared, layer):
    *_, y = layer
    other = static.Program()
    with static.program_guard(other):
        x = static.data("x", [2])
    with pytest.raises(ArgumentError, match=r"a variable f32\[\w+,2\], which has no name, of another program"):
        static.Executor().run(other, feed={x.name: np.ones(2, "float32")}, fetch_list=[y])
