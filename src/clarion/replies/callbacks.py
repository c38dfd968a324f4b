"""Reply callbacks of steps: where a reply to the mail of a step is posted to, and what the receiver gets."""

from typing import Any, Final

from msgspec import Struct

from clarion.clock import Millis, iso_text
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, WorkflowId, WorkflowVersionId, id_text
from clarion.jsontext import json_value, plain_value
from clarion.replies.model import InboundMail, describe_mail
from clarion.replies.store import Original
from clarion.templates import TemplateProblem, render_text
from clarion.webhooks.wire import EndpointUrl, MessageEvent
from clarion.workflows.model import Workflow
from clarion.workflows.store import list_versions_by_id, list_workflows_by_id

_FILE: Final = frozenset({"file", "fileHash", "fileLength"})
"""A file, or where it is stored."""

FIND_RUN = sql("""
    SELECT n.version_id, n.created_at, g.payload FROM notifications AS n
    JOIN triggers AS g ON g.environment_id = n.environment_id AND g.id = n.trigger_id
    WHERE n.environment_id = :environment_id AND n.id = :id
""")


class StepCallback(Struct, frozen=True, kw_only=True):
    """What is posted about a reply; `url` is None if the template of the step makes none."""

    url: str | None
    rendered: str
    body: dict[str, Any]


async def find_callback(
    db: Connection, environment_id: EnvironmentId, original: Original, row: Row, mail: InboundMail
) -> StepCallback | None:
    """Return what the step wants to be posted about a reply to its mail; `row` is the mail as events show it."""
    run = await db.fetch_one(FIND_RUN, environment_id=environment_id, id=row["notification_id"])
    if run is None:
        return None
    version_id = WorkflowVersionId(run["version_id"])
    version = (await list_versions_by_id(db, environment_id, [version_id])).get(version_id)
    steps = [] if version is None else version.steps
    wanted = next((one.reply_callback for one in steps if one.id_bytes == original.step_id), None)
    if wanted is None or not wanted.active:
        return None
    payload = json_value(run["payload"])
    rendered = _render(wanted.url, payload)
    workflows = await list_workflows_by_id(db, environment_id, [WorkflowId(row["workflow_id"])])
    return StepCallback(
        url=rendered if EndpointUrl.accepts(rendered) else None,
        rendered=rendered,
        body=_make_body(payload, workflows[WorkflowId(row["workflow_id"])], row, run["created_at"], mail),
    )


def _render(url: str, payload: dict[str, Any]) -> str:
    try:
        return render_text(url, {**payload, "payload": payload}).strip()
    except TemplateProblem:
        return ""


def _make_body(
    payload: dict[str, Any], workflow: Workflow, row: Row, started_at: Millis, mail: InboundMail
) -> dict[str, Any]:
    message = plain_value(MessageEvent.of(row))
    return {
        "transactionId": message["transactionId"],
        "payload": _without_files(payload),
        "templateIdentifier": workflow.key,
        "template": {
            "_id": id_text(workflow.id),
            "name": workflow.name,
            "active": workflow.active,
            "critical": workflow.is_critical,
            "tags": workflow.tags,
            "triggers": [{"type": "event", "identifier": workflow.key}],
        },
        "notification": {
            "_id": message["_notificationId"],
            "_environmentId": id_text(workflow.environment_id),
            "_templateId": message["_templateId"],
            "_subscriberId": message["_subscriberId"],
            "transactionId": message["transactionId"],
            "createdAt": iso_text(started_at),
        },
        "message": message,
        "mail": describe_mail(mail),
    }


def _without_files(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload with the names and types of its attachments alone."""
    attachments = payload.get("attachments")
    if not isinstance(attachments, list):
        return payload
    shown = [
        {name: value for name, value in one.items() if name not in _FILE} if isinstance(one, dict) else one
        for one in attachments
    ]
    return payload | {"attachments": shown}
