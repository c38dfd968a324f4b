"""Contract cases of SMTP providers, and a fake server."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from yarl import URL

from clarion.clock import ManualClock
from clarion.providers.definition.result import FailureKind
from clarion.providers.sending.gateway import ProviderGateway, Timeouts
from clarion.providers.transport.egress import EgressGuard
from tests.providers.contract.case import NOW
from tests.providers.loopback import PASSWORD, MailServer, mail_server


class SmtpCase(Struct, frozen=True, kw_only=True):
    id: str
    credentials: Mapping[str, Any]
    certificate_for: str = ""
    """The host in the server's certificate, for providers that require TLS."""


_ACCOUNT = {
    "host": "smtp.example.com",
    "port": "587",
    "user": "clarion",
    "password": PASSWORD,
    "from": "news@example.com",
    "senderName": "Doe, Jörg",
    # The test server has no TLS.
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


# The server's reply to the recipient, the content or the login, and its expected classification.
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
    """Start a server that accepts the password of the case, and a gateway that sends all e-mails to it."""
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
