"""The address of whoever sent a request that came through proxies of the operator.

Clients can send the headers in which proxies name them, so these count only from a proxy that the operator trusts, and
only the part that such proxies have added: from the right, up to the first address that is not one of theirs.
"""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

Address = IPv4Address | IPv6Address
RawHeaders = Iterable[tuple[bytes, bytes]]

MAX_HOPS = 20
"""Proxies in a row; what is further to the left is not read."""


class TrustedProxies:
    """The networks of the operator's proxies."""

    def __init__(self, networks: Iterable[str]) -> None:
        self._networks = tuple(map(ip_network, networks))

    def __bool__(self) -> bool:
        return bool(self._networks)

    def find_client(self, peer: str, headers: RawHeaders) -> str:
        """Return the address of the client; that of the peer if it is no trusted proxy, or names nobody."""
        address = _parse_address(peer)
        if address is None or not self._trusts(address):
            return peer
        clients = {
            self._walk(address, _forwarded_for(headers)),
            self._walk(address, _forwarded(headers)),
        } - {address}
        # A proxy sets one of the headers and may pass on the other as the client sent it: two answers are none.
        return str(clients.pop()) if len(clients) == 1 else peer

    def _walk(self, peer: Address, hops: Sequence[str]) -> Address:
        """Follow the hops from the right while they are trusted proxies."""
        reached = peer
        for hop in reversed(hops[-MAX_HOPS:]):
            address = _parse_address(_without_port(hop))
            if address is None:
                return reached
            reached = address
            if not self._trusts(address):
                return reached
        return reached

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def trust_proxies(app: ASGIApp, proxies: TrustedProxies) -> ASGIApp:
    """Give the requests of an application the address of their client as that of the connection."""
    if not proxies:
        return app

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if client is not None:
            scope = {**scope, "client": (proxies.find_client(client[0], scope["headers"]), client[1])}
        await app(scope, receive, send)

    return run


def _forwarded_for(headers: RawHeaders) -> list[str]:
    return _list_parts(headers, b"x-forwarded-for")


def _forwarded(headers: RawHeaders) -> list[str]:
    """The `for` of each element of the header of RFC 7239."""
    return [_read_for(element) for element in _list_parts(headers, b"forwarded")]


def _read_for(element: str) -> str:
    for pair in element.split(";"):
        name, _, value = pair.strip().partition("=")
        if name.lower() == "for":
            return value.strip('"')
    return ""


def _list_parts(headers: RawHeaders, name: bytes) -> list[str]:
    """The parts of a header, which may be on several lines."""
    text = b",".join(value for one, value in headers if one == name).decode("latin-1")
    return [part.strip() for part in text.split(",")] if text else []


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def _parse_address(text: str) -> Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
