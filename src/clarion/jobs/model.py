"""A job is one step of a run. This is its life; `store` and `sends` have one function for each arrow that SQL takes.

pending ──────────── decided ───────────▶ completed  skipped  failed  merged
   │                    ▲                     ▲                 ▲
   │ release next       │ due                 │ complete        │ fail
   ▼                    │                     │                 │
queued in DECIDE ───────┤                     │                 │
delayed in DECIDE ──────┘                     │                 │
                                              │                 │
queued in SEND ─────────── claim ─────────▶ running ────────────┤
   ▲      ▲                                   │ │               │
   │      └───────────────── retry ───────────┘ │               │
   │      delayed in SEND ◀──────── wait ───────┘               │
   │                                                            │
   └───────────────────────── redrive ──────────────────────────┘

redrive: also a completed job, for those of its messages that were given up while others were sent
wake: a delayed job in DECIDE is due at once, because its digest window is full, or somebody lets it go on
queue changes: a job that has ended goes back to queued in SEND, to change messages that its providers have
cancel: whatever is not in an end state, and merged jobs of an open digest window ──▶ canceled
promote: the merged digest job that takes the place of a canceled leader ──▶ delayed in DECIDE
"""

from enum import IntEnum
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import JobId
from clarion.jobs.details import DetailCode, DetailSource, ExecutionDetail
from clarion.vocabulary import JobStatus

FINISHED = frozenset({JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.SKIPPED, JobStatus.CANCELED, JobStatus.MERGED})


ATTEMPTS_PER_DRIVE = 1_000
"""Each redrive counts its attempts from the next multiple of this: no late worker of an earlier drive has the same
number."""


class Priority(IntEnum):
    """What goes first within an environment, in lanes and at providers."""

    CRITICAL = 0
    CRITICAL_FAN_OUT = 1
    USUAL = 2
    FAN_OUT = 3

    @property
    def is_critical(self) -> bool:
        return self <= Priority.CRITICAL_FAN_OUT

    @property
    def of_fan_out(self) -> "Priority":
        """The priority of a fan-out: behind what is for one person."""
        return Priority.CRITICAL_FAN_OUT if self.is_critical else Priority.FAN_OUT


class JobQueue(IntEnum):
    """The queue in which a job waits until it is due."""

    DECIDE = 1
    """Taken by a lane, which decides what the step comes to."""
    SEND = 2
    """Taken by a sender, which calls a provider."""


class Job(Struct, kw_only=True):
    """One step of a run while it is being worked on."""

    id: JobId
    step: int
    """Position in the workflow version."""
    status: JobStatus = JobStatus.PENDING
    provider_id: str | None = None
    digest: dict[str, Any] | None = None
    details: list[ExecutionDetail] = []
    due_at: Millis | None = None
    queue: JobQueue | None = None
    attempt: int = 0
    outputs: dict[str, Any] | None = None
    lane: int = 0
    """Of its person."""
    priority: Priority = Priority.USUAL
    changed: bool = False
    is_new: bool = False
    """Whether it is not stored yet."""
    is_shared: bool = False
    """Whether `outputs` are those of a request that all runs of the trigger share, which has them."""
    has_events: bool = False
    """Whether `digest` or `outputs` hold events of a digest, which are stored without their payloads."""

    def wait(self, until: Millis, queue: JobQueue) -> None:
        """Wait in a queue until a moment."""
        self.status, self.due_at, self.queue = JobStatus.DELAYED, until, queue

    def enqueue(self, now: Millis, queue: JobQueue) -> None:
        """Join a queue; due at once."""
        self.status, self.due_at, self.queue = JobStatus.QUEUED, now, queue

    def finish(self, status: JobStatus) -> None:
        """Reach an end state and leave the queue."""
        self.status, self.due_at, self.queue = status, None, None

    def note(
        self,
        now: Millis,
        code: DetailCode,
        *,
        source: DetailSource = DetailSource.INTERNAL,
        raw: Any = None,
    ) -> None:
        """Append an execution detail: what happened to the job, and why."""
        self.changed = True
        self.details.append(
            ExecutionDetail(
                at=now,
                status=code.status,
                detail=code.text,
                code=code,
                source=source,
                is_retry=self.attempt > 1,
                provider_id=self.provider_id,
                raw=raw,
            )
        )
