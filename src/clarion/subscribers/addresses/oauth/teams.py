"""Microsoft's OAuth for Teams: the consent of an admin, the sign-in of a person, and installing the app for them."""

from collections.abc import Sequence
from urllib.parse import urlencode

from clarion.clock import Millis
from clarion.providers.chat.msteams import MsteamsCredentials, token_request, token_url
from clarion.providers.definition.credentials import read_credentials
from clarion.providers.definition.receipts import RequestFlow
from clarion.providers.definition.request import ProviderRequest, bearer, path_part
from clarion.providers.definition.result import ProviderAnswer
from clarion.secret import Secret
from clarion.subscribers.addresses.model import EndpointType
from clarion.subscribers.addresses.oauth.id_token import SignedIn, is_guid, read_id_token
from clarion.subscribers.addresses.oauth.model import Attempt, OAuthProblem, OAuthStep
from clarion.subscribers.addresses.oauth.vendor import ChatVendor, Grant, OAuthClient, Onward, Redirected, as_text

_LOGIN = "https://login.microsoftonline.com"
_ANY_TENANT = "organizations"
_GRAPH = "https://graph.microsoft.com"
_SCOPE = (f"{_GRAPH}/.default",)
_USER_SCOPE = ("openid", "profile", "User.Read")
_APP_ONLY = "app-only"
"""Stands for a token: messages are sent with one of the app itself, which is fetched when it is needed."""
_ADVICE = (
    "Install the app in Teams, or ask an admin of your tenant to do so: before that no message can reach you there."
)


def _authorize_url(client: OAuthClient, attempt: Attempt, state: str, scope: Sequence[str] | None) -> str:
    query = {"client_id": client.id, "redirect_uri": attempt.redirect_uri, "state": state}
    if attempt.step is OAuthStep.CONNECT and attempt.tenant is None:
        return f"{_LOGIN}/{_ANY_TENANT}/v2.0/adminconsent?{urlencode({**query, 'scope': ' '.join(scope or _SCOPE)})}"
    wanted = dict.fromkeys(("openid", *(scope or _USER_SCOPE)))
    query |= {
        "response_type": "code",
        "response_mode": "query",
        "scope": " ".join(wanted),
        "nonce": attempt.nonce,
    }
    return f"{_LOGIN}/{path_part(attempt.tenant or _ANY_TENANT)}/oauth2/v2.0/authorize?{urlencode(query)}"


def _read_answer(
    client: OAuthClient, attempt: Attempt, redirected: Redirected, now: Millis
) -> RequestFlow[Grant | Onward]:
    if attempt.step is OAuthStep.CONNECT and attempt.tenant is None:
        return _read_consent(redirected)
    person = yield from _sign_in(client, attempt, redirected, now)
    if attempt.tenant is not None and person.tenant != attempt.tenant:
        raise OAuthProblem("You signed in to another tenant than the one that is connected.")
    if attempt.tenant is None:
        # Before anything is installed there: nothing is connected, or what is no tenant.
        raise OAuthProblem("No tenant is connected. Connect it first.")
    is_linking = attempt.step is OAuthStep.LINK or attempt.links_person
    problem = (yield from _install_app(client, person)) if is_linking else None
    return Grant(
        workspace={"id": person.tenant},
        auth={} if attempt.step is OAuthStep.LINK else {"accessToken": _APP_ONLY},
        person={"userId": person.user_id, "tenantId": person.tenant},
        note="" if problem is None else f"{problem} {_ADVICE}",
    )


def _read_consent(redirected: Redirected) -> Onward:
    """The address says which tenant consented, and anybody can write that: whoever was there signs in to the tenant."""
    if redirected.admin_consent.lower() != "true":
        raise OAuthProblem("No admin of a tenant has consented.")
    if not is_guid(redirected.tenant):
        raise OAuthProblem("Microsoft did not say which tenant it is.")
    return Onward(tenant=redirected.tenant.lower())


def _sign_in(client: OAuthClient, attempt: Attempt, redirected: Redirected, now: Millis) -> RequestFlow[SignedIn]:
    fields = {
        "grant_type": "authorization_code",
        "client_id": client.id,
        "client_secret": client.secret,
        "code": redirected.require_code(),
        "redirect_uri": attempt.redirect_uri,
        "scope": "openid profile",
    }
    answer = yield ProviderRequest.form(token_url(attempt.tenant or _ANY_TENANT), fields)
    if not answer.is_success:
        raise OAuthProblem(f"Microsoft refused: {as_text(answer.value('error')) or f'status {answer.status}'}")
    return read_id_token(answer.value("id_token"), client_id=client.id, nonce=attempt.nonce, now=now)


def _install_app(client: OAuthClient, person: SignedIn) -> RequestFlow[str | None]:
    """Install the app for a person, so that the bot can write to them; returns what stood in the way."""
    account = read_credentials(MsteamsCredentials, client.credentials)
    answer = yield token_request(account, person.tenant, *_SCOPE)
    token = as_text(answer.value("access_token"))
    if token is None:
        return f"The app could not be installed for you: Microsoft gave no token ({answer.status})."
    auth = bearer(Secret(token))
    app = (account.application_id or account.client_id).replace("'", "''")
    wanted = f"externalId eq '{app}' and distributionMethod eq 'organization'"
    answer = yield ProviderRequest.get(f"{_GRAPH}/v1.0/appCatalogs/teamsApps", {"$filter": wanted}, auth=auth)
    app_id = as_text(answer.value("value.0.id"))
    if not answer.is_success or app_id is None:
        return _explain(answer, "AppCatalog.Read.All", "it is not in the app catalog of your tenant")
    url = f"{_GRAPH}/v1.0/users/{path_part(person.user_id)}/teamwork/installedApps"
    body = {"teamsApp@odata.bind": f"{_GRAPH}/v1.0/appCatalogs/teamsApps/{path_part(app_id)}"}
    answer = yield ProviderRequest.json(url, body, auth=auth)
    if answer.is_success or answer.status == 409:  # It is installed already.
        return None
    return _explain(answer, "TeamsAppInstallation.ReadWriteSelfForUser.All", f"Microsoft answered {answer.status}")


def _explain(answer: ProviderAnswer, permission: str, reason: str) -> str:
    if answer.status in (401, 403):
        reason = f"it lacks the permission {permission}"
    elif not answer.is_success:
        reason = f"Microsoft answered {answer.status}"
    return f"The app could not be installed for you: {reason}."


TEAMS = ChatVendor(
    name="Microsoft",
    person_type=EndpointType.MS_TEAMS_USER,
    authorize_url=_authorize_url,
    read_answer=_read_answer,
    signs_in_to_tenants=True,
)
