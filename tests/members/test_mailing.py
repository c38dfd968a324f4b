"""Mails to members go out in the background, through the server of the operator and nothing else."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from clarion.app import Application
from clarion.background import Supervisor
from clarion.clock import HOUR, MINUTE, ManualClock
from clarion.members.links.mailing import MAX_MAILED, MAX_WAITING, RESET_EVERY, ResetRequest, TeamMail
from clarion.members.model import read_address
from clarion.secret import Secret
from clarion.settings.model import Settings
from clarion.vocabulary import Role
from tests.audit.support import list_entries
from tests.members.support import PASSWORD, SignIn
from tests.providers.contract.vendor import Reply, play
from tests.providers.loopback import MailServer, mail_server
from tests.support import Api, Site

TAKEN_OVER = {
    "providerId": "email-webhook",
    "channel": "email",
    "active": True,
    "primary": True,
}
NEW_PASSWORD = "a better password"


@pytest.fixture
async def server() -> AsyncIterator[MailServer]:
    async with mail_server() as running:
        yield running


@pytest.fixture
def settings(settings: Settings, server: MailServer) -> Settings:
    url = f"smtp://127.0.0.1:{server.port}?from=Clarion%20<team@example.com>"
    return Settings(data_dir=settings.data_dir, mail_url=Secret(url))


@pytest.fixture
def mail(application: Application) -> TeamMail:
    return application.services.shared.get(TeamMail)


def text_of(server: MailServer) -> str:
    part = server.last_mail().get_body(("plain",))
    assert part is not None
    return str(part.get_content())


def token_in(server: MailServer) -> str:
    return text_of(server).partition("/dashboard/reset#")[2][:43]


async def test_a_link_for_a_password_never_goes_through_an_integration(
    mail: TeamMail, make_browser: SignIn, site: Site, server: MailServer
) -> None:
    owner, admin = await make_browser(Role.OWNER), await make_browser(Role.ADMIN, site.development)
    async with play(lambda _: Reply(status=200)) as thief:
        credentials = {"webhookUrl": f"http://127.0.0.1:{thief.port}/", "secretKey": "x" * 32, "from": "a@example.com"}
        made = await admin.post("/v1/integrations", json={**TAKEN_OVER, "credentials": credentials})
        asked = await admin.post("/v1/auth/reset-request", json={"email": owner.member.email})
        await mail.send_waiting()

    assert (made.status_code, asked.json()["means"]) == (201, "mail")
    assert thief.requests == []
    assert server.envelopes[-1].rcpt_tos == [owner.member.email]
    assert server.last_mail()["From"] == "Clarion <team@example.com>"
    assert token_in(server)


async def test_an_invitation_is_mailed_and_shown_to_nobody_else(
    mail: TeamMail, make_browser: SignIn, site: Site, server: MailServer
) -> None:
    admin = await make_browser(Role.ADMIN, site.development)

    made = await admin.post("/v1/members/invitations", json={"email": "new@example.com", "role": "viewer"})
    await mail.send_waiting()
    await admin.delete(f"/v1/members/invitations/{made.json()['invitation']['_id']}")

    assert (made.status_code, made.json()["mailed"], "link" in made.json()) == (201, True, False)
    assert server.envelopes[-1].rcpt_tos == ["new@example.com"]
    assert "/dashboard/invitation#" in text_of(server)


async def test_a_name_is_text_in_a_mail(mail: TeamMail, make_browser: SignIn, site: Site, server: MailServer) -> None:
    admin = await make_browser(Role.ADMIN, site.development)
    await admin.patch("/v1/auth/me", json={"name": "<a href=https://evil.example>Sign in</a>"})

    made = await admin.post("/v1/members/invitations", json={"email": "new@example.com", "role": "viewer"})
    await mail.send_waiting()
    await admin.delete(f"/v1/members/invitations/{made.json()['invitation']['_id']}")

    content = server.last_mail().get_body(("html",))
    assert content is not None
    assert "<a href=https://evil.example>" not in content.get_content()
    assert "<a href=https://evil.example>Sign in</a>" in text_of(server)


async def test_the_answer_to_a_lost_password_is_the_same_for_members_and_others(
    mail: TeamMail, open_browser: SignIn, make_browser: SignIn, server: MailServer
) -> None:
    member, browser = await make_browser(Role.OWNER), await open_browser()

    known = await browser.post("/v1/auth/reset-request", json={"email": member.member.email.upper()})
    unknown = await browser.post("/v1/auth/reset-request", json={"email": "nobody@example.com"})
    await mail.send_waiting()

    assert (known.status_code, known.json()["means"]) == (202, "mail")
    assert (unknown.status_code, unknown.json()) == (known.status_code, known.json())
    assert {*unknown.headers} == {*known.headers}
    assert [one.rcpt_tos for one in server.envelopes] == [[member.member.email]]


async def test_a_mailed_link_sets_the_password_once_and_ends_all_sessions(
    mail: TeamMail, open_browser: SignIn, make_browser: SignIn, api: Api, server: MailServer
) -> None:
    member, browser = await make_browser(Role.OWNER), await open_browser()
    await browser.post("/v1/auth/reset-request", json={"email": member.member.email})
    await mail.send_waiting()
    token = token_in(server)

    reset = await browser.post("/v1/auth/reset", json={"token": token, "password": NEW_PASSWORD})
    again = await browser.post("/v1/auth/reset", json={"token": token, "password": PASSWORD})

    async def sign_in(password: str) -> int:
        body = {"email": member.member.email, "password": password}
        return (await browser.post("/v1/auth/sign-in", json=body)).status_code

    assert (reset.status_code, again.status_code) == (204, 422)
    assert (await member.get("/v1/auth/me")).status_code == 401
    assert [await sign_in(PASSWORD), await sign_in(NEW_PASSWORD)] == [401, 200]
    entries = await list_entries(api, targetType="member")
    assert "member.resetPassword" in {one["action"] for one in entries}
    assert token not in str(entries)


async def test_asking_again_and_again_ends_no_link_and_fills_no_log(
    mail: TeamMail, make_browser: SignIn, open_browser: SignIn, api: Api, clock: ManualClock, server: MailServer
) -> None:
    member = (await make_browser(Role.OWNER)).member
    tokens: dict[str, None] = {}
    for _ in range(50):
        mail.post(ResetRequest(member.email, None))
        await mail.send_waiting()
        tokens[token_in(server)] = None
        clock.move(MINUTE)
    first, *later = tokens

    entries = [one["action"] for one in await list_entries(api, targetType="member")]
    browser = await open_browser()
    reset = await browser.post("/v1/auth/reset", json={"token": first, "password": NEW_PASSWORD})
    others = [
        (await browser.post("/v1/auth/reset", json={"token": one, "password": NEW_PASSWORD})).status_code
        for one in later
    ]

    assert len(server.envelopes) == len(tokens) == MAX_MAILED
    assert entries.count("member.createResetLink") == 1
    # One that was used ends the others: they were for the password that is gone.
    assert (reset.status_code, others) == (204, [422] * (MAX_MAILED - 1))


async def test_those_who_let_links_expire_get_new_ones(
    mail: TeamMail, make_browser: SignIn, clock: ManualClock, server: MailServer
) -> None:
    member = (await make_browser(Role.OWNER)).member
    for _ in range(MAX_MAILED):
        mail.post(ResetRequest(member.email, None))
        await mail.send_waiting()
        clock.move(RESET_EVERY)
    clock.move(HOUR)

    mail.post(ResetRequest(member.email, None))
    await mail.send_waiting()

    assert len(server.envelopes) == MAX_MAILED + 1


async def test_a_refusal_is_logged_without_the_link(
    mail: TeamMail, make_browser: SignIn, server: MailServer, caplog: pytest.LogCaptureFixture
) -> None:
    member = (await make_browser(Role.OWNER)).member
    server.replies["DATA"] = "554 no"

    with caplog.at_level(logging.WARNING):
        mail.post(ResetRequest(member.email, None))
        await mail.send_waiting()

    (record,) = [one for one in caplog.records if one.name.startswith("clarion")]
    assert record.message == "Mail to a member refused"
    assert "dashboard/reset" not in str(vars(record))


async def test_what_waits_is_sent_before_the_process_ends(
    mail: TeamMail, make_browser: SignIn, server: MailServer
) -> None:
    member = (await make_browser(Role.OWNER)).member
    running = asyncio.create_task(Supervisor().run([mail.make_service()]))
    for _ in range(3):
        await asyncio.sleep(0)

    mail.post(ResetRequest(member.email, None))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert len(server.envelopes) == 1


async def test_no_more_wait_than_the_limit(mail: TeamMail, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(MAX_WAITING + 1):
        mail.post(ResetRequest(read_address("nobody@example.com"), None))

    assert [one.message for one in caplog.records] == ["Mail to a member left out: too many wait"]
