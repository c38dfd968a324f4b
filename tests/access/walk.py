"""Calls every operation from the list of all operations; a new one is covered without a line."""

import httpx

from clarion.http.operation import Operation
from clarion.operations import OPERATIONS
from tests.contract.test_isolation import BODIES, MISSING, QUERIES, anonymous, fill

WITH_SCOPE = [operation for operation in OPERATIONS if operation.scope is not None]
IN_ENVIRONMENT_OF_PATH = [
    operation
    for operation in WITH_SCOPE
    if any(getattr(kind, "__name__", "") == "EnvironmentId" for _, kind in operation.path_kinds)
]
"""Operations whose path names an environment."""


async def request(
    client: httpx.AsyncClient, operation: Operation, values: dict[str, str] | None = None
) -> httpx.Response:
    """Call an operation; with ids that do not exist it gets as far as it can without changing anything."""
    route = (operation.method, operation.path)
    path = fill(
        operation.path,
        MISSING | {name: "missing" for name, _ in operation.path_kinds if name not in MISSING} | (values or {}),
    )
    return await client.request(operation.method, path, json=BODIES.get(route), params=QUERIES.get(route))


async def answer(client: httpx.AsyncClient, operation: Operation, values: dict[str, str]) -> tuple[int, str]:
    """The status and the body of an answer, without the ids of the request."""
    response = await request(client, operation, values)
    return response.status_code, anonymous(response.text, values, response.request.url.raw_path.decode())


def name(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"
