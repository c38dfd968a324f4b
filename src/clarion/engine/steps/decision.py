"""The decision about a step: what it is made with, and its possible outcomes."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.conditions import CompiledLogic, ConditionResult
from clarion.engine.digests import DigestWindows
from clarion.engine.message_changes import MessageChanges
from clarion.engine.records import NewMessage, Run
from clarion.engine.shared_requests import SharedRequests
from clarion.engine.throttles import ThrottlePasses
from clarion.engine.triggered import TriggeredWorkflows
from clarion.engine.waits import EventWaits
from clarion.ids import NotificationId
from clarion.jobs.details import DetailCode, DetailSource
from clarion.jobs.model import Job
from clarion.templates.texts import Texts
from clarion.vocabulary import Channel, JobStatus
from clarion.workflows.controls import ControlsT, read_as
from clarion.workflows.model import Step, WithControls


class Done(Struct, frozen=True):
    """The step is complete, and the run goes on; `outputs` are what later steps see of it."""

    outputs: dict[str, Any] | None = None
    messages: list[NewMessage] = []


class Skipped(Struct, frozen=True):
    """A condition, a preference or a schedule skips the step; the run goes on."""


class Failed(Struct, frozen=True):
    """The step cannot be done; the run goes on unless the step says otherwise."""

    messages: list[NewMessage] = []


class Waiting(Struct, frozen=True):
    """The step comes due later."""

    until: Millis


class Sending(Struct, frozen=True):
    """A provider has to be called; the sender does that, and the run goes on afterwards."""

    messages: list[NewMessage]


class Merged(Struct, frozen=True):
    """The run joins the digest of another one, and ends here."""

    into: NotificationId


class Ended(Struct, frozen=True):
    """The run ends at this step, for a reason that the steps behind it tell too."""

    status: JobStatus = JobStatus.SKIPPED
    reason: DetailCode = DetailCode.RUN_THROTTLED
    raw: dict[str, Any] | None = None
    outputs: dict[str, Any] | None = None
    """Those of the step, if it is complete; else it has the status of those behind it."""


class Branched(Struct, frozen=True):
    """The run goes on by a path of the step, if any fits."""

    path: str | None


StepOutcome: TypeAlias = Done | Skipped | Failed | Waiting | Sending | Merged | Ended | Branched


class Defaults(Struct, frozen=True, kw_only=True):
    """What an environment has for everyone."""

    open_providers: frozenset[str]
    """Active ones that can reach people without an entry for them."""
    channels: frozenset[Channel]
    """Those with an active integration."""
    inactive: Mapping[Channel, Sequence[str]]
    """The identifiers of integrations that are switched off."""
    timezone: str | None
    """Of people who have none."""


class StepContext(Struct, frozen=True, kw_only=True):
    """A step of a run that has been reached, and the moment that this happened."""

    now: Millis
    run: Run
    job: Job
    step: Step
    chosen: WithControls
    """The step itself, or one of its variants."""
    variables: dict[str, Any]
    digests: DigestWindows
    throttles: ThrottlePasses
    triggered: TriggeredWorkflows
    shared: SharedRequests
    waits: EventWaits
    changes: MessageChanges
    defaults: Defaults
    frame_texts: list[Texts] = []
    """Those of the layout that the step is rendered in."""

    @property
    def controls(self) -> Mapping[str, Any]:
        return self.chosen.controls

    def read_controls(self, shape: type[ControlsT]) -> ControlsT:
        """The controls in the shape of their step type, decoded once for each version; raises ControlsProblem."""
        decoded = self.chosen.decoded
        if shape not in decoded:
            decoded[shape] = read_as(shape, self.controls)
        controls: ControlsT = decoded[shape]
        return controls

    def decide(self, rule: CompiledLogic) -> ConditionResult:
        """What JSON-logic of the step comes to."""
        find_segment = partial(self.run.find_segment, now=self.now)
        return rule.decide(self.variables, now=self.now, find_segment=find_segment)

    @property
    def zone(self) -> str:
        """The person's time zone, else the environment's."""
        return self.run.subscriber.timezone or self.defaults.timezone or "UTC"

    @property
    def open_providers(self) -> frozenset[str]:
        return self.defaults.open_providers

    def note(self, code: DetailCode, *, source: DetailSource = DetailSource.INTERNAL, raw: Any = None) -> None:
        self.job.note(self.now, code, source=source, raw=raw)

    def note_no_integration(self, channel: Channel) -> None:
        """Note that the environment has no active integration for the channel."""
        raw = {
            "channel": channel,
            "notEligible": dict.fromkeys(self.defaults.inactive.get(channel, ()), "is not active"),
            "wayOut": "activate an integration of the channel",
        }
        self.note(DetailCode.INTEGRATION_MISSING, raw=raw)

    def add_to_last(self, name: str, value: Any) -> None:
        """Add what a rule that let the step pass has seen to the last detail of the job."""
        last = self.job.details[-1]
        self.job.details[-1] = replace(last, raw={**(last.raw or {}), name: value})
