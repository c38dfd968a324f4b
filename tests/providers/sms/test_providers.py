"""Providers of SMS beyond what all of them promise: handshakes, sandboxes, repeated tries, long texts."""

import json
from dataclasses import replace
from typing import Any

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
    """The request that a message becomes, at a moment some milliseconds later than usual."""
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


async def test_event_grid_gets_the_code_of_a_new_subscription_back() -> None:
    receipts, reply = await read_azure(VALIDATION)

    assert receipts == []
    assert (reply.status, reply.content_type) == (200, "application/json")
    assert json.loads(reply.body) == {"validationResponse": "512d38b6"}


async def test_a_subscription_without_our_token_is_not_confirmed() -> None:
    with pytest.raises(ReceiptRefused):
        await read_azure(replace(VALIDATION, query={}))


async def test_azure_knows_a_later_try_by_the_same_id_and_moment() -> None:
    first, second = [await deliver(BY_ID["azure-sms"], later=later) for later in (0, 90_000)]

    assert first.body == second.body
    assert first.headers["x-ms-date"] != second.headers["x-ms-date"]


@pytest.mark.parametrize("text", ["canary", "endpoint=https://clarion.communication.azure.com", "endpoint=;accesskey="])
async def test_azure_wants_a_whole_connection_string(text: str) -> None:
    case = BY_ID["azure-sms"]
    with pytest.raises(SendFailure) as failure:
        await deliver(case, credentials={**case.credentials, "accessKey": text})

    assert (failure.value.kind, "connection string" in failure.value.message) == (FailureKind.PERMANENT, True)


async def test_the_sandbox_of_africas_talking_is_another_host() -> None:
    case = BY_ID["africas-talking"]
    request = await deliver(case, credentials={**case.credentials, "user": "sandbox"})

    assert request.url == "https://api.sandbox.africastalking.com/version1/messaging"


async def test_bulksms_is_told_of_long_texts_and_repeated_tries() -> None:
    first, second = [await deliver(BY_ID["bulk-sms"], content="x" * 700, later=later) for later in (0, 90_000)]

    assert json.loads(first.body)["longMessageMaxParts"] == 5
    assert first.url == second.url
