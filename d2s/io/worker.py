"""What runs in a worker of a DataLoader: it is asked for batches, fetches them, and sends them.

A thread reads the requests, so that neither process can wait for the other to read, and so that the worker sees at once when
the other end is closed: then it ends, after the batch in hand, or within GRACE seconds. It looks for the death of
its parent, too, for other processes may have inherited the other end. Ctrl-C reaches the whole group of processes and is the
parent's to handle.

In: requests (Start, Ask). Out, for each Ask in order: Answer and, where a new block of memory is used, its descriptor.
"""

import contextlib
import multiprocessing.reduction
import os
import queue
import random
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from d2s.codegen import threads
from d2s.eager.tensor import Tensor
from d2s.io import blocks, draws, failures
from d2s.io.collate import mapped
from d2s.io.fetch import END, Fetch, of_dataset
from d2s.runtime.random_state import apart, seed

GRACE = 5.0  # seconds a worker may go on for, once nobody reads what it sends
LOOK = 3.0  # seconds between two looks at whether the parent is alive


class Job(NamedTuple):
    """What all workers of a DataLoader do."""

    dataset: Any
    collate: Callable[[Any], Any]
    drop_last: bool
    init: Callable[[int], Any] | None
    shares: bool  # memory
    workers: int
    seed: int


class Start(NamedTuple):
    """An iteration begins: what was asked for in the one before is no more wanted."""

    epoch: int
    seed: int


class Ask(NamedTuple):
    """A batch is wanted; some blocks of memory are free."""

    epoch: int
    number: int
    wanted: Any
    freed: list[int]


class Answer(NamedTuple):
    """A batch: a parcel, a Failure, or None where a stream has ended."""

    epoch: int
    parcel: blocks.Parcel | failures.Failure | None
    new_block: bool = False


class WorkerInfo(NamedTuple):
    """Which worker this is, of how many, with a copy of which dataset, and the seed of its random numbers."""

    id: int
    num_workers: int
    dataset: Any
    seed: int


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader, which one it is; None elsewhere.

    >>> d2s.io.get_worker_info()
    """
    return _info


def batch_seed(epoch_seed: int, number: int) -> int:
    """Where the stream of a batch's random numbers starts, whoever fetches it."""
    return draws.scrambled(epoch_seed ^ number)


def work(job: Job, id: int, connection: Connection, others: list[Connection]) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    for other in others:
        other.close()  # which this process has by inheritance only
    requests = _Requests(connection)
    _set_out(job, id)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # nobody reads any more
        _Worker(job, id).serve(requests, connection)


class _Requests:
    """What the thread has read: requests in their order, and the latest iteration among them."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.epoch = connection, 0
        self.queue: queue.SimpleQueue[Ask | Start | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(os.getppid(),), daemon=True).start()

    def _read(self, parent: int) -> None:
        try:
            while True:
                while not self.connection.poll(LOOK):
                    if os.getppid() != parent:
                        raise EOFError
                request = self.connection.recv()
                self.epoch = request.epoch
                self.queue.put(request)
        except (EOFError, OSError):
            self.queue.put(None)
        time.sleep(GRACE)
        os._exit(1)


def _set_out(job: Job, id: int) -> None:
    """Random numbers of its own, and one thread."""
    global _info
    own = draws.scrambled(job.seed + id)
    _info = WorkerInfo(id, job.workers, job.dataset, own)
    seed(own)
    random.seed(own)
    np.random.seed(own & 0xFFFFFFFF)
    threads.be_alone()


class _Worker:
    def __init__(self, job: Job, id: int) -> None:
        self.job, self.id = job, id
        self.writer = blocks.Writer(job.shares)
        self.start = Start(0, 0)
        self.fetch: Fetch | None = None
        self.ready = job.init is None

    def serve(self, requests: _Requests, connection: Connection) -> None:
        while (request := requests.queue.get()) is not None:
            if isinstance(request, Start):
                self.start, self.fetch = request, None
                continue
            self.writer.take_back(request.freed)
            if request.epoch == requests.epoch:
                answer, descriptor = self._answer(request)
                _send(connection, answer, descriptor)

    def _answer(self, request: Ask) -> tuple[Answer, int | None]:
        try:
            batch = self._batch(request)
            if batch is END:
                return Answer(request.epoch, None), None
            parcel, descriptor = self.writer.packed(batch)
        except Exception as error:
            return Answer(request.epoch, failures.packed(error)), None
        return Answer(request.epoch, parcel, descriptor is not None), descriptor

    def _batch(self, request: Ask) -> Any:
        if not self.ready and self.job.init is not None:
            self.job.init(self.id)
            self.ready = True
        if self.fetch is None:
            with apart(draws.scrambled(self.start.seed + self.id)):
                self.fetch = of_dataset(self.job.dataset, self.job.collate, self.job.drop_last)
        with apart(batch_seed(self.start.seed, request.number)):
            batch = self.fetch(request.wanted)
        return batch if batch is END else mapped(_plain, batch)


def _plain(leaf: Any) -> Any:
    return leaf.array if isinstance(leaf, Tensor) else leaf


def _send(connection: Connection, answer: Answer, descriptor: int | None) -> None:
    connection.send(answer)
    if descriptor is not None:
        multiprocessing.reduction.send_handle(connection, descriptor, None)
        os.close(descriptor)
