"""Providers over SMTP: their accounts, and a server that plays them."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yarl import URL

from clarion.clock import ManualClock
from clarion.providers.definition.result import FailureKind
from clarion.providers.sending.gateway import ProviderGateway, Timeouts
from clarion.providers.transport.egress import EgressGuard
from tests.providers.contract.case import NOW
from tests.providers.loopback import PASSWORD, MailServer, mail_server


@dataclass(frozen=True, kw_only=True)
class SmtpCase:
    id: str
    credentials: Mapping[str, Any]
    certificate_for: str = ""
    """The host whose certificate the server shows, for providers that insist on encryption."""


_ACCOUNT = {
    "host": "smtp.example.com",
    "port": "587",
    "user": "clarion",
    "password": PASSWORD,
    "from": "news@example.com",
    "senderName": "Doe, Jörg",
    # The server of these tests speaks openly, as one inside a company may.
    "ignoreTls": True,
}

SMTP_CASES = (
    SmtpCase(id="nodemailer", credentials=_ACCOUNT),
    SmtpCase(id="emailjs", credentials=_ACCOUNT),
    SmtpCase(
        id="outlook365",
        credentials={"from": "news@example.com", "senderName": "Doe, Jörg", "password": PASSWORD},
        certificate_for="smtp.office365.com",
    ),
)


# What the server says to the address, to the letter or to the log-in, and what that must be taken for.
SMTP_FAULTS: Mapping[str, tuple[str, str, FailureKind]] = {
    "400": ("DATA", "554 5.7.1 Message refused", FailureKind.PERMANENT),
    "400 too big": ("DATA", "552 5.3.4 Message too big", FailureKind.PERMANENT),
    "401": ("AUTH", "wrong password", FailureKind.PERMANENT),
    "404": ("ada@example.org", "550 5.1.2 No such domain", FailureKind.RECIPIENT_INVALID),
    "429": ("ada@example.org", "450 4.2.0 Try again later", FailureKind.RETRYABLE),
    "500": ("DATA", "451 4.3.0 Local error", FailureKind.RETRYABLE),
    "time-out": ("DATA", "silence", FailureKind.RETRYABLE),
    "reset": ("DATA", "hang up", FailureKind.RETRYABLE),
    "malformed": ("DATA", "yes, thank you", FailureKind.RETRYABLE),
    "invalid recipient": ("ada@example.org", "550 5.1.1 No such user", FailureKind.RECIPIENT_INVALID),
    "address that is none": ("ada@example.org", "553 5.1.3 Bad address", FailureKind.RECIPIENT_INVALID),
}


@asynccontextmanager
async def play_mail(
    case: SmtpCase, certificate: Path | None = None, *, seconds: float = 30
) -> AsyncIterator[tuple[MailServer, ProviderGateway]]:
    """A server that takes the case's password, and a carrier whose letters all end there."""
    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    async with mail_server(log_in=True, tls=context) as server:

        def rewrite_url(url: URL) -> URL:
            return url.with_host("127.0.0.1").with_port(server.port)

        guard = EgressGuard(["127.0.0.0/8"])
        async with ProviderGateway(
            guard, timeouts=Timeouts(smtp_seconds=seconds), clock=ManualClock(NOW), rewrite_url=rewrite_url
        ) as gateway:
            yield server, gateway
