"""The egress guard: no notation of an address and no DNS trick reaches the operator's network."""

from collections.abc import Sequence

import pytest

from clarion.clock import SystemClock
from clarion.providers.definition.request import ProviderRequest, encode_call
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard, LookUp, is_public
from clarion.providers.transport.http2 import Http2Client
from clarion.vocabulary import Channel
from tests.providers.contract.vendor import Reply, play
from tests.providers.loopback import answering, mail_server, make_outgoing, web_server

LOOPBACK = (
    *("127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "127.255.255.254", "2130706433", "017700000001", "0x7f000001"),
    *("0x7f.1", "0x7f.0.0.1", "0x7F.0x0.0x0.0x1", "0177.0.0.1", "0177.1", "127.0x1", "127.000.000.001"),
    *("１２７.０.０.１", "127。0。0。1", "localhost", "LOCALHOST", "::1", "[::1]", "0:0:0:0:0:0:0:1", "::0001"),
    *("::ffff:127.0.0.1", "[::ffff:127.0.0.1]", "::ffff:7f00:1", "0:0:0:0:0:ffff:7f00:0001", "::127.0.0.1"),
    *("::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::"),
    *("2002:7f00:0001::1", "2001:0:7f00:1::", "2001:0000:4136:e378:8000:63bf:80ff:fffe"),
)
UNSPECIFIED = ("0.0.0.0", "0", "00", "0x0", "0.0", "0.0.0.1", "::", "[::]", "::ffff:0.0.0.0")
PRIVATE = (
    *("10.0.0.1", "10.1", "167772161", "0xa000001", "012.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1"),
    *("192.168.1", "0xc0.0xa8.0.1", "3232235521", "::ffff:10.0.0.1", "::ffff:c0a8:1", "64:ff9b::10.0.0.1"),
    *("2002:a00:1::", "2002:c0a8:1::1", "fc00::1", "fd12:3456:789a::1", "fec0::1", "100.64.0.1", "100.127.255.255"),
)
LINK_LOCAL_AND_METADATA = (
    *("169.254.169.254", "169.254.1", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "0xa9.0xfe.0xa9.0xfe"),
    *(
        "::ffff:169.254.169.254",
        "::ffff:a9fe:a9fe",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::",
        "fe80::1",
        "fd00:ec2::254",
    ),
    *("100.100.100.200", "168.63.129.16", "192.0.0.192", "169.254.170.2"),
)
OTHERS = (
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "0xffffffff", "4294967295", "ff02::1", "ff0e::1"),
    *("192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "2001:db8::1", "3fff::1", "100::1"),
)
# More notations of the same addresses.
MORE_NOTATIONS = (
    *("0177.0.0.01", "0x7f.0x00.0x00.0x01", "127.0.0.3", "017700000003", "0x7F000001", "127.65535", "127.0.65535"),
    *("0000::1", "[0:0:0:0:0:0:0:1]", "::ffff:127.1.2.3", "[::ffff:7f01:203]", "64:ff9b::7f01:203", "2002:7f01:203::"),
    *("0xa9.254.0xa9.254", "0xA9FEA9FE", "169.254.43518", "025177524776", "::ffff:a9fe:a902", "64:ff9b::a9fe:aa02"),
    *("192.168.257", "0xC0A80001", "030052000001", "0300.0250.0.1", "172.1048577", "0xac100001", "::ffff:172.16.0.1"),
    *("64:ff9b::c0a8:1", "2002:ac10:1::", "fdff:ffff::1", "febf::1", "ff01::1", "2001:10::1", "2001:20::1"),
)
FORBIDDEN = MORE_NOTATIONS + LOOPBACK + UNSPECIFIED + PRIVATE + LINK_LOCAL_AND_METADATA + OTHERS
PUBLIC = ("93.184.216.34", "8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808")


def make_look_up(*answers: Sequence[str]) -> LookUp:
    """Return a resolver that gives these answers in turn, and then repeats the last one."""
    remaining = list(answers)

    async def look_up(host: str, port: int) -> list[str]:
        return list(remaining.pop(0) if len(remaining) > 1 else remaining[0])

    return look_up


async def test_the_list_of_forbidden_hosts_is_long() -> None:
    assert len(set(FORBIDDEN)) >= 120


@pytest.mark.parametrize("host", FORBIDDEN)
async def test_a_forbidden_address_in_any_notation_is_refused(host: str) -> None:
    with pytest.raises(SendFailure) as refusal:
        await EgressGuard().resolve(host, 80)

    assert refusal.value.kind is FailureKind.PERMANENT
    assert "CLARION_EGRESS_ALLOW" in refusal.value.message


@pytest.mark.parametrize("host", PUBLIC)
async def test_a_public_address_is_resolved_to_itself(host: str) -> None:
    found = await EgressGuard().resolve(host, 80)

    assert [str(address) for address in found] == [host]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "2130706433", "::ffff:127.0.0.1"])
async def test_an_allowed_network_is_allowed_in_every_notation(host: str) -> None:
    (address,) = await EgressGuard(["127.0.0.0/8"]).resolve(host, 80)

    assert not is_public(address)


async def test_an_allowed_network_allows_no_other() -> None:
    guard = EgressGuard(["10.1.0.0/16", "fd00:1::/32"])

    assert await guard.resolve("10.1.2.3", 80)
    assert await guard.resolve("fd00:1::5", 80)
    for host in ("10.2.0.1", "fd00:2::5", "127.0.0.1"):
        with pytest.raises(SendFailure):
            await guard.resolve(host, 80)


@pytest.mark.parametrize("hidden", ["10.0.0.1", "::1", "::ffff:169.254.169.254"])
async def test_a_name_with_one_forbidden_address_is_refused(hidden: str) -> None:
    guard = EgressGuard(look_up=make_look_up(["93.184.216.34", hidden]))

    with pytest.raises(SendFailure, match=r"mixed\.example") as refusal:
        await guard.resolve("mixed.example", 443)

    assert hidden not in refusal.value.message


async def test_a_name_that_does_not_resolve_is_retryable() -> None:
    async def look_up(host: str, port: int) -> list[str]:
        raise OSError("Temporary failure in name resolution")

    with pytest.raises(SendFailure) as failure:
        await EgressGuard(look_up=look_up).resolve("gone.example", 443)

    assert failure.value.kind is FailureKind.RETRYABLE


@pytest.mark.parametrize("host", ["", "[]", "a" * 64 + ".example", "a..b", "nul\x00l"])
async def test_an_invalid_host_name_is_a_permanent_failure(host: str) -> None:
    with pytest.raises(SendFailure) as failure:
        await EgressGuard().resolve(host, 80)

    assert failure.value.kind is FailureKind.PERMANENT


async def test_no_forbidden_host_in_a_url_or_in_credentials_is_called() -> None:
    async with web_server(answering(200)) as web, ProviderGateway(EgressGuard()) as gateway:
        for host in FORBIDDEN:
            bare = host.strip("[]")
            url = web.url(host=f"[{bare}]" if ":" in bare else bare)
            credentials = {"host": bare, "port": str(web.port), "from": "news@example.com"}
            for provider, outgoing in {
                "slack": make_outgoing(Channel.CHAT, webhook_url=url),
                "nodemailer": make_outgoing(email="ada@example.com", credentials=credentials),
            }.items():
                with pytest.raises(SendFailure) as refusal:
                    await gateway.send(provider, outgoing)
                assert refusal.value.kind is FailureKind.PERMANENT, (provider, host)

    assert web.connections == 0


async def test_no_forbidden_host_is_called_over_http2() -> None:
    async with play(lambda _: Reply()) as vendor:
        client = Http2Client(EgressGuard(), seconds=5, clock=SystemClock())
        for host in FORBIDDEN:
            bare = host.strip("[]")
            url = f"http://{f'[{bare}]' if ':' in bare else bare}:{vendor.port}/3/device/a"
            with pytest.raises(SendFailure) as refusal:
                await client.call(encode_call(ProviderRequest.json(url, {})))
            assert refusal.value.kind is FailureKind.PERMANENT, host
        await client.close()

    assert vendor.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "localhost"])
async def test_a_refused_webhook_opens_no_connection(host: str) -> None:
    async with web_server(answering(200)) as web, ProviderGateway(EgressGuard()) as gateway:
        with pytest.raises(SendFailure) as refusal:
            await gateway.send("slack", make_outgoing(Channel.CHAT, webhook_url=web.url(host=host)))

    assert (refusal.value.kind, web.connections) == (FailureKind.PERMANENT, 0)
    assert "CLARION_EGRESS_ALLOW" in refusal.value.message


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "::ffff:127.0.0.1", "[::ffff:7f00:1]", "localhost"]
)
async def test_no_connection_is_opened_to_a_refused_mail_server(host: str) -> None:
    async with mail_server() as server, ProviderGateway(EgressGuard()) as gateway:
        credentials = {"host": host, "port": str(server.port), "from": "news@example.com"}
        with pytest.raises(SendFailure, match="CLARION_EGRESS_ALLOW"):
            await gateway.send("nodemailer", make_outgoing(email="ada@example.com", credentials=credentials))

    assert server.connections == 0


async def test_a_name_is_refused_when_its_address_becomes_forbidden() -> None:
    guard = EgressGuard(["127.0.0.0/8"], look_up=make_look_up(["127.0.0.1"], ["10.0.0.1"]))
    async with web_server(answering(200, Connection="close")) as web:
        outgoing = make_outgoing(Channel.CHAT, webhook_url=web.url(host="moving.example"))
        async with ProviderGateway(guard) as gateway:
            await gateway.send("slack", outgoing)
        async with ProviderGateway(guard) as gateway:
            with pytest.raises(SendFailure, match="CLARION_EGRESS_ALLOW"):
                await gateway.send("slack", outgoing)

    assert web.connections == 1


async def test_the_name_is_resolved_once_for_the_check_and_the_connection() -> None:
    guard = EgressGuard(["127.0.0.0/8"], look_up=make_look_up(["127.0.0.1"], ["169.254.169.254"]))
    async with mail_server() as server, ProviderGateway(guard) as gateway:
        credentials = {"host": "moving.example", "port": str(server.port), "from": "news@example.com"}
        await gateway.send("nodemailer", make_outgoing(email="ada@example.com", credentials=credentials))

    assert len(server.envelopes) == 1


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/x",
        "file:///etc/passwd",
        "gopher://example.com/",
        "//example.com/x",
        "example.com/x",
        "http://",
        "http:///x",
        "http://[::1",
        "http://a b/",
        "http://example.com:99999/",
        "http://exam\nple.com/",
        "http://user:secret@example.com/",
        "http://@example.com/",
        "http://example.com\\@127.0.0.1/",
    ],
)
async def test_urls_that_are_not_plain_http_are_refused(url: str) -> None:
    async with ProviderGateway(EgressGuard(["0.0.0.0/0", "::/0"])) as gateway:
        with pytest.raises(SendFailure, match="URL") as refusal:
            await gateway.send("slack", make_outgoing(Channel.CHAT, webhook_url=url))

    assert refusal.value.kind is FailureKind.PERMANENT
