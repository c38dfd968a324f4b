"""Whose inbox it is: the subscriber of a session that still holds."""

from typing import Protocol, TypeVar

from clarion.db.query import sql
from clarion.errors import Unauthenticated
from clarion.http.caller import SubscriberSession
from clarion.http.operation import Call
from clarion.inbox.sessions.tokens import SCHEME
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import COLUMNS, subscriber_of

_FIND = f"""
    SELECT {COLUMNS}, (SELECT e.session_epoch FROM environments AS e WHERE e.id = t.environment_id) AS session_epoch
    FROM subscribers AS t WHERE t.environment_id = :environment_id AND t.id = :id
"""
FIND_SESSION_SUBSCRIBER = sql(_FIND)
FIND_SESSION_SUBSCRIBER_FOR_UPDATE = sql(f"{_FIND} {{for_update}}")


class ReadInEpoch(Protocol):
    @property
    def session_epoch(self) -> int:
        """Of the environment, when it was read."""


R = TypeVar("R", bound=ReadInEpoch)


async def get_session_subscriber(call: Call, *, for_update: bool = False) -> Subscriber:
    """The person whose session it is; raises Unauthenticated if they were deleted or all sessions were ended."""
    query = FIND_SESSION_SUBSCRIBER_FOR_UPDATE if for_update else FIND_SESSION_SUBSCRIBER
    row = await call.db.fetch_one(query, environment_id=call.environment_id, id=call.session.subscriber_id)
    if row is None or row["session_epoch"] != call.session.epoch:
        raise _session_over()
    return subscriber_of(row)


def require_session(session: SubscriberSession, found: R | None) -> R:
    """Return what was read for a session; raises Unauthenticated as above, None says that the person was deleted."""
    if found is None or found.session_epoch != session.epoch:
        raise _session_over()
    return found


def _session_over() -> Unauthenticated:
    return Unauthenticated("This session is over; begin a new one with POST /v1/inbox/session", scheme=SCHEME)
