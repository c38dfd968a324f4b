"""The egress guard: hosts that callers name may not lead into this machine or its network."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from clarion.providers.definition.result import FailureKind, SendFailure

Address = IPv4Address | IPv6Address
LookUp = Callable[[str, int], Awaitable[list[str]]]


async def look_up_addresses(host: str, port: int) -> list[str]:
    """Every address of a name; numbers in any spelling (127.1, 0x7f000001) come back as the address they mean."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class EgressGuard:
    """Resolves hosts and refuses those with an address that is neither public nor opened by the operator.

    Callers connect to the addresses that it returns and never resolve the name again: an answer that changes
    between the check and the connection would pass otherwise.
    """

    def __init__(self, allow: Iterable[str] = (), *, look_up: LookUp = look_up_addresses) -> None:
        self._allow = tuple(ip_network(one) for one in allow)
        self._look_up = look_up

    async def resolve(self, host: str, port: int) -> list[Address]:
        """The addresses of the host, all of them allowed; one that is not refuses the host."""
        bare = host.strip("[]")
        if not bare or not bare.isprintable():
            raise SendFailure(FailureKind.PERMANENT, "The host name is empty or has control characters")
        try:
            # An address in its own spelling is what it says; asking for it would cost more than the rest of a send.
            found = [_address(bare)] if _is_address(bare) else list(map(_address, await self._look_up(bare, port)))
        except OSError as error:
            raise SendFailure(FailureKind.RETRYABLE, f"The host name '{host}' cannot be resolved") from error
        except ValueError as error:
            raise SendFailure(FailureKind.PERMANENT, f"'{host}' is not a host name") from error
        # The address is not named: what a name means inside this network is nothing for the caller to learn.
        if not all(self._is_allowed(address) for address in found):
            raise SendFailure(FailureKind.PERMANENT, f"The host '{host}' is not allowed by CLARION_EGRESS_ALLOW")
        return found

    @property
    def allow(self) -> tuple[str, ...]:
        """The networks that the operator opened."""
        return tuple(map(str, self._allow))

    def permits(self, host: str) -> bool:
        """Is this an address, and one that may be connected to?"""
        return _is_address(host) and self._is_allowed(_address(host))

    def _is_allowed(self, address: Address) -> bool:
        meant = _unwrap(address)
        return is_public(meant) or any(meant in network for network in self._allow)


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
    """Is this an address of the Internet, for one machine, and not a way around to another one?"""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    return address in _GLOBAL_UNICAST and not any(address in network for network in _NOT_PUBLIC_V6)


def _unwrap(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for; networks with IPv6 alone reach all of IPv4 through NAT64."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _NAT64):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


# Spelled out rather than asked of `ipaddress`, whose opinion of what is global differs between Python versions.
_NOT_PUBLIC_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # behind a carrier's NAT; also a cloud's metadata, 100.100.100.200
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
# Loopback, unique local, link-local, multicast and IPv4-compatible addresses are all outside of it.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, with Teredo, which carries an IPv4 address
        "2001:db8::/32",
        "2002::/16",  # 6to4, which carries an IPv4 address
        "3fff::/20",
    )
)
