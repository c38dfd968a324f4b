"""The published Python client, unmodified: custom steps, and credentials that refer to variables."""

import httpx
import pytest
from novu_py import Novu, models

from clarion.content.environment import SECRET_MASK
from clarion.environments.model import Environment
from clarion.ids import id_text
from tests.e2e.test_published_client import call, client, database, environment, eventually, process, service, tenant
from tests.services import Service, Tenant

__all__ = ["client", "database", "environment", "process", "service", "tenant"]

# The client marks some of its own calls as deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.mark.newer_client
async def test_the_controls_of_a_custom_step_are_kept_and_seen_by_later_steps(client: Novu) -> None:
    own = {"custom": {"total": "{{payload.price | times: payload.count}}", "list": ["a", {"b": 1}]}}
    steps = [
        {"name": "Sum", "type": "custom", "control_values": own},
        {"name": "Inbox", "type": "in_app", "control_values": {"body": "{{steps.sum.custom.total}} EUR"}},
    ]
    workflow = {"name": "Order", "workflow_id": "order", "steps": steps, "active": True}

    made = await call(client.workflows.create, create_workflow_dto=workflow)
    found = await call(client.workflows.get, workflow_id="order")
    await call(
        client.trigger,
        trigger_event_request_dto={"workflow_id": "order", "to": "ada", "payload": {"price": 3, "count": 7}},
    )

    async def bodies() -> list[str]:
        page = await call(client.messages.retrieve, request={"subscriber_id": "ada"})
        return [one.content for one in page.data]

    for step in (made.steps[0], found.steps[0]):
        assert step.control_values.model_dump() == own
        assert step.controls.values.model_dump() == own
    assert made.steps[1].issues is None
    assert await eventually(bodies, ["21 EUR"]) == ["21 EUR"]


@pytest.mark.newer_client
async def test_credentials_refer_to_variables_that_no_text_reads(
    client: Novu, service: Service, tenant: Tenant, environment: Environment
) -> None:
    value = {"environment_id": id_text(environment.id), "value": "canary-key"}
    readable = {"key": "READABLE", "is_secret": True, "values": [value]}
    await call(client.environment_variables.create, create_environment_variable_request_dto=readable)
    # The client has no field for it.
    headers = {"Authorization": f"ApiKey {tenant.key}"}
    async with httpx.AsyncClient(base_url=service.process.address, headers=headers) as plain:
        values = [{"_environmentId": value["environment_id"], "value": value["value"]}]
        body = {"key": "MAIL_KEY", "forCredentials": True, "values": values}
        assert (await plain.post("/v1/environment-variables", json=body)).status_code == 200
    account = {"provider_id": "sendgrid", "channel": "email", "active": True}
    credentials = {"api_key": "{{env.MAIL_KEY}}", "from": "news@example.com", "sender_name": "News"}

    with pytest.raises(models.ValidationErrorDto, match="forCredentials"):
        await call(
            client.integrations.create,
            create_integration_request_dto=account | {"credentials": credentials | {"api_key": "{{env.READABLE}}"}},
        )
    made = await call(client.integrations.create, create_integration_request_dto=account | {"credentials": credentials})
    listed = await call(client.environment_variables.list, search="mail")
    renamed = await call(
        client.environment_variables.update,
        variable_key="MAIL_KEY",
        update_environment_variable_request_dto={"values": [value | {"value": "another-key"}]},
    )
    usage = await call(client.environment_variables.usage, variable_key="MAIL_KEY")

    assert made.credentials.api_key == "{{env.MAIL_KEY}}"
    assert [one.values[0].value for one in (*listed, renamed)] == [SECRET_MASK] * 2
    assert renamed.is_secret
    assert usage.workflows == []
