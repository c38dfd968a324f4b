"""Regions of phone numbers without a country code: the subscriber's, and that of each integration."""

from collections.abc import Iterator, Sequence

from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId
from clarion.providers.sms.numbers import complete_number, find_region, has_country_code
from clarion.sending.model import ClaimedSend, OutgoingMessage
from clarion.triggers.model import Recipients, decode_recipients
from clarion.vocabulary import Channel

_BY_PHONE = frozenset({Channel.SMS, Channel.CHAT})
LIST_LOCALES = sql("SELECT id, key, locale FROM subscribers WHERE environment_id = :environment_id AND id {any:ids}")
# Those that keep what their callers say of people.
LIST_KEPT = sql("""
    SELECT id, recipients FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids} AND {position}(recipients, '"keeps_fields"') > 0
""")


async def add_regions(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    """Load the regions of those whose number has no country code; most have one, and nothing is read for them."""
    asking = [(send, one) for send in sends for one in send.messages if is_incomplete(one)]
    if not asking:
        return
    ids = list({message.subscriber_id for _, message in asking})
    people = {row["id"]: row for row in await db.fetch(LIST_LOCALES, environment_id=environment_id, ids=ids)}
    trigger_ids = list({message.trigger_id for _, message in asking})
    rows = await db.fetch(LIST_KEPT, environment_id=environment_id, ids=trigger_ids)
    kept = {row["id"]: decode_recipients(row["recipients"]) for row in rows}
    for send, message in asking:
        person = people.get(message.subscriber_id)
        send.regions[message.id] = "" if person is None else find_region(_locale(person, kept.get(message.trigger_id)))


def _locale(person: Row, recipients: Recipients | None) -> str | None:
    fields = {} if recipients is None else recipients.kept_fields(person["key"])
    locale: str | None = fields.get("locale", person["locale"])
    return locale


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
    return message.channel in _BY_PHONE and bool(message.phone) and not has_country_code(message.phone or "")
