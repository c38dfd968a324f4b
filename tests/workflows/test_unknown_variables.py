"""Variables that can never have a value are issues of the step, with the nearest name; free ones are not."""

from typing import Any

import pytest

from tests.engine.support import step
from tests.support import Api
from tests.workflows.support import make_workflow

CLOSED = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "order": {"type": "object", "additionalProperties": False, "properties": {"number": {"type": "string"}}},
        "items": {
            "type": "array",
            "items": {"type": "object", "additionalProperties": False, "properties": {"title": {"type": "string"}}},
        },
        "open": {"type": "object", "properties": {"a": {"type": "string"}}},
        "either": {"anyOf": [{"type": "string"}, {"type": "object"}]},
    },
}
INBOX = step("in_app", "Inbox", body="Hello")
DIGEST = step("digest", "Digest", type="regular", amount=1, unit="hours")


async def issues_of(api: Api, last: dict[str, Any], **fields: Any) -> dict[str, list[str]]:
    """The issues about variables of the last of three steps, by the path of the control."""
    made = await make_workflow(api, steps=[INBOX, DIGEST, last], **fields)
    found = made["steps"][2].get("issues", {}).get("controls", {})
    kinds = {one["issueType"] for issues in found.values() for one in issues}
    assert kinds <= {"ILLEGAL_VARIABLE_IN_CONTROL_VALUE"}, found
    assert made["status"] == "ACTIVE"
    return {path: [one["message"] for one in issues] for path, issues in found.items()}


async def body_issues(api: Api, body: str, **fields: Any) -> list[str]:
    return (await issues_of(api, step("sms", "Text", body=body), **fields)).get("body", [])


def never(whole: str, why: str) -> str:
    return f"'{whole}' can never have a value: {why}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "{{subscriber.fisrtName}}",
            never("subscriber.fisrtName", "there is no 'fisrtName' in 'subscriber'; did you mean 'firstName'?"),
        ),
        ("{{steps.nope.read}}", never("steps.nope.read", "there is no 'nope' in 'steps'")),
        (
            "{{steps.inbx.read}}",
            never("steps.inbx.read", "there is no 'inbx' in 'steps'; did you mean 'inbox'?"),
        ),
        (
            "{{steps.inbox.raed}}",
            never("steps.inbox.raed", "there is no 'raed' in 'steps.inbox'; did you mean 'read'?"),
        ),
        ("{{paylaod.x}}", never("paylaod.x", "there is no variable 'paylaod'; did you mean 'payload'?")),
        ("{{room}}", never("room", "there is no variable 'room'; values of the trigger are in 'payload'")),
        (
            "{% if actor.emial %}a{% endif %}",
            never("actor.emial", "there is no 'emial' in 'actor'; did you mean 'email'?"),
        ),
        (
            "{{ 'a' | append: workflow.nmae }}",
            never("workflow.nmae", "there is no 'nmae' in 'workflow'; did you mean 'name'?"),
        ),
        (
            "{% for one in steps.digest.evnts %}{{one}}{% endfor %}",
            never("steps.digest.evnts", "there is no 'evnts' in 'steps.digest'; did you mean 'events'?"),
        ),
        (
            "{{steps.digest.events[0].paylod}}",
            never(
                "steps.digest.events.0.paylod",
                "there is no 'paylod' in 'steps.digest.events.0'; did you mean 'payload'?",
            ),
        ),
    ],
)
async def test_a_variable_that_cannot_exist_is_named_with_the_nearest(api: Api, body: str, expected: str) -> None:
    assert await body_issues(api, body) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        "{{subscriber.data.anything.deep}} {{subscriber.firstName | upcase}} {{subscriber.firstName.size}}",
        "{{payload.x.y[0].z}} {{payload['odd name']}} {{payload[subscriber.locale]}} {{context.tenant.data.x}}",
        "{% for event in steps.digest.events %}{{event.payload.x}} {{forloop.index}} {{event.any}}{% endfor %}",
        "{% assign a = payload.b %}{{a.c}} {% capture q %}x{% endcapture %}{{q}} {% increment n %}",
        "{{step.events.first.x}} {{step.total_count}} {{steps.digest.events.size}} {{steps.inbox.seen}}",
        "{% raw %}{{subscriber.fisrtName}}{% endraw %}{% comment %}{{nope}}{% endcomment %}",
        "no template",
    ],
)
async def test_variables_that_may_have_a_value_are_free(api: Api, body: str) -> None:
    assert await body_issues(api, body) == []


async def test_the_payload_is_checked_against_a_closed_schema_that_is_validated(api: Api) -> None:
    body = "{{payload.ordr.number}} {{payload.order.nubmer}} {{payload.items[0].titel}} {{payload.items.first.title}}"
    free = " {{payload.open.b}} {{payload.either.x}} {{payload.order.number}} {{step.events[0].items}}"

    assert await body_issues(api, body + free, payloadSchema=CLOSED, validatePayload=True) == [
        never("payload.ordr.number", "there is no 'ordr' in 'payload'; did you mean 'order'?"),
        never("payload.order.nubmer", "there is no 'nubmer' in 'payload.order'; did you mean 'number'?"),
        never("payload.items.0.titel", "there is no 'titel' in 'payload.items.0'; did you mean 'title'?"),
    ]


async def test_a_payload_that_is_not_validated_may_have_anything(api: Api) -> None:
    assert await body_issues(api, "{{payload.ordr}}", payloadSchema=CLOSED, validatePayload=False) == []


async def test_conditions_are_checked_too(api: Api) -> None:
    rule = {
        "and": [
            {"==": [{"var": "subscriber.emial"}, "x"]},
            {"some": [{"var": "steps.digest.events"}, {"==": [{"var": "payload.x"}, 1]}]},
            {"==": [{"var": ["payload.plan", "none"]}, {"var": ""}]},
        ]
    }
    filters = [
        {
            "type": "GROUP",
            "value": "AND",
            "children": [
                {"on": "subscriber", "field": "fisrtName", "operator": "EQUAL", "value": "{{subscriber.lcoale}}"},
                {"on": "subscriber", "field": "subscriber.firstName", "operator": "EQUAL", "value": "a"},
                {"on": "payload", "field": "plan", "operator": "EQUAL", "value": "b"},
            ],
        }
    ]
    last = {**step("sms", "Text", body="x", skip=rule), "filters": filters}

    assert await issues_of(api, last) == {
        "skip": [never("subscriber.emial", "there is no 'emial' in 'subscriber'; did you mean 'email'?")],
        "filters.0.children.0.field": [
            never("subscriber.fisrtName", "there is no 'fisrtName' in 'subscriber'; did you mean 'firstName'?")
        ],
        "filters.0.children.0.value": [
            never("subscriber.lcoale", "there is no 'lcoale' in 'subscriber'; did you mean 'locale'?")
        ],
    }


async def test_keys_may_be_paths_with_or_without_the_payload(api: Api) -> None:
    fine = {"type": "regular", "amount": 1, "unit": "hours"}
    schema = {"payloadSchema": CLOSED, "validatePayload": True}

    keys = ("payload.order.number", "order.number", "open.b", "subscriber.locale", "{{payload.order.number}}")
    for number, path in enumerate(keys):
        second = step("digest", "Second", **fine, digestKey=path)
        assert await issues_of(api, second, key=f"w-{number}", **schema) == {}, path
    assert await issues_of(api, step("digest", "Second", **fine, digestKey="ordr.number"), **schema) == {
        "digestKey": [never("ordr.number", "there is no variable 'ordr'; values of the trigger are in 'payload'")]
    }


async def test_variants_are_checked_and_a_single_step_shows_the_same(api: Api) -> None:
    variant = {"name": "Other", "filters": [], "controlValues": {"body": "{{subscriber.phoen}}"}}
    made = await make_workflow(api, steps=[{**step("sms", "Text", body="x"), "variants": [variant]}])
    (whole,) = made["steps"]
    alone = (await api.get(f"/v2/workflows/{made['workflowId']}/steps/text")).json()

    assert list(whole["issues"]["controls"]) == ["variants.0.body"]
    assert alone["issues"] == whole["issues"]


async def test_a_workflow_with_very_much_markup_is_answered_without_the_check(api: Api) -> None:
    body = "{{subscriber.nope}} " * 900

    assert await body_issues(api, body) == []
    assert len(await body_issues(api, "{{subscriber.nope}} " * 9, key="short")) == 1
