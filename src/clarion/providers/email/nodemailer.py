"""Any SMTP server."""

from dataclasses import replace
from typing import Annotated, Any

from clarion.providers.definition.credentials import HOST, EmailCredentials
from clarion.providers.definition.provider import SmtpProvider
from clarion.providers.definition.result import refuse_account
from clarion.providers.email import smtp_account
from clarion.providers.email.smtp_account import SmtpAccount
from clarion.secret import Secret


class SmtpCredentials(EmailCredentials):
    host: str
    port: str
    user: str = ""
    password: Secret = Secret("")
    secure: bool | None = None
    require_tls: bool = False
    ignore_tls: bool = False
    tls_options: Annotated[dict[str, Any] | str | None, smtp_account.TLS_OPTIONS] = None


class SigningCredentials(SmtpCredentials):
    domain: Annotated[str, HOST] = ""
    account_sid: Annotated[str, smtp_account.SELECTOR] = ""
    secret_key: Annotated[Secret, smtp_account.DKIM_KEY] = Secret("")


def account(given: SmtpCredentials) -> SmtpAccount:
    """Build the SMTP account; by default, TLS is used if the server offers it."""
    port, tls = _port(given.port.strip()), smtp_account.read_tls_options(given.tls_options)
    return SmtpAccount(
        host=given.host.strip(),
        port=port,
        user=given.user,
        password=given.password.reveal(),
        # Port 465 is for implicit TLS, so it is the default there.
        implicit_tls=port == 465 if given.secure is None else given.secure,
        start_tls=True if given.require_tls else False if given.ignore_tls else None,
        check_certificate=tls.reject_unauthorized,
        authority=tls.authority,
        server_name=tls.servername or None,
        min_tls=tls.min_version or None,
    )


def signing_account(given: SigningCredentials) -> SmtpAccount:
    key = smtp_account.read_dkim_key(given.domain.strip(), given.account_sid.strip(), given.secret_key.reveal())
    return replace(account(given), dkim=key)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65_535):
        raise refuse_account("The integration's port is not a port number")
    return int(text)


PROVIDER = SmtpProvider(
    id="nodemailer",
    name="Custom SMTP",
    credentials=SigningCredentials,
    account=signing_account,
    find_problems=smtp_account.find_dkim_problems,
    documentation="https://www.rfc-editor.org/rfc/rfc5321",
    note=f"Encryption is used where the server offers it: `secure` speaks TLS at once (as port 465 always does), "
    f"`requireTls` insists, `ignoreTls` does without. {smtp_account.NOTE}",
)
