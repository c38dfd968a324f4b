"""Whose inbox it is: the subscriber of a session that still holds."""

from clarion.db.port import Row
from clarion.db.query import sql
from clarion.errors import Unauthenticated
from clarion.http.caller import SubscriberSession
from clarion.http.operation import Call
from clarion.inbox.tokens import SCHEME
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import COLUMNS, subscriber_of

_FIND = f"""
    SELECT {COLUMNS}, (SELECT e.session_epoch FROM environments AS e WHERE e.id = t.environment_id) AS session_epoch
    FROM subscribers AS t WHERE t.environment_id = :environment_id AND t.id = :id
"""
FIND_SESSION_SUBSCRIBER = sql(_FIND)
FIND_SESSION_SUBSCRIBER_FOR_UPDATE = sql(f"{_FIND} {{for_update}}")

_OVER = "This session is over; begin a new one with POST /v1/inbox/session"


async def get_session_subscriber(call: Call, *, for_update: bool = False) -> Subscriber:
    """The person whose session it is; raises Unauthenticated if they were deleted or all sessions were ended."""
    query = FIND_SESSION_SUBSCRIBER_FOR_UPDATE if for_update else FIND_SESSION_SUBSCRIBER
    row = await call.db.fetch_one(query, environment_id=call.environment_id, id=call.session.subscriber_id)
    found: Row = row or {}
    check_session(call.session, found.get("session_epoch"))
    return subscriber_of(found)


def check_session(session: SubscriberSession, epoch: int | None) -> None:
    """Raise Unauthenticated unless it is the present epoch of the environment; None: the person does not exist."""
    if epoch != session.epoch:
        raise Unauthenticated(_OVER, scheme=SCHEME)
