"""The keys of contexts of runs and messages: shown, and as a filter of exactly one set."""

from typing import Any

import pytest

from tests.engine.support import World, in_app
from tests.support import Api

ACME = {"tenant": "acme"}
SHOP = {"tenant": "acme", "app": "shop"}


@pytest.fixture
async def sent(world: World) -> World:
    """One message without a context, one of a tenant, and one of a tenant and an app."""
    await world.make_workflow(in_app("Hello {{context.tenant.id}}{{context.app.id}}"))
    await world.trigger()
    await world.trigger(context=ACME)
    await world.trigger(context=SHOP)
    await world.work()
    return world


async def test_runs_and_messages_show_the_sorted_keys(sent: World) -> None:
    keys: list[list[str]] = [[], ["tenant:acme"], ["app:shop", "tenant:acme"]]

    assert [run["contextKeys"] for run in await sent.events()] == keys
    assert [message["contextKeys"] for message in await sent.messages()] == keys


@pytest.mark.parametrize(
    ("wanted", "texts"),
    [
        ([""], ["Hello "]),
        (["tenant:acme"], ["Hello acme"]),
        (["tenant:acme", "app:shop"], ["Hello acmeshop"]),
        (["app:shop"], []),
        (["tenant:acme", "app:shop", "project:x"], []),
    ],
)
async def test_a_filter_is_for_exactly_the_set(sent: World, wanted: list[str], texts: list[str]) -> None:
    messages = await sent.messages(contextKeys=wanted)
    of_person = await sent.messages(contextKeys=wanted, subscriberId="ada")
    runs = await sent.events(contextKeys=wanted)
    inbox = (await sent.api.get("/v2/subscribers/ada/notifications", params={"contextKeys": wanted})).json()["data"]

    assert [one["content"] for one in messages] == texts
    assert [one["content"] for one in of_person] == texts
    assert [one["body"] for one in inbox] == texts
    assert len(runs) == len(texts)


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/notifications", "/v2/subscribers/ada/notifications"])
async def test_a_text_that_is_no_key_is_refused(api: Api, path: str) -> None:
    response = await api.get(path, params={"contextKeys": "acme"})

    assert response.status_code == 422
    assert "contextKeys" in next(iter(response.json()["errors"]))


async def test_one_notification_is_found_in_its_context_alone(sent: World) -> None:
    (message,) = await sent.messages(contextKeys="tenant:acme")
    path = f"/v2/subscribers/ada/notifications/{message['_id']}"

    async def status(wanted: Any) -> int:
        return (await sent.api.patch(f"{path}/read", params={"contextKeys": wanted})).status_code

    assert [await status(wanted) for wanted in ("", "tenant:beta", ["tenant:acme", "app:shop"])] == [404] * 3
    assert await status("tenant:acme") == 200
    assert (await sent.api.delete(path, params={"contextKeys": "tenant:beta"})).status_code == 404
    assert (await sent.api.delete(path)).status_code == 204
