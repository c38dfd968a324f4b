"""Simulate: what a trigger would do."""

from clarion.content.environment import ContentSource
from clarion.explain.model import SHOWN_SCOPES
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.settings.rate_limits import LimitCategory
from clarion.simulate.actions import simulate
from clarion.simulate.wire import SimulationIn, SimulationOut, read_scenario
from clarion.triggers.requests import check_segments_scope
from clarion.vocabulary import Scope


def _count_people(body: SimulationIn) -> int:
    """A simulation costs about as much as a trigger for each person."""
    entries = body.to if isinstance(body.to, list) else [body.to]
    is_fan_out = any(isinstance(one, dict) and ("topicKey" in one or "segmentKey" in one) for one in entries)
    return body.limit if is_fan_out else min(body.limit, len(entries))


@operation(
    "POST",
    "/v1/simulate",
    scope=Scope.EVENTS_READ,
    also=SHOWN_SCOPES,
    body=SimulationIn,
    body_limit=LARGE_BODY,
    transaction=Transaction.NONE,
    limit=LimitCategory.TRIGGER,
    items=_count_people,
)
async def simulate_event(call: DetachedCall, body: SimulationIn) -> SimulationOut:
    """Show what a trigger would do, to whom and when; nothing is sent and nothing is stored."""
    scenario = read_scenario(call.environment_id, body, call.now)
    check_segments_scope(call.caller, scenario.request)
    services = call.services
    source = ContentSource(vault=services.vault, public_url=services.settings.public_url, makes_samples=True)
    return SimulationOut.of(scenario, await simulate(call.database, source, scenario))
