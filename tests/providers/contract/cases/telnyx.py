"""Telnyx."""

import base64
import json
from dataclasses import replace
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from clarion.providers.definition.receipts import Callback
from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import NOW, Case, Fault, Report, fault
from tests.providers.contract.vendor import Reply

_KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
_PUBLIC_KEY = base64.b64encode(_KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
_ID = "40385f64-5717-4562-b3fc-2c963f66afa6"


def _headers(body: bytes, moment: int) -> dict[str, str]:
    signature = base64.b64encode(_KEY.sign(f"{moment}|".encode() + body)).decode()
    return {"telnyx-signature-ed25519": signature, "telnyx-timestamp": str(moment)}


def _report(status: str, *, error: str = "", **expected: Any) -> Report:
    payload = {
        "id": _ID,
        "to": [{"phone_number": "+442079460000", "status": status}],
        "errors": [{"code": error, "title": "Not routable"}] if error else [],
    }
    event = {"event_type": "message.finalized", "id": "event-1", "occurred_at": "2026-01-01T00:00:01Z"}
    body = json.dumps({"data": event | {"payload": payload}, "meta": {"attempt": 1}}).encode()
    receipt = {"provider_message_id": _ID, "recipient": "+442079460000", "event_id": "event-1", "at": NOW + 1000}
    return Report(body=body, headers=_headers(body, NOW // 1000), expected=[receipt | expected] if expected else [])


def _late(callback: Callback) -> Callback:
    return replace(callback, headers=_headers(callback.body, NOW // 1000 - 3_600))


def _altered(callback: Callback) -> Callback:
    return replace(callback, body=callback.body.replace(b"sent", b"lost"))


def _error(kind: FailureKind, status: int, code: str, pointer: str = "", *, wait: int | None = None) -> Fault:
    error = {"code": code, "title": "…", "detail": "…", "source": {"pointer": pointer}}
    return fault(kind, status, {"errors": [error]}, wait=wait)


CASE = Case(
    id="telnyx",
    credentials={
        "apiKey": "KEYcanary-api-key",
        "messageProfileId": "canary-profile-id",
        "secretKey": _PUBLIC_KEY,
        "from": "+18445550001",
    },
    success=Reply(body={"data": {"record_type": "message", "id": _ID, "to": [{"status": "queued"}], "errors": []}}),
    message_id=_ID,
    faults={
        "400": _error(FailureKind.PERMANENT, 400, "10015"),
        "401": _error(FailureKind.PERMANENT, 401, "10009"),
        "404": _error(FailureKind.PERMANENT, 404, "10005"),
        "429": _error(FailureKind.RATE_LIMITED, 429, "10011", wait=1),
        "500": _error(FailureKind.RETRYABLE, 500, "10007"),
        "invalid recipient": _error(FailureKind.RECIPIENT_INVALID, 400, "40310", "/to"),
        "a number that is none": _error(FailureKind.RECIPIENT_INVALID, 422, "10002", "/to"),
        "a sender that is none": _error(FailureKind.PERMANENT, 422, "10002", "/from"),
        "STOP": _error(FailureKind.RECIPIENT_INVALID, 409, "40300"),
        "carrier limit with a 400": _error(FailureKind.RATE_LIMITED, 400, "40011"),
    },
    reports=(
        _report("delivered", kind="delivered"),
        _report("delivery_failed", error="40001", kind="bounced", is_hard=True, reason="Not routable"),
        replace(_report("delivery_failed", error="40002", kind="bounced", is_hard=False), forge=_late),
        replace(_report("sent", kind="sent"), forge=_altered),
        _report("delivery_unconfirmed"),
    ),
)
