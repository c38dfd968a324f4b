"""Linking chats with bots of Telegram, against a vendor on loopback, on both databases."""

import asyncio
from functools import partial
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from clarion.clock import MINUTE, ManualClock
from clarion.db.port import Database
from clarion.ids import id_text
from clarion.subscribers.addresses.model import MAX_ENDPOINTS
from clarion.subscribers.addresses.oauth.store import get_account
from clarion.subscribers.addresses.sealing import reencrypt_addresses
from clarion.subscribers.addresses.telegram import store
from clarion.subscribers.addresses.telegram.model import Bot
from clarion.subscribers.addresses.telegram.registration import BotChanged, keep_webhook
from clarion.vault import Vault
from tests.conftest import VAULT_KEYS
from tests.inbox.conftest import MakePerson
from tests.providers.contract.vendor import Reply
from tests.subscribers.addresses.support import ENDPOINTS, create, rows_of
from tests.subscribers.addresses.telegram.support import (
    BOT,
    CONFIGURE,
    LINK,
    MOBILE,
    NEWER_KEY,
    OWN_LINK,
    PUBLIC,
    begin,
    chats_of,
    write,
)
from tests.subscribers.addresses.vendors import Telegram, query_of
from tests.support import Api


async def test_a_webhook_is_set_with_a_secret_that_is_sealed(api: Api, telegram: Telegram, database: Database) -> None:
    await create(api, "/v1/integrations", BOT)

    configured = await create(api, CONFIGURE, {})

    assert [method for _, method, _ in telegram.calls] == ["getMe", "setWebhook"]
    body = telegram.calls[-1][2]
    assert body["url"] == configured["webhookUrl"]
    assert body["allowed_updates"] == ["message"]
    assert str(body["url"]).startswith(f"{PUBLIC}/v2/inbound-webhooks/telegram/{id_text(api.environment.id)}/")
    assert (configured["botUsername"], len(telegram.secret)) == ("acme_bot", 43)
    (row,) = await rows_of(database, api, "telegram_webhooks")
    assert telegram.secret not in row["secret"]


async def test_setting_the_webhook_and_giving_out_pages_is_in_the_audit_log(api: Api, bot: str) -> None:
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})
    link = await create(api, MOBILE, {"subscriberId": "ada"})

    page, webhook, _ = (await api.get("/v1/audit-log")).json()["data"]

    assert (webhook["action"], webhook["after"]["botUsername"]) == ("integration.configureWebhook", "acme_bot")
    assert (page["action"], page["after"]["subscriberId"]) == ("integration.createMobileLink", "ada")
    assert link["token"] not in str(page)


async def test_whoever_opens_the_link_is_connected_once(api: Api, bot: str, telegram: Telegram) -> None:
    code = await begin(api)

    connected = await write(api, bot, telegram.secret, f"/start {code}")
    again = await write(api, bot, telegram.secret, f"/start {code}", id=78)

    assert len(code) == 32
    assert connected.json()["method"] == "sendMessage"
    assert (connected.json()["chat_id"], "connected" in connected.json()["text"]) == (77, True)
    assert "not valid" in again.json()["text"]
    assert await chats_of(api, subscriberId="ada") == [("telegram_chat", "77")]


async def test_a_report_that_is_repeated_gets_no_other_answer(api: Api, bot: str, telegram: Telegram) -> None:
    code = await begin(api)
    await write(api, bot, telegram.secret, f"/start {code}")

    repeated = await write(api, bot, telegram.secret, f"/start {code}")
    elsewhere = await write(api, bot, telegram.secret, f"/start {code}", id=78)
    await begin(api)
    later = await write(api, bot, telegram.secret, f"/start {code}")

    assert [(one.status_code, one.content) for one in (repeated, later)] == [(200, b"")] * 2
    assert "not valid" in elsewhere.json()["text"]
    assert await chats_of(api, subscriberId="ada") == [("telegram_chat", "77")]


async def test_the_link_says_which_bot_and_until_when(api: Api, bot: str, clock: ManualClock) -> None:
    made = await create(api, LINK, {"integrationIdentifier": "bot", "subscriberId": "eve"})

    assert made["providerMetadata"]["botUsername"] == "acme_bot"
    assert made["providerMetadata"]["expiresAt"].endswith("Z")
    assert (await api.get("/v2/subscribers/eve")).status_code == 200


async def test_a_new_chat_replaces_the_one_before_and_each_context_has_its_own(
    api: Api, bot: str, telegram: Telegram
) -> None:
    for chat, fields in ((77, {}), (78, {}), (79, {"context": {"tenant": "acme"}})):
        answer = await write(api, bot, telegram.secret, f"/start {await begin(api, **fields)}", id=chat)
        assert answer.status_code == 200

    assert await chats_of(api, contextKeys="") == [("telegram_chat", "78")]
    assert await chats_of(api, contextKeys="tenant:acme") == [("telegram_chat", "79")]


async def test_codes_are_stored_as_hashes_and_end_after_ten_minutes(
    api: Api, bot: str, telegram: Telegram, clock: ManualClock, database: Database
) -> None:
    code = await begin(api)
    (row,) = await rows_of(database, api, "chat_links")
    clock.move(10 * MINUTE)

    answer = await write(api, bot, telegram.secret, f"/start {code}")

    assert code not in str(dict(row))
    assert "not valid" in answer.json()["text"]
    assert await chats_of(api) == []


async def test_a_new_link_ends_the_one_before(api: Api, bot: str, telegram: Telegram, database: Database) -> None:
    first, _ = await begin(api), await begin(api)

    answer = await write(api, bot, telegram.secret, f"/start {first}")

    assert "not valid" in answer.json()["text"]
    assert len(await rows_of(database, api, "chat_links")) == 1


@pytest.mark.parametrize("secret", ["", "wrong", "é"])
async def test_reports_without_the_secret_are_refused(api: Api, bot: str, secret: str) -> None:
    code = await begin(api)

    answer = await write(api, bot, secret.encode(), f"/start {code}")

    assert answer.status_code == 401
    assert await chats_of(api) == []


async def test_groups_and_other_messages_connect_nothing(api: Api, bot: str, telegram: Telegram) -> None:
    code = await begin(api)

    for text, chat in ((f"/start {code}", {"type": "group", "id": -5}), ("hello", {}), ("/start", {}), (code, {})):
        answer = await write(api, bot, telegram.secret, text, **chat)
        assert (answer.status_code, answer.content) == (200, b"")

    assert await chats_of(api) == []


@pytest.mark.parametrize("body", [b"", b"[" * 5_000, b"[]", b'{"message": 5}', b'{"message": {"chat": 5, "text": []}}'])
async def test_reports_that_are_no_messages_change_nothing(api: Api, bot: str, telegram: Telegram, body: bytes) -> None:
    headers = {"X-Telegram-Bot-Api-Secret-Token": telegram.secret}

    answer = await api.post(bot, content=body, headers=headers)

    assert answer.status_code in (200, 400)


async def test_the_bot_answers_in_the_language_of_the_app(api: Api, bot: str, telegram: Telegram) -> None:
    sender = {"id": 5, "language_code": "de-AT"}
    update = {"message": {"chat": {"id": 77, "type": "private"}, "from": sender, "text": f"/start {await begin(api)}"}}

    answer = await api.post(bot, json=update, headers={"X-Telegram-Bot-Api-Secret-Token": telegram.secret})

    assert answer.json()["text"].startswith("Sie sind verbunden")


async def test_a_code_of_one_integration_is_unknown_at_another(api: Api, bot: str, telegram: Telegram) -> None:
    code = await begin(api)
    await create(api, "/v1/integrations", {**BOT, "identifier": "bot2"})
    other = await create(api, "/v1/integrations/bot2/webhook/configure", {})

    answer = await write(api, urlsplit(other["webhookUrl"]).path, telegram.secret, f"/start {code}")

    assert "not valid" in answer.json()["text"]


async def test_a_link_needs_a_bot_that_reports(api: Api, bot: str) -> None:
    found = (await api.get("/v1/integrations")).json()
    (integration,) = [one for one in found if one["identifier"] == "bot"]
    path, other = f"/v1/integrations/{integration['_id']}", {"credentials": {"apiToken": "456:another-token"}}
    wish = {"integrationIdentifier": "bot", "subscriberId": "ada"}

    assert (await api.put(path, json=other)).status_code == 200
    moved = await api.post(LINK, json=wish)
    await api.put(path, json={"active": False, "credentials": {}})
    empty = await api.post(LINK, json=wish)
    no_token = await api.post(CONFIGURE, json={})

    assert (moved.status_code, "webhook/configure" in moved.text) == (422, True)
    assert (empty.status_code, "apiToken" in empty.text) == (422, True)
    assert (no_token.status_code, "apiToken" in no_token.text) == (422, True)


async def test_links_are_for_chats_that_have_them(api: Api) -> None:
    await create(
        api, "/v1/integrations", {**BOT, "identifier": "hook", "providerId": "chat-webhook", "credentials": {}}
    )
    slack = {"applicationId": "A1", "clientId": "1.2", "secretKey": "secret"}
    await create(api, "/v1/integrations", {**BOT, "identifier": "slack", "providerId": "slack", "credentials": slack})

    made = await create(api, LINK, {"integrationIdentifier": "slack", "subscriberId": "ada"})
    refused = await api.post(LINK, json={"integrationIdentifier": "hook", "subscriberId": "ada"})
    unknown = await api.post(LINK, json={"integrationIdentifier": "none", "subscriberId": "ada"})

    assert made["url"].startswith("https://slack.com/oauth/v2/authorize?state=")
    assert "providerMetadata" not in made
    assert (refused.status_code, unknown.status_code) == (422, 404)
    for path in ("hook/webhook/configure", "hook/mobile-link"):
        assert (await api.post(f"/v1/integrations/{path}", json={})).status_code == 422


@pytest.mark.parametrize(
    ("method", "reply", "expected"),
    [
        ("getMe", Reply(status=401, body={"ok": False, "description": "Unauthorized"}), (422, "Unauthorized")),
        ("setWebhook", Reply(status=400, body={"ok": False, "description": "bad webhook"}), (422, "bad webhook")),
        ("getMe", Reply(body={"ok": True, "result": {"id": 5, "username": "<b>"}}), (422, "who the bot is")),
        ("getMe", Reply(status=502, body="no"), (503, "could not be reached")),
    ],
)
async def test_what_telegram_refuses_is_said_and_not_stored(
    method: str, reply: Reply, expected: tuple[int, str], api: Api, telegram: Telegram, database: Database
) -> None:
    status, text = expected
    await create(api, "/v1/integrations", BOT)
    telegram.refusals[method] = reply

    answer = await api.post(CONFIGURE, json={})

    assert (answer.status_code, text in answer.text) == (status, True)
    assert "the-first-token" not in answer.text
    assert [row["bot_id"] for row in await rows_of(database, api, "telegram_webhooks")] in ([], [""])
    assert (await api.post(LINK, json={"integrationIdentifier": "bot", "subscriberId": "ada"})).status_code == 422
    assert len(telegram.calls) == {"setWebhook": 2}.get(method, 3 if status == 503 else 1)


async def test_a_bot_whose_variable_has_no_value_is_not_asked_for(api: Api, telegram: Telegram) -> None:
    inactive = {"active": False, "credentials": {"apiToken": "{{env.BOT}}"}}
    await create(api, "/v1/integrations", BOT | inactive)

    answer = await api.post(CONFIGURE, json={})

    assert answer.status_code == 422
    assert "variables without a value" in str(answer.json()["errors"]["integrationIdentifier"])
    assert telegram.calls == []


async def test_a_bot_works_however_its_registrations_overlap_or_end(
    api: Api, bot: str, telegram: Telegram, database: Database
) -> None:
    code, before = await begin(api), telegram.secret
    (row,) = await rows_of(database, api, "telegram_webhooks")

    # Telegram has set the webhook, and its answer is lost: nothing is stored after that.
    telegram.refusals["setWebhook"] = Reply(status=502, body="no")
    lost = await api.post(CONFIGURE, json={})
    after = telegram.secret
    del telegram.refusals["setWebhook"]

    assert (lost.status_code, after) == (503, before)
    assert "connected" in (await write(api, bot, after, f"/start {code}")).json()["text"]
    await asyncio.gather(*(create(api, CONFIGURE, {}) for _ in range(3)))
    assert {str(body["secret_token"]) for _, method, body in telegram.calls if method == "setWebhook"} == {before}
    assert [one["secret"] for one in await rows_of(database, api, "telegram_webhooks")] == [row["secret"]]


async def test_a_bot_that_was_exchanged_meanwhile_is_not_taken_for_the_new_one(
    api: Api, bot: str, database: Database, vault: Vault
) -> None:
    get = partial(get_account, environment_id=api.environment.id, identifier="bot", vault=vault)
    account = await database.read(get)
    find = partial(store.find_webhook, environment_id=api.environment.id, integration_id=account.id, vault=vault)
    webhook = await database.read(find)
    assert webhook is not None
    old = replace(webhook, bot=Bot(id="456", username="old_bot"))

    with pytest.raises(BotChanged):
        await database.transaction(partial(keep_webhook, webhook=old, integration=account, vault=vault))

    assert await database.read(find) == webhook


async def test_reports_do_not_count_in_the_limits_of_the_customer(api: Api, bot: str, telegram: Telegram) -> None:
    me = (await api.get("/v1/environments/me")).json()["_id"]
    limits = {"limits": {"global": {"perSecond": 0.001, "burst": 3}}}
    assert (await api.patch(f"/v1/environments/{me}", json=limits)).status_code == 200

    answers = [await write(api, bot, telegram.secret, f"/start {'x' * 32}") for _ in range(12)]

    assert [answer.status_code for answer in answers] == [200] * 12
    assert (await api.get("/v1/integrations")).status_code == 200
    # Whoever tries codes gets no answers any more; others do.
    assert [bool(answer.content) for answer in answers] == [True] * 10 + [False] * 2
    assert (await write(api, bot, telegram.secret, f"/start {'x' * 32}", id=78)).content


async def test_a_person_with_too_many_addresses_is_told_so_once(api: Api, bot: str, telegram: Telegram) -> None:
    await create(api, "/v2/subscribers", {"subscriberId": "ada"})
    place = {"integrationIdentifier": "bot", "subscriberId": "ada", "type": "telegram_chat"}
    for number in range(MAX_ENDPOINTS):
        await create(api, ENDPOINTS, {**place, "endpoint": {"chatId": str(number)}})
    code = await begin(api, context={"tenant": "acme"})

    answer = await write(api, bot, telegram.secret, f"/start {code}")

    assert (answer.status_code, answer.json()["text"][:17]) == (200, "This did not work")
    assert "ada" not in answer.text


async def test_nobody_without_the_secret_learns_what_the_integration_lacks(api: Api, bot: str) -> None:
    path = f"/v1/integrations/{bot.rpartition('/')[2]}"
    assert (await api.put(path, json={"active": False, "credentials": {}})).status_code == 200

    answer = await write(api, bot, "wrong", f"/start {'x' * 32}")

    assert (answer.status_code, "apiToken" in answer.text) == (401, False)


async def test_codes_of_other_contexts_and_of_sessions_without_proof_end_no_others(
    api: Api, bot: str, telegram: Telegram, make_person: MakePerson
) -> None:
    ada = await make_person("ada", is_proven=False)
    own, of_context = await begin(api), await begin(api, context={"tenant": "acme"})

    assert (await ada.post(OWN_LINK, json={"integrationIdentifier": "bot"})).status_code < 300

    for code in (own, of_context):
        assert "connected" in (await write(api, bot, telegram.secret, f"/start {code}")).json()["text"]


async def test_with_hmac_only_proven_sessions_connect_chats(api: Api, bot: str, make_person: MakePerson) -> None:
    path = f"/v1/integrations/{bot.rpartition('/')[2]}"
    changed = await api.put(path, json={"credentials": {"apiToken": "123:the-first-token", "hmac": True}})
    ada = await make_person("ada", is_proven=False)

    refused = await ada.post(OWN_LINK, json={"integrationIdentifier": "bot"})

    assert not changed.json().get("unusedCredentials")
    assert (refused.status_code, "hmac" in refused.text) == (422, True)


async def test_deleting_the_integration_or_the_person_ends_their_links(
    api: Api, bot: str, telegram: Telegram, database: Database
) -> None:
    await begin(api)
    await api.delete("/v2/subscribers/ada")
    assert await rows_of(database, api, "chat_links") == []
    code = await begin(api, subscriberId="bob")
    integration_id = bot.rpartition("/")[2]

    await api.delete(f"/v1/integrations/{integration_id}")

    assert (await write(api, bot, telegram.secret, f"/start {code}")).status_code == 404
    assert await rows_of(database, api, "chat_links") == []
    assert await rows_of(database, api, "telegram_webhooks") == []


async def test_a_session_that_is_not_proven_adds_and_does_not_replace(
    api: Api, bot: str, telegram: Telegram, make_person: MakePerson
) -> None:
    ada = await make_person("ada", is_proven=False)
    wish = {"integrationIdentifier": "bot", "subscriberId": "bob"}
    for chat, expected in ((77, "connected"), (78, "cannot replace")):
        made = (await ada.post(OWN_LINK, json=wish)).json()["data"]
        code = query_of(made["url"])["start"]
        answer = await write(api, bot, telegram.secret, f"/start {code}", id=chat)
        assert expected in answer.json()["text"]

    assert await chats_of(api, subscriberId="ada") == [("telegram_chat", "77")]
    assert await chats_of(api, subscriberId="bob") == []


async def test_secrets_of_webhooks_are_rotated(api: Api, bot: str, telegram: Telegram, database: Database) -> None:
    newer, older = (Vault.parse(",".join(keys)) for keys in ((NEWER_KEY, VAULT_KEYS), (VAULT_KEYS, NEWER_KEY)))

    await reencrypt_addresses(database, newer)

    (row,) = await rows_of(database, api, "telegram_webhooks")
    assert row["secret"].startswith("v1.newer.")
    # The store is that of other tests, too.
    await reencrypt_addresses(database, older)
    assert "connected" in (await write(api, bot, telegram.secret, f"/start {await begin(api)}")).json()["text"]
