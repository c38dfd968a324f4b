"""Makes the requests of HTTP steps, outside any transaction, and decides what each comes to."""

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from clarion.clock import SECOND, Clock, Millis, iso_text
from clarion.engine.steps.http_request import NO_ANSWER
from clarion.ids import id_text
from clarion.jobs.details import DetailCode
from clarion.jobs.model import ATTEMPTS_PER_DRIVE
from clarion.providers.definition.request import Encoding, ProviderCall, ProviderRequest, encode_call
from clarion.providers.definition.result import (
    FailureKind,
    ProviderAnswer,
    SendFailure,
    classify_status,
    mark_ambiguous,
)
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.sending.redaction import make_text_redactor
from clarion.providers.transport.calls import MAX_ANSWER
from clarion.sending.requests.model import ClaimedRequest, HostReport
from clarion.sending.retry import is_retryable, next_attempt_at, put_off_until, requested_pause, uses_attempt
from clarion.webhooks.posting import sign
from clarion.workflows.http_requests import HttpRequest
from clarion.workflows.payloads import list_violations
from clarion.workflows.schema_cost import PayloadTooCostly, SchemaProblem

MAX_KEPT_HEADERS: Final = 8 << 10
"""Characters of the headers of an answer that later steps see."""
MAX_QUOTE: Final = 1_000
"""Characters of a body that execution details show."""
_MAX_SHOWN_VIOLATIONS: Final = 10
MAX_PAUSE: Final = Millis(15 * 60 * SECOND)
"""The longest pause of a host; the request that was refused may wait longer."""
_NOT_KEPT: Final = frozenset({"set-cookie", "connection", "keep-alive", "transfer-encoding"})
"""Headers that are of no use to a step, or are secrets."""

log = logging.getLogger(__name__)


class RequestCaller:
    """Calls URLs for one process."""

    def __init__(self, gateway: ProviderGateway, clock: Clock) -> None:
        self._gateway = gateway
        self._clock = clock
        self.is_ending = False
        """Whether the process ends: no call is begun, and one that is cut short may have been read."""

    async def perform(self, claimed: ClaimedRequest) -> bool:
        """Make the request and decide what the job comes to; returns whether there is anything to record."""
        now = self._clock.now()
        if claimed.request is None:
            _fail(claimed, SendFailure(FailureKind.PERMANENT, "The request is stored no more"), now)
            return True
        if self.is_ending or now >= claimed.lease_until:
            # Another worker may be making it, or will.
            return False
        started = time.perf_counter()
        try:
            answer = await self._call(claimed, claimed.request, now)
        except SendFailure as failure:
            claimed.seconds = time.perf_counter() - started
            if not self.is_ending:
                # A call that our own end cut short says nothing about the host.
                _report(claimed, failure, now)
            _fail(claimed, _redacted(failure, claimed.request), now)
        else:
            claimed.seconds = time.perf_counter() - started
            receive(claimed, claimed.request, answer, now)
        return True

    async def _call(self, claimed: ClaimedRequest, request: HttpRequest, now: Millis) -> ProviderAnswer:
        call = make_call(request, claimed.job.id, claimed.signing_keys, now)
        call = msgspec.structs.replace(call, can_start=lambda: self._clock.now() < claimed.lease_until)
        try:
            return await self._gateway.call_encoded(call)
        except asyncio.CancelledError:
            if not self.is_ending:
                raise
            message = "Clarion was stopped before the answer came"
            raise mark_ambiguous(SendFailure(FailureKind.RETRYABLE, message)) from None


def receive(claimed: ClaimedRequest, request: HttpRequest, answer: ProviderAnswer, now: Millis) -> None:
    """Decide what the job comes to with an answer."""
    if answer.is_cut:
        failure = SendFailure(FailureKind.PERMANENT, f"The answer has {MAX_ANSWER} bytes or more")
        _report(claimed, failure, now)
        _fail(claimed, failure, now, answer.status)
        return
    redact = make_text_redactor(request.secrets)
    outputs = read_answer(answer, redact)
    if not answer.is_success:
        refusal = _refusal(answer, redact)
        _report(claimed, refusal, now)
        _fail(claimed, refusal, now, answer.status, outputs)
        return
    if claimed.is_host_known:
        claimed.report = HostReport(host=claimed.host, is_working=True)
    _note_answer(claimed, request, outputs, now)
    violations = find_violations(claimed.step.controls, outputs["body"])
    if violations and claimed.step.controls.get("enforceSchemaValidation"):
        raw = {"errors": violations, "responseBody": _quote(outputs["body"])}
        claimed.job.note(now, DetailCode.ANSWER_REFUSED, raw=raw)
        claimed.fail({**outputs, "ok": False})
        return
    if violations:
        claimed.job.note(now, DetailCode.ANSWER_UNFIT, raw={"errors": violations})
    claimed.complete(outputs)


def _report(claimed: ClaimedRequest, failure: SendFailure, now: Millis) -> None:
    if failure.kind is FailureKind.NO_CONNECTION:
        # Nothing was called.
        return
    pause = requested_pause(failure) if failure.kind is FailureKind.RATE_LIMITED else None
    is_working = failure.kind is not FailureKind.RETRYABLE
    if is_working and pause is None and not claimed.is_host_known:
        return
    claimed.report = HostReport(
        host=claimed.host,
        is_working=is_working,
        is_trial=claimed.is_trial,
        wait_until=None if pause is None else Millis(now + min(pause, MAX_PAUSE)),
    )


def make_call(request: HttpRequest, job_id: bytes, keys: list[bytes], now: Millis) -> ProviderCall:
    """Encode a request, signed by the scheme of webhooks; a repeated one has the same `Idempotency-Key`."""
    content = (request.body or "").encode()
    named = {"webhook-id": request.key or id_text(job_id), "webhook-timestamp": str(now // SECOND)}
    given = {name.lower() for name, _ in request.headers}
    headers = {} if "idempotency-key" in given else {"Idempotency-Key": named["webhook-id"]}
    provider_request = ProviderRequest(
        url=request.url,
        method=request.method,
        encoding=Encoding.RAW,
        body=content,
        headers=headers | dict(request.headers),
        auth={**named, "webhook-signature": sign(named, content, keys)},
    )
    call = encode_call(provider_request)
    return msgspec.structs.replace(call, seconds=request.seconds, secrets=())


def read_answer(answer: ProviderAnswer, redact: Any) -> dict[str, Any]:
    """What later steps see of an answer."""
    body = redact(_read_body(answer.text))
    return {"ok": answer.is_success, "status": answer.status, "headers": _keep_headers(answer, redact), "body": body}


def _read_body(text: str) -> Any:
    """The body as JSON, or else as text; None: there is none."""
    if not text.strip():
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text.replace("\0", "")


def _keep_headers(answer: ProviderAnswer, redact: Any) -> dict[str, str]:
    kept: dict[str, str] = {}
    left = MAX_KEPT_HEADERS
    for name, value in answer.headers.items():
        left -= len(name) + len(value)
        if left < 0:
            break
        if name not in _NOT_KEPT:
            kept[name] = redact(value.replace("\0", ""))
    return kept


def find_violations(controls: Mapping[str, Any], body: Any) -> list[dict[str, str]]:
    """Where the body of an answer does not fit the schema of the step, if it has one."""
    schema = controls.get("responseBodySchema")
    if schema is None:
        return []
    try:
        violations = list_violations(schema, body)
    except (PayloadTooCostly, SchemaProblem) as problem:
        return [{"path": "", "message": str(problem)}]
    return [{"path": one.field, "message": one.message} for one in violations[:_MAX_SHOWN_VIOLATIONS]]


def _note_answer(claimed: ClaimedRequest, request: HttpRequest, outputs: Mapping[str, Any], now: Millis) -> None:
    raw = _describe(claimed, request) | {"statusCode": outputs["status"], "body": _quote(outputs["body"])}
    claimed.job.note(now, DetailCode.REQUEST_ANSWERED, raw=raw)


def _fail(
    claimed: ClaimedRequest,
    failure: SendFailure,
    now: Millis,
    status: int | None = None,
    outputs: dict[str, Any] | None = None,
) -> None:
    """Note why there is no good answer, and decide whether there is another attempt."""
    raw = _describe(claimed, claimed.request) | {"error": failure.message, "kind": failure.kind}
    if status is not None:
        raw["statusCode"] = status
    if failure.raw is not None:
        raw["answer"] = failure.raw
    next_at = _decide_retry(claimed, failure, now)
    if claimed.put_off_since is not None:
        raw["putOffSince"] = iso_text(claimed.put_off_since)
    if next_at is not None:
        raw["nextAttemptAt"] = iso_text(next_at)
    claimed.job.note(now, DetailCode.REQUEST_FAILED, raw=raw)
    if next_at is None:
        known = {**NO_ANSWER, "status": status} if outputs is None else outputs
        claimed.fail(known)
    else:
        claimed.retry(next_at, uses_attempt=uses_attempt(failure))


def _decide_retry(claimed: ClaimedRequest, failure: SendFailure, now: Millis) -> Millis | None:
    """When the request is made again; None: never. The pause that the server asks for counts first."""
    if not is_retryable(failure):
        return None
    shown = next_attempt_at(claimed.job.attempt, failure, now)
    if shown is None or uses_attempt(failure) or failure.kind is FailureKind.NO_CONNECTION:
        return shown
    since = claimed.put_off_since = claimed.put_off_since or now
    return put_off_until(since, shown, now, has_others=False)


def _describe(claimed: ClaimedRequest, request: HttpRequest | None) -> dict[str, Any]:
    raw: dict[str, Any] = {"attempt": claimed.job.attempt % ATTEMPTS_PER_DRIVE}
    if request is not None:
        raw |= {"method": request.method, "url": request.shown_url}
    if claimed.is_simulated:
        raw["simulated"] = True
    if claimed.seconds is not None:
        raw["milliseconds"] = int(claimed.seconds * 1000)
    return raw


def _refusal(answer: ProviderAnswer, redact: Any) -> SendFailure:
    return SendFailure(
        classify_status(answer.status),
        f"The server answered {answer.status}",
        retry_after=answer.retry_after,
        raw=redact(answer.text.replace("\0", ""))[:MAX_QUOTE] or None,
    )


def _redacted(failure: SendFailure, request: HttpRequest) -> SendFailure:
    message = make_text_redactor(request.secrets)(failure.message)
    return SendFailure(failure.kind, message, retry_after=failure.retry_after)


def _quote(body: Any) -> Any:
    """A body as details show it: whole if it is short."""
    text = body if isinstance(body, str) else msgspec.json.encode(body).decode()
    return body if len(text) <= MAX_QUOTE else f"{text[:MAX_QUOTE]}…"


def give_up(claimed: ClaimedRequest, error: Exception, now: Millis) -> None:
    """Count an attempt that failed unexpectedly as one that may succeed the next time."""
    _fail(claimed, SendFailure(FailureKind.RETRYABLE, f"{type(error).__name__} in Clarion itself"), now)


def fail_unrecorded(claimed: ClaimedRequest, now: Millis) -> None:
    """End a job as failed whose result cannot be recorded: without a result the URL would be called again."""
    claimed.report = None
    claimed.job.details.clear()
    claimed.job.note(now, DetailCode.NOT_RECORDED)
    claimed.fail(dict(NO_ANSWER))
