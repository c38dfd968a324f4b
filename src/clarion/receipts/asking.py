"""Asking providers for receipts that they do not report."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from msgspec import structs

from clarion.clock import Millis
from clarion.db.port import Database
from clarion.ids import id_text
from clarion.integrations.model import Integration
from clarion.providers.definition.receipts import Receipt
from clarion.providers.definition.result import SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.sending.redaction import make_account_redactor
from clarion.receipts.actions import record_reports
from clarion.receipts.awaited import RETENTION, Awaited, claim_awaited, delete_awaited
from clarion.receipts.model import Report, read_report
from clarion.receipts.store import find_integration
from clarion.vault import Vault

_CLAIMED_TOGETHER = 1_000
_ASKED_TOGETHER = 100
"""So few that their receipts fit into an answer, whatever is the matter with all of them."""

log = logging.getLogger(__name__)


async def ask_for_receipts(database: Database, gateway: ProviderGateway, vault: Vault, now: Millis) -> None:
    """Ask for all receipts that it is time for, and write down those that are there."""
    while True:
        claimed = await database.transaction(partial(claim_awaited, limit=_CLAIMED_TOGETHER, now=now))
        await asyncio.gather(*(_ask(database, gateway, vault, some, now) for some in _portions(claimed)))
        if len(claimed) < _CLAIMED_TOGETHER:
            return


def _portions(claimed: Sequence[Awaited]) -> Iterator[list[Awaited]]:
    """As they are asked for: each of one integration, and not too many."""
    ordered = sorted(claimed, key=_sender)
    for _, group in groupby(ordered, key=_sender):
        of_sender = list(group)
        for start in range(0, len(of_sender), _ASKED_TOGETHER):
            yield of_sender[start : start + _ASKED_TOGETHER]


def _sender(one: Awaited) -> tuple[bytes, bytes]:
    return one.environment_id, one.integration_id


async def _ask(
    database: Database, gateway: ProviderGateway, vault: Vault, awaited: Sequence[Awaited], now: Millis
) -> None:
    environment_id, integration_id = awaited[0].environment_id, awaited[0].integration_id
    over = [one.ticket for one in awaited if one.sent_at <= now - RETENTION]

    integration = await database.read(lambda db: find_integration(db, environment_id, integration_id, vault))
    if integration is None:
        over = [one.ticket for one in awaited]
    else:
        answered = await _answers(gateway, integration, awaited)
        reports = [_report(one, answered[one.ticket], integration, now) for one in awaited if one.ticket in answered]
        if reports:
            await record_reports(database, integration, reports, now)
        over += answered
    if over:
        await database.transaction(lambda db: delete_awaited(db, environment_id, integration_id, over))


async def _answers(
    gateway: ProviderGateway, integration: Integration, awaited: Sequence[Awaited]
) -> dict[str, Receipt]:
    """The receipts that are there by now, by ticket; none where the provider does not answer."""
    tickets = [one.ticket for one in awaited]
    try:
        receipts = await gateway.fetch_receipts(integration.provider_id, integration.credentials, tickets)
    except SendFailure as failure:
        fields = {"integration_id": id_text(integration.id), "provider": integration.provider_id}
        log.warning("Receipts not told", extra=fields | {"error": failure.message})
        return {}
    return {one.provider_message_id: one for one in receipts if one.provider_message_id in tickets}


def _report(one: Awaited, receipt: Receipt, integration: Integration, now: Millis) -> Report:
    """The receipt as that of the message and the recipient that the ticket was given for."""
    named = structs.replace(receipt, message_id=id_text(one.message_id), recipient=one.recipient)
    redact = make_account_redactor(integration.channel, integration.credentials, device_tokens=(one.recipient,))
    return replace(read_report(named, integration, redact, now), is_partial=one.is_partial)
