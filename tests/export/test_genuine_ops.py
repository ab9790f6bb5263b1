"""Ops as genuine Paddle writes them compute what Paddle computed; `interop/make_genuine_ops.py` makes the files."""

import zipfile

import numpy as np
import pytest

import d2s
from tests.export.test_genuine import GENUINE

VERSIONS = ("2.6.2", "3.3.1")


def themes(version):
    with zipfile.ZipFile(GENUINE / f"ops-{version}.zip") as held:
        return sorted(name.removesuffix(".npz") for name in held.namelist() if name.endswith(".npz"))


EACH = [(version, theme) for version in VERSIONS for theme in themes(version)]


@pytest.mark.parametrize(("version", "theme"), EACH)
def test_ops_of_paddle_compute_what_paddle_computed(version, theme, tmp_path):
    with zipfile.ZipFile(GENUINE / f"ops-{version}.zip") as held:
        held.extractall(tmp_path)
    layer = d2s.jit.load(str(tmp_path / theme))
    with np.load(tmp_path / f"{theme}.npz") as kept:
        fed = {name.removeprefix("i_"): d2s.to_tensor(kept[name]) for name in kept.files if name.startswith("i_")}
        said, wanted = kept["said"], [kept[f"o{k}"] for k in range(len(kept["said"]))]
    found = layer(**fed)
    for one, have, want in zip(said, found if isinstance(found, tuple) else [found], wanted, strict=True):
        assert (have.numpy().dtype, have.shape) == (want.dtype, list(want.shape)), one
        np.testing.assert_allclose(have.numpy(), want, rtol=2e-5, atol=2e-5, err_msg=str(one))
