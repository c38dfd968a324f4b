"""Any SMTP server."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.kinds import SmtpProvider
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.definition.smtp_account import SmtpAccount
from clarion.secret import Secret


class SmtpCredentials(EmailCredentials):
    host: str
    port: str
    user: str = ""
    password: Secret = Secret("")
    secure: bool | None = None
    require_tls: bool = False
    ignore_tls: bool = False
    tls_options: dict[str, Any] | str | None = None


def account(given: SmtpCredentials) -> SmtpAccount:
    """Build the SMTP account; by default, TLS is used if the server offers it."""
    port, tls = _port(given.port.strip()), _tls_options(given.tls_options)
    return SmtpAccount(
        host=given.host.strip(),
        port=port,
        user=given.user,
        password=given.password.reveal(),
        # Port 465 is for implicit TLS, so it is the default there.
        implicit_tls=port == 465 if given.secure is None else given.secure,
        start_tls=True if given.require_tls else False if given.ignore_tls else None,
        check_certificate=tls.get("rejectUnauthorized") is not False,
        authority=_text(tls.get("ca")),
        server_name=_text(tls.get("servername")),
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65_535):
        raise SendFailure(FailureKind.PERMANENT, "The integration's port is not a port number")
    return int(text)


def _tls_options(given: dict[str, Any] | str | None) -> Mapping[str, Any]:
    if not isinstance(given, str):
        return given or {}
    try:
        return msgspec.json.decode(given, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise SendFailure(FailureKind.PERMANENT, "'tlsOptions' is not the text of a JSON object") from error


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


PROVIDER = SmtpProvider(
    id="nodemailer",
    name="Custom SMTP",
    credentials=SmtpCredentials,
    account=account,
    documentation="https://www.rfc-editor.org/rfc/rfc5321",
    note="Encryption is used where the server offers it: `secure` speaks TLS at once (as port 465 always does), "
    "`requireTls` insists, `ignoreTls` does without. `tlsOptions` knows `rejectUnauthorized`, `ca` and `servername`.",
)
