"""DKIM signatures of e-mails over SMTP, verified without the library that makes them."""

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

from clarion.providers.definition.provider import find_credential_problems
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.registry import PROVIDERS
from clarion.providers.signing.dkim import load_dkim_key
from tests.providers.contract.golden import make_email_message
from tests.providers.contract.smtp_cases import SMTP_CASES, SmtpCase, play_mail
from tests.providers.signing.dkim_verifier import PublicKey, find_signature, is_signed, read_tags
from tests.rsa_keys import rsa_key

# RFC 8463, appendix A.
EXAMPLE = b"""\
DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=brisbane; t=1528637909; h=from : to :
 subject : date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus
 Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==
From: Joe SixPack <joe@football.example.com>
To: Suzie Q <suzie@shopping.example.net>
Subject: Is dinner ready?
Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)
Message-ID: <20030712040037.46341.5F8J@football.example.com>

Hi.

We lost the game.  Are you hungry yet?

Joe.
""".replace(b"\n", b"\r\n")
EXAMPLE_KEY = ed25519.Ed25519PublicKey.from_public_bytes(
    base64.b64decode("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
)
RSA = rsa_key(2_048)
SMALL_RSA = rsa_key(1_024)
ED25519 = ed25519.Ed25519PrivateKey.generate()
SEED = base64.b64encode(ED25519.private_bytes_raw()).decode()
PROVIDER = PROVIDERS["nodemailer"]


def pem(key: Any, form: PrivateFormat = PrivateFormat.PKCS8) -> str:
    text: str = key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()
    return text


async def send(key: str, **fields: Any) -> bytes:
    """Return the e-mail as the server gets it."""
    (base,) = [one for one in SMTP_CASES if one.id == "nodemailer"]
    dkim = {"domain": "example.com", "accountSid": "mail2026", "secretKey": key}
    case = SmtpCase(id="nodemailer", credentials={**base.credentials, **dkim, **fields})
    async with play_mail(case) as (server, gateway):
        await gateway.send("nodemailer", make_email_message(case))
    (envelope,) = server.envelopes
    return envelope.original_content or b""


def test_the_verifier_accepts_the_example_of_the_standard_and_nothing_else() -> None:
    assert is_signed(EXAMPLE, EXAMPLE_KEY)
    assert not is_signed(EXAMPLE.replace(b"hungry", b"angry"), EXAMPLE_KEY)
    assert not is_signed(EXAMPLE.replace(b"dinner", b"supper"), EXAMPLE_KEY)
    assert not is_signed(EXAMPLE, ED25519.public_key())


@pytest.mark.parametrize(
    ("text", "public_key", "algorithm"),
    [
        (pem(RSA), RSA.public_key(), "rsa-sha256"),
        (pem(RSA, PrivateFormat.TraditionalOpenSSL), RSA.public_key(), "rsa-sha256"),
        (pem(SMALL_RSA).replace("\n", "\\n"), SMALL_RSA.public_key(), "rsa-sha256"),
        (pem(ED25519), ED25519.public_key(), "ed25519-sha256"),
        (SEED, ED25519.public_key(), "ed25519-sha256"),
    ],
    ids=["rsa", "rsa in its older form", "rsa in one line", "ed25519", "ed25519 as base64"],
)
async def test_an_e_mail_is_signed_so_that_receivers_accept_it(
    text: str, public_key: PublicKey, algorithm: str
) -> None:
    content = await send(text)

    tags = read_tags(find_signature(content))
    assert is_signed(content, public_key)
    assert (tags["a"], tags["d"], tags["s"]) == (algorithm, "example.com", "mail2026")
    assert {"from", "to", "cc", "subject", "date", "message-id", "reply-to", "content-type"} <= set(
        tags["h"].split(":")
    )


async def test_a_signed_e_mail_can_be_changed_in_nothing() -> None:
    content = await send(pem(RSA))

    for old, new in (
        (b"Subject: ", b"Subject: No "),
        (b"notes.txt", b"other.txt"),
        (b"From: ", b"From: x@y.zz\r\nFrom: "),
    ):
        assert old in content
        assert not is_signed(content.replace(old, new, 1), RSA.public_key())


async def test_an_account_without_a_key_signs_nothing() -> None:
    content = await send("", domain="", accountSid="")

    assert b"DKIM-Signature" not in content


@pytest.mark.parametrize("missing", ["domain", "accountSid", "secretKey"])
async def test_half_of_a_dkim_account_is_refused(missing: str) -> None:
    given = {"domain": "example.com", "accountSid": "mail2026", "secretKey": pem(ED25519)} | {missing: ""}
    smtp = {"host": "localhost", "port": "25", "from": "a@example.com"}

    assert list(find_credential_problems(PROVIDER, smtp | given)) == [missing]
    with pytest.raises(SendFailure, match="needs all of domain") as failure:
        await send(given["secretKey"], **given)
    assert failure.value.kind is FailureKind.PERMANENT


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----",
        pem(ec.generate_private_key(ec.SECP256R1())),
        RSA.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"password")).decode(),
    ],
)
async def test_a_key_that_cannot_sign_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^it "):
        load_dkim_key(text)
    with pytest.raises(SendFailure, match="DKIM key cannot be used"):
        await send(text)
    given = {"domain": "example.com", "accountSid": "mail2026", "secretKey": text}
    smtp = {"host": "localhost", "port": "25", "from": "a@example.com"}
    assert list(find_credential_problems(PROVIDER, smtp | given)) == ["secretKey"]


def test_leftover_keys_of_emailjs_are_no_dkim_keys() -> None:
    given = {"host": "localhost", "port": "25", "from": "a@example.com", "secretKey": "x", "apiKey": "y"}

    assert find_credential_problems(PROVIDERS["emailjs"], given) == {}
