"""How a worker hands arrays over: in blocks of memory that both processes see, used again and again.

A block has no name: it is a memfd, handed over as a descriptor through the worker's socket. So nothing can be left behind in
/dev/shm - the system frees a block when both processes have ended, however they ended - and the size of /dev/shm, which is
small in containers, limits nothing. A batch's arrays lie in one block. The receiver's arrays are that memory, not copies;
when the last of them is gone, the block's number goes back to the worker with the next request. Who keeps batches, as
`list(loader)` does, gets copies once HELD blocks are in use, because each block takes a descriptor.

In: a value, pickled with its arrays beside it (protocol 5). Out: bytes, and where in which block the arrays are.

>>> writer, reader = Writer(), Reader()
>>> parcel, descriptor = writer.packed([np.arange(5000), "text"])
>>> found = reader.unpacked(parcel, descriptor)
>>> found[0].sum(), found[1], reader.freed
(np.int64(12497500), 'text', [])
>>> del found
>>> reader.freed
[0]
"""

import itertools
import mmap
import os
import pickle
from typing import Any, NamedTuple

import numpy as np

SMALL = 16 << 10  # bytes of arrays that are sent like everything else
ALIGNED = 64  # bytes: where an array may begin
HELD = 6  # blocks of one worker that the receiver may hold at once
POSSIBLE = hasattr(os, "memfd_create")


class Parcel(NamedTuple):
    """A value on its way: its pickle, the block its arrays are in (none: -1), where each begins and ends, and what is gone."""

    pickled: bytes
    block: int = -1
    places: tuple[tuple[int, int], ...] = ()
    dropped: tuple[int, ...] = ()  # blocks that were too small


class Writer:
    """The worker's side: blocks by number, and which of them nobody reads."""

    def __init__(self, shares: bool = POSSIBLE) -> None:
        self.shares = shares
        self.blocks: dict[int, np.ndarray] = {}
        self.free: set[int] = set()
        self.numbers = itertools.count()

    def take_back(self, freed: list[int]) -> None:
        """Blocks that were read to the end."""
        self.free.update(freed)

    def packed(self, value: Any) -> tuple[Parcel, int | None]:
        """A value as a parcel; with the descriptor of its block where that is a new one."""
        buffers: list[pickle.PickleBuffer] = []
        pickled = pickle.dumps(value, 5, buffer_callback=buffers.append if self.shares else None)
        arrays = [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers]
        if sum(map(len, arrays)) < SMALL:
            return Parcel(pickle.dumps(value, 5) if arrays else pickled), None
        ends = list(itertools.accumulate(_padded(len(array)) for array in arrays))
        places = tuple((end - _padded(len(array)), len(array)) for end, array in zip(ends, arrays, strict=True))
        block, dropped, descriptor = self._block(ends[-1])
        for (at, size), array in zip(places, arrays, strict=True):
            self.blocks[block][at : at + size] = array
        return Parcel(pickled, block, places, dropped), descriptor

    def _block(self, size: int) -> tuple[int, tuple[int, ...], int | None]:
        """A free block that is large enough. One that is not makes place for a new one."""
        found = max(self.free, key=lambda number: len(self.blocks[number]), default=None)
        if found is not None and len(self.blocks[found]) >= size:
            self.free.remove(found)
            return found, (), None
        dropped = tuple(self.free)
        for number in dropped:
            del self.blocks[number]
        self.free.clear()
        number, descriptor = next(self.numbers), _reserved(size)
        self.blocks[number] = _mapped(descriptor)
        return number, dropped, descriptor


class Reader:
    """The receiver's side: the same blocks, and which of them were read to the end."""

    def __init__(self) -> None:
        self.blocks: dict[int, np.ndarray] = {}
        self.held: set[int] = set()
        self.freed: list[int] = []

    def unpacked(self, parcel: Parcel, descriptor: int | None) -> Any:
        """The value of a parcel, whose arrays are the block's memory."""
        for number in parcel.dropped:
            del self.blocks[number]
        if parcel.block < 0:
            return pickle.loads(parcel.pickled)
        if descriptor is not None:
            self.blocks[parcel.block] = _mapped(descriptor)
            os.close(descriptor)
        memory = np.asarray(_Use(self, parcel.block))
        buffers: list[Any] = [memory[at : at + size] for at, size in parcel.places]
        if len(self.held) > HELD:
            buffers = [bytearray(buffer) for buffer in buffers]
        return pickle.loads(parcel.pickled, buffers=buffers)

    def take_freed(self) -> list[int]:
        """The blocks that may be written again."""
        freed, self.freed = self.freed, []
        return freed


class _Use:
    """One use of a block. Arrays over it hold it; its end frees the block."""

    def __init__(self, reader: Reader, number: int) -> None:
        self.reader, self.number = reader, number
        self.block = reader.blocks[number]  # which stays mapped
        self.__array_interface__ = self.block.__array_interface__
        reader.held.add(number)

    def __del__(self) -> None:
        self.reader.held.discard(self.number)
        self.reader.freed.append(self.number)


def _padded(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _reserved(size: int) -> int:
    """The descriptor of memory that is there: where there is none, that is an error now, and no signal later."""
    descriptor = os.memfd_create("d2s-batch")
    try:
        os.posix_fallocate(descriptor, 0, -(-size // mmap.PAGESIZE) * mmap.PAGESIZE)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _mapped(descriptor: int) -> np.ndarray:
    return np.frombuffer(mmap.mmap(descriptor, 0), np.uint8)
