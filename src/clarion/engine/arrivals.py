"""Messages that have just arrived in inboxes, announced to the people who are connected."""

from collections.abc import Iterable
from typing import NamedTuple

from clarion.bus import Bus, InboxChange
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, MessageId, SubscriberId
from clarion.vocabulary import Channel


class Arrival(NamedTuple):
    environment_id: EnvironmentId
    subscriber_id: SubscriberId
    message_id: MessageId


def list_arrivals(environment_id: EnvironmentId, runs: Iterable[Run]) -> list[Arrival]:
    """Return the in-app messages of runs, in the order in which they were made."""
    return [
        Arrival(environment_id, run.subscriber.id, message.id)
        for run in runs
        for message in run.messages
        if message.channel is Channel.IN_APP
    ]


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
