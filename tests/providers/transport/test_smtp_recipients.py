"""SMTP servers that accept a message for some recipients and refuse others."""

from collections.abc import AsyncIterator

import pytest

from clarion.clock import ManualClock
from clarion.providers.definition.result import FailureKind
from clarion.providers.sending.gateway import ProviderGateway
from tests.providers.loopback import mail_server
from tests.providers.transport.test_smtp import LOOPBACK, fail, send


@pytest.fixture
async def gateway(clock: ManualClock) -> AsyncIterator[ProviderGateway]:
    async with ProviderGateway(LOOPBACK, clock=clock) as entered:
        yield entered


async def test_a_refused_copy_does_not_fail_the_message(gateway: ProviderGateway) -> None:
    async with mail_server() as server:
        server.replies["gone@example.org"] = "550 5.1.1 No such user"
        sent = await send(gateway, server, overrides={"cc": ["gone@example.org"]})

    assert sent.raw["refused"] == {"gone@example.org": "550 5.1.1 No such user"}


@pytest.mark.parametrize("reply", ["450 4.2.0 Greylisted", "550 5.1.1 No such user"])
async def test_a_message_is_sent_if_a_copy_was_accepted_and_the_recipient_refused(
    gateway: ProviderGateway, reply: str
) -> None:
    async with mail_server() as server:
        server.replies["ada@example.org"] = reply
        sent = await send(gateway, server, overrides={"cc": ["grace@example.org"]})

    assert [one.rcpt_tos for one in server.envelopes] == [["grace@example.org"]]
    assert sent.refused == sent.raw["refused"] == {"ada@example.org": reply}


async def test_a_message_whose_recipients_are_all_refused_fails_as_its_first_recipient_does(
    gateway: ProviderGateway,
) -> None:
    async with mail_server() as server:
        server.replies |= {"ada@example.org": "550 5.1.1 No such user", "grace@example.org": "450 4.2.1 Busy"}
        failure = await fail(gateway, server, overrides={"bcc": ["grace@example.org"]})
        server.replies["ada@example.org"] = "450 4.2.0 Greylisted"
        later = await fail(gateway, server, overrides={"bcc": ["grace@example.org"]})

    assert (failure.kind, later.kind) == (FailureKind.RECIPIENT_INVALID, FailureKind.RETRYABLE)
    assert failure.raw["refused"] == {
        "ada@example.org": "550 5.1.1 No such user",
        "grace@example.org": "450 4.2.1 Busy",
    }
