"""Polls receipts from providers that do not push them."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from msgspec import structs

from clarion.clock import Millis
from clarion.db.port import Database
from clarion.ids import id_text
from clarion.integrations.model import Integration
from clarion.monitoring.traces.tracer import Tracer
from clarion.providers.definition.receipts import Receipt
from clarion.providers.definition.result import SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.sending.redaction import make_account_redactor
from clarion.receipts.actions import record_reports
from clarion.receipts.model import DeliveryReport, read_report
from clarion.receipts.store import TICKET_RETENTION, ReceiptTicket, claim_tickets, delete_tickets, find_integration
from clarion.vault import Vault

_CLAIM_BATCH = 1_000
_POLL_BATCH = 100
"""Few enough that their receipts fit into a response even if all of them have errors."""

log = logging.getLogger(__name__)


async def poll_receipts(
    database: Database, gateway: ProviderGateway, vault: Vault, now: Millis, *, tracer: Tracer | None = None
) -> None:
    """Poll all due tickets, and record the receipts that are ready."""
    while True:
        claimed = await database.transaction(partial(claim_tickets, limit=_CLAIM_BATCH, now=now))
        await asyncio.gather(*(_poll(database, gateway, vault, batch, now, tracer) for batch in _batches(claimed)))
        if len(claimed) < _CLAIM_BATCH:
            return


def _batches(claimed: Sequence[ReceiptTicket]) -> Iterator[list[ReceiptTicket]]:
    """Split tickets into batches of one integration each."""
    ordered = sorted(claimed, key=_integration_of)
    for _, group in groupby(ordered, key=_integration_of):
        tickets = list(group)
        for start in range(0, len(tickets), _POLL_BATCH):
            yield tickets[start : start + _POLL_BATCH]


def _integration_of(one: ReceiptTicket) -> tuple[bytes, bytes]:
    return one.environment_id, one.integration_id


async def _poll(
    database: Database,
    gateway: ProviderGateway,
    vault: Vault,
    tickets: Sequence[ReceiptTicket],
    now: Millis,
    tracer: Tracer | None,
) -> None:
    environment_id, integration_id = tickets[0].environment_id, tickets[0].integration_id
    finished = [one.ticket for one in tickets if one.sent_at <= now - TICKET_RETENTION]
    integration = await database.read(lambda db: find_integration(db, environment_id, integration_id, vault))
    if integration is None:
        finished = [one.ticket for one in tickets]
    else:
        receipts = await _fetch_receipts(gateway, integration, tickets)
        reports = [_report(one, receipts[one.ticket], integration, now) for one in tickets if one.ticket in receipts]
        if reports:
            await record_reports(database, integration, reports, now, tracer=tracer)
        finished += receipts
    if finished:
        await database.transaction(lambda db: delete_tickets(db, environment_id, integration_id, finished))


async def _fetch_receipts(
    gateway: ProviderGateway, integration: Integration, tickets: Sequence[ReceiptTicket]
) -> dict[str, Receipt]:
    """Fetch the receipts that are ready, by ticket; none if the provider does not answer."""
    ids = [one.ticket for one in tickets]
    try:
        receipts = await gateway.fetch_receipts(integration.provider_id, integration.credentials, ids)
    except SendFailure as failure:
        fields = {"integration_id": id_text(integration.id), "provider": integration.provider_id}
        log.warning("Receipts not told", extra=fields | {"error": failure.message})
        return {}
    return {one.provider_message_id: one for one in receipts if one.provider_message_id in ids}


def _report(ticket: ReceiptTicket, receipt: Receipt, integration: Integration, now: Millis) -> DeliveryReport:
    """Make a report of a receipt, with the message and the recipient of its ticket."""
    named = structs.replace(receipt, message_id=id_text(ticket.message_id), recipient=ticket.recipient)
    redact = make_account_redactor(integration.channel, integration.credentials, device_tokens=(ticket.recipient,))
    return structs.replace(read_report(named, integration, redact, now), is_partial=ticket.is_partial)
