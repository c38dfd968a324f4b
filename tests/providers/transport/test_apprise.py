"""Notifications through Apprise, which runs in a sandbox process."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.provider import find_credential_problems
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.providers.registry import PROVIDERS
from clarion.providers.sending.gateway import ProviderGateway, Timeouts
from clarion.providers.transport.egress import EgressGuard
from clarion.vocabulary import Channel
from tests.providers.loopback import answering, make_outgoing, web_server

ACCOUNT = {"webhookUrl": "apprise:", "secretKey": "-"}
LOOPBACK = ("127.0.0.0/8", "::1/128")


def make_push(*urls: str, **fields: Any) -> Outgoing:
    base = {"title": "Order 7", "content": "Grüße 🎉", "device_tokens": urls, "credentials": ACCOUNT}
    return make_outgoing(Channel.PUSH, **base | fields)


async def send(*urls: str, allow: tuple[str, ...] = LOOPBACK) -> Sent:
    async with ProviderGateway(EgressGuard(allow), timeouts=Timeouts(http_seconds=20)) as gateway:
        return await gateway.send("push-webhook", make_push(*urls))


async def fail(*urls: str, allow: tuple[str, ...] = LOOPBACK) -> SendFailure:
    with pytest.raises(SendFailure) as failure:
        await send(*urls, allow=allow)
    return failure.value


@asynccontextmanager
async def any_server() -> AsyncIterator[tuple[int, list[str]]]:
    """Listen on a TCP and UDP port, and record which protocol was used."""
    calls: list[str] = []

    class Datagrams(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: Any) -> None:
            calls.append("udp")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append("tcp")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Datagrams, local_addr=("127.0.0.1", port))
    async with server:
        yield port, calls
    transport.close()


async def test_each_device_token_names_a_service() -> None:
    async with web_server(answering(200)) as web:
        sent = await send(f"json://127.0.0.1:{web.port}/one", f"form://127.0.0.1:{web.port}/two")

    bodies = {request.split(b" ")[1]: request.partition(b"\r\n\r\n")[2] for request in web.requests}
    document = json.loads(bodies[b"/one"])
    assert (document["title"], document["message"]) == ("Order 7", "Grüße 🎉")
    assert b"title=Order+7" in bodies[b"/two"]
    assert sent.provider_message_id == "6601f5a1c0ffee"
    assert [one["token"] for one in sent.raw["tokens"]] == ["json:/…", "form:/…"]


@pytest.mark.parametrize(
    "url",
    [
        "json://127.0.0.1:{port}/x",
        "json://localhost:{port}/x",
        "json://127.1:{port}/x",
        "json://2130706433:{port}/x",
        "xml://127.0.0.1:{port}/x",
        "ntfy://127.0.0.1:{port}/topic",
        "mailto://user:password@example.com:{port}?smtp=127.0.0.1&mode=insecure&from=a@example.com&to=b@example.com",
        "rsyslog://127.0.0.1:{port}/user",
    ],
)
async def test_no_notation_and_no_protocol_reaches_the_operators_network(url: str) -> None:
    async with any_server() as (port, calls):
        failure = await fail(url.format(port=port), allow=())

    assert calls == []
    assert failure.kind is FailureKind.PERMANENT, failure.message


async def test_the_error_of_a_refused_host_names_the_setting() -> None:
    assert "CLARION_EGRESS_ALLOW" in (await fail("json://127.0.0.1:9/x", allow=())).message


@pytest.mark.parametrize("wish", ["", "?redirect=yes"])
async def test_a_redirect_is_not_followed(wish: str) -> None:
    async with web_server(answering(200)) as inner, web_server(answering(307, Location=inner.url())) as outer:
        await fail(f"json://127.0.0.1:{outer.port}/x{wish}")

    assert (outer.connections, inner.connections) == (1, 0)


@pytest.mark.parametrize(
    "url",
    [
        "fcm://project@apikey/device-token-1?mode=oauth2&keyfile=/etc/passwd",
        "syslog://",
        "nonsense://somewhere",
        "file:///etc/passwd",
        "no url at all",
    ],
)
async def test_files_syslog_and_unknown_services_are_permanent_failures(url: str) -> None:
    failure = await fail(url)

    assert failure.kind is FailureKind.PERMANENT
    assert "root:" not in f"{failure.message} {failure.raw}"


async def test_an_error_of_a_service_is_retryable_and_its_url_is_redacted() -> None:
    async with web_server(answering(500, "canary-path-1 is down")) as web:
        failure = await fail(f"json://canary-user:canary-password@127.0.0.1:{web.port}/canary-path-1")

    assert failure.kind is FailureKind.RETRYABLE
    assert "The service did not take it" in failure.message
    assert "canary" not in f"{failure.message} {failure.raw}"


async def test_a_service_that_does_not_answer_is_ambiguous() -> None:
    async def be_silent(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with (
        web_server(be_silent) as web,
        ProviderGateway(EgressGuard(LOOPBACK), timeouts=Timeouts(http_seconds=1)) as gateway,
    ):
        with pytest.raises(SendFailure) as failure:
            await gateway.send("push-webhook", make_push(f"json://127.0.0.1:{web.port}/x"))

    assert (failure.value.kind, failure.value.is_ambiguous) == (FailureKind.RETRYABLE, True)


async def test_only_push_webhook_can_use_apprise() -> None:
    async with ProviderGateway(EgressGuard(LOOPBACK)) as gateway:
        with pytest.raises(SendFailure, match="URL"):
            await gateway.send("slack", make_outgoing(Channel.CHAT, webhook_url="apprise:"))

    assert find_credential_problems(PROVIDERS["push-webhook"], ACCOUNT) == {}
    assert set(find_credential_problems(PROVIDERS["email-webhook"], ACCOUNT | {"from": "a@example.com"})) == {
        "webhookUrl"
    }
