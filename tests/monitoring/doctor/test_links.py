"""The doctor names what needs the public address where it is not set."""

from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.environments.store import list_environments
from clarion.monitoring.doctor.links import check_public_url
from clarion.monitoring.doctor.model import CheckStatus, Finding
from clarion.settings.model import Settings
from tests.support import Api

NOWHERE = Settings()
# As they were set while there was an address.
SET_MAIL_OPTIONS = sql("UPDATE environments SET mail_options = :mail_options WHERE id = :environment_id")
SET = Settings(public_url="https://clarion.example.com")
MAIL = {"webhookUrl": "https://mail.example.com/", "from": "a@example.com", "secretKey": "s"}


async def examine(database: Database, api: Api, settings: Settings = NOWHERE) -> Finding:
    environments = [one for one in await database.read(list_environments) if one.id == api.environment.id]
    return await database.read(lambda db: check_public_url(db, settings, environments))


async def add(api: Api, channel: str, provider: str, **credentials: str) -> None:
    body = {"providerId": provider, "channel": channel, "active": True, "credentials": credentials}
    response = await api.post("/v1/integrations", json=body)
    assert response.status_code == 201, response.text


async def test_an_environment_that_sends_nothing_needs_no_address(database: Database, api: Api) -> None:
    assert (await examine(database, api)).status is CheckStatus.OK


async def test_everything_that_needs_the_address_is_named(database: Database, api: Api) -> None:
    await add(api, "email", "email-webhook", **MAIL)
    await add(api, "chat", "telegram", apiToken="1:abc")
    mail = '{"tracking": {"opens": true}, "replies": {"domain": "in.example.com"}}'
    options = {"mail_options": mail, "environment_id": api.environment.id}

    async def switch_on(db: Connection) -> None:
        await db.execute(SET_MAIL_OPTIONS, **options)

    await database.transaction(switch_on)

    found = await examine(database, api)

    assert found.status is CheckStatus.WARNING
    for need in ("links to unsubscribe in e-mails", "tracking of opens and clicks", "connecting Telegram", "replies"):
        assert need in found.summary
    assert "CLARION_PUBLIC_URL" in str(found.remedy)
    assert (await examine(database, api, SET)).status is CheckStatus.OK


async def test_a_workflow_that_is_tracked_by_itself_needs_it_too(database: Database, api: Api) -> None:
    steps = [{"name": "Mail", "type": "email"}]
    body = {"workflowId": "w", "name": "W", "steps": steps, "tracking": {"opens": False, "clicks": True}}
    assert (await api.post("/v2/workflows", json=body)).status_code == 201

    assert "tracking" in (await examine(database, api)).summary


async def test_one_that_is_only_not_tracked_does_not(database: Database, api: Api) -> None:
    steps = [{"name": "Mail", "type": "email"}]
    body = {"workflowId": "w", "name": "W", "steps": steps, "tracking": {"opens": False}}
    assert (await api.post("/v2/workflows", json=body)).status_code == 201

    assert (await examine(database, api)).status is CheckStatus.OK
