"""Many suppressed addresses in one call: add, clear, export."""

from collections import Counter
from collections.abc import Sequence

from clarion.audit.model import Action, AuditTarget, Change, TargetType
from clarion.audit.recording import author_of, record_change
from clarion.http.operation import Call, Transaction, operation
from clarion.sending.suppressions import bulk
from clarion.sending.suppressions.wire import (
    AddressesIn,
    SuppressionExportOut,
    SuppressionExportQuery,
    SuppressionOut,
    SuppressionsAddedOut,
    SuppressionsIn,
    SuppressionsRemovedOut,
)
from clarion.vocabulary import Channel, Scope

SECTION = "Suppressions"


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
    found, following = await bulk.list_page(call.db, call.environment_id, filters, after=after, limit=query.limit)
    return SuppressionExportOut(
        data=[SuppressionOut.of(one, call.services.names) for one in found],
        next=None if following is None else bulk.encode_position(following),
    )


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
