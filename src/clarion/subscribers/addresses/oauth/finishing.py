"""What an answer of a vendor leads to: the grant is stored, or the browser is sent to the vendor once more."""

from functools import partial
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.http.operation import DetachedCall
from clarion.integrations.model import Integration
from clarion.providers.definition.receipts import run_flow
from clarion.subscribers.addresses.oauth.actions import take_attempt
from clarion.subscribers.addresses.oauth.granted import Answered, store_grant
from clarion.subscribers.addresses.oauth.model import (
    STATE_LIFETIME,
    Attempt,
    OAuthProblem,
    new_attempt_id,
    seal_state,
)
from clarion.subscribers.addresses.oauth.vendor import Onward, Redirected
from clarion.subscribers.addresses.oauth.vendors import get_vendor
from clarion.subscribers.addresses.oauth.wire import OAuthCallbackQuery


class Ending(Struct, frozen=True, kw_only=True):
    target: str | None
    """Where the browser goes; None: to a page of ours."""
    note: str = ""
    """What that page says."""


async def finish_attempt(call: DetachedCall, attempt: Attempt, query: OAuthCallbackQuery) -> Ending:
    """Each attempt has one answer, whatever that is; raises OAuthProblem, SendFailure, NotFound and Invalid."""
    vault, now = call.services.vault, call.now
    take = partial(take_attempt, attempt=attempt, vault=vault, now=now)
    account = await call.database.transaction(take)
    vendor, client = get_vendor(account)
    if query.error:
        raise OAuthProblem(f"{vendor.name} gave nothing: {query.error[:100]}")
    redirected = Redirected(code=query.code, tenant=query.tenant, admin_consent=query.admin_consent)
    result = await run_flow(vendor.read_answer(client, attempt, redirected, now), call.services.gateway.call)

    if isinstance(result, Onward):
        expires_at = Millis(now + STATE_LIFETIME)
        following = replace(attempt, id=new_attempt_id(), expires_at=expires_at, tenant=result.tenant)
        return Ending(target=vendor.authorize_url(client, following, seal_state(following, vault), None))
    answered = Answered(attempt, account, vendor, result, vault, now)
    await call.database.transaction(partial(store_grant, answered=answered))
    return Ending(target=None if result.note else _redirect_url(account), note=result.note)


def _redirect_url(account: Integration) -> str | None:
    """Where the integration wants people to return to; only addresses of the web."""
    target: Any = account.credentials.get("redirectUrl")
    if not isinstance(target, str) or not target.isascii() or not target.isprintable():
        return None
    return target if urlsplit(target).scheme in ("http", "https") and urlsplit(target).netloc else None
