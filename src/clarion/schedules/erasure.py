"""Erasing a person from schedules: their key leaves the recipients."""

from typing import Any

from clarion.db.port import Connection
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.schedules import store


async def erase_from_schedules(db: Connection, environment_id: EnvironmentId, key: SubscriberKey) -> None:
    """Take a person out of the schedules that name them, and empty those for them alone, which end."""
    for schedule in await store.lock_schedules_naming(db, environment_id, key):
        left = [_without(one, key) for one in schedule.recipients if one != key]
        if left != schedule.recipients:
            await store.update_recipients(db, schedule, left)


def _without(recipient: Any, key: SubscriberKey) -> Any:
    if isinstance(recipient, str) or key not in recipient.get("exclude", ()):
        return recipient
    exclude = [one for one in recipient["exclude"] if one != key]
    return {name: value for name, value in recipient.items() if name != "exclude"} | (
        {"exclude": exclude} if exclude else {}
    )
