"""Linking chats: the links that people follow, the webhooks of Telegram's bots, and their set-up on a phone."""

from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from clarion.audit.model import Action
from clarion.audit.recording import author_of, record_event
from clarion.clock import iso_text
from clarion.contexts.requested import store_contexts
from clarion.db.port import Connection
from clarion.errors import Busy, Forbidden, Invalid, Malformed, NotFound, RateLimited, Unauthenticated
from clarion.http.link_pages import respond_with_page
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.responses import PageResponse, RawResponse
from clarion.ids import EnvironmentId, IntegrationId, SubscriberKey, find_id
from clarion.integrations.model import Integration
from clarion.integrations.store import get_integration
from clarion.jsontext import encode_json
from clarion.members.actions import base_url
from clarion.preferences.unsubscribe.texts import choose_language
from clarion.providers.definition.receipts import is_same
from clarion.secret import Secret
from clarion.settings.rate_limits import LimitCategory
from clarion.subscribers.addresses.oauth.proof import check_context_hash
from clarion.subscribers.addresses.oauth.store import get_account_by_id
from clarion.subscribers.addresses.telegram import actions, bot, page, registration, store
from clarion.subscribers.addresses.telegram.linking import ChatLinkWish, make_link
from clarion.subscribers.addresses.telegram.model import (
    SETUP_PATH,
    WEBHOOK_PATH,
    Bot,
    ChatLink,
    CodePurpose,
    TelegramWebhook,
    link_url,
    setup_url,
    webhook_url,
)
from clarion.subscribers.addresses.telegram.page import SetupReader
from clarion.subscribers.addresses.telegram.texts import TEXTS
from clarion.subscribers.addresses.telegram.wire import (
    ChatLinkIn,
    ChatLinkOut,
    MobileLinkIn,
    MobileLinkOut,
    SetupQuery,
    TelegramWebhookOut,
)
from clarion.subscribers.store import ensure_subscribers
from clarion.vocabulary import Scope

SECTION = "Connecting chats"
_MAX_REPORT = 262_144
_MAX_FORM = 4_096
_MAX_FIELDS = 10
_PAGE_STATUSES = (200, 400, 404, 429, 503)
_NOTHING = RawResponse(200, b"text/plain", b"")


class _Setup(Struct, frozen=True):
    """A visit of the page by somebody whose link works."""

    call: DetachedCall
    link: ChatLink
    reader: SetupReader


@operation("POST", "/v1/integrations/channel-endpoints/link", scope=Scope.SUBSCRIBERS_WRITE, body=ChatLinkIn)
async def make_chat_link(call: Call, body: ChatLinkIn) -> ChatLinkOut:
    """Make the link with which a person connects their chat: of a bot of Telegram, or by OAuth."""
    await check_context_hash(call, body.context, body.context_hash)
    key = SubscriberKey(body.subscriber_id)
    context_keys = await store_contexts(call, body.context)
    people = await ensure_subscribers(call.db, call.environment_id, [key], call.now)
    wish = ChatLinkWish(body.integration_identifier, people[key], context_keys)
    return await make_link(call, wish)


@operation(
    "POST",
    "/v1/integrations/{integrationIdentifier}/webhook/configure",
    scope=Scope.INTEGRATIONS_WRITE,
    transaction=Transaction.NONE,
)
async def configure_telegram_webhook(call: DetachedCall, identifier: str) -> TelegramWebhookOut:
    """Have Telegram report what people write to the bot of an integration."""
    vault = call.services.vault
    find = partial(actions.get_telegram, environment_id=call.environment_id, identifier=identifier, vault=vault)
    integration = await call.database.read(find)
    webhook = await registration.configure(call, integration)
    url = webhook_url(base_url(call.services.settings), integration.environment_id, integration.id)

    async def put(db: Connection) -> None:
        await registration.keep_webhook(db, webhook, integration, vault)
        details = {"webhookUrl": url, "botUsername": webhook.bot.username}
        action = Action.INTEGRATION_CONFIGURE_WEBHOOK
        await record_event(db, action, integration, author_of(call), call.now, details=details)

    try:
        await call.database.transaction(put)
    except registration.BotChanged:
        raise Busy("The integration got another bot meanwhile; call this again") from None
    return TelegramWebhookOut(
        webhook_url=url,
        configured_at=iso_text(webhook.configured_at),
        bot_username=webhook.bot.username,
    )


@operation(
    "POST",
    "/v1/integrations/{integrationIdentifier}/mobile-link",
    scope=Scope.INTEGRATIONS_WRITE,
    body=MobileLinkIn,
    body_optional=True,
)
async def make_mobile_link(call: Call, identifier: str, body: MobileLinkIn) -> MobileLinkOut:
    """Make a page for a phone, of one use within five minutes, where somebody enters the token of a bot."""
    if body.subscriber_id is not None and not call.caller.has_scope(Scope.SUBSCRIBERS_WRITE):
        raise Forbidden(f"This API key lacks the scope '{Scope.SUBSCRIBERS_WRITE}', which subscriberId needs")
    account = await actions.get_telegram(call.db, call.environment_id, identifier, call.services.vault)
    key = None if body.subscriber_id is None else SubscriberKey(body.subscriber_id)
    code, expires_at = await actions.create_setup_link(call.db, account, key, call.now)
    details: dict[str, str | None] = {"subscriberId": body.subscriber_id, "expiresAt": iso_text(expires_at)}
    action = Action.INTEGRATION_CREATE_MOBILE_LINK
    await record_event(call.db, action, account, author_of(call), call.now, details=details)
    url = setup_url(base_url(call.services.settings), call.environment_id, code)
    return MobileLinkOut(token=code, url=url, expires_at=iso_text(expires_at))


@operation(
    "POST",
    WEBHOOK_PATH + "/{environmentId}/{integrationId}",
    public=True,
    transaction=Transaction.NONE,
    body_limit=_MAX_REPORT,
    foreign=True,
)
async def receive_telegram(call: DetachedCall, environment_id: str, integration_id: str) -> RawResponse:
    """Receive what somebody wrote to a bot; a code of a link connects their chat."""
    integration, webhook = await _find_bot(call, environment_id, integration_id)
    given = call.request.headers.get(b"x-telegram-bot-api-secret-token", b"").decode("latin-1")
    if not is_same(given, webhook.secret.reveal()) or not actions.is_of_bot(webhook, integration):
        raise Unauthenticated("The secret is not that of the webhook")
    update = _read_update(call.request.body)
    start = bot.read_start(update)
    if start is None or not call.services.shared.get(actions.StartLimit).admit(integration.id, start, call.now):
        return _NOTHING
    texts = TEXTS[choose_language(bot.read_language(update), "", "")]
    link = partial(actions.link_chat, integration=integration, start=start, vault=call.services.vault, now=call.now)
    try:
        await call.database.transaction(link)
    except actions.LinkedBefore:
        return _NOTHING
    except actions.AlreadyLinked:
        return _say(start, texts.taken)
    except actions.NotLinked:
        return _say(start, f"{texts.invalid}. {texts.ask_again}")
    except (Invalid, NotFound):
        # Telegram repeats what is not answered with a success.
        return _say(start, texts.failed)
    return _say(start, texts.linked)


@operation(
    "GET",
    SETUP_PATH + "/{environmentId}",
    public=True,
    status=_PAGE_STATUSES,
    query=SetupQuery,
    transaction=Transaction.NONE,
    foreign=True,
)
async def show_telegram_setup(call: DetachedCall, environment_id: str, query: SetupQuery) -> PageResponse:
    """Show the page on which somebody enters the token of a bot; it changes nothing."""
    visit = await _visit(call, environment_id, query.token)
    return visit if isinstance(visit, PageResponse) else await _show_form(visit, 200)


@operation(
    "POST",
    SETUP_PATH + "/{environmentId}",
    public=True,
    status=_PAGE_STATUSES,
    query=SetupQuery,
    transaction=Transaction.NONE,
    body_limit=_MAX_FORM,
    foreign=True,
)
async def finish_telegram_setup(call: DetachedCall, environment_id: str, query: SetupQuery) -> PageResponse:
    """Take the token of a bot, if Telegram knows it, and have the bot's messages reported."""
    visit = await _visit(call, environment_id, query.token)
    if isinstance(visit, PageResponse):
        return visit
    texts, given = visit.reader.texts, _read_token(call.request.body)
    if not bot.is_token(given):
        return await _show_form(visit, 400, texts.not_token)
    token = Secret(given)
    try:
        asked = await bot.fetch_bot(call.services.gateway, token)
    except bot.BotRefused:
        return await _show_form(visit, 400, texts.refused)
    except bot.BotUnreachable:
        return await _show_form(visit, 503, texts.unreachable)
    return await _finish(visit, token, asked)


async def _find_bot(
    call: DetachedCall, environment_id: str, integration_id: str
) -> tuple[Integration, TelegramWebhook]:
    """The integration that is reported to; raises NotFound, whatever is missing."""
    ids = find_id(environment_id), find_id(integration_id)
    vault = call.services.vault

    async def find(db: Connection) -> tuple[Integration, TelegramWebhook]:
        if ids[0] is None or ids[1] is None:
            raise NotFound("Integration", integration_id)
        environment, integration = EnvironmentId(ids[0]), IntegrationId(ids[1])
        webhook = await store.find_webhook(db, environment, integration, vault)
        if webhook is None:
            raise NotFound("Integration", integration_id)
        return await get_account_by_id(db, environment, integration, vault), webhook

    return await call.database.read(find)


def _read_update(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Malformed("The body is not JSON") from None


def _say(start: bot.Start, text: str) -> RawResponse:
    """Answer in the chat: Telegram takes the answer to a report for a call of its API."""
    body = {"method": "sendMessage", "chat_id": int(start.chat_id), "text": text}
    return RawResponse(200, b"application/json", encode_json(body))


async def _visit(call: DetachedCall, environment_text: str, code: str) -> _Setup | PageResponse:
    """Who visits the page, or what they see instead."""
    call.response_headers.extend(page.HEADERS)
    accepted = call.request.headers.get(b"accept-language", b"").decode("latin-1")
    reader = SetupReader(choose_language(None, accepted, ""), code)
    environment_id = find_id(environment_text)
    link = None
    if environment_id is not None:
        find = partial(
            store.find_link,
            environment_id=EnvironmentId(environment_id),
            code=code,
            purpose=CodePurpose.SETUP,
            now=call.now,
        )
        link = await call.database.read(find)
    if link is None:
        return _refuse(reader)
    try:
        call.response_headers.extend(await call.services.limiter.admit(link.environment_id, LimitCategory.ALL))
    except RateLimited as refusal:
        call.response_headers.append((b"retry-after", str(refusal.retry_after).encode()))
        return respond_with_page(429, page.render_notice(reader, reader.texts.title, reader.texts.too_many))
    return _Setup(call, link, reader)


async def _show_form(visit: _Setup, status: int, problem: str = "") -> PageResponse:
    call, link = visit.call, visit.link
    find = partial(
        get_integration,
        environment_id=link.environment_id,
        integration_id=link.integration_id,
        vault=call.services.vault,
    )
    return respond_with_page(status, page.render_form(visit.reader, (await call.database.read(find)).name, problem))


def _read_token(body: bytes) -> str:
    try:
        fields = dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=_MAX_FIELDS))
    except ValueError:
        return ""
    return fields.get("botToken", "").strip()


async def _finish(visit: _Setup, token: Secret, asked: Bot) -> PageResponse:
    call, link, reader = visit.call, visit.link, visit.reader
    vault = call.services.vault
    finish = partial(actions.finish_setup, link=link, code=reader.code, token=token, vault=vault, now=call.now)
    try:
        integration = await call.database.transaction(finish)
    except (actions.NotLinked, NotFound):
        return _refuse(reader)
    except Invalid:
        # What is wrong is for those who may see the integration.
        return await _show_form(visit, 400, reader.texts.failed)
    url, has_webhook = None, registration.can_report_to(base_url(call.services.settings))
    if has_webhook:
        try:
            webhook = await registration.register_webhook(call, integration, token, asked)
            url = await _store_webhook(visit, integration, webhook)
        except (bot.BotRefused, bot.BotUnreachable, registration.BotChanged, NotFound):
            has_webhook = False
    return respond_with_page(200, page.render_result(reader, asked.username, url, has_webhook=has_webhook))


async def _store_webhook(visit: _Setup, integration: Integration, webhook: TelegramWebhook) -> str | None:
    """Store the webhook, and make the link for the person that the page was made for."""
    call, subscriber_id = visit.call, visit.link.subscriber_id
    vault = call.services.vault

    async def store_both(db: Connection) -> str | None:
        await registration.keep_webhook(db, webhook, integration, vault)
        if subscriber_id is None:
            return None
        wish = actions.ChatWish(subscriber_id=subscriber_id)
        made = await actions.create_chat_link(db, integration, wish, vault=vault, now=call.now)
        return link_url(made.bot, made.code)

    return await call.database.transaction(store_both)


def _refuse(reader: SetupReader) -> PageResponse:
    return respond_with_page(404, page.render_notice(reader, reader.texts.invalid, reader.texts.ask_again))
