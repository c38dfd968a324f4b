"""Changes of messages after they were made: new content, or withdrawn; what becomes of each, by where the message is.

| The message | New content | Withdrawn |
|---|---|---|
| is in an inbox | is there at once | is gone from it at once; the record stays |
| waits to be sent | is what is sent | is never sent |
| is being sent at this moment | follows if it went out | is taken back if it went out |
| is with a provider that can change it | is sent to the provider by the step's own job | the same |
| is with any other provider | is refused, with the reason | the same |
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from msgspec import Struct

from clarion.ids import JobId, MessageId, NotificationId, SubscriberId
from clarion.jobs.details import DetailCode
from clarion.jobs.model import JobQueue
from clarion.providers.definition.changes import ChangeKind, Place
from clarion.vocabulary import Channel, JobStatus

MAX_CHANGES = 100
"""Of one message: each leaves an execution detail at its step."""


class ChangeState(StrEnum):
    """What became of the last change of a message."""

    UPDATING = "updating"
    """The new content is on its way to the provider."""
    UPDATED = "updated"
    """It has the new content."""
    NOT_UPDATED = "not_updated"
    """It has the content that it had before."""
    WITHDRAWING = "withdrawing"
    """The provider is asked to take it back."""
    WITHDRAWN = "withdrawn"
    """Nobody sees it any more, or it was never sent."""
    NOT_WITHDRAWN = "not_withdrawn"
    """It is where it was."""

    @property
    def is_pending(self) -> bool:
        return self in (ChangeState.UPDATING, ChangeState.WITHDRAWING)

    @property
    def is_withdrawal(self) -> bool:
        return self in (ChangeState.WITHDRAWING, ChangeState.WITHDRAWN)


PENDING = {ChangeKind.UPDATE: ChangeState.UPDATING, ChangeKind.WITHDRAW: ChangeState.WITHDRAWING}
DONE = {ChangeKind.UPDATE: ChangeState.UPDATED, ChangeKind.WITHDRAW: ChangeState.WITHDRAWN}
REFUSED = {ChangeKind.UPDATE: ChangeState.NOT_UPDATED, ChangeKind.WITHDRAW: ChangeState.NOT_WITHDRAWN}
CODES = {
    ChangeState.UPDATING: DetailCode.MESSAGE_UPDATING,
    ChangeState.UPDATED: DetailCode.MESSAGE_UPDATED,
    ChangeState.NOT_UPDATED: DetailCode.MESSAGE_NOT_UPDATED,
    ChangeState.WITHDRAWING: DetailCode.MESSAGE_WITHDRAWING,
    ChangeState.WITHDRAWN: DetailCode.MESSAGE_WITHDRAWN,
    ChangeState.NOT_WITHDRAWN: DetailCode.MESSAGE_NOT_WITHDRAWN,
}
FindObstacle = Callable[[str, ChangeKind, Place | None], str | None]
"""Why a provider cannot change a message that it has."""


class JobState(Struct, frozen=True, kw_only=True):
    """The job that sends a message, or has sent it."""

    id: JobId
    notification_id: NotificationId
    status: JobStatus
    queue: JobQueue | None

    @property
    def is_sending(self) -> bool:
        """Whether a provider may be called with the message at this moment."""
        return self.status is JobStatus.RUNNING

    @property
    def is_queued(self) -> bool:
        return self.queue is JobQueue.SEND and not self.is_sending


class ChangedMessage(Struct, frozen=True, kw_only=True):
    """A message that is to be changed, as it is stored."""

    id: MessageId
    job_id: JobId
    subscriber_id: SubscriberId
    channel: Channel
    provider_id: str | None
    is_sent: bool
    """Whether a provider has it."""
    content: str
    title: str | None
    data: dict[str, Any] | None
    cta: dict[str, Any] | None
    change: ChangeState | None
    former: str | None
    place: Place | None
    revision: int


class ChangeVerdict(Struct, frozen=True, kw_only=True):
    """What becomes of a message that is to be changed."""

    state: ChangeState | None
    """None: nothing, because it is withdrawn already."""
    reason: str | None = None
    """Why it cannot be changed."""
    calls_provider: bool = False
    """Whether the job of the message has to ask the provider."""


def decide_change(
    message: ChangedMessage, job: JobState | None, kind: ChangeKind, find_obstacle: FindObstacle
) -> ChangeVerdict:
    """Decide what becomes of a message."""
    withdraws = kind is ChangeKind.WITHDRAW
    if message.change is not None and message.change.is_withdrawal:
        return ChangeVerdict(state=None if withdraws else REFUSED[kind], reason="It was withdrawn")
    if message.revision >= MAX_CHANGES:
        return ChangeVerdict(state=REFUSED[kind], reason=f"It was changed {MAX_CHANGES} times already")
    if message.channel is Channel.IN_APP:
        return ChangeVerdict(state=DONE[kind])
    if message.channel in _FINAL and not (withdraws and not message.is_sent):
        return ChangeVerdict(state=REFUSED[kind], reason=f"{_FINAL[message.channel]} cannot be {_PAST[kind]}")
    if not message.is_sent:
        return _decide_unsent(job, kind)
    if job is None:
        return ChangeVerdict(state=REFUSED[kind], reason="Its run is deleted, and how it was sent with it")
    obstacle = find_obstacle(message.provider_id or "", kind, message.place)
    if obstacle is not None:
        return ChangeVerdict(state=REFUSED[kind], reason=obstacle)
    return ChangeVerdict(state=PENDING[kind], calls_provider=True)


_FINAL = {
    Channel.EMAIL: "An e-mail that is made",
    Channel.SMS: "An SMS that is made",
}
_PAST = {ChangeKind.UPDATE: "changed", ChangeKind.WITHDRAW: "taken back once it is sent"}


def _decide_unsent(job: JobState | None, kind: ChangeKind) -> ChangeVerdict:
    if job is not None and job.is_sending:
        return ChangeVerdict(state=PENDING[kind], calls_provider=True)
    if kind is ChangeKind.UPDATE and (job is None or not job.is_queued):
        return ChangeVerdict(state=REFUSED[kind], reason="It was never sent")
    # Also one that was given up: it is not sent when it is redriven.
    return ChangeVerdict(state=DONE[kind])
