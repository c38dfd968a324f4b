"""Schedules through HTTP, on both databases."""

from typing import Any

import pytest
from msgspec.structs import replace

from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.ids import ScheduleId, ScheduleKey, new_id
from clarion.schedules.model import MAX_SCHEDULES
from clarion.schedules.store import get_schedule, insert_schedule
from clarion.vocabulary import Scope
from tests.engine.support import in_app
from tests.schedules.support import SCHEDULE, make_schedule
from tests.segments.support import make_segment
from tests.support import Api, MakeApi

WORKFLOW = {"name": "Welcome", "workflowId": "welcome", "active": True, "steps": [in_app("Hi")]}


@pytest.fixture
async def ready(api: Api) -> Api:
    assert (await api.post("/v2/workflows", json=WORKFLOW)).status_code == 201
    return api


async def refuse(api: Api, **fields: Any) -> dict[str, Any]:
    """The problems of a schedule, by field."""
    response = await api.post("/v1/schedules", json={**SCHEDULE, **fields})
    assert response.status_code == 422, response.text
    problems: dict[str, Any] = response.json()["errors"]
    return problems


async def test_a_new_schedule_is_retrieved_as_created(ready: Api) -> None:
    made = await make_schedule(
        ready,
        to=["ada", {"topicKey": "news", "exclude": ["bob"]}],
        timezone="Asia/Kathmandu",
        until="2026-01-03T00:00:00Z",
        payload={"a": 1},
        overrides={"email": {}},
        context={"tenant": "acme"},
        catchUp="all",
    )

    assert (await ready.get("/v1/schedules/daily")).json() == made
    assert (await ready.get("/v1/schedules")).json()["data"] == [made]
    assert made | {"_id": "x"} == {
        "_id": "x",
        "identifier": "daily",
        "name": "Daily",
        "workflowId": "welcome",
        "to": ["ada", {"type": "Topic", "topicKey": "news", "exclude": ["bob"]}],
        "cron": "0 9 * * *",
        "timezone": "Asia/Kathmandu",
        "fallbackTimezone": "UTC",
        "until": "2026-01-03T00:00:00.000Z",
        "payload": {"a": 1},
        "overrides": {"email": {}},
        "context": {"tenant": {"id": "acme"}},
        "catchUp": "all",
        "paused": False,
        "status": "active",
        "nextMoments": [
            {"at": "2026-01-01T03:15:00.000Z", "local": "2026-01-01T09:00"},
            {"at": "2026-01-02T03:15:00.000Z", "local": "2026-01-02T09:00"},
        ],
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }


async def test_the_next_ten_moments_are_shown_over_a_change_of_clocks(ready: Api) -> None:
    made = await make_schedule(ready, timezone="Europe/Berlin", **{"from": "2026-03-27T00:00:00Z"})

    shown = [one["at"][:16] for one in made["nextMoments"]]
    assert shown[:4] == ["2026-03-27T08:00", "2026-03-28T08:00", "2026-03-29T07:00", "2026-03-30T07:00"]
    assert len(shown) == 10
    assert {one["local"][-5:] for one in made["nextMoments"]} == {"09:00"}


async def test_its_zone_is_that_of_the_environment_if_it_names_none(ready: Api) -> None:
    me = (await ready.get("/v1/environments/me")).json()
    await ready.patch(f"/v1/environments/{me['_id']}", json={"timezone": "Europe/Athens"})

    fixed = await make_schedule(ready)
    of_person = await make_schedule(ready, identifier="own", timezone="subscriber")

    assert (fixed["timezone"], of_person["fallbackTimezone"]) == ("Europe/Athens", "Europe/Athens")
    assert of_person["nextMoments"][0] == {"at": "2026-01-01T07:00:00.000Z", "local": "2026-01-01T09:00"}


@pytest.mark.parametrize(
    ("field", "fields", "problem"),
    [
        ("cron", {"cron": None}, "or rrule must say when"),
        ("rrule", {"rrule": "FREQ=DAILY"}, "cannot stand beside cron"),
        ("cron", {"cron": "* * * * * *"}, "five fields"),
        ("cron", {"cron": "0 0 30 2 *"}, "not a valid cron"),
        ("rrule", {"cron": None, "rrule": "FREQ=SECONDLY"}, "one of MINUTELY"),
        ("timezone", {"timezone": "Mars"}, "or 'subscriber'"),
        ("fallbackTimezone", {"fallbackTimezone": "subscriber"}, "IANA time zone"),
        ("until", {"from": "2026-03-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"}, "must not be earlier than from"),
        ("from", {"from": "2050-01-01T00:00:00Z"}, "within ten years"),
        ("cron", {"until": "2025-02-01T00:00:00Z"}, "no moment left"),
        ("cron", {"timezone": "subscriber", "cron": "*/5 * * * *"}, "3 hours between its moments"),
        ("rrule", {"timezone": "subscriber", "cron": None, "rrule": "FREQ=HOURLY;INTERVAL=5"}, "give a fixed timezone"),
        ("workflowId", {"workflowId": "other"}, "does not exist"),
        ("to", {"to": []}, "at least one recipient"),
        ("to", {"to": ["ada", {"type": "Everyone"}]}, "names everyone and others"),
        ("to", {"to": {"subscriberId": "ada", "email": "ada@example.org"}}, "by subscriberId alone"),
        ("to", {"to": {"type": "Segment", "segmentKey": "gold"}}, "does not exist in this environment"),
        ("to.0.topicKye", {"to": [{"topicKey": "news", "topicKye": "x"}]}, ""),
        ("payload", {"payload": {"attachments": []}}, "cannot attach files"),
        ("payload", {"payload": {"text": "x" * 300_000}}, "bytes of JSON"),
        ("catchUp", {"catchUp": "some"}, ""),
        ("color", {"color": "red"}, ""),
    ],
)
async def test_what_cannot_be_is_refused(ready: Api, field: str, fields: dict[str, Any], problem: str) -> None:
    problems = await refuse(ready, **fields)

    assert field in problems
    assert problem in str(problems[field])


async def test_the_payload_must_fit_the_schema_of_the_workflow(api: Api) -> None:
    schema = {"type": "object", "required": ["a"]}
    await api.post("/v2/workflows", json={**WORKFLOW, "payloadSchema": schema, "validatePayload": True})

    refused = await api.post("/v1/schedules", json=SCHEDULE)

    assert refused.status_code == 400
    await make_schedule(api, payload={"a": 1})


async def test_a_topic_that_does_not_exist_is_warned_of(ready: Api) -> None:
    response = await ready.post("/v1/schedules", json={**SCHEDULE, "to": {"topicKey": "nwes"}})

    assert response.status_code == 201
    assert "Topic 'nwes' does not exist" in response.headers["clarion-warnings"]


async def test_a_schedule_exists_once(ready: Api) -> None:
    await make_schedule(ready)

    assert (await ready.post("/v1/schedules", json=SCHEDULE)).status_code == 409


async def test_an_environment_has_so_many_schedules(ready: Api, database: Database) -> None:
    await make_schedule(ready)

    async def insert(db: Connection) -> None:
        first = await get_schedule(db, ready.environment.id, ScheduleKey("daily"))
        for number in range(MAX_SCHEDULES - 1):
            made = replace(first, id=ScheduleId(new_id(first.created_at)), key=ScheduleKey(f"s{number}"))
            await insert_schedule(db, made)

    await database.transaction(insert)

    assert "more than 500 schedules" in str((await refuse(ready))["identifier"])


async def test_only_the_given_fields_are_changed(ready: Api, clock: ManualClock) -> None:
    made = await make_schedule(ready, payload={"a": 1}, until="2027-01-01T00:00:00Z")
    clock.move(1000)

    changed = await ready.patch("/v1/schedules/daily", json={"name": "Other", "until": None, "payload": None})

    expected = made | {"name": "Other", "payload": {}, "updatedAt": "2026-01-01T00:00:01.000Z"}
    assert changed.json() == {name: value for name, value in expected.items() if name != "until"}
    assert (await ready.get("/v1/schedules/daily")).json() == changed.json()
    assert (await ready.patch("/v1/schedules/daily", json={})).status_code == 400


async def test_a_rule_takes_the_place_of_the_other(ready: Api) -> None:
    await make_schedule(ready)

    changed = (await ready.patch("/v1/schedules/daily", json={"rrule": "FREQ=DAILY;BYHOUR=7;BYMINUTE=0"})).json()

    assert "cron" not in changed
    assert changed["nextMoments"][0]["at"] == "2026-01-01T07:00:00.000Z"


async def test_a_paused_schedule_has_no_next_moments(ready: Api) -> None:
    await make_schedule(ready)

    paused = (await ready.patch("/v1/schedules/daily", json={"paused": True})).json()
    resumed = (await ready.patch("/v1/schedules/daily", json={"paused": False})).json()

    assert (paused["status"], paused["nextMoments"]) == ("paused", [])
    assert (resumed["status"], len(resumed["nextMoments"])) == ("active", 10)


async def test_a_deleted_schedule_is_gone(ready: Api) -> None:
    await make_schedule(ready)

    assert (await ready.delete("/v1/schedules/daily")).status_code == 204
    for path in ("/v1/schedules/daily", "/v1/schedules/daily/runs"):
        assert (await ready.get(path)).status_code == 404
    assert (await ready.delete("/v1/schedules/daily")).status_code == 404
    assert (await ready.patch("/v1/schedules/daily", json={"name": "x"})).status_code == 404


async def test_lists_are_searched(ready: Api) -> None:
    await make_schedule(ready, identifier="weekly", name="Report")
    await make_schedule(ready, identifier="daily", name="Reminder")

    async def find(search: str) -> list[str]:
        response = await ready.get("/v1/schedules", params={"search": search})
        return [one["identifier"] for one in response.json()["data"]]

    assert [await find(text) for text in ("RE", "week", "x")] == [["daily", "weekly"], ["weekly"], []]


async def test_who_writes_a_schedule_must_be_able_to_trigger(ready: Api, make_api: MakeApi) -> None:
    writer = await make_api(ready.environment, scopes=[Scope.SCHEDULES_WRITE])
    reader = await make_api(ready.environment, scopes=[Scope.SCHEDULES_READ])
    trigger = await make_api(ready.environment, scopes=[Scope.EVENTS_WRITE])
    both = await make_api(ready.environment, scopes=[Scope.SCHEDULES_WRITE, Scope.EVENTS_WRITE])

    for other in (writer, reader, trigger):
        assert (await other.post("/v1/schedules", json=SCHEDULE)).status_code == 403
    await make_schedule(both)
    assert (await writer.patch("/v1/schedules/daily", json={"paused": False})).status_code == 403
    assert (await both.get("/v1/schedules/daily")).status_code == 403
    assert (await reader.get("/v1/schedules/daily")).status_code == 200
    assert (await reader.get("/v1/schedules/daily/runs")).status_code == 403
    assert (await reader.delete("/v1/schedules/daily")).status_code == 403


async def test_schedules_for_segments_need_the_right_to_read_segments(ready: Api, make_api: MakeApi) -> None:
    await make_segment(ready)
    both = await make_api(ready.environment, scopes=[Scope.SCHEDULES_WRITE, Scope.EVENTS_WRITE])
    to = {"type": "Segment", "segmentKey": "gold"}

    assert (await both.post("/v1/schedules", json={**SCHEDULE, "to": to})).status_code == 403
    await make_schedule(ready, to=to)
    for fields in ({"paused": True}, {"payload": {"a": 1}}, {"cron": "* * * * *"}):
        assert (await both.patch("/v1/schedules/daily", json=fields)).status_code == 403


async def test_schedules_with_contexts_need_the_right_to_write_contexts(ready: Api, make_api: MakeApi) -> None:
    both = await make_api(ready.environment, scopes=[Scope.SCHEDULES_WRITE, Scope.EVENTS_WRITE])

    response = await both.post("/v1/schedules", json={**SCHEDULE, "context": {"tenant": "acme"}})

    assert response.status_code == 403


async def test_a_segment_that_a_schedule_is_for_is_not_deleted(ready: Api) -> None:
    await make_segment(ready)
    await make_schedule(ready, to=["gold", {"type": "Segment", "segmentKey": "gold"}])

    refused = await ready.delete("/v1/segments/gold")
    usage = (await ready.get("/v1/segments/gold/usage")).json()
    await ready.patch("/v1/schedules/daily", json={"to": "gold"})

    assert refused.status_code == 409
    assert "is used by the schedules 'daily'" in refused.text
    assert usage["schedules"] == [{"identifier": "daily", "name": "Daily"}]
    assert (await ready.delete("/v1/segments/gold")).status_code == 204
