"""Any SMTP server."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from clarion.providers.definition.credentials import EmailCredentials
from clarion.providers.definition.formats import FormatRule
from clarion.providers.definition.kinds import SmtpProvider
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.definition.smtp_account import SmtpAccount
from clarion.secret import Secret


class TlsOptions(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """The options of Node's TLS that are honoured."""

    reject_unauthorized: bool = True
    ca: str | list[str] = ""
    servername: str = ""
    min_version: Literal["", "TLSv1.2", "TLSv1.3"] = ""


def _are_tls_options(given: Any) -> bool:
    try:
        _tls_options(given)
    except SendFailure:
        return False
    return True


_KNOWN = ", ".join(one.encode_name for one in fields(TlsOptions))
TLS_OPTIONS = FormatRule(_are_tls_options, f"must be an object, or the text of one, with these options: {_KNOWN}")


class SmtpCredentials(EmailCredentials):
    host: str
    port: str
    user: str = ""
    password: Secret = Secret("")
    secure: bool | None = None
    require_tls: bool = False
    ignore_tls: bool = False
    tls_options: Annotated[dict[str, Any] | str | None, TLS_OPTIONS] = None


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
        check_certificate=tls.reject_unauthorized,
        authority="\n".join([tls.ca] if isinstance(tls.ca, str) else tls.ca) or None,
        server_name=tls.servername or None,
        min_tls=tls.min_version or None,
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65_535):
        raise SendFailure(FailureKind.PERMANENT, "The integration's port is not a port number")
    return int(text)


def _tls_options(given: dict[str, Any] | str | None) -> TlsOptions:
    try:
        if isinstance(given, str):
            return msgspec.json.decode(given, type=TlsOptions)
        return msgspec.convert(given or {}, TlsOptions)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SendFailure(FailureKind.PERMANENT, f"The integration's 'tlsOptions' cannot be used: {error}") from error


PROVIDER = SmtpProvider(
    id="nodemailer",
    name="Custom SMTP",
    credentials=SmtpCredentials,
    account=account,
    documentation="https://www.rfc-editor.org/rfc/rfc5321",
    note="Encryption is used where the server offers it: `secure` speaks TLS at once (as port 465 always does), "
    "`requireTls` insists, `ignoreTls` does without. `tlsOptions` "
    "(an object, or the text of one) knows `rejectUnauthorized`, `ca`, `servername` and `minVersion`.",
)
