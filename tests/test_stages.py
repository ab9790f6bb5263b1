"""D2S_DUMP and D2S_PRINT: every kind of stage is known by name, and a folder that cannot be written is a coded error."""

import os

import pytest

import d2s
from d2s import ast_transforms, passes
from d2s.config import STAGES
from d2s.errors import ArgumentError, FileError


def countdown(x):
    while x.sum() > 0:
        x = x - 1
    return x


@pytest.mark.parametrize("module", [*ast_transforms.PIPELINE, *passes.PREPARING, *passes.LOWERING])
def test_every_transform_is_a_stage(module):
    assert module.__name__.rpartition(".")[2] in STAGES


def test_stages_that_a_run_reports_are_the_ones_known(tmp_path):
    with d2s.config(DUMP=tmp_path):
        x = d2s.to_tensor([1.5], stop_gradient=False)
        d2s.to_static(lambda x: countdown(x) * 2.0)(x).backward()
    files = [p.name.split("-", 2)[2] for p in tmp_path.iterdir()]
    assert "source_lambda.py" in files
    kinds = {kind: [name for name in files if name.startswith((f"{kind}_", f"{kind}."))] for kind in STAGES}
    assert sum(map(len, kinds.values())) == len(files)
    assert [kind for kind, found in kinds.items() if not found and kind != "kernel"] == []


@pytest.mark.parametrize("names", ["progam", "source,progam", "source,", "Source", " source"])
def test_a_stage_nobody_knows_is_refused(names):
    with pytest.raises(ArgumentError, match=r"D2S0004.*no stage(.|\n)*one of source, "), d2s.config(PRINT=names):
        pass


def test_a_kind_prints_all_of_it(capsys):
    def tripled(x):
        return x * 3

    with d2s.config(PRINT="program,plan:nobody"):
        d2s.to_static(tripled)(d2s.to_tensor([1.0]))
    assert capsys.readouterr().out.count("--- ") == 1


def test_a_stage_of_one_function_is_printed(capsys):
    def tripled(x):
        return x * 3

    with d2s.config(PRINT="program:tripled,source:nobody"):
        d2s.to_static(tripled)(d2s.to_tensor([1.0]))
    assert capsys.readouterr().out.startswith("--- program:tripled\nprogram tripled(")


def test_a_folder_that_cannot_be_written_is_named():
    in_the_way = os.path.join(os.path.abspath(__file__), "folder")
    with pytest.raises(FileError, match=r"D2S3004.*D2S_DUMP: .*test_stages\.py"), d2s.config(DUMP=in_the_way):
        d2s.to_static(lambda x: x + 1)(d2s.to_tensor([1.0]))
