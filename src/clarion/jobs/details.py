"""Execution details: what happened to a job and why, kept as a JSON array in the job's row."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import JobId, id_text

MESSAGE_DELETED = "Message was deleted"


class DetailStatus(StrEnum):
    SUCCESS = "Success"
    WARNING = "Warning"
    FAILED = "Failed"
    PENDING = "Pending"
    QUEUED = "Queued"
    READ_CONFIRMATION = "ReadConfirmation"


class DetailSource(StrEnum):
    CREDENTIALS = "Credentials"
    INTERNAL = "Internal"
    PAYLOAD = "Payload"
    WEBHOOK = "Webhook"


class DetailCode(StrEnum):
    """What a detail is about, where its text does not tell all."""

    BOUNCED_HARD = "bounced_hard"
    """The address does not work: it is suppressed."""
    BOUNCED_SOFT = "bounced_soft"
    """It may work another time."""


class ExecutionDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One decision or outcome of a job; `raw` is any JSON value that explains it."""

    id: str = ""
    """Not stored: derived from the detail's position when it is read. Details are only ever appended."""
    at: Millis
    status: DetailStatus
    detail: str
    code: str | None = None
    """A DetailCode, or one of a later version."""
    source: DetailSource = DetailSource.INTERNAL
    is_retry: bool = False
    is_test: bool = False
    provider_id: str | None = None
    raw: Any = None


decode_details = msgspec.json.Decoder(list[ExecutionDetail]).decode

APPENDED_DETAIL = """
    CASE WHEN details = '[]' THEN '[' ELSE substr(details, 1, length(details) - 1) || ',' END || :detail || ']'
"""
"""SQL: the details of a job with `:detail` appended, for updates of many jobs at once."""


def read_details(job_id: JobId, text: str) -> list[ExecutionDetail]:
    """The details of a job in time order, each with its id."""
    details = [
        detail if detail.id else msgspec.structs.replace(detail, id=_detail_id(job_id, place))
        for place, detail in enumerate(decode_details(text), start=1)
    ]
    return in_time_order(details)


def canceled_detail(now: Millis) -> ExecutionDetail:
    """Why a job is canceled by its caller."""
    return ExecutionDetail(
        at=now, status=DetailStatus.SUCCESS, detail="Step canceled", raw={"reason": "canceled by the caller"}
    )


def in_time_order(details: Iterable[ExecutionDetail]) -> list[ExecutionDetail]:
    """Details by their moment; those of one moment keep the order in which they were written."""
    return sorted(details, key=lambda one: one.at)


def _detail_id(job_id: JobId, place: int) -> str:
    """A stable id: the job's id plus the position."""
    return id_text((int.from_bytes(job_id) + place).to_bytes(16))
