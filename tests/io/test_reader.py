"""Readers made of readers."""

import itertools

import pytest

import d2s
from d2s import reader


def numbers(n):
    return lambda: iter(range(n))


def test_shuffling_keeps_the_samples_and_mixes_within_what_is_held():
    mixed = list(reader.shuffle(numbers(100), 10)())
    assert sorted(mixed) == list(range(100)) and mixed != list(range(100))
    assert all(abs(sample - place) < 10 for place, sample in enumerate(mixed))


def test_a_cache_reads_once():
    reads = []

    def counted():
        reads.append(1)
        return iter(range(3))

    kept = reader.cache(counted)
    assert list(kept()) == list(kept()) == [0, 1, 2] and len(reads) == 1


def test_readers_side_by_side_must_be_of_one_length_unless_said():
    with pytest.raises(d2s.errors.ArgumentError, match="fewer samples"):
        list(reader.compose(numbers(2), numbers(3))())
    assert list(reader.compose(numbers(2), numbers(3), check_alignment=False)()) == [(0, 0), (1, 1)]


def test_the_first_of_an_endless_reader():
    assert list(reader.firstn(lambda: itertools.count(), 3)()) == [0, 1, 2]


@pytest.mark.parametrize(
    "make", [lambda: reader.shuffle(3, 2), lambda: reader.chain(numbers(1), [1]), lambda: reader.cache(None)]
)
def test_what_is_no_reader(make):
    with pytest.raises(d2s.errors.DTypeError, match="a reader is a function"):
        make()
