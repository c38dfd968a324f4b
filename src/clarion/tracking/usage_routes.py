"""How many e-mails were opened, clicked and replied to over time."""

from msgspec import UNSET

from clarion.clock import Millis, iso_text
from clarion.http.operation import Call, Transaction, operation
from clarion.ids import WorkflowId, id_text
from clarion.integrations.counts import start_of_hour
from clarion.integrations.health_wire import BucketQuery
from clarion.tracking.reactions import ReactionCount, list_reactions
from clarion.tracking.usage_wire import MailUsageItemOut, MailUsageOut
from clarion.vocabulary import Scope
from clarion.workflows.model import Workflow
from clarion.workflows.store import list_workflows_by_id

SECTION = "Tracking"


@operation(
    "GET",
    "/v1/usage/emails",
    scope=Scope.MESSAGES_READ,
    query=BucketQuery,
    transaction=Transaction.SCAN,
)
async def list_mail_usage(call: Call, query: BucketQuery) -> MailUsageOut:
    """Count the e-mails that people opened, clicked and replied to, by time and workflow."""
    after, before = query.read_usage(call.now)
    buckets: dict[tuple[Millis, WorkflowId], ReactionCount] = {}
    for hour in await list_reactions(call.db, call.environment_id, after=after, before=before):
        key = query.start_of_bucket(hour.hour), hour.workflow_id
        buckets.setdefault(key, ReactionCount()).add(hour.count)
    ids = {workflow_id for _, workflow_id in buckets}
    workflows = await list_workflows_by_id(call.db, call.environment_id, ids) if ids else {}
    return MailUsageOut(
        after=iso_text(start_of_hour(after)),
        before=iso_text(before),
        bucket=query.bucket,
        data=[_show(at, workflows[workflow_id], buckets[at, workflow_id]) for at, workflow_id in sorted(buckets)],
    )


def _show(at: Millis, workflow: Workflow, count: ReactionCount) -> MailUsageItemOut:
    return MailUsageItemOut(
        at=iso_text(at),
        id=id_text(workflow.id),
        workflow_id=workflow.key if workflow.deleted_at is None else UNSET,
        name=workflow.name,
        opened=count.opened,
        clicked=count.clicked,
        replied=count.replied,
    )
