"""Variables in templates: in runs, previews and simulations, in each environment its own."""

import json
from typing import Any

import pytest

from clarion.content.environment import SECRET_MASK
from clarion.ids import id_text
from tests.engine.conftest import _log_no_errors, logged_errors, world
from tests.engine.support import World, in_app, step

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


@pytest.mark.parametrize(
    "condition",
    [
        {"==": [{"var": "env.TOKEN"}, "canary"]},
        {"in": ["canar", {"var": ["env.TOKEN"]}]},
        {"==": [{"var": "payload.token"}, "{{\nenv.TOKEN }}"]},
        {"==": [{"var": "payload.token"}, "{{ env['TOKEN'] }}"]},
        {"==": [{"var": {"var": "payload.path"}}, "canary"]},
        {"!=": [{"var": {"cat": ["en", "v.TOKEN"]}}, "other"]},
    ],
)
@pytest.mark.parametrize("holds", [True, False])
async def test_conditions_decide_by_secret_values_and_do_not_tell_them(
    world: World, condition: dict[str, Any], *, holds: bool
) -> None:
    rule = condition if holds else {"!": [condition]}
    await world.make_workflow(in_app("Hello", skip=rule))
    await put(world, "TOKEN", "canary", isSecret=True)

    await world.trigger(payload={"path": "env.TOKEN", "token": "canary"})
    await world.work()

    (run,) = (await world.api.get("/v1/notifications")).json()["data"]
    details = str([job["executionDetails"] for job in run["jobs"]])
    explained = (await world.api.get(f"/v1/notifications/{run['_id']}/explain")).text
    assert await world.feed() == (["Hello"] if holds else [])
    assert SECRET_MASK in details
    assert "canary" not in details
    assert "canary" not in explained


@pytest.mark.parametrize(
    "keyed",
    [
        step("digest", type="regular", amount=1, unit="hours", digestKey="{{env.TOKEN}}-x"),
        step("throttle", type="fixed", amount=1, unit="hours", threshold=1, throttleKey="env.TOKEN"),
        step("delay", type="dynamic", dynamicKey="env.TOKEN"),
    ],
)
async def test_keys_of_secret_values_are_masked(world: World, keyed: dict[str, Any]) -> None:
    await world.make_workflow(keyed, in_app("Hello"))
    await put(world, "TOKEN", "2026-01-05", isSecret=True)

    await world.trigger()
    await world.work()

    (run,) = (await world.api.get("/v1/notifications")).json()["data"]
    details = str(run["jobs"][0]["executionDetails"])
    assert SECRET_MASK in details
    assert "2026-01-05" not in details


async def test_what_names_no_secret_is_told(world: World) -> None:
    compared = [{"==": [{"var": "env.COMPANY"}, "Acme"]}, {"==": [{"var": "payload.env.TOKEN"}, "shown"]}]
    await world.make_workflow(in_app("Hello", skip={"and": compared}))
    await put(world, "COMPANY", "Acme")
    await put(world, "TOKEN", "canary", isSecret=True)

    await world.trigger(payload={"env": {"TOKEN": "shown"}})
    await world.work()

    (run,) = (await world.api.get("/v1/notifications")).json()["data"]
    details = str(run["jobs"][0]["executionDetails"])
    assert "Acme" in details
    assert "shown" in details
    assert SECRET_MASK not in details


@pytest.mark.parametrize("hostile", ["{{subscriber.email}}", "<b>x</b>", "{% raw %}"])
async def test_a_value_never_becomes_a_template(world: World, hostile: str) -> None:
    await world.make_workflow(in_app("{{env.COMPANY}}", disableOutputSanitization=True))
    await put(world, "COMPANY", hostile)

    await world.trigger()
    await world.work()

    assert await world.feed() == [hostile]


async def test_no_text_sees_a_variable_for_credentials(world: World) -> None:
    text = "{{env.MAILKEY}}|{{env['MAILKEY']}}|{{env | json}}|{% for one in env %}{{one}}{% endfor %}"
    await put(world, "MAILKEY", "canary-key", forCredentials=True)
    made = await world.make_workflow(in_app(text))

    preview = await world.api.post(
        "/v1/workflows/steps/preview", json={"type": "in_app", "controlValues": {"body": text}}
    )
    simulated = await world.api.post("/v1/simulate", json={"name": "welcome", "to": "ada"})
    await world.trigger()
    await world.work()
    issues = json.dumps(made["steps"][0]["issues"])

    feed = await world.feed()
    assert len(feed) == 1
    assert "canary-key" not in preview.text + simulated.text + feed[0]
    assert "MAILKEY" not in feed[0]
    assert "there is no 'MAILKEY' in 'env'" in issues
    assert "variables for credentials are not for texts" in issues
