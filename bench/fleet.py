"""Several `clarion worker` processes on one PostgreSQL, each held to a share of a core."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from bench.quotas import Quota, cpu_quota
from bench.systems import System, clarion_worker
from bench.usage import suspended

_START_SECONDS = 60
_SETTLE_SECONDS = 2.5
"""Workers write a heartbeat each second; after two of them they agree on who does what."""


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
