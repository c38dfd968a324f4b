"""Addresses in settings: hosts, origins and networks; the database, the bus and the mail server.

Those of servers may contain a password, which no message repeats.
"""

import ipaddress
import re
from email.utils import parseaddr
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from clarion.errors import SettingsError
from clarion.secret import Secret

ANY_ORIGIN = "*"

_PORTS = {"smtp": 587, "smtps": 465}
_FORM = "smtp://user:password@host:587?from=clarion@example.com, or smtps:// to speak TLS at once"
_LOCAL_PART = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}")


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


def check_store(database_url: Secret | None, bus_url: Secret | None) -> None:
    """Raise SettingsError if the database or the bus cannot be addressed that way."""
    if database_url is not None and not _is_server(database_url, "postgresql", "postgres"):
        raise SettingsError("CLARION_DATABASE_URL must be postgresql://user:password@host:port/database.")
    if bus_url is None:
        return
    if not _is_server(bus_url, "nats", "tls") or not urlsplit(bus_url.reveal()).hostname:
        raise SettingsError("CLARION_BUS_URL must be nats://user:password@host:port.")
    if database_url is None:
        raise SettingsError(
            "CLARION_BUS_URL needs CLARION_DATABASE_URL: on SQLite one process does everything, and needs no bus."
        )


def _is_server(url: Secret, *schemes: str) -> bool:
    try:
        parts = urlsplit(url.reveal())
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return parts.scheme in schemes and has_port


class MailServer(Struct, frozen=True, kw_only=True):
    """An SMTP server, how to log in there, and who its mails are from."""

    host: str
    port: int
    user: str
    password: Secret
    implicit_tls: bool
    sender: str
    sender_name: str


def parse_mail_url(url: Secret) -> MailServer:
    """Read the setting; raises SettingsError, which does not repeat it, because it may contain a password."""
    try:
        parts = urlsplit(url.reveal())
        host, port = parts.hostname, parts.port or _PORTS[parts.scheme]
        options = dict(parse_qsl(parts.query, strict_parsing=True))
    except (ValueError, KeyError):
        raise SettingsError(f"CLARION_MAIL_URL must be {_FORM}.") from None
    if not host or not is_host(host) or parts.path not in ("", "/") or parts.fragment or options.keys() - {"from"}:
        raise SettingsError(f"CLARION_MAIL_URL must be {_FORM}.")
    given = options.get("from", "")
    name, sender = parseaddr(given)
    if not given.isprintable() or not _is_mail_address(sender):
        raise SettingsError("CLARION_MAIL_URL must end with ?from= and the address that mails are from.")
    return MailServer(
        host=host,
        port=port,
        user=unquote(parts.username or ""),
        password=Secret(unquote(parts.password or "")),
        implicit_tls=parts.scheme == "smtps",
        sender=sender,
        sender_name=name,
    )


def _is_mail_address(text: str) -> bool:
    local_part, _, domain = text.rpartition("@")
    return _LOCAL_PART.fullmatch(local_part) is not None and is_host(domain)
