"""Links, and what people write to the bot."""

from typing import Any

import httpx

from tests.subscribers.addresses.support import ENDPOINTS, create
from tests.subscribers.addresses.vendors import query_of
from tests.support import Api

LINK = "/v1/integrations/channel-endpoints/link"
OWN_LINK = "/v1/inbox/channel-endpoints/link"
CONFIGURE = "/v1/integrations/bot/webhook/configure"
MOBILE = "/v1/integrations/bot/mobile-link"
NEWER_KEY = f"newer:{'A' * 43}="
PUBLIC = "https://clarion.example.com"
BOT = {
    "providerId": "telegram",
    "channel": "chat",
    "identifier": "bot",
    "active": True,
    "credentials": {"apiToken": "123:the-first-token"},
}


async def begin(api: Api, **fields: Any) -> str:
    """The code of a new link."""
    made = await create(api, LINK, {"integrationIdentifier": "bot", "subscriberId": "ada", **fields})
    assert made["url"].startswith("https://t.me/acme_bot?start=")
    return query_of(made["url"])["start"]


async def write(api: Api, path: str, secret: str | bytes, text: str, **chat: Any) -> httpx.Response:
    """What Telegram reports when somebody writes to the bot."""
    update = {"update_id": 1, "message": {"message_id": 2, "chat": {"id": 77, "type": "private", **chat}, "text": text}}
    proof = secret if isinstance(secret, bytes) else secret.encode()
    headers = {b"Authorization": b"", b"X-Telegram-Bot-Api-Secret-Token": proof}
    return await api.post(path, json=update, headers=headers)


async def chats_of(api: Api, **filters: str) -> list[tuple[str, str]]:
    listed = (await api.get(ENDPOINTS, params=filters)).json()["data"]
    return [(one["type"], one["endpoint"]["chatId"]) for one in listed]
