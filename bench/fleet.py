"""Several `clarion worker` processes on one PostgreSQL, each held to a share of a core."""

import asyncio
import os
import signal
import subprocess
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from bench.processes import suspended
from bench.systems import System, clarion_worker

_START_SECONDS = 60
_SETTLE_SECONDS = 2.5
"""Workers write a heartbeat each second; after two of them they agree on who does what."""

PERIOD_MICROSECONDS = 20_000
"""Short, so that a process is slow all the time and does not stand still for long while it holds locks."""

_MOUNT = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_CONTROLLER = "cpu"


class QuotaUnavailable(Exception):
    """Control groups cannot be used here; the text says why."""


class Quota(Struct, frozen=True):
    """A control group with a limit."""

    folder: Path
    share: float
    """Of one core."""
    is_unified: bool
    """Whether it is of version 2."""

    def apply(self) -> None:
        self._write(int(self.share * PERIOD_MICROSECONDS))

    def lift(self) -> None:
        """Let the processes run as fast as they can, for example to stop them."""
        self._write(None)

    def add(self, pid: int) -> None:
        (self.folder / "cgroup.procs").write_text(str(pid))

    def _write(self, microseconds: int | None) -> None:
        if self.is_unified:
            (self.folder / "cpu.max").write_text(f"{microseconds or 'max'} {PERIOD_MICROSECONDS}")
            return
        (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD_MICROSECONDS))
        (self.folder / "cpu.cfs_quota_us").write_text(str(microseconds or -1))


@dataclass(slots=True)
class Member:
    """One worker."""

    process: subprocess.Popen[bytes]
    quota: Quota

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(slots=True)
class Fleet:
    """The running workers of a system that has an API of its own."""

    system: System
    share: float
    members: list[Member] = field(default_factory=list)
    _started: ExitStack = field(default_factory=ExitStack)
    _number: int = 0

    @property
    def groups(self) -> dict[str, list[int]]:
        return {"worker": [one.pid for one in self.members], "postgres": [*self.system.groups["postgres"]]}

    async def add_member(self) -> Member:
        """Start a worker, and hold it to its share once it works: starting is not measured."""
        self._number += 1
        log = self.system.folder / f"worker-{time.time_ns()}-{self._number}.log"
        quota = self._started.enter_context(cpu_quota(self.share))
        ready = log.with_suffix(".ready")
        environ = {"CLARION_HEALTH_FILE": str(ready)}
        process = self._started.enter_context(clarion_worker(self.system, log, environ=environ))
        until = time.monotonic() + _START_SECONDS
        while not ready.exists():
            if time.monotonic() > until or process.poll() is not None:
                raise RuntimeError(f"a worker did not start: {log.read_text()[-2000:]}")
            await asyncio.sleep(0.02)
        quota.add(process.pid)
        member = Member(process, quota)
        self.members.append(member)
        return member

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Suspend all workers while the body runs."""
        with suspended(self.own_groups):
            yield

    @property
    def own_groups(self) -> dict[str, list[int]]:
        return {"worker": [one.pid for one in self.members]}

    def lift_quotas(self) -> None:
        """Let all workers run as fast as they can."""
        for member in self.members:
            member.quota.lift()

    def stop(self) -> None:
        self.lift_quotas()
        for member in self.members:
            if member.process.poll() is None:
                member.process.terminate()
        self._started.close()


@asynccontextmanager
async def run_fleet(system: System, workers: int, share: float) -> AsyncIterator[Fleet]:
    fleet = Fleet(system, share)
    try:
        for _ in range(workers):
            await fleet.add_member()
        await asyncio.sleep(_SETTLE_SECONDS)
        yield fleet
    finally:
        fleet.stop()


@contextmanager
def cpu_quota(share: float) -> Iterator[Quota]:
    """Make a control group and remove it afterwards; its processes must have ended by then."""
    quota = _make_group(share)
    try:
        quota.apply()
        yield quota
    except PermissionError as error:
        raise QuotaUnavailable(f"the CPU controller cannot be used: {error}") from error
    finally:
        with suppress(OSError):
            quota.folder.rmdir()


def require_quotas() -> None:
    """Raise `QuotaUnavailable` where quotas cannot be set."""
    with cpu_quota(0.1):
        pass


def _make_group(share: float) -> Quota:
    """Make it below the group of this process, or else below the root of the hierarchy."""
    reason = f"{_MOUNT} has no CPU controller"
    for parent, is_unified in _find_parents():
        folder = parent / f"clarion-bench-{uuid.uuid4().hex[:8]}"
        try:
            if is_unified:
                (parent / "cgroup.subtree_control").write_text(f"+{_CONTROLLER}")
            folder.mkdir()
        except OSError as error:
            reason = f"no group can be made in {parent}: {error.strerror}"
        else:
            return Quota(folder, share, is_unified)
    raise QuotaUnavailable(reason)


def _find_parents() -> Iterator[tuple[Path, bool]]:
    for line in _OWN_GROUPS.read_text().splitlines() if _OWN_GROUPS.exists() else []:
        _, controllers, own = line.split(":", 2)
        is_unified = not controllers
        root = _MOUNT if is_unified else _MOUNT / controllers
        has_controller = (
            _CONTROLLER in _read_words(root / "cgroup.controllers")
            if is_unified
            else _CONTROLLER in controllers.split(",") and root.is_dir()
        )
        if has_controller:
            yield from ((parent, is_unified) for parent in dict.fromkeys((root / own.lstrip("/"), root)))


def _read_words(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []
