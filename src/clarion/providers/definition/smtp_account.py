"""The SMTP server of an account and how to log in there."""

from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

DkimPrivateKey = RSAPrivateKey | Ed25519PrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class DkimKey:
    """The key that e-mails are signed with, and where receivers find its public half in the DNS."""

    domain: str
    selector: str
    private_key: DkimPrivateKey = field(repr=False)


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
