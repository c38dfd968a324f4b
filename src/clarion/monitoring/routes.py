"""How the work of an environment goes, for those who look at it."""

from clarion.http.operation import DetachedCall, Transaction, operation
from clarion.monitoring.store_state import EnvironmentWatch
from clarion.monitoring.wire import EnvironmentStatusOut
from clarion.vocabulary import Scope

SECTION = "Environments"


@operation("GET", "/v1/status", scope=Scope.EVENTS_READ, transaction=Transaction.NONE)
async def get_status(call: DetachedCall) -> EnvironmentStatusOut:
    """Show how the work of the environment goes: what waits and since when, dead letters, failing integrations.

    One reading of a few seconds ago serves all who ask.
    """
    state = await call.services.shared.get(EnvironmentWatch).find(call.environment_id)
    return EnvironmentStatusOut.of(
        state, call.services.names, shows_integrations=call.caller.has_scope(Scope.INTEGRATIONS_READ)
    )
