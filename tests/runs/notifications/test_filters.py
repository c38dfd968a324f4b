"""Filters of triggered events through HTTP, on both databases."""

from urllib.parse import urlencode

import pytest

from clarion.clock import DAY, ManualClock, Millis, iso_text
from clarion.db.listing import MAX_PARTS
from clarion.db.port import Database
from clarion.ids import id_text, new_id
from clarion.vocabulary import StepType
from tests.records import (
    NOW,
    MadeNotification,
    make_job,
    make_notification,
    make_subscriber,
    make_trigger,
    make_workflow,
)
from tests.support import Api

TOPIC_ID = id_text(new_id(NOW))


async def find(api: Api, **query: str | list[str]) -> list[str]:
    found = await api.get(f"/v1/notifications?{urlencode(query, doseq=True)}")
    assert found.status_code == 200, found.text
    return [one["_id"] for one in found.json()["data"]]


async def make_run(api: Api, database: Database, *steps: StepType, transaction: str | None = None) -> MadeNotification:
    workflow = await make_workflow(database, api.environment, steps=steps or [StepType.IN_APP])
    trigger = await make_trigger(database, api.environment, workflow=workflow, transaction=transaction)
    return await make_notification(database, api.environment, trigger=trigger)


async def make_run_of(api: Api, database: Database, key: str, email: str | None = None) -> str:
    subscriber = await make_subscriber(database, api.environment, key, email=email)
    return id_text((await make_notification(database, api.environment, subscriber=subscriber)).id)


async def test_channels_find_events_with_a_step_of_any_of_them(api: Api, database: Database) -> None:
    email = id_text((await make_run(api, database, StepType.EMAIL, StepType.DELAY)).id)
    sms = id_text((await make_run(api, database, StepType.SMS)).id)
    throttle = id_text((await make_run(api, database, StepType.THROTTLE)).id)

    assert await find(api, channels="email") == [email]
    assert await find(api, channels="delay") == [email]
    assert await find(api, channels=["email", "sms"]) == [sms, email]
    assert await find(api, channels="custom") == [throttle]
    assert await find(api, channels="push") == []
    assert await find(api, **{"channels[]": ["sms"]}) == [sms]


@pytest.mark.parametrize("channel", ["pigeon", "throttle"])
async def test_a_channel_outside_the_enum_is_refused(api: Api, channel: str) -> None:
    refused = await api.get(f"/v1/notifications?channels=email&channels={channel}")

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["channels"]


async def test_templates_find_events_of_any_of_the_workflows_and_other_texts_nothing(
    api: Api, database: Database
) -> None:
    first = await make_run(api, database)
    second = await make_run(api, database)
    await make_run(api, database)
    wanted = [id_text(one.trigger.workflow.id) for one in (first, second)]

    assert await find(api, templates=wanted) == [id_text(second.id), id_text(first.id)]
    assert await find(api, templates=[wanted[0], "not-an-id"]) == [id_text(first.id)]
    assert await find(api, templates="not-an-id") == []
    assert await find(api, templates=id_text(new_id(NOW))) == []


async def test_transactions_find_their_events(api: Api, database: Database) -> None:
    first = id_text((await make_run(api, database, transaction="t-1")).id)
    second = id_text((await make_run(api, database, transaction="t-2")).id)
    await make_run(api, database, transaction="t-3")

    assert await find(api, transactionId="t-1") == [first]
    assert await find(api, transactionId=["t-1", "t-2", "never"]) == [second, first]
    assert await find(api, transactionId="never") == []


async def test_subscribers_are_named_in_three_ways_that_are_united(api: Api, database: Database) -> None:
    ada = await make_run_of(api, database, "ada", "ada@example.com")
    bob = await make_run_of(api, database, "bob", "bob@example.org")
    cleo = await make_run_of(api, database, "cleo")

    assert await find(api, subscriberIds="ada") == [ada]
    assert await find(api, subscriberIds=["ada", "cleo"]) == [cleo, ada]
    assert await find(api, subscriberIds="Ada") == []
    assert await find(api, emails="bob@example.org") == [bob]
    assert await find(api, emails="Bob@example.org") == []
    assert await find(api, emails="example.org") == []
    assert await find(api, search="example") == [bob, ada]
    assert await find(api, search="EXAMPLE.ORG") == [bob]
    assert await find(api, search="cleo") == [cleo]
    assert await find(api, search="cle") == []
    assert await find(api, subscriberIds="ada", emails="bob@example.org", search="cleo") == [cleo, bob, ada]
    assert await find(api, subscriberIds="ada", search="nothing", channels="in_app") == [ada]
    assert await find(api, subscriberIds="ada", channels="email") == []


async def test_an_empty_set_of_subscribers_is_an_empty_page_with_the_requested_number(
    api: Api, database: Database
) -> None:
    await make_run_of(api, database, "ada")

    page = await api.get("/v1/notifications?emails=nobody@example.com&page=3")

    assert page.json() == {"hasMore": False, "data": [], "pageSize": 0, "page": 3}


async def test_characters_of_patterns_are_plain_characters(api: Api, database: Database) -> None:
    percent = await make_run_of(api, database, "ada", "a%b@example.com")
    await make_run_of(api, database, "bob", "axb@example.com")

    assert await find(api, search="a%b") == [percent]


async def test_a_topic_is_matched_by_its_whole_key(api: Api, database: Database) -> None:
    awkward = 'news "x" \\ %'
    topics = [{"_topicId": TOPIC_ID, "topicKey": "news"}, {"_topicId": TOPIC_ID, "topicKey": awkward}]
    both = id_text((await make_notification(database, api.environment, topics=topics)).id)
    one = id_text((await make_notification(database, api.environment, topics=topics[:1])).id)
    await make_notification(database, api.environment, topics=[])
    await make_notification(database, api.environment)

    assert await find(api, topicKey="news") == [one, both]
    assert await find(api, topicKey=awkward) == [both]
    assert await find(api, topicKey="new") == []
    assert await find(api, topicKey="NEWS") == []


async def test_a_window_holds_both_its_ends(api: Api, database: Database) -> None:
    moments = [Millis(NOW + step) for step in (0, 100, 200)]
    first, second, third = [
        id_text((await make_notification(database, api.environment, now=moment)).id) for moment in moments
    ]

    assert await find(api, after=iso_text(moments[1])) == [third, second]
    assert await find(api, before=iso_text(moments[1])) == [second, first]
    assert await find(api, after=iso_text(moments[1]), before=iso_text(moments[1])) == [second]
    assert await find(api, after="2026-01-01T02:00:00.100+02:00") == [third, second]
    assert await find(api, after="1960-01-01") == [third, second, first]
    assert await find(api, before="9999-12-31T23:59:59.999Z") == [third, second, first]
    assert await find(api, before="2025-12-31") == []


async def test_a_window_goes_by_the_events_moment_though_its_id_ran_ahead(api: Api, database: Database) -> None:
    new_id(Millis(NOW + 900))
    run = await make_notification(database, api.environment, now=NOW)

    assert await find(api, after=iso_text(NOW), before=iso_text(NOW)) == [id_text(run.id)]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("after=yesterday", "after"),
        ("before=2026-13-01", "before"),
        ("after=2026-01-02T00:00:00Z&before=2026-01-01T00:00:00Z", "after"),
        ("limit=51", "limit"),
        ("limit=0", "limit"),
        ("page=-1", "page"),
    ],
)
async def test_parameters_that_cannot_be_are_named(api: Api, query: str, field: str) -> None:
    refused = await api.get(f"/v1/notifications?{query}")

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == [field]


async def test_filters_of_different_kinds_must_all_fit(api: Api, other_api: Api, database: Database) -> None:
    run = await make_run(api, database, StepType.EMAIL, transaction="t-1")
    query = {
        "channels": "email",
        "templates": id_text(run.trigger.workflow.id),
        "transactionId": "t-1",
        "subscriberIds": "ada",
        "after": iso_text(NOW),
        "before": iso_text(Millis(NOW + 1_000)),
    }

    assert await find(api, **query) == [id_text(run.id)]
    assert await find(api, **(query | {"channels": "sms"})) == []
    assert await find(api, **(query | {"transactionId": "t-2"})) == []
    assert await find(api, **(query | {"subscriberIds": "bob"})) == []
    assert await find(other_api, **query) == []


async def test_events_of_many_workflows_are_in_one_order(api: Api, database: Database) -> None:
    kinds = [StepType.EMAIL, StepType.SMS, StepType.IN_APP]
    workflows = [await make_workflow(database, api.environment, steps=[kind]) for kind in kinds]
    made = []
    for workflow in [*workflows, *reversed(workflows)]:
        trigger = await make_trigger(database, api.environment, workflow=workflow)
        run = await make_notification(database, api.environment, trigger=trigger)
        made.append(id_text(run.id))

    assert await find(api, channels=["email", "in_app"]) == [made[place] for place in (5, 3, 2, 0)]
    assert await find(api, templates=[id_text(one.id) for one in workflows[:2]]) == [
        made[place] for place in (5, 4, 1, 0)
    ]
    assert await find(api, templates=id_text(workflows[0].id), channels="sms") == []


async def test_a_channel_of_very_many_workflows_finds_their_events(api: Api, database: Database) -> None:
    made = [id_text((await make_run(api, database, StepType.SMS)).id) for _ in range(MAX_PARTS + 1)]
    await make_run(api, database, StepType.EMAIL)

    assert await find(api, channels="sms", limit="50") == made[:-51:-1]


async def test_events_of_very_many_people_are_in_one_order(api: Api, database: Database) -> None:
    keys = [f"p{number}" for number in range(MAX_PARTS + 1)]
    made = [await make_run_of(api, database, key) for key in keys]
    await make_run_of(api, database, "someone-else")

    assert await find(api, subscriberIds=keys, limit="50") == made[:-51:-1]


async def test_a_search_among_many_people_finds_addresses_whatever_their_case(api: Api, database: Database) -> None:
    for number in range(200):
        await make_subscriber(database, api.environment, f"p{number}", email=f"p{number}@Example.com")
    ada = await make_run_of(api, database, "ada", "Ada.Lovelace@navy.mil")
    other = await make_run_of(api, database, "p7", "p7@Example.com")

    assert await find(api, search="LOVELACE@NAVY") == [ada]
    assert await find(api, search="ada") == [ada]
    assert await find(api, search="p7") == [other]
    assert await find(api, search="LOVELACE", subscriberIds="p7") == [other, ada]
    assert await find(api, search="@example.COM") == [other]
    assert await find(api, search="@example.COM", subscriberIds="ada") == [other, ada]
    assert await find(api, search="nobody@nowhere") == []


async def test_without_after_events_since_the_retention_horizon_are_listed(
    api: Api, database: Database, clock: ManualClock
) -> None:
    me = (await api.get("/v1/environments/me")).json()
    await api.patch(f"/v1/environments/{me['_id']}", json={"retentionDays": {"runs": 10}})
    for age in (11, 9):
        await make_job(database, api.environment, now=Millis(clock.now() - age * DAY))

    async def count(**query: str) -> int:
        return len((await api.get("/v1/notifications", params=query)).json()["data"])

    old = "2025-12-21T12:00:00Z"
    assert await count() == 1
    assert await count(after="2025-01-01T00:00:00Z") == 2
    assert await count(before=old) == 0
    assert await count(after="2025-01-01T00:00:00Z", before=old) == 1
