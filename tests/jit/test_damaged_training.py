"""Notes of training whose words are exchanged: a coded error where training begins, or a Program that runs."""

import os
import random
import re

import pytest

import d2s
from d2s.errors import D2SError
from tests.jit.test_loaded_training import LAYERS, batch, saved

WORDS = re.compile(r"\s+|%?[\w.]+|'[^']*'|\S")
STRANGE = ("-1", "0", "2", "9999999999", "n0", "m0", "f64", "i64", "b1", "()", "'x'", "None", "True")
ROUNDS = max(40, int(os.environ.get("D2S_SOAK", "0")) // 60)  # of each layer


def mutated(text, generator):
    """The text with a few words in the place of others, twice, or not there."""
    words = WORDS.findall(text)
    places = [n for n, word in enumerate(words) if not word.isspace()]
    for _ in range(generator.choice((1, 1, 1, 2, 4))):
        at = generator.choice(places)
        kin = [n for n in places if words[n][:1] == words[at][:1] or (words[n].isidentifier() and words[at].isidentifier())]
        words[at] = generator.choice(
            (words[generator.choice(kin)],) * 6
            + (generator.choice(STRANGE), "", f"{words[at]} {words[generator.choice(places)]}")
        )
    return "".join(words)


def steps(loaded):
    """A forward and a backward in training."""
    loaded.train()
    results = loaded(batch(2))
    results = list(results.values()) if isinstance(results, dict) else [results]
    learnt = [y.sum() for y in results if isinstance(y, d2s.Tensor) and not y.stop_gradient and y.dtype.name == "float32"]
    if learnt:
        sum(learnt[1:], learnt[0]).backward()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LAYERS)
def test_exchanged_words(name, tmp_path):
    path, generator = saved(LAYERS[name](), tmp_path), random.Random(name)
    whole, ran, refused = d2s.export.load(path).training.program, 0, 0
    for _ in range(ROUNDS):
        model = d2s.export.load(path)
        model.training.program = mutated(whole, generator)
        d2s.export.save(model, tmp_path / "damaged")
        try:
            steps(d2s.jit.load(str(tmp_path / "damaged")))
            ran += 1
        except D2SError as error:
            assert error.code in ("D2S3001", "D2S0001", "D2S0002", "D2S0003", "D2S0004")
            refused += 1
    assert min(ran, refused) > 3
