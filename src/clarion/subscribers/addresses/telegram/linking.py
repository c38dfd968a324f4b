"""Answers a request for the link with which a person connects a chat, with an API key or in a session."""

from msgspec import UNSET, Struct

from clarion.clock import iso_text
from clarion.http.operation import Call
from clarion.subscribers.addresses.oauth.actions import Wish
from clarion.subscribers.addresses.oauth.beginning import begin
from clarion.subscribers.addresses.oauth.model import OAuthStep
from clarion.subscribers.addresses.oauth.store import get_account
from clarion.subscribers.addresses.telegram.actions import ChatWish, create_chat_link
from clarion.subscribers.addresses.telegram.model import TELEGRAM, link_url
from clarion.subscribers.addresses.telegram.wire import ChatLinkMetadata, ChatLinkOut
from clarion.subscribers.model import Subscriber


class ChatLinkWish(Struct, frozen=True):
    """Whose chat is to be connected, at which integration; who may ask for it was checked."""

    integration_identifier: str
    person: Subscriber
    context_keys: tuple[str, ...]
    replaces: bool = True


async def make_link(call: Call, wish: ChatLinkWish) -> ChatLinkOut:
    """The link of a bot, or that of the provider's OAuth; raises Invalid where there is neither."""
    vault = call.services.vault
    account = await get_account(call.db, call.environment_id, wish.integration_identifier, vault)
    if account.provider_id != TELEGRAM:
        return ChatLinkOut(url=(await begin(call, _oauth_wish(wish))).url, provider_metadata=UNSET)
    person = ChatWish(subscriber_id=wish.person.id, context_keys=wish.context_keys, replaces=wish.replaces)
    made = await create_chat_link(call.db, account, person, vault=vault, now=call.now)
    metadata = ChatLinkMetadata(bot_username=made.bot.username, expires_at=iso_text(made.expires_at))
    return ChatLinkOut(url=link_url(made.bot, made.code), provider_metadata=metadata)


def _oauth_wish(wish: ChatLinkWish) -> Wish:
    return Wish(
        integration_identifier=wish.integration_identifier,
        step=OAuthStep.LINK,
        subscriber_key=wish.person.key,
        is_shared=False,
        context_keys=wish.context_keys,
        connection_identifier=None,
        scope=None,
        links_person=False,
        replaces=wish.replaces,
    )
