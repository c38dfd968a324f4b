"""Whether links in messages lead anywhere: who needs the public address, if it is not set."""

from collections.abc import Iterator

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.environments.model import Environment
from clarion.monitoring.doctor.model import Finding, fine, warning
from clarion.providers.builtin import BUILTIN
from clarion.settings.model import Settings, variable
from clarion.subscribers.addresses.oauth.vendors import VENDORS
from clarion.subscribers.addresses.telegram.model import TELEGRAM
from clarion.vocabulary import Channel

LIST_PROVIDERS = sql("""
    SELECT DISTINCT channel, provider_id FROM integrations
    WHERE environment_id = :environment_id AND active AND deleted_at IS NULL
""")
HAS_TRACKED_WORKFLOW = sql("""
    SELECT 1 AS one FROM workflows
    WHERE environment_id = :environment_id AND deleted_at IS NULL AND tracking LIKE '%true%' LIMIT 1
""")
_BY_PROVIDER = {provider_id: f"connecting {vendor.name}" for provider_id, vendor in VENDORS.items()} | {
    TELEGRAM: "connecting Telegram"
}


async def check_public_url(db: Connection, settings: Settings, environments: list[Environment]) -> Finding:
    """Find what cannot work, because nobody outside knows the address of this service."""
    name = variable("public_url")
    if settings.public_url is not None:
        return fine("links", f"Links in messages lead to {settings.public_url}.")
    needs: set[str] = set()
    for environment in environments:
        needs.update(await _list_needs(db, environment))
    if not needs:
        return fine("links", f"{name} is not set, and nothing needs it.")
    return warning(
        "links",
        f"{name} is not set, and needed for: {', '.join(sorted(needs))}.",
        f"Set {name} to the address at which the service is reached from outside, with https.",
    )


async def _list_needs(db: Connection, environment: Environment) -> list[str]:
    rows = await db.fetch(LIST_PROVIDERS, environment_id=environment.id)
    providers = {row["provider_id"] for row in rows if row["provider_id"] not in BUILTIN}
    sends_mail = any(row["channel"] == Channel.EMAIL and row["provider_id"] in providers for row in rows)
    tracking = environment.mail.tracking
    is_tracked = tracking.opens or tracking.clicks
    tracked = None if is_tracked else await db.fetch_one(HAS_TRACKED_WORKFLOW, environment_id=environment.id)
    needs = ["the address to which providers hand over replies"] if environment.mail.replies.domain else []
    return needs + list(_name_needs(providers, sends_mail=sends_mail, is_tracked=is_tracked or tracked is not None))


def _name_needs(providers: set[str], *, sends_mail: bool, is_tracked: bool) -> Iterator[str]:
    if sends_mail:
        yield "links to unsubscribe in e-mails"
    if is_tracked:
        yield "tracking of opens and clicks"
    yield from (need for provider_id, need in _BY_PROVIDER.items() if provider_id in providers)
