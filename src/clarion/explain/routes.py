"""Explain: why a person got a message or not."""

from clarion.environments.options import DataKind
from clarion.errors import Invalid
from clarion.explain.asking import explain_transaction, explain_workflow, make_request
from clarion.explain.model import SHOWN_SCOPES
from clarion.explain.run import explain_run
from clarion.explain.wire import ExplainQuery, ExplainRunQuery, ExplanationOut
from clarion.http.operation import Call, Transaction, operation
from clarion.ids import NotificationId, SubscriberKey, TransactionKey
from clarion.retention.periods import find_horizon
from clarion.vocabulary import Scope


# Marked as scans to get one snapshot: the parts of a run are read by several queries.
@operation(
    "GET",
    "/v1/notifications/{notificationId}/explain",
    scope=Scope.EVENTS_READ,
    also=SHOWN_SCOPES,
    query=ExplainRunQuery,
    transaction=Transaction.SCAN,
)
async def explain_notification(call: Call, notification_id: NotificationId, query: ExplainRunQuery) -> ExplanationOut:
    """Explain a run: every decision in order, with what it saw and what would change it."""
    found = await explain_run(call.db, call.environment_id, notification_id, call.now, channel=query.channel)
    return ExplanationOut.of(found)


@operation(
    "GET",
    "/v1/explain",
    scope=Scope.EVENTS_READ,
    also=SHOWN_SCOPES,
    query=ExplainQuery,
    transaction=Transaction.SCAN,
)
async def explain(call: Call, query: ExplainQuery) -> ExplanationOut:
    """Explain why a person got a message or not, also if there is no run for them.

    Give the `transactionId` of a trigger, or a `workflowId` to ask about its newest trigger that may be for the person.
    """
    check_query(query)
    horizon = await find_horizon(call.db, call.environment_id, DataKind.RUNS, call.services.settings, call.now)
    request = await make_request(
        call.db,
        call.environment_id,
        SubscriberKey(query.subscriber_id),
        channel=query.channel,
        now=call.now,
        horizon=horizon,
    )
    if query.transaction_id is not None:
        return ExplanationOut.of(await explain_transaction(call.db, request, TransactionKey(query.transaction_id)))
    return ExplanationOut.of(await explain_workflow(call.db, request, query.workflow_id or ""))


def check_query(query: ExplainQuery) -> None:
    """Exactly one of transaction and workflow says what is asked about; raises Invalid."""
    if query.transaction_id and query.workflow_id:
        raise Invalid.field("workflowId", "cannot be combined with transactionId; give one of them", query.workflow_id)
    if not query.transaction_id and not query.workflow_id:
        raise Invalid.field("transactionId", "is required, or workflowId in its place: what is asked about")
