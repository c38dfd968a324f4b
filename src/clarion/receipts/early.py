"""Reports that come before the send is recorded: kept for a minute, and looked at again until their message is there.

Where a report names the provider's id alone, nothing tells one that is early from one of a message that somebody else
sent through the same account. Both are kept, and those that are nobody's go.
"""

import logging
from functools import partial
from typing import NamedTuple

from clarion.clock import MINUTE, Millis
from clarion.db.port import Connection, Database
from clarion.ids import EnvironmentId, IntegrationId, id_text
from clarion.integrations.model import Integration
from clarion.receipts import store
from clarion.receipts.actions import record_batch
from clarion.vault import Vault

RETENTION = Millis(MINUTE)
"""For how long a report waits: longer than a provider may take to answer, and its answer to be written down."""
TRIED_TOGETHER = 500

log = logging.getLogger(__name__)


Ids = tuple[EnvironmentId, IntegrationId]


class Tried(NamedTuple):
    """What became of some reports."""

    recorded: int
    last: bytes | None
    """The digest that the next ones come after; None when there are none."""


async def record_early_reports(database: Database, vault: Vault, now: Millis, *, limit: int = TRIED_TOGETHER) -> None:
    """Write down reports whose messages are there by now, and forget those that waited long enough."""
    # Also one that nobody can write down, for whatever reason, goes in the end.
    await database.transaction(partial(store.delete_old_early_reports, before=Millis(now - 2 * RETENTION)))
    for ids in await database.read(store.list_early_integrations):
        integration = await database.read(partial(_find_integration, ids=ids, vault=vault))
        recorded, last = 0, b""
        while True:
            work = partial(_try_again, ids=ids, integration=integration, after=last, limit=limit, now=now)
            tried = await database.transaction(work)
            recorded += tried.recorded
            if tried.last is None:
                break
            last = tried.last
        if recorded:
            fields = {"environment_id": id_text(ids[0]), "integration_id": id_text(ids[1]), "recorded": recorded}
            log.info("Early receipts", extra=fields)


async def _find_integration(db: Connection, *, ids: Ids, vault: Vault) -> Integration | None:
    return await store.find_integration(db, *ids, vault)


async def _try_again(
    db: Connection, *, ids: Ids, integration: Integration | None, after: bytes, limit: int, now: Millis
) -> Tried:
    found = await store.lock_early_reports(db, *ids, after=after, limit=limit)
    reports = [report for report, _ in found]
    recorded, strange = await record_batch(db, integration, reports, now) if integration and reports else (0, [])
    waiting = {one.digest for one in strange}
    over = [one.digest for one, at in found if one.digest not in waiting or at <= now - RETENTION]
    if over:
        await store.delete_early_reports(db, *ids, over)
    return Tried(recorded, reports[-1].digest if len(found) == limit else None)
