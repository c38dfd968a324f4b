"""Impact: what a change of a workflow would mean, before it is saved."""

from clarion.content.environment import ContentSource
from clarion.explain.model import SHOWN_SCOPES
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.ids import WorkflowKey
from clarion.settings.rate_limits import LimitCategory
from clarion.simulate.impact import MAX_TRIGGERS, weigh_change
from clarion.simulate.impact_wire import ImpactIn, ImpactOut
from clarion.vocabulary import Scope

SECTION = "Workflows"


def _count_trials(_: ImpactIn) -> int:
    """It costs about as much as that many triggers."""
    return MAX_TRIGGERS


@operation(
    "POST",
    "/v1/workflows/{workflowId}/impact",
    scope=Scope.EVENTS_READ,
    also=SHOWN_SCOPES,
    body=ImpactIn,
    body_limit=LARGE_BODY,
    transaction=Transaction.NONE,
    limit=LimitCategory.TRIGGER,
    items=_count_trials,
)
async def weigh_workflow_change(call: DetachedCall, workflow_key: WorkflowKey, body: ImpactIn) -> ImpactOut:
    """Show what saving other steps would mean for runs under way, and for triggers such as the last ten."""
    services = call.services
    source = ContentSource(vault=services.vault, public_url=services.settings.public_url, makes_samples=True)
    impact = await weigh_change(call.database, call.environment_id, workflow_key, body.steps, source, call.now)
    return ImpactOut.of(impact, services.vault, call.now)
