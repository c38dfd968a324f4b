"""The published Python client, unmodified: contexts, variables, one subscription, and the action of a message."""

import pytest
from novu_py import Novu, models

from clarion.content.environment import SECRET_MASK
from clarion.db.port import Database
from clarion.environments.model import Environment
from clarion.ids import id_text
from clarion.jsontext import json_text
from tests.e2e.test_published_client import call, client, database, environment, eventually, process, service, tenant
from tests.records import make_message, make_subscriber

__all__ = ["client", "database", "environment", "process", "service", "tenant"]

# The client marks some of its own calls as deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

BUTTON = {"type": "primary", "content": "Accept"}


async def test_contexts(client: Novu) -> None:
    made = await call(
        client.contexts.create, create_context_request_dto={"type": "tenant", "id": "acme:1", "data": {"plan": "pro"}}
    )
    await call(client.contexts.create, create_context_request_dto={"type": "app", "id": "shop"})
    found = await call(client.contexts.retrieve, id="acme:1", type_="tenant")
    listed = await call(client.contexts.list, request={"search": "acme", "order_by": "createdAt", "limit": 5})
    changed = await call(
        client.contexts.update, id="acme:1", type_="tenant", update_context_request_dto={"data": {"plan": "free"}}
    )
    await call(client.contexts.delete, id="acme:1", type_="tenant")

    assert found == made
    assert [(one.type, one.id) for one in listed.data] == [("tenant", "acme:1")]
    assert changed.id == "acme:1"
    with pytest.raises(models.ErrorDto):
        await call(client.contexts.retrieve, id="acme:1", type_="tenant")


@pytest.mark.newer_client
async def test_data_of_contexts(client: Novu) -> None:
    name = {"id": "acme", "type_": "tenant"}
    given = {"type": "tenant", "id": "acme", "data": {"plan": "pro"}}
    made = await call(client.contexts.create, create_context_request_dto=given)
    changed = await call(client.contexts.update, **name, update_context_request_dto={"data": {"plan": "free"}})

    assert (made.data, changed.data) == ({"plan": "pro"}, {"plan": "free"})


@pytest.mark.newer_client
async def test_variables_of_environments(client: Novu, environment: Environment) -> None:
    variables = client.environment_variables
    values = [{"environment_id": id_text(environment.id), "value": "canary"}]
    made = await call(
        variables.create,
        create_environment_variable_request_dto={"key": "TOKEN", "is_secret": True, "values": values},
    )
    found = await call(variables.retrieve, variable_key="TOKEN")
    listed = await call(variables.list, search="tok")
    renamed = await call(
        variables.update, variable_key="TOKEN", update_environment_variable_request_dto={"key": "API_TOKEN"}
    )
    usage = await call(variables.usage, variable_key="API_TOKEN")
    await call(variables.delete, variable_key="API_TOKEN")

    assert found == made == listed[0]
    assert [one.value for one in made.values] == [SECRET_MASK]
    assert (renamed.key, renamed.values) == ("API_TOKEN", made.values)
    assert usage.workflows == []
    with pytest.raises(models.APIError):
        await call(variables.retrieve, variable_key="API_TOKEN")


@pytest.mark.newer_client
async def test_one_subscription_to_a_topic(client: Novu) -> None:
    subscriptions = client.topics.subscriptions
    await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "ada"})
    workflow = {"name": "Order shipped", "workflow_id": "order-shipped", "steps": [], "active": True}
    await call(client.workflows.create, create_workflow_dto=workflow)
    await call(
        subscriptions.create,
        topic_key="news",
        create_topic_subscriptions_request_dto={"subscriptions": ["ada"], "name": "News"},
    )
    condition = {"==": [{"var": "payload.tier"}, "gold"]}
    name = {"topic_key": "news", "identifier": "tk_news:si_ada"}

    preferences = [{"workflow_id": "order-shipped", "enabled": True, "condition": condition}]
    changed = await call(
        subscriptions.update, **name, update_topic_subscription_request_dto={"preferences": preferences}
    )
    found = await call(subscriptions.get_subscription, **name)

    assert changed.subscriber.subscriber_id == "ada"
    assert found.preferences == changed.preferences
    assert [(one.workflow.identifier, one.condition) for one in found.preferences] == [("order-shipped", condition)]


@pytest.mark.newer_client
async def test_subscriptions_of_contexts(client: Novu) -> None:
    subscriptions = client.topics.subscriptions
    await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "ada"})
    workflow = {"name": "Order shipped", "workflow_id": "order-shipped", "steps": [], "active": True}
    await call(client.workflows.create, create_workflow_dto=workflow)
    member = {"identifier": "acme-orders", "subscriber_id": "ada", "name": "Orders"}
    wanted = {"subscriptions": [member], "context": {"tenant": {"id": "acme"}}, "preferences": ["order-shipped"]}

    made = await call(subscriptions.create, topic_key="news", create_topic_subscriptions_request_dto=wanted)
    found = await call(subscriptions.get_subscription, topic_key="news", identifier="acme-orders")
    changed = await call(
        subscriptions.update,
        topic_key="news",
        identifier="acme-orders",
        update_topic_subscription_request_dto={"name": "Ours"},
    )
    listed = await call(subscriptions.list, request={"topic_key": "news", "context_keys": ["tenant:acme"]})
    others = await call(subscriptions.list, request={"topic_key": "news", "context_keys": ["tenant:beta"]})
    of_ada = await call(
        client.subscribers.topics.list, request={"subscriber_id": "ada", "context_keys": ["tenant:acme"]}
    )
    removed = await call(
        subscriptions.delete,
        topic_key="news",
        delete_topic_subscriptions_request_dto={"subscriptions": [member | {"name": None}]},
    )

    assert [(one.identifier, one.name, one.context_keys) for one in made.data] == [
        ("acme-orders", "Orders", ["tenant:acme"])
    ]
    assert (found.context_keys, changed.context_keys) == (["tenant:acme"], ["tenant:acme"])
    assert [one.workflow.identifier for one in found.preferences] == ["order-shipped"]
    assert [one.identifier for one in listed.data] == [one.identifier for one in of_ada.data] == ["acme-orders"]
    assert (others.data, removed.meta.successful) == ([], 1)


async def test_the_action_of_a_message(client: Novu, database: Database, environment: Environment) -> None:
    subscriber = await make_subscriber(database, environment, "ada")
    cta = json_text({"data": {}, "action": {"status": "pending", "buttons": [BUTTON]}})
    message = await make_message(database, environment, subscriber=subscriber, cta=cta)

    done = await call(
        client.subscribers.messages.update_as_seen,
        request={
            "message_id": message.text,
            "type": "primary",
            "subscriber_id": "ada",
            "mark_message_action_as_seen_dto": {"status": "done"},
        },
    )

    assert done.read
    assert (done.cta.action.status, done.cta.action.result.type) == ("done", "primary")


@pytest.mark.newer_client
async def test_keys_of_contexts(client: Novu) -> None:
    await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "ada"})
    steps = [{"name": "Inbox", "type": "in_app", "control_values": {"body": "Hello {{context.tenant.id}}"}}]
    workflow = {"name": "Welcome", "workflow_id": "welcome", "steps": steps, "active": True}
    await call(client.workflows.create, create_workflow_dto=workflow)
    trigger = {"workflow_id": "welcome", "to": "ada", "context": {"tenant": "acme"}}
    await call(client.trigger, trigger_event_request_dto=trigger)

    async def list_keys(*keys: str) -> list[list[str]]:
        request = {"subscriber_id": "ada", "context_keys": list(keys)}
        return [one.context_keys for one in (await call(client.messages.retrieve, request=request)).data]

    of_messages = await eventually(lambda: list_keys("tenant:acme"), [["tenant:acme"]])
    runs = await call(client.notifications.list, request={"context_keys": ["tenant:acme"]})
    others = await call(client.notifications.list, request={"context_keys": ["tenant:beta"]})
    inbox = client.subscribers.notifications
    listed = await call(inbox.list, request={"subscriber_id": "ada", "context_keys": ["tenant:acme"]})

    assert of_messages == [["tenant:acme"]]
    assert [run.context_keys for run in runs.data] == [["tenant:acme"]]
    assert others.data == []
    assert await list_keys("") == []
    assert [one.body for one in listed.data] == ["Hello acme"]


@pytest.mark.newer_client
async def test_preferences_of_a_context(client: Novu) -> None:
    await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "ada"})
    steps = [{"name": "Inbox", "type": "in_app", "control_values": {"body": "Hello"}}]
    workflow = {"name": "Welcome", "workflow_id": "welcome", "steps": steps, "active": True}
    await call(client.workflows.create, create_workflow_dto=workflow)
    preferences = client.subscribers.preferences
    change = {"workflow_id": "welcome", "channels": {"in_app": False}, "context": {"tenant": "acme"}}
    changed = await call(preferences.update, subscriber_id="ada", patch_subscriber_preferences_dto=change)
    in_bulk = {"context": {"tenant": {"id": "beta"}}, "preferences": [{"workflow_id": "welcome", "channels": {}}]}
    bulk = await call(preferences.bulk_update, subscriber_id="ada", bulk_update_subscriber_preferences_dto=in_bulk)

    async def read(**query: list[str]) -> bool:
        listed = await call(preferences.list, subscriber_id="ada", **query)
        enabled: bool = listed.workflows[0].channels.in_app
        return enabled

    assert changed.workflows[0].channels.in_app is False
    assert bulk[0].channels.in_app is True
    assert [await read(), await read(context_keys=["tenant:acme"])] == [True, False]
