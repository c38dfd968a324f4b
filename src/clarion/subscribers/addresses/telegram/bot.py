"""Calls of Telegram's API for bots: who a bot is, and where what people write to it is reported."""

import re
from typing import Any, NamedTuple

from clarion.providers.definition.request import ProviderRequest, path_part
from clarion.providers.definition.result import FailureKind, ProviderAnswer, SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.secret import Secret
from clarion.subscribers.addresses.telegram.model import Bot

_API = "https://api.telegram.org"
_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{10,100}")
_USERNAME = re.compile(r"[A-Za-z0-9_]{1,64}")
_START = re.compile(r"/start(?:@[A-Za-z0-9_]{1,64})? ([A-Za-z0-9_-]{32})")
_TRIES = 3
_MAX_REASON = 200


class BotRefused(Exception):
    """Telegram does not accept the token, or what it is asked for; the text is for people."""


class BotUnreachable(Exception):
    """Telegram did not answer."""


class Start(NamedTuple):
    """Somebody opened the bot by a link."""

    chat_id: str
    code: str


def is_token(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None


def bot_id_of(token: Secret) -> str:
    """The bot that a token is for; a new token of the same bot begins alike."""
    return token.reveal().partition(":")[0]


async def fetch_bot(gateway: ProviderGateway, token: Secret) -> Bot:
    """Ask who the bot is; raises BotRefused and BotUnreachable."""
    answer = await _call(gateway, token, "getMe", {})
    bot_id, username = answer.value("result.id"), answer.value("result.username")
    if not isinstance(bot_id, int) or not isinstance(username, str) or _USERNAME.fullmatch(username) is None:
        raise BotRefused("Telegram did not say who the bot is")
    return Bot(id=str(bot_id), username=username)


async def set_webhook(gateway: ProviderGateway, token: Secret, url: str, secret: Secret) -> None:
    """Have messages to the bot reported; raises BotRefused and BotUnreachable."""
    body = {"url": url, "secret_token": secret.reveal(), "allowed_updates": ["message"], "max_connections": 10}
    await _call(gateway, token, "setWebhook", body)


def read_start(update: Any) -> Start | None:
    """What a report says, if somebody opened the bot by a link; groups are not connected to one person."""
    message = update.get("message") if isinstance(update, dict) else None
    chat = message.get("chat") if isinstance(message, dict) else None
    text = message.get("text") if isinstance(message, dict) else None
    if not isinstance(chat, dict) or chat.get("type") != "private" or not isinstance(text, str):
        return None
    chat_id, match = chat.get("id"), _START.fullmatch(text.strip())
    if match is None or not isinstance(chat_id, int) or isinstance(chat_id, bool):
        return None
    return Start(str(chat_id), match[1])


def read_language(update: Any) -> str:
    """The language of the app of whoever wrote."""
    message = update.get("message") if isinstance(update, dict) else None
    sender = message.get("from") if isinstance(message, dict) else None
    language = sender.get("language_code") if isinstance(sender, dict) else None
    return language if isinstance(language, str) else ""


async def _call(gateway: ProviderGateway, token: Secret, method: str, body: dict[str, Any]) -> ProviderAnswer:
    """Call up to three times. Failures do not have the URL, which has the token."""
    request = ProviderRequest.json(f"{_API}/bot{path_part(token.reveal())}/{method}", body)
    for _ in range(_TRIES):
        try:
            answer = await gateway.call(request)
        except SendFailure as failure:
            if failure.kind is FailureKind.PERMANENT:
                break
            continue
        if answer.status < 500:
            return _check(answer)
    raise BotUnreachable("Telegram could not be reached; try again in a minute")


def _check(answer: ProviderAnswer) -> ProviderAnswer:
    if answer.value("ok") is True:
        return answer
    reason = answer.value("description")
    raise BotRefused(f"Telegram refuses: {reason[:_MAX_REASON] if isinstance(reason, str) else answer.status}")
