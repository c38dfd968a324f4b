"""Headers that would change the form of a request, and connections that cannot be opened for lack of descriptors."""

import errno
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from os import close, dup

import pytest

from clarion.clock import ManualClock, SystemClock
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.calls import find_shortage
from clarion.providers.transport.egress import EgressGuard
from clarion.providers.transport.http1 import Http1Client
from clarion.providers.transport.http2 import Http2Client
from clarion.vocabulary import Channel
from tests.providers.loopback import answering, mail_server, make_outgoing, web_server


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Let the process open nothing more."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The lowest descriptor that is free.
    free = dup(0)
    close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


async def fail_without_descriptors(provider: str, outgoing: Outgoing, clock: ManualClock) -> SendFailure:
    async with ProviderGateway(EgressGuard(["127.0.0.0/8"]), clock=clock) as gateway:
        # Opens what the first call needs.
        await gateway.check_url("http://127.0.0.1/")
        with no_descriptors(), pytest.raises(SendFailure) as failure:
            await gateway.send(provider, outgoing)
    return failure.value


async def test_an_http_call_without_a_free_descriptor_is_no_failure_of_the_provider(clock: ManualClock) -> None:
    async with web_server(answering(200)) as chat:
        outgoing = make_outgoing(Channel.CHAT, webhook_url=chat.url())
        failure = await fail_without_descriptors("slack", outgoing, clock)

    assert (failure.kind, failure.is_ambiguous, chat.connections) == (FailureKind.NO_CONNECTION, False, 0)


async def test_an_e_mail_without_a_free_descriptor_is_no_failure_of_the_provider(clock: ManualClock) -> None:
    async with mail_server() as mail:
        credentials = {"host": "127.0.0.1", "port": str(mail.port), "from": "news@example.com"}
        outgoing = make_outgoing(email="ada@example.org", subject="Hi", credentials=credentials)
        failure = await fail_without_descriptors("nodemailer", outgoing, clock)

    assert (failure.kind, mail.connections) == (FailureKind.NO_CONNECTION, 0)


def test_other_errors_are_those_of_the_provider() -> None:
    assert find_shortage(ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")) is None


@pytest.mark.parametrize("kind", [Http1Client, Http2Client])
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("Content-Length", "0", "'Content-Length' is set by Clarion and cannot be overridden"),
        ("transfer-encoding", "chunked", "'transfer-encoding' is set by Clarion and cannot be overridden"),
        ("X: y\r\nZ", "1", "cannot be the name of a header"),
        ("", "1", "cannot be the name of a header"),
        ("X-Y", "a\r\nZ: b", "'X-Y' has control characters"),
    ],
)
async def test_they_are_refused_before_anything_is_sent(
    kind: type[Http1Client | Http2Client], name: str, value: str, text: str
) -> None:
    client = kind(EgressGuard(("127.0.0.0/8",)), seconds=10, clock=SystemClock())
    async with web_server(answering(200)) as server:
        with pytest.raises(SendFailure, match=text) as failure:
            await client.call(ProviderCall(method="POST", url=server.url(), headers={name: value}, content=b"{}"))

        assert (failure.value.kind, failure.value.is_ambiguous) == (FailureKind.PERMANENT, False)
        assert server.connections == 0
    await client.close()
