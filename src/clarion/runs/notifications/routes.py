"""Triggered events: the runs of every trigger, for each subscriber."""

from msgspec.structs import replace

from clarion.environments.options import DataKind
from clarion.http.operation import Call, Transaction, operation
from clarion.ids import NotificationId
from clarion.retention.periods import find_horizon
from clarion.runs.notifications import store
from clarion.runs.notifications.model import NotificationDetails
from clarion.runs.notifications.store import filter_events
from clarion.runs.notifications.wire import EventOut, EventPage, EventQuery
from clarion.subscribers.model import shown_to
from clarion.vocabulary import Scope

SECTION = "Notifications"


@operation("GET", "/v1/notifications", scope=Scope.EVENTS_READ, query=EventQuery, transaction=Transaction.SCAN)
async def list_events(call: Call, query: EventQuery) -> EventPage:
    """List triggered events with their jobs and execution details, newest first.

    Without `after`, they are those since the retention horizon: so many days ago as the environment keeps runs.
    """
    horizon = await find_horizon(call.db, call.environment_id, DataKind.RUNS, call.services.settings, call.now)
    listing = await filter_events(call.db, call.environment_id, query, horizon)
    notifications, more = await store.list_notifications(call.db, listing, page=query.page, limit=query.limit)
    events = await store.list_events(call.db, call.environment_id, notifications)
    data = [_show(call, one) for one in events]
    return EventPage(has_more=more, data=data, page_size=len(data), page=query.page)


# Marked as a scan to get one snapshot: the parts of an event are read by several queries.
@operation("GET", "/v1/notifications/{notificationId}", scope=Scope.EVENTS_READ, transaction=Transaction.SCAN)
async def get_event(call: Call, notification_id: NotificationId) -> EventOut:
    """Retrieve a triggered event with its jobs and execution details."""
    notification = await store.get_notification(call.db, call.environment_id, notification_id)
    (event,) = await store.list_events(call.db, call.environment_id, [notification])
    return _show(call, event)


def _show(call: Call, event: NotificationDetails) -> EventOut:
    shown = replace(event, subscriber=shown_to(call.caller, event.subscriber))
    return EventOut.of(shown, call.organization_id, call.services.names)
