"""Calls over HTTP/1.1 to servers on the loopback interface."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from clarion.clock import SystemClock
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.transport import http1
from clarion.providers.transport.egress import EgressGuard, LookUp
from clarion.providers.transport.http1 import Http1Client
from clarion.providers.transport.http1_connection import AnswerReader
from tests.garbage import count_alive, without_collections
from tests.providers.certificates import make_certificate
from tests.providers.loopback import answering, web_server

LOOPBACK = ("127.0.0.0/8", "::1/128")


def find(*addresses: str) -> LookUp:
    async def look_up(host: str, port: int) -> list[str]:
        return list(addresses)

    return look_up


@asynccontextmanager
async def open_client(*addresses: str, seconds: float = 10) -> AsyncIterator[Http1Client]:
    """A client for which every name has these addresses."""
    guard = EgressGuard(LOOPBACK, look_up=find(*addresses or ("127.0.0.1",)))
    client = Http1Client(guard, seconds=seconds, clock=SystemClock())
    yield client
    await client.close()


@pytest.fixture
async def client() -> AsyncIterator[Http1Client]:
    async with open_client() as opened:
        yield opened


def post(url: str, content: bytes = b"{}", **headers: str) -> ProviderCall:
    return ProviderCall(method="POST", url=url, headers=headers, content=content)


async def fail(client: Http1Client, call: ProviderCall) -> SendFailure:
    with pytest.raises(SendFailure) as failure:
        await client.call(call)
    return failure.value


async def test_answers_are_freed_when_they_were_read(client: Http1Client) -> None:
    async with web_server(answering(200)) as server:
        with without_collections():
            for _ in range(3):
                await client.call(post(server.url("/")))

            assert count_alive(AnswerReader) == 0


async def test_a_request_has_our_headers_and_those_of_the_call_in_its_own_words(client: Http1Client) -> None:
    async with web_server(answering(200)) as server:
        call = post(server.url("/a/ü?q=ü", "münchen.example"), b"x=1", **{"content-type": "text/x", "User-agent": "me"})
        await client.call(call)

        head, _, content = server.requests[0].partition(b"\r\n\r\n")
        assert head.decode().split("\r\n") == [
            "POST /a/%C3%BC?q=%C3%BC HTTP/1.1",
            f"Host: xn--mnchen-3ya.example:{server.port}",
            "Accept: */*",
            "Accept-Encoding: identity",
            "User-agent: me",
            "content-type: text/x",
            "Content-Length: 3",
        ]
        assert content == b"x=1"


async def test_calls_at_the_same_time_have_a_connection_each_and_later_ones_use_these(client: Http1Client) -> None:
    async with web_server(answering(200)) as server:
        for _ in range(3):
            await asyncio.gather(*(client.call(post(server.url())) for _ in range(5)))

        assert (server.connections, len(server.requests)) == (5, 15)


async def test_a_connection_that_the_server_has_closed_is_not_used_again(client: Http1Client) -> None:
    async with web_server(answering(200)) as server:
        await client.call(post(server.url()))
        await server.refuse()
        await server.open()
        while any(one.is_usable for kept in client._pool._idle.values() for one in kept):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)

        assert (await client.call(post(server.url()))).status == 200


async def test_connections_that_nobody_uses_are_closed(client: Http1Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "_IDLE_SECONDS", 0.05)
    async with web_server(answering(200)) as server:
        await client.call(post(server.url()))
        while client._pool._idle:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
        await client.call(post(server.url()))

        assert server.connections == 2


async def test_an_answer_to_a_call_that_timed_out_is_not_taken_for_that_of_the_next() -> None:
    has_failed = asyncio.Event()

    async def respond(request: bytes, writer: asyncio.StreamWriter) -> None:
        if b"first" in request:
            await has_failed.wait()
        await answering(200, "late" if b"first" in request else "right")(request, writer)

    async with open_client(seconds=0.5) as client, web_server(respond) as server:
        failure = await fail(client, post(server.url(), b"first"))
        has_failed.set()
        answer = await client.call(post(server.url(), b"second"))

        assert (failure.kind, failure.is_ambiguous) == (FailureKind.RETRYABLE, True)
        assert answer.text == "right"


async def test_a_server_that_answers_before_it_has_read_everything_gets_a_new_connection(client: Http1Client) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        await asyncio.sleep(0.2)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    answers = [await client.call(post(url, b"x" * 20_000_000)) for _ in range(2)]
    server.close()

    assert [one.status for one in answers] == [413, 413]


async def test_a_large_body_arrives_whole(client: Http1Client) -> None:
    content = b"0123456789" * 500_000
    async with web_server(answering(200)) as server:
        await client.call(post(server.url(), content))

        assert server.requests[0].endswith(b"\r\n\r\n" + content)


async def test_the_next_address_is_tried_if_one_cannot_be_reached() -> None:
    async with open_client("::1", "127.0.0.2", "127.0.0.1") as client, web_server(answering(200)) as server:
        assert (await client.call(post(server.url(host="service.example")))).status == 200


async def test_a_name_is_looked_up_once_for_connections_that_are_opened_together() -> None:
    asked: list[str] = []

    async def look_up(host: str, port: int) -> list[str]:
        asked.append(host)
        await asyncio.sleep(0)
        return ["127.0.0.1"]

    client = Http1Client(EgressGuard(LOOPBACK, look_up=look_up), seconds=10, clock=SystemClock())
    async with web_server(answering(200)) as server:
        await asyncio.gather(*(client.call(post(server.url(host="service.example"))) for _ in range(20)))
    await client.close()

    assert asked == ["service.example"]


async def test_a_failed_look_up_is_not_remembered() -> None:
    answers: list[list[str]] = [["10.0.0.1"], ["127.0.0.1"]]

    async def look_up(host: str, port: int) -> list[str]:
        return answers.pop(0)

    client = Http1Client(EgressGuard(LOOPBACK, look_up=look_up), seconds=10, clock=SystemClock())
    async with web_server(answering(200)) as server:
        failure = await fail(client, post(server.url(host="service.example")))
        answer = await client.call(post(server.url(host="service.example")))
    await client.close()

    assert (failure.kind, answer.status) == (FailureKind.PERMANENT, 200)


async def test_a_connection_that_is_never_accepted_has_sent_nothing() -> None:
    async with open_client(seconds=0.2) as client, silent_listener() as port:
        failure = await fail(client, post(f"http://127.0.0.1:{port}/"))

    assert (failure.kind, failure.is_ambiguous) == (FailureKind.RETRYABLE, False)
    assert "did not answer within 0.2 seconds" in str(failure)


@asynccontextmanager
async def silent_listener() -> AsyncIterator[int]:
    """A port whose queue of connections is full."""

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        waiting = []
        for _ in range(4):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(listening.getsockname())
            waiting.append(one)
        yield listening.getsockname()[1]
        for one in waiting:
            one.close()


class TestTls:
    @pytest.fixture
    def certificate(self, tmp_path: Path) -> Path:
        return make_certificate(tmp_path, host="service.example")

    @pytest.fixture
    async def port(self, certificate: Path) -> AsyncIterator[int]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        context.set_alpn_protocols(["h2", "http/1.1"])

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            chosen = writer.get_extra_info("ssl_object").selected_alpn_protocol()
            while await reader.readuntil(b"\r\n\r\n{}"):
                await answering(200, str(chosen))(b"", writer)

        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        yield server.sockets[0].getsockname()[1]
        server.close()

    async def test_a_certificate_for_the_name_is_trusted(
        self, client: Http1Client, port: int, certificate: Path
    ) -> None:
        (await client._pool._get_tls()).load_verify_locations(certificate)

        for host in ("service.example", "service.example."):
            assert (await client.call(post(f"https://{host}:{port}/"))).text == "http/1.1"

    async def test_a_certificate_for_another_name_or_of_nobody_is_not(
        self, client: Http1Client, port: int, certificate: Path
    ) -> None:
        unknown = await fail(client, post(f"https://service.example:{port}/"))
        (await client._pool._get_tls()).load_verify_locations(certificate)
        other = await fail(client, post(f"https://other.example:{port}/"))

        for failure in (unknown, other):
            assert (failure.kind, failure.is_ambiguous) == (FailureKind.PERMANENT, False)
        assert str(other) == "The certificate of other.example cannot be trusted"

    async def test_a_server_without_tls_is_retryable_and_got_nothing(self, client: Http1Client) -> None:
        async with web_server(answering(200)) as server:
            failure = await fail(client, post(server.url().replace("http:", "https:")))

            assert (failure.kind, failure.is_ambiguous, server.requests) == (FailureKind.RETRYABLE, False, [])


@pytest.mark.parametrize("respond", ["half", "nothing"])
async def test_a_connection_that_ends_before_the_answer_is_ambiguous(client: Http1Client, respond: str) -> None:
    async def hang_up(request: bytes, writer: asyncio.StreamWriter) -> None:
        if respond == "half":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            await writer.drain()
        writer.close()

    async with web_server(hang_up) as server:
        failure = await fail(client, post(server.url()))

    assert (failure.kind, failure.is_ambiguous) == (FailureKind.RETRYABLE, True)
    assert "127.0.0.1 failed" in str(failure)


@pytest.mark.parametrize("is_reused", [False, True])
async def test_a_call_whose_time_is_over_when_it_is_connected_sends_nothing(is_reused: bool) -> None:
    client = Http1Client(EgressGuard(("127.0.0.0/8",)), seconds=10, clock=SystemClock())
    asked: list[str] = []

    def can_start() -> bool:
        asked.append("asked")
        return False

    async with web_server(answering(200)) as server:
        url = server.url("/mail")
        if is_reused:
            await client.call(ProviderCall(method="POST", url=url, headers={}, content=b"first"))
        with pytest.raises(SendFailure) as refused:
            await client.call(ProviderCall(method="POST", url=url, headers={}, content=b"late", can_start=can_start))

        assert refused.value.kind is FailureKind.NO_CONNECTION
        assert not refused.value.is_ambiguous
        assert asked == ["asked"]
        assert not any(b"late" in one for one in server.requests)
    await client.close()
