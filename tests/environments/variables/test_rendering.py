"""Variables in templates: in runs, previews and simulations, in each environment its own."""

from typing import Any

import pytest

from clarion.content.environment import SECRET_MASK
from clarion.ids import id_text
from tests.engine.conftest import _log_no_errors, logged_errors, world
from tests.engine.support import World, in_app

__all__ = ["_log_no_errors", "logged_errors", "world"]

PATH = "/v1/environment-variables"
TEXT = "{{env.COMPANY}}|{{env.TOKEN}}|{{env.name}}|{{env.type}}|{{env.missing}}"


async def put(world: World, key: str, text: str, **fields: Any) -> None:
    values = [{"_environmentId": id_text(world.api.environment.id), "value": text}]
    response = await world.api.post(PATH, json={"key": key, "values": values, **fields})
    assert response.status_code == 200, response.text


async def change(world: World, key: str, text: str) -> None:
    values = [{"_environmentId": id_text(world.api.environment.id), "value": text}]
    response = await world.api.patch(f"{PATH}/{key}", json={"values": values})
    assert response.status_code == 200, response.text


async def test_runs_see_the_values_at_once(world: World) -> None:
    await world.make_workflow(in_app(TEXT))
    await put(world, "COMPANY", "Acme")
    await put(world, "TOKEN", "secret", isSecret=True)

    await world.trigger()
    await world.work()
    await change(world, "COMPANY", "Acme Ltd")
    await world.trigger()
    await world.work()
    await world.api.delete(f"{PATH}/COMPANY")
    await world.trigger()
    await world.work()

    assert await world.feed() == [f"{company}|secret|Development|dev|" for company in ("Acme", "Acme Ltd", "")]


async def test_previews_and_simulations_mask_secret_values(world: World) -> None:
    await world.make_workflow(
        in_app(
            TEXT,
        )
    )
    await put(world, "COMPANY", "Acme")
    await put(world, "TOKEN", "canary", isSecret=True)

    preview = await world.api.post(
        "/v1/workflows/steps/preview", json={"type": "in_app", "controlValues": {"body": TEXT}}
    )
    simulated = await world.api.post("/v1/simulate", json={"name": "welcome", "to": "ada"})
    await world.trigger()
    await world.work()

    expected = f"Acme|{SECRET_MASK}|Development|dev|"
    assert preview.json()["result"]["preview"]["body"] == expected
    assert simulated.json()["recipients"][0]["messages"][0]["content"] == expected
    assert await world.feed() == ["Acme|canary|Development|dev|"]


@pytest.mark.parametrize("hostile", ["{{subscriber.email}}", "<b>x</b>", "{% raw %}"])
async def test_a_value_never_becomes_a_template(world: World, hostile: str) -> None:
    await world.make_workflow(in_app("{{env.COMPANY}}", disableOutputSanitization=True))
    await put(world, "COMPANY", hostile)

    await world.trigger()
    await world.work()

    assert await world.feed() == [hostile]
