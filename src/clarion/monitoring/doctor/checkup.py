"""All checks of an installation, in the order in which problems explain each other."""

from collections.abc import Mapping

from clarion.clock import Clock, SystemClock
from clarion.db.migrations.revisions import list_known_revisions
from clarion.db.open import list_missing_migrations, open_store
from clarion.db.port import Database, Dialect
from clarion.environments.store import list_environments
from clarion.errors import StoreError, StoreNewer, StoreOutdated
from clarion.monitoring.doctor.consistency import check_orphans
from clarion.monitoring.doctor.links import check_public_url
from clarion.monitoring.doctor.model import CheckStatus, Finding, fine, problem
from clarion.monitoring.doctor.network import check_mail, check_network
from clarion.monitoring.doctor.processes import check_processes, check_queues, count_alive_workers
from clarion.monitoring.doctor.store import check_machine, check_store
from clarion.providers.transport.egress import EgressGuard
from clarion.settings.model import Settings
from clarion.vault import open_configured_vault

_MAX_ENVIRONMENTS = 200


async def check_installation(
    settings: Settings, environ: Mapping[str, str], *, full: bool = False, network: bool = False
) -> list[Finding]:
    """Check everything; what needs the store only if that can be opened and has the schema of this version.

    The cost does not grow with the store, unless `full` is given.
    """
    findings = [*check_machine(settings, environ), await _check_migrations(settings)]
    if findings[-1].status is CheckStatus.PROBLEM:
        return findings
    database = await open_store(settings)
    try:
        return findings + await _check_contents(database, settings, SystemClock(), full=full, network=network)
    except StoreError as error:
        return [*findings, problem("store", str(error), "Look at the log of the database, and run the command again.")]
    finally:
        await database.close()


async def _check_migrations(settings: Settings) -> Finding:
    try:
        missing = await list_missing_migrations(settings)
    except (StoreNewer, StoreOutdated) as error:
        return problem("migrations", str(error), "Install the version of Clarion that migrated the store.")
    except StoreError as error:
        return problem("store", str(error), "Correct CLARION_DATABASE_URL or CLARION_DATA_DIR, or start the database.")
    if missing == list_known_revisions():
        return problem("migrations", "There is no store yet.", "`clarion serve` or `clarion migrate` makes one.")
    if missing:
        return problem("migrations", f"The store lacks {', '.join(missing)}.", "Run `clarion migrate`.")
    return fine("migrations", "The store can be reached, and has the schema of this version.")


async def _check_contents(
    database: Database, settings: Settings, clock: Clock, *, full: bool, network: bool
) -> list[Finding]:
    findings = await check_store(database, settings, full=full)
    keys_fit = all(one.status is not CheckStatus.PROBLEM for one in findings if one.check == "keys")
    findings += await check_processes(database, clock)
    environments = (await database.read(list_environments))[: None if full else _MAX_ENVIRONMENTS]
    worker_count = None if database.dialect is Dialect.SQLITE else await count_alive_workers(database, clock)
    now = clock.now()
    findings += await database.scan(lambda db: check_queues(db, environments, now=now, worker_count=worker_count))
    findings += await database.scan(lambda db: check_orphans(db, environments, full=full))
    findings.append(await database.scan(lambda db: check_public_url(db, settings, environments)))
    if network:
        findings += await check_mail(settings)
    if network and keys_fit:
        vault = open_configured_vault(settings)
        findings += await check_network(database, environments, vault, EgressGuard(settings.egress_allow))
    return findings
