"""What people do with their notifications, through HTTP on both databases."""

from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from clarion.app import Application
from clarion.bus import InboxChange
from clarion.clock import HOUR, ManualClock, Millis, iso_text
from clarion.db.port import Database
from clarion.ids import id_text, new_id
from clarion.jsontext import json_text
from clarion.messages.model import MAX_SNOOZE_HOURS
from clarion.operations import OPERATIONS
from clarion.vocabulary import Channel
from tests.inbox.conftest import MakePerson, Person
from tests.inbox.test_notifications import CTA, LATER, listed, make
from tests.records import NOW
from tests.support import Api, Site

EARLIER = Millis(NOW - 500)
STATE = ("isRead", "readAt", "isSeen", "isArchived", "archivedAt", "isSnoozed", "snoozedUntil")
ALL = "/v1/inbox/notifications"
ACTIONS = ("read", "unread", "archive", "unarchive", "snooze", "unsnooze", "complete", "revert")


async def act(person: Person, message_id: str, action: str, **body: Any) -> httpx.Response:
    return await person.patch(f"{ALL}/{message_id}/{action}", json=body or None)


@pytest.fixture
def changes(application: Application) -> list[InboxChange]:
    """What is announced, as if somebody were connected in every environment."""
    found: list[InboxChange] = []

    def listen(published: Sequence[InboxChange]) -> None:
        found.extend(published)

    application.services.bus.is_watched = lambda _: True
    application.services.bus.listen_to_inboxes(listen)
    return found


READ: dict[str, Any] = {"read": True, "read_at": EARLIER, "seen": True, "seen_at": EARLIER}
ARCHIVED: dict[str, Any] = READ | {"archived": True, "archived_at": EARLIER}
SNOOZED: dict[str, Any] = {"snoozed_until": LATER, "seen": True}
now, earlier, later = iso_text(NOW), iso_text(EARLIER), iso_text(LATER)


@pytest.mark.parametrize(
    ("action", "columns", "state", "is_announced"),
    [
        ("read", {}, (True, now, True, False, None, False, None), True),
        ("read", READ, (True, earlier, True, False, None, False, None), False),
        ("read", ARCHIVED, (True, earlier, True, False, None, False, None), False),
        ("read", SNOOZED, (True, now, True, False, None, True, later), False),
        ("unread", {}, (False, None, False, False, None, False, None), False),
        ("unread", READ, (False, None, True, False, None, False, None), True),
        ("unread", ARCHIVED, (False, None, True, False, None, False, None), True),
        ("archive", {}, (True, now, True, True, now, False, None), True),
        ("archive", READ, (True, earlier, True, True, now, False, None), False),
        ("archive", ARCHIVED, (True, earlier, True, True, earlier, False, None), False),
        ("archive", SNOOZED, (True, now, True, True, now, False, None), False),
        ("unarchive", {}, (False, None, False, False, None, False, None), False),
        ("unarchive", ARCHIVED, (True, earlier, True, False, None, False, None), False),
        ("unsnooze", SNOOZED, (False, None, True, False, None, False, None), True),
        ("unsnooze", READ | SNOOZED, (True, earlier, True, False, None, False, None), False),
    ],
)
async def test_an_action_returns_the_whole_notification_and_is_announced_if_it_changes_a_count(
    ada: Person,
    database: Database,
    changes: list[InboxChange],
    action: str,
    columns: dict[str, Any],
    state: tuple[Any, ...],
    *,
    is_announced: bool,
) -> None:
    message = await make(database, ada, **columns)

    changed = await act(ada, message.text, action)

    assert changed.status_code == 200, changed.text
    shown = changed.json()["data"]
    assert tuple(shown[name] for name in STATE) == state
    assert (await ada.get(ALL)).json()["data"] == [shown]
    owner = message.job.notification.subscriber.id
    expected = [InboxChange(environment_id=ada.environment.id, subscriber_id=owner)] if is_announced else []
    assert changes == expected


async def test_an_action_without_a_body_may_say_that_it_is_json(ada: Person, database: Database) -> None:
    message = await make(database, ada)
    headers = {"Content-Type": "application/json"}

    assert (await ada.patch(f"{ALL}/{message.text}/read", headers=headers)).status_code == 200
    assert (await ada.post(f"{ALL}/read-archive", headers=headers)).status_code == 204
    assert await listed(ada, "archived=true") == [message.text]
    assert (await ada.delete(f"{ALL}/{message.text}/delete", headers=headers)).status_code == 204
    assert await listed(ada) == []


async def test_a_button_is_completed_and_reverted(ada: Person, database: Database, changes: list[InboxChange]) -> None:
    message = await make(database, ada, cta=json_text(CTA))

    done = (await act(ada, message.text, "complete", actionType="primary")).json()["data"]
    other = (await act(ada, message.text, "complete", actionType="secondary")).json()["data"]
    undone = (await act(ada, message.text, "revert", actionType="secondary")).json()["data"]

    flags = [
        (one["primaryAction"]["isCompleted"], one["secondaryAction"]["isCompleted"], one["isRead"])
        for one in (done, other, undone)
    ]
    assert flags == [(True, False, True), (False, True, True), (False, False, True)]
    assert len(changes) == 1


async def test_a_button_that_is_not_there_cannot_be_completed(ada: Person, database: Database) -> None:
    message = await make(database, ada)

    missing = await act(ada, message.text, "complete", actionType="primary")
    unknown = await act(ada, message.text, "revert", actionType="third")

    assert (missing.status_code, unknown.status_code) == (400, 422)
    assert "primary" in missing.json()["message"]
    assert list(unknown.json()["errors"]) == ["actionType"]
    assert (await ada.get(ALL)).json()["data"][0]["isRead"] is False


async def test_a_snooze_hides_a_notification_and_leaves_it_unread(
    ada: Person, database: Database, changes: list[InboxChange]
) -> None:
    message = await make(database, ada)

    snoozed = await act(ada, message.text, "snooze", snoozeUntil=later)

    assert snoozed.status_code == 200
    assert tuple(snoozed.json()["data"][name] for name in STATE) == (False, None, True, False, None, True, later)
    assert await listed(ada, "archived=false&snoozed=false") == []
    assert await listed(ada, "snoozed=true") == [message.text]
    assert len(changes) == 1


@pytest.mark.parametrize(
    ("until", "reason"),
    [
        (iso_text(NOW), "future"),
        (iso_text(EARLIER), "future"),
        (iso_text(Millis(NOW + MAX_SNOOZE_HOURS * HOUR + 1)), "2160 hours"),
        ("tomorrow", "ISO 8601"),
        (None, "snoozeUntil"),
    ],
)
async def test_a_snooze_must_end_in_the_future_but_not_too_far(
    ada: Person, database: Database, until: str | None, reason: str
) -> None:
    message = await make(database, ada)

    refused = await act(ada, message.text, "snooze", snoozeUntil=until)

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["snoozeUntil"]
    assert reason in refused.text
    longest = iso_text(Millis(NOW + MAX_SNOOZE_HOURS * HOUR))
    assert (await act(ada, message.text, "snooze", snoozeUntil=longest)).status_code == 200


async def test_what_is_not_snoozed_cannot_be_unsnoozed(ada: Person, database: Database) -> None:
    message = await make(database, ada)

    assert (await act(ada, message.text, "unsnooze")).status_code == 404


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("read", {"unread": "read", "read": "read", "archived": "archived", "snoozed": "snoozed"}),
        ("archive", {"unread": "archived", "read": "archived", "archived": "archived", "snoozed": "snoozed"}),
        ("read-archive", {"unread": "unread", "read": "archived", "archived": "archived", "snoozed": "snoozed"}),
        ("seen", {"unread": "unread", "read": "read", "archived": "archived", "snoozed": "snoozed"}),
        ("delete", {}),
    ],
)
async def test_actions_on_all_leave_snoozed_ones_alone_and_delete_everything(
    ada: Person, database: Database, changes: list[InboxChange], action: str, expected: dict[str, str]
) -> None:
    made = {
        "unread": await make(database, ada),
        "read": await make(database, ada, **READ),
        "archived": await make(database, ada, **ARCHIVED),
        "snoozed": await make(database, ada, **SNOOZED),
    }
    email = await make(database, ada, channel=Channel.EMAIL)

    answers = [await ada.post(f"{ALL}/{action}", json={"tags": []}) for _ in range(2)]

    assert [(one.status_code, one.content) for one in answers] == [(204, b"")] * 2
    by_id = {one["id"]: one for one in (await ada.get(ALL)).json()["data"]}
    states = {name: _state(by_id[one.text]) for name, one in made.items() if one.text in by_id}
    assert states == expected
    assert all(one["isSeen"] for one in by_id.values()) is (action != "read-archive")
    assert email.text not in by_id
    assert len(changes) == (0 if action == "read-archive" else 1)


def _state(shown: dict[str, Any]) -> str:
    if shown["isSnoozed"]:
        return "snoozed" if not shown["isRead"] and not shown["isArchived"] else "snoozed, but changed"
    return "archived" if shown["isArchived"] else "read" if shown["isRead"] else "unread"


async def test_only_the_given_notifications_become_seen(
    ada: Person, database: Database, make_person: MakePerson
) -> None:
    one, two = await make(database, ada), await make(database, ada)
    foreign = await make(database, await make_person("ben"))

    body = {"notificationIds": [one.text, foreign.text, id_text(new_id(NOW))]}
    assert (await ada.post(f"{ALL}/seen", json=body)).status_code == 204

    assert await listed(ada, "seen=true") == [one.text]
    assert await listed(ada, "seen=false") == [two.text]
    assert await listed(await make_person("ben"), "seen=false") == [foreign.text]
    assert (await ada.post(f"{ALL}/seen", json={"notificationIds": []})).status_code == 204
    assert await listed(ada, "seen=false") == [two.text]
    refused = await ada.post(f"{ALL}/seen", json={"notificationIds": [one.text, "x"]})
    assert list(refused.json()["errors"]) == ["notificationIds.1"]


async def test_every_operation_of_the_inbox_leaves_the_messages_of_others_alone(
    ada: Person, database: Database, make_person: MakePerson, site: Site, changes: list[InboxChange]
) -> None:
    message = await make(database, ada, cta=json_text(CTA), **SNOOZED)
    before = (await ada.get(ALL)).json()
    operations = [one for one in OPERATIONS if one.path.startswith(ALL)]
    assert len(operations) == 16
    bodies = {
        "snooze": {"snoozeUntil": later},
        "complete": {"actionType": "primary"},
        "revert": {"actionType": "primary"},
    }
    for stranger in (await make_person("ben"), await make_person("ada", site.production)):
        for one in operations:
            path = one.path.replace("{notificationId}", message.text)
            body = bodies.get(path.rpartition("/")[2], {"notificationIds": [message.text]})
            answer = await stranger.request(one.method, path, json=body, params={"filters": "[{}]"})
            assert answer.status_code == (404 if one.path_kinds else one.statuses[0]), path
            assert message.text not in answer.text.replace(path, "").replace(f"'{message.text}'", "")

    assert (await ada.get(ALL)).json() == before
    assert changes == []


async def test_another_persons_operations_need_a_session(api: Api, ada: Person, database: Database) -> None:
    message = await make(database, ada)
    for one in OPERATIONS:
        if one.path.startswith(ALL):
            path = one.path.replace("{notificationId}", message.text)
            answer = await api.request(one.method, path, json={}, params={"filters": "[{}]"})
            assert answer.status_code == 401, path


async def test_deletes_and_marks_of_servers_are_announced(
    api: Api, ada: Person, database: Database, changes: list[InboxChange], clock: ManualClock
) -> None:
    message = await make(database, ada)
    read = await make(database, ada, **READ)
    mark = "/v1/subscribers/ada/messages"

    async def announced(method: str, path: str, **body: Any) -> bool:
        changes.clear()
        answer = await api.request(method, path, json=body or None)
        assert answer.status_code < 300, answer.text
        return len(changes) == 1

    assert await announced("POST", f"{mark}/mark-as", messageId=message.text, markAs="seen")
    assert not await announced("POST", f"{mark}/mark-as", messageId=message.text, markAs="seen")
    assert not await announced("POST", f"{mark}/mark-as", messageId=read.text, markAs="seen")
    assert await announced("POST", f"{mark}/mark-as", messageId=message.text, markAs="unseen")
    assert await announced("POST", f"{mark}/mark-all", markAs="seen")
    assert not await announced("POST", f"{mark}/mark-all", markAs="seen")
    assert await announced("POST", f"{mark}/mark-as", messageId=message.text, markAs="read")
    assert not await announced("POST", f"{mark}/mark-as", messageId=message.text, markAs="read")
    assert await announced("POST", f"{mark}/mark-all", markAs="unread")
    assert not await announced("POST", f"{mark}/mark-all", markAs="unread")
    assert await announced("POST", f"{mark}/mark-all", markAs="read")
    assert not await announced("DELETE", f"/v1/messages/{read.text}")
    assert await announced("PATCH", f"/v2/subscribers/ada/notifications/{message.text}/unread")
    transaction = message.job.notification.trigger.transaction
    assert await announced("DELETE", f"/v1/messages/transaction/{transaction}")
