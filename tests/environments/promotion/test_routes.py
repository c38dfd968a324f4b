"""Environments are compared and promoted through HTTP, on both databases."""

from typing import Any

import pytest
from msgspec.structs import replace

from clarion.clock import SECOND, ManualClock
from clarion.db.port import Connection, Database
from clarion.ids import id_text
from clarion.integrations import store as integrations
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.support import Api, MakeApi, Site

STEPS = [
    {"name": "Inbox", "type": "in_app", "stepId": "inbox", "controlValues": {"body": "Hi {{payload.name}}"}},
    {"name": "Digest", "type": "digest", "stepId": "digest", "controlValues": {"amount": 1, "unit": "hours"}},
    {"name": "Mail", "type": "email", "stepId": "mail", "controlValues": {"subject": "News", "body": "<p>x</p>"}},
]
MAIL = {
    "providerId": "sendgrid",
    "channel": "email",
    "identifier": "mail",
    "name": "Mail",
    "active": True,
    "credentials": {"apiKey": "SG.secret-of-development", "from": "dev@example.com", "senderName": "Dev"},
}


@pytest.fixture
def path(site: Site) -> str:
    return f"/v2/environments/{id_text(site.production.id)}"


async def make_workflow(api: Api, workflow_id: str = "news", **fields: Any) -> dict[str, Any]:
    body = {"name": "News", "workflowId": workflow_id, "active": True, "steps": STEPS, **fields}
    response = await api.post("/v2/workflows", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def get_workflow(api: Api, workflow_id: str = "news") -> dict[str, Any]:
    found: dict[str, Any] = (await api.get(f"/v2/workflows/{workflow_id}")).json()
    return found


async def diff(api: Api, path: str, **body: Any) -> dict[tuple[str, str], Any]:
    response = await api.post(f"{path}/diff", json=body)
    assert response.status_code == 200, response.text
    found = response.json()["resources"]
    return {(one["resourceType"], (one["sourceResource"] or one["targetResource"])["id"]): one for one in found}


async def publish(api: Api, path: str, **body: Any) -> dict[str, list[tuple[str, str]]]:
    """What was done: identifiers with actions, and those that were skipped with reasons."""
    response = await api.post(f"{path}/publish", json=body)
    assert response.status_code == 200, response.text
    results = response.json()["results"]
    return {
        "done": [(one["resourceId"], one["action"]) for kind in results for one in kind["successful"]],
        "skipped": [(one["resourceId"], one["reason"]) for kind in results for one in kind["skipped"]],
    }


def portable(workflow: dict[str, Any]) -> Any:
    """A workflow without what differs between environments."""
    own = ("_id", "slug", "createdAt", "updatedAt", "workflowDatabaseId", "version", "versionId", "etag")
    kept = {name: value for name, value in workflow.items() if name not in own}
    return kept | {"steps": [portable(one) for one in kept["steps"]]} if "steps" in kept else kept


async def test_a_workflow_is_copied_with_everything_that_it_has(api: Api, other_api: Api, path: str) -> None:
    layer = {"all": {"enabled": True, "readOnly": True}, "channels": {"email": {"enabled": False}}}
    made = await make_workflow(
        api,
        description="All news",
        tags=["news", "weekly"],
        severity="high",
        preferences={"workflow": layer, "user": {"channels": {"sms": {"enabled": False}}}},
        payloadSchema={"type": "object", "properties": {"name": {"type": "string"}}},
        validatePayload=True,
        active=False,
    )

    found = (await diff(api, path))["workflow", "news"]
    done = await publish(api, path)
    copied = await get_workflow(other_api)

    assert (found["action"], found["targetResource"]) == ("added", None)
    assert found["changes"][0]["diffs"]["previous"] is None
    assert found["changes"][0]["diffs"]["new"]["tags"] == ["news", "weekly"]
    assert [one["stepType"] for one in found["changes"][1:]] == ["in_app", "digest", "email"]
    assert done["done"] == [("news", "created")]
    assert portable(copied) == portable(made)
    assert copied["_id"] != made["_id"]


async def test_a_change_is_shown_field_by_field_and_makes_a_new_version(
    api: Api, other_api: Api, path: str, clock: ManualClock
) -> None:
    await make_workflow(api)
    await publish(api, path)
    before = await get_workflow(other_api)
    clock.move(SECOND)
    steps = [STEPS[1], STEPS[0] | {"controlValues": {"body": "Hello {{payload.name}}"}}, STEPS[2] | {"stepId": "post"}]
    body = {"name": "All news", "steps": steps, "tags": ["x"], "origin": "svc-cloud", "preferences": {}}
    await api.put("/v2/workflows/news", json=body)

    found = (await diff(api, path))["workflow", "news"]
    dry = await publish(api, path, dryRun=True)
    untouched = await get_workflow(other_api)
    done = await publish(api, path)
    after = await get_workflow(other_api)
    again = await publish(api, path)

    itself, *parts = found["changes"]
    assert itself["diffs"] == {"previous": {"name": "News", "tags": []}, "new": {"name": "All news", "tags": ["x"]}}
    assert [(one["action"], (one["sourceResource"] or one["targetResource"])["id"]) for one in parts] == [
        ("moved", "digest"),
        ("modified", "inbox"),
        ("added", "post"),
        ("deleted", "mail"),
    ]
    assert parts[1]["diffs"] == {
        "previous": {"controls.body": "Hi {{payload.name}}"},
        "new": {"controls.body": "Hello {{payload.name}}"},
    }
    assert (parts[0]["previousIndex"], parts[0]["newIndex"]) == (1, 0)
    assert dry == done
    assert untouched == before
    assert done["done"] == [("news", "updated")]
    assert portable(after) == portable(await get_workflow(api))
    # Steps that were there keep their ids, so that open digests go on.
    assert [one["_id"] for one in after["steps"][:2]] == [before["steps"][1]["_id"], before["steps"][0]["_id"]]
    assert again["done"] == []
    assert await get_workflow(other_api) == after


async def test_conditions_on_earlier_steps_hold_in_the_target(api: Api, other_api: Api, path: str) -> None:
    made = await make_workflow(api)
    unread = {"on": "previousStep", "step": made["steps"][0]["_id"], "stepType": "unread"}
    filters = [{"isNegated": False, "value": "AND", "children": [unread]}]
    steps = [STEPS[0], STEPS[2] | {"filters": filters}]
    body = {"name": "News", "steps": steps, "origin": "svc-cloud", "preferences": {}}
    assert (await api.put("/v2/workflows/news", json=body)).status_code == 200

    await publish(api, path)

    copied = await get_workflow(other_api)
    assert copied["steps"][1]["filters"][0]["children"][0]["step"] == "inbox"
    assert (await diff(api, path))["workflow", "news"]["action"] == "unchanged"


async def test_what_is_only_in_the_target_is_deleted_only_on_request(api: Api, other_api: Api, path: str) -> None:
    await make_workflow(other_api, "old")
    named = [{"resourceType": "workflow", "resourceId": "old"}]

    found = await diff(api, path)
    kept = await publish(api, path)
    refused = await api.post(f"{path}/publish", json={"resources": named})
    assert (await other_api.get("/v2/workflows/old")).status_code == 200
    deleted = await publish(api, path, resources=named, prune=True)

    assert found["workflow", "old"]["action"] == "deleted"
    assert ("old", "is only in the target; ask for `prune` to delete it") in kept["skipped"]
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["resources.0.resourceId"])
    assert deleted == {"done": [("old", "deleted")], "skipped": []}
    assert (await other_api.get("/v2/workflows/old")).status_code == 404


async def test_single_resources_are_promoted_by_identifier_or_id(api: Api, other_api: Api, path: str) -> None:
    await make_workflow(api, "one")
    two = await make_workflow(api, "two")
    await make_workflow(api, "three")

    done = await publish(
        api,
        path,
        resources=[{"resourceType": "workflow", "resourceId": one} for one in ("one", two["_id"])],
    )
    unknown = await api.post(
        f"{path}/publish", json={"resources": [{"resourceType": "integration", "resourceId": "one"}]}
    )

    assert done["done"] == [("one", "created"), ("two", "created")]
    assert [one["workflowId"] for one in (await other_api.get("/v2/workflows")).json()["workflows"]] == ["two", "one"]
    assert (unknown.status_code, list(unknown.json()["errors"])) == (422, ["resources.0.resourceId"])


async def test_a_new_integration_comes_without_secrets_and_is_inactive(api: Api, other_api: Api, path: str) -> None:
    for body in (MAIL, {"providerId": "svc-sms", "channel": "sms", "identifier": "outbox", "active": True}):
        assert (await api.post("/v1/integrations", json=body)).status_code == 201

    found = await diff(api, path)
    done = await publish(api, path)
    copied = {one["identifier"]: one for one in (await other_api.get("/v1/integrations")).json()}
    text = (await api.post(f"{path}/diff", json={})).text

    assert done["done"] == [("mail", "created"), ("outbox", "created")]
    assert (copied["mail"]["active"], copied["mail"]["credentials"]) == (
        False,
        {"from": "dev@example.com", "senderName": "Dev"},
    )
    # Without credentials there is nothing to wait for.
    assert copied["outbox"]["active"] is True
    assert "secret-of-development" not in text
    assert found["integration", "in-app"]["action"] == "unchanged"


async def test_an_integration_that_is_there_keeps_its_credentials_and_its_state(
    api: Api, other_api: Api, path: str
) -> None:
    made = (await api.post("/v1/integrations", json=MAIL)).json()
    theirs = MAIL | {"credentials": {"apiKey": "SG.secret-of-production", "from": "news@example.com"}}
    await other_api.post("/v1/integrations", json=theirs)
    await api.put(f"/v1/integrations/{made['_id']}", json={"active": False, "weight": 7, "name": "Newsletters"})

    found = (await diff(api, path))["integration", "mail"]
    done = await publish(api, path)
    (kept,) = [one for one in (await other_api.get("/v1/integrations")).json() if one["identifier"] == "mail"]

    assert found["changes"][0]["diffs"] == {
        "previous": {"name": "Mail", "weight": 100},
        "new": {"name": "Newsletters", "weight": 7},
    }
    assert done["done"] == [("mail", "updated")]
    assert (kept["active"], kept["primary"], kept["weight"], kept["name"]) == (True, True, 7, "Newsletters")
    assert kept["credentials"] == theirs["credentials"]


async def test_an_integration_of_another_provider_is_left_alone(api: Api, other_api: Api, path: str) -> None:
    await api.post("/v1/integrations", json=MAIL)
    await other_api.post("/v1/integrations", json={"providerId": "svc-email", "channel": "email", "identifier": "mail"})
    before = (await other_api.get("/v1/integrations")).json()

    found = (await diff(api, path))["integration", "mail"]
    done = await publish(api, path)

    assert "of 'svc-email' in the target" in found["problem"]
    assert (done["done"], ("mail", found["problem"]) in done["skipped"]) == ([], True)
    assert (await other_api.get("/v1/integrations")).json() == before


async def test_promotion_is_done_whole_or_not_at_all(
    api: Api, other_api: Api, path: str, database: Database, vault: Vault
) -> None:
    await make_workflow(api, "first")
    for identifier in ("a", "b"):
        await api.post("/v1/integrations", json=MAIL | {"identifier": identifier, "name": f"New {identifier}"})
    await other_api.post("/v1/integrations", json=MAIL | {"identifier": "b"})

    async def break_credentials(db: Connection) -> None:
        found = await integrations.list_integrations(db, other_api.environment.id, vault)
        broken = [replace(one, credentials={}) for one in found if one.identifier == "b"]
        await integrations.update_integration(db, broken[0], vault)

    await database.transaction(break_credentials)
    before = (await other_api.get("/v1/integrations")).text

    refused = await api.post(f"{path}/publish", json={})

    assert (refused.status_code, "credentials.apiKey" in refused.json()["errors"]) == (422, True)
    assert (await other_api.get("/v2/workflows/first")).status_code == 404
    assert (await other_api.get("/v1/integrations")).text == before


async def test_unknown_resources_are_refused_before_anything_is_written(api: Api, other_api: Api, path: str) -> None:
    await make_workflow(api, "first")
    named = [{"resourceType": "workflow", "resourceId": one} for one in ("first", "missing")]

    refused = await api.post(f"{path}/publish", json={"resources": named})

    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["resources.1.resourceId"])
    assert (await other_api.get("/v2/workflows/first")).status_code == 404


@pytest.mark.parametrize(
    ("scopes", "diff_status", "publish_status"),
    [
        ({Scope.WORKFLOWS_READ, Scope.INTEGRATIONS_READ}, 403, 403),
        ({Scope.ENVIRONMENTS_WRITE, Scope.WORKFLOWS_READ}, 403, 403),
        ({Scope.ENVIRONMENTS_WRITE, Scope.WORKFLOWS_READ, Scope.INTEGRATIONS_READ}, 200, 403),
        (
            {
                Scope.ENVIRONMENTS_WRITE,
                *(Scope.WORKFLOWS_READ, Scope.INTEGRATIONS_READ),
                *(Scope.WORKFLOWS_WRITE, Scope.INTEGRATIONS_WRITE),
            },
            200,
            200,
        ),
    ],
)
async def test_promotion_needs_the_scopes_of_what_it_reads_and_writes(
    make_api: MakeApi, path: str, scopes: set[Scope], diff_status: int, publish_status: int
) -> None:
    api = await make_api(scopes=frozenset({Scope.ORGANIZATION_REACH, *scopes}))

    statuses = [(await api.post(f"{path}/{what}", json={})).status_code for what in ("diff", "publish")]

    assert statuses == [diff_status, publish_status]


async def test_the_source_must_be_another_environment_of_the_organization(api: Api, site: Site, path: str) -> None:
    development = f"/v2/environments/{id_text(site.development.id)}"
    wrong = "01a1df28-0000-7000-8000-000000000001"
    refused = [
        await api.post(f"{development}/diff", json={}),
        await api.post(f"{development}/publish", json={"sourceEnvironmentId": id_text(site.development.id)}),
        await api.post(f"{path}/publish", json={"sourceEnvironmentId": wrong}),
    ]
    back = await api.post(f"{development}/diff", json={"sourceEnvironmentId": id_text(site.production.id)})

    assert [(one.status_code, list(one.json()["errors"])) for one in refused] == [(422, ["sourceEnvironmentId"])] * 3
    assert back.status_code == 200


async def test_the_tags_of_an_environment_are_listed_once(
    api: Api, other_api: Api, make_api: MakeApi, path: str
) -> None:
    await make_workflow(other_api, "a", tags=["x", "y"])
    await make_workflow(other_api, "b", tags=["y"])
    reader = await make_api(scopes=frozenset({Scope.WORKFLOWS_READ}))

    assert (await api.get(f"{path}/tags")).json() == [{"name": "x"}, {"name": "y"}]
    assert (await reader.get(f"{path}/tags")).status_code == 404


async def test_variables_that_the_target_lacks_are_named(api: Api, path: str, site: Site) -> None:
    here, there = ({"_environmentId": id_text(one.id)} for one in (site.development, site.production))
    for key, places in (("BOTH", (here, there)), ("HERE", (here,)), ("UNUSED", (here,)), ("NOWHERE", ())):
        values = [one | {"value": "x"} for one in places]
        made = await api.post("/v1/environment-variables", json={"key": key, "values": values})
        assert made.status_code == 200, made.text
    body = "{{env.BOTH}} {{env.HERE}} {{env.NOWHERE}}"
    await make_workflow(api, steps=[{"name": "Inbox", "type": "in_app", "controlValues": {"body": body}}])

    answers = [await api.post(f"{path}/{name}", json={}) for name in ("diff", "publish", "publish")]

    assert [one.status_code for one in answers] == [200] * 3
    lacking = [{"key": "HERE", "workflowIds": ["news"], "layoutIds": [], "integrationIdentifiers": []}]
    assert [one.json().get("lackingVariables") for one in answers] == [lacking, lacking, None]
