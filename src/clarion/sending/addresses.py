"""Addresses of recipients: those that are suppressed, and regions of phone numbers without a country code.

A message whose own address is suppressed is not sent, and suppressed copies are left out. Someone who unsubscribed
still gets the e-mails of critical workflows, such as password resets. All other reasons, and all reasons of SMS, where
carriers enforce them, stop everything.
"""

from collections.abc import Iterator, Mapping, Sequence

from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.engine.load import load_runs
from clarion.ids import EnvironmentId, NotificationId
from clarion.providers.email.addresses import bare_address, split_addresses
from clarion.providers.sms.numbers import complete_number, find_region, has_country_code
from clarion.sending.model import ClaimedSend, OutgoingMessage
from clarion.sending.suppressions.model import SuppressionReason
from clarion.sending.suppressions.store import list_suppressed
from clarion.triggers.model import Recipients, decode_recipients
from clarion.vocabulary import Channel

_BY_PHONE = frozenset({Channel.SMS, Channel.CHAT})
LIST_LOCALES = sql("SELECT id, key, locale FROM subscribers WHERE environment_id = :environment_id AND id {any:ids}")
# Those that keep what their callers say of people.
LIST_KEPT = sql("""
    SELECT id, recipients FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids} AND {position}(recipients, '"keeps_fields"') > 0
""")


_COPIES = ("to", "cc", "bcc")
_PASSTHROUGH = "_passthrough"

Reasons = dict[str, str]
"""Why addresses are suppressed, by the address as it is written, without a name."""


async def add_suppressed(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    """Find the recipients of the sends that are suppressed, and why."""
    recipients = [
        (send, message, list(_recipients(send, message)))
        for send in sends
        for message in send.messages
        if message.address
    ]
    wanted = {(message.channel, address) for _, message, addresses in recipients for address in addresses}
    suppressed = await list_suppressed(db, environment_id, wanted)
    if not suppressed:
        return
    affected = []
    for send, message, addresses in recipients:
        channel = message.channel
        reasons = {address: suppressed[channel, address] for address in addresses if (channel, address) in suppressed}
        if reasons:
            affected.append((send, message, reasons))
    may_pass = [send for send, message, reasons in affected if _may_pass(message, reasons)]
    critical = await _list_critical(db, environment_id, may_pass)
    for send, message, reasons in affected:
        if send.notification_id in critical and message.channel is Channel.EMAIL:
            unsubscribed = [address for address, reason in reasons.items() if _is_unsubscribed(reason)]
            send.passed_unsubscribed[message.id] = unsubscribed
            for address in unsubscribed:
                del reasons[address]
        _apply(send, message, reasons)


def _apply(send: ClaimedSend, message: OutgoingMessage, reasons: Reasons) -> None:
    passed_on = sorted(reasons.keys() & set(_passthrough_addresses(send.overrides)))
    own = bare_address(message.address or "")
    if own in reasons:
        send.suppressed[message.id] = reasons[own]
    elif reasons and message.channel is Channel.SMS:
        # An SMS has no copies: the number goes instead of the message's own.
        send.suppressed[message.id] = next(iter(reasons.values()))
    elif passed_on:
        # They stand somewhere in a request of the provider's own shape, where nothing can be left out.
        send.suppressed[message.id] = f"{reasons[passed_on[0]]}: {passed_on[0]} in _passthrough"
    elif reasons:
        send.suppressed_copies[message.id] = reasons


def leave_out(overrides: Mapping[str, object], reasons: Reasons) -> tuple[dict[str, object], dict[str, list[str]]]:
    """Return the overrides without suppressed copies, and the copies that are left out, by the name of the override."""
    kept, left_out = dict(overrides), dict[str, list[str]]()
    for name in _COPIES:
        addresses = split_addresses(overrides.get(name)) or []
        dropped = [one.strip() for one in addresses if isinstance(one, str) and bare_address(one) in reasons]
        if dropped:
            left_out[name] = dropped
            kept[name] = [one for one in addresses if not isinstance(one, str) or bare_address(one) not in reasons]
    return kept, left_out


def _recipients(send: ClaimedSend, message: OutgoingMessage) -> Iterator[str]:
    """Yield the message's own address and all that may get a copy, whichever integration sends it."""
    if message.address:
        yield bare_address(message.address)
    if message.channel is Channel.SMS:
        yield from list_completed(send, message)
        yield from _copies(send.overrides)
    if message.channel is Channel.EMAIL and (message.email_options or send.overrides):
        yield from _copies(message.email_options)
        yield from _copies(send.overrides)
        yield from _passthrough_addresses(send.overrides)


def _copies(value: object) -> Iterator[str]:
    """Yield the addresses of copies at any depth; overrides can be for the channel, a provider, or one of a step."""
    if not isinstance(value, dict):
        return
    for name, item in value.items():
        if name in _COPIES:
            yield from (bare_address(one) for one in split_addresses(item) or () if isinstance(one, str))
        elif name != _PASSTHROUGH:
            yield from _copies(item)


def _passthrough_addresses(value: object, *, is_within: bool = False) -> Iterator[str]:
    """Yield all addresses in what overrides pass through to a provider, wherever they stand."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _passthrough_addresses(item, is_within=is_within or name == _PASSTHROUGH)
    elif isinstance(value, list):
        for item in value:
            yield from _passthrough_addresses(item, is_within=is_within)
    elif is_within and isinstance(value, str) and "@" in value:
        yield from map(bare_address, split_addresses(value) or ())


def _may_pass(message: OutgoingMessage, reasons: Reasons) -> bool:
    return message.channel is Channel.EMAIL and any(map(_is_unsubscribed, reasons.values()))


def _is_unsubscribed(reason: str) -> bool:
    return reason == SuppressionReason.UNSUBSCRIBED


async def _list_critical(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]
) -> set[NotificationId]:
    """Return the runs of critical workflows; loaded only for sends that the answer matters to."""
    runs = {send.notification_id: send.run for send in sends}
    loaded = await load_runs(db, environment_id, [one for one, run in runs.items() if run is None])
    known = [*(run for run in runs.values() if run is not None), *loaded]
    return {run.id for run in known if run.workflow.is_critical}


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
