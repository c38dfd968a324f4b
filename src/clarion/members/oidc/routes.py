"""Signing in with an OpenID Connect provider: two addresses that browsers are sent to."""

import logging
import re
from typing import Annotated
from urllib.parse import urlencode

from msgspec import Meta

from clarion.db.port import Connection
from clarion.errors import NoSuchRoute
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.http.responses import RawResponse
from clarion.http.wire import CheckedText, Wire
from clarion.members.model import Member
from clarion.members.oidc.flow import Finished, OidcClient, ProviderRedirect
from clarion.members.oidc.identities import find_member
from clarion.members.oidc.problem import OidcProblem, OidcRefusal
from clarion.members.sessions.sign_in import begin_session, find_cookie, make_cookie

log = logging.getLogger(__name__)

ATTEMPT_COOKIE = "clarion-oidc"
_ATTEMPT_SECONDS = 600
SECTION = "Signing in"
_DASHBOARD = "/dashboard"
_SIGN_IN_PAGE = "/dashboard/sign-in"
_FOUND = RawResponse(302, b"text/plain", b"")
_LONG = Meta(max_length=4096)


class ReturnPath(CheckedText):
    """A path of this server; browsers take a second slash or a backslash for another server."""

    __slots__ = ()
    RULE = "must be a path of this server such as /dashboard"
    EXAMPLE = "/dashboard"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return len(text) <= 1000 and re.fullmatch(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*", text) is not None


class OidcStartQuery(Wire):
    """Where the browser goes afterwards; default: the dashboard."""

    return_to: ReturnPath | None = None
    """Where the browser goes after signing in; by default the dashboard."""


class OidcCallbackQuery(Wire):
    """What the provider adds to the address."""

    code: Annotated[str, _LONG] = ""
    """What the provider gives to be exchanged for the identity."""
    state: Annotated[str, _LONG] = ""
    """What tells that the answer belongs to this attempt to sign in."""
    error: Annotated[str, _LONG] = ""
    """Why the provider refused."""
    iss: Annotated[str, _LONG] = ""
    """The issuer, if the provider names itself; another than the one that was asked is refused."""


@operation(
    "GET",
    "/v1/auth/oidc/start",
    public=True,
    status=302,
    query=OidcStartQuery,
    transaction=Transaction.NONE,
    refusals=(404,),
)
async def start_oidc(call: DetachedCall, query: OidcStartQuery) -> RawResponse:
    """Send the browser to the provider; it comes back signed in, to `returnTo`."""
    try:
        attempt = await _get_client(call).begin(str(query.return_to or _DASHBOARD))
    except OidcProblem as problem:
        return _refuse(call, problem)
    cookie = make_cookie(call.request.headers, ATTEMPT_COOKIE, attempt.cookie, _ATTEMPT_SECONDS)
    call.response_headers.append(cookie)
    return _redirect(call, attempt.url)


@operation(
    "GET",
    "/v1/auth/oidc/callback",
    public=True,
    status=302,
    query=OidcCallbackQuery,
    transaction=Transaction.NONE,
    foreign=True,
    refusals=(404,),
)
async def finish_oidc(call: DetachedCall, query: OidcCallbackQuery) -> RawResponse:
    """Sign in with the provider's answer, and send the browser to where it wanted to go.

    If that fails, it is sent to the sign-in page, with the reason in the fragment.
    """
    client, headers = _get_client(call), call.request.headers
    cookie = find_cookie(headers, ATTEMPT_COOKIE)
    # An attempt ends with its answer, whatever that is.
    call.response_headers.append(make_cookie(headers, ATTEMPT_COOKIE, "", 0))
    try:
        finished = await _finish(client, cookie, query)

        async def find(db: Connection) -> Member:
            settings = call.services.settings
            return await find_member(db, finished.identity, settings, call.now, request_id=call.request_id)

        await begin_session(call, find, means="openid connect")
    except OidcProblem as problem:
        return _refuse(call, problem)
    return _redirect(call, finished.return_path)


async def _finish(client: OidcClient, cookie: str | None, query: OidcCallbackQuery) -> Finished:
    if cookie is None:
        raise OidcProblem("The browser has no attempt to sign in", OidcRefusal.BEGIN_AGAIN)
    if query.error or not query.code:
        raise OidcProblem(f"The provider refused: {query.error or 'no code'}", OidcRefusal.REFUSED)
    return await client.finish(cookie, ProviderRedirect(state=query.state, code=query.code, issuer=query.iss))


def _get_client(call: DetachedCall) -> OidcClient:
    if call.services.settings.oidc_issuer is None:
        raise NoSuchRoute("No OpenID Connect provider is set up here; CLARION_OIDC_ISSUER names one")
    return call.services.shared.get(OidcClient)


def _refuse(call: DetachedCall, problem: OidcProblem) -> RawResponse:
    fields = {"reason": problem.reason, "error": str(problem), "request_id": call.request_id}
    log.warning("Sign-in refused", extra=fields)
    return _redirect(call, f"{_SIGN_IN_PAGE}#{urlencode({'error': problem.reason})}")


def _redirect(call: DetachedCall, url: str) -> RawResponse:
    call.response_headers.append((b"location", url.encode("latin-1", "ignore")))
    call.response_headers.append((b"cache-control", b"no-store"))
    return _FOUND
