"""Behaviour of single SMS providers, beyond the shared contract: handshakes, sandboxes, repeated sends, long texts."""

import json
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest

from clarion.clock import ManualClock
from clarion.providers.definition.receipts import Callback, ReceiptRefused
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from tests.providers.contract.case import NOW, Case, Report
from tests.providers.contract.golden import make_gateway
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import Received, play

BY_ID = {case.id: case for case in CASES}
VALIDATION = Report(
    body=b'[{"eventType": "Microsoft.EventGrid.SubscriptionValidationEvent", "data": {"validationCode": "512d38b6"}}]',
    headers={"aeg-event-type": "SubscriptionValidation"},
    expected=[],
).callback


async def deliver(case: Case, *, later: int = 0, **fields: Any) -> Received:
    """Return the request of a message that is sent `later` milliseconds after NOW."""
    async with play(case.answers(case.success)) as vendor:
        guard, clock = EgressGuard(["127.0.0.0/8"]), ManualClock(NOW)
        clock.move(later)
        async with ProviderGateway(guard, clock=clock, rewrite_url=vendor.rewrite_url) as gateway:
            await gateway.send(case.id, case.make_outgoing(**fields))
    (request,) = vendor.requests
    return request


async def read_azure(callback: Callback) -> Any:
    case = BY_ID["azure-sms"]
    async with play(case.answers(case.success)) as vendor, make_gateway(vendor) as gateway:
        return await gateway.read_receipts(case.id, case.credentials, callback)


@pytest.mark.parametrize(
    ("sender", "field"),
    [
        ("MG" + "0123456789abcdef" * 2, "MessagingServiceSid"),
        ("MG" + "0123456789ABCDEF" * 2, "MessagingServiceSid"),
        ("MGM Grand", "From"),
        ("MG" + "g" * 32, "From"),
    ],
)
async def test_only_the_id_of_a_messaging_service_is_one_for_twilio(sender: str, field: str) -> None:
    request = await deliver(BY_ID["twilio"], overrides={"from": sender})

    assert (field, sender) in parse_qsl(request.body.decode())


@pytest.mark.parametrize(("given", "kind"), [("plain", "plain"), ("unicode", "unicode"), ("", "unicode")])
async def test_the_account_decides_how_isend_encodes(given: str, kind: str) -> None:
    case = BY_ID["isend-sms"]
    request = await deliver(case, credentials={**case.credentials, "contentType": given}, content="🎉")

    assert json.loads(request.body)["type"] == kind


async def test_the_validation_code_is_returned_to_event_grid() -> None:
    receipts, reply = await read_azure(VALIDATION)

    assert receipts == []
    assert (reply.status, reply.content_type) == (200, "application/json")
    assert json.loads(reply.body) == {"validationResponse": "512d38b6"}


async def test_a_subscription_without_our_token_is_not_confirmed() -> None:
    with pytest.raises(ReceiptRefused):
        await read_azure(replace(VALIDATION, query={}))


async def test_a_repeated_send_to_azure_has_the_same_id_and_time() -> None:
    first, second = [await deliver(BY_ID["azure-sms"], later=later) for later in (0, 90_000)]

    assert first.body == second.body
    assert first.headers["x-ms-date"] != second.headers["x-ms-date"]


@pytest.mark.parametrize("text", ["canary", "endpoint=https://clarion.communication.azure.com", "endpoint=;accesskey="])
async def test_azure_needs_a_complete_connection_string(text: str) -> None:
    case = BY_ID["azure-sms"]
    with pytest.raises(SendFailure) as failure:
        await deliver(case, credentials={**case.credentials, "accessKey": text})

    assert (failure.value.kind, "connection string" in failure.value.message) == (FailureKind.PERMANENT, True)


async def test_the_sandbox_of_africas_talking_is_another_host() -> None:
    case = BY_ID["africas-talking"]
    request = await deliver(case, credentials={**case.credentials, "user": "sandbox"})

    assert request.url == "https://api.sandbox.africastalking.com/version1/messaging"


async def test_bulksms_gets_the_number_of_parts() -> None:
    first, second = [await deliver(BY_ID["bulk-sms"], content="x" * 700, later=later) for later in (0, 90_000)]

    assert json.loads(first.body)["longMessageMaxParts"] == 5
    assert first.url == second.url
