"""Connecting workspaces and people of chats: the addresses to send browsers to, and the one that they come back to."""

from collections.abc import Awaitable, Callable
from functools import partial

from clarion.contexts.requested import store_contexts
from clarion.errors import Invalid, NotFound, RateLimited
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.responses import PageResponse
from clarion.ids import SubscriberKey
from clarion.providers.definition.result import SendFailure
from clarion.settings.rate_limits import LimitCategory
from clarion.subscribers.addresses.actions import choose_owner
from clarion.subscribers.addresses.model import ConnectionMode
from clarion.subscribers.addresses.oauth import actions, page
from clarion.subscribers.addresses.oauth.beginning import begin
from clarion.subscribers.addresses.oauth.confirmation import MAX_FORM, Ending, Question, keep_grant, open_pending
from clarion.subscribers.addresses.oauth.finishing import finish_attempt
from clarion.subscribers.addresses.oauth.model import (
    CALLBACK_PATH,
    CONFIRM_PATH,
    Attempt,
    OAuthProblem,
    OAuthStep,
    open_state,
)
from clarion.subscribers.addresses.oauth.proof import check_context_hash
from clarion.subscribers.addresses.oauth.wire import (
    ChatUrlIn,
    ConnectUrlIn,
    LinkUrlIn,
    OAuthCallbackQuery,
    OAuthUrlOut,
)
from clarion.vocabulary import Scope

SECTION = "Connecting chats"


@operation(
    "POST", "/v1/integrations/channel-connections/oauth", scope=Scope.SUBSCRIBERS_WRITE, status=201, body=ConnectUrlIn
)
async def make_connect_url(call: Call, body: ConnectUrlIn) -> OAuthUrlOut:
    """Make the address at which a person connects a workspace; connecting again updates the connection."""
    await check_context_hash(call, body.context, body.context_hash)
    return await _begin_connect(call, body, auto_link=body.auto_link_user)


@operation(
    "POST", "/v1/integrations/channel-endpoints/oauth", scope=Scope.SUBSCRIBERS_WRITE, status=201, body=LinkUrlIn
)
async def make_link_url(call: Call, body: LinkUrlIn) -> OAuthUrlOut:
    """Make the address at which a person says who they are in a workspace that is connected."""
    await check_context_hash(call, body.context, body.context_hash)
    return await _begin_link(call, body, SubscriberKey(body.subscriber_id))


@operation("POST", "/v1/integrations/chat/oauth", scope=Scope.SUBSCRIBERS_WRITE, status=201, body=ChatUrlIn)
async def make_chat_url(call: Call, body: ChatUrlIn) -> OAuthUrlOut:
    """Make either address, by `mode`; deprecated."""
    if body.mode is OAuthStep.CONNECT:
        if body.user_scope is not None:
            raise Invalid.field("userScope", "is for the mode link_user; the mode connect has scope")
        return await _begin_connect(call, body, auto_link=body.auto_link_user)
    if body.scope is not None:
        raise Invalid.field("scope", "is for the mode connect; the mode link_user has userScope")
    if body.subscriber_id is None:
        raise Invalid.field("subscriberId", "is required for the mode link_user")
    return await _begin_link(call, body, SubscriberKey(body.subscriber_id))


@operation(
    "GET",
    CALLBACK_PATH,
    public=True,
    status=(200, 302, 400, 429),
    query=OAuthCallbackQuery,
    transaction=Transaction.NONE,
    foreign=True,
)
async def finish_oauth(call: DetachedCall, query: OAuthCallbackQuery) -> PageResponse:
    """Take the answer of the vendor, and ask the person at the browser whether to store what it granted."""

    async def finish() -> Ending | Question:
        attempt = open_state(query.state, call.services.vault, call.now)
        await _admit(call, attempt)
        return await finish_attempt(call, attempt, query)

    return await _show(call, finish)


@operation(
    "POST",
    CONFIRM_PATH,
    public=True,
    status=(200, 302, 400, 429),
    transaction=Transaction.NONE,
    body_limit=MAX_FORM,
    foreign=True,
)
async def confirm_oauth(call: DetachedCall) -> PageResponse:
    """Store what the vendor granted, and send the browser on, or show a page that closes."""

    async def confirm() -> Ending:
        vault, now = call.services.vault, call.now
        pending = open_pending(call.request.body, vault, now)
        await _admit(call, pending.attempt)
        return await call.database.transaction(partial(keep_grant, pending=pending, vault=vault, now=now))

    return await _show(call, confirm)


async def _admit(call: DetachedCall, attempt: Attempt) -> None:
    call.response_headers.extend(await call.services.limiter.admit(attempt.environment_id, LimitCategory.ALL))


async def _show(call: DetachedCall, act: Callable[[], Awaitable[Ending | Question]]) -> PageResponse:
    try:
        result = await act()
    except RateLimited as refusal:
        call.response_headers.append((b"retry-after", str(refusal.retry_after).encode()))
        return _page(call, 429, page.render_problem("Too many requests. Try again in a minute."))
    except OAuthProblem as problem:
        return _page(call, 400, page.render_problem(str(problem)))
    except SendFailure:
        return _page(call, 400, page.render_problem("The vendor could not be asked. Begin again in a minute."))
    except NotFound:
        return _page(call, 400, page.render_problem("The integration, or the person, does not exist any more."))
    except Invalid as problem:
        return _page(call, 400, page.render_problem(problem.message))
    if isinstance(result, Question):
        return _page(call, 200, page.render_question(result), page.list_form_targets(result))
    if result.target is None:
        return _page(call, 200, page.render_success(result.note))
    call.response_headers.append((b"location", result.target.encode()))
    return _page(call, 302, "")


async def _begin_connect(call: Call, body: ConnectUrlIn | ChatUrlIn, *, auto_link: bool | None) -> OAuthUrlOut:
    key = None if body.subscriber_id is None else SubscriberKey(body.subscriber_id)
    context_keys = await store_contexts(call, body.context)
    owner = choose_owner(body.connection_mode, key, has_context=bool(context_keys))
    is_own = owner is not None and body.connection_mode is not ConnectionMode.SHARED
    wish = actions.Wish(
        integration_identifier=body.integration_identifier,
        step=OAuthStep.CONNECT,
        subscriber_key=key,
        is_shared=owner is None,
        context_keys=context_keys,
        connection_identifier=body.connection_identifier,
        scope=body.scope,
        links_person=is_own if auto_link is None else auto_link,
    )
    return await begin(call, wish)


async def _begin_link(call: Call, body: LinkUrlIn | ChatUrlIn, key: SubscriberKey) -> OAuthUrlOut:
    wish = actions.Wish(
        integration_identifier=body.integration_identifier,
        step=OAuthStep.LINK,
        subscriber_key=key,
        is_shared=False,
        context_keys=await store_contexts(call, body.context),
        connection_identifier=body.connection_identifier,
        scope=body.user_scope,
        links_person=False,
    )
    return await begin(call, wish)


def _page(call: DetachedCall, status: int, html: str, form_targets: str = "'none'") -> PageResponse:
    call.response_headers.extend(page.make_headers(form_targets))
    return PageResponse(status, b"text/html; charset=utf-8", html.encode())
