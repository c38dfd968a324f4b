"""Addresses in settings: hosts, origins, base addresses and networks."""

import ipaddress
import re
from urllib.parse import urlsplit

ANY_ORIGIN = "*"


def is_origin(text: str) -> bool:
    parts = urlsplit(text)
    return text == ANY_ORIGIN or (parts.scheme in ("http", "https") and bool(parts.netloc) and not parts.path)


def is_host(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252})", text) is not None
    return True


def is_base_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        is_complete = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        return False
    return is_complete and not (parts.query or parts.fragment or parts.username or parts.password)


def is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def is_loopback_host(host: str) -> bool:
    """Whether a host, with a port or without, is this machine."""
    name = host[1 : host.find("]")] if host.startswith("[") else host if host.count(":") > 1 else host.partition(":")[0]
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def local_address(host: str, port: int) -> str:
    """The address of a server that listens on a host of this machine; of one that listens on all, a local one."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not listened on
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
