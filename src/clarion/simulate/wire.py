"""Shapes of simulations, and how what is asked is read."""

from itertools import starmap
from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType, field
from msgspec.structs import replace

from clarion.answers.model import ANSWER_GIVEN
from clarion.clock import Millis, iso_text
from clarion.errors import Invalid, Problem
from clarion.explain.wire import DecisionOut
from clarion.http.input.unknown import InputWarning
from clarion.http.wire import DateTimeText, MomentText, Wire, given
from clarion.ids import EnvironmentId
from clarion.jsontext import plain_value
from clarion.preferences.wire import PreferenceChannels, Schedule
from clarion.sending.requests.example import GivenAnswer
from clarion.simulate.model import (
    DEFAULT_PEOPLE,
    DEFAULT_SPAN,
    MAX_COUNTED,
    MAX_EVENTS,
    MAX_PEOPLE,
    MAX_SPAN,
    PreferenceOverrides,
    Scenario,
    SimulatedEvent,
    SimulatedMessage,
    SimulatedRecipient,
    Simulation,
)
from clarion.triggers.model import TriggerOutcome
from clarion.triggers.requests import read_request
from clarion.triggers.wire import TriggerIn
from clarion.vocabulary import Channel
from clarion.waits.model import MessageEventName, find_name_problem
from clarion.workflows.model import MAX_STEPS
from clarion.workflows.step_wire import StepIn
from clarion.workflows.tree import MAX_ALL_STEPS


class PretendedIn(Wire):
    """Preferences that the recipients are taken to have; what is left out is as they have it."""

    channels: PreferenceChannels | UnsetType = UNSET
    """What the recipients want of all workflows."""
    workflow: PreferenceChannels | UnsetType = UNSET
    """What the recipients want of this workflow."""
    schedule: Schedule | UnsetType = UNSET
    """The hours in which the recipients want messages."""

    def read(self) -> PreferenceOverrides:
        return PreferenceOverrides(
            channels={} if isinstance(self.channels, UnsetType) else self.channels.given(),
            workflow_channels={} if isinstance(self.workflow, UnsetType) else self.workflow.given(),
            schedule=None if isinstance(self.schedule, UnsetType) else plain_value(self.schedule),
        )


class SimulatedEventIn(Wire):
    """An event of the application, or with `stepId` one of a message, or the answer to a question."""

    name: Annotated[str, Meta(min_length=1, max_length=128)]
    """The name that steps wait for, such as `order.paid` or `message.read`; `answer.given` is an answer."""
    at: MomentText
    """When it happens: not before the runs begin, and not after `until`."""
    data: dict[str, Any] = field(default_factory=dict)
    """As in `POST /v1/events/emit`; of events of messages, what is added to their data. Of an answer, `answer` is the
    choice, and `by` who gives it, if it is not the person of the run."""
    subscriber_id: str | None = None
    """To whom it happens; by default to all who are shown."""
    step_id: str | None = None
    """For events of messages: the `stepId` of the step whose message it is; for an answer, of the step that asks."""

    def find_problem(self) -> tuple[str, str] | None:
        """Return the member that is wrong, and why; None if none is."""
        if self.name == ANSWER_GIVEN:
            return self._find_problem_of_answer()
        is_of_message = self.name in set(MessageEventName)
        problem = find_name_problem(self.name)
        if problem is not None:
            return "name", problem
        if is_of_message and self.step_id is None:
            return "stepId", "is required for events of messages: the step whose message it is"
        if not is_of_message and self.step_id is not None:
            return "stepId", "is for events of messages and answers alone"
        return None

    def _find_problem_of_answer(self) -> tuple[str, str] | None:
        if self.step_id is None:
            return "stepId", "is required for an answer: the step that asks"
        if not isinstance(self.data.get("answer"), str) or not isinstance(self.data.get("by", ""), str):
            return "data", "must have `answer`, the value of a choice, and may have `by`, a subscriberId"
        unknown = sorted(self.data.keys() - {"answer", "by"})
        return ("data", f"has '{unknown[0]}', which answers do not have") if unknown else None


class AnswerIn(Wire):
    """What a server is taken to answer to an HTTP step."""

    status: Annotated[int, Meta(ge=200, le=599)] = 200
    """The status of the answer; one that is tried again makes the run wait."""
    headers: dict[str, str] = field(default_factory=dict)
    """The headers of the answer."""
    body: Any = None
    """The body of the answer: JSON, or a text."""

    def read(self) -> GivenAnswer:
        return GivenAnswer(status=self.status, headers=self.headers, body=self.body)


class SimulationIn(TriggerIn):
    """A trigger, and the circumstances in which it is to be tried."""

    at: MomentText | None = None
    """The moment of the trigger; by default now."""
    until: MomentText | None = None
    """When the simulation ends; by default 31 days after the runs begin."""
    preferences: PretendedIn | None = None
    """What the recipients are taken to want."""
    steps: Annotated[list[StepIn], Meta(max_length=MAX_STEPS)] | None = None
    """Steps to try in the place of those of the workflow."""
    version: Annotated[int, Meta(ge=1)] | None = None
    """The number of a saved version of the workflow to try; by default the current one."""
    events: Annotated[list[SimulatedEventIn], Meta(max_length=MAX_EVENTS)] = field(default_factory=list)
    """What happens while the runs are under way, for steps that wait for it; else nothing does."""
    answers: Annotated[dict[str, AnswerIn], Meta(max_length=MAX_ALL_STEPS)] | None = None
    """What servers are taken to answer to HTTP steps, by their `stepId`; the others get an example that is made from
    the schema of the step. Nothing is called."""
    limit: Annotated[int, Meta(ge=1, le=MAX_PEOPLE)] = DEFAULT_PEOPLE
    """How many recipients are simulated and shown."""


class SimulatedMessageOut(Wire):
    at: DateTimeText
    """When the message would be sent."""
    channel: Channel
    step_id: str
    to: str
    """An address; of chat webhooks the host, of device tokens the end, and of in-app messages the subscriberId."""
    provider_id: str | UnsetType = UNSET
    integration: str | None
    """The identifier of the integration."""
    subject: str | UnsetType = UNSET
    """Of e-mails and in-app messages the subject, of push messages the title."""
    content: str
    """What the person would read."""

    @classmethod
    def of(cls, message: SimulatedMessage) -> Self:
        return cls(
            at=iso_text(message.at),
            channel=message.channel,
            step_id=message.step_id,
            to=message.to,
            provider_id=given(message.provider_id),
            integration=message.integration,
            subject=given(message.subject),
            content=message.content,
        )


class SimulatedRecipientOut(Wire):
    subscriber_id: str
    decisions: list[DecisionOut]
    """As explain shows them, in their order."""
    messages: list[SimulatedMessageOut]
    """The messages that the person would get, in their order."""

    @classmethod
    def of(cls, recipient: SimulatedRecipient) -> Self:
        return cls(
            subscriber_id=recipient.subscriber_key,
            decisions=[DecisionOut.of(decision) for decision in recipient.decisions],
            messages=[SimulatedMessageOut.of(message) for message in recipient.messages],
        )


class SimulationOut(Wire):
    status: TriggerOutcome
    """What the trigger would answer."""
    error: list[str] | UnsetType = UNSET
    """Why the trigger would not run, in sentences."""
    at: DateTimeText
    """The moment of the trigger."""
    until: DateTimeText
    """When the simulation ended."""
    recipients: list[SimulatedRecipientOut]
    """What would happen to each recipient."""
    total: int
    """How many people the trigger is for, counted up to 50 000."""
    total_capped: bool
    """Whether there may be more than were counted."""
    truncated: bool
    """Whether the trigger is for more people than are shown."""
    is_complete: bool = field(name="complete")
    """False if the simulation took too long and stopped before `until`."""

    @classmethod
    def of(cls, scenario: Scenario, simulation: Simulation) -> Self:
        return cls(
            status=simulation.outcome,
            error=list(simulation.errors) or UNSET,
            at=iso_text(scenario.at),
            until=iso_text(scenario.until),
            recipients=[SimulatedRecipientOut.of(recipient) for recipient in simulation.recipients],
            total=min(simulation.total, MAX_COUNTED),
            total_capped=simulation.total > MAX_COUNTED or not simulation.is_counted,
            truncated=simulation.total > len(simulation.recipients) or not simulation.is_counted,
            is_complete=not simulation.is_cut_short,
        )


def read_scenario(environment_id: EnvironmentId, body: SimulationIn, now: Millis) -> Scenario:
    """The scenario that a body describes; raises Invalid with everything that is wrong."""
    request, problems = None, dict[str, list[Problem]]()
    warnings: list[InputWarning] = []
    try:
        # Nothing is stored, so that data of new contexts is that of the trigger.
        request = replace(read_request(environment_id, body, warnings), keeps_contexts=True)
    except Invalid as refusal:
        problems |= refusal.problems
    problems |= {one.path: [Problem(one.message)] for one in warnings}
    at = now if body.at is None else body.at.moment
    begins_at = at if body.send_at is None else max(at, body.send_at.moment)
    until = Millis(begins_at + DEFAULT_SPAN) if body.until is None else body.until.moment
    if abs(at - now) > MAX_SPAN:
        problems["at"] = [Problem("must be within 366 days of now", body.at)]
    if not begins_at <= until <= begins_at + MAX_SPAN:
        message = "must be at most 366 days after `at` (or `sendAt`, if that is later), and not before it"
        problems["until"] = [Problem(message, body.until)]
    if body.steps is not None and body.version is not None:
        problems["version"] = [Problem("cannot be given together with steps", body.version)]
    for number, event in enumerate(body.events):
        problems |= _find_event_problems(number, event, begins_at, until)
    if problems or request is None:
        raise Invalid(problems)
    return Scenario(
        request=request,
        now=now,
        at=at,
        begins_at=begins_at,
        until=until,
        limit=body.limit,
        overrides=PreferenceOverrides() if body.preferences is None else body.preferences.read(),
        steps=body.steps,
        version=body.version,
        events=sorted(starmap(_read_event, enumerate(body.events)), key=lambda one: one.at),
        answers={name: one.read() for name, one in (body.answers or {}).items()},
    )


def _find_event_problems(
    number: int, event: SimulatedEventIn, begins_at: Millis, until: Millis
) -> dict[str, list[Problem]]:
    problem = event.find_problem()
    if problem is None and not begins_at <= event.at.moment <= until:
        problem = "at", "must not be before the runs begin, and not after `until`"
    return {} if problem is None else {f"events.{number}.{problem[0]}": [Problem(problem[1])]}


def _read_event(number: int, event: SimulatedEventIn) -> SimulatedEvent:
    return SimulatedEvent(
        number=number,
        name=event.name,
        at=event.at.moment,
        data=event.data,
        subscriber_key=event.subscriber_id,
        step_id=event.step_id,
    )
