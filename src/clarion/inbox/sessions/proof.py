"""Whether a hash proves a context."""

from collections.abc import Sequence
from typing import Any

from clarion.db.port import Connection
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.inbox.sessions.hashes import is_hash_of, list_context_forms, list_context_texts
from clarion.subscribers.store import list_subscribers_by_key


async def is_context_proven(
    db: Connection, environment_id: EnvironmentId, context: dict[str, Any], given: str | None, keys: Sequence[str]
) -> bool:
    """Whether the hash is that of the context, and not that of a subscriber whose id is the same text."""
    if is_hash_of(given, list_context_forms(context), keys):
        return True
    texts = list_context_texts(context)
    if not is_hash_of(given, texts, keys):
        return False
    return not await list_subscribers_by_key(db, environment_id, [SubscriberKey(one.decode()) for one in texts])
