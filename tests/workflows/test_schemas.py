"""JSON Schemas of controls: they say what saving accepts, and what a complete step needs."""

from typing import Any

import jsonschema_rs
import msgspec
import pytest

from clarion.vocabulary import StepType
from clarion.workflows.control_checks import check_controls
from clarion.workflows.control_texts import TEXTS, WIDGETS
from clarion.workflows.controls import SHAPES
from clarion.workflows.issues import IssueType, find_issues, find_warnings
from clarion.workflows.model import Step
from clarion.workflows.schemas import control_schema, control_widgets
from tests.support import Api
from tests.workflows.support import CONTROLS, make_workflow, step

TYPES = list(SHAPES)


def accepts(step_type: StepType, values: dict[str, Any]) -> bool:
    validator = jsonschema_rs.validator_for(control_schema(step_type))
    return validator.is_valid(values)


def is_complete(step_type: StepType, values: dict[str, Any]) -> bool:
    step = Step(id="", step_id="one", name="One", type=step_type, controls=values)
    return not find_warnings(step) and all(one.type is not IssueType.MISSING_VALUE for one in find_issues(step))


@pytest.mark.parametrize("step_type", TYPES)
def test_every_control_has_a_title_and_a_description(step_type: StepType) -> None:
    names = {one.encode_name for one in msgspec.structs.fields(SHAPES[step_type])}

    properties = control_schema(step_type)["properties"]

    assert set(properties) == set(TEXTS[step_type]) == names
    assert list(properties) == list(TEXTS[step_type])
    assert all(one["title"] and one["description"].endswith(".") for one in properties.values())
    assert set(WIDGETS.get(step_type, {})) <= names


@pytest.mark.parametrize("step_type", TYPES)
def test_schemas_are_valid_and_stand_alone(step_type: StepType) -> None:
    schema = control_schema(step_type)

    jsonschema_rs.meta.validate(schema)
    assert "$ref" not in str(schema)
    assert "additionalProperties" in schema


@pytest.mark.parametrize("step_type", TYPES)
def test_examples_fit_their_own_schema(step_type: StepType) -> None:
    for name, one in control_schema(step_type)["properties"].items():
        for example in one.get("examples", ()):
            assert jsonschema_rs.is_valid(one, example), name


@pytest.mark.parametrize("kind", CONTROLS)
def test_controls_that_can_be_saved_fit_the_schema(kind: str) -> None:
    assert accepts(StepType(kind), CONTROLS[kind])


VALUES: list[Any] = [None, "", "text", 0, 1, 2.5, -1, 1e12, True, [], ["a"], [1], {}, {"amount": 1, "unit": "days"}]
VALUES += ["regular", "timed", "hours", "html", {"url": "/x"}, {"url": "/x", "target": "_self"}, {"target": 1}]


@pytest.mark.parametrize("step_type", TYPES)
def test_the_schema_refuses_exactly_the_values_that_saving_refuses(step_type: StepType) -> None:
    full = dict(CONTROLS[step_type.value])
    for name in TEXTS[step_type]:
        for value in VALUES:
            if (name, value) in CHECKED_BEYOND_TYPES:
                continue
            values = full | {name: value}
            is_saved = check_controls(step_type, values) == []
            assert jsonschema_rs.is_valid(control_schema(step_type)["properties"][name], value) is is_saved, values


# What types do not show: a cron expression, a path, a rule, a URL, a schema, what contradicts another control.
CHECKED_BEYOND_TYPES = [
    *(("url", text) for text in ("text", "regular", "timed", "hours", "html")),
    ("continueOnFailure", False),
    *(("cron", text) for text in ("text", "regular", "timed", "hours", "html")),
    *((name, {"amount": 1, "unit": "days"}) for name in ("skip", "condition")),
    *(
        (name, one)
        for name in ("skip", "condition")
        for one in ({"url": "/x"}, {"url": "/x", "target": "_self"}, {"target": 1})
    ),
]

DRAFTS: list[tuple[str, dict[str, Any]]] = [
    ("in_app", {}),
    ("in_app", {"subject": "a"}),
    ("in_app", {"body": "a"}),
    ("email", {"subject": "a"}),
    ("email", {"subject": "a", "body": "b"}),
    ("email", {"subject": "a", "body": "b", "unheard": 1}),
    ("sms", {}),
    ("sms", {"body": "a"}),
    ("push", {"body": "a"}),
    ("delay", {}),
    ("delay", {"amount": 1}),
    ("delay", {"amount": 1, "unit": "days"}),
    ("delay", {"cron": "0 9 * * *"}),
    ("delay", {"type": None, "cron": "0 9 * * *"}),
    ("delay", {"type": "regular", "cron": "0 9 * * *"}),
    ("delay", {"type": "timed", "cron": "0 9 * * *"}),
    ("delay", {"type": "scheduled"}),
    ("delay", {"type": "scheduled", "delayPath": "payload.at"}),
    ("delay", {"type": "dynamic", "dynamicKey": "payload.at"}),
    ("digest", {"type": "timed"}),
    ("digest", {"type": "regular", "amount": 1, "unit": "days"}),
    ("digest", {"cron": "0 9 * * *"}),
    ("throttle", {"threshold": 2}),
    ("throttle", {"dynamicKey": "payload.at"}),
    ("throttle", {"amount": 1, "unit": "days"}),
    ("custom", {}),
    ("custom", {"any": 1}),
]


@pytest.mark.parametrize(("kind", "values"), DRAFTS)
def test_what_the_schema_requires_is_what_issues_report_as_missing(kind: str, values: dict[str, Any]) -> None:
    assert accepts(StepType(kind), values) is is_complete(StepType(kind), values)


def test_choices_are_in_the_order_in_which_people_expect_them() -> None:
    unit = control_schema(StepType.DELAY)["properties"]["unit"]

    assert unit["enum"] == ["seconds", "minutes", "hours", "days", "weeks", "months", None]
    assert unit["type"] == ["string", "null"]


async def test_steps_have_the_schema_of_their_controls_and_all_types_are_listed(api: Api) -> None:
    made = await make_workflow(api, steps=[step(kind) for kind in CONTROLS])

    listed = (await api.get("/v1/workflows/steps/schemas")).json()

    by_type = {one["type"]: one for one in listed}
    assert set(by_type) == set(CONTROLS)
    for one in made["steps"]:
        assert one["controls"]["dataSchema"] == by_type[one["type"]]["dataSchema"]
        assert one["controls"]["uiSchema"] == by_type[one["type"]]["uiSchema"]
        assert one["controls"]["uiSchema"] == control_widgets(StepType(one["type"]))
