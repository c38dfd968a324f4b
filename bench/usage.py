"""CPU time and memory of processes, by part of a system."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import psutil
from msgspec import Struct

Groups = Mapping[str, Sequence[int]]
"""Process ids by part: `{"api": [12], "worker": [13], "postgres": [9]}`. Children count with their parent."""


class Memory(Struct, frozen=True):
    """Resident bytes count a shared page for each process; proportional bytes divide it among them."""

    resident: int
    proportional: int


def cpu_seconds(groups: Groups) -> dict[str, float]:
    """Return the user and system time of each part so far, including children that have ended.

    When a parent has waited for a child, the child's time is part of the parent's, so nothing is lost or counted twice
    between two calls.
    """
    return {part: sum(map(_cpu_of, _trees(pids))) for part, pids in groups.items()}


def cpu_between(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    return {part: after[part] - before[part] for part in after}


def memory(groups: Groups) -> dict[str, Memory]:
    return {part: _memory_of(list(_trees(pids))) for part, pids in groups.items()}


@contextmanager
def suspended(*others: Groups) -> Iterator[None]:
    """Suspend processes while the body runs, so that their idle work does not disturb the measurement."""
    processes = [process for groups in others for pids in groups.values() for process in _trees(pids)]
    try:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        yield
    finally:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()


def _trees(pids: Sequence[int]) -> Iterator[psutil.Process]:
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            yield process
            yield from process.children(recursive=True)


def _cpu_of(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    used: float = times.user + times.system + times.children_user + times.children_system
    return used


def _memory_of(processes: Sequence[psutil.Process]) -> Memory:
    resident = proportional = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            found = process.memory_full_info()
            resident += found.rss
            proportional += found.pss
    return Memory(resident, proportional)
