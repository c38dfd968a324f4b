"""Places: how many sends one process has in flight, and who may take the next ones.

Each channel of an environment has a share of the places, so that a slow or hanging provider does not hold up other
channels. Within a channel, no integration takes more than its own share. Critical sends have a reserve of their own.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.db.queue_plans import distinct_environments
from clarion.engine.pipeline import InFlight
from clarion.ids import EnvironmentId, IntegrationId, JobId
from clarion.integrations.model import Integration
from clarion.jobs.model import Priority
from clarion.providers.definition.provider import SmtpProvider
from clarion.providers.registry import find_provider
from clarion.sending.model import ClaimedSend
from clarion.sending.requests.model import ClaimedRequest
from clarion.vocabulary import Channel, StepType

MAX_IN_FLIGHT = 512
"""Of one process, shared by the channels that have sends."""
MIN_SHARE = 8
CRITICAL_RESERVE = 32
"""Places of each channel beyond its share that only critical sends take."""
INTEGRATION_RESERVE = 8
"""The same, of each integration."""
SMTP_SHARE = 200
"""We open at most 100 connections to a server. As many sends again wait for one of these, so that none is idle while
the next sends are claimed; a critical send waits behind no more than that."""

_MAX_CLAIM = 128


class SendQueue(NamedTuple):
    """Where sends wait."""

    environment_id: EnvironmentId
    channel: Channel | None
    """None: requests of HTTP steps."""


class WaitingSends(Struct, frozen=True):
    """A queue that has sends which are due, and the priorities of these, most urgent first."""

    queue: SendQueue
    priorities: list[Priority]


# One look-up for each priority of each channel, in the environments that have sends at all.
LIST_WAITING = sql(f"""
    WITH RECURSIVE {distinct_environments("sending", "jobs WHERE queue = 2")},
    channels (type) AS (VALUES ('email'), ('sms'), ('chat'), ('push'), ('tool'), ('http_request')),
    priorities (priority) AS (VALUES (0), (1), (2), (3))
    SELECT sending.id AS environment_id, channels.type, priorities.priority
    FROM sending CROSS JOIN channels CROSS JOIN priorities
    WHERE sending.id IS NOT NULL AND (
        SELECT due_at FROM jobs
        WHERE environment_id = sending.id AND queue = 2 AND type = channels.type AND priority = priorities.priority
        ORDER BY due_at LIMIT 1
    ) <= :now
    AND NOT EXISTS (SELECT 1 FROM environments WHERE id = sending.id AND deleted_at IS NOT NULL)
    ORDER BY 1, 2, 3
""")


async def list_waiting(db: Connection, now: Millis) -> list[WaitingSends]:
    """The queues that have sends which are due."""
    priorities: dict[SendQueue, list[Priority]] = {}
    for row in await db.fetch(LIST_WAITING, now=now):
        channel = None if row["type"] == StepType.HTTP_REQUEST else Channel(row["type"])
        queue = SendQueue(EnvironmentId(row["environment_id"]), channel)
        priorities.setdefault(queue, []).append(Priority(row["priority"]))
    return [WaitingSends(queue, own) for queue, own in priorities.items()]


class Room(Struct, frozen=True):
    """How many sends of a queue may be claimed now, and of which priorities."""

    queue: SendQueue
    priorities: list[Priority]
    limit: int


AnySend = ClaimedSend | ClaimedRequest


class Places(InFlight[AnySend]):
    """The sends of one process that are in flight, and the room beside them."""

    def has(self, job_id: JobId) -> bool:
        return any(one.job.id == job_id for one in self)

    def find_room(self, waiting: Sequence[WaitingSends]) -> list[Room]:
        """What may be claimed of each waiting queue; none where its share is taken."""
        counts = Counter(SendQueue(send.environment_id, send.channel) for send in self)
        queues = counts.keys() | {sends.queue for sends in waiting}
        share = max(MIN_SHARE, MAX_IN_FLIGHT // max(len(queues), 1))
        rooms = []
        for sends in waiting:
            left = share - counts[sends.queue]
            urgent = [priority for priority in sends.priorities if priority.is_critical]
            if left > 0:
                rooms.append(Room(sends.queue, sends.priorities, min(left, _MAX_CLAIM)))
            elif urgent and left + CRITICAL_RESERVE > 0:
                rooms.append(Room(sends.queue, urgent, left + CRITICAL_RESERVE))
        return rooms

    def count_by_integration(self, environment_id: EnvironmentId) -> Counter[IntegrationId]:
        return Counter(
            route.integrations[0].id
            for send in self
            if isinstance(send, ClaimedSend) and send.environment_id == environment_id
            for route in send.planned.values()
        )

    def count_by_host(self, environment_id: EnvironmentId) -> Counter[str]:
        """The requests of HTTP steps by the hosts that they go to."""
        own = (send for send in self if isinstance(send, ClaimedRequest) and send.environment_id == environment_id)
        return Counter(send.host for send in own)


class IntegrationShares:
    """How many more sends each integration of an environment may take now."""

    def __init__(self, in_flight: Counter[IntegrationId], integrations: Sequence[Integration]) -> None:
        self._in_flight = in_flight
        self._active = [one for one in integrations if one.active]
        self._channels = Counter(one.channel for one in self._active)

    def limit_room(self, room: Room) -> tuple[list[Priority], int]:
        """What of the room the integrations of its channel can take; without any, sends only fail."""
        own = [one for one in self._active if one.channel == room.queue.channel]
        left = self._count_left(own, 0) if own else room.limit
        urgent = [one for one in room.priorities if one.is_critical]
        if left == 0 and urgent:
            return urgent, min(room.limit, self._count_left(own, INTEGRATION_RESERVE))
        return room.priorities, min(room.limit, left)

    def has_room(self, integration: Integration, priority: Priority) -> bool:
        return self._count_left([integration], INTEGRATION_RESERVE if priority.is_critical else 0) > 0

    def take(self, integration: Integration) -> None:
        self._in_flight[integration.id] += 1

    def _count_left(self, integrations: Sequence[Integration], reserve: int) -> int:
        return sum(max(self._share_of(one) + reserve - self._in_flight[one.id], 0) for one in integrations)

    def _share_of(self, integration: Integration) -> int:
        if isinstance(find_provider(integration.provider_id), SmtpProvider):
            return SMTP_SHARE
        # Alone in its channel, an integration has the channel's share; two of them leave room for each other.
        return MAX_IN_FLIGHT if self._channels[integration.channel] <= 1 else MAX_IN_FLIGHT // 4
