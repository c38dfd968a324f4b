"""Giving an integration its bot on a phone, without https, and by the published client."""

import re
from pathlib import Path

import httpx
import pytest
from novu_py import Novu

from clarion.app import Application
from clarion.clock import MINUTE, ManualClock
from clarion.db.port import Database
from clarion.ids import id_text
from clarion.settings.model import Settings
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.subscribers.addresses.support import create, rows_of
from tests.subscribers.addresses.telegram.support import (
    BOT,
    CONFIGURE,
    MOBILE,
    PUBLIC,
    begin,
    chats_of,
    write,
)
from tests.subscribers.addresses.vendors import Telegram
from tests.support import Api, MakeApi


async def test_a_phone_gives_the_integration_its_bot(
    api: Api, telegram: Telegram, database: Database, vault: Vault
) -> None:
    await create(api, "/v1/integrations", {**BOT, "active": False, "credentials": {}})
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})
    link = await create(api, MOBILE, {"subscriberId": "ada"})
    path = link["url"].removeprefix(PUBLIC)
    phone = {"Authorization": "", "Accept-Language": "fr"}

    shown = await api.get(path, headers=phone)
    wrong = await api.post(path, content=b"botToken=nonsense", headers=phone)
    refused = await api.post(path, content=b"botToken=999%3Anot-a-token-of-any-bot", headers=phone)
    done = await api.post(path, content=b"botToken=+123%3Athe-first-token", headers=phone)
    again = await api.post(path, content=b"botToken=123%3Athe-first-token", headers=phone)

    assert (shown.status_code, '<html lang="fr"' in shown.text, "<script" in shown.text) == (200, True, False)
    assert shown.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert (wrong.status_code, refused.status_code, done.status_code, again.status_code) == (400, 400, 200, 404)
    assert len(link["token"]) == 32
    assert "@acme_bot" in done.text
    assert "the-first-token" not in done.text
    code = re.search(r"start=([A-Za-z0-9_-]{32})", done.text)
    assert code is not None
    hook = str(telegram.calls[-1][2]["url"]).removeprefix(PUBLIC)
    assert "connected" in (await write(api, hook, telegram.secret, f"/start {code[1]}")).json()["text"]
    assert await chats_of(api, subscriberId="ada") == [("telegram_chat", "77")]
    entries = (await api.get("/v1/audit-log")).json()["data"]
    assert "the-first-token" not in str(entries)
    assert [one["actor"]["type"] for one in entries if one["action"] == "integration.update"] == ["service"]


async def test_showing_the_page_changes_nothing_and_old_links_show_nothing(
    api: Api, clock: ManualClock, database: Database
) -> None:
    await create(api, "/v1/integrations", {**BOT, "name": "Secret project"})
    path = (await create(api, MOBILE, {}))["url"].removeprefix(PUBLIC)
    before = await rows_of(database, api, "chat_links")

    assert (await api.get(path)).status_code == 200
    assert await rows_of(database, api, "chat_links") == before
    clock.move(5 * MINUTE)
    for late in (path, path[:-1] + ("a" if path[-1] != "a" else "b"), "/connect/telegram/none?token=x"):
        for answer in (await api.get(late), await api.post(late, content=b"botToken=123%3Athe-first-token")):
            assert (answer.status_code, "Secret project" in answer.text) == (404, False)


async def test_a_page_for_a_person_needs_the_scope_of_people(api: Api, make_api: MakeApi) -> None:
    await create(api, "/v1/integrations", BOT)
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})
    weak = await make_api(scopes=[Scope.INTEGRATIONS_WRITE])

    for key in ("ada", "nobody"):
        refused = await weak.post(MOBILE, json={"subscriberId": key})
        assert (refused.status_code, "subscribers:write" in refused.text) == (403, True)
    assert (await weak.post(MOBILE, json={})).status_code == 200


async def test_the_page_tells_nothing_of_other_credentials(api: Api) -> None:
    made = await create(api, "/v1/integrations", {**BOT, "active": False, "credentials": {}})
    path = (await create(api, MOBILE, {}))["url"].removeprefix(PUBLIC)
    values = [{"_environmentId": id_text(api.environment.id), "value": "example.com"}]
    await create(api, "/v1/environment-variables", {"key": "GONE", "values": values})
    credentials = {"apiToken": "123:the-first-token", "redirectUrl": "https://{{env.GONE}}"}
    changed = await api.put(f"/v1/integrations/{made['_id']}", json={"active": True, "credentials": credentials})
    assert changed.status_code == 200, changed.text
    assert (await api.delete("/v1/environment-variables/GONE")).status_code < 300

    done = await api.post(path, content=b"botToken=123%3Athe-first-token", headers={"Authorization": ""})

    assert (done.status_code, "This did not work" in done.text, "GONE" in done.text) == (400, True, False)
    assert done.headers["content-type"].startswith("text/html")


async def test_a_code_for_a_chat_opens_no_page(api: Api, bot: str) -> None:
    code = await begin(api)

    answer = await api.get(f"/connect/telegram/{id_text(api.environment.id)}", params={"token": code})

    assert answer.status_code == 404


async def test_the_published_client_links_chats(api: Api, application: Application, telegram: Telegram) -> None:
    await create(api, "/v1/integrations", BOT)
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})
    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport) as http:
        client = Novu(
            secret_key=api.key, server_url="http://clarion.test", async_client=http, retry_config=None
        ).integrations
        webhook = await client.integrations_controller_configure_integration_webhook_async(integration_identifier="bot")
        link = await client.link_channel_endpoint_async(
            link_channel_endpoint_request_dto={"integration_identifier": "bot", "subscriber_id": "ada"}
        )
        page = await client.create_mobile_link_async(
            integration_identifier="bot", issue_integration_mobile_link_request_dto={"subscriber_id": "ada"}
        )

    assert (webhook.result.bot_username, webhook.result.webhook_url) == ("acme_bot", telegram.calls[-1][2]["url"])
    assert link.result.url.startswith("https://t.me/acme_bot?start=")
    assert (link.result.provider_metadata or {})["botUsername"] == "acme_bot"
    assert page.result.url.endswith(page.result.token)


class TestWithoutHttps:
    """Where the service has no address that begins with https."""

    @pytest.fixture
    def settings(self, tmp_path: Path) -> Settings:
        return Settings(data_dir=tmp_path, public_url="http://clarion.example.com")

    async def test_no_webhook_is_set(self, api: Api, telegram: Telegram) -> None:
        await create(api, "/v1/integrations", BOT)

        answer = await api.post(CONFIGURE, json={})

        assert (answer.status_code, "CLARION_PUBLIC_URL" in answer.text) == (422, True)
        assert telegram.calls == []

    async def test_a_phone_still_gives_the_token(self, api: Api, telegram: Telegram) -> None:
        await create(api, "/v1/integrations", {**BOT, "active": False, "credentials": {}})
        path = (await create(api, MOBILE, {}))["url"].removeprefix("http://clarion.example.com")

        done = await api.post(path, content=b"botToken=123%3Athe-first-token")

        assert (done.status_code, "not reported yet" in done.text) == (200, True)
        assert [method for _, method, _ in telegram.calls] == ["getMe"]
