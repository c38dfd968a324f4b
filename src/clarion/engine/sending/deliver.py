"""Carrying: messages are handed to providers outside of any transaction, and what becomes of the job is decided."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeAlias

from clarion.clock import MINUTE, Millis, iso_text
from clarion.deadletters.model import POSSIBLY_DELIVERED
from clarion.engine.sending.model import ClaimedSend, HealthReport, OutgoingMessage, Route, SendOutcome
from clarion.engine.sending.outgoing import ReceiptsUrl, make_outgoing, nowhere
from clarion.engine.sending.planning import MAX_WAIT, recognises_repeats
from clarion.engine.sending.retry import (
    last_attempt_at,
    next_attempt_at,
    place_of,
    put_off_until,
    uses_attempt,
    wished_pause,
)
from clarion.ids import id_text
from clarion.integrations.model import Integration
from clarion.jobs.details import DetailStatus
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vocabulary import Channel, JobStatus, MessageStatus

MAX_PAUSE = Millis(15 * MINUTE)
"""An integration is left alone so long at most, whatever its provider wishes for the message that was refused."""

_TRY_AGAIN = frozenset({FailureKind.RETRYABLE, FailureKind.RATE_LIMITED})


IsCanceled: TypeAlias = Callable[[ClaimedSend], Awaitable[bool]]
"""Whether a job was canceled since it was claimed."""


class NotSent(NamedTuple):
    """Why a message did not go out."""

    failure: SendFailure | None = None
    """None where no provider was asked at all, because the address must not be written to or the message is gone."""
    goes_elsewhere: bool = False
    """Whether it is to be tried with the next integration, which counts what it takes."""


async def _never(_: ClaimedSend) -> bool:
    return False


async def deliver(
    send: ClaimedSend,
    gateway: ProviderGateway,
    now: Millis,
    receipts_url: ReceiptsUrl = nowhere,
    is_canceled: IsCanceled = _never,
) -> None:
    """Hand the messages of a job to their providers and decide what the job comes to."""
    if not send.messages:
        send.job.note(now, DetailStatus.FAILED, "The message was deleted before it was sent")
    results: list[NotSent | None] = []
    for message in send.messages:
        route = send.planned.get(message.id)
        if message.id in send.suppressed:
            results.append(_skip_suppressed(send, message, now))
        elif route is None:
            results.append(_fail_without_integration(send, message, now))
        else:
            results.append(await _Attempt(send, message, now, is_canceled).deliver(route, gateway, receipts_url))
    _settle(send, results, now)


def give_up(send: ClaimedSend, error: Exception, now: Millis) -> None:
    """Count an attempt that nobody foresaw the failure of as one that may go better the next time."""
    failure = SendFailure(FailureKind.RETRYABLE, f"{type(error).__name__} in Clarion itself")
    send.job.note(now, DetailStatus.FAILED, "Unexpected error", raw={"kind": failure.kind, "message": str(failure)})
    _settle(send, [NotSent(failure)], now)


def set_aside(send: ClaimedSend, now: Millis) -> None:
    """End a job whose results cannot be written down; it would be sent again and again otherwise."""
    send.outcomes.clear()
    send.health_reports.clear()
    send.dead_tokens.clear()
    send.job.details.clear()
    send.job.note(now, DetailStatus.FAILED, "The outcome could not be recorded")
    send.job.finish(JobStatus.FAILED)


class _Attempt:
    """One message on its way through the integrations of its route."""

    def __init__(self, send: ClaimedSend, message: OutgoingMessage, now: Millis, is_canceled: IsCanceled) -> None:
        self._send = send
        self._message = message
        self._now = now
        self._is_canceled = is_canceled

    async def deliver(self, route: Route, gateway: ProviderGateway, receipts_url: ReceiptsUrl) -> NotSent | None:
        """Try the integrations in turn; returns what counts of the failures, or None when it went out."""
        result = NotSent()
        for place, integration in enumerate(route.integrations):
            if place and integration.rate_limit is not None:
                # Its limit is counted where jobs are claimed.
                return NotSent(result.failure, goes_elsewhere=True)
            if place and await self._is_canceled(self._send):
                return result
            self._select(route, integration, is_first=place == 0)
            is_trial = route.is_trial and place == 0
            try:
                outgoing = make_outgoing(self._send, self._message, integration, receipts_url)
                sent = await gateway.send(integration.provider_id, outgoing)
            except SendFailure as failure:
                self._fail(integration, failure, is_trial=is_trial)
                result = NotSent(failure)
                if not _passes_on(failure, is_trial=is_trial):
                    break
            else:
                self._succeed(integration, sent, is_news=integration.id in route.unwell)
                return None
        return result

    def _select(self, route: Route, integration: Integration, *, is_first: bool) -> None:
        self._send.job.provider_id = integration.provider_id
        raw: dict[str, object] = {"_integrationId": id_text(integration.id), "identifier": integration.identifier}
        if is_first and route.passed_over:
            raw["passedOver"] = route.passed_over
        self._send.job.note(self._now, DetailStatus.PENDING, "Integration instance selected", raw=raw)

    def _succeed(self, integration: Integration, sent: Sent, *, is_news: bool) -> None:
        raw = {"id": sent.provider_message_id, "answer": sent.raw}
        self._send.job.note(self._now, DetailStatus.SUCCESS, "Message sent", raw=raw)
        self._forget_tokens(integration, sent.dead_tokens)
        if is_news and not self._has_own_address:
            self._send.health_reports.append(HealthReport(integration_id=integration.id, is_working=True))
        self._send.outcomes[self._message.id] = SendOutcome(
            status=MessageStatus.SENT,
            provider_id=integration.provider_id,
            integration_id=integration.id,
            provider_message_id=_storable(sent.provider_message_id),
            tickets=sent.tickets,
        )

    def _fail(self, integration: Integration, failure: SendFailure, *, is_trial: bool) -> None:
        raw = {"kind": failure.kind, "message": str(failure), "answer": failure.raw}
        text, is_safe = "Unexpected provider error", recognises_repeats(integration)
        if failure.is_ambiguous:
            text = "Unconfirmed by the provider, which knows a second try" if is_safe else "Possibly delivered"
        self._send.job.note(self._now, DetailStatus.FAILED, text, raw=raw)
        self._forget_tokens(integration, failure.dead_tokens)
        if not self._has_own_address:
            self._send.health_reports.append(_report_health(integration, failure, self._now, is_trial=is_trial))
        self._send.outcomes[self._message.id] = SendOutcome(
            status=MessageStatus.ERROR,
            provider_id=integration.provider_id,
            integration_id=integration.id,
            error_id=POSSIBLY_DELIVERED if failure.is_ambiguous else None,
            error_text=_storable(f"{text}: {failure}" if failure.is_ambiguous else str(failure)),
        )

    @property
    def _has_own_address(self) -> bool:
        """Whether it went to an address of the recipient's own, which tells nothing about the integration."""
        return self._message.webhook_url is not None

    def _forget_tokens(self, integration: Integration, tokens: Sequence[str]) -> None:
        if tokens:
            text, raw = "Invalid push device token was removed from subscriber", {"count": len(tokens)}
            self._send.job.note(self._now, DetailStatus.WARNING, text, raw=raw)
            by_provider = self._send.dead_tokens.setdefault(self._message.subscriber_id, {})
            by_provider.setdefault(integration.provider_id, set()).update(tokens)


def _skip_suppressed(send: ClaimedSend, message: OutgoingMessage, now: Millis) -> NotSent:
    thing = "email address" if message.channel is Channel.EMAIL else "phone number"
    text = f"Subscriber's {thing} is suppressed"
    way_out = "DELETE /v1/suppressions/{channel}/{address} lets it be written to again"
    raw = {"reason": send.suppressed[message.id], "channel": message.channel, "wayOut": way_out}
    send.job.note(now, DetailStatus.FAILED, text, raw=raw)
    send.outcomes[message.id] = SendOutcome(
        status=MessageStatus.WARNING, provider_id=message.provider_id, error_id="suppressed", error_text=text
    )
    return NotSent()


def _fail_without_integration(send: ClaimedSend, message: OutgoingMessage, now: Millis) -> NotSent:
    text = "Subscriber does not have an active integration"
    raw = {"channel": message.channel, "providerId": message.provider_id}
    send.job.note(now, DetailStatus.FAILED, text, raw=raw)
    send.outcomes[message.id] = SendOutcome(
        status=MessageStatus.WARNING, provider_id=message.provider_id, error_text=text
    )
    return NotSent(SendFailure(FailureKind.PERMANENT, text))


def _passes_on(failure: SendFailure, *, is_trial: bool) -> bool:
    """Whether the next integration is tried at once; a message that may be on its way already is not passed on."""
    if failure.kind is FailureKind.PERMANENT:
        return True
    return is_trial and failure.kind is FailureKind.RETRYABLE and not failure.is_ambiguous


def _report_health(integration: Integration, failure: SendFailure, now: Millis, *, is_trial: bool) -> HealthReport:
    """A provider that answers works, whatever it answers; one that wants to be left alone is."""
    pause = wished_pause(failure) if failure.kind is FailureKind.RATE_LIMITED else None
    return HealthReport(
        integration_id=integration.id,
        is_working=failure.kind is not FailureKind.RETRYABLE,
        is_trial=is_trial,
        wait_until=None if pause is None else Millis(now + min(pause, MAX_PAUSE)),
    )


def _settle(send: ClaimedSend, results: Sequence[NotSent | None], now: Millis) -> None:
    job = send.job
    if any(result is None for result in results):
        job.finish(JobStatus.COMPLETED)
        job.outputs, send.put_off_since = {}, None
        return
    unsent = [one for one in results if one is not None and one.failure is not None]
    due_at = _next_due(send, unsent, now)
    if due_at is not None:
        job.status, job.due_at = JobStatus.QUEUED, due_at
        return
    job.finish(JobStatus.FAILED)
    send.put_off_since = None
    if unsent:
        send.dead_at = now


def _next_due(send: ClaimedSend, unsent: Sequence[NotSent], now: Millis) -> Millis | None:
    """When the job is tried again, if it is; sets the number that its next attempt counts from."""
    job = send.job
    if any(one.goes_elsewhere for one in unsent):
        return _go_to_next(send, now)
    waiting = [one.failure for one in unsent if one.failure is not None and one.failure.kind in _TRY_AGAIN]
    if not waiting:
        return None
    due_at = next_attempt_at(job.attempt, waiting[0], now, choices=send.choices)
    return due_at if due_at is None or uses_attempt(waiting[0]) else _put_off(send, due_at, now)


def _put_off(send: ClaimedSend, shown: Millis, now: Millis) -> Millis | None:
    """When a job is tried again whose provider asked to come back later, which costs no attempt but ends some day."""
    job = send.job
    has_others = place_of(job.attempt) + 1 < send.choices
    since = send.put_off_since = send.put_off_since or now
    until = put_off_until(since, shown, now, has_others=has_others)
    if until is None:
        raw = {"since": iso_text(since), "askedToWaitUntil": iso_text(shown)}
        job.note(now, DetailStatus.FAILED, "Put off by the provider for too long", raw=raw)
        return _go_to_next(send, now) if has_others else None
    job.attempt -= 1
    # Others may take over at once where the wait is long: the next claim finds out who.
    return now if has_others and shown > now + MAX_WAIT else until


def _go_to_next(send: ClaimedSend, now: Millis) -> Millis:
    """The first integration is used up; the next is tried at once."""
    send.job.attempt, send.put_off_since = last_attempt_at(send.job.attempt), None
    return now


def _storable(text: str | None) -> str | None:
    # Servers may answer anything, and no text of PostgreSQL holds this character.
    return None if text is None else text.replace("\0", "")
