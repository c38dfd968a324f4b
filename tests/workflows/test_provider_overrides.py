"""Overrides of chat and tool steps for one provider, as they are saved."""

from typing import Any

import pytest

from tests.support import Api
from tests.workflows.support import make_workflow, step

WANTED = {"opsgenie": {"priority": "{{payload.priority}}"}}


@pytest.mark.parametrize(
    ("kind", "overrides", "path", "words"),
    [
        ("email", {"slack": {"a": 1}}, "", "is for steps of the types chat and tool"),
        ("tool", {"slack": {"a": 1}}, ".slack", "is no tool provider"),
        ("tool", {"pagerdutty": {"a": 1}}, ".pagerdutty", "did you mean 'pagerduty'"),
        ("chat", {"slack": {"webhookUrl": "https://example.org"}}, ".slack.webhookUrl", "has no effect"),
        ("tool", {"pagerduty": {"routing_key": "x"}}, ".pagerduty.routing_key", "PagerDuty has no such field"),
        ("tool", {"opsgenie": {"note": "{{ payload"}}, ".opsgenie.note", "is not a valid template"),
        ("tool", {f"p{number}": {} for number in range(33)}, "", "32"),
    ],
)
async def test_overrides_that_nothing_reads_are_refused(
    api: Api, kind: str, overrides: dict[str, Any], path: str, words: str
) -> None:
    body = {"name": "Order", "workflowId": "order", "steps": [step(kind, providerOverrides=overrides)]}

    refused = await api.post("/v2/workflows", json=body)

    assert refused.status_code == 422, refused.text
    assert words in str(refused.json()["errors"][f"steps.0.providerOverrides{path}"]["messages"])


async def test_clients_that_do_not_know_overrides_keep_them_and_null_takes_them_away(api: Api) -> None:
    made = await make_workflow(api, steps=[step("tool", stepId="page", providerOverrides=WANTED)])
    body = {"name": made["name"], "steps": [step("tool", stepId="page")]}

    kept = await api.put("/v2/workflows/order-shipped", json=body)
    body["steps"] = [step("tool", stepId="page", providerOverrides=None)]
    cleared = await api.put("/v2/workflows/order-shipped", json=body)

    assert made["steps"][0]["providerOverrides"] == WANTED
    assert kept.json()["steps"][0]["providerOverrides"] == WANTED
    assert "providerOverrides" not in cleared.json()["steps"][0]


async def test_variables_in_overrides_that_can_never_have_a_value_are_issues(api: Api) -> None:
    made = await make_workflow(api, steps=[step("tool", providerOverrides={"opsgenie": {"note": "{{nobody.name}}"}})])

    assert list(made["steps"][0]["issues"]["controls"]) == ["providerOverrides.opsgenie.note"]


async def test_copies_and_steps_in_branches_have_the_overrides(api: Api) -> None:
    inside = step("tool", stepId="page", providerOverrides=WANTED)
    condition = {"==": [{"var": "payload.plan"}, "pro"]}
    branch = step("branch", controlValues={"paths": [{"name": "Pro", "condition": condition, "steps": [inside]}]})
    made = await make_workflow(api, steps=[branch])

    copied = await api.post("/v2/workflows/order-shipped/duplicate", json={})

    assert made["steps"][0]["controlValues"]["paths"][0]["steps"][0]["providerOverrides"] == WANTED
    assert copied.json()["steps"][0]["nested"][0]["providerOverrides"] == WANTED
