"""Signatures of Amazon: of calls to its services, and of notifications of SNS, which name their certificate."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, HashAlgorithm

from clarion.clock import Millis
from clarion.providers.definition.credentials import FormatRule
from clarion.providers.definition.receipts import Callback, ReceiptRefused, RequestFlow
from clarion.providers.definition.request import ProviderCall, ProviderRequest
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.signing.signatures import hmac_bytes
from clarion.secret import Secret

REFUSED_ACCOUNT_CODES = (
    *("InvalidClientTokenId", "UnrecognizedClientException", "MissingAuthenticationToken", "NotAuthorized"),
    *("SignatureDoesNotMatch", "InvalidSignatureException", "ExpiredToken", "ExpiredTokenException"),
    *("AccessDenied", "AccessDeniedException", "AuthorizationError"),
)
"""What services answer to a key that they do not know, or that may not send."""
_ALGORITHM = "AWS4-HMAC-SHA256"
# Anybody can have a certificate, so only those that SNS publishes in the region of the topic are trusted.
_CERTIFICATE = re.compile(r"/SimpleNotificationService-[0-9a-f]{32}\.pem")
_CONFIRMATION = re.compile(r"/\?Action=ConfirmSubscription&[A-Za-z0-9/_.=&%:~-]{1,2000}")
_OWNER = re.compile(r"arn:(aws[a-z-]{0,20}):sns:([a-z0-9-]{1,30}):[0-9]{1,20}")
_NOTIFICATION_FIELDS = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")
_CONFIRMATION_FIELDS = ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")


def is_region(text: str) -> bool:
    return re.fullmatch(r"[a-z]{2,}(-[a-z0-9]+)+", text) is not None


REGION = FormatRule(is_region, "must be a region of Amazon such as eu-west-1")


class AwsAccount(Protocol):
    """The AWS credentials of an integration."""

    @property
    def api_key(self) -> str: ...
    @property
    def secret_key(self) -> Secret: ...
    @property
    def region(self) -> str: ...
    @property
    def token(self) -> Secret | None: ...


def aws_address(service: str, region: str) -> str:
    """Return the URL of a service; raises SendFailure for a malformed region, which could name another host."""
    if not is_region(region):
        raise SendFailure(FailureKind.PERMANENT, f"The integration's region {REGION.sentence}")
    return f"https://{service}.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


def make_aws_signer(service: str) -> Callable[[AwsAccount, ProviderCall, Millis], Mapping[str, str]]:
    """Return the `sign` function of a provider that calls this service."""
    return partial(_sign, service)


def _sign(service: str, account: AwsAccount, call: ProviderCall, now: Millis) -> Mapping[str, str]:
    timestamp = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
    parts = urlsplit(call.url)
    added = {"X-Amz-Date": timestamp}
    if account.token:
        added["X-Amz-Security-Token"] = account.token.reveal()
    signed = {name.lower(): value for name, value in {**call.headers, **added, "Host": parts.netloc}.items()}
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        [
            call.method,
            quote(parts.path or "/", safe="/-_.~%"),
            _canonical_query(parts.query),
            *(f"{name}:{' '.join(signed[name].split())}" for name in sorted(signed)),
            "",
            names,
            sha256(call.content).hexdigest(),
        ]
    )
    scope = f"{timestamp[:8]}/{account.region}/{service}/aws4_request"
    text = f"{_ALGORITHM}\n{timestamp}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
    signature = hmac_bytes(_signing_key(account, service, timestamp[:8]), text.encode()).hex()
    credential = f"Credential={account.api_key}/{scope}"
    return added | {"Authorization": f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"}


def _canonical_query(query: str) -> str:
    pairs = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(query, keep_blank_values=True)
    )
    return "&".join(f"{name}={value}" for name, value in pairs)


def _signing_key(account: AwsAccount, service: str, day: str) -> bytes:
    derived = f"AWS4{account.secret_key.reveal()}".encode()
    for part in (day, account.region, service, "aws4_request"):
        derived = hmac_bytes(derived, part.encode())
    return derived


def is_signed_by_sns(callback: Callback, _: Any) -> RequestFlow[bool]:
    """Fetch the certificate from Amazon and verify the signature with it."""
    (notification,) = callback.events() or [{}]
    address = str(notification.get("SigningCertURL", ""))
    if not is_certificate_url(address, str(notification.get("TopicArn", ""))):
        return False
    answer = yield ProviderRequest.get(address)
    return answer.is_success and is_signed_by(answer.text, notification)


def get_topic_owner(callback: Callback) -> str:
    """Return the region and the account of the topic of a notification.

    Not the topic itself, because bounces, complaints and deliveries can have different topics.
    """
    topics = [str(one.get("TopicArn", "")) for one in callback.events()]
    owner, _, name = topics[0].rpartition(":") if len(topics) == 1 else ("", "", "")
    if not _OWNER.fullmatch(owner) or not name:
        raise ReceiptRefused("The notification names no topic")
    return owner


def is_certificate_url(address: str, topic: str) -> bool:
    """Return whether Amazon publishes certificates of SNS at this URL, in the region of the topic."""
    return _is_of_region(address, topic, _CERTIFICATE)


def is_confirmation_url(address: str, topic: str) -> bool:
    """Return whether a GET of this URL confirms a subscription, in the region of the topic."""
    return _is_of_region(address, topic, _CONFIRMATION)


def _is_of_region(address: str, topic: str, path: re.Pattern[str]) -> bool:
    owner = _OWNER.fullmatch(topic.rpartition(":")[0])
    if owner is None:
        return False
    partition, region = owner.groups()
    start = f"https://sns.{region}.amazonaws.com{'.cn' if partition == 'aws-cn' else ''}"
    return address.startswith(start) and path.fullmatch(address, len(start)) is not None


def is_signed_by(certificate: str, notification: Mapping[str, Any]) -> bool:
    from cryptography import x509  # noqa: PLC0415 - slow to import, and only Amazon needs it

    # Version 1, still the default of Amazon, is SHA-1. The signed text leaves no room for a collision.
    digest: HashAlgorithm = SHA256() if notification.get("SignatureVersion") == "2" else SHA1()  # noqa: S303
    try:
        key = x509.load_pem_x509_certificate(certificate.encode()).public_key()
        if not isinstance(key, rsa.RSAPublicKey):
            return False
        signature = base64.b64decode(str(notification.get("Signature", "")), validate=True)
        key.verify(signature, _signed_text(notification), padding.PKCS1v15(), digest)
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True


def _signed_text(notification: Mapping[str, Any]) -> bytes:
    names = _NOTIFICATION_FIELDS if notification.get("Type") == "Notification" else _CONFIRMATION_FIELDS
    return "".join(f"{name}\n{notification[name]}\n" for name in names if name in notification).encode()
