"""Operations that take the locks of lanes: cancel a trigger."""

from clarion.engine.cancel import cancel_transaction
from clarion.http.operation import Call, operation
from clarion.ids import TransactionKey
from clarion.vocabulary import Scope

SECTION = "Triggers"


@operation("DELETE", "/v1/events/trigger/{transactionId}", scope=Scope.EVENTS_WRITE)
async def cancel_event(call: Call, transaction_key: TransactionKey) -> bool:
    """Cancel what a trigger has not done yet; returns whether there was anything."""
    return await cancel_transaction(call.db, call.environment_id, transaction_key, call.now)
