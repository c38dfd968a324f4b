"""Triggered events through HTTP, on both databases."""

import json
from typing import Any

from clarion.clock import Millis, iso_text
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.ids import id_text, new_id
from clarion.jobs.details import DetailSource, DetailStatus, ExecutionDetail
from clarion.jsontext import json_text
from clarion.vocabulary import JobStatus, Scope, StepType
from clarion.workflows.model import MainSwitch, PreferenceLayer
from tests.records import (
    NOW,
    MadeNotification,
    make_job,
    make_notification,
    make_step,
    make_subscriber,
    make_trigger,
    make_workflow,
    steps_of,
)
from tests.support import Api, MakeApi


async def get_event(api: Api, notification: MadeNotification) -> dict[str, Any]:
    """Return the event, which is the same in the list."""
    found = await api.get(f"/v1/notifications/{id_text(notification.id)}")
    assert found.status_code == 200, found.text
    event: dict[str, Any] = found.json()
    listed = (await api.get(f"/v1/notifications?transactionId={notification.trigger.transaction}")).json()
    assert listed["data"] == [event]
    return event


async def make_digest_run(api: Api, database: Database) -> MadeNotification:
    environment = api.environment
    steps = [make_step(StepType.DIGEST, 1, amount=3), make_step(StepType.EMAIL, 2, subject="S", body="<p>b</p>")]
    workflow = await make_workflow(database, environment, key="news", name="News", steps=steps, tags=["a"])
    trigger = await make_trigger(
        database, environment, workflow=workflow, transaction="t-1", payload={"n": 1}, overrides={"email": {}}
    )
    ada = await make_subscriber(database, environment, first_name="Ada", email="ada@example.com")
    run = await make_notification(
        database,
        environment,
        trigger=trigger,
        subscriber=ada,
        recipient={"type": "Topic", "topicKey": "readers"},
        topics=[{"_topicId": id_text(environment.id), "topicKey": "readers"}],
        digested_into=(await make_notification(database, environment)).id,
    )
    await make_job(
        database,
        environment,
        notification=run,
        step=1,
        kind=StepType.EMAIL,
        status=JobStatus.FAILED,
        provider_id="svc-email",
        details=[
            ExecutionDetail(
                id=id_text(environment.id),
                at=Millis(NOW + 9),
                status=DetailStatus.FAILED,
                detail="Unexpected provider error",
                source=DetailSource.CREDENTIALS,
                is_retry=True,
                provider_id="svc-email",
                raw={"code": 550, "words": ["no"]},
            ),
            ExecutionDetail(id=id_text(environment.id), at=NOW, status=DetailStatus.PENDING, detail="Step queued"),
        ],
    )
    await make_job(
        database,
        environment,
        notification=run,
        step=0,
        kind=StepType.DIGEST,
        status=JobStatus.MERGED,
        digest={"type": "regular", "amount": 3, "unit": "seconds", "events": []},
    )
    return run


async def test_an_event_tells_the_run_and_its_circumstances(api: Api, database: Database) -> None:
    run = await make_digest_run(api, database)

    event = await get_event(api, run)

    assert event.pop("_digestedNotificationId")
    assert len(event.pop("jobs")) == 2
    assert event == {
        "contextKeys": [],
        "_id": id_text(run.id),
        "_environmentId": id_text(api.environment.id),
        "_organizationId": id_text(api.environment.organization_id),
        "_subscriberId": id_text(run.subscriber.id),
        "_templateId": id_text(run.trigger.workflow.id),
        "transactionId": "t-1",
        "channels": ["email", "digest"],
        "subscriber": {
            "_id": id_text(run.subscriber.id),
            "subscriberId": "ada",
            "firstName": "Ada",
            "email": "ada@example.com",
        },
        "template": {
            "_id": id_text(run.trigger.workflow.id),
            "name": "News",
            "origin": "svc-cloud",
            "triggers": [{"type": "event", "identifier": "news", "variables": []}],
        },
        "payload": {"n": 1},
        "to": {"type": "Topic", "topicKey": "readers"},
        "tags": ["a"],
        "topics": [{"_topicId": id_text(api.environment.id), "topicKey": "readers"}],
        "severity": "none",
        "critical": False,
        "createdAt": iso_text(NOW),
        "updatedAt": iso_text(NOW),
    }


async def test_jobs_are_returned_in_step_order_with_their_step_of_the_runs_version(
    api: Api, database: Database
) -> None:
    run = await make_digest_run(api, database)
    digest_step, email_step = await steps_of(database, run.trigger.workflow)

    digest, email = (await get_event(api, run))["jobs"]

    assert digest.pop("_id") != email.pop("_id")
    assert digest == {
        "type": "digest",
        "digest": {"type": "regular", "amount": 3, "unit": "seconds", "events": []},
        "executionDetails": [],
        "step": {
            "_id": digest_step.id,
            "_templateId": digest_step.id,
            "_parentId": None,
            "stepId": "digest-1",
            "name": "Step 1",
            "active": True,
            "filters": [],
            "template": {"type": "digest", "name": "Step 1", "content": ""},
            "controlVariables": {"amount": 3},
        },
        "overrides": {"email": {}},
        "payload": {"n": 1},
        "providerId": "svc",
        "status": "merged",
        "updatedAt": iso_text(NOW),
    }
    assert "digest" not in email
    assert (email["type"], email["status"], email["providerId"]) == ("email", "failed", "svc-email")
    assert (email["step"]["_id"], email["step"]["_parentId"]) == (email_step.id, digest_step.id)
    assert email["step"]["template"]["content"] == "<p>b</p>"
    assert email["step"]["controlVariables"] == {"subject": "S", "body": "<p>b</p>"}


async def test_execution_details_are_returned_in_time_order_with_raw_as_a_json_text(
    api: Api, database: Database
) -> None:
    run = await make_digest_run(api, database)

    queued, failed = (await get_event(api, run))["jobs"][1]["executionDetails"]

    assert queued == {
        "_id": id_text(api.environment.id),
        "createdAt": iso_text(NOW),
        "status": "Pending",
        "detail": "Step queued",
        "isRetry": False,
        "isTest": False,
        "providerId": "svc",
        "source": "Internal",
    }
    assert json.loads(failed.pop("raw")) == {"code": 550, "words": ["no"]}
    assert failed == {
        "_id": id_text(api.environment.id),
        "createdAt": iso_text(Millis(NOW + 9)),
        "status": "Failed",
        "detail": "Unexpected provider error",
        "isRetry": True,
        "isTest": False,
        "providerId": "svc-email",
        "source": "Credentials",
    }


async def test_a_raw_text_is_a_json_text_too(api: Api, database: Database) -> None:
    run = await make_notification(database, api.environment)
    detail = ExecutionDetail(id="1", at=NOW, status=DetailStatus.FAILED, detail="x", raw="connection refused")
    await make_job(database, api.environment, notification=run, details=[detail])

    (returned,) = (await get_event(api, run))["jobs"][0]["executionDetails"]

    assert json.loads(returned["raw"]) == "connection refused"


async def test_a_throttle_step_is_shown_as_a_custom_one(api: Api, database: Database) -> None:
    workflow = await make_workflow(database, api.environment, steps=[StepType.THROTTLE, StepType.CUSTOM])
    trigger = await make_trigger(database, api.environment, workflow=workflow)
    run = await make_notification(database, api.environment, trigger=trigger)
    await make_job(database, api.environment, notification=run, kind=StepType.THROTTLE)

    event = await get_event(api, run)

    assert event["channels"] == ["custom"]
    assert event["jobs"][0]["type"] == "custom"
    assert event["jobs"][0]["step"]["template"]["type"] == "throttle"


async def test_what_an_event_does_not_have_is_absent_and_its_recipient_is_an_object(
    api: Api, database: Database
) -> None:
    plain = await make_notification(database, api.environment)
    written = await make_notification(database, api.environment, recipient="ada")

    event = await get_event(api, plain)

    assert "_digestedNotificationId" not in event
    assert (event["topics"], event["jobs"], event["payload"]) == ([], [], {})
    assert event["to"] == (await get_event(api, written))["to"] == {"subscriberId": "ada"}


async def test_a_critical_workflow_makes_its_events_critical(api: Api, database: Database) -> None:
    layer = PreferenceLayer(all=MainSwitch(enabled=True, read_only=True))
    workflow = await make_workflow(database, api.environment, default_preference=layer)
    trigger = await make_trigger(database, api.environment, workflow=workflow)
    run = await make_notification(database, api.environment, trigger=trigger)

    assert (await get_event(api, run))["critical"] is True


async def test_a_deleted_workflow_still_tells_its_name(api: Api, database: Database) -> None:
    run = await make_digest_run(api, database)
    mark_deleted = sql("UPDATE workflows SET deleted_at = :now WHERE environment_id = :environment_id AND id = :id")
    await database.transaction(
        lambda db: db.execute(mark_deleted, now=NOW, environment_id=api.environment.id, id=run.trigger.workflow.id)
    )

    assert (await get_event(api, run))["template"]["name"] == "News"


async def test_a_run_keeps_the_steps_of_its_version(api: Api, database: Database) -> None:
    run = await make_digest_run(api, database)
    change = sql("UPDATE workflows SET version_id = :version WHERE environment_id = :environment_id AND id = :id")
    insert = sql("""
        INSERT INTO workflow_versions (
            environment_id, id, workflow_id, number, steps, payload_schema, validate_payload, created_at
        ) VALUES (:environment_id, :version, :id, 2, :steps, NULL, FALSE, :now)
    """)
    values = {
        "environment_id": api.environment.id,
        "id": run.trigger.workflow.id,
        "version": new_id(NOW),
    }
    await database.transaction(lambda db: db.execute(change, **values))
    await database.transaction(lambda db: db.execute(insert, **values, now=NOW, steps=json_text([])))

    assert [job["step"]["name"] for job in (await get_event(api, run))["jobs"]] == ["Step 1", "Step 2"]


async def test_unknown_malformed_and_foreign_events_are_not_found(api: Api, other_api: Api, database: Database) -> None:
    run = await make_notification(database, api.environment)

    assert (await api.get("/v1/notifications/not-an-id")).status_code == 404
    assert (await api.get(f"/v1/notifications/{id_text(new_id(NOW))}")).status_code == 404
    assert (await other_api.get(f"/v1/notifications/{id_text(run.id)}")).status_code == 404
    assert (await other_api.get("/v1/notifications")).json()["data"] == []


async def test_pages_hold_every_event_once_and_tell_exactly_whether_there_are_more(
    api: Api, database: Database
) -> None:
    made = [id_text((await make_notification(database, api.environment)).id) for _ in range(4)]  # in one millisecond

    pages = [(await api.get(f"/v1/notifications?limit=2.0&page={number}")).json() for number in range(3)]

    assert [one["_id"] for page in pages for one in page["data"]] == made[::-1]
    assert [page["hasMore"] for page in pages] == [True, False, False]
    assert [(page["pageSize"], page["page"]) for page in pages] == [(2, 0), (2, 1), (0, 2)]
    assert "totalCount" not in pages[0]


async def test_the_jobs_of_a_page_stay_with_their_events(api: Api, database: Database) -> None:
    trigger = await make_trigger(database, api.environment)
    runs = []
    for key in ("ada", "bob", "cleo"):
        subscriber = await make_subscriber(database, api.environment, key)
        run = await make_notification(database, api.environment, trigger=trigger, subscriber=subscriber)
        runs.append((key, id_text((await make_job(database, api.environment, notification=run)).id)))

    page = (await api.get("/v1/notifications")).json()

    found = [(one["subscriber"]["subscriberId"], one["jobs"][0]["_id"]) for one in page["data"]]
    assert found == runs[::-1]


async def test_events_take_their_scope(make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.EVENTS_READ}))
    other = await make_api(scopes=frozenset({Scope.MESSAGES_READ}))

    assert (await reader.get("/v1/notifications")).status_code == 200
    assert (await other.get("/v1/notifications")).status_code == 403
