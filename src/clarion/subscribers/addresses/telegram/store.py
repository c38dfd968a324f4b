"""SQL of the webhooks of bots, and of the codes that were given out."""

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, IntegrationId, SubscriberId
from clarion.jsontext import json_text, json_value
from clarion.secret import Secret
from clarion.subscribers.addresses.telegram.model import Bot, ChatLink, CodePurpose, TelegramWebhook, digest_of
from clarion.vault import Vault

FIND_WEBHOOK = sql("""
    SELECT environment_id, id, bot_id, bot_username, secret, configured_at FROM telegram_webhooks
    WHERE environment_id = :environment_id AND id = :id
""")
INSERT_WEBHOOK = sql("""
    INSERT INTO telegram_webhooks (environment_id, id, bot_id, bot_username, secret, configured_at)
    VALUES (:environment_id, :id, '', '', :secret, :configured_at)
    ON CONFLICT (environment_id, id) DO NOTHING
""")
UPDATE_WEBHOOK = sql("""
    UPDATE telegram_webhooks SET bot_id = :bot_id, bot_username = :bot_username, configured_at = :configured_at
    WHERE environment_id = :environment_id AND id = :id
""")
DELETE_WEBHOOK = sql("DELETE FROM telegram_webhooks WHERE environment_id = :environment_id AND id = :id")

DELETE_EXPIRED = sql("DELETE FROM chat_links WHERE environment_id = :environment_id AND expires_at <= :now")
DELETE_EARLIER_OF_PERSON = sql("""
    DELETE FROM chat_links
    WHERE environment_id = :environment_id AND integration_id = :integration_id AND subscriber_id = :subscriber_id
    AND purpose = 'chat' AND context_keys = :context_keys AND replaces = :replaces
""")
DELETE_EARLIER_SETUPS = sql("""
    DELETE FROM chat_links
    WHERE environment_id = :environment_id AND integration_id = :integration_id AND purpose = 'setup'
""")
DELETE_OF_INTEGRATION = sql("""
    DELETE FROM chat_links WHERE environment_id = :environment_id AND integration_id = :integration_id
""")
INSERT_LINK = sql("""
    INSERT INTO chat_links (
        environment_id, digest, purpose, integration_id, subscriber_id, context_keys, replaces, expires_at
    ) VALUES (
        :environment_id, :digest, :purpose, :integration_id, :subscriber_id, :context_keys, :replaces, :expires_at
    )
""")
FIND_LINK = sql("""
    SELECT environment_id, purpose, integration_id, subscriber_id, context_keys, replaces, expires_at
    FROM chat_links
    WHERE environment_id = :environment_id AND digest = :digest AND expires_at > :now
""")
TAKE_LINK = sql("""
    DELETE FROM chat_links
    WHERE environment_id = :environment_id AND digest = :digest AND purpose = :purpose AND expires_at > :now
    AND integration_id = :integration_id
    RETURNING digest
""")
USE_LINK = sql("""
    UPDATE chat_links SET purpose = 'used'
    WHERE environment_id = :environment_id AND digest = :digest AND purpose = :purpose AND expires_at > :now
    AND integration_id = :integration_id
    RETURNING digest
""")


async def find_webhook(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, vault: Vault
) -> TelegramWebhook | None:
    row = await db.fetch_one(FIND_WEBHOOK, environment_id=environment_id, id=integration_id)
    if row is None:
        return None
    return TelegramWebhook(
        environment_id=row["environment_id"],
        integration_id=row["id"],
        bot=Bot(id=row["bot_id"], username=row["bot_username"]),
        secret=Secret(vault.open(row["secret"], context=row["environment_id"] + row["id"])),
        configured_at=row["configured_at"],
    )


async def insert_webhook(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, secret: Secret, vault: Vault
) -> None:
    """Store the secret of a webhook that no bot has yet, unless there is one."""
    sealed = vault.seal(secret.reveal(), context=environment_id + integration_id)
    await db.execute(INSERT_WEBHOOK, environment_id=environment_id, id=integration_id, secret=sealed, configured_at=0)


async def update_webhook(db: Connection, webhook: TelegramWebhook) -> None:
    """Store which bot reports; the secret stays."""
    await db.execute(
        UPDATE_WEBHOOK,
        environment_id=webhook.environment_id,
        id=webhook.integration_id,
        bot_id=webhook.bot.id,
        bot_username=webhook.bot.username,
        configured_at=webhook.configured_at,
    )


async def insert_link(db: Connection, link: ChatLink, code: str, now: Millis) -> None:
    """Store what a code is for; an earlier one for the same stops working, and those that are too old go."""
    place = {"environment_id": link.environment_id, "integration_id": link.integration_id}
    await db.execute(DELETE_EXPIRED, environment_id=link.environment_id, now=now)
    if link.purpose is CodePurpose.CHAT:
        await db.execute(
            DELETE_EARLIER_OF_PERSON,
            **place,
            subscriber_id=link.subscriber_id,
            context_keys=json_text(list(link.context_keys)),
            replaces=link.replaces,
        )
    else:
        await db.execute(DELETE_EARLIER_SETUPS, **place)
    await db.execute(
        INSERT_LINK,
        environment_id=link.environment_id,
        digest=digest_of(code),
        purpose=link.purpose,
        integration_id=link.integration_id,
        subscriber_id=link.subscriber_id,
        context_keys=json_text(list(link.context_keys)),
        replaces=link.replaces,
        expires_at=link.expires_at,
    )


async def find_link(
    db: Connection, environment_id: EnvironmentId, code: str, purpose: CodePurpose, now: Millis
) -> ChatLink | None:
    """Return what a code is for, unless it was used, is too old or for something else."""
    row = await db.fetch_one(FIND_LINK, environment_id=environment_id, digest=digest_of(code), now=now)
    if row is None or row["purpose"] != purpose:
        return None
    subscriber_id = row["subscriber_id"]
    return ChatLink(
        environment_id=row["environment_id"],
        purpose=CodePurpose(row["purpose"]),
        integration_id=row["integration_id"],
        subscriber_id=None if subscriber_id is None else SubscriberId(subscriber_id),
        context_keys=tuple(json_value(row["context_keys"])),
        replaces=bool(row["replaces"]),
        expires_at=row["expires_at"],
    )


async def take_link(db: Connection, link: ChatLink, code: str, now: Millis) -> bool:
    """Use up a code; returns False if somebody else did so before."""
    row = await db.fetch_one(
        USE_LINK if link.purpose is CodePurpose.CHAT else TAKE_LINK,
        environment_id=link.environment_id,
        integration_id=link.integration_id,
        digest=digest_of(code),
        purpose=link.purpose,
        now=now,
    )
    return row is not None


async def delete_of_integration(db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId) -> None:
    await db.execute(DELETE_WEBHOOK, environment_id=environment_id, id=integration_id)
    await db.execute(DELETE_OF_INTEGRATION, environment_id=environment_id, integration_id=integration_id)
