"""A person's data: export and erase."""

from clarion.audit.recording import author_of
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.ids import SubscriberKey
from clarion.integrations.verification import has_stored_response
from clarion.subscribers import store as subscribers
from clarion.subscribers.personal_data.erasure import erase_history, erase_rest, has_long_history
from clarion.subscribers.personal_data.export import ExportOut, ExportPosition, ExportQuery, parse_position, read_page
from clarion.subscribers.wire import DeletedOut
from clarion.vocabulary import Scope

SECTION = "Subscribers"


@operation(
    "GET",
    "/v2/subscribers/{subscriberId}/export",
    scope=Scope.SUBSCRIBERS_READ,
    also=(Scope.TOPICS_READ, Scope.PREFERENCES_READ, Scope.EVENTS_READ, Scope.MESSAGES_READ),
    query=ExportQuery,
    transaction=Transaction.SCAN,
)
async def export_subscriber(call: Call, subscriber_key: SubscriberKey, query: ExportQuery) -> ExportOut:
    """Export everything that is stored of a subscriber, a page at a time."""
    person = await subscribers.get_subscriber(call.db, call.environment_id, subscriber_key)
    position = ExportPosition() if query.after is None else parse_position(query.after)
    return ExportOut.of(await read_page(call.db, person, position, limit=query.limit))


async def _erase_history(call: DetachedCall, subscriber_key: SubscriberKey) -> None:
    """Erase most of what a person with a long history has, so that the last unit of work is a short one."""
    if not await has_long_history(call.database, call.environment_id, subscriber_key):
        return
    if not await has_stored_response(call):
        await erase_history(call.database, call.environment_id, subscriber_key, author_of(call), call.services.clock)


@operation(
    "DELETE",
    "/v2/subscribers/{subscriberId}",
    scope=Scope.SUBSCRIBERS_WRITE,
    precheck=_erase_history,
)
async def delete_subscriber(call: Call, subscriber_key: SubscriberKey) -> DeletedOut:
    """Erase a subscriber and everything of theirs: subscriptions, preferences, messages, runs, triggers."""
    await erase_rest(call.db, call.environment_id, subscriber_key, author_of(call), call.now)
    return DeletedOut(acknowledged=True, status="deleted")
