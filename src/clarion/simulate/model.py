"""Simulations as records: what is asked, and what would happen."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import DAY, SECOND, Millis
from clarion.explain.model import Decision
from clarion.sending.requests.example import GivenAnswer
from clarion.triggers.model import TriggerOutcome
from clarion.triggers.requests import TriggerRequest
from clarion.vocabulary import Channel
from clarion.workflows.step_wire import StepIn

DEFAULT_SPAN = Millis(31 * DAY)
MAX_SPAN = Millis(366 * DAY)
"""How far from now a simulation may begin, and how long it may go on."""
DEFAULT_PEOPLE = 10
MAX_PEOPLE = 100
MAX_COUNTED = 50_000
"""Recipients are counted up to here."""
MAX_OPEN_RUNS = 500
"""The limit of runs under way that take part in the simulation."""
MAX_EVENTS = 100
MAX_MOMENTS = 2_000
MAX_DURATION = Millis(5 * SECOND)
"""How long a simulation may take in real time."""


class PreferenceOverrides(Struct, frozen=True, kw_only=True):
    """Preferences of the shown people that hold in the simulation, before their own."""

    channels: Mapping[Channel, bool] = {}
    """For all workflows."""
    workflow_channels: Mapping[Channel, bool] = {}
    """For the simulated workflow alone."""
    schedule: dict[str, Any] | None = None

    def __bool__(self) -> bool:
        return bool(self.channels or self.workflow_channels) or self.schedule is not None


class SimulatedEvent(Struct, frozen=True, kw_only=True):
    """Something that happens while the runs are under way."""

    number: int
    """Its place in what was asked."""
    name: str
    at: Millis
    data: dict[str, Any] = {}
    subscriber_key: str | None = None
    """None: it happens to all who are shown."""
    step_id: str | None = None
    """Of events of messages, the step whose message it is."""


class Scenario(Struct, frozen=True, kw_only=True):
    request: TriggerRequest
    now: Millis
    at: Millis
    begins_at: Millis
    """When its runs begin: later than `at` if the trigger says so."""
    until: Millis
    limit: int
    """How many people are simulated."""
    overrides: PreferenceOverrides = PreferenceOverrides()
    steps: Sequence[StepIn] | None = None
    """Instead of those of the workflow."""
    answers: Mapping[str, GivenAnswer] = {}
    """To HTTP steps, by their `stepId`; the others are answered with examples."""
    version: int | None = None
    """The number of a saved version, instead of the current one."""
    events: Sequence[SimulatedEvent] = ()
    """In the order of their moments."""


class SimulatedMessage(Struct, frozen=True, kw_only=True):
    at: Millis
    channel: Channel
    step_id: str
    to: str
    provider_id: str | None
    integration: str | None
    """The identifier of the integration that it would go through."""
    subject: str | None
    content: str


class SimulatedRecipient(Struct, frozen=True, kw_only=True):
    subscriber_key: str
    decisions: Sequence[Decision]
    messages: Sequence[SimulatedMessage]


class Simulation(Struct, frozen=True, kw_only=True):
    outcome: TriggerOutcome
    """What the trigger would answer."""
    errors: Sequence[str] = ()
    recipients: Sequence[SimulatedRecipient] = ()
    total: int = 0
    """How many people the trigger is for."""
    is_counted: bool = True
    """Whether these are all: segments are not searched to their end."""
    is_cut_short: bool = False
    """Whether it took too long and stopped before `until`."""
