"""The workers of a DataLoader, as seen from the process that is training.

Workers are forked on Linux: a dataset needs not be pickled (it may be defined in a notebook, and hold tensors, lambdas, and
gigabytes that are then shared), and a worker starts in milliseconds. Forking is safe with d2s: its threads are not Python's, a
child starts its own, and a fork waits for captures and links. Who has called `multiprocessing.set_start_method` gets that way.

Each worker has one socket. Batch k is asked of worker k modulo n, and batches are read in that order: no queue between
workers has a lock that one of them could die with, and which worker makes which batch does not depend on time. A worker that
ends without being told to is seen at once, by its sentinel.

In: what each batch is to hold. Out: the batches, in the same order.
"""

import collections
import contextlib
import itertools
import multiprocessing
import multiprocessing.connection
import multiprocessing.reduction
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

from d2s.errors import WorkerError
from d2s.io import blocks, failures
from d2s.io.worker import GRACE, Answer, Ask, Job, Start, work

PATIENCE = 1.0  # seconds a worker may need to finish what it is doing


class Crew:
    """Some workers with the same job, for one iteration, or kept for the next."""

    def __init__(self, job: Job, prefetch: int, timeout: float, kept: bool) -> None:
        self.prefetch, self.timeout, self.kept = prefetch, timeout or None, kept
        self.epoch, self.owner = 0, os.getpid()
        self.members: list[_Member] = []
        try:
            for id in range(job.workers):
                self.members.append(_Member(job, id, [member.connection for member in self.members]))
        except BaseException:
            self.close()
            raise

    def batches(self, wanted: Iterator[Any], seed: int) -> Iterator[Any]:
        """An iteration: batches for everything that is wanted, or until the streams of all workers have ended."""
        self.epoch += 1
        epoch, kept = self.epoch, False
        try:
            yield from self._iteration(wanted, seed, epoch)
            kept = self.kept
        except GeneratorExit:  # left early: what is on its way is of an iteration that has passed
            kept = self.kept
            raise
        finally:
            if not kept and self.epoch == epoch:
                self.close()

    def _iteration(self, wanted: Iterator[Any], seed: int, epoch: int) -> Iterator[Any]:
        for member in self.members:
            member.send(Start(epoch, seed))
        questions = (Ask(epoch, number, one, []) for number, one in enumerate(wanted))
        first = zip(self.members * self.prefetch, questions, strict=False)  # takes no question too many
        asked = collections.deque(member.ask(question) for member, question in first)
        while asked:
            member = asked.popleft()
            answer = member.receive(epoch, self.timeout)
            if answer is None:
                continue  # the stream of this worker has ended
            asked.extend(member.ask(question) for question in itertools.islice(questions, 1))
            yield answer[0]
            if self.epoch != epoch:
                message = "an iteration goes on after a later one over the same persistent workers has begun"
                raise WorkerError("D2S4001", message, hint="persistent_workers=False, or one iteration after the other")

    def close(self) -> None:
        """Ends the workers: what was forked from here inherits a crew that is not its own to end."""
        if os.getpid() == self.owner:
            for member in self.members:
                member.connection.close()
            _end([member.process for member in self.members])
            self.members.clear()

    def __del__(self) -> None:
        self.close()


class _Member:
    """A worker: its process, the socket to it, the memory it shares."""

    def __init__(self, job: Job, id: int, siblings: list[Any]) -> None:
        context = _context()
        self.connection, theirs = context.Pipe()
        inherited = [*siblings, self.connection] if context.get_start_method() == "fork" else []
        self.process = context.Process(target=work, args=(job, id, theirs, inherited), daemon=True)
        self.name = f"worker {id} of a DataLoader"
        self.reader = blocks.Reader()
        with _quiet_fork():
            self.process.start()
        theirs.close()

    def ask(self, question: Ask) -> "_Member":
        self.send(question._replace(freed=self.reader.take_freed()))
        return self

    def send(self, request: Ask | Start) -> None:
        """Sends a request. That the worker has ended is told when its next batch is read: those it has sent are still there."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(request)

    def receive(self, epoch: int, timeout: float | None) -> tuple[Any] | None:
        """The next batch, in a tuple; None where the worker's stream has ended."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            answer = self._next(until, timeout)
            if isinstance(answer.parcel, blocks.Parcel):
                batch = self.reader.unpacked(answer.parcel, self._descriptor() if answer.new_block else None)
                if answer.epoch == epoch:
                    return (batch,)
            elif answer.epoch == epoch:
                if answer.parcel is not None:
                    raise failures.unpacked(answer.parcel, self.name)
                return None

    def _next(self, until: float | None, timeout: float | None) -> Answer:
        left = None if until is None else max(until - time.monotonic(), 0)
        ready = multiprocessing.connection.wait([self.connection, self.process.sentinel], left)
        if not ready:
            hint = "look at what the dataset does, or give it more time: DataLoader(timeout=…)"
            raise WorkerError("D2S4001", f"{self.name} gave no batch within {timeout:g} seconds", hint=hint)
        if self.connection not in ready and not self.connection.poll():
            raise self._lost()
        try:
            answer: Answer = self.connection.recv()
        except (EOFError, OSError):
            raise self._lost() from None
        return answer

    def _descriptor(self) -> int:
        try:
            return multiprocessing.reduction.recv_handle(self.connection)
        except (EOFError, OSError, RuntimeError):
            raise self._lost() from None

    def _lost(self) -> WorkerError:
        self.process.join(GRACE)
        code = self.process.exitcode
        how = "closed its socket" if code is None else f"ended with exit code {code}" if code >= 0 else _killed(-code)
        hint = "its own last words are on stderr; with num_workers=0 the dataset runs in this process"
        return WorkerError("D2S4001", f"{self.name} (process {self.process.pid}) {how}", hint=hint)


def _killed(number: int) -> str:
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    return f"was killed by {name}" + (": perhaps there was no more memory" if name == "SIGKILL" else "")


def _context() -> Any:
    chosen = multiprocessing.get_start_method(allow_none=True)
    return multiprocessing.get_context(chosen or ("fork" if sys.platform == "linux" else None))


@contextlib.contextmanager
def _quiet_fork() -> Iterator[None]:
    """A fork that no Ctrl-C comes into, and without Python's warning of threads, which are d2s's own and forks know."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".*multi-threaded, use of fork", DeprecationWarning)
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(processes: list[Any]) -> None:
    """Waits for processes to end; those that take too long are made to."""
    for way in (lambda process: None, lambda process: process.terminate(), lambda process: process.kill()):
        until = time.monotonic() + PATIENCE
        for process in processes:
            if process.is_alive():
                way(process)
        for process in processes:
            process.join(max(until - time.monotonic(), 0))
