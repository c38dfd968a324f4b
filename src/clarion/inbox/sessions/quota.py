"""How much people may store by themselves: little without proof of who they are, more with it.

Everything that a session stores belongs to one person, and is counted here. Without proof, the number of people whom
sessions create is limited too, so that whoever knows the public identifier of an environment cannot fill the store.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from msgspec import Struct

from clarion.db.port import Connection
from clarion.errors import Invalid
from clarion.http.operation import Call
from clarion.ids import EnvironmentId
from clarion.jsontext import json_text
from clarion.subscribers.store import count_unproven
from clarion.topics.subscriptions import measure_subscriptions

_KIB = 1024


class StorageQuota(Struct, frozen=True, kw_only=True):
    """How much one person may store; bytes are those of JSON."""

    field_bytes: int
    """Of name, address, data and so on."""
    schedule_bytes: int
    subscriptions: int
    """To all topics together."""
    subscription_bytes: int
    """Of the names, identifiers and rules of these."""


PROVEN: Final = StorageQuota(
    field_bytes=64 * _KIB, schedule_bytes=8 * _KIB, subscriptions=1_000, subscription_bytes=256 * _KIB
)
UNPROVEN: Final = StorageQuota(
    field_bytes=2 * _KIB, schedule_bytes=2 * _KIB, subscriptions=100, subscription_bytes=8 * _KIB
)

_WITH_PROOF = "the inbox stores more of those who prove who they are (`subscriberHash`)"


def quota_of(*, is_proven: bool) -> StorageQuota:
    return PROVEN if is_proven else UNPROVEN


def check_fields(fields: Mapping[str, Any], *, is_proven: bool) -> None:
    """Raise Invalid if the fields of a subscriber are too large to be stored."""
    _check_bytes("subscriber", dict(fields), quota_of(is_proven=is_proven).field_bytes)


def check_schedule(schedule: dict[str, Any], path: str, *, is_proven: bool) -> None:
    """Raise Invalid if a schedule is too large to be stored."""
    _check_bytes(path, schedule, quota_of(is_proven=is_proven).schedule_bytes)


async def check_new_person(db: Connection, environment_id: EnvironmentId, *, limit: int) -> None:
    """Raise Invalid if sessions without proof have created as many people as they may."""
    if await count_unproven(db, environment_id, limit=limit) >= limit:
        raise Invalid.field(
            "subscriber.subscriberId",
            f"would be more than {limit} subscribers that inboxes without `subscriberHash` created; create the "
            "subscriber with the API, or require the hash (`hmac`)",
        )


@asynccontextmanager
async def limited_subscriptions(call: Call, path: str) -> AsyncIterator[None]:
    """Raise Invalid for `path` if what happens inside makes the person's subscriptions too many or too large.

    The caller locks the person's row inside. A person who is above the quota already may only reduce it.
    """
    scope = (call.environment_id, call.session.subscriber_id)
    before = await measure_subscriptions(call.db, *scope)
    yield
    after, quota = await measure_subscriptions(call.db, *scope), quota_of(is_proven=call.session.is_proven)
    if after.count > max(quota.subscriptions, before.count):
        raise Invalid.field(path, f"would be more than {quota.subscriptions} subscriptions to topics; delete one")
    if after.size > max(quota.subscription_bytes, before.size):
        raise Invalid.field(
            path,
            "would make the names and rules of all subscriptions to topics together larger than "
            f"{quota.subscription_bytes} bytes; {_WITH_PROOF}",
        )


def _check_bytes(path: str, value: dict[str, Any], limit: int) -> None:
    if len(json_text(value).encode()) > limit:
        raise Invalid.field(path, f"must have at most {limit} bytes of JSON; {_WITH_PROOF}")
