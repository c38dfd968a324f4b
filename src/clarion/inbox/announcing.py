"""Telling open inboxes that they have changed, after the change is durable."""

from collections.abc import Iterable
from typing import NamedTuple

from clarion.bus import Bus, InboxChange
from clarion.http.operation import Call
from clarion.ids import EnvironmentId, MessageId, SubscriberId


class Arrival(NamedTuple):
    """A message that has just arrived in an inbox."""

    environment_id: EnvironmentId
    subscriber_id: SubscriberId
    message_id: MessageId


def announce_changes(call: Call, subscriber_ids: Iterable[SubscriberId]) -> None:
    """Announce that the counts of people may be different, if anybody is connected."""
    bus, environment_id = call.services.bus, call.environment_id
    if not bus.is_watched(environment_id):
        return
    changes = [InboxChange(environment_id=environment_id, subscriber_id=one) for one in dict.fromkeys(subscriber_ids)]
    if changes:
        call.after_commit.append(lambda: bus.publish_inbox_changes(changes))


def publish_arrivals(bus: Bus, arrivals: Iterable[Arrival]) -> None:
    """Announce messages that are durable, one change for each person of an environment that is watched."""
    arrived: dict[tuple[EnvironmentId, SubscriberId], list[MessageId]] = {}
    for one in arrivals:
        arrived.setdefault((one.environment_id, one.subscriber_id), []).append(one.message_id)
    changes = [
        InboxChange(environment_id=environment_id, subscriber_id=subscriber_id, arrived=tuple(ids))
        for (environment_id, subscriber_id), ids in arrived.items()
        if bus.is_watched(environment_id)
    ]
    if changes:
        bus.publish_inbox_changes(changes)
