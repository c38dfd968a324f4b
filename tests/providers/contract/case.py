"""A contract case: the credentials, answers, errors and reports of one provider."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.receipts import Callback
from clarion.providers.definition.result import FailureKind
from clarion.providers.registry import PROVIDERS
from clarion.secret import Secret
from clarion.vocabulary import Channel
from tests.providers.contract.vendor import Received, Reply

NOW = Millis(1_767_225_600_000)
"""The time of all sends: the start of 2026."""
MESSAGE_ID = "019b7a3e-7c00-7000-8000-00000000c0de"
RECEIPTS_URL = "https://clarion.example/receipts/1?token=canary-receipts-token"
REQUIRED_FAULTS = frozenset({"400", "401", "404", "429", "500", "invalid recipient"})

PICTURE = "iVBORw0KGgo="
CONTENTS: Mapping[Channel, Mapping[str, Any]] = {
    Channel.EMAIL: {
        "content": "<h1>Grüße &amp; mehr</h1><p>Read <a href='https://example.com'>this</a></p>",
        "subject": "Grüße 🎉",
        "email": "ada@example.org",
        "overrides": {
            "cc": ["Grace <grace@example.org>"],
            "bcc": ["hidden@example.org"],
            "replyTo": "help@example.com",
            "headers": {"X-Campaign": "spring"},
            "attachments": [
                {"name": "notes.txt", "mime": "text/plain", "file": "SGVsbG8="},
                {"name": "logo.png", "mime": "image/png", "file": PICTURE, "cid": "logo"},
            ],
        },
    },
    Channel.SMS: {"content": "Grüße: 5 € + 1 🎉", "phone": "+44 20 7946 0000", "receipts_url": RECEIPTS_URL},
    Channel.PUSH: {
        "content": "Your order is on its way",
        "title": "Order 7",
        "device_tokens": ("device-canary-one", "device-canary-two"),
        "data": {"orderId": 7, "url": "https://example.com/7"},
        "payload": {"orderId": 6, "parcels": [{"id": 1}], "attachments": [{"name": "bill.pdf", "file": "JVBERi0="}]},
        "overrides": {"badge": 3, "sound": "ping.wav", "image": "https://example.com/7.png"},
    },
    Channel.CHAT: {"content": "Build *7* passed & <https://example.com|is here>", "phone": "+442079460000"},
    Channel.TOOL: {"content": "Build 7 failed\n\nTwo tests of *billing* did not pass."},
}


class Fault(Struct, frozen=True, kw_only=True):
    """An error answer of the provider, and its expected classification."""

    reply: Reply
    kind: FailureKind
    retry_after: int | None = None


def fault(kind: FailureKind, status: int, body: Any = "", *, wait: int | None = None, **headers: str) -> Fault:
    """`wait` is sent as Retry-After; other headers are named with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    retry_after = {} if wait is None else {"Retry-After": str(wait)}
    return Fault(reply=Reply(status=status, body=body, headers=named | retry_after), kind=kind, retry_after=wait)


def _without_signature(callback: Callback) -> Callback:
    return replace(callback, headers={}, query={})


@dataclass(frozen=True, kw_only=True)
class Report:
    """A webhook call of the provider, and the expected fields of its receipts."""

    body: bytes = b""
    expected: Sequence[Mapping[str, Any]]
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"
    forge: Callable[[Callback], Callback] = _without_signature
    """Turns the call into a forged one."""

    @property
    def callback(self) -> Callback:
        return Callback(
            method=self.method,
            url=RECEIPTS_URL,
            query={"token": "canary-receipts-token", **self.query},
            headers=self.headers,
            body=self.body,
            received_at=NOW,
            token=Secret("canary-receipts-token"),
        )


@dataclass(frozen=True, kw_only=True)
class Case:
    """The test data of one provider."""

    id: str
    credentials: Mapping[str, Any]
    success: Reply
    message_id: str
    faults: Mapping[str, Fault]
    outgoing: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the message that differ from CONTENTS."""
    before: Mapping[str, Reply] = field(default_factory=dict)
    """Answers to calls before the one that sends, by a part of their URL."""
    reports: Sequence[Report] = ()
    any_body_is_success: bool = False
    """For providers that signal success by the status only."""
    masks: Mapping[str, str] = field(default_factory=dict)
    """Patterns in the golden request that vary, such as signatures with random numbers, and their replacements."""
    opens: str = ""
    """The path of a base64 member that is decoded in the golden request."""

    @property
    def channel(self) -> Channel:
        return PROVIDERS[self.id].channel

    def make_outgoing(self, **fields: Any) -> Outgoing:
        base = {"message_id": MESSAGE_ID, "channel": self.channel, "credentials": dict(self.credentials)}
        return Outgoing(**base | dict(CONTENTS[self.channel]) | dict(self.outgoing) | fields)

    def answers(self, reply: Reply | Callable[[Received], Reply | None]) -> Callable[[Received], Reply | None]:
        """Return a handler that gives this answer to the call that sends."""

        def answer(request: Received) -> Reply | None:
            for part, prepared in self.before.items():
                if part in request.url:
                    return prepared
            return reply(request) if callable(reply) else reply

        return answer
