"""Mails to members go out in the background, through the first integration that accepts them."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from clarion.app import Application
from clarion.members.addresses import read_address
from clarion.members.mailing import MAX_WAITING, ResetRequest, TeamMail
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vocabulary import Role
from tests.members.support import SignIn
from tests.members.test_team import MAIL
from tests.providers.contract.golden import make_gateway
from tests.providers.contract.vendor import Reply, Vendor, play
from tests.support import Api


class Replies:
    status = 202


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with play(lambda _: Reply(status=Replies.status)) as playing:
        yield playing
    Replies.status = 202


@pytest.fixture
async def gateway(vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with make_gateway(vendor) as entered:
        yield entered


@pytest.fixture
def mail(application: Application) -> TeamMail:
    return application.services.shared.get(TeamMail)


async def test_production_is_tried_first_and_a_refusal_is_logged_without_the_link(
    mail: TeamMail,
    make_browser: SignIn,
    api: Api,
    other_api: Api,
    vendor: Vendor,
    caplog: pytest.LogCaptureFixture,
) -> None:
    member = await make_browser(Role.OWNER)
    for one, key in ((api, "SG.development"), (other_api, "SG.production")):
        credentials = {"apiKey": key, "from": "team@example.com"}
        await one.post("/v1/integrations", json={**MAIL, "credentials": credentials})
    Replies.status = 401

    with caplog.at_level(logging.WARNING):
        mail.post(ResetRequest(member.member.email, None))
        await mail.send_waiting()

    keys = [request.headers["authorization"] for request in vendor.requests]
    token = vendor.requests[0].body.decode().partition("/dashboard/reset#")[2][:43]
    assert keys == ["Bearer SG.production", "Bearer SG.development"]
    assert [one.message for one in caplog.records] == ["Mail to a member refused"] * 2
    assert token not in str([vars(one) for one in caplog.records])


async def test_what_waits_is_sent_before_the_process_ends(
    mail: TeamMail, make_browser: SignIn, api: Api, vendor: Vendor
) -> None:
    member = await make_browser(Role.OWNER)
    await api.post("/v1/integrations", json=MAIL)
    running = asyncio.create_task(mail.run())
    await asyncio.sleep(0)

    mail.post(ResetRequest(member.member.email, None))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert len(vendor.requests) == 1


async def test_no_more_wait_than_the_limit(mail: TeamMail, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(MAX_WAITING + 1):
        mail.post(ResetRequest(read_address("nobody@example.com"), None))

    assert [one.message for one in caplog.records] == ["Mail to a member left out: too many wait"]
