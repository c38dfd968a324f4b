"""Runs: lists by status, counts over time, and a live stream."""

from clarion.clock import DAY, Millis, find_moment, iso_text
from clarion.errors import Invalid
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.streams import StreamResponse
from clarion.http.wire import MomentText
from clarion.ids import NotificationId, id_millis, id_text
from clarion.runs import counts
from clarion.runs.counts import choose_span
from clarion.runs.feed import RunFeed
from clarion.runs.filters import read_filter
from clarion.runs.listeners import RunListener
from clarion.runs.store import RunWindow, find_runs, list_run_rows
from clarion.runs.wire import RunCountsOut, RunCountsQuery, RunEventsOut, RunOut, RunPage, RunQuery, RunStreamQuery
from clarion.vocabulary import Scope


@operation(
    "GET",
    "/v1/runs",
    scope=Scope.EVENTS_READ,
    also=(Scope.SUBSCRIBERS_READ,),
    query=RunQuery,
    transaction=Transaction.SCAN,
)
async def list_runs(call: Call, query: RunQuery) -> RunPage:
    """List runs as slim rows, newest first, by status, step type, provider, workflow, person, transaction and time."""
    check_order(query.after, query.before)
    wanted = await read_filter(call.db, call.environment_id, query, call.services.names)
    window = RunWindow(
        after=None if query.after is None else query.after.moment,
        before=None if query.before is None else query.before.moment,
        below=None if query.cursor is None else NotificationId(query.cursor.id),
    )
    page = await find_runs(call.db, wanted, window, limit=query.limit)
    rows = await list_run_rows(call.db, call.environment_id, page.ids)
    return RunPage(
        data=[RunOut.of(rows[one], call.services.names) for one in page.ids if one in rows],
        next=None if page.next is None else id_text(page.next),
        searched_until=None if page.searched is None else iso_text(id_millis(page.searched)),
    )


@operation("GET", "/v1/runs/counts", scope=Scope.EVENTS_READ, query=RunCountsQuery, transaction=Transaction.SCAN)
async def count_runs(call: Call, query: RunCountsQuery) -> RunCountsOut:
    """Count runs by status for each interval of time, by default those of the last day.

    Counts are exact if there are few runs. Of many, samples are extrapolated, and `estimated` is true.
    """
    check_order(query.after, query.before)
    before = call.now if query.before is None else query.before.moment
    after = Millis(before - DAY) if query.after is None else query.after.moment
    span = choose_span(after, before, query.interval)
    wanted = await read_filter(call.db, call.environment_id, query, call.services.names)
    return RunCountsOut.of(await counts.count_runs(call.db, wanted, span))


@operation(
    "GET",
    "/v1/runs/stream",
    scope=Scope.EVENTS_READ,
    also=(Scope.SUBSCRIBERS_READ,),
    query=RunStreamQuery,
    transaction=Transaction.NONE,
)
async def stream_runs(call: DetachedCall, query: RunStreamQuery) -> StreamResponse[RunEventsOut]:
    """Stream runs as server-sent events, when they begin and when their status changes.

    Events: `run` is a row as in the list, which replaces an earlier one with the same `_id`. `sampled` says how many
    runs were left out, because more than 200 a second matched. `missed` says how many runs a client was not sent that
    read too slowly or came back too late. `position` has no data; it comes at the start, after runs, and every 15
    seconds. `end` says why the service ends the stream. The shape of the data of each is named in the response.

    The `id` of an event is a position. A client that comes back with it in the header `Last-Event-ID`, or in `after`,
    is sent what it missed; a run may then come twice.
    """
    wanted = await call.database.read(lambda db: read_filter(db, call.environment_id, query, call.services.names))
    listener = RunListener(query, wanted, after=_read_position(call, query))
    feed = RunFeed(call.database, call.services.clock, call.services.names, call.environment_id)
    caller = call.caller.key_id if call.caller.member is None else call.caller.member.id
    return StreamResponse(listener, call.services.streams.join(call.environment_id, caller, listener, feed.run))


def _read_position(call: DetachedCall, query: RunStreamQuery) -> Millis | None:
    """The header of a client that reconnects is newer than the query that it began with."""
    header = call.request.headers.get(b"last-event-id", b"").decode("latin-1").strip()
    if not header:
        return None if query.after is None else query.after.moment
    moment = find_moment(header)
    if moment is None:
        raise Invalid.field("last-event-id", "must be the id of an event of this stream", header)
    return moment


def check_order(after: MomentText | None, before: MomentText | None) -> None:
    if after is not None and before is not None and after.moment > before.moment:
        raise Invalid.field("after", "must not be later than 'before'", str(after))
