"""`Model` trains, evaluates, predicts and keeps as a loop of one's own does, and tells callbacks what it does."""

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, DTypeError, FileError, ShapeError

nn, F, Spec = d2s.nn, d2s.nn.functional, d2s.static.InputSpec
R = np.random.default_rng(0)
X = R.random((50, 4)).astype("float32")
Y = (X.argmax(1) % 3).reshape(-1, 1).astype("int64")
DATA = d2s.io.TensorDataset([d2s.to_tensor(X), d2s.to_tensor(Y)])


def made(metrics=None, rate=0.1, **options):
    d2s.seed(1)
    model = d2s.Model(nn.Linear(4, 3), **options)
    model.prepare(d2s.optimizer.Adam(rate, parameters=model.parameters()), nn.CrossEntropyLoss(), metrics)
    return model


class Told(d2s.callbacks.Callback):
    """Notes every event."""

    def __init__(self):
        super().__init__()
        self.events = []

    def __getattribute__(self, name):
        if name.startswith("on_"):
            return lambda *told: self.events.append((name[3:], *told))
        return super().__getattribute__(name)

    def named(self, name):
        return [told for event, *told in self.events if event == name]


def test_a_fit_is_the_loop_one_would_write():
    d2s.seed(1)
    net = nn.Linear(4, 3)
    adam = d2s.optimizer.Adam(0.1, parameters=net.parameters())
    for _ in range(3):
        for at in range(0, 50, 20):
            loss = F.cross_entropy(net(d2s.to_tensor(X[at : at + 20])), d2s.to_tensor(Y[at : at + 20]))
            loss.backward()
            adam.step()
            adam.clear_grad()
    model = made()
    model.fit(DATA, batch_size=20, epochs=3, shuffle=False, verbose=0)
    assert all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in zip(net.parameters(), model.parameters(), strict=True))


def test_events_in_order_with_their_logs():
    told = Told()
    model = made([d2s.metric.Accuracy(), d2s.metric.Accuracy((1, 2), name="top")])
    model.fit(DATA, DATA, batch_size=[20, 30], epochs=2, verbose=0, callbacks=told)
    epoch = ["epoch_begin", *["train_batch_begin", "train_batch_end"] * 3, "epoch_end"]
    evaluation = ["eval_begin", *["eval_batch_begin", "eval_batch_end"] * 2, "eval_end"]
    assert [event for event, *_ in told.events] == ["train_begin", *(epoch + evaluation) * 2, "train_end"]
    assert told.params["metrics"] == ["loss", "acc", "top_top1", "top_top2"]
    assert (told.params["epochs"], told.params["steps"], told.model) == (2, 3, model)
    assert told.named("eval_begin")[0] == [{"steps": 2, "metrics": told.params["metrics"]}]
    step, logs = told.named("train_batch_end")[2]
    assert (step, logs["step"], logs["batch_size"]) == (2, 2, 10)
    assert logs["acc"] == logs["top_top1"] <= logs["top_top2"]
    assert told.named("epoch_end")[0] == [0, told.named("train_batch_end")[2][1]]


def test_an_evaluation_is_over_all_samples():
    model = made(d2s.metric.Accuracy())
    found = model.evaluate(DATA, batch_size=20, verbose=0)
    with d2s.no_grad():
        scores = model.network(d2s.to_tensor(X))
        assert found["loss"] == [pytest.approx(F.cross_entropy(scores, d2s.to_tensor(Y)).item(), rel=1e-5)]
    assert found == {"loss": found["loss"], "acc": pytest.approx((scores.numpy().argmax(1) == Y[:, 0]).mean())}
    assert model.evaluate(DATA, batch_size=20, verbose=0, num_iters=1)["acc"] != found["acc"]
    only = d2s.Model(model.network)
    only.prepare(metrics=d2s.metric.Accuracy())
    assert only.evaluate(DATA, batch_size=50, verbose=0) == {"acc": found["acc"]}


def test_predictions():
    model = d2s.Model(nn.Linear(4, 3))
    (column,) = model.predict(DATA, batch_size=20, verbose=0)
    assert [part.shape for part in column] == [(20, 3), (20, 3), (10, 3)]
    (whole,) = model.predict(DATA, batch_size=20, stack_outputs=True, verbose=0)
    assert whole.tobytes() == model.network(d2s.to_tensor(X)).numpy().tobytes()
    assert not model.network.training


def test_one_batch():
    model = made(d2s.metric.Accuracy())
    before = model.network.weight.numpy()
    (loss,), (accuracy,) = model.train_batch(X, Y)
    assert (loss.shape, 0 <= accuracy <= 1) == ((), True)
    assert (model.network.weight.numpy() != before).any()
    (after,), _ = model.eval_batch([X], [Y])
    assert after < loss
    assert [y.shape for y in model.predict_batch(X)] == [(50, 3)]


def test_gradients_of_several_batches():
    def trained(**options):
        model = made()
        model.fit([(X[:20], Y[:20]), (X[20:40], Y[20:40]), (X[40:], Y[40:])], verbose=0, **options)
        return model._optimizer.state_dict()[f"{model.network.weight.name}_beta1_pow_acc_0"].item()

    assert trained(accumulate_grad_batches=2) == pytest.approx(0.9**3)  # two steps: of two batches, and of the last
    assert trained() == pytest.approx(0.9**4)


def test_so_many_batches_and_no_more():
    told = Told()
    made().fit(DATA, batch_size=20, epochs=5, verbose=0, callbacks=[told], num_iters=4)
    assert [step for step, _ in told.named("train_batch_end")] == [0, 1, 2, 0]
    assert len(told.named("epoch_end")) == 2


def test_stopping_from_a_callback():
    class Second(Told):
        def __getattribute__(self, name):
            if name == "on_train_batch_begin":
                return lambda step, logs: setattr(self.model, "stop_training", step == 1)
            return super().__getattribute__(name)

    told = Second()
    made().fit(DATA, batch_size=20, epochs=5, verbose=0, callbacks=[told])
    assert [step for step, _ in told.named("train_batch_end")] == [0, 1]
    assert told.events[-1][0] == "train_end"


def test_several_inputs_outputs_and_losses():
    class Twins(nn.Layer):
        def __init__(self):
            super().__init__()
            self.one = nn.Linear(4, 3)

        def forward(self, x, y):
            return self.one(x), self.one(y)

    def loss(x, y, first, second):
        return [F.cross_entropy(x, first), F.cross_entropy(y, second)]

    batches = [[[X, X], [Y, Y]]] * 2
    model = d2s.Model(Twins())
    model.prepare(d2s.optimizer.SGD(0.1, model.parameters()), loss)
    model.fit(batches, verbose=0)
    found = model.evaluate(batches, verbose=0)["loss"]
    assert found[0] == found[1]
    assert [len(column) for column in model.predict(batches, verbose=0)] == [2, 2]


def test_files(tmp_path):
    model = made(inputs=Spec([None, 4], "float32", "x"))
    model.fit(DATA, batch_size=20, epochs=3, verbose=0, save_dir=str(tmp_path / "kept"), save_freq=2)
    names = sorted(p.name for p in (tmp_path / "kept").iterdir())
    assert names == [f"{stem}.{end}" for stem in ("0", "2", "final") for end in ("pdopt", "pdparams")]
    other = made()
    other.load(str(tmp_path / "kept" / "final"), reset_optimizer=True)
    assert other.network.weight.tolist() == model.network.weight.tolist()
    model.load(str(tmp_path / "kept" / "0.pdparams"))
    assert other.network.weight.tolist() != model.network.weight.tolist()
    model.save(str(tmp_path / "run"), training=False)
    assert d2s.jit.load(str(tmp_path / "run"))(d2s.to_tensor(X)).numpy().tobytes() == model.predict_batch(X)[0].tobytes()


def test_files_that_do_not_fit(tmp_path):
    path = str(tmp_path / "x")
    made().save(path)
    (tmp_path / "x.pdopt").unlink()
    narrow = d2s.Model(nn.Linear(4, 2))
    narrow.prepare()
    with pytest.raises(ShapeError, match=r"'weight' of shape \[4, 2\] has shape \[4, 3\] in the file"):
        narrow.load(path)
    with pytest.warns(UserWarning, match="Skip loading for"):
        narrow.load(path, skip_mismatch=True)
    with pytest.raises(ShapeError, match=r"'0\.weight' .* is not in the file"):
        d2s.Model(nn.Sequential(nn.Linear(4, 3))).load(path)
    with pytest.raises(FileError, match=r"x\.pdopt"):
        made().load(path)
    with pytest.raises(FileError):
        made().load(str(tmp_path / "missing"))
    with pytest.raises(ArgumentError, match="inputs"):
        made().save(path, training=False)


def test_what_is_refused():
    model = made()
    for call, kind, words in (
        (lambda: d2s.Model(lambda x: x), DTypeError, "network"),
        (lambda: d2s.Model(nn.Linear(1, 1), inputs=[3]), DTypeError, "InputSpec"),
        (lambda: model.prepare(optimizer=3), DTypeError, "optimizer"),
        (lambda: model.prepare(loss=3), DTypeError, "loss"),
        (lambda: model.prepare(metrics=[3]), DTypeError, "metrics"),
        (lambda: model.prepare(amp_configs="O9"), ArgumentError, "amp_configs"),
        (lambda: d2s.Model(nn.Linear(4, 3)).fit(DATA, verbose=0), ArgumentError, "prepare"),
        (lambda: d2s.Model(nn.Linear(4, 3)).evaluate(DATA, verbose=0), ArgumentError, "prepare"),
        (lambda: model.fit(None), DTypeError, "Dataset"),
        (lambda: model.fit(iter([])), DTypeError, "list_iterator"),
        (lambda: model.fit(DATA, epochs=0), ArgumentError, "epochs"),
        (lambda: model.fit(DATA, batch_size=[1, 2, 3]), ArgumentError, "batch_size"),
        (lambda: model.fit(DATA, callbacks=[3]), DTypeError, "callbacks"),
        (lambda: model.summary(), ArgumentError, "input_size"),
        (lambda: model.save(""), ArgumentError, "path"),
    ):
        with pytest.raises(kind, match=words):
            call()
    model.prepare(model._optimizer, nn.CrossEntropyLoss(reduction="none"), amp_configs={"level": "O1"})
    with pytest.raises(ShapeError, match=r"a tensor of shape \[50, 1\]"):
        model.train_batch(X, Y)


def test_a_static_network_is_trained_to_the_same_bits():
    eager, static = made(), made()
    d2s.to_static(static.network)
    for model in (eager, static):
        model.fit(DATA, batch_size=25, epochs=2, shuffle=False, verbose=0)
    assert eager.network.weight.numpy().tobytes() == static.network.weight.numpy().tobytes()
