"""Branches in workflows: how they are saved and shown, what is refused, and what published clients make of them."""

from pathlib import Path
from typing import Any

import pytest
from novu_py import models

from clarion.settings.model import Settings
from clarion.workflows.model import Step
from clarion.workflows.tree import define_step, list_body_paths, list_earlier, name_path
from tests.support import Api
from tests.workflows.support import make_workflow, step
from tests.workflows.test_steps import build

PRO = {"==": [{"var": "payload.plan"}, "pro"]}
URL = "/v2/workflows/order-shipped"


def branch(*paths: dict[str, Any], **fields: Any) -> dict[str, Any]:
    controls = {"paths": list(paths)} | {name: fields.pop(name) for name in ("otherwise",) if name in fields}
    return {"name": "Check", "type": "branch", "controlValues": controls, **fields}


def path(name: str, *steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"name": name, "condition": PRO, "steps": list(steps), **fields}


def say(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "type": "in_app", "controlValues": {"body": name}, **fields}


TREE = [
    say("start"),
    branch(
        path("Pro", say("pro"), branch(path("Deep", say("deep")), name="Inner")), otherwise={"steps": [say("other")]}
    ),
    say("end"),
]


def list_ids(steps: list[Step]) -> list[str]:
    return [one.step_id for one in steps]


def test_steps_before_are_those_that_a_run_can_have_done() -> None:
    built = build(*TREE)

    before = {one.step_id: list_ids(list_earlier(built, number)) for number, one in enumerate(built)}

    assert list_ids(built) == ["start", "check", "pro", "inner", "deep", "other", "end"]
    assert before["deep"] == ["start", "check", "pro", "inner"]
    assert before["other"] == ["start", "check"]
    assert before["end"] == ["start", "check", "pro", "inner", "deep", "other"]


def test_every_step_has_a_path_for_people_and_one_in_the_body() -> None:
    built = build(*TREE)

    assert name_path(built, built[4]) == "check/Pro/inner/Deep/deep"
    assert list_body_paths(built)[4:] == [
        "steps.1.controlValues.paths.0.steps.1.controlValues.paths.0.steps.0",
        "steps.1.controlValues.otherwise.steps.0",
        "steps.2",
    ]


def test_what_is_saved_is_read_back_as_the_same_steps() -> None:
    built = build(*TREE)

    again = build(*(define_step(built, one) for one in built if one.within is None), previous=built)

    assert again == built


def test_a_step_that_moves_into_a_branch_keeps_its_id() -> None:
    before = build(say("a"), say("b"))

    after = build(branch(path("Pro", say("b"))), say("a"), previous=before)

    assert {one.step_id: one.id for one in before}.items() <= {one.step_id: one.id for one in after}.items()


async def test_a_branch_shows_its_steps_as_they_are_saved_and_as_they_stand(api: Api) -> None:
    made = await make_workflow(api, steps=TREE)
    found = (await api.get(URL)).json()
    saved = await api.put(URL, json={"name": "Order shipped", "steps": found["steps"]})

    check = found["steps"][1]
    assert [one["stepId"] for one in found["steps"]] == ["start", "check", "end"]
    assert [one["stepId"] for one in check["nested"]] == ["pro", "inner", "deep", "other"]
    assert [one["within"] for one in check["nested"]] == [
        {"branch": "check", "path": "Pro"},
        {"branch": "check", "path": "Pro"},
        {"branch": "inner", "path": "Deep"},
        {"branch": "check", "path": "otherwise"},
    ]
    first, inner = check["controlValues"]["paths"][0]["steps"]
    assert first["controlValues"] == {"body": "pro"}
    assert inner["controlValues"]["paths"][0]["steps"][0]["stepId"] == "deep"
    assert saved.status_code == 200, saved.text
    assert saved.json()["version"] == made["version"], "nothing changed"
    nested = (await api.get(f"{URL}/steps/deep")).json()
    assert (nested["name"], nested["within"]) == ("deep", {"branch": "inner", "path": "Deep"})


@pytest.mark.parametrize(
    ("steps", "where"),
    [
        ([branch(path("A"), path("A"))], "steps.0.controlValues.paths.1.name"),
        ([branch(path("otherwise"))], "steps.0.controlValues.paths.0.name"),
        ([branch(path("a/b"))], "steps.0.controlValues.paths.0.name"),
        ([branch(path("A", condition={"unknown": [1]}))], "steps.0.controlValues.paths.0.condition"),
        ([branch(path("A", weight=1))], "steps.0.controlValues.paths.0.condition"),
        ([branch(path("A", condition=None, weight=0))], "steps.0.controlValues.paths.0.weight"),
        (
            [branch(path("A", condition=None, weight=1), otherwise={"steps": []})],
            "steps.0.controlValues.otherwise",
        ),
        ([branch(*(path(f"p{number}") for number in range(11)))], "steps.0.controlValues.paths"),
        ([branch(path("A", {"name": "x"}))], "steps.0.controlValues.paths.0.steps.0.type"),
        ([branch(path("A", say("x", unheardOf=1)))], "steps.0.controlValues.paths.0.steps.0.unheardOf"),
        ([branch(path("A", steps="none"))], "steps.0.controlValues.paths.0.steps"),
        (
            [branch(path("A", say("x", controlValues={"body": "{{"})))],
            "steps.0.controlValues.paths.0.steps.0.controlValues.body",
        ),
        ([branch(path("A", say("x", stepId="one"))), say("y", stepId="one")], "steps.1.stepId"),
        ([branch(path("A", *[say("x")] * 21))], "steps.0.controlValues.paths.0.steps"),
        ([branch(variants=[{"name": "v"}])], "steps.0.variants"),
    ],
)
async def test_a_branch_that_cannot_run_is_refused_where_it_is_wrong(
    api: Api, steps: list[dict[str, Any]], where: str
) -> None:
    response = await api.post("/v2/workflows", json={"name": "x", "workflowId": "x", "steps": steps})

    assert response.status_code == 422, response.text
    assert where in response.json()["errors"]


async def test_a_tree_has_limits(api: Api) -> None:
    deep = say("deepest")
    for number in range(6):
        deep = branch(path("A", deep), name=f"b{number}")
    wide = [branch(path("A", *(say(f"{number} {one}") for one in range(20))), name=f"b{number}") for number in range(5)]

    too_deep = await api.post("/v2/workflows", json={"name": "x", "workflowId": "x", "steps": [deep]})
    too_wide = await api.post("/v2/workflows", json={"name": "x", "workflowId": "x", "steps": wide})

    assert "may be 5 deep" in too_deep.text
    assert "at most 100" in too_wide.text


async def test_a_condition_asks_for_no_step_of_another_path(api: Api) -> None:
    child = {"on": "previousStep", "step": "first", "stepType": "read"}
    filters = [{"type": "GROUP", "value": "AND", "isNegated": False, "children": [child]}]
    tree = [branch(path("A", say("first")), path("B", say("second", filters=filters)))]

    refused = await api.post("/v2/workflows", json={"name": "x", "workflowId": "x", "steps": tree})

    assert "steps.0.controlValues.paths.1.steps.0.filters.0.children.0.step" in refused.json()["errors"]


async def test_a_path_without_a_condition_and_a_variable_of_another_path_are_issues(api: Api) -> None:
    tree = [
        branch(
            {"name": "A", "steps": [say("opening")]},
            path("B", say("second", controlValues={"body": "{{steps.opening.read}}"})),
        )
    ]
    made = await make_workflow(api, steps=tree)

    check = made["steps"][0]
    assert made["status"] == "ERROR"
    assert list(check["issues"]["controls"]) == ["paths.0.condition"]
    assert "there is no 'opening' in 'steps'" in check["nested"][1]["issues"]["controls"]["body"][0]["message"]


async def test_workflows_do_not_trigger_each_other_in_a_circle(api: Api) -> None:
    def trigger(key: str) -> dict[str, Any]:
        return {"name": "Start", "type": "trigger", "controlValues": {"workflowId": key}}

    await make_workflow(api, workflowId="b", steps=[branch(path("A", trigger("c")))])
    await make_workflow(api, workflowId="c", steps=[say("x")])
    closing = await api.put("/v2/workflows/c", json={"name": "c", "steps": [trigger("b")]})
    itself = await api.post(
        "/v2/workflows", json={"name": "d", "workflowId": "d", "steps": [branch(path("A", trigger("d")))]}
    )

    assert "steps.0.controlValues.workflowId" in closing.json()["errors"]
    assert "steps.0.controlValues.paths.0.steps.0.controlValues.workflowId" in itself.json()["errors"]


class TestPublishedNames:
    """Clients that know a closed set of types."""

    @pytest.fixture
    def settings(self, tmp_path: Path) -> Settings:
        return Settings(data_dir=tmp_path, builtin_name="novu")

    async def test_clients_see_custom_steps_and_write_them_back(self, api: Api) -> None:
        leave = {"name": "Leave", "type": "exit", "controlValues": {"reason": "done", "skip": PRO}}
        made = await make_workflow(api, steps=[*TREE, leave])
        read = models.WorkflowResponseDto.model_validate(made)
        listed = models.ListWorkflowResponse.model_validate((await api.get("/v2/workflows")).json())

        saved = await api.put(URL, json={"name": "Order shipped", "steps": made["steps"]})

        assert [one.type.value for one in read.steps] == ["in_app", "custom", "in_app", "custom"]
        assert made["steps"][1]["controlValues"]["custom"]["type"] == "branch"
        assert made["steps"][3]["controlValues"] == {"skip": PRO, "custom": {"type": "exit", "reason": "done"}}
        assert {one.value for one in listed.workflows[0].step_type_overviews} == {"in_app", "custom"}
        assert saved.status_code == 200, saved.text
        assert saved.json()["version"] == made["version"]

    async def test_a_client_that_leaves_the_content_out_changes_nothing(self, api: Api) -> None:
        made = await make_workflow(api, steps=TREE)
        brief = [
            {name: one[name] for name in ("_id", "stepId", "name", "type")}
            | ({} if one["type"] == "custom" else {"controlValues": one["controlValues"]})
            for one in made["steps"]
        ]

        saved = await api.put(URL, json={"name": "Order shipped", "steps": brief})

        assert saved.json()["version"] == made["version"], saved.text

    async def test_both_forms_can_be_written(self, api: Api) -> None:
        custom = {"type": "branch", "paths": [path("Pro", say("pro"))]}
        made = await make_workflow(
            api,
            steps=[
                step("custom", name="Check", controlValues={"custom": custom}),
                step("custom", controlValues={"custom": {"a": 1}}),
            ],
        )

        assert made["steps"][0]["nested"][0]["stepId"] == "pro"
        assert made["steps"][1]["controlValues"] == {"custom": {"a": 1}}
