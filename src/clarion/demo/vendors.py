"""What the vendors of the demo answer: the words of the real ones, without any network.

The code of each provider makes its requests and reads these answers, as it would with the vendor's own.
"""

import random
import uuid
from collections.abc import Callable, Sequence
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Struct

from clarion.clock import MINUTE, ManualClock, Millis
from clarion.demo import company, people
from clarion.jsontext import json_text
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import ProviderAnswer
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.sending.http_sender import HttpSender
from clarion.providers.transport.apprise_client import AppriseClient
from clarion.providers.transport.egress import EgressGuard
from clarion.providers.transport.http_clients import HttpClients


class Outage(Struct, frozen=True):
    """A time in which a vendor answers with an error."""

    host: str
    begins: Millis
    ends: Millis


class SentThrough(Struct, frozen=True):
    """A message that a vendor took, and will report about."""

    provider_id: str
    id: str
    to: str


class _Answer(Struct, frozen=True):
    status: int
    body: Any
    headers: dict[str, str] = {}
    retry_after: int | None = None


POSTMARK_HOST = "api.postmarkapp.com"
TWILIO_HOST = "api.twilio.com"


class Vendors:
    """Answers the calls of all providers, in place of the HTTP clients of a gateway."""

    def __init__(self, clock: ManualClock, outages: Sequence[Outage], seed: int) -> None:
        self.clock = clock
        self._outages = outages
        self._random = random.Random(seed)  # noqa: S311 - not a secret
        self.sent: list[SentThrough] = []
        """What was taken since somebody last looked."""
        self._by_host: dict[str, Callable[[ProviderCall], _Answer]] = {
            POSTMARK_HOST: self._postmark,
            "api.sendgrid.com": _sendgrid,
            TWILIO_HOST: self._twilio,
            "api.onesignal.com": self._one_signal,
            "hooks.slack.com": _slack,
            company.WEBHOOK_HOST: self._webhook,
        }

    @property
    def http1(self) -> "Vendors":
        return self

    http2 = http1

    async def call(self, call: ProviderCall) -> ProviderAnswer:
        host = urlsplit(call.url).netloc
        self.clock.move(self._random.randint(60, 420))
        answer = self._find_outage(host) or self._by_host[host](call)
        return ProviderAnswer(
            status=answer.status,
            text=answer.body if isinstance(answer.body, str) else json_text(answer.body),
            headers={name.lower(): value for name, value in answer.headers.items()},
            retry_after=answer.retry_after,
            received_at=self.clock.now(),
        )

    async def check(self, url: str) -> None:
        """Every URL may be called."""

    async def close(self) -> None:
        """There are no connections."""

    def _find_outage(self, host: str) -> _Answer | None:
        now = self.clock.now()
        if not any(one.host == host and one.begins <= now < one.ends for one in self._outages):
            return None
        if host == TWILIO_HOST:
            body = {"code": 20429, "message": "Too Many Requests", "status": 429}
            return _Answer(429, body, retry_after=int(2 * MINUTE // 1000))
        return _Answer(503, "<html><body><h1>503 Service Unavailable</h1></body></html>")

    def _postmark(self, call: ProviderCall) -> _Answer:
        to = str(msgspec.json.decode(call.content)["To"])
        if to == company.INACTIVE:
            text = "You tried to send to a recipient that has been marked as inactive. Found inactive addresses: " + to
            return _Answer(422, {"ErrorCode": 406, "Message": text})
        message_id = self._new_id()
        self.sent.append(SentThrough("postmark", message_id, to))
        return _Answer(200, {"To": to, "MessageID": message_id, "ErrorCode": 0, "Message": "OK"})

    def _twilio(self, call: ProviderCall) -> _Answer:
        to = parse_qs(call.content.decode())["To"][0]
        if to in company.UNREACHABLE_NUMBERS:
            return _Answer(400, {"code": 21211, "message": f"Invalid 'To' Phone Number: {to}", "status": 400})
        sid = f"SM{self._new_id().replace('-', '')}"
        self.sent.append(SentThrough("twilio", sid, to))
        return _Answer(201, {"sid": sid, "status": "queued", "to": to, "num_segments": "1"})

    def _one_signal(self, call: ProviderCall) -> _Answer:
        tokens = msgspec.json.decode(call.content)["include_subscription_ids"]
        lost = [one for one in tokens if one == people.LOST_DEVICE]
        return _Answer(200, {"id": self._new_id(), **({"errors": {"invalid_player_ids": lost}} if lost else {})})

    def _webhook(self, _: ProviderCall) -> _Answer:
        return _Answer(200, "thanks")

    def _new_id(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))


def _sendgrid(_: ProviderCall) -> _Answer:
    text = "The provided authorization grant is invalid, expired, or revoked"
    return _Answer(401, {"errors": [{"message": text, "field": None, "help": None}]})


def _slack(call: ProviderCall) -> _Answer:
    return _Answer(404, "no_service") if call.url == people.LEFT_CHAT else _Answer(200, "ok")


class DemoGateway(ProviderGateway):
    """A gateway whose vendors are those of the demo."""

    def __init__(self, vendors: Vendors) -> None:
        guard, clock = EgressGuard(()), vendors.clock
        super().__init__(guard, clock=clock)
        apprise = AppriseClient(guard, seconds=1, clock=clock)
        self._vendors_sender = HttpSender(cast("HttpClients", vendors), apprise, self._accounts, clock)

    def _get_http_sender(self) -> HttpSender:
        return self._vendors_sender
