"""The published client for JavaScript, unmodified: operations for content, contexts, variables and chat addresses."""

import asyncio
import json
import re
from pathlib import Path

from clarion.db.port import Database
from clarion.environments.model import Environment
from clarion.jsontext import json_text
from tests.e2e.test_published_client import database, environment, process, service, tenant
from tests.e2e.test_published_contexts import BUTTON
from tests.records import make_message, make_subscriber
from tests.services import Service, Tenant

__all__ = ["database", "environment", "process", "service", "tenant"]

ROOT = Path(__file__).parents[2]
NODE = [str(ROOT / ".venv/node/bin/python"), str(ROOT / "web/node.py"), "node"]
SCRIPT = ROOT / "tests/browser/published/operations.mjs"
DRIVEN = (
    "/v1/channel-connections",
    "/v1/channel-endpoints",
    "/v1/environment-variables",
    "/v1/integrations/channel-connections/oauth",
    "/v1/integrations/channel-endpoints/oauth",
    "/v1/integrations/chat/oauth",
    "/v1/subscribers/{subscriberId}/messages/{messageId}/actions/",
    "/v2/contexts",
    "/v2/layouts",
    "/v2/topics/{topicKey}/subscriptions/{identifier}",
    "/v2/translations",
    "/v2/workflows/{workflowId}/sync",
)
NOT_IN_THE_CLIENT = {
    "GET /v1/integrations/chat/oauth/callback",
    "PUT /v2/layouts/{layoutId}/default",
    "GET /v2/translations/list",
}


def list_operations() -> set[str]:
    description = json.loads((ROOT / "docs/reference/openapi.json").read_text())
    found = {f"{method.upper()} {path}" for path, methods in description["paths"].items() for method in methods}
    return {one for one in found if one.split()[1].startswith(DRIVEN)} - NOT_IN_THE_CLIENT


def fits(operation: str, request: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", operation), request) is not None


async def test_every_operation(service: Service, tenant: Tenant, database: Database, environment: Environment) -> None:
    subscriber = await make_subscriber(database, environment, "ada")
    cta = json_text({"data": {}, "action": {"status": "pending", "buttons": [BUTTON]}})
    message = await make_message(database, environment, subscriber=subscriber, cta=cta)
    arguments = [service.process.address, tenant.key, message.text]

    process = await asyncio.create_subprocess_exec(
        *NODE, str(SCRIPT), *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    printed, problem = await process.communicate()
    requests = [json.loads(line) for line in printed.splitlines()]

    assert process.returncode == 0, (problem.decode(), requests[-1:])
    driven = {f"{method} {path}" for method, path, _ in requests}
    assert {one for one in list_operations() if not any(fits(one, request) for request in driven)} == set()
