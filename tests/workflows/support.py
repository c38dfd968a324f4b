"""Workflows for tests, through HTTP: each maker defaults everything."""

from typing import Any

from tests.support import Api

CONTROLS: dict[str, dict[str, Any]] = {
    "in_app": {
        "subject": "Hello {{subscriber.firstName}}",
        "body": "Order {{payload.order}} is on its way",
        "avatar": "https://example.com/a.png",
        "primaryAction": {"label": "See", "redirect": {"url": "/orders/{{payload.order}}", "target": "_self"}},
        "secondaryAction": {"label": "Later"},
        "redirect": {"url": "https://example.com", "target": "_blank"},
        "data": {"order": "{{payload.order}}", "deep": [1, {"x": True}]},
        "disableOutputSanitization": False,
        "skip": {"==": [{"var": "payload.plan"}, "pro"]},
    },
    "email": {
        "subject": "Order {{payload.order}}",
        "body": "<p>{{subscriber.firstName}}</p>",
        "editorType": "html",
        "from": {"email": "shop@example.com", "name": "Shop"},
        "replyTo": "help@example.com",
        "preheader": "Soon",
        "layoutId": None,
    },
    "sms": {"body": "Order {{payload.order}}"},
    "chat": {"body": "Order {{payload.order}}"},
    "push": {"subject": "Order", "body": "{{payload.order}} is there"},
    "branch": {
        "paths": [{"name": "Pro", "condition": {"==": [{"var": "payload.plan"}, "pro"]}, "steps": []}],
    },
    "tool": {"body": "Order {{payload.order}} is late"},
    "exit": {"reason": "{{payload.order}} is paid"},
    "trigger": {"workflowId": "other", "to": ["bob"], "payload": {"order": "{{payload.order}}"}},
    "wait_for": {
        "event": "message.clicked",
        "match": [{"path": "link", "value": "https://example.com/{{payload.order}}"}],
        "timeout": {"amount": 3, "unit": "days"},
        "onTimeout": "exit",
    },
    "update": {"ofStep": "the-in-app-step", "body": "Order {{payload.order}} is there"},
    "clear": {"ofStep": "the-in-app-step"},
    "http_request": {
        "method": "POST",
        "url": "https://example.com/orders/{{payload.order}}",
        "headers": [{"key": "X-Key", "value": "{{env.name}}"}],
        "body": '{"order": {{payload.order | json}}}',
        "responseBodySchema": {"type": "object", "properties": {"plan": {"type": "string"}}},
        "enforceSchemaValidation": True,
        "timeout": 3,
        "onFailure": "continue",
    },
    "ask": {
        "question": "Approve {{payload.order}}?",
        "choices": [{"value": "approve", "label": "Approve {{payload.order}}"}, {"value": "reject"}],
        "timeout": {"amount": 3, "unit": "days"},
        "onTimeout": "exit",
        "escalate": {
            "after": {"amount": 1, "unit": "hours"},
            "to": ["bob"],
            "workflowId": "other",
            "payload": {"order": "{{payload.order}}"},
        },
    },
    "delay": {"type": "regular", "amount": 3, "unit": "hours"},
    "digest": {
        "type": "regular",
        "amount": 1,
        "unit": "days",
        "digestKey": "{{payload.room}}",
        "lookBackWindow": {"amount": 5, "unit": "minutes"},
    },
    "throttle": {"type": "fixed", "amount": 1, "unit": "hours", "threshold": 2, "throttleKey": "payload.room"},
    "custom": {"custom": {"anything": ["{{ not Liquid"]}},
}


def step(kind: str = "in_app", name: str | None = None, **fields: Any) -> dict[str, Any]:
    """One step as callers send it, complete unless the test says otherwise."""
    return {"name": name or f"The {kind} step", "type": kind, "controlValues": CONTROLS[kind], **fields}


def list_steps_before(kind: str) -> list[dict[str, Any]]:
    """The step whose messages a step of the kind is about, if it is about some."""
    return [step("in_app")] if "ofStep" in CONTROLS[kind] else []


async def make_workflow(
    api: Api, key: str = "order-shipped", *, steps: list[dict[str, Any]] | None = None, **fields: Any
) -> dict[str, Any]:
    chosen = [step()] if steps is None else steps
    body = {"name": "Order shipped", "workflowId": key, "steps": chosen, **fields}
    response = await api.post("/v2/workflows", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def replace_workflow(api: Api, key: str, *, steps: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    body = {"name": "Order shipped", "preferences": {}, "steps": steps, **fields}
    response = await api.put(f"/v2/workflows/{key}", json=body)
    assert response.status_code == 200, response.text
    changed: dict[str, Any] = response.json()
    return changed


PAYLOAD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"order": {"$ref": "#/$defs/order"}},
    "$defs": {"order": {"type": "integer"}},
    "additionalProperties": False,
}
STEPS_WITH_OUTPUTS: list[dict[str, Any]] = [
    step("digest", stepId="digest", controlValues={"amount": 1, "unit": "hours"}),
    step("throttle", stepId="throttle"),
    step("custom", stepId="own", controlValues={"total": "{{payload.order}}"}),
    step("in_app", stepId="inbox", controlValues={"body": "{{steps.digest.eventCount}} {{actor.firstName}}"}),
    step("sms", stepId="off", active=False),
    step("delay", stepId="wait", controlValues={"amount": 1, "unit": "hours"}),
    step("in_app", stepId="last", controlValues={"body": "{{steps.inbox.read}}"}),
    step("sms", stepId="later"),
]
"""Steps of all types whose outcome later steps see; `last` and `later` see them."""


def find_step(workflow: dict[str, Any], step_id: str) -> dict[str, Any]:
    return next(one for one in workflow["steps"] if one["stepId"] == step_id)
