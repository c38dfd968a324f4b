"""What an answer of a vendor leads to: the person is asked, or the browser is sent to the vendor once more."""

from functools import partial

from msgspec.structs import replace

from clarion.http.operation import DetachedCall
from clarion.providers.definition.receipts import run_flow
from clarion.subscribers.addresses.oauth.actions import take_attempt
from clarion.subscribers.addresses.oauth.confirmation import Ending, Question, ask
from clarion.subscribers.addresses.oauth.model import Attempt, OAuthProblem, seal_state
from clarion.subscribers.addresses.oauth.vendor import Onward, Redirected
from clarion.subscribers.addresses.oauth.vendors import get_vendor
from clarion.subscribers.addresses.oauth.wire import OAuthCallbackQuery


async def finish_attempt(call: DetachedCall, attempt: Attempt, query: OAuthCallbackQuery) -> Ending | Question:
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
        following = replace(attempt.follow(now), tenant=result.tenant)
        return Ending(target=vendor.authorize_url(client, following, seal_state(following, vault), None))
    return await ask(call, attempt, account, result)
