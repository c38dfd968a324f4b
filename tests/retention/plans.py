"""Runs as a property test makes them, and a model of what must be there after the deletion."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from clarion.clock import DAY, Millis
from clarion.db.port import Connection
from clarion.db.query import Insert
from clarion.environments.model import Environment
from clarion.ids import SubscriberId, new_id
from clarion.vocabulary import JobStatus
from clarion.workflows.model import Workflow

FINISHED = (JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.SKIPPED, JobStatus.CANCELED, JobStatus.MERGED)
UNFINISHED = (JobStatus.PENDING, JobStatus.QUEUED, JobStatus.DELAYED, JobStatus.RUNNING)
CHANNELS = {"in_app": "in_app", "mail": "email", "outbox": "sms"}
PROVIDERS = {"in_app": "svc", "mail": "sendgrid", "outbox": "svc-sms"}

TRIGGERS = Insert(
    "triggers", "environment_id", "id", "transaction_key", "workflow_id", "version_id", "payload", "created_at"
)
RUNS = Insert(
    "notifications",
    *("environment_id", "id", "trigger_id", "workflow_id", "version_id", "subscriber_id", "step_types"),
    *("digested_into", "created_at", "updated_at"),
)
JOBS = Insert(
    "jobs",
    *("environment_id", "id", "notification_id", "step", "type", "status", "details", "dead_at", "created_at"),
    "updated_at",
)
MESSAGES = Insert(
    "messages",
    *("environment_id", "id", "notification_id", "job_id", "trigger_id", "workflow_id", "step_id", "subscriber_id"),
    *("channel", "provider_id", "status", "content", "severity", "seen", "read", "archived", "snoozed_until"),
    *("position", "created_at", "updated_at"),
)


class Days(Struct, frozen=True):
    runs: int
    in_app: int
    outbox: int


class JobPlan(Struct, frozen=True):
    status: JobStatus
    changed_after: int
    """Days after the trigger."""
    message: str | None


class RunPlan(Struct, frozen=True):
    age: int
    """Days."""
    jobs: Sequence[JobPlan]
    leader: int | None
    """The place of an earlier run into which it was merged, if there is one."""
    is_snoozed: bool
    back_after: int | None
    """Days after which in-app messages came back from a snooze."""

    @property
    def is_unfinished(self) -> bool:
        return any(job.status in UNFINISHED for job in self.jobs)

    def is_needed(self, days: Days) -> bool:
        """Whether it is under way, or something happened to it recently."""
        changes = [self.age - min(job.changed_after, self.age) for job in self.jobs]
        return self.is_unfinished or min(changes) < days.runs


class Made(Struct, kw_only=True):
    """The rows of a run."""

    plan: RunPlan
    leader: "Made | None"
    trigger: bytes
    run: bytes
    jobs: list[bytes] = []
    messages: list[tuple[bytes, str]] = []

    def keeps_run(self, days: Days) -> bool:
        current: Made | None = self
        while current is not None:
            if current.plan.is_needed(days):
                return True
            current = current.leader
        return self.plan.age < days.runs

    def keeps_message(self, kind: str, days: Days) -> bool:
        age, unfinished = self.plan.age, self.plan.is_unfinished
        if kind == "outbox":
            return unfinished or age < days.outbox
        if kind == "mail":
            return self.keeps_run(days)
        since_back = age - min(self.plan.back_after or 0, age)
        return unfinished or self.plan.is_snoozed or since_back < days.in_app

    def keeps_trigger(self, days: Days) -> bool:
        return self.keeps_run(days) or any(self.keeps_message(kind, days) for _, kind in self.messages)


jobs = st.builds(
    JobPlan,
    status=st.sampled_from((*FINISHED, *FINISHED, *UNFINISHED)),
    changed_after=st.integers(0, 120),
    message=st.sampled_from([None, *CHANNELS]),
)
plans = st.lists(
    st.builds(
        RunPlan,
        age=st.sampled_from([0, 1, 9, 11, 29, 31, 45, 59, 61, 90, 200]),
        jobs=st.lists(jobs, min_size=1, max_size=3),
        leader=st.none() | st.integers(0, 11),
        is_snoozed=st.booleans(),
        back_after=st.none() | st.integers(0, 100),
    ),
    min_size=1,
    max_size=12,
)


def make_runs(wanted: Sequence[RunPlan], now: Millis) -> list[Made]:
    made: list[Made] = []
    for plan in wanted:
        at = Millis(now - plan.age * DAY)
        leader = made[plan.leader] if plan.leader is not None and plan.leader < len(made) else None
        made.append(Made(plan=plan, leader=leader, trigger=new_id(at), run=new_id(at)))
    return made


async def insert_runs(
    db: Connection, environment: Environment, workflow: Workflow, people: Sequence[SubscriberId], made: Sequence[Made]
) -> None:
    """Write the runs, each for the person of its place."""
    rows: dict[Insert, list[tuple[Any, ...]]] = {TRIGGERS: [], RUNS: [], JOBS: [], MESSAGES: []}
    owner = (environment.id,)
    version = (workflow.id, workflow.version_id)
    for one, person in zip(made, people, strict=False):
        at = Millis(int.from_bytes(one.trigger[:6]))
        into = one.leader.run if one.leader else None
        rows[TRIGGERS].append((*owner, one.trigger, one.trigger.hex(), *version, "{}", at))
        rows[RUNS].append((*owner, one.run, one.trigger, *version, person, 1, into, at, at))
        for place, job in enumerate(one.plan.jobs):
            _add_job(rows, (*owner, one.trigger, workflow.id, person), one, (place, job), at)
    for into_table, values in rows.items():
        if values:
            await db.insert_many(into_table, values)


def _add_job(
    rows: dict[Insert, list[tuple[Any, ...]]],
    scope: tuple[bytes, ...],
    one: Made,
    numbered: tuple[int, JobPlan],
    at: Millis,
) -> None:
    environment_id, trigger, workflow_id, person = scope
    place, job = numbered
    job_id, message_id = new_id(at), new_id(at)
    changed = at + min(job.changed_after, one.plan.age) * DAY
    kind = CHANNELS[job.message] if job.message else "delay"
    dead_at = changed if job.status is JobStatus.FAILED else None
    rows[JOBS].append((environment_id, job_id, one.run, place, kind, job.status, "[]", dead_at, at, changed))
    one.jobs.append(job_id)
    if job.message is None:
        return
    back = one.plan.back_after if job.message == "in_app" else None
    position = message_id if back is None else new_id(Millis(at + min(back, one.plan.age) * DAY))
    snoozed_until = at + 1000 * DAY if one.plan.is_snoozed and job.message == "in_app" else None
    rows[MESSAGES].append(
        (
            *(environment_id, message_id, one.run, job_id, trigger, workflow_id, new_id(at), person, kind),
            *(PROVIDERS[job.message], "sent", "x", "none", False, False, False, snoozed_until, position, at, at),
        )
    )
    one.messages.append((message_id, job.message))
