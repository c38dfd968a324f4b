"""The SMTP server of an account and how to log in there, with its options for TLS and DKIM."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from clarion.providers.definition.credentials import FormatRule, is_blank
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.signing.dkim import DkimKey, load_dkim_key

NOTE = (
    "`tlsOptions` (an object, or the text of one) knows `rejectUnauthorized`, `ca`, `servername` and `minVersion`. "
    "E-mails are signed with DKIM (RSA or Ed25519) by `domain`, `accountSid` (the selector) and `secretKey` (the "
    "private key)."
)
_DKIM_FIELDS = ("domain", "accountSid", "secretKey")
_DKIM_NEEDS = "needs all of domain, accountSid (the selector) and secretKey (the private key)"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?"
_SELECTOR = re.compile(rf"{_LABEL}(\.{_LABEL})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpAccount:
    """An SMTP server and its credentials; connections are shared only between equal accounts, password included."""

    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)
    implicit_tls: bool = False
    start_tls: bool | None = None
    """True: required. False: never. None: used if the server offers it."""
    check_certificate: bool = True
    authority: str | None = field(default=None, repr=False)
    """A CA certificate to trust in addition to those of the system."""
    server_name: str | None = None
    """The name in the certificate, if it is not the host."""
    min_tls: str | None = None
    """The oldest version of TLS that is spoken, such as `TLSv1.3`; None is the default of the system."""
    dkim: DkimKey | None = field(default=None, repr=False, compare=False)
    """Does not matter to a connection, so accounts that differ in nothing else share theirs."""


class TlsOptions(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """The options of Node's TLS that are honoured."""

    reject_unauthorized: bool = True
    ca: str | list[str] = ""
    servername: str = ""
    min_version: Literal["", "TLSv1.2", "TLSv1.3"] = ""

    @property
    def authority(self) -> str | None:
        return "\n".join([self.ca] if isinstance(self.ca, str) else self.ca) or None


def read_tls_options(given: dict[str, Any] | str | None) -> TlsOptions:
    """Read an object, or the JSON text of one; raises SendFailure."""
    try:
        if isinstance(given, str):
            return msgspec.json.decode(given, type=TlsOptions)
        return msgspec.convert(given or {}, TlsOptions)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SendFailure(FailureKind.PERMANENT, f"The integration's 'tlsOptions' cannot be used: {error}") from error


def read_dkim_key(domain: str, selector: str, text: str) -> DkimKey | None:
    """Return None if nothing is given; raises SendFailure if something is missing or the key cannot be used."""
    if not (domain or selector or text):
        return None
    if not (domain and selector and text):
        raise SendFailure(FailureKind.PERMANENT, f"The integration's DKIM {_DKIM_NEEDS}")
    try:
        return DkimKey(domain=domain, selector=selector, private_key=load_dkim_key(text))
    except ValueError as error:
        raise SendFailure(FailureKind.PERMANENT, f"The integration's DKIM key cannot be used: {error}") from error


def find_dkim_problems(given: Mapping[str, Any]) -> dict[str, str]:
    """Return an error text for each missing part of a DKIM key that others of its parts are given of."""
    missing = [name for name in _DKIM_FIELDS if is_blank(given, name)]
    return dict.fromkeys(missing, _DKIM_NEEDS) if len(missing) < len(_DKIM_FIELDS) else {}


def _are_tls_options(given: Any) -> bool:
    try:
        read_tls_options(given)
    except SendFailure:
        return False
    return True


def _is_dkim_key(text: str) -> bool:
    try:
        load_dkim_key(text)
    except ValueError:
        return False
    return True


_KNOWN = ", ".join(one.encode_name for one in fields(TlsOptions))
TLS_OPTIONS = FormatRule(_are_tls_options, f"must be an object, or the text of one, with these options: {_KNOWN}")
SELECTOR = FormatRule(lambda text: _SELECTOR.fullmatch(text) is not None, "must be a DKIM selector such as mail2026")
DKIM_KEY = FormatRule(
    _is_dkim_key, "must be a private key in PEM for DKIM: RSA of at least 1024 bits, or Ed25519, without a password"
)
