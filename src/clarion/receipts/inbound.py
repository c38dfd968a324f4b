"""Text messages that people send: STOP switches the channel off for whoever has the number, START on again."""

import logging
from collections.abc import Sequence
from functools import partial

from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberKey, id_text
from clarion.integrations.model import Integration
from clarion.preferences.actions import switch_channels_everywhere
from clarion.preferences.model import GLOBAL, ChangeReason, PreferenceScope
from clarion.preferences.store import delete_in_all_contexts, list_preferences
from clarion.preferences.unsubscribe.keywords import read_keyword
from clarion.providers.definition.receipts import InboundText
from clarion.sending.suppressions.model import Suppression, SuppressionReason, fold_address, is_address
from clarion.sending.suppressions.store import delete_unsubscription, insert_suppressions
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import get_subscriber
from clarion.vocabulary import Channel

MAX_PEOPLE = 100
"""Of those who share a number."""

# By the forms in which providers and people write a number; those with spaces are found by the suppression.
LIST_KEYS = sql("""
    SELECT key FROM subscribers WHERE environment_id = :environment_id AND phone {any:phones} ORDER BY id LIMIT :limit
""")

log = logging.getLogger(__name__)


async def record_texts(database: Database, integration: Integration, texts: Sequence[InboundText], now: Millis) -> None:
    """Do what people ask for with a keyword; anything else that they write is not for us."""
    for text in texts:
        wish = read_keyword(text.text) if text.wish is None else text.wish
        digits = fold_address(Channel.SMS, text.sender)
        if wish is None or not is_address(Channel.SMS, digits):
            continue
        work = partial(_obey, integration=integration, digits=digits, is_wanted=wish, now=now)
        people = await database.transaction(work)
        fields = {"environment_id": id_text(integration.environment_id), "integration_id": id_text(integration.id)}
        log.info("Keyword received", extra=fields | {"people": people, "is_wanted": wish})


async def _obey(db: Connection, integration: Integration, digits: str, *, is_wanted: bool, now: Millis) -> int:
    """Switch the channel of everybody who has the number; returns how many they are.

    The number itself is suppressed, too: for people who write it in another way, or get it later.
    """
    environment_id = integration.environment_id
    people = await _lock_people(db, environment_id, digits)
    for person in people:
        await _switch(db, person, is_wanted=is_wanted, now=now)
    if is_wanted:
        await delete_unsubscription(db, environment_id, Channel.SMS, digits)
    else:
        await insert_suppressions(db, [_suppress(integration, digits, now)])
    return len(people)


async def _lock_people(db: Connection, environment_id: EnvironmentId, digits: str) -> list[Subscriber]:
    phones = [f"+{digits}", digits, f"00{digits}"]
    rows = await db.fetch(LIST_KEYS, environment_id=environment_id, phones=phones, limit=MAX_PEOPLE)
    keys = [SubscriberKey(row["key"]) for row in rows]
    return [await get_subscriber(db, environment_id, key, for_update=True) for key in keys]


async def _switch(db: Connection, person: Subscriber, *, is_wanted: bool, now: Millis) -> None:
    """Switch SMS for all workflows, unless that is so already: providers repeat what they report."""
    scope = PreferenceScope(person)
    own = await list_preferences(db, scope)
    switches = {
        workflow_id: layer.channels[Channel.SMS].enabled
        for (_, _, workflow_id), layer in own.items()
        if Channel.SMS in layer.channels
    }
    is_off = switches.get(GLOBAL) is False
    if not is_wanted:
        await delete_in_all_contexts(db, person, Channel.SMS)
    if is_wanted is is_off or (not is_wanted and any(switches.values())):
        reason = ChangeReason.SMS_KEYWORD
        await switch_channels_everywhere(db, scope, {Channel.SMS: is_wanted}, now, reason=reason)


def _suppress(integration: Integration, digits: str, now: Millis) -> Suppression:
    return Suppression(
        environment_id=integration.environment_id,
        channel=Channel.SMS,
        address=digits,
        reason=SuppressionReason.UNSUBSCRIBED,
        provider_id=integration.provider_id,
        detail="sent a word such as STOP",
        created_at=now,
    )
