"""Setting up bots and linking chats: what is stored, and under which conditions."""

from msgspec import Struct
from msgspec.structs import replace

from clarion.audit.model import SERVICE, Action, Author
from clarion.audit.recording import record
from clarion.clock import SECOND, Millis
from clarion.db.port import Connection
from clarion.errors import Invalid
from clarion.http.attempts import AttemptLimit, LeakyCounters
from clarion.ids import EnvironmentId, IntegrationId, SubscriberId, SubscriberKey
from clarion.integrations.actions import IntegrationChanges, update_integration
from clarion.integrations.model import Integration
from clarion.integrations.store import get_integration
from clarion.integrations.variables import find_unresolved
from clarion.secret import Secret
from clarion.subscribers.addresses import endpoints
from clarion.subscribers.addresses.actions import EndpointDraft, create_endpoint
from clarion.subscribers.addresses.integrations import get_address_integration
from clarion.subscribers.addresses.model import EndpointType
from clarion.subscribers.addresses.oauth.store import get_account
from clarion.subscribers.addresses.telegram import bot, store
from clarion.subscribers.addresses.telegram.model import (
    LIFETIMES,
    TELEGRAM,
    Bot,
    ChatLink,
    CodePurpose,
    TelegramWebhook,
    make_code,
)
from clarion.subscribers.store import get_subscriber, list_subscribers_by_id
from clarion.vault import Vault

MAX_PER_CHAT = AttemptLimit(10, Millis(30 * SECOND))
"""Whoever opens more links in a chat gets no answer for some time."""
_FIELD = "integrationIdentifier"


class NewChatLink(Struct, frozen=True):
    """A code that was given out, with the bot that takes it."""

    bot: Bot
    code: str
    expires_at: Millis


class ChatWish(Struct, frozen=True, kw_only=True):
    """Whose chat is to be connected."""

    subscriber_id: SubscriberId
    context_keys: tuple[str, ...] = ()
    replaces: bool = True
    """Whether the caller may change what was connected before, and not only add."""


class StartLimit:
    """How many links were opened in each chat with a bot, as it was reported to this process."""

    def __init__(self) -> None:
        self._counters = LeakyCounters()

    def admit(self, integration_id: IntegrationId, start: bot.Start, now: Millis) -> bool:
        """Count a link, and return whether it is looked up."""
        return self._counters.admit((integration_id, start.chat_id), MAX_PER_CHAT, now)


class NotLinked(Exception):
    """Why a code connects nothing."""


class LinkedBefore(NotLinked):
    """The code connected this chat before, and the report is repeated."""


class AlreadyLinked(NotLinked):
    """Another chat is connected, and the code may not replace it."""


async def get_telegram(db: Connection, environment_id: EnvironmentId, identifier: str, vault: Vault) -> Integration:
    """Return an integration of Telegram; raises NotFound, and Invalid if it is of another provider."""
    account = await get_account(db, environment_id, identifier, vault)
    if account.provider_id != TELEGRAM:
        raise Invalid.field(_FIELD, f"is of the provider '{account.provider_id}', and must be of {TELEGRAM}")
    return account


def read_token(account: Integration) -> Secret:
    unresolved = find_unresolved(account)
    if unresolved is not None:
        raise Invalid.field(_FIELD, unresolved, account.identifier)
    token = _find_token(account)
    if token is None:
        raise Invalid.field(_FIELD, "lacks the credential apiToken, the token of the bot", account.identifier)
    return token


def is_of_bot(webhook: TelegramWebhook, account: Integration) -> bool:
    """Whether a webhook is that of the bot whose token the integration has now."""
    token = _find_token(account)
    return token is not None and bool(webhook.bot.id) and webhook.bot.id == bot.bot_id_of(token)


async def create_chat_link(
    db: Connection, account: Integration, wish: ChatWish, *, vault: Vault, now: Millis
) -> NewChatLink:
    """Make a code with which a person connects a chat with the bot; raises Invalid if the bot would not report it."""
    read_token(account)
    webhook = await store.find_webhook(db, account.environment_id, account.id, vault)
    if webhook is None or not is_of_bot(webhook, account):
        way_out = f"POST /v1/integrations/{account.identifier}/webhook/configure first"
        raise Invalid.field(_FIELD, f"has no webhook for its bot, so that nobody could be linked; {way_out}")
    link = ChatLink(
        environment_id=account.environment_id,
        purpose=CodePurpose.CHAT,
        integration_id=account.id,
        subscriber_id=wish.subscriber_id,
        context_keys=wish.context_keys,
        replaces=wish.replaces,
        expires_at=Millis(now + LIFETIMES[CodePurpose.CHAT]),
    )
    code = make_code()
    await store.insert_link(db, link, code, now)
    return NewChatLink(webhook.bot, code, link.expires_at)


async def create_setup_link(
    db: Connection, account: Integration, subscriber_key: SubscriberKey | None, now: Millis
) -> tuple[str, Millis]:
    """Make a code with which somebody on a phone gives the integration its bot; returns it with its end."""
    person = None
    if subscriber_key is not None:
        person = await get_subscriber(db, account.environment_id, subscriber_key)
    link = ChatLink(
        environment_id=account.environment_id,
        purpose=CodePurpose.SETUP,
        integration_id=account.id,
        subscriber_id=None if person is None else person.id,
        expires_at=Millis(now + LIFETIMES[CodePurpose.SETUP]),
    )
    code = make_code()
    await store.insert_link(db, link, code, now)
    return code, link.expires_at


async def link_chat(db: Connection, integration: Integration, start: bot.Start, *, vault: Vault, now: Millis) -> None:
    """Connect the chat in which somebody sent a code; raises NotLinked."""
    environment_id = integration.environment_id
    link = await store.find_link(db, environment_id, start.code, CodePurpose.CHAT, now)
    if link is None and await _is_repeated(db, integration, start, vault=vault, now=now):
        raise LinkedBefore
    if link is None or link.integration_id != integration.id or link.subscriber_id is None:
        raise NotLinked
    # The integration is locked before the person, as everywhere.
    await get_address_integration(db, environment_id, integration.identifier, for_update=True)
    people = await list_subscribers_by_id(db, environment_id, [link.subscriber_id])
    if not people or not await store.take_link(db, link, start.code, now):
        raise NotLinked
    person = await get_subscriber(db, environment_id, people[link.subscriber_id].key, for_update=True)
    draft = EndpointDraft(
        integration_identifier=integration.identifier,
        identifier=None,
        connection_identifier=None,
        subscriber_key=person.key,
        creates_subscriber=False,
        context_keys=link.context_keys,
        type=EndpointType.TELEGRAM_CHAT,
        endpoint={"chatId": start.chat_id},
    )
    place = (draft.type, draft.context_keys)
    before = await endpoints.find_endpoint_of(db, environment_id, person.id, integration.id, place, vault)
    if before is None:
        await create_endpoint(db, environment_id, draft, vault=vault, now=now)
    elif before.endpoint != draft.endpoint:
        if not link.replaces:
            raise AlreadyLinked
        await endpoints.update_endpoint(db, replace(before, endpoint=draft.endpoint, updated_at=now), vault)


async def _is_repeated(
    db: Connection, integration: Integration, start: bot.Start, *, vault: Vault, now: Millis
) -> bool:
    """Whether a code has connected the chat that it comes from."""
    used = await store.find_link(db, integration.environment_id, start.code, CodePurpose.USED, now)
    if used is None or used.integration_id != integration.id or used.subscriber_id is None:
        return False
    place = (EndpointType.TELEGRAM_CHAT, used.context_keys)
    endpoint = await endpoints.find_endpoint_of(
        db, integration.environment_id, used.subscriber_id, integration.id, place, vault
    )
    return endpoint is not None and endpoint.endpoint == {"chatId": start.chat_id}


async def finish_setup(
    db: Connection, link: ChatLink, code: str, token: Secret, *, vault: Vault, now: Millis
) -> Integration:
    """Give the integration its bot, once; raises NotLinked if the code was used meanwhile."""
    if not await store.take_link(db, link, code, now):
        raise NotLinked
    before = await get_integration(db, link.environment_id, link.integration_id, vault)
    credentials = {**before.credentials, "apiToken": token.reveal()}
    changes = IntegrationChanges(fields={"credentials": credentials}, check=False)
    changed = await update_integration(db, link.environment_id, link.integration_id, changes, vault=vault, now=now)
    await record(db, Action.INTEGRATION_UPDATE, Author(actor=SERVICE), now, before=before, after=changed)
    return changed


def _find_token(account: Integration) -> Secret | None:
    token = account.credentials.get("apiToken")
    return Secret(token) if isinstance(token, str) and token else None
