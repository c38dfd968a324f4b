"""A claimed send: the job with its messages, the integrations they may go through, and the results."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.content.environment import NO_CONTENT, EnvironmentContent
from clarion.engine.records import Run
from clarion.ids import EndpointId, EnvironmentId, IntegrationId, MessageId, NotificationId, SubscriberId, TriggerId
from clarion.integrations.model import Integration
from clarion.jobs.model import Job
from clarion.messages.changes import ChangeState
from clarion.monitoring.traces.store import MessageTrace
from clarion.providers.definition.changes import ChangeKind, MessageChange, Place, SentMessage
from clarion.providers.definition.result import SendFailure
from clarion.subscribers.model import ChannelEntry
from clarion.tracking.model import Tracking
from clarion.vocabulary import Channel, JobStatus, MessageStatus

BY_ENTRY = frozenset({Channel.CHAT, Channel.PUSH, Channel.TOOL})
"""Channels whose addresses are a person's own at one provider, so that no other integration can take over."""


_OF_STEPS = ("steps", "delay")
"""Overrides that are compared with the steps of the workflow."""


class OutgoingMessage(Struct, frozen=True, kw_only=True):
    """What a provider is to be handed of a message, and where it was tried last."""

    id: MessageId
    trigger_id: TriggerId
    subscriber_id: SubscriberId
    channel: Channel
    provider_id: str | None
    integration_id: IntegrationId | None
    error_id: str | None
    content: str
    subject: str | None
    title: str | None
    email: str | None
    email_options: dict[str, Any] | None
    """What the step says about sender, copies and headers, or wants of the provider; overrides of the trigger win."""
    phone: str | None
    webhook_url: str | None
    endpoint_id: EndpointId | None = None
    """The channel endpoint that it goes to; its address is read when the send is claimed."""
    device_tokens: list[str] | None
    data: dict[str, Any] | None
    is_sent: bool
    """Whether a provider accepted it in an earlier attempt of the job."""
    retry_at: Millis | None
    """Not tried before this moment, although the job may be due earlier for another message."""
    given_up_at: Millis | None
    """When its last attempt failed; it is not tried again unless the job is redriven."""
    tracking: Tracking | None = None
    unsubscribe_url: str | None = None
    """What mail programs unsubscribe with."""
    refused_by: tuple[IntegrationId, ...] = ()
    """Integrations whose provider refused it for good in an earlier attempt; they are not asked again."""
    provider_message_id: str | None = None
    """How the provider that has it calls it."""
    place: Place | None = None
    """Where that provider put it."""
    change: ChangeState | None = None
    """What became of its last change."""
    former: str | None = None
    """JSON of the content that its provider has, while new content is on its way there."""
    revision: int = 0
    """How often it was changed."""

    @property
    def wanted_change(self) -> MessageChange | None:
        """What its provider is to do with it; None: it is sent for the first time."""
        if not self.is_sent or self.provider_message_id is None or self.change is None or not self.change.is_pending:
            return None
        kind = ChangeKind.WITHDRAW if self.change.is_withdrawal else ChangeKind.UPDATE
        sent = SentMessage(provider_message_id=self.provider_message_id, place=self.place or {})
        return MessageChange(kind=kind, sent=sent, number=self.revision)

    @property
    def address(self) -> str | None:
        """What a person can be reached by through every integration of the channel."""
        return self.email if self.channel is Channel.EMAIL else self.phone if self.channel is Channel.SMS else None


class SendOutcome(Struct, frozen=True, kw_only=True):
    """What became of a message."""

    status: MessageStatus
    provider_id: str | None
    integration_id: IntegrationId | None = None
    provider_message_id: str | None = None
    place: Place | None = None
    """Where the provider put it, if it can be changed there."""
    tickets: Mapping[str, str] = {}
    """By recipient, what the provider is asked for later; empty where it tells by itself."""
    error_id: str | None = None
    error_text: str | None = None


class ChangeOutcome(Struct, frozen=True):
    """What became of a change of a message."""

    state: ChangeState
    reason: str | None = None


class NotSent(Struct, frozen=True):
    """Why an attempt did not send a message."""

    failure: SendFailure | None = None
    """None if no provider was called because the address is suppressed."""
    goes_elsewhere: bool = False
    """Whether the next integration is to be tried; its rate limit and pause count when the job is claimed again."""


class PassedOver(StrEnum):
    """Why an integration that comes first in order is not tried first."""

    CIRCUIT_OPEN = "failed too often, and rests"
    PAUSED = "is paused, because its provider asked for it"
    RATE_LIMIT = "has used up its rate limit"


class Route(Struct, frozen=True, kw_only=True):
    """The integrations that a message is tried with, in turn."""

    integrations: Sequence[Integration] = ()
    passed_over: Mapping[str, PassedOver] = {}
    """By identifier, why another that comes first in order is not the first here."""
    rests_until: Mapping[str, Millis] = {}
    """By identifier, until when those are not called: their circuits are open, or their providers asked for a pause."""
    paused_until: Millis | None = None
    """The end of the pause that the provider of the first asked for."""
    is_trial: bool = False
    """Whether the circuit of the first is half-open, and this message tries it."""
    failing: frozenset[IntegrationId] = frozenset()
    """Those whose last calls failed: a success is recorded."""
    paused: frozenset[IntegrationId] = frozenset()
    """Those whose provider asked for a pause: no message is passed on to them."""


class HealthReport(Struct, frozen=True, kw_only=True):
    """What a send shows about the health of its integration."""

    integration_id: IntegrationId
    is_working: bool
    is_trial: bool = False
    wait_until: Millis | None = None
    """The end of the pause that the provider asked for."""


class RecordedCall(Struct, frozen=True):
    """A call of a provider, successful or not."""

    integration_id: IntegrationId
    message_id: MessageId
    at: Millis
    """When the attempt began, as its execution details say."""
    milliseconds: int
    has_failed: bool


class ClaimedSend(Struct, kw_only=True, eq=False):
    """A claimed job with everything that sending it needs, and its results."""

    environment_id: EnvironmentId
    notification_id: NotificationId
    channel: Channel
    job: Job
    """Its details are those of this attempt alone."""
    claimed_attempt: int
    lease_until: Millis
    """From this moment on another worker may take the job over, so no provider is called any more."""
    integrations: Sequence[Integration]
    has_turn: bool = False
    """Whether it has waited for a rate limit, and this is the moment that it was promised."""
    waited_until: Millis | None = None
    """When the last delay or digest of its run ended; None if it had none."""
    put_off_since: Millis | None = None
    """When it first had to wait because its provider asked for it; None otherwise, and when the job has ended."""
    messages: list[OutgoingMessage] = []
    """Those that this attempt sends."""
    waiting: tuple[OutgoingMessage, ...] = ()
    """Those that are tried again later than this attempt."""
    given_up: tuple[OutgoingMessage, ...] = ()
    """Those whose last attempt failed before this one."""
    has_sent: bool = False
    """Whether an earlier attempt sent one of the messages."""
    withdrawn: tuple[OutgoingMessage, ...] = ()
    """Those that were withdrawn before they were sent."""
    changes: dict[MessageId, ChangeOutcome] = {}
    """What became of the changes of messages that were sent before."""
    former_dead_at: Millis | None = None
    """Whether it was a dead letter when it was claimed, and since when."""
    overrides: dict[str, Any] = {}
    payload: dict[str, Any] = {}
    """That of the trigger; loaded only for push messages, whose apps get it."""
    is_canceled: bool = False
    """Whether its trigger was canceled."""
    expires_at: Millis | None = None
    """When its trigger expires."""
    run: Run | None = None
    """Loaded only where an integration's conditions or overrides of a step look at it."""
    content: EnvironmentContent = NO_CONTENT
    """Loaded only where a message is tracked."""
    entries: dict[MessageId, ChannelEntry] = {}
    contexts: dict[MessageId, dict[str, Any]] = {}
    """Data for receivers of plain webhooks; loaded only where an integration is one."""
    regions: dict[MessageId, str] = {}
    """The regions of recipients whose phone number has no country code; empty where a region is unknown."""
    suppressed: dict[MessageId, str] = {}
    """Messages whose address is not written to, and why."""
    suppressed_copies: dict[MessageId, dict[str, str]] = {}
    """Addresses that get no copy of a message, and why."""
    passed_unsubscribed: dict[MessageId, list[str]] = {}
    """Addresses that unsubscribed and get the message because the workflow is critical."""
    planned: dict[MessageId, Route] = {}
    choices: int = 1
    """How many integrations may be tried, one after the other; those that refused a message count."""
    refusals: dict[MessageId, list[IntegrationId]] = {}
    """The integrations whose provider refused a message for good in this attempt."""
    outcomes: dict[MessageId, SendOutcome] = {}
    not_sent: dict[MessageId, NotSent] = {}
    """The messages that this attempt tried and did not send."""
    retry_at: dict[MessageId, Millis] = {}
    """When messages that this attempt did not send are tried again; the others of `not_sent` are given up."""
    health_reports: list[HealthReport] = []
    calls: list[RecordedCall] = []
    dead_tokens: dict[SubscriberId, dict[str, set[str]]] = {}
    """Device tokens that will never work again, by provider."""
    dead_at: Millis | None = None
    """When the last attempt failed for one of its messages at least."""
    traces: dict[str, MessageTrace] = {}
    """The messages of traced triggers, by the text of their id; empty unless traces are switched on."""

    def add_message(self, message: OutgoingMessage, now: Millis) -> None:
        """Add a message of the job, to be sent in this attempt unless it is sent, given up or not due."""
        if message.is_sent:
            self.has_sent = True
            if message.wanted_change is not None:
                self.messages.append(message)
        elif message.change is not None and message.change.is_withdrawal:
            self.withdrawn += (message,)
        elif message.given_up_at is not None:
            self.given_up += (message,)
        elif message.retry_at is not None and message.retry_at > now:
            self.waiting += (message,)
        else:
            self.messages.append(message)

    @property
    def has_changes(self) -> bool:
        """Whether it changes messages that were sent before."""
        return any(one.wanted_change is not None for one in self.messages)

    @property
    def has_only_changes(self) -> bool:
        return bool(self.messages) and all(one.wanted_change is not None for one in self.messages)

    def is_expired(self, now: Millis) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def end_as_canceled(self) -> None:
        """End the job as canceled: it was canceled during its attempt, so there is no other attempt."""
        self.job.finish(JobStatus.CANCELED)
        self.put_off_since = self.dead_at = None

    def has_others(self, message_id: MessageId) -> bool:
        """Whether a message has another integration left besides the one that is tried next."""
        refused = self.refusals.get(message_id, ())
        return sum(one.id not in refused for one in self.planned[message_id].integrations) > 1

    def is_given_up(self, message_id: MessageId) -> bool:
        """Whether this attempt was the last one of a message that was not sent."""
        return message_id in self.not_sent and message_id not in self.retry_at

    @property
    def untried(self) -> list[OutgoingMessage]:
        """The messages that an attempt did not come to, because it stopped before."""
        return [one for one in self.messages if one.id not in self.not_sent and not self._is_done(one.id)]

    def _is_done(self, message_id: MessageId) -> bool:
        if message_id in self.changes:
            return True
        outcome = self.outcomes.get(message_id)
        return outcome is not None and outcome.status is MessageStatus.SENT

    @property
    def needs_run(self) -> bool:
        channels = {message.channel for message in self.messages} - BY_ENTRY
        if not self.overrides.keys().isdisjoint(_OF_STEPS):
            return True
        return any(one.conditions and one.channel in channels for one in self.integrations)
