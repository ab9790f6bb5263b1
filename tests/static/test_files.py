"""Declared programs written and read: for inference in both forms, as bytes, as checkpoints."""

import numpy as np
import pytest

import d2s
from d2s import static
from d2s.export import protobuf

X = np.arange(8, dtype="float32").reshape(2, 4) / 8


@pytest.fixture
def trained(declared):
    main, startup = declared
    x, y = static.data("x", [None, 4]), static.data("y", [None, 1])
    out = static.nn.fc(static.nn.fc(x, 3, activation="relu"), 1)
    out.name = "score"
    adam = d2s.optimizer.Adam(0.1)
    adam.minimize(d2s.nn.functional.mse_loss(out, y))
    exe = static.Executor()
    startup.random_seed = 1
    exe.run(startup)
    exe.run(main, feed={"x": X, "y": np.ones((2, 1), "float32")})
    wanted = exe.run(main.clone(for_test=True), feed={"x": X}, fetch_list=[out])[0]
    return main, exe, x, out, wanted


def forms(path, main, exe, x, out):
    static.save_inference_model(f"{path}/net", [x], [out], exe, program=main)
    with static.scope_guard(static.Scope()):
        yield static.load_inference_model(f"{path}/net", exe)
    with static.scope_guard(static.Scope()):
        files = [(path / f"net.{ending}").read_bytes() for ending in ("pdmodel", "pdiparams")]
        yield static.load_inference_model(None, exe, model_filename=files[0], params_filename=files[1])
    for model, params in (("__model__", None), ("m", "p")):
        names = {"model_filename": model, "params_filename": params}
        static.save_inference_model(f"{path}/{model}", [x], [out], exe, program=main, **names)
        with static.scope_guard(static.Scope()):
            yield static.load_inference_model(f"{path}/{model}", exe, **names)
    with static.scope_guard(static.Scope()):
        yield static.load_inference_model(f"{path}/__model__", exe)


def test_inference_files_in_every_form_compute_the_same_bits(trained, tmp_path):
    main, exe, x, out, wanted = trained
    for program, feeds, fetches in forms(tmp_path, main, exe, x, out):
        assert (feeds, [f.name for f in fetches]) == (["x"], ["score"])
        for rows in (2, 1):
            found = exe.run(program, feed={feeds[0]: X[:rows]}, fetch_list=fetches)[0]
            assert np.array_equal(found, wanted[:rows])
    assert (tmp_path / "__model__" / "fc_0.w_0").exists()


@pytest.mark.parametrize(
    ("path", "given", "said"),
    [
        ("net", {"model": "m"}, "has no argument 'model'"),
        ("net", {"model_filename": b"m"}, "'model_filename' expects a str"),
        (None, {"model_filename": b"m"}, "are to be bytes"),
        (None, {"model_filename": b"m", "params_filename": b""}, "D2S3001"),
        ("nowhere", {"model_filename": "m"}, "there is no file nowhere/m"),
    ],
)
def test_what_names_no_files_is_refused(path, given, said):
    with pytest.raises(d2s.errors.D2SError, match=said):
        static.load_inference_model(path, None, **given)


def test_a_folder_that_another_layer_reads(trained, tmp_path):
    main, exe, x, out, wanted = trained
    static.save_inference_model(str(tmp_path / "net"), [x], [out], exe, program=main)
    d2s.disable_static()
    assert np.array_equal(d2s.jit.load(str(tmp_path / "net"))(d2s.to_tensor(X)).numpy(), wanted)


def test_more_is_declared_behind_a_program_that_was_read(trained, tmp_path):
    main, exe, x, out, wanted = trained
    static.save_inference_model(str(tmp_path / "net"), [x], [out], exe, program=main)
    program, _, (score,) = static.load_inference_model(str(tmp_path / "net"), exe)
    with static.program_guard(program):
        loss = (score * 2.0).sum()
        pairs = static.append_backward(loss)
    found = exe.run(program, feed={"x": X}, fetch_list=[loss, pairs[-1][1]])
    assert found[0] == np.float32(2) * (wanted[0, 0] + wanted[1, 0])
    assert sorted(p.name for p, _ in pairs) == ["fc_0.b_0", "fc_0.w_0", "fc_1.b_0", "fc_1.w_0"]


def test_bytes(trained):
    main, exe, x, out, wanted = trained
    program = static.deserialize_program(static.serialize_program([x], [out], program=main))
    static.deserialize_persistables(program, static.serialize_persistables([x], [out], exe, program=main), exe)
    assert np.array_equal(exe.run(program, feed={"x": X}, fetch_list=["score"])[0], wanted)


def test_what_the_fetches_do_not_need_is_left_out(trained):
    main, exe, x, out, wanted = trained
    program = static.normalize_program(main, [x], [out])
    assert len(program.global_block().ops) < len(main.global_block().ops)
    assert np.array_equal(exe.run(program, feed={"x": X}, fetch_list=[out])[0], wanted)


def test_a_fetch_that_needs_more_than_is_fed_is_refused(trained, tmp_path):
    main, exe, _x, out, _ = trained
    y = main.named("y")
    with pytest.raises(d2s.errors.ArgumentError, match="depend on 'x', which 'feed_vars' does not list"):
        static.save_inference_model(str(tmp_path / "net"), [y], [out], exe, program=main)


def test_checkpoints_go_on_where_they_were_taken(trained, tmp_path):
    main, exe, _, out, _ = trained
    feed = {"x": X, "y": np.ones((2, 1), "float32")}
    static.save(main, str(tmp_path / "c"))
    first = [exe.run(main, feed=feed, fetch_list=[out])[0] for _ in range(3)]
    static.load(main, str(tmp_path / "c"), exe)
    assert all(np.array_equal(a, exe.run(main, feed=feed, fetch_list=[out])[0]) for a in first)
    assert "fc_0.w_0_moment1_0" in static.load_program_state(str(tmp_path / "c"))
    described = static.deserialize_program(static.load_from_file(str(tmp_path / "c.pdmodel")))
    assert described.notes["feeds"] == ["x", "y"]


def test_a_checkpoint_of_a_program_that_no_file_holds_is_written_with_a_warning(declared, tmp_path):
    x = static.data("x", [2])
    static.nn.fc(x.reshape([1, 2]), 1) + d2s.randn([1])
    static.Executor().run(static.default_startup_program())
    with pytest.warns(UserWarning, match=r"c.pdmodel is not written: the fetches depend on random numbers"):
        static.save(declared[0], str(tmp_path / "c"))
    assert (tmp_path / "c.pdparams").exists()


def test_a_program_that_drops_is_saved_as_it_is_in_inference(declared, tmp_path):
    main, startup = declared
    x = static.data("x", [None, 4])
    h = d2s.nn.functional.dropout(static.nn.fc(x, 3), 0.5)
    d2s.optimizer.SGD(0.1).minimize(h.mean())
    exe = static.Executor()
    exe.run(startup)
    exe.run(main, feed={"x": X})
    static.save_inference_model(str(tmp_path / "net"), [x], [h], exe, program=main)
    program, feeds, fetches = static.load_inference_model(str(tmp_path / "net"), exe)
    wanted = exe.run(main.clone(for_test=True), feed={"x": X}, fetch_list=[h])[0]
    assert np.array_equal(exe.run(program, feed={feeds[0]: X}, fetch_list=fetches)[0], wanted)


def test_what_is_read_without_notes_shares_the_extent_of_batches_where_ops_ask_for_it(declared):
    x, y = static.data("x", [None, 4]), static.data("y", [None, 1])
    places = d2s.searchsorted(static.nn.fc(x, 3), y)
    static.Executor().run(declared[1])
    described = protobuf.decode("ProgramDesc", static.serialize_program([x, y], [places], declared[0]))
    del described["notes"]
    program = static.deserialize_program(protobuf.encode("ProgramDesc", described))
    assert "y: f32[n0,1]" in str(program)
