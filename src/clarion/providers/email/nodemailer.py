"""Any SMTP server: the account that the credentials describe."""

from collections.abc import Mapping
from typing import Any

from clarion.providers.base import FailureKind, SendFailure
from clarion.providers.email.smtp import Account


def read_account(credentials: Mapping[str, Any]) -> Account:
    """The account of the credentials; without a word about encryption it is used where the server offers it."""
    host, port = str(credentials.get("host") or "").strip(), _port(credentials)
    if not host:
        raise SendFailure(FailureKind.PERMANENT, "The integration has no host")
    options = credentials.get("tlsOptions")
    tls: Mapping[str, Any] = options if isinstance(options, Mapping) else {}
    return Account(
        host=host,
        port=port,
        user=str(credentials.get("user") or ""),
        password=str(credentials.get("password") or ""),
        implicit_tls=_is_implicit(credentials, port),
        start_tls=_start_tls(credentials),
        check_certificate=tls.get("rejectUnauthorized") is not False,
        authority=_text(tls.get("ca")),
        server_name=_text(tls.get("servername")),
    )


def _port(credentials: Mapping[str, Any]) -> int:
    text = str(credentials.get("port") or ("465" if credentials.get("secure") else "587")).strip()
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65_535):
        raise SendFailure(FailureKind.PERMANENT, "The integration's port is not a port number")
    return int(text)


def _is_implicit(credentials: Mapping[str, Any], port: int) -> bool:
    secure = credentials.get("secure")
    # Port 465 speaks nothing but TLS; where the account does not say, that decides.
    return port == 465 if secure is None else bool(secure)


def _start_tls(credentials: Mapping[str, Any]) -> bool | None:
    if credentials.get("requireTls"):
        return True
    return False if credentials.get("ignoreTls") else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
