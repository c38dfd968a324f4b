"""Links that people follow to connect: codes of one use that are stored as hashes, and the webhooks of bots."""

import hashlib
import secrets
from enum import StrEnum

from msgspec import Struct

from clarion.clock import MINUTE, Millis
from clarion.ids import EnvironmentId, IntegrationId, SubscriberId, id_text
from clarion.secret import Secret

TELEGRAM = "telegram"
SETUP_PATH = "/connect/telegram"
WEBHOOK_PATH = "/v2/inbound-webhooks/telegram"
_CODE_BYTES = 24
"""Which are 32 characters of base64url."""
_DIGEST_BYTES = 16


class CodePurpose(StrEnum):
    CHAT = "chat"
    """Whoever sends the code to the bot gets the messages of a person there."""
    SETUP = "setup"
    """Whoever opens the page gives the integration the token of a bot."""
    USED = "used"
    """A chat was connected by it: known until its end, because Telegram repeats reports whose answer was lost."""


LIFETIMES = {CodePurpose.CHAT: Millis(10 * MINUTE), CodePurpose.SETUP: Millis(5 * MINUTE)}


class ChatLink(Struct, frozen=True, kw_only=True):
    """What a code was given out for."""

    environment_id: EnvironmentId
    purpose: CodePurpose
    integration_id: IntegrationId
    subscriber_id: SubscriberId | None
    context_keys: tuple[str, ...] = ()
    replaces: bool = True
    """Whether a chat that was connected before may be replaced."""
    expires_at: Millis


class Bot(Struct, frozen=True, kw_only=True):
    """A bot, as Telegram describes it."""

    id: str
    username: str


class TelegramWebhook(Struct, frozen=True, kw_only=True):
    """Where Telegram reports what people write to the bot of an integration."""

    environment_id: EnvironmentId
    integration_id: IntegrationId
    bot: Bot
    secret: Secret
    configured_at: Millis


def make_code() -> str:
    return secrets.token_urlsafe(_CODE_BYTES)


def digest_of(code: str) -> bytes:
    """What is stored of a code: nobody who reads the store can use it."""
    return hashlib.sha256(code.encode()).digest()[:_DIGEST_BYTES]


def link_url(bot: Bot, code: str) -> str:
    return f"https://t.me/{bot.username}?start={code}"


def setup_url(base: str, environment_id: EnvironmentId, code: str) -> str:
    return f"{base}{SETUP_PATH}/{id_text(environment_id)}?token={code}"


def webhook_url(base: str, environment_id: EnvironmentId, integration_id: IntegrationId) -> str:
    return f"{base}{WEBHOOK_PATH}/{id_text(environment_id)}/{id_text(integration_id)}"
