"""Regions of phone numbers without a country code: the subscriber's, and that of each integration."""

from collections.abc import Iterator, Sequence

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.sending.model import ClaimedSend, OutgoingMessage
from clarion.ids import EnvironmentId
from clarion.providers.sms.numbers import complete_number, find_region, has_country_code
from clarion.vocabulary import Channel

LIST_LOCALES = sql("SELECT id, locale FROM subscribers WHERE environment_id = :environment_id AND id {any:ids}")


async def add_regions(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    """Load the regions of those whose number has no country code; most have one, and nothing is read for them."""
    asking = [(send, one) for send in sends for one in send.messages if is_incomplete(one)]
    if not asking:
        return
    ids = list({message.subscriber_id for _, message in asking})
    rows = await db.fetch(LIST_LOCALES, environment_id=environment_id, ids=ids)
    regions = {row["id"]: find_region(row["locale"]) for row in rows}
    for send, message in asking:
        send.regions[message.id] = regions.get(message.subscriber_id, "")


def list_completed(send: ClaimedSend, message: OutgoingMessage) -> Iterator[str]:
    """Yield the numbers that an incomplete one may stand for, whichever integration sends the message."""
    if not is_incomplete(message):
        return
    accounts = (one.credentials.get("defaultRegion") for one in send.integrations if one.channel is Channel.SMS)
    for region in {send.regions.get(message.id), *accounts}:
        number = complete_number(message.phone or "", str(region)) if region else None
        if number:
            yield number


def is_incomplete(message: OutgoingMessage) -> bool:
    return message.channel is Channel.SMS and bool(message.phone) and not has_country_code(message.phone or "")
