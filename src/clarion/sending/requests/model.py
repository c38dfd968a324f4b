"""A claimed request of an HTTP step, and what came of it."""

from typing import Any, ClassVar

from msgspec import Struct

from clarion.clock import Millis
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, NotificationId, TriggerId
from clarion.jobs.model import Job
from clarion.vocabulary import JobStatus
from clarion.workflows.http_requests import HttpRequest
from clarion.workflows.model import Step


class HostReport(Struct, frozen=True, kw_only=True):
    """What a call shows about the server."""

    host: str
    is_working: bool
    is_trial: bool = False
    wait_until: Millis | None = None
    """The end of the pause that it asked for."""


class ClaimedRequest(Struct, kw_only=True, eq=False):
    """A claimed job with everything that calling the URL needs, and its result."""

    channel: ClassVar[None] = None
    has_changes: ClassVar[bool] = False
    environment_id: EnvironmentId
    notification_id: NotificationId
    trigger_id: TriggerId
    job: Job
    """Its details are those of this attempt alone."""
    step: Step
    claimed_attempt: int
    lease_until: Millis
    """From this moment on another worker may take the job over, so that the URL is not called any more."""
    host: str
    request: HttpRequest | None
    """None: it is stored no more, or cannot be opened."""
    signing_keys: list[bytes] = []
    waited_until: Millis | None = None
    """When the last delay or digest of its run ended; None if it had none."""
    put_off_since: Millis | None = None
    """When it first had to wait for its host; None otherwise, and when the job has ended."""
    is_trial: bool = False
    """Whether the circuit of the host is half-open, and this call tries it."""
    is_host_known: bool = False
    """Whether something was the matter with the host: a success is recorded."""
    is_simulated: bool = False
    """Whether the answer is made up, because nothing is called."""
    is_canceled: bool = False
    """Whether its trigger was canceled."""
    expires_at: Millis | None = None
    """When its trigger expires."""
    run: Run | None = None
    """Loaded only where its trigger was canceled or has expired."""
    report: HostReport | None = None
    seconds: float | None = None
    """How long the call took; None: there was none."""

    @property
    def is_shared(self) -> bool:
        """Whether it is made for all runs of the trigger."""
        return self.request is not None and self.request.key is not None

    def is_expired(self, now: Millis) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def end_as_canceled(self) -> None:
        """End the job as canceled: it was canceled during its attempt, so there is no other attempt."""
        self.job.finish(JobStatus.CANCELED)
        self.put_off_since = None

    def complete(self, outputs: dict[str, Any]) -> None:
        self.job.finish(JobStatus.COMPLETED)
        self.job.outputs, self.put_off_since = outputs, None

    def fail(self, outputs: dict[str, Any]) -> None:
        """End the job as failed; if its run goes on, later steps see what came of it."""
        self.job.finish(JobStatus.FAILED)
        self.job.outputs, self.put_off_since = outputs, None

    def retry(self, at: Millis, *, uses_attempt: bool) -> None:
        """Leave the job in its queue until another attempt."""
        self.job.status, self.job.due_at = JobStatus.QUEUED, at
        if not uses_attempt:
            self.job.attempt -= 1
