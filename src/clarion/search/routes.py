"""Search: people, workflows, topics, integrations, endpoints, transactions, and ids of every kind, in one call."""

from clarion.errors import Forbidden
from clarion.http.operation import Call, Transaction, operation
from clarion.search.model import SCOPES, Hit, SearchText, SearchType, rank
from clarion.search.store import PARTS, find_by_id, find_by_provider_id
from clarion.search.wire import SearchOut, SearchQuery, SearchResultOut
from clarion.vocabulary import Scope


@operation("GET", "/v1/search", scope=Scope.SEARCH_READ, query=SearchQuery, transaction=Transaction.SCAN)
async def search(call: Call, query: SearchQuery) -> SearchOut:
    """Find people, workflows, topics, integrations, endpoints and transactions by text, and anything by its id."""
    types = _list_types(call, query)
    wanted = SearchText.of(query.q)
    hits: list[Hit] = await find_by_id(call.db, call.environment_id, wanted.text, types)
    if SearchType.MESSAGE in types:
        hits += await find_by_provider_id(call.db, call.environment_id, query.q.strip(), limit=query.limit)
    for kind, find in PARTS.items():
        if kind in types:
            hits += await find(call.db, call.environment_id, wanted, limit=query.limit)
    found = rank(hits, limit=query.limit)
    return SearchOut(data=[SearchResultOut.of(one) for one in found], searched=types)


def _list_types(call: Call, query: SearchQuery) -> list[SearchType]:
    for searched in query.types:
        if not call.caller.has_scope(SCOPES[searched]):
            raise Forbidden(
                f"This API key lacks the scope '{SCOPES[searched]}', which searching for '{searched}' needs"
            )
    return [one for one in query.types or SearchType if call.caller.has_scope(SCOPES[one])]
