"""Who may call the operations of the inbox: only a subscriber with a session that holds, on every one of them."""

import base64
import json
import re
import uuid
from typing import Any

import httpx
import jwt
import pytest

from clarion.clock import DAY, SECOND, ManualClock
from clarion.http.caller import SubscriberSession
from clarion.http.description.examples import example_of
from clarion.http.operation import Operation
from clarion.ids import SubscriberId, new_id
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.operations import OPERATIONS
from clarion.vault import Vault
from tests.inbox.conftest import MakePerson, Person
from tests.support import Api, Site

OF_SUBSCRIBERS = [one for one in OPERATIONS if one.is_for_subscribers]
SOME_ID = "01a1df28-0000-7000-8000-000000000000"
# Parameters that operations require.
QUERIES = {"/v1/inbox/notifications/count": "filters=[{}]"}


def path_of(operation: Operation) -> str:
    return re.sub(r"\{\w+\}", SOME_ID, operation.path)


async def call_all(client: httpx.AsyncClient, header: str | None) -> dict[str, int]:
    """The status of every operation of the inbox, called with this Authorization header and valid input."""
    statuses = {}
    for operation in OF_SUBSCRIBERS:
        headers = {} if header is None else {"Authorization": header}
        body = None if operation.body_shape is None else example_of(operation.body_shape)
        url = f"http://clarion.test{path_of(operation)}?{QUERIES.get(operation.path, '')}"
        response = await client.send(httpx.Request(operation.method, url, headers=headers, json=body))
        statuses[f"{operation.method} {operation.path}"] = response.status_code
    return statuses


def claims_of(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return claims


def unsigned(token: str, algorithm: str) -> str:
    head = json.dumps(jwt.get_unverified_header(token) | {"alg": algorithm})
    encoded = base64.urlsafe_b64encode(head.encode()).rstrip(b"=").decode()
    return f"{encoded}.{token.split('.')[1]}."


def forged_tokens(person: Person, vault: Vault, clock: ManualClock) -> dict[str, str]:
    claims, header = claims_of(person.token), jwt.get_unverified_header(person.token)
    stranger = SubscriberSession(subscriber_id=SubscriberId(new_id(clock.now())), epoch=0)
    tokens = SessionTokens(vault, clock)
    environment = person.environment
    other_vault = SessionTokens(Vault({vault.writing_key_id: bytes(32)}), clock)
    own_id = SubscriberId(uuid.UUID(claims["sub"]).bytes)
    own, later = (SubscriberSession(subscriber_id=own_id, epoch=epoch) for epoch in (0, 1))
    return {
        "no scheme": person.token,
        "forged": "Bearer " + jwt.encode(claims, bytes(32), "HS256", headers=header),
        "without a signature": "Bearer " + unsigned(person.token, "none"),
        "with an empty signature": "Bearer " + unsigned(person.token, "HS256"),
        "of another vault": "Bearer " + other_vault.issue(own, environment.id, environment.organization_id),
        "of nobody": "Bearer " + tokens.issue(stranger, environment.id, environment.organization_id),
        "of a later epoch": "Bearer " + tokens.issue(later, environment.id, environment.organization_id),
        "garbage": "Bearer a.b.c",
    }


def test_there_are_operations_of_subscribers_and_none_of_them_takes_a_key() -> None:
    assert OF_SUBSCRIBERS
    assert [one.path for one in OF_SUBSCRIBERS if one.scope is not None] == []
    inbox = [one for one in OPERATIONS if one.path.startswith("/v1/inbox/")]
    assert [one.path for one in inbox if not one.is_for_subscribers] == ["/v1/inbox/session"]


async def test_a_session_that_holds_is_admitted_by_every_operation(ada: Person) -> None:
    statuses = await call_all(ada, f"Bearer {ada.token}")
    assert {path for path, status in statuses.items() if status in (401, 403, 500)} == set()


async def test_without_a_session_every_operation_refuses(
    ada: Person, api: Api, vault: Vault, clock: ManualClock
) -> None:
    headers: dict[str, str | None] = {"nothing": None, "an API key": f"ApiKey {api.key}", "a key": f"Bearer {api.key}"}
    for kind, header in (headers | forged_tokens(ada, vault, clock)).items():
        async with httpx.AsyncClient(transport=ada._transport, base_url="http://clarion.test") as page:
            statuses = await call_all(page, header)
        assert {path for path, status in statuses.items() if status != 401} == set(), kind


async def test_an_expired_session_is_refused_by_every_operation(ada: Person, clock: ManualClock) -> None:
    clock.move(15 * DAY)
    assert set((await call_all(ada, f"Bearer {ada.token}")).values()) == {401}


async def test_the_session_of_a_deleted_person_is_refused_by_every_operation(ada: Person, api: Api) -> None:
    await api.delete("/v2/subscribers/ada")
    assert set((await call_all(ada, f"Bearer {ada.token}")).values()) == {401}


async def test_a_session_of_an_earlier_epoch_is_refused_by_every_operation(ada: Person, api: Api) -> None:
    await api.post("/v1/environments/sessions/revoke")
    assert set((await call_all(ada, f"Bearer {ada.token}")).values()) == {401}


async def test_a_person_of_another_environment_is_not_found_by_this_one(
    make_person: MakePerson, site: Site, vault: Vault, clock: ManualClock
) -> None:
    other = await make_person("ada", site.production)
    session = SubscriberSession(subscriber_id=SubscriberId(uuid.UUID(claims_of(other.token)["sub"]).bytes), epoch=0)
    token = SessionTokens(vault, clock).issue(session, site.development.id, site.development.organization_id)
    assert set((await call_all(other, f"Bearer {token}")).values()) == {401}


@pytest.mark.parametrize("scheme", ["Bearer", "ApiKey"])
async def test_operations_with_a_key_refuse_sessions(ada: Person, scheme: str, clock: ManualClock) -> None:
    for operation in OPERATIONS:
        if operation.scope is None:
            continue
        headers = {"Authorization": f"{scheme} {ada.token}"}
        response = await ada.request(operation.method, path_of(operation), headers=headers)
        assert response.status_code == 401, operation.path
        clock.move(SECOND)  # so many invalid keys at once would be slowed down


async def test_a_repeated_change_is_not_answered_for_another_person_or_context(
    ada: Person, make_person: MakePerson, vault: Vault, clock: ManualClock
) -> None:
    own = SubscriberSession(
        subscriber_id=SubscriberId(uuid.UUID(claims_of(ada.token)["sub"]).bytes), epoch=0, context_keys=("team:red",)
    )
    token = SessionTokens(vault, clock).issue(own, ada.environment.id, ada.environment.organization_id)
    bob = await make_person("bob")

    async def change(person: Person, token: str) -> httpx.Response:
        headers = {"Idempotency-Key": "one", "Authorization": f"Bearer {token}"}
        return await person.patch("/v1/inbox/preferences", json={"email": False}, headers=headers)

    first, again = await change(ada, ada.token), await change(ada, ada.token)
    others = [await change(bob, bob.token), await change(ada, token)]

    assert [first.status_code, again.status_code] == [200, 200]
    assert again.headers["idempotency-replay"] == "true"
    assert [(one.status_code, one.json()["message"]) for one in others] == [(422, others[0].json()["message"])] * 2
