"""What processes of this version do on a store whose tables have columns of a newer one, on both databases."""

from collections.abc import AsyncIterator

import pytest

from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.db.schema import metadata
from tests.conftest import open_store
from tests.content.layouts.support import make_layout
from tests.engine.conftest import _log_no_errors, logged_errors, world
from tests.engine.providers import ADA, account
from tests.engine.support import World, step

__all__ = ["_log_no_errors", "logged_errors", "world"]


@pytest.fixture(scope="module")
async def database(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Database]:
    async def add_columns(db: Connection) -> None:
        for table in metadata.tables:
            await db.execute(sql(f"ALTER TABLE {table} ADD COLUMN newer TEXT DEFAULT 'x'"))

    async with open_store(backend, request, tmp_path_factory) as opened:
        await opened.transaction(add_columns)
        yield opened


READ = [
    "/v1/environments",
    "/v1/environments/me",
    "/v1/environments/api-keys",
    "/v1/environment-variables",
    "/v2/workflows",
    "/v2/workflows/mails",
    "/v1/workflows/mails/versions",
    "/v2/layouts",
    "/v2/layouts/frame",
    "/v2/translations/export",
    "/v1/integrations",
    "/v1/webhooks/endpoints",
    "/v2/subscribers",
    "/v2/subscribers/ada/preferences",
    "/v2/topics",
    "/v1/messages",
    "/v1/notifications",
    "/v1/suppressions",
    "/v1/audit-log",
    "/v2/contexts",
    "/v1/explain?subscriberId=ada&workflowId=mails",
]


async def test_messages_are_sent_and_everything_is_read(world: World) -> None:
    api = world.api
    async with account(world, "first") as provider:
        await make_layout(api, "frame", body=None)
        mail = step("email", subject="Hi", body="<p>Hello</p>")
        await world.make_workflow(step("in_app", body="Hello"), mail, key="mails", isTranslationEnabled=True)
        await api.post("/v2/topics", json={"key": "news", "name": "News"})
        await api.post("/v1/environment-variables", json={"key": "BRAND"})
        await api.post("/v1/webhooks/endpoints", json={"url": "https://hooks.example.com/"})
        await api.post("/v1/suppressions", json={"channel": "email", "address": "eve@example.com"})
        await world.trigger(ADA, name="mails", context={"tenant": "acme"})
        await world.work()
        answers = {path: await api.get(path) for path in READ}

    assert len(provider.bodies) == 1
    assert {path: answer.text for path, answer in answers.items() if answer.status_code != 200} == {}
