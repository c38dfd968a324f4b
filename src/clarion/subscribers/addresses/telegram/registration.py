"""Registering the webhook of a bot: its secret is stored before Telegram learns it, and then stays."""

import secrets
from functools import partial

from clarion.db.port import Connection
from clarion.errors import Busy, Invalid
from clarion.http.operation import DetachedCall
from clarion.integrations.model import Integration
from clarion.members.actions import base_url
from clarion.secret import Secret
from clarion.subscribers.addresses.integrations import get_address_integration
from clarion.subscribers.addresses.oauth.store import get_account_by_id
from clarion.subscribers.addresses.telegram import bot, store
from clarion.subscribers.addresses.telegram.actions import is_of_bot, read_token
from clarion.subscribers.addresses.telegram.model import Bot, TelegramWebhook, webhook_url
from clarion.vault import Vault

_SECRET_BYTES = 32
_FIELD = "integrationIdentifier"


class BotChanged(Exception):
    """The integration got another bot while Telegram was asked."""


def can_report_to(base: str) -> bool:
    """Telegram reports to addresses that begin with https alone."""
    return base.startswith("https://")


async def configure(call: DetachedCall, integration: Integration) -> TelegramWebhook:
    """Register the webhook of an integration; raises Invalid and Busy. Which bot it is is not stored yet."""
    token, base = read_token(integration), base_url(call.services.settings)
    if not can_report_to(base):
        message = f"cannot be reported to: CLARION_PUBLIC_URL must begin with https://, and the address is {base}"
        raise Invalid.field(_FIELD, message)
    try:
        asked = await bot.fetch_bot(call.services.gateway, token)
        return await register_webhook(call, integration, token, asked)
    except bot.BotRefused as problem:
        raise Invalid.field(_FIELD, f"cannot be configured. {problem}", integration.identifier) from None
    except bot.BotUnreachable as problem:
        raise Busy(str(problem)) from None


async def register_webhook(call: DetachedCall, integration: Integration, token: Secret, asked: Bot) -> TelegramWebhook:
    """Have Telegram report to us; raises BotRefused, BotUnreachable and NotFound.

    Two that register at once, and one after a crash, use the same secret.
    """
    services = call.services
    secret = await call.database.transaction(partial(_get_secret, integration=integration, vault=services.vault))
    url = webhook_url(base_url(services.settings), integration.environment_id, integration.id)
    await bot.set_webhook(services.gateway, token, url, secret)
    return TelegramWebhook(
        environment_id=integration.environment_id,
        integration_id=integration.id,
        bot=asked,
        secret=secret,
        configured_at=call.now,
    )


async def keep_webhook(db: Connection, webhook: TelegramWebhook, integration: Integration, vault: Vault) -> None:
    """Store which bot reports; raises BotChanged if the integration has another one now, and NotFound."""
    await get_address_integration(db, webhook.environment_id, integration.identifier, for_update=True)
    account = await get_account_by_id(db, webhook.environment_id, webhook.integration_id, vault)
    if not is_of_bot(webhook, account):
        raise BotChanged
    await store.update_webhook(db, webhook)


async def _get_secret(db: Connection, integration: Integration, vault: Vault) -> Secret:
    # Locked, so that it is not deleted meanwhile.
    await get_address_integration(db, integration.environment_id, integration.identifier, for_update=True)
    made = Secret(secrets.token_urlsafe(_SECRET_BYTES))
    await store.insert_webhook(db, integration.environment_id, integration.id, made, vault)
    webhook = await store.find_webhook(db, integration.environment_id, integration.id, vault)
    return made if webhook is None else webhook.secret
