"""Shares of a core: a control group holds the processes in it to a fixed amount of CPU time."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

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
