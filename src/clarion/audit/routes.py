"""The audit log: list its entries."""

from clarion.audit import store
from clarion.audit.store import filter_entries
from clarion.audit.wire import AuditEntryOut, AuditQuery
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import CursorPage, list_cursor_page
from clarion.vocabulary import Scope


@operation("GET", "/v1/audit-log", scope=Scope.AUDIT_READ, query=AuditQuery, transaction=Transaction.SCAN)
async def list_audit_entries(call: Call, query: AuditQuery) -> CursorPage[AuditEntryOut]:
    """List changes of the configuration: who changed what, with the values before and after, without secrets."""
    listing = filter_entries(call.environment_id, query)
    return await list_cursor_page(call.db, listing, query, lambda row: AuditEntryOut.of(store.entry_of(row)))
