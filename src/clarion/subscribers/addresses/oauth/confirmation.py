"""The question between the answer of a vendor and what is stored: whose messages will go where.

An address to connect is bound to no browser. Whoever is sent one by somebody else would connect their own workspace to
that person, so that the page names both, and nothing is stored before the person at the browser agrees. What the
vendor granted waits in the page, sealed.
"""

from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.http.operation import DetachedCall
from clarion.integrations.model import Integration
from clarion.subscribers.addresses.oauth.actions import take_attempt
from clarion.subscribers.addresses.oauth.granted import Answered, store_grant
from clarion.subscribers.addresses.oauth.model import Attempt, OAuthStep, open_token, seal_token
from clarion.subscribers.addresses.oauth.vendor import Grant
from clarion.subscribers.addresses.oauth.vendors import get_vendor
from clarion.subscribers.store import get_subscriber
from clarion.vault import Vault

_CONTEXT = b"chat oauth grant"
MAX_FORM = 65_536
_MAX_FIELDS = 10


class PendingGrant(Struct, frozen=True, kw_only=True):
    """What a vendor granted, until the person at the browser agrees."""

    attempt: Attempt
    grant: Grant


class Ending(Struct, frozen=True, kw_only=True):
    target: str | None
    """Where the browser goes; None: to a page of ours."""
    note: str = ""
    """What that page says."""


class Question(Struct, frozen=True, kw_only=True):
    """What the page asks."""

    sealed: str
    vendor: str
    workspace: str
    owner: str
    """Whose messages will be sent there."""
    links_account: bool
    """Whether the account of the person at the browser is linked, beside or instead of the workspace."""
    target: str | None
    """Where the browser goes afterwards, which the page must allow."""


async def ask(call: DetachedCall, attempt: Attempt, account: Integration, grant: Grant) -> Question:
    """Make the question about a grant; raises NotFound if the person does not exist any more."""
    following = attempt.follow(call.now)
    is_linking = attempt.step is OAuthStep.LINK
    return Question(
        sealed=seal_token(PendingGrant(attempt=following, grant=grant), _CONTEXT, call.services.vault),
        vendor=get_vendor(account)[0].name,
        workspace=grant.workspace.get("name") or grant.workspace["id"],
        owner=await call.database.read(partial(_describe_owner, attempt=attempt)),
        links_account=is_linking or (attempt.links_person and grant.person is not None),
        target=redirect_url(account),
    )


def open_pending(body: bytes, vault: Vault, now: Millis) -> PendingGrant:
    """Read the form of the page; raises OAuthProblem if it is forged, damaged or too old."""
    try:
        fields = dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=_MAX_FIELDS))
    except ValueError:
        fields = {}
    pending = open_token(fields.get("grant", ""), PendingGrant, _CONTEXT, vault)
    pending.attempt.check_time(now)
    return pending


async def keep_grant(db: Connection, pending: PendingGrant, vault: Vault, now: Millis) -> Ending:
    """Store a grant to which the person at the browser agreed, once; raises OAuthProblem, NotFound and Invalid."""
    attempt, grant = pending.attempt, pending.grant
    account = await take_attempt(db, attempt, vault, now)
    vendor, _ = get_vendor(account)
    await store_grant(db, Answered(attempt, account, vendor, grant, vault, now))
    return Ending(target=None if grant.note else redirect_url(account), note=grant.note)


def redirect_url(account: Integration) -> str | None:
    """Where the integration wants people to return to; only addresses of the web."""
    target: Any = account.credentials.get("redirectUrl")
    if not isinstance(target, str) or not target.isascii() or not target.isprintable():
        return None
    return target if urlsplit(target).scheme in ("http", "https") and urlsplit(target).netloc else None


async def _describe_owner(db: Connection, attempt: Attempt) -> str:
    contexts = ", ".join(attempt.context_keys)
    if attempt.subscriber_key is None or (attempt.is_shared and not attempt.links_person):
        return f"everybody in {contexts}"
    person = await get_subscriber(db, attempt.environment_id, attempt.subscriber_key)
    name = " ".join(one for one in (person.first_name, person.last_name) if one)
    described = f"{name} ({person.key})" if name else person.key
    return f"{described} in {contexts}" if contexts else described
