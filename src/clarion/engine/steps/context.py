"""What a step is decided with."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.engine.records import Job, Run, note
from clarion.ids import EnvironmentId
from clarion.notifications.model import DetailSource, DetailStatus
from clarion.workflows.model import Step, WithControls


class StepContext(Struct, frozen=True, kw_only=True):
    """A step of a run that has been reached, and the moment that this happened."""

    db: Connection
    environment_id: EnvironmentId
    now: Millis
    run: Run
    job: Job
    step: Step
    chosen: WithControls
    """The step itself, or one of its variants."""
    variables: dict[str, Any]
    open_providers: frozenset[str]
    """Active ones that reach everyone, whether or not the subscriber has an entry for them."""

    @property
    def controls(self) -> Mapping[str, Any]:
        return self.chosen.controls

    @property
    def zone(self) -> str:
        return self.run.subscriber.timezone or "UTC"

    def note(
        self, status: DetailStatus, text: str, *, source: DetailSource = DetailSource.INTERNAL, raw: Any = None
    ) -> None:
        note(self.job, self.now, status, text, source=source, raw=raw)
