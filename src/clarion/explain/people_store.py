"""SQL of who is asked about: when a person was erased, and who has nearly the same subscriberId."""

from clarion.audit.model import Action, TargetType
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.nearest import find_nearest

FIND_ERASURE = sql("""
    SELECT created_at FROM audit_entries
    WHERE environment_id = :environment_id AND target_type = :target_type AND target_id = :key AND action = :action
    ORDER BY id DESC LIMIT 1
""")
LIST_KEYS_BEFORE = sql("""
    SELECT id, key FROM subscribers WHERE environment_id = :environment_id AND key < :key ORDER BY key DESC LIMIT :limit
""")
LIST_KEYS_AFTER = sql("""
    SELECT id, key FROM subscribers WHERE environment_id = :environment_id AND key > :key ORDER BY key LIMIT :limit
""")
LIST_SPELLINGS = sql("""
    SELECT id, key FROM subscribers WHERE environment_id = :environment_id AND key {any:keys}
""")

_NEIGHBOURS = 20
_LAST = b"\xff" * 16


async def find_erasure(db: Connection, environment_id: EnvironmentId, key: SubscriberKey) -> Millis | None:
    """When a person with the key was erased last, as long as the audit log tells."""
    target = {"target_type": TargetType.SUBSCRIBER, "action": Action.SUBSCRIBER_ERASE}
    row = await db.fetch_one(FIND_ERASURE, environment_id=environment_id, key=key, **target)
    return None if row is None else Millis(row["created_at"])


async def find_near_key(
    db: Connection, environment_id: EnvironmentId, key: SubscriberKey, *, before: bytes = _LAST
) -> str | None:
    """The key of a person, created before an id, that this one may be a misspelling of.

    Only spellings in other cases and keys that stand beside it in the order of keys are compared. Keys that differ in
    digits alone are no misspellings: they are the next number.
    """
    scope = {"environment_id": environment_id}
    beside = {**scope, "key": key, "limit": _NEIGHBOURS}
    rows = [
        *await db.fetch(LIST_SPELLINGS, **scope, keys=[key.lower(), key.upper(), key.capitalize(), key.strip()]),
        *await db.fetch(LIST_KEYS_BEFORE, **beside),
        *await db.fetch(LIST_KEYS_AFTER, **beside),
    ]
    known = [str(row["key"]) for row in rows if row["key"] != key and bytes(row["id"]) < before]
    return find_nearest(key, [one for one in known if not _is_other_number(one, key)])


def _is_other_number(key: str, other: str) -> bool:
    """Whether two keys differ in their digits alone."""
    return _digits(key) != _digits(other) and _without_digits(key) == _without_digits(other)


def _digits(key: str) -> str:
    return "".join(one for one in key if one.isdigit())


def _without_digits(key: str) -> str:
    return "".join(one for one in key.casefold() if not one.isdigit())
