"""Delivering: messages are handed to providers outside any transaction, and the result of the job is decided."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from msgspec.structs import replace

from clarion.clock import MINUTE, Clock, Millis
from clarion.ids import id_text
from clarion.integrations.model import Integration
from clarion.jobs.details import DetailCode, DetailSource
from clarion.jobs.model import ATTEMPTS_PER_DRIVE
from clarion.monitoring.metrics import Measures
from clarion.monitoring.traces.tracer import Tracer
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import FailureKind, SendFailure, Sent, mark_ambiguous
from clarion.sending.changing import note_change, note_failed_change
from clarion.sending.dead_letters.model import POSSIBLY_DELIVERED
from clarion.sending.model import (
    ClaimedSend,
    HealthReport,
    NotSent,
    OutgoingMessage,
    RecordedCall,
    Route,
    SendOutcome,
)
from clarion.sending.obstacles import (
    CLEAR,
    fail_without_integration,
    lacks_address,
    skip_deleted_endpoint,
    skip_suppressed,
    skip_unaddressed,
)
from clarion.sending.outgoing import Gateway, ReceiptsUrl, find_rewriter, list_ignored_overrides, make_outgoing, nowhere
from clarion.sending.planning import explain_choice, find_reason, recognises_repeats
from clarion.sending.retry import requested_pause, settle
from clarion.sending.traces import send_traced
from clarion.subscribers.addresses.oauth.renewal import TokenRenewer
from clarion.vocabulary import MessageStatus

log = logging.getLogger(__name__)

MAX_PAUSE = Millis(15 * MINUTE)
"""The longest pause of an integration; the message that was refused may wait longer."""

IsCurrent = Callable[[ClaimedSend], Awaitable[bool]]
"""Whether the job is still in the attempt that was claimed."""


class Deliverer:
    """Hands the messages of claimed jobs to their providers."""

    def __init__(  # noqa: PLR0913 - what it is composed of
        self,
        gateway: Gateway,
        clock: Clock,
        *,
        is_current: IsCurrent,
        tokens: TokenRenewer | None = None,
        receipts_url: ReceiptsUrl = nowhere,
        public_url: str | None = None,
        tracer: Tracer | None = None,
        measures: Measures,
    ) -> None:
        self._gateway = gateway
        self._tracer = tracer
        self._measures = measures
        self._clock = clock
        self._is_current = is_current
        self._tokens = tokens
        self._receipts_url = receipts_url
        self._public_url = public_url
        self.is_ending = False
        """Whether the process ends: no call is begun, and a canceled one counts as possibly delivered."""

    async def deliver(self, send: ClaimedSend) -> bool:
        """Send the messages of a job and decide what it comes to; returns whether there is anything to record."""
        now = self._clock.now()
        try:
            for place, message in enumerate(send.messages):
                await self._deliver_message(send, message, now, is_first=place == 0)
        except _Stopped:
            if not send.outcomes and not send.not_sent and not self.is_ending:
                return False
        except asyncio.CancelledError:
            # What was not tried goes back to the queue.
            if not self._is_cut_short():
                raise
        if not send.messages:
            code = DetailCode.WITHDRAWN_BEFORE_SENT if send.withdrawn else DetailCode.DELETED_BEFORE_SENT
            send.job.note(now, code)
        settle(send, now)
        return True

    async def call(self, send: ClaimedSend, integration: Integration, outgoing: Outgoing) -> Sent:
        """Call the provider, unless the lease has lapsed: another worker may be sending the same message."""
        if self.is_ending:
            raise _Stopped
        if not self._has_lease(send):
            log.warning("Send not made: its lease has lapsed", extra={"job_id": send.job.id.hex()})
            raise _Stopped
        try:
            return await self._call_measured(send, integration, outgoing)
        except asyncio.CancelledError:
            if not self._is_cut_short():
                raise
            message = "Clarion was stopped before the provider answered"
            raise mark_ambiguous(SendFailure(FailureKind.RETRYABLE, message)) from None

    async def _call_measured(self, send: ClaimedSend, integration: Integration, outgoing: Outgoing) -> Sent:
        measures = self._measures.integration(integration.provider_id, integration.identifier)
        started = time.perf_counter()
        try:
            if self._tracer is not None and send.traces:
                return await send_traced(self._tracer, self._gateway, send, integration, outgoing)
            return await self._gateway.send(integration.provider_id, outgoing)
        except SendFailure as failure:
            measures.errors[failure.kind] += 1
            raise
        finally:
            measures.seconds.observe(time.perf_counter() - started)

    async def renew_token(self, send: ClaimedSend, message: OutgoingMessage, integration: Integration) -> None:
        """Give a message a new token of its connection if the one that was loaded has ended; raises SendFailure."""
        entry = send.entries.get(message.id)
        token = None if entry is None else entry.expiring_token
        if entry is None or token is None or self._tokens is None or not self._tokens.is_due(token):
            return
        renewed = await self._tokens.get_token(token, integration)
        credentials = {**entry.credentials, "accessToken": renewed}
        send.entries[message.id] = replace(entry, credentials=credentials, expiring_token=None)

    def make_outgoing(
        self, send: ClaimedSend, message: OutgoingMessage, integration: Integration
    ) -> tuple[Outgoing, dict[str, list[str]]]:
        """The message as the provider gets it, and the suppressed addresses that it leaves out."""
        urls, can_start = self._receipts_url, partial(self._has_lease, send)
        track = find_rewriter(send, message, self._public_url)
        return make_outgoing(send, message, integration, receipts_url=urls, track=track, can_start=can_start)

    def _is_cut_short(self) -> bool:
        """Whether a cancellation comes from the end of the process."""
        return self.is_ending

    def _has_lease(self, send: ClaimedSend) -> bool:
        return self._clock.now() < send.lease_until

    async def check_current(self, send: ClaimedSend) -> None:
        """Stop if the job was canceled or taken over since the attempt began."""
        if not await self._is_current(send):
            raise _Stopped

    async def _deliver_message(
        self, send: ClaimedSend, message: OutgoingMessage, now: Millis, *, is_first: bool
    ) -> None:
        route = send.planned.get(message.id)
        if message.wanted_change is not None:
            result: NotSent | None = await self._change_message(send, message, now, is_first=is_first)
        elif message.id in send.suppressed:
            result = skip_suppressed(send, message, now)
        elif message.endpoint_id is not None and message.id not in send.entries:
            result = skip_deleted_endpoint(send, message, now)
        elif route is None:
            result = fail_without_integration(send, message, now)
        elif lacks_address(message, route.integrations[0]):
            result = skip_unaddressed(send, message, now)
        else:
            if not is_first:
                await self.check_current(send)
            result = await _Attempt(self, send, message, now).deliver(route)
        if result is not None:
            send.not_sent[message.id] = result

    async def _change_message(
        self, send: ClaimedSend, message: OutgoingMessage, now: Millis, *, is_first: bool
    ) -> NotSent | None:
        """Change a message that its provider has; returns what counts of the failure, or None when it is changed."""
        route = send.planned.get(message.id)
        if route is None or (message.endpoint_id is not None and message.id not in send.entries):
            return NotSent(SendFailure(FailureKind.PERMANENT, "The account or address that it was sent with is gone"))
        if not is_first:
            await self.check_current(send)
        return await _Attempt(self, send, message, now).change(route.integrations[0])


class _Stopped(Exception):
    """No provider is called any more in this attempt."""


class _Attempt:
    """One message on its way through the integrations of its route."""

    def __init__(self, deliverer: Deliverer, send: ClaimedSend, message: OutgoingMessage, now: Millis) -> None:
        self._deliverer = deliverer
        self._send = send
        self._message = message
        self._now = now

    async def deliver(self, route: Route) -> NotSent | None:
        """Try the integrations in turn; returns what counts of the failures, or None when it went out."""
        result = NotSent()
        for place, integration in enumerate(route.integrations):
            if place and (integration.rate_limit is not None or integration.id in route.paused):
                # Its limit is counted, and its pause is waited for, where jobs are claimed.
                return NotSent(result.failure, goes_elsewhere=True)
            if place:
                await self._deliverer.check_current(self._send)
            self._select(route, integration, is_first=place == 0)
            is_trial = route.is_trial and place == 0
            started = time.perf_counter()
            try:
                await self._deliverer.renew_token(self._send, self._message, integration)
                outgoing, left_out = self._deliverer.make_outgoing(self._send, self._message, integration)
                self._explain_suppressions(left_out)
                self._explain_overrides(integration, outgoing)
                sent = await self._deliverer.call(self._send, integration, outgoing)
            except SendFailure as failure:
                if failure.kind is FailureKind.NO_CONNECTION:
                    self._note_no_connection(failure)
                    return NotSent(failure)
                took = self._note_call(integration, started, has_failed=True)
                self._fail(integration, failure, took, is_trial=is_trial)
                result = NotSent(failure)
                if not _passes_on(failure, is_trial=is_trial):
                    break
            else:
                took = self._note_call(integration, started, has_failed=False)
                self._succeed(integration, sent, took, is_news=integration.id in route.failing)
                return None
        return result

    async def change(self, integration: Integration) -> NotSent | None:
        """Have the provider change the message that it has."""
        started = time.perf_counter()
        try:
            await self._deliverer.renew_token(self._send, self._message, integration)
            outgoing, _ = self._deliverer.make_outgoing(self._send, self._message, integration)
            sent = await self._deliverer.call(self._send, integration, outgoing)
        except SendFailure as failure:
            if failure.kind is FailureKind.NO_CONNECTION:
                self._note_no_connection(failure)
            else:
                self._note_call(integration, started, has_failed=True)
                note_failed_change(self._send, self._message, integration, failure, self._now)
                self._report(integration, failure, is_trial=False)
            return NotSent(failure)
        took = self._note_call(integration, started, has_failed=False)
        note_change(self._send, self._message, integration, sent, took, self._now)
        return None

    def _select(self, route: Route, integration: Integration, *, is_first: bool) -> None:
        self._send.job.provider_id = integration.provider_id
        raw: dict[str, object] = {"_integrationId": id_text(integration.id), "identifier": integration.identifier}
        raw["by"] = find_reason(self._send, self._message, integration)
        entry = self._send.entries.get(self._message.id)
        if entry is not None and entry.endpoint_identifier is not None:
            raw["endpoint"] = entry.endpoint_identifier
        if is_first and route.passed_over:
            raw["passedOver"] = route.passed_over
            if route.rests_until:
                raw["restsUntil"] = route.rests_until
        if is_first and (self._send.run is not None or self._message.refused_by):
            # The run is loaded only where an integration has conditions.
            raw |= explain_choice(self._send, self._message)
        self._send.job.note(self._now, DetailCode.INTEGRATION_SELECTED, raw=raw)

    def _explain_suppressions(self, left_out: dict[str, list[str]]) -> None:
        job, message_id = self._send.job, self._message.id
        if left_out:
            raw = {"leftOut": left_out, "reasons": self._send.suppressed_copies[message_id], "wayOut": CLEAR}
            job.note(self._now, DetailCode.COPIES_SUPPRESSED, raw=raw)
        passed = self._send.passed_unsubscribed.get(message_id)
        if passed:
            raw = {"addresses": passed, "reason": "e-mails of critical workflows are sent to those who unsubscribed"}
            job.note(self._now, DetailCode.UNSUBSCRIBED_BUT_CRITICAL, raw=raw)

    def _explain_overrides(self, integration: Integration, outgoing: Outgoing) -> None:
        if not outgoing.overrides and not self._send.overrides:
            return
        ignored = list_ignored_overrides(self._send, outgoing, integration.provider_id)
        if not ignored:
            return
        raw = {"providerId": integration.provider_id, "ignored": ignored}
        # Once for all messages of the job that go to the same provider.
        if not any(one.code == DetailCode.OVERRIDES_IGNORED and one.raw == raw for one in self._send.job.details):
            self._send.job.note(self._now, DetailCode.OVERRIDES_IGNORED, source=DetailSource.PAYLOAD, raw=raw)

    def _succeed(self, integration: Integration, sent: Sent, milliseconds: int, *, is_news: bool) -> None:
        raw = {"id": sent.provider_message_id, "answer": sent.raw, "milliseconds": milliseconds}
        self._send.job.note(self._now, DetailCode.SENT, raw=raw)
        if sent.refused:
            self._send.job.note(self._now, DetailCode.RECIPIENTS_REFUSED, raw={"refused": sent.refused})
        self._forget_tokens(integration, sent.dead_tokens)
        if is_news and not self._has_own_address:
            self._send.health_reports.append(HealthReport(integration_id=integration.id, is_working=True))
        self._send.outcomes[self._message.id] = SendOutcome(
            status=MessageStatus.SENT,
            provider_id=integration.provider_id,
            integration_id=integration.id,
            # Never NULL, because that marks messages that are not sent.
            provider_message_id=_storable(sent.provider_message_id) or id_text(self._message.id),
            place=sent.place,
            tickets=sent.tickets,
        )

    def _fail(self, integration: Integration, failure: SendFailure, milliseconds: int, *, is_trial: bool) -> None:
        attempt = self._send.job.attempt % ATTEMPTS_PER_DRIVE
        raw = {"kind": failure.kind, "message": str(failure), "answer": failure.raw, "attempt": attempt}
        raw["milliseconds"] = milliseconds
        code = DetailCode.PROVIDER_FAILED
        if failure.is_ambiguous:
            code = DetailCode.UNCONFIRMED if recognises_repeats(integration) else DetailCode.POSSIBLY_DELIVERED
        self._send.job.note(self._now, code, raw=raw)
        self._forget_tokens(integration, failure.dead_tokens)
        if failure.kind is FailureKind.PERMANENT:
            self._send.refusals.setdefault(self._message.id, []).append(integration.id)
        self._report(integration, failure, is_trial=is_trial)
        self._send.outcomes[self._message.id] = SendOutcome(
            status=MessageStatus.ERROR,
            provider_id=integration.provider_id,
            integration_id=integration.id,
            error_id=POSSIBLY_DELIVERED if failure.is_ambiguous else None,
            error_text=_storable(f"{code.text}: {failure}" if failure.is_ambiguous else str(failure)),
        )

    def _report(self, integration: Integration, failure: SendFailure, *, is_trial: bool) -> None:
        # A call that our own end cut short says nothing about the provider.
        if not self._has_own_address and not self._deliverer.is_ending:
            self._send.health_reports.append(_report_health(integration, failure, self._now, is_trial=is_trial))

    def _note_call(self, integration: Integration, started: float, *, has_failed: bool) -> int:
        """Count the call, and return how many milliseconds it took."""
        milliseconds = int((time.perf_counter() - started) * 1000)
        # A call that our own end cut short says nothing about the provider.
        if not self._deliverer.is_ending:
            call = RecordedCall(integration.id, self._message.id, self._now, milliseconds, has_failed)
            self._send.calls.append(call)
        return milliseconds

    def _note_no_connection(self, failure: SendFailure) -> None:
        """The provider was not called: this says nothing about it, and the message is as it was."""
        raw = {"kind": failure.kind, "message": str(failure)}
        self._send.job.note(self._now, DetailCode.WAITS_FOR_CONNECTION, raw=raw)

    @property
    def _has_own_address(self) -> bool:
        """Whether it went to an address of the recipient's own, which tells nothing about the integration."""
        return self._message.webhook_url is not None or self._message.endpoint_id is not None

    def _forget_tokens(self, integration: Integration, tokens: Sequence[str]) -> None:
        if tokens:
            self._send.job.note(self._now, DetailCode.TOKEN_REMOVED, raw={"count": len(tokens)})
            by_provider = self._send.dead_tokens.setdefault(self._message.subscriber_id, {})
            by_provider.setdefault(integration.provider_id, set()).update(tokens)


def _passes_on(failure: SendFailure, *, is_trial: bool) -> bool:
    """Whether the next integration is tried at once; a message that may be on its way already is not passed on."""
    if failure.kind is FailureKind.PERMANENT:
        return True
    return is_trial and failure.kind is FailureKind.RETRYABLE and not failure.is_ambiguous


def _report_health(integration: Integration, failure: SendFailure, now: Millis, *, is_trial: bool) -> HealthReport:
    """A provider that answers works, unless it refuses the account; one that asks for a pause gets it."""
    pause = requested_pause(failure) if failure.kind is FailureKind.RATE_LIMITED else None
    return HealthReport(
        integration_id=integration.id,
        is_working=failure.kind is not FailureKind.RETRYABLE and not failure.is_account_refused,
        is_trial=is_trial,
        wait_until=None if pause is None else Millis(now + min(pause, MAX_PAUSE)),
    )


def _storable(text: str | None) -> str | None:
    # Servers may answer anything, and no text of PostgreSQL holds this character.
    return None if text is None else text.replace("\0", "")
