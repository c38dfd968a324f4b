"""Notifications of Amazon SNS: signed by a certificate that the notification names."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, HashAlgorithm

from clarion.providers.definition.receipts import Asking, Callback, ReceiptRefused
from clarion.providers.definition.request import ProviderRequest

# Anybody can have a certificate; these hosts are Amazon's own.
_AMAZON = re.compile(r"https://sns\.[a-z0-9-]{1,30}\.amazonaws\.com(\.cn)?/[A-Za-z0-9/_.?=&%:~-]{1,2000}")
_OWNER = re.compile(r"arn:aws[a-z-]{0,20}:sns:[a-z0-9-]{1,30}:[0-9]{1,20}")
_OF_NOTIFICATIONS = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")
_OF_CONFIRMATIONS = ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")


def is_signed_by_sns(callback: Callback, _: Any) -> Asking[bool]:
    """Fetches the certificate from Amazon and checks the signature by it."""
    (notification,) = callback.events() or [{}]
    address = str(notification.get("SigningCertURL", ""))
    if not is_amazon(address) or not address.endswith(".pem"):
        return False
    answer = yield ProviderRequest.get(address)
    return answer.is_success and is_signed_by(answer.text, notification)


def topic_owner(callback: Callback) -> str:
    """Where the topic of a notification is: Amazon's region, and the account in it.

    Not the topic itself, for bounces, complaints and deliveries may have one each.
    """
    topics = [str(one.get("TopicArn", "")) for one in callback.events()]
    owner, _, name = topics[0].rpartition(":") if len(topics) == 1 else ("", "", "")
    if not _OWNER.fullmatch(owner) or not name:
        raise ReceiptRefused("The notification names no topic")
    return owner


def is_amazon(address: str) -> bool:
    return _AMAZON.fullmatch(address) is not None


def is_signed_by(certificate: str, notification: Mapping[str, Any]) -> bool:
    from cryptography import x509  # noqa: PLC0415 - certificates are for Amazon alone, and take a while to load

    # Version 1 is SHA-1: Amazon's default still, and what is signed leaves no room to find a twin of it.
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
    names = _OF_NOTIFICATIONS if notification.get("Type") == "Notification" else _OF_CONFIRMATIONS
    return "".join(f"{name}\n{notification[name]}\n" for name in names if name in notification).encode()
