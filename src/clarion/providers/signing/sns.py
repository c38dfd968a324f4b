"""Notifications of Amazon SNS, which name the certificate that signs them."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, HashAlgorithm

from clarion.providers.definition.receipts import Callback, ReceiptRefused, RequestFlow
from clarion.providers.definition.request import ProviderRequest

# Anybody can have a certificate, so only URLs of Amazon are trusted.
_AMAZON = re.compile(r"https://sns\.[a-z0-9-]{1,30}\.amazonaws\.com(\.cn)?/[A-Za-z0-9/_.?=&%:~-]{1,2000}")
_OWNER = re.compile(r"arn:aws[a-z-]{0,20}:sns:[a-z0-9-]{1,30}:[0-9]{1,20}")
_NOTIFICATION_FIELDS = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")
_CONFIRMATION_FIELDS = ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")


def is_signed_by_sns(callback: Callback, _: Any) -> RequestFlow[bool]:
    """Fetch the certificate from Amazon and verify the signature with it."""
    (notification,) = callback.events() or [{}]
    address = str(notification.get("SigningCertURL", ""))
    if not is_amazon_url(address) or not address.endswith(".pem"):
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


def is_amazon_url(address: str) -> bool:
    return _AMAZON.fullmatch(address) is not None


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
