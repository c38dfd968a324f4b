"""MessageBird."""

import base64
import hashlib
import hmac
import json
from dataclasses import replace
from typing import Any

from clarion.providers.definition.receipts import Callback
from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, RECEIPTS_URL, Case, Fault, Report, fault
from tests.providers.contract.vendor import Reply

_KEY = "canary-signing-key"
_ID = "efa6405d518d4c0c88cce11f7db775fb"


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _token(**claims: Any) -> str:
    signed = {
        "iss": "MessageBird",
        "nbf": NOW // 1000,
        "exp": NOW // 1000 + 60,
        "jti": "1",
        "url_hash": hashlib.sha256(RECEIPTS_URL.encode()).hexdigest(),
    }
    head = _base64(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    unsigned = f"{head}.{_base64(json.dumps(signed | claims).encode())}"
    return f"{unsigned}.{_base64(hmac.new(_KEY.encode(), unsigned.encode(), hashlib.sha256).digest())}"


def _report(status: str, reason: str, **expected: Any) -> Report:
    query = {
        "id": _ID,
        "reference": MESSAGE_ID,
        "recipient": "442079460000",
        "status": status,
        "statusReason": reason,
        "statusDatetime": "2026-01-01T00:00:01+00:00",
    }
    receipt = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "recipient": "442079460000", "at": NOW + 1000}
    headers = {"messagebird-signature-jwt": _token()}
    return Report(method="GET", query=query, headers=headers, expected=[receipt | expected])


def _late(callback: Callback) -> Callback:
    return replace(callback, headers={"messagebird-signature-jwt": _token(exp=NOW // 1000 - 60)})


def _elsewhere(callback: Callback) -> Callback:
    return replace(callback, url=callback.url + "&status=delivered")


def _error(kind: FailureKind, status: int, code: int, parameter: str, *, wait: int | None = None) -> Fault:
    errors = [{"code": code, "description": f"{parameter} is not right", "parameter": parameter}]
    return fault(kind, status, {"errors": errors}, wait=wait)


CASE = Case(
    id="messagebird",
    credentials={"accessKey": "canary-access-key", "secretKey": _KEY, "from": "+31970000000"},
    success=Reply(
        status=201,
        body={
            "id": _ID,
            "href": f"https://rest.messagebird.com/messages/{_ID}",
            "recipients": {"totalCount": 1, "items": [{"recipient": 442079460000, "status": "sent"}]},
        },
    ),
    message_id=_ID,
    faults={
        "400": _error(FailureKind.PERMANENT, 400, 21, ""),
        "401": _error(FailureKind.PERMANENT, 401, 2, "access_key"),
        "404": _error(FailureKind.PERMANENT, 404, 20, ""),
        "429": _error(FailureKind.RATE_LIMITED, 429, 98, "", wait=1),
        "500": _error(FailureKind.RETRYABLE, 500, 99, ""),
        "invalid recipient": _error(FailureKind.RECIPIENT_INVALID, 422, 9, "recipients"),
        "originator": _error(FailureKind.PERMANENT, 422, 10, "originator"),
        "no credit": _error(FailureKind.PERMANENT, 422, 25, ""),
    },
    reports=(
        _report("delivered", "successfully delivered", kind="delivered"),
        _report("delivery_failed", "unknown subscriber", kind="bounced", is_hard=True),
        replace(_report("expired", "unavailable subscriber", kind="bounced", is_hard=False), forge=_late),
        replace(_report("buffered", "pending", kind="deferred"), forge=_elsewhere),
    ),
)
