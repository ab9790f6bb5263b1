"""Metrics count as Paddle's do; the numbers here are those real Paddle 3.3.1 says."""

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, D2SError, DTypeError, ShapeError

metric = d2s.metric
SCORES = d2s.to_tensor([[0.1, 0.2, 0.3, 0.4], [0.1, 0.4, 0.3, 0.2], [0.1, 0.2, 0.4, 0.3]])
LABELS = d2s.to_tensor([[2], [1], [0]])
THIRD = pytest.approx(1 / 3)


def test_accuracy_over_batches():
    one = metric.Accuracy()
    assert (one.name(), one.accumulate()) == (["acc"], 0.0)
    assert one.update(one.compute(SCORES, LABELS)) == THIRD
    assert one.update(np.ones([1, 1])) == 1.0  # of this batch
    assert one.accumulate() == 0.5  # of all
    one.reset()
    assert (one.accumulate(), one.total, one.count) == (0.0, [0.0], [0])


def test_accuracy_among_several():
    two = metric.Accuracy(topk=(1, 2), name="top")
    found = two.compute(SCORES, LABELS)
    assert (two.name(), found.tolist()) == (["top_top1", "top_top2"], [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    assert two.update(found) == [THIRD, pytest.approx(2 / 3)] == two.accumulate()


@pytest.mark.parametrize(
    "label", [[2, 1, 0], [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], [[0, 0, 0.9, 0.1], [0, 1, 0, 0], [1, 0, 0, 0]]]
)
def test_labels_in_other_forms(label):
    assert metric.Accuracy().compute(SCORES, d2s.to_tensor(label)).tolist() == [[0.0], [1.0], [0.0]]


def test_accuracy_of_places():
    one = metric.Accuracy()
    scores = d2s.to_tensor(np.eye(3, dtype="float32")[[[0, 1], [2, 0]]])  # [2, 2, 3]
    assert one.update(one.compute(scores, d2s.to_tensor([[[0], [1]], [[2], [2]]]))) == 0.75


def test_the_function_eager_and_static():
    right, whole = d2s.zeros([1], "int32"), d2s.zeros([1], "int32")
    assert metric.accuracy(SCORES, LABELS, k=2, correct=right, total=whole).item() == pytest.approx(2 / 3)
    assert (right.tolist(), whole.tolist()) == ([2], [3])
    static = d2s.to_static(lambda scores, labels: metric.accuracy(scores, labels))
    found = static(SCORES, LABELS)
    assert (found.item(), found.shape, found.dtype) == (THIRD, [], d2s.float32)


def test_precision_and_recall():
    precision, recall = metric.Precision(), metric.Recall(name="found")
    for m in (precision, recall):
        assert m.accumulate() == 0.0
        m.update(np.array([0.1, 0.5, 0.6, 0.7]), np.array([0, 1, 1, 0]))
        m.update(d2s.to_tensor([[0.4], [0.9]]), d2s.to_tensor([[1], [1]]))
    assert (precision.name(), precision.accumulate(), precision.tp, precision.fp) == ("precision", 0.75, 3, 1)
    assert (recall.name(), recall.accumulate(), recall.tp, recall.fn) == ("found", 0.75, 3, 1)


def test_areas():
    r = np.random.default_rng(0)
    probable = r.random(200)
    labels = (r.random(200) < probable).astype("int64")
    given = np.stack([1 - probable, probable], 1), labels[:, None]
    for steps, area in ((100, 0.8611861186118611), (4095, 0.8612861286128612)):
        auc = metric.Auc(num_thresholds=steps)
        for half in (slice(None, 90), slice(90, None)):
            auc.update(given[0][half], given[1][half])
        assert auc.accumulate() == pytest.approx(area, rel=1e-12)
    assert metric.Auc().accumulate() == 0.0


def test_the_area_below_precision_and_recall():
    auc = metric.Auc("PR")
    auc.update([0.9, 0.8, 0.7, 0.6], [1, 0, 1, 0])
    assert auc.accumulate() == pytest.approx(0.5 * 1 + 0.5 * (0.5 + 2 / 3) / 2)  # and not that of ROC, which is 0.75
    auc.reset()
    auc.update([0.9, 0.1], [1, 0])
    assert auc.accumulate() == 1.0


def test_what_is_refused():
    with pytest.raises(ArgumentError, match="topk"):
        metric.Accuracy(topk=(1, 0))
    with pytest.raises(ArgumentError, match="5 most probable of 4"):
        metric.Accuracy(topk=5).compute(SCORES, LABELS)
    with pytest.raises(ShapeError, match="0-D"):
        metric.Accuracy().compute(SCORES, d2s.to_tensor(1))
    with pytest.raises(ShapeError, match="samples, classes"):
        metric.accuracy(d2s.ones([3]), LABELS)
    with pytest.raises(ArgumentError, match="4 labels"):
        metric.Precision().update([0.1], [1, 0, 1, 0])
    with pytest.raises(DTypeError, match="array of numbers"):
        metric.Recall().update(["a"], [1])
    with pytest.raises(ArgumentError, match="probability"):
        metric.Auc().update([1.5], [1])
    with pytest.raises(ArgumentError, match="curve"):
        metric.Auc("area")
    with pytest.raises(TypeError, match="abstract"):
        metric.Metric()
    with pytest.raises(D2SError, match="'pred' expects a Tensor"):
        metric.Accuracy().compute([1.0], LABELS)
