"""Slack: a message to the incoming webhook of a subscriber's channel."""

from collections.abc import Mapping
from typing import Any

from clarion.providers.base import Answer, FailureKind, Outgoing, Request, SendFailure, Sent, WebSender

# Where to send is the subscriber's to say: a trigger must not lead the message elsewhere.
_NOT_OF_THE_BODY = ("webhookUrl", "_passthrough")


def request(outgoing: Outgoing) -> Request:
    if not outgoing.webhook_url:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no webhook URL for Slack")
    overrides = {name: value for name, value in outgoing.overrides.items() if name not in _NOT_OF_THE_BODY}
    return Request(url=outgoing.webhook_url, body={"text": outgoing.content} | overrides | _passthrough(outgoing))


def _passthrough(outgoing: Outgoing) -> dict[str, Any]:
    given = outgoing.overrides.get("_passthrough")
    body = given.get("body") if isinstance(given, Mapping) else None
    return dict(body) if isinstance(body, Mapping) else {}


def read(answer: Answer) -> Sent:
    raw = {"status": answer.status, "body": answer.text[:1_000]}
    if 200 <= answer.status < 300:
        return Sent(provider_message_id=answer.headers.get("x-slack-req-id"), raw=raw)
    sentence = f"Slack answered {answer.status}: {answer.text[:300].strip() or 'no text'}"
    raise SendFailure(_kind(answer.status), sentence, retry_after=answer.retry_after, raw=raw)


def _kind(status: int) -> FailureKind:
    if status == 429:
        return FailureKind.RATE_LIMITED
    # 403, 404 and 410 say that the webhook is gone, 400 that it will never take this message.
    return FailureKind.RETRYABLE if status >= 500 or status in (408, 425) else FailureKind.PERMANENT


SENDER = WebSender(request=request, read=read)
