"""The carrier: hands messages to providers, and keeps what is secret out of what comes back."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from clarion.clock import Clock, SystemClock
from clarion.providers import builtin
from clarion.providers.base import FailureKind, Outgoing, SendFailure, Sent, WebSender
from clarion.providers.chat import slack
from clarion.providers.egress import EgressGuard
from clarion.providers.email.mime import write_letter
from clarion.providers.email.nodemailer import read_account
from clarion.providers.email.smtp import SmtpPool
from clarion.providers.web import WebClient

WEB_SENDERS: Mapping[str, WebSender] = {"slack": slack.SENDER}

Send = Callable[[Outgoing], Awaitable[Sent]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a provider may take for one message."""

    web_seconds: float = 15
    smtp_seconds: float = 30


class Carrier:
    """One per process; holds the connections to providers while it is entered."""

    def __init__(self, egress: EgressGuard, *, patience: Patience | None = None, clock: Clock | None = None) -> None:
        self._egress = egress
        self._patience = patience or Patience()
        self._clock = clock or SystemClock()
        self._smtp = SmtpPool(egress, seconds=self._patience.smtp_seconds, clock=self._clock)
        self._web: WebClient | None = None
        self._senders: dict[str, Send] = {
            "svc-email": builtin.send,
            "svc-sms": builtin.send,
            "nodemailer": self._send_mail,
            "emailjs": self._send_mail,
            **{provider_id: self._web_send(sender) for provider_id, sender in WEB_SENDERS.items()},
        }

    async def __aenter__(self) -> Self:
        self._web = WebClient(self._egress, seconds=self._patience.web_seconds, clock=self._clock)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._smtp.close()
        if self._web is not None:
            await self._web.close()
            self._web = None

    def can_send(self, provider_id: str) -> bool:
        return provider_id in self._senders

    async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        """Hand the message over, once; raises SendFailure, in words and values without a secret."""
        send = self._senders.get(provider_id)
        if send is None:
            raise SendFailure(FailureKind.PERMANENT, f"Clarion cannot send through '{provider_id}' yet")
        redact = _redaction(outgoing)
        try:
            sent = await send(outgoing)
        except SendFailure as failure:
            # The causes quote URLs and servers as they are, so they end here.
            raise SendFailure(
                failure.kind, redact(failure.message), retry_after=failure.retry_after, raw=redact(failure.raw)
            ) from None
        return Sent(provider_message_id=sent.provider_message_id, raw=redact(sent.raw))

    async def _send_mail(self, outgoing: Outgoing) -> Sent:
        account = read_account(outgoing.credentials)
        return await self._smtp.send(account, write_letter(outgoing, self._clock.now()))

    def _web_send(self, sender: WebSender) -> Send:
        async def send(outgoing: Outgoing) -> Sent:
            if self._web is None:
                raise RuntimeError("The carrier is entered before it sends")
            return sender.read(await self._web.post(sender.request(outgoing)))

        return send


# Credentials that people put into sentences about the account; every other one is kept out.
_NOT_SECRET = frozenset({"host", "port", "from", "senderName", "user", "domain", "region"})
_URLS = frozenset({"webhookUrl", "baseUrl", "redirectUrl"})


def _redaction(outgoing: Outgoing) -> Callable[[Any], Any]:
    """Replaces every secret of the account and the path of every webhook, wherever a text holds one."""
    secrets = sorted(filter(None, _secrets(outgoing)), key=len, reverse=True)

    def redact(value: Any) -> Any:
        if isinstance(value, str):
            for secret in secrets:
                value = value.replace(secret, "***")
            return value
        if isinstance(value, Mapping):
            return {name: redact(inner) for name, inner in value.items()}
        return [redact(inner) for inner in value] if isinstance(value, list | tuple) else value

    return redact


def _secrets(outgoing: Outgoing) -> Iterator[str]:
    yield from _secrets_of_url(outgoing.webhook_url or "")
    for name, value in outgoing.credentials.items():
        if name in _URLS:
            yield from _secrets_of_url(str(value))
        elif isinstance(value, str) and name not in _NOT_SECRET:
            yield value


def _secrets_of_url(url: str) -> Iterable[str]:
    """The whole path, and those of its parts that look like keys rather than words."""
    _, _, path = url.partition("://")[2].partition("/")
    parts = [part for part in re.split(r"[/?&=#]", path) if len(part) >= 8 and not re.fullmatch(r"[a-z-]{1,15}", part)]
    return {path, unquote(path), *parts, *map(unquote, parts)} if len(path) > 1 else parts
