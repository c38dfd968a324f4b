"""Changes through HTTP, one for each operation that leaves an entry in the audit log."""

import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from msgspec import Struct

from tests.audit.making import DAILY, GOLD, OTHER, SEGMENT, STEP, WORKFLOW, Ready, beside_schedule, beside_segment
from tests.support import Api

HOOK = "http://127.0.0.1:9/hook"
EMAIL = {"providerId": "sendgrid", "channel": "email", "active": True}
CREDENTIALS = {"apiKey": "SG.canary-one", "from": "a@example.com"}
VARIABLES = "/v1/environment-variables"


class AuditedChange(Struct, frozen=True, kw_only=True):
    """An operation, a request for it that changes something, and the entry that it leaves."""

    method: str
    path: str
    action: str
    prepare: Callable[[Api], Awaitable[Ready]]
    is_repeatable: bool = False
    """Whether the same request again changes something again; else it changes nothing or is refused."""

    @property
    def operation(self) -> tuple[str, str]:
        return self.method, self.path


async def create(api: Api, path: str, body: dict[str, Any]) -> dict[str, Any]:
    response = await api.post(path, json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def list_entries(api: Api, **filters: Any) -> list[dict[str, Any]]:
    response = await api.get("/v1/audit-log", params={"limit": 100, **filters})
    assert response.status_code == 200, response.text
    entries: list[dict[str, Any]] = response.json()["data"]
    return entries


async def _new_workflow(_: Api) -> Ready:
    return "/v2/workflows", WORKFLOW


async def _workflow(api: Api) -> str:
    return f"/v2/workflows/{(await create(api, '/v2/workflows', WORKFLOW))['_id']}"


async def _replaced_workflow(api: Api) -> Ready:
    return await _workflow(api), {"name": "Hello", "steps": [STEP]}


async def _patched_workflow(api: Api) -> Ready:
    return await _workflow(api), {"preferences": {"user": {"channels": {"email": {"enabled": False}}}}}


async def _deleted_workflow(api: Api) -> Ready:
    return await _workflow(api), None


async def _restored_workflow(api: Api) -> Ready:
    path = await _workflow(api)
    await api.put(path, json={"name": "Welcome", "steps": []})
    return f"{path.replace('/v2/', '/v1/')}/versions/1/restore", None


async def _copied_workflow(api: Api) -> Ready:
    return f"{await _workflow(api)}/duplicate", {"workflowId": "copy"}


async def _new_layout(_: Api) -> Ready:
    return "/v2/layouts", {"layoutId": "newsletter", "name": "Newsletter"}


async def _layout(api: Api) -> str:
    """One that is not the default."""
    await create(api, "/v2/layouts", {"layoutId": "default", "name": "Default"})
    return f"/v2/layouts/{(await create(api, '/v2/layouts', {'layoutId': 'news', 'name': 'News'}))['_id']}"


async def _replaced_layout(api: Api) -> Ready:
    return await _layout(api), {"name": "Other news"}


async def _copied_layout(api: Api) -> Ready:
    return f"{await _layout(api)}/duplicate", {"name": "Other news"}


async def _default_layout(api: Api) -> Ready:
    return f"{await _layout(api)}/default", None


async def _deleted_layout(api: Api) -> Ready:
    return await _layout(api), None


async def _new_integration(_: Api) -> Ready:
    return "/v1/integrations", {**EMAIL, "identifier": "mail", "credentials": CREDENTIALS}


async def make_integration(api: Api, **values: Any) -> str:
    made = await create(api, "/v1/integrations", {**EMAIL, "credentials": CREDENTIALS, **values})
    return f"/v1/integrations/{made['_id']}"


async def _changed_integration(api: Api) -> Ready:
    return await make_integration(api), {"name": "Other"}


async def _primary_integration(api: Api) -> Ready:
    await make_integration(api)
    return f"{await make_integration(api)}/set-primary", None


async def _mobile_link(api: Api) -> Ready:
    await create(api, "/v1/integrations", {"providerId": "telegram", "channel": "chat", "identifier": "bot"})
    return "/v1/integrations/bot/mobile-link", None


async def _ordered_integrations(api: Api) -> Ready:
    paths = [await make_integration(api), await make_integration(api)]
    return "/v1/integrations/order", {"channel": "email", "integrationIds": [one[-36:] for one in reversed(paths)]}


async def _deleted_integration(api: Api) -> Ready:
    return await make_integration(api), None


async def _new_endpoint(_: Api) -> Ready:
    return "/v1/webhooks/endpoints", {"url": HOOK}


async def make_endpoint(api: Api) -> str:
    return f"/v1/webhooks/endpoints/{(await create(api, '/v1/webhooks/endpoints', {'url': HOOK}))['_id']}"


async def _changed_endpoint(api: Api) -> Ready:
    return await make_endpoint(api), {"eventTypes": ["message.sent"]}


async def _deleted_endpoint(api: Api) -> Ready:
    return await make_endpoint(api), None


async def _rotated_endpoint(api: Api) -> Ready:
    return f"{await make_endpoint(api)}/rotate-secret", None


async def _changed_environment(api: Api) -> Ready:
    me = (await api.get("/v1/environments/me")).json()
    return f"/v1/environments/{me['_id']}", {"timezone": "Asia/Tokyo", "retentionDays": {"audit": 400}}


async def _new_environment(_: Api) -> Ready:
    return "/v1/environments", {"name": "Staging"}


async def _deleted_environment(api: Api) -> Ready:
    made = await create(api, "/v1/environments", {"name": "Staging"})
    return f"/v1/environments/{made['_id']}?confirm=Staging", None


async def _promoted_environment(api: Api) -> Ready:
    """Into the environment of the API key, whose log is read."""
    own, other = sorted((await api.get("/v1/environments")).json(), key=lambda one: one["name"])
    made = await create(api, "/v1/environments", {"name": "Source"})
    source = {"Authorization": f"ApiKey {made['apiKeys'][0]['key']}"}
    answer = await api.post("/v2/workflows", json=WORKFLOW, headers=source)
    assert answer.status_code == 201, answer.text
    assert other["name"] == "Production"
    return f"/v2/environments/{own['_id']}/publish", {"sourceEnvironmentId": made["_id"]}


async def _revoked_sessions(_: Api) -> Ready:
    return "/v1/environments/sessions/revoke", None


async def _new_key(_: Api) -> Ready:
    return "/v1/environments/api-keys", {"name": "CI", "scopes": ["topics:read"]}


async def _key(api: Api) -> str:
    made = await create(api, "/v1/environments/api-keys", {"name": "CI"})
    return f"/v1/environments/api-keys/{made['apiKey']['_id']}"


async def _changed_key(api: Api) -> Ready:
    return await _key(api), {"name": "Build"}


async def _revoked_key(api: Api) -> Ready:
    return await _key(api), None


async def _new_suppression(_: Api) -> Ready:
    return "/v1/suppressions", {"channel": "email", "address": "Grace@example.com", "detail": "grace asked"}


async def _cleared_suppression(api: Api) -> Ready:
    await create(api, "/v1/suppressions", {"channel": "sms", "address": "+44 20 7946 0958"})
    return "/v1/suppressions/sms/442079460958", None


async def _new_suppressions(_: Api) -> Ready:
    return "/v1/suppressions/bulk", {"suppressions": [{"channel": "email", "address": "grace@example.com"}]}


async def _cleared_suppressions(api: Api) -> Ready:
    await create(api, "/v1/suppressions", {"channel": "email", "address": "grace@example.com"})
    return await _new_suppressions(api)


async def _erased_subscriber(api: Api) -> Ready:
    await create(api, "/v2/subscribers", {"subscriberId": "ada", "email": "ada@example.com"})
    return "/v2/subscribers/ada", None


async def _new_invitation(_: Api) -> Ready:
    return "/v1/members/invitations", {"email": new_address(), "role": "viewer"}


async def _withdrawn_invitation(api: Api) -> Ready:
    made = await create(api, "/v1/members/invitations", {"email": new_address(), "role": "viewer"})
    return f"/v1/members/invitations/{made['invitation']['_id']}", None


async def make_member(api: Api) -> str:
    """Let somebody accept an invitation; returns the path of the member."""
    email = new_address()
    made = await create(api, "/v1/members/invitations", {"email": email, "role": "viewer"})
    body = {"token": made["link"].partition("#")[2], "name": "Bob", "password": "correct horse battery"}
    headers = {"Sec-Fetch-Site": "same-origin", "X-Clarion": "1"}
    accepted = await api.post("/v1/auth/invitation/accept", json=body, headers=headers)
    api.cookies.clear()
    assert accepted.status_code == 201, accepted.text
    return f"/v1/members/{accepted.json()['member']['_id']}"


async def _changed_member(api: Api) -> Ready:
    return await make_member(api), {"role": "author"}


async def _removed_member(api: Api) -> Ready:
    return await make_member(api), None


async def _reset_link(api: Api) -> Ready:
    return f"{await make_member(api)}/reset-link", None


async def _signed_out_member(api: Api) -> Ready:
    return f"{await make_member(api)}/sessions", None


def new_address() -> str:
    """Addresses of members are unique in the store, which tests share."""
    return f"member-{secrets.token_hex(8)}@example.com"


def _change(operation: str, action: str, prepare: Callable[[Api], Awaitable[Ready]], **more: Any) -> AuditedChange:
    method, path = operation.split()
    return AuditedChange(method=method, path=path, action=action, prepare=prepare, **more)


TEXTS = {"resourceId": "welcome", "resourceType": "workflow", "locale": "en_US", "content": {"hello": "Hello"}}


async def _new_translation(api: Api) -> Ready:
    await create(api, "/v2/workflows", WORKFLOW | {"isTranslationEnabled": True})
    return "/v2/translations", TEXTS


async def _deleted_translation(api: Api) -> Ready:
    await api.post("/v2/translations", json=(await _new_translation(api))[1])
    return "/v2/translations/workflow/welcome/en_US", None


async def _deleted_translation_group(api: Api) -> Ready:
    await _deleted_translation(api)
    return "/v2/translations/workflow/welcome", None


async def _imported_translations(api: Api) -> Ready:
    await _new_translation(api)
    texts = {"workflows": {"welcome": {"hello": "Hallo"}}}
    return "/v2/translations/master-json", {"locale": "de_DE", "masterJson": texts}


async def _imported_environment(api: Api) -> Ready:
    await _new_translation(api)
    return "/v2/translations/import", {"locales": {"de_DE": {"workflows": {"welcome": {"hello": "Hallo"}}}}}


async def _changed_languages(_: Api) -> Ready:
    return "/v1/organizations/settings", {"defaultLocale": "de_DE", "targetLocales": ["fr_FR"]}


async def _new_variable(_: Api) -> Ready:
    return VARIABLES, {"key": "SUPPORT_URL"}


async def _variable(api: Api) -> str:
    response = await api.post(VARIABLES, json={"key": "SUPPORT_URL"})
    assert response.status_code == 200, response.text
    return f"{VARIABLES}/SUPPORT_URL"


async def _changed_variable(api: Api) -> Ready:
    return await _variable(api), {"isSecret": True}


async def _deleted_variable(api: Api) -> Ready:
    return await _variable(api), None


AUDITED = [
    _change("POST /v1/schedules", "schedule.create", partial(beside_schedule, "/v1/schedules", OTHER)),
    _change("PATCH /v1/schedules/{scheduleKey}", "schedule.update", partial(beside_schedule, DAILY, {"name": "x"})),
    _change("DELETE /v1/schedules/{scheduleKey}", "schedule.delete", partial(beside_schedule, DAILY, None)),
    _change("POST /v1/segments", "segment.create", partial(beside_segment, "/v1/segments", SEGMENT)),
    _change("PATCH /v1/segments/{segmentKey}", "segment.update", partial(beside_segment, GOLD, {"name": "x"})),
    _change("DELETE /v1/segments/{segmentKey}", "segment.delete", partial(beside_segment, GOLD, None)),
    _change("POST /v2/translations", "translation.update", _new_translation),
    _change("DELETE /v2/translations/{resourceType}/{resourceId}/{locale}", "translation.delete", _deleted_translation),
    _change("DELETE /v2/translations/{resourceType}/{resourceId}", "translation.delete", _deleted_translation_group),
    _change("POST /v2/translations/master-json", "translation.update", _imported_translations),
    _change("POST /v2/translations/import", "translation.update", _imported_environment),
    _change("PATCH /v1/organizations/settings", "organization.update", _changed_languages),
    _change("POST /v2/workflows", "workflow.create", _new_workflow),
    _change("PUT /v2/workflows/{workflowId}", "workflow.update", _replaced_workflow),
    _change("PATCH /v2/workflows/{workflowId}", "workflow.update", _patched_workflow),
    _change("DELETE /v2/workflows/{workflowId}", "workflow.delete", _deleted_workflow),
    _change("POST /v2/workflows/{workflowId}/duplicate", "workflow.duplicate", _copied_workflow),
    _change("POST /v1/workflows/{workflowId}/versions/{versionId}/restore", "workflow.restore", _restored_workflow),
    _change("POST /v2/layouts", "layout.create", _new_layout),
    _change("PUT /v2/layouts/{layoutId}", "layout.update", _replaced_layout),
    _change("POST /v2/layouts/{layoutId}/duplicate", "layout.duplicate", _copied_layout),
    _change("PUT /v2/layouts/{layoutId}/default", "layout.setDefault", _default_layout),
    _change("DELETE /v2/layouts/{layoutId}", "layout.delete", _deleted_layout),
    _change("POST /v1/integrations", "integration.create", _new_integration),
    _change("PUT /v1/integrations/{integrationId}", "integration.update", _changed_integration),
    _change("POST /v1/integrations/{integrationId}/set-primary", "integration.setPrimary", _primary_integration),
    _change(
        "POST /v1/integrations/{integrationIdentifier}/mobile-link",
        "integration.createMobileLink",
        _mobile_link,
        is_repeatable=True,
    ),
    _change("PUT /v1/integrations/order", "integration.order", _ordered_integrations),
    _change("DELETE /v1/integrations/{integrationId}", "integration.delete", _deleted_integration),
    _change("POST /v1/webhooks/endpoints", "webhookEndpoint.create", _new_endpoint, is_repeatable=True),
    _change("PATCH /v1/webhooks/endpoints/{endpointId}", "webhookEndpoint.update", _changed_endpoint),
    _change("DELETE /v1/webhooks/endpoints/{endpointId}", "webhookEndpoint.delete", _deleted_endpoint),
    _change(
        "POST /v1/webhooks/endpoints/{endpointId}/rotate-secret",
        "webhookEndpoint.rotateSecret",
        _rotated_endpoint,
        is_repeatable=True,
    ),
    _change("POST /v1/environment-variables", "environmentVariable.create", _new_variable),
    _change("PATCH /v1/environment-variables/{variableKey}", "environmentVariable.update", _changed_variable),
    _change("DELETE /v1/environment-variables/{variableKey}", "environmentVariable.delete", _deleted_variable),
    _change("PATCH /v1/environments/{environmentId}", "environment.update", _changed_environment),
    _change("PUT /v1/environments/{environmentId}", "environment.update", _changed_environment),
    _change("POST /v1/environments", "environment.create", _new_environment),
    _change("DELETE /v1/environments/{environmentId}", "environment.delete", _deleted_environment),
    _change("POST /v2/environments/{targetEnvironmentId}/publish", "environment.promote", _promoted_environment),
    _change(
        "POST /v1/environments/sessions/revoke", "environment.revokeSessions", _revoked_sessions, is_repeatable=True
    ),
    _change("POST /v1/environments/api-keys", "apiKey.create", _new_key, is_repeatable=True),
    _change("PATCH /v1/environments/api-keys/{apiKeyId}", "apiKey.update", _changed_key),
    _change("DELETE /v1/environments/api-keys/{apiKeyId}", "apiKey.revoke", _revoked_key),
    _change("POST /v1/suppressions", "suppression.create", _new_suppression),
    _change("DELETE /v1/suppressions/{channel}/{address}", "suppression.delete", _cleared_suppression),
    _change("POST /v1/suppressions/bulk", "suppression.create", _new_suppressions),
    _change("DELETE /v1/suppressions/bulk", "suppression.delete", _cleared_suppressions),
    _change("DELETE /v2/subscribers/{subscriberId}", "subscriber.erase", _erased_subscriber),
    _change("POST /v1/members/invitations", "invitation.create", _new_invitation, is_repeatable=True),
    _change("DELETE /v1/members/invitations/{invitationId}", "invitation.delete", _withdrawn_invitation),
    _change("PATCH /v1/members/{memberId}", "member.update", _changed_member),
    _change("DELETE /v1/members/{memberId}", "member.delete", _removed_member),
    _change("POST /v1/members/{memberId}/reset-link", "member.createResetLink", _reset_link, is_repeatable=True),
    _change("DELETE /v1/members/{memberId}/sessions", "member.revokeSessions", _signed_out_member, is_repeatable=True),
]
