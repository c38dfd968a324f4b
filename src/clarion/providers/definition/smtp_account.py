"""The SMTP server of an account and how to log in there."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpAccount:
    """A server and how to speak to it; only the same account, password and all, shares a connection."""

    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)
    implicit_tls: bool = False
    start_tls: bool | None = None
    """True: required. False: never. None: where the server offers it."""
    check_certificate: bool = True
    authority: str | None = field(default=None, repr=False)
    """A certificate to trust besides the system's."""
    server_name: str | None = None
    """The name that the certificate is for, where it is not the host."""
