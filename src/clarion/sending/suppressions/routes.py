"""Suppressed addresses: list, add, clear, one by one or many in one call; export."""

from collections import Counter
from collections.abc import Sequence

from clarion.audit.model import Action, AuditTarget, Change, TargetType
from clarion.audit.recording import author_of, record_change, record_request
from clarion.errors import Invalid, NotFound
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import MAX_OFFSET, OffsetPage
from clarion.sending.suppressions import bulk, store
from clarion.sending.suppressions.model import (
    SUPPRESSED_CHANNELS,
    Suppression,
    SuppressionReason,
    fold_address,
    is_address,
)
from clarion.sending.suppressions.wire import (
    AddressesIn,
    SuppressedChannel,
    SuppressionExportOut,
    SuppressionExportQuery,
    SuppressionIn,
    SuppressionOut,
    SuppressionQuery,
    SuppressionsAddedOut,
    SuppressionsIn,
    SuppressionsRemovedOut,
)
from clarion.vocabulary import Channel, Scope

SECTION = "Suppressions"


@operation("GET", "/v1/suppressions", scope=Scope.MESSAGES_READ, query=SuppressionQuery, transaction=Transaction.SCAN)
async def list_suppressions(call: Call, query: SuppressionQuery) -> OffsetPage[SuppressionOut]:
    """List the addresses that nothing is sent to, newest first; every spelling of an address finds it."""
    if query.page * query.limit > MAX_OFFSET:
        raise Invalid.field(
            "page", f"lies beyond the first {MAX_OFFSET} items; narrow the list by its filters", query.page
        )
    if query.address is not None and query.channel is None:
        raise Invalid.field("channel", "is needed to compare addresses; give it with 'address'")
    suppressions, more = await store.list_suppressions(
        call.db, call.environment_id, _filters(query), page=query.page, limit=query.limit
    )
    data = [SuppressionOut.of(one, call.services.names) for one in suppressions]
    return OffsetPage(has_more=more, data=data, page_size=len(data), page=query.page)


@operation("POST", "/v1/suppressions", scope=Scope.MESSAGES_WRITE, status=201, body=SuppressionIn)
async def create_suppression(call: Call, body: SuppressionIn) -> SuppressionOut:
    """Stop sending to an address; an existing suppression stays as it is, unless it is an unsubscription."""
    if body.channel not in SUPPRESSED_CHANNELS:
        raise Invalid.field("channel", f"must be one of {', '.join(SUPPRESSED_CHANNELS)}", body.channel)
    address = fold_address(body.channel, body.address)
    if not is_address(body.channel, address):
        raise Invalid.field("address", f"is not an address of the channel {body.channel}", body.address)
    made = Suppression(
        environment_id=call.environment_id,
        channel=body.channel,
        address=address,
        reason=SuppressionReason.MANUAL,
        detail=body.detail,
        created_at=call.now,
    )
    before = await store.find_suppression(call.db, call.environment_id, body.channel, address)
    await store.insert_suppressions(call.db, [made])
    stored = await store.find_suppression(call.db, call.environment_id, body.channel, address) or made
    await record_request(call, Action.SUPPRESSION_CREATE, before=before, after=stored)
    return SuppressionOut.of(stored, call.services.names)


@operation("DELETE", "/v1/suppressions/{channel}/{address}", scope=Scope.MESSAGES_WRITE, status=204)
async def delete_suppression(call: Call, channel: SuppressedChannel, address: str) -> None:
    """Send to an address again."""
    is_valid = channel in SUPPRESSED_CHANNELS
    suppression = (
        await store.find_suppression(call.db, call.environment_id, Channel(channel), address, for_update=True)
        if is_valid
        else None
    )
    if suppression is None:
        raise NotFound("Suppression", f"{channel} {address}")
    await store.delete_suppression(call.db, call.environment_id, suppression.channel, address)
    await record_request(call, Action.SUPPRESSION_DELETE, before=suppression)


@operation("POST", "/v1/suppressions/bulk", scope=Scope.MESSAGES_WRITE, body=SuppressionsIn)
async def create_suppressions(call: Call, body: SuppressionsIn) -> SuppressionsAddedOut:
    """Suppress up to 1000 addresses by hand, all of them or, if one is no address, none."""
    given = [((one.channel, one.address), one.detail) for one in body.suppressions]
    bulk.check_addresses([address for address, _ in given])
    added = await bulk.add_suppressions(call.db, call.environment_id, given, call.now)
    await _record(call, Action.SUPPRESSION_CREATE, [one.channel for one in added])
    return SuppressionsAddedOut(added=len(added), existing=len(given) - len(added))


@operation("DELETE", "/v1/suppressions/bulk", scope=Scope.MESSAGES_WRITE, body=AddressesIn)
async def delete_suppressions(call: Call, body: AddressesIn) -> SuppressionsRemovedOut:
    """Send to up to 1000 addresses again."""
    given = [(one.channel, one.address) for one in body.suppressions]
    bulk.check_addresses(given)
    removed = await bulk.remove_suppressions(call.db, call.environment_id, given)
    await _record(call, Action.SUPPRESSION_DELETE, [channel for channel, _ in removed])
    return SuppressionsRemovedOut(removed=len(removed), missing=max(len(given) - len(removed), 0))


@operation(
    "GET",
    "/v1/suppressions/export",
    scope=Scope.MESSAGES_READ,
    query=SuppressionExportQuery,
    transaction=Transaction.SCAN,
)
async def export_suppressions(call: Call, query: SuppressionExportQuery) -> SuppressionExportOut:
    """Export all suppressed addresses, the oldest first, a page at a time."""
    after = bulk.START if query.after is None else bulk.parse_position(query.after)
    wanted = {"channel": query.channel, "reason": query.reason}
    filters = {name: str(value) for name, value in wanted.items() if value is not None}
    suppressions, following = await bulk.list_page(
        call.db, call.environment_id, filters, after=after, limit=query.limit
    )
    return SuppressionExportOut(
        data=[SuppressionOut.of(one, call.services.names) for one in suppressions],
        next=None if following is None else bulk.encode_position(following),
    )


def _filters(query: SuppressionQuery) -> dict[str, str]:
    filters = {"channel": query.channel, "address": query.address, "reason": query.reason}
    return {name: value for name, value in filters.items() if value is not None}


async def _record(call: Call, action: Action, channels: Sequence[Channel]) -> None:
    """Record a change of many suppressions in one entry, which has how many there are of each channel."""
    if not channels:
        return
    counts = dict(Counter(str(channel) for channel in channels))
    is_new = action is Action.SUPPRESSION_CREATE
    change = Change(
        action=action,
        target=AuditTarget(type=TargetType.SUPPRESSION, id="bulk"),
        before=None if is_new else counts,
        after=counts if is_new else None,
    )
    await record_change(call.db, call.environment_id, change, author_of(call), call.now)
