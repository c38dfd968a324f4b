"""The setting of the SMTP server that mails to members go through."""

import re
from email.utils import parseaddr
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from clarion.errors import SettingsError
from clarion.secret import Secret
from clarion.settings.hosts import is_host

_PORTS = {"smtp": 587, "smtps": 465}
_FORM = "smtp://user:password@host:587?from=clarion@example.com, or smtps:// to speak TLS at once"
_LOCAL_PART = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}")


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
    if not given.isprintable() or not _is_address(sender):
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


def _is_address(text: str) -> bool:
    local_part, _, domain = text.rpartition("@")
    return _LOCAL_PART.fullmatch(local_part) is not None and is_host(domain)
