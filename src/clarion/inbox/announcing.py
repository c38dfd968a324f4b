"""Telling open inboxes that they have changed, after the change is durable."""

from collections.abc import Iterable

from clarion.bus import InboxChange
from clarion.http.operation import Call
from clarion.ids import SubscriberId


def announce_changes(call: Call, subscriber_ids: Iterable[SubscriberId]) -> None:
    """Announce that the counts of people may be different, if anybody is connected."""
    bus, environment_id = call.services.bus, call.environment_id
    if not bus.is_watched(environment_id):
        return
    changes = [InboxChange(environment_id=environment_id, subscriber_id=one) for one in dict.fromkeys(subscriber_ids)]
    if changes:
        call.after_commit.append(lambda: bus.publish_inbox_changes(changes))
