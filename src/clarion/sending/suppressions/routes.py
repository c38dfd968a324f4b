"""Suppressed addresses: list, add, clear."""

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.errors import Invalid, NotFound
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import MAX_OFFSET, OffsetPage
from clarion.sending.suppressions import store
from clarion.sending.suppressions.model import (
    SUPPRESSED_CHANNELS,
    Suppression,
    SuppressionReason,
    fold_address,
    is_address,
)
from clarion.sending.suppressions.wire import SuppressedChannel, SuppressionIn, SuppressionOut, SuppressionQuery
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
    found, more = await store.list_suppressions(
        call.db, call.environment_id, _filters(query), page=query.page, limit=query.limit
    )
    data = [SuppressionOut.of(one, call.services.names) for one in found]
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
    found = (
        await store.find_suppression(call.db, call.environment_id, Channel(channel), address, for_update=True)
        if is_valid
        else None
    )
    if found is None:
        raise NotFound("Suppression", f"{channel} {address}")
    await store.delete_suppression(call.db, call.environment_id, found.channel, address)
    await record_request(call, Action.SUPPRESSION_DELETE, before=found)


def _filters(query: SuppressionQuery) -> dict[str, str]:
    filters = {"channel": query.channel, "address": query.address, "reason": query.reason}
    return {name: value for name, value in filters.items() if value is not None}
