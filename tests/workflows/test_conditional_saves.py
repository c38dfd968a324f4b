"""ETags of workflows, and saves under the condition that nothing has changed since, on both databases."""

import asyncio
from typing import Any

import pytest

from tests.audit.support import list_entries
from tests.support import Api
from tests.workflows.support import make_workflow, replace_workflow, step

PATH = "/v2/workflows/order-shipped"


def saved(name: str) -> dict[str, Any]:
    return {"name": name, "steps": [step("sms", controlValues={"body": name})]}


async def test_every_response_with_a_workflow_has_its_etag_as_header_and_member(api: Api) -> None:
    created = await api.post("/v2/workflows", json={"name": "A", "workflowId": "order-shipped", "steps": []})
    read = await api.get(PATH)
    replaced = await api.put(PATH, json=saved("B"))
    changed = await api.patch(PATH, json={"name": "C"})
    copied = await api.post(f"{PATH}/duplicate", json={})

    for response in (created, read, replaced, changed, copied):
        assert response.headers["etag"] == f'"{response.json()["etag"]}"'
    assert created.json() == read.json()
    assert len({one.json()["etag"] for one in (created, replaced, changed, copied)}) == 4


async def test_a_save_that_changes_nothing_keeps_the_etag(api: Api) -> None:
    created = await make_workflow(api)

    assert (await replace_workflow(api, "order-shipped", steps=created["steps"]))["etag"] == created["etag"]


@pytest.mark.parametrize("form", ['"{}"', 'W/"{}"', "{}", '"other", "{}"', "*"])
async def test_a_save_with_the_etag_of_the_present_state_is_done(api: Api, form: str) -> None:
    created = await make_workflow(api)

    response = await api.put(PATH, json=saved("B"), headers={"If-Match": form.format(created["etag"])})

    assert response.status_code == 200
    assert response.json()["name"] == "B"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_a_change_of_an_older_state_is_refused_with_the_newer_one(api: Api, method: str) -> None:
    old = await make_workflow(api)
    newer = (await api.patch(PATH, json={"name": "B"})).json()
    body = None if method == "DELETE" else {"name": "C", "steps": []}

    response = await api.request(method, PATH, json=body, headers={"If-Match": f'"{old["etag"]}"'})

    assert response.status_code == 412
    assert response.headers["etag"] == f'"{newer["etag"]}"'
    assert response.json()["ctx"]["workflow"] == newer == (await api.get(PATH)).json()
    assert response.json()["error"] == "Precondition Failed"
    assert len(await list_entries(api, targetType="workflow")) == 2


async def test_a_client_merges_with_the_state_in_the_refusal_and_saves(api: Api) -> None:
    old = await make_workflow(api)
    await api.patch(PATH, json={"description": "By somebody else"})
    refused = await api.put(PATH, json=saved("B"), headers={"If-Match": old["etag"]})

    again = await api.put(PATH, json=saved("B"), headers={"If-Match": refused.headers["etag"]})

    assert again.status_code == 200
    assert (again.json()["name"], again.json()["description"]) == ("B", "By somebody else")


async def test_without_a_condition_the_last_save_wins(api: Api) -> None:
    await make_workflow(api)

    for name in ("B", "C"):
        assert (await api.put(PATH, json=saved(name))).status_code == 200


@pytest.mark.parametrize("value", ["", '"a', '"a" "b"', "a, ,b"])
async def test_a_condition_that_is_no_list_of_etags_is_refused_by_name(api: Api, value: str) -> None:
    await make_workflow(api)

    response = await api.put(PATH, json=saved("B"), headers={"If-Match": value})

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["if-match"]


async def test_a_bad_condition_is_reported_together_with_bad_fields(api: Api) -> None:
    await make_workflow(api)

    response = await api.put(PATH, json={"steps": []}, headers={"If-Match": ""})

    assert sorted(response.json()["errors"]) == ["if-match", "name"]


async def test_of_two_saves_at_once_of_the_same_state_exactly_one_wins(api: Api) -> None:
    for _ in range(5):
        state = (await api.get(PATH)).json() if _ else await make_workflow(api)

        answers = await asyncio.gather(
            *(
                api.put(PATH, json=saved(f"{state['version']}-{number}"), headers={"If-Match": state["etag"]})
                for number in range(2)
            )
        )

        assert sorted(one.status_code for one in answers) == [200, 412]
        won, lost = sorted(answers, key=lambda one: one.status_code)
        assert lost.json()["ctx"]["workflow"] == won.json() == (await api.get(PATH)).json()


async def test_a_replayed_save_has_the_etag_too_and_another_condition_is_another_request(api: Api) -> None:
    old = await make_workflow(api)
    headers = {"Idempotency-Key": "save-1", "If-Match": old["etag"]}
    first = await api.put(PATH, json=saved("B"), headers=headers)

    again = await api.put(PATH, json=saved("B"), headers=headers)
    other = await api.put(PATH, json=saved("B"), headers=headers | {"If-Match": first.json()["etag"]})

    assert again.headers["idempotency-replay"] == "true"
    assert (again.status_code, again.headers["etag"]) == (200, first.headers["etag"])
    assert other.status_code == 422
    assert list(other.json()["errors"]) == ["idempotency-key"]
