"""Lists and counts of notifications through HTTP, on both databases."""

import json
from typing import Any

import pytest

from clarion.clock import ManualClock, Millis, iso_text
from clarion.db.port import Database
from clarion.ids import id_text, new_id
from clarion.jsontext import json_text
from clarion.vocabulary import Channel, Severity
from clarion.workflows.model import MainSwitch, PreferenceLayer
from clarion.workflows.store import mark_workflow_deleted
from tests.inbox.conftest import MakePerson, Person
from tests.records import (
    NOW,
    MadeMessage,
    make_job,
    make_message,
    make_notification,
    make_subscriber,
    make_trigger,
    make_workflow,
)
from tests.support import Api, Site

LATER = Millis(NOW + 60_000)
CTA = {
    "action": {
        "buttons": [
            {"type": "primary", "content": "Pay", "url": "/pay", "target": "_self"},
            {"type": "secondary", "content": "Later"},
        ]
    },
    "data": {"url": "https://example.com", "target": "_blank"},
}


async def make(database: Database, person: Person, *, tags: tuple[str, ...] = (), **columns: Any) -> MadeMessage:
    """Insert a message for a person, of a workflow with tags."""
    subscriber = await make_subscriber(database, person.environment, person.key)
    workflow = await make_workflow(database, person.environment, tags=tags)
    trigger = await make_trigger(database, person.environment, workflow=workflow)
    run = await make_notification(database, person.environment, trigger=trigger, subscriber=subscriber)
    job = await make_job(database, person.environment, notification=run)
    return await make_message(database, person.environment, job=job, **columns)


async def listed(person: Person, query: str = "") -> list[str]:
    found = await person.get(f"/v1/inbox/notifications?{query}")
    assert found.status_code == 200, found.text
    return [one["id"] for one in found.json()["data"]]


async def counted(person: Person, *filters: Any) -> list[int]:
    found = await person.get("/v1/inbox/notifications/count", params={"filters": json.dumps(filters)})
    assert found.status_code == 200, found.text
    assert [one["filter"] for one in found.json()["data"]] == list(filters)
    return [one["count"] for one in found.json()["data"]]


async def test_a_notification_is_shown_whole(ada: Person, database: Database) -> None:
    subscriber = await make_subscriber(database, ada.environment, first_name="Ada", locale="en-GB")
    critical = PreferenceLayer(all=MainSwitch(read_only=True))
    workflow = await make_workflow(
        database,
        ada.environment,
        key="invoice",
        name="Invoice",
        tags=["billing"],
        severity=Severity.LOW,
        default_preference=critical,
    )
    trigger = await make_trigger(database, ada.environment, workflow=workflow, transaction="t-1")
    run = await make_notification(database, ada.environment, trigger=trigger, subscriber=subscriber)
    message = await make_message(
        database,
        ada.environment,
        job=await make_job(database, ada.environment, notification=run),
        subject="Invoice 7",
        content="Pay **now**",
        avatar="https://example.com/a.png",
        cta=json_text(CTA),
        data=json_text({"invoice": 7}),
        severity=Severity.HIGH,
        delivered_at=json_text([NOW]),
    )

    found = await ada.get("/v1/inbox/notifications", params={"limit": 10, "archived": "false", "snoozed": "false"})

    page = found.json()
    assert page == {
        "data": [
            {
                "id": message.text,
                "transactionId": "t-1",
                "subject": "Invoice 7",
                "body": "Pay **now**",
                "to": {
                    "id": id_text(subscriber.id),
                    "subscriberId": "ada",
                    "firstName": "Ada",
                    "locale": "en-GB",
                },
                "isRead": False,
                "isSeen": False,
                "isArchived": False,
                "isSnoozed": False,
                "snoozedUntil": None,
                "deliveredAt": [iso_text(NOW)],
                "createdAt": iso_text(NOW),
                "readAt": None,
                "firstSeenAt": None,
                "archivedAt": None,
                "avatar": "https://example.com/a.png",
                "primaryAction": {
                    "label": "Pay",
                    "isCompleted": False,
                    "redirect": {"url": "/pay", "target": "_self"},
                },
                "secondaryAction": {"label": "Later", "isCompleted": False},
                "channelType": "in_app",
                "tags": ["billing"],
                "data": {"invoice": 7},
                "redirect": {"url": "https://example.com", "target": "_blank"},
                "workflow": {
                    "id": id_text(workflow.id),
                    "identifier": "invoice",
                    "name": "Invoice",
                    "critical": True,
                    "tags": ["billing"],
                    "severity": "low",
                },
                "severity": "high",
            }
        ],
        "hasMore": False,
        "filter": {"archived": False, "snoozed": False},
    }


async def test_views_show_messages_by_their_state(ada: Person, database: Database) -> None:
    unread = await make(database, ada)
    seen = await make(database, ada, seen=True, severity=Severity.HIGH)
    read = await make(database, ada, seen=True, read=True)
    archived = await make(database, ada, seen=True, read=True, archived=True)
    snoozed = await make(database, ada, seen=True, snoozed_until=LATER)
    await make(database, ada, channel=Channel.EMAIL)
    every = [snoozed.text, archived.text, read.text, seen.text, unread.text]

    assert await listed(ada) == every
    assert await listed(ada, "archived=false&snoozed=false") == [read.text, seen.text, unread.text]
    assert await listed(ada, "read=false&snoozed=false") == [seen.text, unread.text]
    assert await listed(ada, "read=false") == [snoozed.text, seen.text, unread.text]
    assert await listed(ada, "read=true") == [archived.text, read.text]
    assert await listed(ada, "archived=true") == [archived.text]
    assert await listed(ada, "snoozed=true") == [snoozed.text]
    assert await listed(ada, "snoozed=true&archived=true") == []
    assert await listed(ada, "seen=false") == [unread.text]
    assert await listed(ada, "read=false&snoozed=false&seen=false") == [unread.text]
    assert await listed(ada, "severity=high") == [seen.text]
    assert await listed(ada, "read=false&snoozed=false&severity=high") == [seen.text]
    assert await listed(ada, "severity[]=high&severity[]=none") == every
    assert await counted(
        ada,
        {},
        {"archived": False, "snoozed": False},
        {"read": False, "snoozed": False},
        {"read": False},
        {"archived": True},
        {"snoozed": True},
        {"seen": False},
        {"severity": ["high"]},
    ) == [5, 3, 2, 3, 1, 1, 1, 1]


async def test_the_bell_gets_its_four_counts_with_the_filters_as_they_were_sent(
    ada: Person, database: Database
) -> None:
    await make(database, ada, severity=Severity.HIGH)
    await make(database, ada, severity=Severity.HIGH, seen=True)
    await make(database, ada, severity=Severity.LOW)
    await make(database, ada, severity=Severity.LOW, read=True, seen=True)
    filters = [
        {"severity": severity, "read": False, "snoozed": False, "archived": False}
        for severity in ("high", "medium", "low", "none")
    ]

    assert await counted(ada, *filters) == [2, 0, 1, 0]


async def test_counts_end_at_a_hundred(ada: Person, database: Database) -> None:
    first = await make(database, ada)
    filters: list[dict[str, bool]] = [{}, {"read": False, "snoozed": False}, {"read": False}]
    for _ in range(98):
        await make_message(database, ada.environment, job=first.job)

    for expected in (99, 100, 100, 100):
        assert await counted(ada, *filters, {"read": True}) == [expected] * 3 + [0]
        await make_message(database, ada.environment, job=first.job)


@pytest.mark.parametrize(
    ("tags", "query", "expected"),
    [
        (["a"], "tags[]=a", ["a", "ab"]),
        (["a", "b"], "tags[]=a&tags[]=b", ["a", "ab", "bc"]),
        ({"or": ["c"]}, "tags=c", ["bc"]),
        ({"and": [{"or": ["a"]}, {"or": ["b", "c"]}]}, "tags[0][]=a&tags[1][]=b&tags[1][]=c", ["ab"]),
        ([], "", ["", "a", "ab", "bc"]),
        ({}, "", ["", "a", "ab", "bc"]),
        ({"and": []}, "", ["", "a", "ab", "bc"]),
        (["x"], "tags[]=x", []),
    ],
)
async def test_tags_choose_messages_in_every_form(
    ada: Person, database: Database, tags: Any, query: str, expected: list[str]
) -> None:
    made = {word: await make(database, ada, tags=tuple(word)) for word in ("", "a", "ab", "bc")}

    assert await listed(ada, query) == [made[word].text for word in reversed(expected)]
    assert await counted(ada, {"tags": tags}) == [len(expected)]
    changed = await ada.post("/v1/inbox/notifications/read", json={"tags": tags})
    assert changed.status_code == 204, changed.text
    assert await listed(ada, "read=true") == [made[word].text for word in reversed(expected)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"kind": "x"}, ["one", "two"]),
        ({"kind": ["x", "y"]}, ["one", "two", "three"]),
        ({"kind": {"or": ["y", "z"]}}, ["three"]),
        ({"kind": "x", "n": 1}, ["one"]),
        ({"n": True}, ["two"]),
        ({"n": 1.0}, ["one"]),
        ({"labels": "b"}, ["two", "three"]),
        ({"labels": {"and": [{"or": ["a", "c"]}, {"or": ["b"]}]}}, ["two"]),
        ({"project": {"id": 7}}, ["three"]),
        ({"project": {"id": [7, 8]}}, ["three"]),
        ({"labels": {"0": "a"}}, []),
        ({"none": None}, ["one"]),
        ({"absent": None}, []),
        ({}, ["one", "two", "three", "four"]),
        ({"kind": []}, ["one", "two", "three", "four"]),
    ],
)
async def test_data_chooses_messages(ada: Person, database: Database, data: Any, expected: list[str]) -> None:
    stored: dict[str, Any] = {
        "one": {"kind": "x", "n": 1, "none": None},
        "two": {"kind": "x", "n": True, "labels": ["a", "b"]},
        "three": {"kind": "y", "labels": ["b"], "project": {"id": 7}},
        "four": None,
    }
    made = {}
    for name, value in stored.items():
        made[name] = await make(database, ada, data=None if value is None else json_text(value))
    wanted = [made[name].text for name in reversed(expected)]

    found = await ada.get("/v1/inbox/notifications", params={"data": json.dumps(data)})
    assert [one["id"] for one in found.json()["data"]] == wanted
    assert await counted(ada, {"data": data}, {"data": json.dumps(data)}) == [len(wanted)] * 2
    await ada.post("/v1/inbox/notifications/read", json={"data": json.dumps(data)})
    assert await listed(ada, "read=true") == wanted


async def test_messages_are_chosen_by_the_time_of_their_creation(ada: Person, database: Database) -> None:
    made = [await make(database, ada, now=Millis(NOW + 5_000 * number)) for number in range(4)]

    assert await listed(ada, f"createdGte={NOW + 5_000}&createdLte={NOW + 10_000}") == [made[2].text, made[1].text]
    assert await counted(ada, {"createdGte": NOW + 5_001}, {"createdLte": NOW - 1}) == [2, 0]


async def test_the_beginning_of_time_is_a_moment_like_others(ada: Person, api: Api, database: Database) -> None:
    made = await make(database, ada)
    of_server = "/v2/subscribers/ada/notifications"

    assert await listed(ada, "createdGte=0") == [made.text]
    assert await listed(ada, "createdLte=0") == []
    assert await listed(ada, "createdGte=0&createdLte=0") == []
    assert await counted(ada, {"createdGte": 0}, {"createdLte": 0}) == [1, 0]
    found = await api.get(f"{of_server}?createdGte=0&createdLte=0")
    assert (found.status_code, found.json()["data"]) == (200, [])
    assert found.json()["filter"] == {"createdGte": 0, "createdLte": 0}


async def test_pages_by_after_and_by_offset_have_no_gap_within_a_millisecond(ada: Person, database: Database) -> None:
    first = await make(database, ada)
    made = [first, *[await make_message(database, ada.environment, job=first.job) for _ in range(6)]]
    newest = [one.text for one in reversed(made)]

    page = (await ada.get("/v1/inbox/notifications?limit=3")).json()
    assert ([one["id"] for one in page["data"]], page["hasMore"]) == (newest[:3], True)
    rest = (await ada.get(f"/v1/inbox/notifications?limit=4&after={newest[2]}")).json()
    assert ([one["id"] for one in rest["data"]], rest["hasMore"]) == (newest[3:], False)
    for view in ("read=false&snoozed=false", "archived=false&snoozed=false", "snoozed=false"):
        assert await listed(ada, f"{view}&limit=2&after={newest[3]}") == newest[4:6]
        assert await listed(ada, f"{view}&limit=2&offset=3") == newest[3:5]
    assert await listed(ada, f"after={newest[-1]}") == []


async def test_a_page_goes_on_behind_a_message_that_was_deleted(ada: Person, database: Database) -> None:
    first = await make(database, ada)
    made = [first, *[await make_message(database, ada.environment, job=first.job) for _ in range(3)]]
    await ada.delete(f"/v1/inbox/notifications/{made[2].text}/delete")

    assert await listed(ada, f"after={made[2].text}") == [made[1].text, made[0].text]


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("limit=0", 422, "limit"),
        ("limit=101", 422, "limit"),
        ("limit=x", 422, "limit"),
        ("after=x", 422, "after"),
        ("offset=-1", 422, "offset"),
        ("read=maybe", 422, "read"),
        ("severity=urgent", 422, "severity"),
        ("createdGte=yesterday", 422, "createdGte"),
        ("data=[1]", 422, "data"),
        ("data={", 422, "data"),
        ('data={"a":{"b":{"c":1}}}', 422, "data.a.b"),
        ('data={"a":[{}]}', 422, "data.a"),
        ('data={"a":{"or":1}}', 422, "data.a.or"),
        ('data={"a":{"and":1}}', 422, "data.a.and"),
        ('data={"a":"\\u0000"}', 422, "data.a"),
        ("read=false&archived=true", 400, None),
    ],
)
async def test_a_list_that_cannot_be_asked_for_is_refused_with_its_field(
    ada: Person, query: str, status: int, field: str | None
) -> None:
    refused = await ada.get(f"/v1/inbox/notifications?{query}")

    assert refused.status_code == status, refused.text
    if field is not None:
        assert list(refused.json()["errors"]) == [field]


@pytest.mark.parametrize(
    ("filters", "fields"),
    [
        ("", ["filters"]),
        ("x", ["filters"]),
        ("{}", ["filters"]),
        ("[]", ["filters"]),
        ("[1]", ["filters.0"]),
        ('[{"read":1}]', ["filters.0.read"]),
        ('[{}, {"tag":["a"]}]', ["filters.1.tag"]),
        ('[{"tags":[1]}]', ["filters.0.tags.0"]),
        ('[{"data":{"a":{"or":2}}}]', ["filters.0.data.a.or"]),
        (json.dumps([{}] * 31), ["filters"]),
    ],
)
async def test_counts_that_cannot_be_asked_for_are_refused_with_their_field(
    ada: Person, filters: str, fields: list[str]
) -> None:
    refused = await ada.get("/v1/inbox/notifications/count", params={"filters": filters})

    assert refused.status_code == 422, refused.text
    assert list(refused.json()["errors"]) == fields


async def test_messages_of_deleted_workflows_are_still_found_by_their_tags(
    ada: Person, database: Database, clock: ManualClock
) -> None:
    message = await make(database, ada, tags=("a",))
    workflow = message.job.notification.trigger.workflow
    await database.transaction(lambda db: mark_workflow_deleted(db, workflow, clock.now()))

    assert await listed(ada, "tags[]=a") == [message.text]


async def test_a_renamed_workflow_is_shown_with_its_new_name_at_once(ada: Person, database: Database, api: Api) -> None:
    message = await make(database, ada)
    workflow = message.job.notification.trigger.workflow

    async def list_names() -> list[str]:
        found = await ada.get("/v1/inbox/notifications")
        return [one["workflow"]["name"] for one in found.json()["data"]]

    before = [await list_names(), await list_names()]
    renamed = await api.patch(f"/v2/workflows/{id_text(workflow.id)}", json={"name": "Another name"})

    assert renamed.status_code == 200, renamed.text
    assert before == [[workflow.name]] * 2
    assert await list_names() == ["Another name"]


async def test_other_people_and_environments_see_nothing(
    ada: Person, make_person: MakePerson, database: Database, site: Site
) -> None:
    message = await make(database, ada)
    for stranger in (await make_person("ben"), await make_person("ada", site.production)):
        assert await listed(stranger) == []
        assert await listed(stranger, f"after={id_text(new_id(LATER))}") == []
        assert await counted(stranger, {}) == [0]
    assert await listed(ada) == [message.text]
