"""The pages of links in messages: unsubscribe with one click, and choose which messages to get."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from msgspec import Struct

from clarion.content.known_secrets import LinkSecrets
from clarion.db.port import Connection
from clarion.errors import RateLimited
from clarion.http.input.forms import read_fields
from clarion.http.link_pages import respond_with_page
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.http.responses import PageResponse
from clarion.http.wire import Wire
from clarion.preferences.model import ChangeReason
from clarion.preferences.unsubscribe import page
from clarion.preferences.unsubscribe.actions import (
    Visitor,
    change_subscription,
    find_visitor,
    is_subscribed,
    list_choices,
    save_choices,
)
from clarion.preferences.unsubscribe.page import Reader
from clarion.preferences.unsubscribe.targets import PREFERENCES_PATH, SAMPLE, UNSUBSCRIBE_PATH, read_target
from clarion.preferences.unsubscribe.texts import choose_language
from clarion.settings.rate_limits import LimitCategory

SECTION = "Unsubscribing"
_STATUSES = (200, 400, 404, 429)
_ONE_CLICK = "list-unsubscribe"
_MAX_WISH: Final = 65_536
"""Bytes of the form that unsubscribes."""
_MAX_CHOICES: Final = 131_072
"""Bytes of the form with all workflows and channels."""
_MAX_FIELDS: Final = 4_000

Answer = tuple[int, str]


class LinkQuery(Wire):
    token: str = ""
    """Of the link: whom it was sent to, and for which messages."""


class _Visit(Struct, frozen=True):
    """A request of somebody whose token is genuine."""

    call: DetachedCall
    visitor: Visitor
    reader: Reader


_operation = partial(
    operation, public=True, status=_STATUSES, query=LinkQuery, transaction=Transaction.NONE, foreign=True
)


@_operation("GET", UNSUBSCRIBE_PATH)
async def show_unsubscribe_page(call: DetachedCall, query: LinkQuery) -> PageResponse:
    """Show the page that `List-Unsubscribe` and `{{unsubscribe_url}}` lead to; it changes nothing."""
    return await _answer(call, query.token, _show_question)


@_operation("POST", UNSUBSCRIBE_PATH, body_limit=_MAX_WISH)
async def unsubscribe(call: DetachedCall, query: LinkQuery) -> PageResponse:
    """Unsubscribe by the form of the page, or by the request of a mail program (RFC 8058); or subscribe again."""
    return await _answer(call, query.token, _change_subscription)


@_operation("GET", PREFERENCES_PATH)
async def show_preferences_page(call: DetachedCall, query: LinkQuery) -> PageResponse:
    """Show the page that `{{preferences_url}}` leads to, on which people choose what they get."""
    return await _answer(call, query.token, _show_choices)


@_operation("POST", PREFERENCES_PATH, body_limit=_MAX_CHOICES)
async def save_preferences_page(call: DetachedCall, query: LinkQuery) -> PageResponse:
    """Save what somebody chose on the page."""
    return await _answer(call, query.token, _save_choices)


async def _answer(call: DetachedCall, token: str, answer: Callable[[_Visit], Awaitable[Answer]]) -> PageResponse:
    call.response_headers.extend(page.HEADERS)
    accepted = call.request.headers.get(b"accept-language", b"").decode("latin-1")
    stranger = Reader(choose_language(None, accepted, ""), token)
    if token == SAMPLE:
        return respond_with_page(200, page.render_notice(stranger, stranger.texts.unsubscribe, stranger.texts.sample))
    secrets = call.services.shared.get(LinkSecrets)
    secret = await secrets.find(token, call.request.address, call.now)
    if secret is None or read_target(secret, token) is None:
        secrets.note_failure(call.request.address, call.now)
        return respond_with_page(*_refuse(stranger))
    visitor = await call.database.read(partial(find_visitor, token=token, vault=call.services.vault))
    if visitor is None:
        return respond_with_page(*_refuse(stranger))
    reader = Reader(choose_language(visitor.subscriber.locale, accepted, visitor.default_locale), token)
    try:
        call.response_headers.extend(await call.services.limiter.admit(visitor.environment_id, LimitCategory.ALL))
    except RateLimited as refusal:
        call.response_headers.append((b"retry-after", str(refusal.retry_after).encode()))
        return respond_with_page(429, page.render_notice(reader, reader.texts.messages, reader.texts.too_many))
    return respond_with_page(*await answer(_Visit(call, visitor, reader)))


def _refuse(reader: Reader) -> Answer:
    return 404, page.render_notice(reader, reader.texts.invalid, reader.texts.try_latest)


def _refuse_form(reader: Reader) -> Answer:
    return 400, page.render_notice(reader, reader.texts.messages, reader.texts.not_read)


async def _show_question(visit: _Visit) -> Answer:
    visitor, reader, workflow = visit.visitor, visit.reader, visit.visitor.workflow
    if workflow is None:
        return _refuse(reader)
    if workflow.is_critical:
        return 200, page.render_critical(reader, workflow.name)
    if await visit.call.database.read(partial(is_subscribed, visitor=visitor, workflow=workflow)):
        return 200, page.render_question(reader, workflow.name, visitor.channel)
    return 200, page.render_result(reader, workflow.name, visitor.channel, is_on=False)


async def _change_subscription(visit: _Visit) -> Answer:
    visitor, reader, workflow = visit.visitor, visit.reader, visit.visitor.workflow
    wanted = _read_wish(read_fields(visit.call.request.headers, visit.call.request.body, limit=_MAX_FIELDS))
    if wanted is None:
        return _refuse_form(reader)
    if workflow is None:
        return _refuse(reader)
    if workflow.is_critical:
        return 200, page.render_critical(reader, workflow.name)
    is_on, reason = wanted
    change = partial(
        change_subscription, visitor=visitor, workflow=workflow, is_on=is_on, reason=reason, now=visit.call.now
    )
    await visit.call.database.transaction(change)
    return 200, page.render_result(reader, workflow.name, visitor.channel, is_on=is_on)


async def _show_choices(visit: _Visit) -> Answer:
    return await _render_choices(visit, is_saved=False)


async def _save_choices(visit: _Visit) -> Answer:
    form = read_fields(visit.call.request.headers, visit.call.request.body, limit=_MAX_FIELDS)
    if "shown" not in form:
        return _refuse_form(visit.reader)
    shown, on = frozenset(form["shown"]), frozenset(form.get("on", ()))

    async def save(db: Connection) -> None:
        await save_choices(db, visit.visitor, shown=shown, on=on, now=visit.call.now)

    await visit.call.database.transaction(save)
    return await _render_choices(visit, is_saved=True)


async def _render_choices(visit: _Visit, *, is_saved: bool) -> Answer:
    choices, critical = await visit.call.database.scan(partial(list_choices, visitor=visit.visitor))
    return 200, page.render_choices(visit.reader, choices, critical, is_saved=is_saved)


def _read_wish(form: dict[str, list[str]]) -> tuple[bool, ChangeReason] | None:
    """Return whether somebody wants the messages, and how they said so; None if the form says nothing."""
    for name, values in form.items():
        if name.lower() == _ONE_CLICK and values[-1].lower() == "one-click":
            return False, ChangeReason.ONE_CLICK
    match form.get("action"):
        case ["unsubscribe"]:
            return False, ChangeReason.LINK
        case ["subscribe"]:
            return True, ChangeReason.LINK
    return None
