"""SMS providers: requests that depend on number, sender and account, and checks of credentials."""

import json
from typing import Any

import pytest

from clarion.providers.definition.result import SendFailure, Sent
from tests.providers.contract.case import MESSAGE_ID, Case
from tests.providers.contract.golden import make_gateway, show
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import Reply, Vendor, play

BY_ID = {case.id: case for case in CASES}


def make_case(provider_id: str, **credentials: Any) -> Case:
    case = BY_ID[provider_id]
    return Case(**{**vars(case), "credentials": {**case.credentials, **credentials}})


async def send(case: Case, reply: Reply | None = None, **fields: Any) -> tuple[Sent, Vendor]:
    async with play(case.answers(reply or case.success)) as vendor, make_gateway(vendor) as gateway:
        return await gateway.send(case.id, case.make_outgoing(**fields)), vendor


@pytest.mark.parametrize(
    ("case", "fields", "part"),
    [
        (make_case("infobip-sms", baseUrl="http://xyz.api.infobip.com/"), {}, '"http://xyz.api.infobip.com/sms/3/'),
        (make_case("isend-sms"), {"content": "plain"}, '"type": "plain"'),
        (make_case("mobishastra"), {"content": "plain"}, '"language": "English"'),
        (make_case("plivo"), {"overrides": {"from": MESSAGE_ID}}, f'"powerpack_uuid": "{MESSAGE_ID}"'),
        (make_case("ring-central", secure=True), {}, '"https://platform.devtest.ringcentral.com/restapi/v1.0/'),
        (make_case("sendchamp"), {"phone": "+2348012345678"}, '"route": "non_dnd"'),
        (make_case("sendchamp"), {"overrides": {"route": "dnd"}}, '"route": "dnd"'),
        (make_case("sms-central"), {"overrides": {"campaign": "spring"}}, '["CAMPAIGN", "spring"]'),
        (make_case("sns", **{"from": "+18005550100"}), {}, '"AWS.MM.SMS.OriginationNumber"'),
        (make_case("sns", region="cn-north-1"), {}, '"https://sns.cn-north-1.amazonaws.com.cn/"'),
        (make_case("termii", baseUrl="https://v3.api.termii.com/"), {}, '"https://v3.api.termii.com/api/sms/send"'),
        (make_case("termii"), {"content": "plain", "overrides": {"channel": "dnd"}}, '"channel": "dnd"'),
    ],
    ids=lambda value: value.id if isinstance(value, Case) else "",
)
async def test_the_request_depends_on_number_sender_and_account(case: Case, fields: Any, part: str) -> None:
    _, vendor = await send(case, **fields)

    assert part in json.dumps(show(vendor.requests[-1]))


@pytest.mark.parametrize(
    ("provider_id", "body"),
    [
        # The id was used before.
        ("infobip-sms", {"messages": [{"messageId": MESSAGE_ID, "status": {"groupId": 5, "id": 23}}]}),
        # The same text was just sent to the same number.
        ("sms77", {"success": "402", "messages": []}),
        ("sms77", "402"),
    ],
)
async def test_a_duplicate_of_an_earlier_attempt_counts_as_sent(provider_id: str, body: Any) -> None:
    sent, _ = await send(make_case(provider_id), Reply(body=body))

    assert sent.provider_message_id == MESSAGE_ID


@pytest.mark.parametrize(
    ("provider_id", "body"),
    [
        ("sendchamp", {"status": "success", "code": 200, "data": {"business_id": "1", "total_contacts": 1}}),
        ("sms77", {"success": "100", "messages": [{"id": None, "success": True}]}),
    ],
)
async def test_our_id_is_used_if_the_provider_returns_none(provider_id: str, body: Any) -> None:
    sent, _ = await send(make_case(provider_id), Reply(body=body))

    assert sent.provider_message_id == MESSAGE_ID


@pytest.mark.parametrize(
    ("provider_id", "body"),
    [
        ("isend-sms", {"status": "success", "data": {"remaining_balance": "12"}}),
        ("mobishastra", "3452"),
        ("mobishastra", "Tanzania (+255) = 3452,"),
        ("sms-central", "<balance>125.34</balance>"),
        ("sms77", {"amount": 3.2, "currency": "EUR"}),
        ("sms77", "3.2"),
        ("sns", "<GetSMSAttributesResponse/>"),
    ],
)
async def test_valid_credentials_pass_the_check(provider_id: str, body: Any) -> None:
    case = make_case(provider_id)
    async with play(case.answers(Reply(body=body))) as vendor, make_gateway(vendor) as gateway:
        await gateway.check(case.id, case.credentials)

    assert vendor.requests


@pytest.mark.parametrize(
    ("provider_id", "body"),
    [
        ("isend-sms", {"status": "error", "message": "no"}),
        ("mobishastra", "Invalid Password"),
        ("sms-central", "<errorcode>1</errorcode><errormessage>no</errormessage>"),
        ("sms77", "900"),
    ],
)
async def test_credentials_that_are_refused_with_a_200_fail_the_check(provider_id: str, body: Any) -> None:
    case = make_case(provider_id)
    async with play(case.answers(Reply(body=body))) as vendor, make_gateway(vendor) as gateway:
        with pytest.raises(SendFailure):
            await gateway.check(case.id, case.credentials)
