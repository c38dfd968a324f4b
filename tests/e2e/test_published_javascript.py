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
FUNCTIONS = SCRIPT.parent / "node_modules/@novu/api/funcs"
DRIVEN = (
    "/v1/channel-connections",
    "/v1/channel-endpoints",
    "/v1/environment-variables",
    "/v1/integrations/channel-",
    "/v1/integrations/chat/",
    "/v1/integrations/{integrationId}/auto-configure",
    "/v1/integrations/{integrationIdentifier}/",
    "/v1/subscribers/{subscriberId}/messages/{messageId}/actions/",
    "/v2/contexts",
    "/v2/layouts",
    "/v2/topics/{topicKey}/subscriptions/{identifier}",
    "/v2/translations",
    "/v2/workflows/{workflowId}/sync",
)


def list_operations() -> set[str]:
    """Read the operations of the client from its files, each of which has one."""
    found = set()
    for text in (one.read_text() for one in FUNCTIONS.glob("*.js")):
        paths, methods = re.findall(r'pathToFunc\)\("([^"]+)"', text), re.findall(r'method: "(\w+)"', text)
        found |= {f"{method} {path}" for path, method in zip(paths, methods, strict=True) if path.startswith(DRIVEN)}
    return found


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
    assert len(list_operations()) >= 44
    assert {one for one in list_operations() if not any(fits(one, request) for request in driven)} == set()
