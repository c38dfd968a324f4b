"""Signatures, checked with published test vectors and with the matching public or private key."""

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from clarion.clock import Millis, find_moment
from clarion.providers.definition.receipts import Callback
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import SendFailure
from clarion.providers.signing.amazon import is_certificate_url, is_confirmation_url, make_aws_signer
from clarion.providers.signing.jwt import read_hs256, sign_es256, sign_hs256, sign_rs256
from clarion.providers.signing.signatures import hmac_hex, is_ed25519_signed, is_standard_signed
from clarion.providers.sms.azure_sms import AzureSmsCredentials, sign
from clarion.providers.sms.sns import SnsCredentials
from clarion.secret import Secret

WEBHOOK_BODY = (
    '{"to":["johndoe@example.com"],"from":"janedoe@example.com","subject":"test","html":"<h1>test</h1>","text":"test"}'
)


def make_pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> Secret:
    return Secret(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_the_aws_test_vector_of_a_plain_get() -> None:
    account = SnsCredentials(
        api_key="AKIDEXAMPLE", secret_key=Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), region="us-east-1"
    )
    now = find_moment("2015-08-30T12:36:00Z")
    assert now is not None
    headers = make_aws_signer("service")(
        account, ProviderCall(method="GET", url="https://example.amazonaws.com/", headers={}, content=b""), now
    )

    assert headers["X-Amz-Date"] == "20150830T123600Z"
    assert headers["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        "SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    )


def _azure_account(key: str) -> AzureSmsCredentials:
    return AzureSmsCredentials(access_key=Secret(f"endpoint=https://x.example;accesskey={key}"), sender="+15550100")


def test_azure_signs_path_date_host_and_content() -> None:
    call = ProviderCall(
        method="POST", url="https://x.communication.azure.com/sms?api-version=1", headers={}, content=b"{}"
    )
    headers = sign(_azure_account(base64.b64encode(b"key").decode()), call, Millis(1_767_225_600_000))

    text = (
        "POST\n/sms?api-version=1\nThu, 01 Jan 2026 00:00:00 GMT;x.communication.azure.com;"
        "RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o="
    )
    signature = base64.b64encode(bytes.fromhex(hmac_hex(b"key", text.encode()))).decode()
    assert headers["x-ms-content-sha256"] == "RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o="
    assert headers["Authorization"].endswith(f"&Signature={signature}")
    with pytest.raises(SendFailure, match="base64"):
        sign(_azure_account("not base64!"), call, Millis(0))


@pytest.mark.parametrize(
    ("key", "body", "signature"),
    [
        (
            "super-secret-key",
            WEBHOOK_BODY,
            "d1e94cd19eeceec2e0717e36f7edacaa93612b311bde8756ee35b89d4a994767",
        ),
        (
            "s3cret",
            '{"title":"Hi","content":"Body","target":["tok-1"],"payload":{"n":1}}',
            "7075542deb18631a9aa42b765064673bc3abc7014ac46dfc5f4ea6b438931cea",
        ),
    ],
)
def test_webhooks_are_signed_over_their_exact_bytes(key: str, body: str, signature: str) -> None:
    assert hmac_hex(Secret(key), body.encode()) == signature


def make_standard(**headers: str) -> Callback:
    base = {
        "svix-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "svix-timestamp": "1614265330",
        "svix-signature": "v1,nothing v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    named = base | {f"svix-{name}": value for name, value in headers.items()}
    return Callback(
        method="POST", url="", headers=named, body=b'{"test": 2432232314}', received_at=Millis(1_614_265_330_000)
    )


def test_the_test_vector_of_standard_webhooks() -> None:
    secret = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

    assert is_standard_signed(make_standard(), secret)
    assert not is_standard_signed(make_standard(id="msg_other"), secret)
    assert not is_standard_signed(make_standard(timestamp="1614264000"), secret)
    assert not is_standard_signed(make_standard(signature=""), secret)
    assert not is_standard_signed(make_standard(), Secret(""))


def test_tokens_signed_by_a_private_key_verify_with_the_public_key() -> None:
    rsa_key = rsa.generate_private_key(public_exponent=65_537, key_size=1_024)
    curve_key = ec.generate_private_key(ec.SECP256R1())
    claims: dict[str, Any] = {"iss": "me", "iat": 1}

    unsigned, _, signature = sign_rs256(make_pem(rsa_key), claims, key_id="k").reveal().rpartition(".")
    rsa_key.public_key().verify(decode(signature), unsigned.encode(), padding.PKCS1v15(), SHA256())
    assert decode(unsigned.partition(".")[0]) == b'{"alg":"RS256","typ":"JWT","kid":"k"}'

    unsigned, _, signature = sign_es256(make_pem(curve_key), claims).reveal().rpartition(".")
    both = decode(signature)
    assert len(both) == 64
    der = encode_dss_signature(int.from_bytes(both[:32], "big"), int.from_bytes(both[32:], "big"))
    curve_key.public_key().verify(der, unsigned.encode(), ec.ECDSA(SHA256()))


def test_keys_with_escaped_line_breaks_are_read_and_invalid_ones_refused() -> None:
    pem = make_pem(ec.generate_private_key(ec.SECP256R1()))

    assert sign_es256(Secret(pem.reveal().replace("\n", "\\n")), {})
    with pytest.raises(SendFailure, match="cannot be read"):
        sign_es256(Secret("-----BEGIN PRIVATE KEY-----\ncanary"), {})
    with pytest.raises(SendFailure, match="not one for RSA"):
        sign_rs256(pem, {})


def test_a_token_of_another_key_or_another_algorithm_has_no_claims() -> None:
    token = sign_hs256(Secret("key"), {"a": 1}).reveal()

    assert read_hs256(Secret("key"), token) == {"a": 1}
    assert read_hs256(Secret("other"), token) is None
    assert read_hs256(Secret("key"), "eyJhbGciOiJub25lIn0.e30.") is None
    assert read_hs256(Secret("key"), "nonsense") is None


def test_an_ed25519_signature_is_verified() -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    public = base64.b64encode(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
    signature = base64.b64encode(key.sign(b"1|body")).decode()

    assert is_ed25519_signed(public, signature, b"1|body")
    assert not is_ed25519_signed(public, signature, b"2|body")
    assert not is_ed25519_signed("", "", b"")


_TOPIC = "arn:aws:sns:eu-west-1:123456789012:mail"
_CERTIFICATE = "SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem"
_CONFIRMATION = "?Action=ConfirmSubscription&TopicArn=arn:aws:sns:eu-west-1:123456789012:mail&Token=2336412f"
_HOSTS = [
    ("https://sns.eu-west-1.amazonaws.com", _TOPIC, True),
    ("https://sns.cn-north-1.amazonaws.com.cn", "arn:aws-cn:sns:cn-north-1:123456789012:mail", True),
    ("https://sns.us-gov-west-1.amazonaws.com", "arn:aws-us-gov:sns:us-gov-west-1:123456789012:mail", True),
    ("https://sns.us-east-1.amazonaws.com", _TOPIC, False),
    ("https://sns.eu-west-1.amazonaws.com.cn", _TOPIC, False),
    ("https://sns.cn-north-1.amazonaws.com", "arn:aws-cn:sns:cn-north-1:123456789012:mail", False),
    ("http://sns.eu-west-1.amazonaws.com", _TOPIC, False),
    ("https://sns.eu-west-1.amazonaws.com:8443", _TOPIC, False),
    ("https://sns.eu-west-1.amazonaws.com.evil.example", _TOPIC, False),
    ("https://evil.example/sns.eu-west-1.amazonaws.com", _TOPIC, False),
    ("https://sns.eu-west-1.amazonaws.com@evil.example", _TOPIC, False),
    ("https://s3.amazonaws.com", _TOPIC, False),
    ("https://sns.a-bucket.amazonaws.com", _TOPIC, False),
    ("https://sns.eu-west-1.amazonaws.com", "", False),
    ("https://sns.eu-west-1.amazonaws.com", "arn:aws:s3:eu-west-1:123456789012:mail", False),
]


@pytest.mark.parametrize(("host", "topic", "is_theirs"), _HOSTS)
def test_only_the_host_of_the_topics_region_is_trusted(host: str, topic: str, is_theirs: bool) -> None:
    assert is_certificate_url(f"{host}/{_CERTIFICATE}", topic) is is_theirs
    assert is_confirmation_url(f"{host}/{_CONFIRMATION}", topic) is is_theirs


@pytest.mark.parametrize(
    "path",
    [
        "cert.pem",
        "SimpleNotificationService-1.pem",
        f"uploads/{_CERTIFICATE}",
        f"../{_CERTIFICATE}",
        f"{_CERTIFICATE}?x=.pem",
        f"{_CERTIFICATE}#.pem",
        f"{_CERTIFICATE}\n",
        _CERTIFICATE.upper(),
        _CONFIRMATION,
    ],
)
def test_only_the_documented_path_of_certificates_is_trusted(path: str) -> None:
    assert not is_certificate_url(f"https://sns.eu-west-1.amazonaws.com/{path}", _TOPIC)


@pytest.mark.parametrize("path", ["", "?Action=Unsubscribe&SubscriptionArn=x", f"x{_CONFIRMATION}", _CERTIFICATE])
def test_only_the_confirmation_of_a_subscription_is_called(path: str) -> None:
    assert not is_confirmation_url(f"https://sns.eu-west-1.amazonaws.com/{path}", _TOPIC)
