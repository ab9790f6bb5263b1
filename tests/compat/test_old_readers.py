"""Loaders of generators, and the readers of `paddle.dataset` on small files of the published forms."""

import io
import tarfile

import numpy as np
import pytest

import d2s
from d2s import compat
from d2s.compat import old_datasets

SAMPLES = [(np.full(3, n, "float32"), n) for n in range(5)]


def test_a_loader_gives_tensors_or_what_a_program_is_fed():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            loader = fluid.io.DataLoader.from_generator(capacity=4)
            loader.set_sample_list_generator(fluid.io.batch(lambda: iter(SAMPLES), 2), fluid.CPUPlace())
            seen = [(x.shape, y.numpy().tolist()) for x, y in loader()]
        assert seen == [([2, 3], [0, 1]), ([2, 3], [2, 3]), ([1, 3], [4])]
        x, y = fluid.data("x", [None, 3]), fluid.data("y", [None, 1], "int64")
        loader = fluid.io.PyReader([x, y], capacity=4)
        loader.decorate_sample_generator(lambda: iter(SAMPLES), batch_size=2)
        found = [fluid.Executor().run(feed=data, fetch_list=[y]) for data in loader()]
        assert [one[0].tolist() for one in found] == [[[0], [1]], [[2], [3]]]
        with pytest.raises(d2s.errors.ArgumentError, match="iterated over"):
            loader.start()


def test_a_loader_without_a_generator_says_so():
    with compat.installed("2.2"), pytest.raises(d2s.errors.ArgumentError, match="no generator"):
        import paddle

        next(paddle.io.DataLoader.from_generator()())


def test_prices_of_houses_are_scaled_by_column(tmp_path, monkeypatch):
    monkeypatch.setenv("D2S_DATA_HOME", str(tmp_path))
    (tmp_path / "uci_housing").mkdir()
    rows = np.arange(70.0).reshape(5, 14)
    np.savetxt(tmp_path / "uci_housing" / "housing.data", rows)
    train, test = old_datasets.NAMES["uci_housing.train"](), old_datasets.NAMES["uci_housing.test"]()
    (features, price), *rest = train()
    assert (features == -0.5).all() and price.tolist() == [13.0] and len(rest) == 3
    assert [p.tolist() for _, p in test()] == [[69.0]]


def archive(path, files):
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as made:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            made.addfile(info, io.BytesIO(text))


def test_words_in_a_row(tmp_path, monkeypatch):
    monkeypatch.setenv("D2S_DATA_HOME", str(tmp_path))
    place = "./simple-examples/data/ptb."
    archive(tmp_path / "imikolov" / "simple-examples.tgz", {f"{place}train.txt": b"a b a\n c\n", f"{place}valid.txt": b"a b\n"})
    words = old_datasets.build_dict(1)
    assert words == {"<e>": 0, "<s>": 1, b"a": 2, b"b": 3, "<unk>": 4} or words[b"a"] < words[b"b"]
    s, e, a, b, unknown = (words[w] for w in ("<s>", "<e>", b"a", b"b", "<unk>"))
    train = old_datasets.NAMES["imikolov.train"]
    assert list(train(words, 3)()) == [(s, a, b), (a, b, a), (b, a, e), (s, unknown, e)]
    sequences = old_datasets.DataType.SEQ
    assert list(train(words, 3, sequences)()) == [([s, unknown], [unknown, e])]


def test_opinions(tmp_path, monkeypatch):
    monkeypatch.setenv("D2S_DATA_HOME", str(tmp_path))
    files = {"aclImdb/train/pos/1.txt": b"Good, good!\n", "aclImdb/train/neg/1.txt": b"bad <br>", "aclImdb/README": b"good"}
    archive(tmp_path / "imdb" / "aclImdb_v1.tar.gz", files)
    words = old_datasets.word_dict(1)
    assert words == {b"good": 0, "<unk>": 1}
    assert list(old_datasets.NAMES["imdb.train"](words)()) == [([0, 0], 0), ([1, 1], 1)]
    assert list(old_datasets.NAMES["imdb.test"](words)()) == []


def test_readers_that_are_part_of_a_program_feed_its_runs_until_they_end():
    with compat.installed("1.x"):
        import paddle
        import paddle.fluid as fluid

        reader = fluid.layers.py_reader(capacity=2, shapes=[(-1, 1), (-1, 1)], dtypes=["float32", "int64"])
        x, label = fluid.layers.read_file(reader)
        total = fluid.layers.reduce_sum(x) + fluid.layers.cast(fluid.layers.reduce_sum(label), "float32")
        tested = fluid.default_main_program().clone(for_test=True)
        count = fluid.layers.autoincreased_step_counter()
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(fluid.default_startup_program())
        reader.decorate_paddle_reader(paddle.batch(lambda: (([float(n)], n) for n in range(5)), 2))
        with pytest.raises(d2s.errors.ArgumentError, match="is not started"):
            exe.run(fetch_list=[total])
        for program in (None, tested, fluid.CompiledProgram(fluid.default_main_program())):
            found = []
            reader.start()
            with pytest.raises(fluid.core.EOFException):
                while True:
                    found.append(exe.run(program, fetch_list=[total])[0].item())
            reader.reset()
            assert found == [2.0, 10.0, 8.0]
        reader.start()
        assert exe.run(fetch_list=[count])[0].item() == 9  # two epochs with their ends, and this run
        with fluid.program_guard(fluid.Program()):
            variables = [fluid.data("a", [None, 1]), fluid.data("b", [None, 1], "int64")]
            loader = fluid.io.DataLoader.from_generator(variables, capacity=2, iterable=False)
            loader.set_sample_generator(lambda: (([float(n)], n) for n in range(5)), batch_size=2)
            loader.start()
            assert [exe.run(fetch_list=[variables[0]])[0].ravel().tolist() for _ in range(2)] == [[0.0, 1.0], [2.0, 3.0]]
