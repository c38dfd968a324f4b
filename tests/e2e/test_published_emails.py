"""Block documents, saved, read and previewed by the published Python client, unmodified."""

import pytest
from novu_py import Novu

from tests.content.email.documents import make_document, make_node, paragraph, variable
from tests.e2e.test_published_client import call, client, process, service, tenant

__all__ = ["client", "process", "service", "tenant"]

# The client marks some of its own calls as deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


async def test_a_block_document_with_an_unknown_block(client: Novu) -> None:
    picture = make_node("image", src="https://example.com/picture.png")
    body = make_document(paragraph("Hello ", variable("payload.name")), picture, make_node("buton"))
    step = {"name": "Mail", "type": "email", "control_values": {"subject": "Hi", "body": body, "editorType": "block"}}
    workflow = {"name": "Welcome", "workflow_id": "welcome", "active": True, "steps": [step]}

    created = await call(client.workflows.create, create_workflow_dto=workflow)
    read = await call(client.workflows.get, workflow_id="welcome")
    listed = await call(client.workflows.list, request={})

    assert created.status == "ERROR"
    assert list(read.steps[0].issues.controls) == ["body.content[2].type"]
    assert [one.workflow_id for one in listed.workflows] == ["welcome"]


@pytest.mark.newer_client
async def test_a_preview_of_a_block_document(client: Novu) -> None:
    step = {"name": "Mail", "step_id": "mail", "type": "email", "control_values": {"subject": "Hi", "body": "Hi"}}
    workflow = {"name": "Welcome", "workflow_id": "welcome", "active": True, "steps": [step]}
    await call(client.workflows.create, create_workflow_dto=workflow)

    preview = await call(
        client.workflows.steps.generate_preview,
        workflow_id="welcome",
        step_id="mail",
        generate_preview_request_dto={
            "control_values": {
                "subject": "Hi",
                "editorType": "block",
                "body": make_document(paragraph(variable("payload.name"))),
            },
            "preview_payload": {"payload": {"name": "<Ada>"}},
        },
    )

    assert ">&lt;Ada&gt;</p>" in preview.result["preview"]["body"]
