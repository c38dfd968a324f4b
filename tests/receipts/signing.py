"""Reports as providers sign them, about the messages of tests."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID

from clarion.providers.signing.jwt import sign_hs256
from clarion.secret import Secret
from tests.records import NOW
from tests.rsa_keys import rsa_key
from tests.support import Api

_CURVE_KEY = ec.generate_private_key(ec.SECP256R1())
_RSA_KEY = rsa_key(2_048)
_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
CERTIFICATE = (
    x509.CertificateBuilder()
    .subject_name(_NAME)
    .issuer_name(_NAME)
    .public_key(_RSA_KEY.public_key())
    .serial_number(1)
    .not_valid_before(datetime.now(UTC) - timedelta(days=1))
    .not_valid_after(datetime.now(UTC) + timedelta(days=1))
    .sign(_RSA_KEY, SHA256())
    .public_bytes(Encoding.PEM)
    .decode()
)
MAIL = {"from": "news@example.com", "senderName": "News"}
TWILIO_TOKEN = "canary-twilio-token"
CREDENTIALS: Mapping[str, Mapping[str, str]] = {
    "sendgrid": {
        **MAIL,
        "apiKey": "SG.canary-api-key",
        "secretKey": base64.b64encode(
            _CURVE_KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        ).decode(),
    },
    "mailgun": {
        **MAIL,
        "apiKey": "canary-api-key",
        "user": "api",
        "domain": "mg.example.com",
        "secretKey": "canary-signing-key",
    },
    "postmark": {**MAIL, "apiKey": "canary-server-token"},
    "ses": {**MAIL, "apiKey": "canary-access-key", "secretKey": "canary-secret-access-key", "region": "eu-west-1"},
    "twilio": {"accountSid": "ACcanary-account", "token": TWILIO_TOKEN, "from": "+15005550006"},
    "whatsapp-business": {
        "apiToken": "canary-api-token",
        "phoneNumberIdentification": "1",
        "token": "canary-verify-token",
        "secretKey": "canary-app-secret",
    },
    "mandrill": {**MAIL, "apiKey": "canary-api-key", "secretKey": "canary-webhook-key"},
    "messagebird": {"accessKey": "canary-access-key", "secretKey": "canary-signing-key", "from": "+31970"},
    "kannel": {"host": "127.0.0.1", "port": "13013", "from": "news", "user": "u", "password": "canary-password"},
    "pusher-beams": {"instanceId": "i-1", "secretKey": "canary-beams-key", "token": "canary-beams-webhook"},
    "fcm": {"serviceAccount": "{}"},
}
CHANNELS = {
    **dict.fromkeys(("twilio", "kannel", "messagebird"), "sms"),
    "whatsapp-business": "chat",
    "pusher-beams": "push",
    "fcm": "push",
}


@dataclass(frozen=True, kw_only=True)
class Address:
    """The receipts URL of an integration."""

    api: Api
    integration_id: str
    url: str

    @property
    def path(self) -> str:
        return self.url.removeprefix("http://clarion.test").partition("?")[0]

    async def post(self, report: "Signed", *, url: str | None = None) -> httpx.Response:
        return await self.api.post(url or self.url, content=report.body, headers=dict(report.headers))


@dataclass(frozen=True, kw_only=True)
class Signed:
    """A report that its provider signed."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


async def make_address(api: Api, provider_id: str, **credentials: str) -> Address:
    """Create an integration and return its receipts URL."""
    body = {
        "providerId": provider_id,
        "channel": CHANNELS.get(provider_id, "email"),
        "credentials": {**CREDENTIALS[provider_id], **credentials},
        "active": True,
    }
    made = await api.post("/v1/integrations", json=body)
    assert made.status_code == 201, made.text
    integration_id = made.json()["_id"]
    found = await api.get(f"/v1/integrations/{integration_id}/receipts-address")
    return Address(api=api, integration_id=integration_id, url=found.json().get("url", ""))


def sendgrid(*events: Mapping[str, Any]) -> Signed:
    body = json.dumps(events).encode()
    moment = str(NOW // 1000)
    signature = base64.b64encode(_CURVE_KEY.sign(moment.encode() + body, ec.ECDSA(SHA256()))).decode()
    headers = {
        "X-Twilio-Email-Event-Webhook-Timestamp": moment,
        "X-Twilio-Email-Event-Webhook-Signature": signature,
    }
    return Signed(body=body, headers=headers)


def sendgrid_event(
    kind: str, message_id: str, *, number: int = 1, at: int = NOW // 1000, **more: Any
) -> dict[str, Any]:
    named = {"event": kind, "timestamp": at, "sg_event_id": f"event-{number}", "clarion_message_id": message_id}
    return named | more


def mailgun(kind: str, message_id: str, **data: Any) -> Signed:
    moment, token = str(NOW // 1000), "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0"
    key = CREDENTIALS["mailgun"]["secretKey"].encode()
    signature = hmac.new(key, f"{moment}{token}".encode(), hashlib.sha256).hexdigest()
    event = {
        "event": kind,
        "id": "event-1",
        "timestamp": NOW / 1000,
        "user-variables": {"clarion_message_id": message_id},
    }
    signed = {"timestamp": moment, "token": token, "signature": signature}
    return Signed(body=json.dumps({"signature": signed, "event-data": event | data}).encode())


def twilio(url: str, status: str, sid: str, **more: str) -> Signed:
    return sign_twilio(url, {"MessageSid": sid, "MessageStatus": status, "To": "+442079460000", **more})


def sign_twilio(url: str, fields: Mapping[str, str]) -> Signed:
    text = url + "".join(f"{name}{fields[name]}" for name in sorted(fields))
    signature = base64.b64encode(hmac.new(TWILIO_TOKEN.encode(), text.encode(), hashlib.sha1).digest()).decode()
    headers = {"X-Twilio-Signature": signature, "Content-Type": "application/x-www-form-urlencoded"}
    return Signed(body=urlencode(fields).encode(), headers=headers)


def sns(**fields: Any) -> Signed:
    notification = {
        "MessageId": "event-1",
        "Timestamp": "2026-01-01T00:00:00.000Z",
        "TopicArn": "arn:aws:sns:eu-west-1:1:ses",
        **fields,
    }
    text = "".join(f"{name}\n{notification[name]}\n" for name in sorted(notification))
    proof = {
        "SignatureVersion": "2",
        "Signature": base64.b64encode(_RSA_KEY.sign(text.encode(), padding.PKCS1v15(), SHA256())).decode(),
        "SigningCertURL": f"https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-{'0af3' * 8}.pem",
    }
    return Signed(body=json.dumps(notification | proof).encode(), headers={"Content-Type": "text/plain"})


def ses_bounce(message_id: str, people: Sequence[str]) -> Signed:
    event = {
        "eventType": "Bounce",
        "mail": {
            "messageId": "0100018a-ses",
            "destination": list(people),
            "tags": {"clarion_message_id": [message_id]},
        },
        "bounce": {
            "bounceType": "Permanent",
            "bouncedRecipients": [{"emailAddress": one, "diagnosticCode": "550 user unknown"} for one in people],
            "timestamp": "2026-01-01T00:00:01.000Z",
        },
    }
    return sns(Type="Notification", Message=json.dumps(event))


def sign_messagebird(url: str, body: bytes, now: int) -> dict[str, str]:
    """The headers of a call of MessageBird with the body."""
    claims = {
        "iss": "MessageBird",
        "nbf": now // 1000,
        "exp": now // 1000 + 60,
        "url_hash": hashlib.sha256(url.encode()).hexdigest(),
        "payload_hash": hashlib.sha256(body).hexdigest(),
    }
    token = sign_hs256(Secret(CREDENTIALS["messagebird"]["secretKey"]), claims)
    return {"MessageBird-Signature-JWT": token.reveal()}
