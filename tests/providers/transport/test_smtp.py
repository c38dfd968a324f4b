"""Sending e-mail over SMTP: the content, the classification of errors, and reuse of connections."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from clarion.clock import MINUTE, ManualClock
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.providers.email.smtp_account import SmtpAccount
from clarion.providers.sending.gateway import ProviderGateway, Timeouts
from clarion.providers.transport.egress import EgressGuard
from clarion.providers.transport.smtp import can_send_password_unencrypted
from tests.providers.certificates import make_certificate
from tests.providers.loopback import PASSWORD, MailServer, mail_server, make_outgoing

LOOPBACK = EgressGuard(["127.0.0.0/8"])


@pytest.fixture
async def gateway(clock: ManualClock) -> AsyncIterator[ProviderGateway]:
    async with ProviderGateway(LOOPBACK, clock=clock) as entered:
        yield entered


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost, with its key, that no system trusts."""
    return make_certificate(tmp_path_factory.mktemp("tls"), host="localhost")


@pytest.fixture(scope="module")
def authority(certificate: Path) -> str:
    return certificate.read_text()


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def send(gateway: ProviderGateway, server: MailServer, provider: str = "nodemailer", **fields: Any) -> Sent:
    given = fields.pop("credentials", {})
    credentials = {"host": "127.0.0.1", "port": str(server.port), "from": "news@example.com"} | given
    return await gateway.send(
        provider, make_outgoing(**{"email": "ada@example.org", "subject": "Hi", "credentials": credentials} | fields)
    )


async def fail(gateway: ProviderGateway, server: MailServer, **fields: Any) -> SendFailure:
    with pytest.raises(SendFailure) as failure:
        await send(gateway, server, **fields)
    return failure.value


@pytest.mark.parametrize("provider", ["nodemailer", "emailjs"])
async def test_a_mail_arrives_with_its_headers(gateway: ProviderGateway, provider: str) -> None:
    async with mail_server() as server:
        sent = await send(gateway, server, provider, credentials={"senderName": "Doe, Jörg"}, subject="Grüße 🎉")

    mail = server.last_mail()
    assert str(mail["From"]) == '"Doe, Jörg" <news@example.com>'
    assert (str(mail["To"]), str(mail["Subject"])) == ("ada@example.org", "Grüße 🎉")
    assert mail["Message-ID"] == sent.provider_message_id == "<6601f5a1c0ffee@example.com>"
    assert mail["Date"] == "Thu, 01 Jan 2026 00:00:00 +0000"
    assert sent.raw == {"answer": "Queued as 42", "refused": {}}


async def test_html_has_a_text_alternative(gateway: ProviderGateway) -> None:
    async with mail_server() as server:
        await send(gateway, server, content="<h1>Hi &amp; bye</h1><p>Größe: <b>9</b></p>")

    text, html = server.last_mail().iter_parts()
    assert (text.get_content_type(), html.get_content_type()) == ("text/plain", "text/html")
    assert text.get_payload(decode=True) == "Hi & bye\r\n\r\nGröße: 9\r\n".encode()
    assert html.get_payload(decode=True) == "<h1>Hi &amp; bye</h1><p>Größe: <b>9</b></p>\r\n".encode()
    assert server.envelopes[-1].original_content is not None
    assert server.envelopes[-1].original_content.isascii()


async def test_content_without_markup_is_plain_text(gateway: ProviderGateway) -> None:
    async with mail_server() as server:
        await send(gateway, server, content="1 < 2\n.\nand > 0")

    assert server.last_mail().get_content_type() == "text/plain"
    assert server.last_mail().get_payload(decode=True) == b"1 < 2\r\n.\r\nand > 0\r\n"


async def test_overrides_set_copies_reply_to_headers_and_sender(gateway: ProviderGateway) -> None:
    link = f"<https://example.com/{'u' * 100}>"
    overrides = {
        "cc": "grace@example.org, Alan <alan@example.org>",
        "bcc": ["hidden@example.org"],
        "replyTo": "help@example.com",
        "headers": {"List-Unsubscribe": link, "X-Campaign": 7},
        "from": "other@example.net",
        "senderName": "Other",
    }
    async with mail_server() as server:
        await send(gateway, server, overrides=overrides, credentials={"senderName": "News"})

    mail, envelope = server.last_mail(), server.envelopes[-1]
    assert envelope.rcpt_tos == ["ada@example.org", "grace@example.org", "alan@example.org", "hidden@example.org"]
    assert envelope.mail_from == "other@example.net"
    assert envelope.original_content is not None
    assert b"hidden" not in envelope.original_content
    assert f"List-Unsubscribe: {link}".encode() in envelope.original_content
    assert (mail["Cc"], mail["Reply-To"]) == ("grace@example.org, Alan <alan@example.org>", "help@example.com")
    assert (mail["From"], mail["X-Campaign"]) == ("Other <other@example.net>", "7")


async def test_line_breaks_inject_no_headers(gateway: ProviderGateway) -> None:
    evil = "a\r\nBcc: victim@example.org\r\n\r\nbody\u2028\x85x"
    async with mail_server() as server:
        await send(
            gateway,
            server,
            subject=evil,
            overrides={"senderName": evil, "headers": {"X-Evil": evil, "Reply-To": "a@b"}},
        )

    mail = server.last_mail()
    assert mail["Bcc"] is None
    assert set(mail.keys()) == {
        *("From", "To", "Subject", "Date", "Message-ID", "X-Evil", "Reply-To"),
        *("Content-Type", "Content-Transfer-Encoding", "MIME-Version"),
    }
    assert server.envelopes[-1].rcpt_tos == ["ada@example.org"]


@pytest.mark.parametrize("name", ["Bcc", "From", "content-type", "X-Bad:", "X\r\nBcc", "", "Subject"])
async def test_reserved_headers_cannot_be_overridden(gateway: ProviderGateway, name: str) -> None:
    async with mail_server() as server:
        failure = await fail(gateway, server, overrides={"headers": {name: "x"}})

    assert (failure.kind, server.connections) == (FailureKind.PERMANENT, 0)


@pytest.mark.parametrize(
    "email", [None, "", "ada", "ada@", "a@b@c", "ada@example.org, eve@example.org", "ada@x>\r\nRCPT TO:<eve@x"]
)
async def test_an_invalid_address_is_an_invalid_recipient(gateway: ProviderGateway, email: str | None) -> None:
    async with mail_server() as server:
        failure = await fail(gateway, server, email=email)

    assert (failure.kind, server.connections) == (FailureKind.RECIPIENT_INVALID, 0)


@pytest.mark.parametrize("overrides", [{"cc": "nobody"}, {"bcc": 5}, {"replyTo": [None]}, {"from": "x"}])
async def test_the_error_names_an_override_with_an_invalid_address(
    gateway: ProviderGateway, overrides: dict[str, Any]
) -> None:
    async with mail_server() as server:
        failure = await fail(gateway, server, overrides=overrides)

    assert failure.kind is FailureKind.PERMANENT
    assert next(iter(overrides)) in failure.message


async def test_international_addresses_are_supported(gateway: ProviderGateway) -> None:
    async with mail_server() as server:
        await send(gateway, server, email="jörg@bücher.example")
        await send(gateway, server, email="ada@bücher.example")

    assert [one.rcpt_tos for one in server.envelopes] == [["jörg@xn--bcher-kva.example"], ["ada@xn--bcher-kva.example"]]


async def test_a_text_that_cannot_be_encoded_is_a_permanent_failure(gateway: ProviderGateway) -> None:
    async with mail_server() as server:
        failure = await fail(gateway, server, content="half a \ud83d character")

    assert failure.kind is FailureKind.PERMANENT


@pytest.mark.parametrize(
    ("command", "reply", "kind"),
    [
        ("ada@example.org", "450 4.2.1 Mailbox busy", FailureKind.RETRYABLE),
        ("ada@example.org", "451 4.7.1 Greylisted", FailureKind.RETRYABLE),
        ("ada@example.org", "550 5.1.1 No such user", FailureKind.RECIPIENT_INVALID),
        ("ada@example.org", "551 User not local", FailureKind.RECIPIENT_INVALID),
        ("ada@example.org", "553 Not a mailbox name", FailureKind.RECIPIENT_INVALID),
        ("ada@example.org", "554 5.1.1 Unknown", FailureKind.RECIPIENT_INVALID),
        ("ada@example.org", "554 5.7.1 Relay denied", FailureKind.PERMANENT),
        ("DATA", "421 4.3.2 Going down", FailureKind.RETRYABLE),
        ("DATA", "452 4.3.1 Full", FailureKind.RETRYABLE),
        ("DATA", "550 5.7.1 Spam", FailureKind.PERMANENT),
        ("DATA", "552 5.3.4 Too big", FailureKind.PERMANENT),
    ],
)
async def test_a_failure_has_the_reply_of_the_server(
    gateway: ProviderGateway, command: str, reply: str, kind: FailureKind
) -> None:
    async with mail_server() as server:
        server.replies[command] = reply
        failure = await fail(gateway, server)

    assert (failure.kind, failure.message) == (kind, reply)
    assert failure.raw == {"code": int(reply[:3]), "answer": reply[4:]}


async def test_the_password_is_used_if_the_server_offers_authentication(gateway: ProviderGateway) -> None:
    async with mail_server(log_in=True) as closed, mail_server() as unguarded:
        for server in (closed, unguarded):
            await send(gateway, server, credentials={"user": "ada", "password": PASSWORD})

    assert (closed.logins, unguarded.logins) == (["ada"], [])
    assert len(closed.envelopes) == len(unguarded.envelopes) == 1


async def test_a_wrong_password_is_a_permanent_failure_and_is_redacted(gateway: ProviderGateway) -> None:
    async with mail_server(log_in=True) as server:
        failure = await fail(gateway, server, credentials={"user": "ada", "password": "canary-wrong-81bc"})
        server.replies["ada@example.org"] = f"550 {PASSWORD} is your password"
        echoed = await fail(gateway, server, credentials={"user": "ada", "password": PASSWORD})

    assert failure.kind is FailureKind.PERMANENT
    assert failure.message.startswith("535 ")
    assert "canary-wrong" not in f"{failure} {failure.raw}"
    assert PASSWORD not in f"{echoed} {echoed.raw}"


async def test_a_server_that_requires_authentication_refuses_without_it(gateway: ProviderGateway) -> None:
    async with mail_server(log_in=True) as server:
        failure = await fail(gateway, server)

    assert (failure.kind, failure.message[:3]) == (FailureKind.PERMANENT, "530")


async def test_connections_are_reused_by_the_same_account_only(gateway: ProviderGateway) -> None:
    async with mail_server(log_in=True) as server:
        for _ in range(3):
            await send(gateway, server, credentials={"user": "ada", "password": PASSWORD})
        await fail(gateway, server, credentials={"user": "ada", "password": "guess"})

    assert (server.connections, len(server.envelopes)) == (2, 3)


async def test_a_connection_is_reused_after_a_refusal(gateway: ProviderGateway) -> None:
    async with mail_server() as server:
        server.replies["gone@example.org"] = "550 5.1.1 No such user"
        await fail(gateway, server, email="gone@example.org")
        await send(gateway, server)

    assert (server.connections, server.envelopes[-1].rcpt_tos) == (1, ["ada@example.org"])


async def test_an_idle_connection_that_the_server_closed_is_replaced(gateway: ProviderGateway) -> None:
    async with mail_server() as server:
        await send(gateway, server)
        server.hang_up()
        await send(gateway, server)

    assert (server.connections, len(server.envelopes)) == (2, 2)


async def test_concurrent_messages_use_separate_connections_which_are_reused(gateway: ProviderGateway) -> None:
    async with mail_server() as server:
        await asyncio.gather(*(send(gateway, server, message_id=f"id{number}") for number in range(10)))
        assert server.connections == 10
        await asyncio.gather(*(send(gateway, server) for _ in range(10)))

    assert (server.connections, len(server.envelopes)) == (10, 20)


async def test_an_idle_connection_is_closed(gateway: ProviderGateway, clock: ManualClock) -> None:
    async with mail_server() as old, mail_server() as new:
        await send(gateway, old)
        clock.move(2 * MINUTE)
        await send(gateway, new)
        await send(gateway, old)

    assert (old.connections, new.connections) == (2, 1)


async def test_a_server_that_disconnects_during_a_send_is_retryable(gateway: ProviderGateway) -> None:
    async with mail_server() as server:
        server.replies["DATA"] = "hang up"
        failure = await fail(gateway, server)

    assert (failure.kind, server.connections) == (FailureKind.RETRYABLE, 1)


async def test_a_server_that_refuses_connections_is_retryable(gateway: ProviderGateway) -> None:
    async with mail_server() as server:
        pass
    failure = await fail(gateway, server)

    assert failure.kind is FailureKind.RETRYABLE


async def test_a_server_that_does_not_answer_times_out(clock: ManualClock) -> None:
    async def be_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(be_silent, "127.0.0.1", 0)
    silent = MailServer(port=server.sockets[0].getsockname()[1])
    async with server, ProviderGateway(LOOPBACK, timeouts=Timeouts(smtp_seconds=0.05), clock=clock) as gateway:
        failure = await fail(gateway, silent)

    assert (failure.kind, failure.message) == (FailureKind.RETRYABLE, "127.0.0.1 did not answer within 0.05 seconds")


@pytest.mark.parametrize("implicit", [True, False])
async def test_implicit_tls_and_starttls(
    gateway: ProviderGateway, tls: ssl.SSLContext, authority: str, implicit: bool
) -> None:
    trust = {"host": "localhost", "secure": implicit, "tlsOptions": {"ca": authority}}
    async with mail_server(tls=tls, implicit=implicit, log_in=True) as server:
        await send(gateway, server, credentials={"user": "ada", "password": PASSWORD} | trust)
        assert server.sessions[-1].transport is not None
        assert server.sessions[-1].transport.get_extra_info("sslcontext") is not None


@pytest.mark.parametrize("implicit", [True, False])
async def test_an_untrusted_certificate_is_refused(
    gateway: ProviderGateway, tls: ssl.SSLContext, implicit: bool
) -> None:
    async with mail_server(tls=tls, implicit=implicit) as server:
        failure = await fail(gateway, server, credentials={"host": "localhost", "secure": implicit})
        options = {"rejectUnauthorized": False}
        await send(gateway, server, credentials={"host": "localhost", "secure": implicit, "tlsOptions": options})

    assert (failure.kind, failure.message) == (
        FailureKind.PERMANENT,
        "The certificate of localhost cannot be trusted",
    )
    assert len(server.envelopes) == 1


async def test_a_certificate_for_another_name_is_refused(
    gateway: ProviderGateway, tls: ssl.SSLContext, authority: str
) -> None:
    options = {"ca": authority}
    async with mail_server(tls=tls) as server:
        failure = await fail(gateway, server, credentials={"host": "127.0.0.1", "tlsOptions": options})
        await send(gateway, server, credentials={"tlsOptions": options | {"servername": "localhost"}})

    assert "certificate" in failure.message


async def test_tls_options_may_be_the_text_of_an_object_with_a_list_of_authorities(
    gateway: ProviderGateway, tls: ssl.SSLContext, authority: str
) -> None:
    options = json.dumps({"ca": [authority], "minVersion": "TLSv1.3"})
    async with mail_server(tls=tls) as server:
        await send(gateway, server, credentials={"host": "localhost", "tlsOptions": options})

        assert server.sessions[-1].transport is not None
        assert server.sessions[-1].transport.get_extra_info("ssl_object").version() == "TLSv1.3"


async def test_an_older_tls_than_the_options_allow_is_refused(
    gateway: ProviderGateway, tls: ssl.SSLContext, authority: str
) -> None:
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    async with mail_server(tls=tls) as server:
        account = {"host": "localhost", "requireTls": True, "tlsOptions": {"ca": authority, "minVersion": "TLSv1.3"}}
        await fail(gateway, server, credentials=account)

    assert server.envelopes == []


async def test_required_tls_that_is_not_offered_fails_and_ignored_tls_is_not_used(
    gateway: ProviderGateway, tls: ssl.SSLContext
) -> None:
    async with mail_server() as plain, mail_server(tls=tls) as offering:
        failure = await fail(gateway, plain, credentials={"requireTls": True})
        await send(gateway, offering, credentials={"ignoreTls": True})

    assert failure.kind is FailureKind.PERMANENT
    assert (len(plain.envelopes), len(offering.envelopes)) == (0, 1)


@pytest.mark.parametrize(
    "credentials", [{"host": ""}, {"port": "0"}, {"port": "x"}, {"tlsOptions": {"ca": "nonsense"}}, {"tlsOptions": "{"}]
)
async def test_an_invalid_account_is_a_permanent_failure(gateway: ProviderGateway, credentials: dict[str, Any]) -> None:
    async with mail_server() as server:
        failure = await fail(gateway, server, credentials=credentials)

    assert (failure.kind, server.connections) == (FailureKind.PERMANENT, 0)


def test_a_password_is_sent_unencrypted_only_over_loopback_or_if_tls_is_turned_off() -> None:
    careful, careless = SmtpAccount(host="mail", port=25), SmtpAccount(host="mail", port=25, start_tls=False)

    assert can_send_password_unencrypted(careful, ip_address("127.0.0.1"))
    assert can_send_password_unencrypted(careless, ip_address("10.0.0.5"))
    assert not can_send_password_unencrypted(careful, ip_address("10.0.0.5"))
