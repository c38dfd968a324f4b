"""Requests of HTTP steps, stored sealed from the moment at which a step is reached until it is answered."""

from collections.abc import Iterable, Sequence

import msgspec

from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.db.sealed import SealedColumn
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, JobId
from clarion.jsontext import json_text
from clarion.vault import Vault
from clarion.workflows.http_requests import HttpRequest

SEALED = SealedColumn("http_requests", "content", keys=("environment_id", "job_id"))

REQUESTS = Insert("http_requests", "environment_id", "job_id", "host", "content")
LIST_REQUESTS = sql("""
    SELECT job_id, host, content FROM http_requests WHERE environment_id = :environment_id AND job_id {any:job_ids}
""")
DELETE_REQUESTS = sql("DELETE FROM http_requests WHERE environment_id = :environment_id AND job_id {any:job_ids}")
_decode = msgspec.json.Decoder(HttpRequest).decode


async def insert_requests(db: Connection, environment_id: EnvironmentId, runs: Iterable[Run], vault: Vault) -> None:
    """Store the requests of HTTP steps that runs have reached."""
    new = [request for run in runs for request in run.requests]
    if not new:
        return
    rows = [
        (
            *(environment_id, request.job_id, request.request.host),
            vault.seal(json_text(request.request), context=environment_id + request.job_id),
        )
        for request in new
    ]
    await db.insert_many(REQUESTS, rows)


async def list_requests(db: Connection, environment_id: EnvironmentId, job_ids: Sequence[JobId]) -> Sequence[Row]:
    return await db.fetch(LIST_REQUESTS, environment_id=environment_id, job_ids=list(job_ids))


def open_request(environment_id: EnvironmentId, row: Row, vault: Vault) -> HttpRequest:
    return _decode(vault.open(row["content"], context=environment_id + row["job_id"]))


async def delete_requests(db: Connection, environment_id: EnvironmentId, job_ids: Iterable[JobId]) -> None:
    """Forget the requests of jobs that are over."""
    ids = sorted(job_ids)
    if ids:
        await db.execute(DELETE_REQUESTS, environment_id=environment_id, job_ids=ids)
