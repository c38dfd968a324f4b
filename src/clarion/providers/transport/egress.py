"""The egress guard: it keeps host names given by callers from reaching this machine or its network."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from clarion.providers.definition.result import FailureKind, SendFailure

Address = IPv4Address | IPv6Address
LookUp = Callable[[str, int], Awaitable[list[str]]]


async def look_up_addresses(host: str, port: int) -> list[str]:
    """Return all addresses of a name; a number in any notation (127.1, 0x7f000001) becomes the address it denotes."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class EgressGuard:
    """Resolves hosts and refuses those with an address that is neither public nor allowed by the operator.

    Callers connect to the returned addresses and never resolve the name again. Otherwise a DNS answer that changes
    between the check and the connection (DNS rebinding) would pass.
    """

    def __init__(self, allow: Iterable[str] = (), *, look_up: LookUp = look_up_addresses) -> None:
        self._allow = tuple(ip_network(one) for one in allow)
        self._look_up = look_up

    async def resolve(self, host: str, port: int) -> list[Address]:
        """Return the addresses of the host; raises SendFailure if any of them is not allowed."""
        bare = host.strip("[]")
        if not bare or not bare.isprintable():
            raise SendFailure(FailureKind.PERMANENT, "The host name is empty or has control characters")
        try:
            # A literal address needs no lookup, which would cost more than the rest of a send.
            addresses = [_address(bare)] if _is_address(bare) else list(map(_address, await self._look_up(bare, port)))
        except OSError as error:
            raise SendFailure(FailureKind.RETRYABLE, f"The host name '{host}' cannot be resolved") from error
        except ValueError as error:
            raise SendFailure(FailureKind.PERMANENT, f"'{host}' is not a host name") from error
        # The error does not contain the address: it would reveal how names resolve inside this network.
        if not all(self._is_allowed(address) for address in addresses):
            raise SendFailure(FailureKind.PERMANENT, f"The host '{host}' is not allowed by CLARION_EGRESS_ALLOW")
        return addresses

    @property
    def allow(self) -> tuple[str, ...]:
        """The networks that the operator allowed."""
        return tuple(map(str, self._allow))

    def is_host_allowed(self, host: str) -> bool:
        """Return whether the host is a literal address that is allowed."""
        return _is_address(host) and self._is_allowed(_address(host))

    def _is_allowed(self, address: Address) -> bool:
        target = _unwrap(address)
        return is_public(target) or any(target in network for network in self._allow)


@lru_cache(maxsize=4096)
def _address(text: str) -> Address:
    return ip_address(text)


@lru_cache(maxsize=4096)
def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=4096)
def is_public(address: Address) -> bool:
    """Return whether this is a public unicast address that does not embed another address."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    return address in _GLOBAL_UNICAST and not any(address in network for network in _NOT_PUBLIC_V6)


def _unwrap(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address embeds; IPv6-only networks reach IPv4 through NAT64."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _NAT64):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


# Listed here because `is_global` of `ipaddress` differs between Python versions.
_NOT_PUBLIC_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; also a cloud's metadata, 100.100.100.200
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's platform service, although the address looks public
        "169.254.0.0/16",  # link-local, with the metadata service of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; also a cloud's metadata, 192.0.0.192
        "192.0.2.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
# Loopback, unique local, link-local, multicast and IPv4-compatible addresses are outside of this range.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, with Teredo, which embeds an IPv4 address
        "2001:db8::/32",
        "2002::/16",  # 6to4, which embeds an IPv4 address
        "3fff::/20",
    )
)
