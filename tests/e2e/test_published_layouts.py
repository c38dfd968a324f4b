"""The published Python client, unmodified: layouts, steps that name one, and their way to another environment."""

from typing import Any

import pytest
from novu_py import Novu, models

from clarion.content.layouts.store import list_layouts
from clarion.db.port import Database
from clarion.environments.model import Environment
from clarion.ids import EnvironmentId, find_id, id_text
from tests.content.layouts.support import HTML, mail
from tests.e2e.test_published_client import call, client, database, environment, process, service, tenant

__all__ = ["client", "database", "environment", "process", "service", "tenant"]

# The client marks some of its own calls as deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


async def make_layout(client: Novu, key: str = "newsletter", **fields: Any) -> Any:
    return await call(client.layouts.create, create_layout_dto={"layout_id": key, "name": key.title(), **fields})


async def save_body(client: Novu, key: str = "newsletter", body: str = HTML) -> Any:
    values = {"email": {"body": body, "editor_type": "html"}}
    return await call(
        client.layouts.update, layout_id=key, update_layout_dto={"name": "Newsletter", "control_values": values}
    )


async def make_workflow(client: Novu, layout: str | None) -> Any:
    """A workflow with an e-mail that names a layout."""
    values = mail(layout)["controlValues"]
    step = {"name": "Mail", "step_id": "mail", "type": "email", "control_values": values}
    body = {"name": "News", "workflow_id": "news", "active": True, "steps": [step]}
    return await call(client.workflows.create, create_workflow_dto=body)


async def layout_of_step(client: Novu) -> str | None:
    step = (await call(client.workflows.get, workflow_id="news")).steps[0]
    layout: str | None = step.controls.values.layout_id
    return layout


async def test_a_layout_is_made_saved_copied_listed_and_deleted(client: Novu) -> None:
    made = await make_layout(client, source="dashboard")
    saved = await save_body(client)
    kept = await call(client.layouts.update, layout_id="newsletter", update_layout_dto={"name": "Letter"})
    copy = await call(client.layouts.duplicate, layout_id="newsletter", duplicate_layout_dto={"name": "Summer Sale"})
    copied = await call(client.layouts.retrieve, layout_id=copy.slug)
    request = {"limit": 1, "offset": 0, "order_by": "name", "order_direction": "ASC", "query": "e"}
    listed = await call(client.layouts.list, request=request)
    cleared = await call(
        client.layouts.update,
        layout_id="summer-sale",
        update_layout_dto={"name": "Summer Sale", "control_values": None},
    )
    await call(client.layouts.delete, layout_id="summer-sale")

    assert (made.is_default, made.controls.values.email.editor_type) == (True, "block")
    assert (saved.controls.values.email.body, kept.controls) == (HTML, saved.controls)
    assert (copy.layout_id, copy.is_default, copied.controls) == ("summer-sale", False, saved.controls)
    assert ([one.name for one in listed.layouts], listed.total_count) == (["Letter"], 2)
    assert cleared.controls.values.email is None
    with pytest.raises(models.ErrorDto) as unknown:
        await call(client.layouts.retrieve, layout_id="summer-sale")
    assert unknown.value.status_code == 404


async def test_a_layout_is_previewed_and_a_broken_body_is_told_of(client: Novu) -> None:
    await make_layout(client)
    await save_body(client)

    async def preview(**request: Any) -> Any:
        return await call(client.layouts.generate_preview, layout_id="newsletter", layout_preview_request_dto=request)

    stored = await preview(preview_payload={"subscriber": {"first_name": "<Ada>"}})
    given = {"email": {"body": HTML.replace("shop", "store"), "editorType": "html"}}
    changed = await preview(control_values=given)
    broken = await preview(control_values={"email": {"body": "{% if %}", "editorType": "html"}})

    assert "<p>For &lt;Ada&gt;</p>" in stored.result.preview.body
    assert stored.preview_payload_example.subscriber.first_name == "<Ada>"
    assert "<h1>The store</h1>" in changed.result.preview.body
    assert (broken.result.preview, broken.schema_) == (None, None)


async def test_refusals_name_the_field(client: Novu) -> None:
    await make_layout(client)

    for refused, member in (
        (make_layout(client), "layoutId"),
        (save_body(client, body="<html><body>Nothing</body></html>"), "controlValues.email.body"),
        (call(client.layouts.delete, layout_id="newsletter"), "layoutId"),
        (make_workflow(client, "unknown"), "steps.0.controlValues.layoutId"),
    ):
        with pytest.raises(models.ValidationErrorDto) as error:
            await refused
        assert list(error.value.data.errors) == [member]


async def test_a_step_names_a_layout_until_that_is_deleted(client: Novu) -> None:
    await make_layout(client, "default")
    layout = await make_layout(client)
    await make_workflow(client, layout.id)
    named = await layout_of_step(client)
    usage = await call(client.layouts.usage, layout_id="newsletter")
    await call(client.layouts.delete, layout_id="newsletter")

    assert named == "newsletter"
    assert [(one.name, one.workflow_id) for one in usage.workflows] == [("News", "news")]
    assert await layout_of_step(client) is None


async def test_a_workflow_takes_its_layout_along(client: Novu, database: Database, environment: Environment) -> None:
    await make_layout(client)
    await save_body(client)
    await make_workflow(client, "newsletter")
    (target,) = [one for one in await call(client.environments.list) if one.id != id_text(environment.id)]
    request = {"target_environment_id": target.id}

    synced = await call(client.workflows.sync, workflow_id="news", sync_workflow_dto=request)

    production = EnvironmentId(find_id(target.id) or b"")
    (copy,) = await database.read(lambda db: list_layouts(db, production))
    assert synced.steps[0].controls.values.layout_id == copy.key == "newsletter"
