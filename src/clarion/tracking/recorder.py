"""Collects opens and clicks, and records them in batches like reports of providers.

A redirect waits for no write, and goes on while the store is unavailable. Events are lost only with the process.
"""

import hashlib
import logging
from collections import deque
from functools import partial
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from clarion.background import BackgroundService, ServiceName
from clarion.clock import MINUTE, Millis
from clarion.db.port import Database
from clarion.http.attempts import AttemptLimit, LeakyCounters
from clarion.ids import EnvironmentId, IntegrationId, MessageId
from clarion.jobs.details import DetailCode, DetailSource, ExecutionDetail
from clarion.jsontext import json_text
from clarion.monitoring.metrics import Measures, TrackedEvent
from clarion.providers.definition.receipts import ReceiptKind
from clarion.receipts.actions import record_batch
from clarion.receipts.model import DeliveryReport
from clarion.tracking.model import MachineReason
from clarion.tracking.shown import show_link
from clarion.vocabulary import Channel

MAX_WAITING: Final = 10_000
MAX_PER_MESSAGE: Final = AttemptLimit(burst=60, every=MINUTE / 60)
"""More opens, or clicks, of one message are not recorded: one link could fill the store."""
_BATCH: Final = 500
_INTERVAL_SECONDS: Final = 1.0
_MAX_AGENT: Final = 200

_CODES: Final = {
    (ReceiptKind.OPENED, False): DetailCode.OPENED,
    (ReceiptKind.OPENED, True): DetailCode.OPENED_BY_MACHINE,
    (ReceiptKind.CLICKED, False): DetailCode.CLICKED,
    (ReceiptKind.CLICKED, True): DetailCode.CLICKED_BY_MACHINE,
}

log = logging.getLogger(__name__)


class TrackedVisit(Struct, frozen=True, kw_only=True):
    """An open or a click."""

    environment_id: EnvironmentId
    message_id: MessageId
    kind: ReceiptKind
    at: Millis
    target: str = ""
    position: int | None = None
    agent: str = ""
    machine: MachineReason | None = None


class MailTracking(Struct, frozen=True):
    """The source of reports that tracked links and images make."""

    environment_id: EnvironmentId
    id: IntegrationId | None = None
    provider_id: str | None = None
    channel: Channel = Channel.EMAIL


class TrackingRecorder:
    """The opens and clicks of one process that are not recorded yet."""

    def __init__(self, database: Database, measures: Measures) -> None:
        self._database = database
        self._measures = measures
        self._waiting: deque[TrackedVisit] = deque()
        self._counters = LeakyCounters()

    def add(self, visit: TrackedVisit) -> None:
        """Note an open or a click, unless there are too many."""
        key = visit.message_id, visit.kind
        is_flood = self._counters.get_level(key, MAX_PER_MESSAGE, visit.at) + 1 > MAX_PER_MESSAGE.burst
        if is_flood or len(self._waiting) >= MAX_WAITING:
            self._measures.tracked[TrackedEvent.DROPPED] += 1
            return
        self._counters.add(key, MAX_PER_MESSAGE, visit.at)
        self._measures.tracked[_event_of(visit)] += 1
        self._waiting.append(visit)

    async def record(self) -> None:
        """Record what waits; what was recorded before a failure is recognized when it is repeated."""
        while self._waiting:
            batch = list(islice(self._waiting, _BATCH))
            by_environment: dict[EnvironmentId, list[TrackedVisit]] = {}
            for visit in batch:
                by_environment.setdefault(visit.environment_id, []).append(visit)
            for environment_id, visits in by_environment.items():
                await self._record_batch(environment_id, visits)
            for _ in batch:
                self._waiting.popleft()

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.TRACKING,
            run_once=self.record,
            interval=_INTERVAL_SECONDS,
            is_due_at_start=False,
            finish=self.record,
        )

    async def _record_batch(self, environment_id: EnvironmentId, visits: list[TrackedVisit]) -> None:
        once = {report.digest: report for report in map(make_report, visits)}
        now = max(visit.at for visit in visits)
        work = partial(record_batch, source=MailTracking(environment_id), batch=list(once.values()), now=now)
        await self._database.transaction(work)


def make_report(visit: TrackedVisit) -> DeliveryReport:
    """Return the report that an open or a click makes."""
    raw: dict[str, Any] = {"userAgent": visit.agent[:_MAX_AGENT]}
    link: dict[str, Any] | None = {"url": show_link(visit.target)} if visit.target else None
    if link is not None and visit.position is not None:
        link["position"] = visit.position
    raw |= link or {}
    if visit.machine is not None:
        raw["countedAs"] = visit.machine
    is_by_machine = visit.machine is not None
    detail = ExecutionDetail.of(_CODES[visit.kind, is_by_machine], visit.at, source=DetailSource.WEBHOOK, raw=raw)
    identity = f"tracked {visit.kind} {visit.at} {visit.position} {visit.target}".encode()
    return DeliveryReport(
        kind=visit.kind,
        digest=hashlib.blake2b(visit.message_id + identity, digest_size=16).digest(),
        message_id=visit.message_id,
        provider_message_id=None,
        recipient=None,
        is_hard=False,
        at=visit.at,
        reason=None,
        detail=json_text(detail),
        is_by_machine=is_by_machine,
        link=link,
    )


def _event_of(visit: TrackedVisit) -> TrackedEvent:
    if visit.machine is not None:
        return TrackedEvent.MACHINE
    return TrackedEvent.OPENED if visit.kind is ReceiptKind.OPENED else TrackedEvent.CLICKED
