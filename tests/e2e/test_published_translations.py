"""Translations by the published Python client, unmodified, and as the published command line reads them."""

import json
from typing import Any

import httpx
import pytest
from novu_py import Novu, models
from novu_py.models import APIError
from novu_py.utils import serialize_request_body

from tests.e2e.test_published_client import call, client, process, service, tenant
from tests.services import Service, Tenant

__all__ = ["client", "process", "service", "tenant"]

# The client marks some of its own calls as deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

GERMAN = {"workflows": {"welcome": {"hello": "Hallo"}}}
WELCOME: dict[str, Any] = {"resource_id": "welcome", "resource_type": "workflow"}


async def make_workflow(client: Novu, **fields: Any) -> Any:
    step = {"name": "Inbox", "type": "in_app", "control_values": {"body": "{{t.hello}}"}}
    body = {"name": "Welcome", "workflow_id": "welcome", "active": True, "steps": [step], **fields}
    return await call(client.workflows.create, create_workflow_dto=body)


def as_file(name: str, content: Any) -> dict[str, Any]:
    return {"file_name": name, "content": json.dumps(content).encode(), "content_type": "application/json"}


async def send_form(service: Service, tenant: Tenant, path: str, form: Any) -> httpx.Response:
    """Send a form as the client makes it; its own hook reads the body of each request, which fails for forms."""
    made = serialize_request_body(form, False, False, "multipart", type(form))
    assert made is not None
    async with httpx.AsyncClient(headers={"Authorization": f"ApiKey {tenant.key}"}) as http:
        sent = await http.post(f"{service.process.address}{path}", data=made.data, files=made.files)
    assert sent.status_code == 200, sent.text
    return sent


async def test_translations_are_made_read_and_deleted(client: Novu) -> None:
    made = await make_workflow(client, is_translation_enabled=True)
    created, german = [
        await call(
            client.translations.create,
            create_translation_request_dto={**WELCOME, "locale": locale, "content": {"hello": hello}},
        )
        for locale, hello in (("en_US", "Hello"), ("de_DE", "Hallo"))
    ]
    read = await call(client.translations.retrieve, **WELCOME, locale="en_US")
    group = await call(client.translations.groups.retrieve, **WELCOME)

    assert made.is_translation_enabled is True
    assert created == read
    assert (read.resource_id, read.locale, german.locale) == ("welcome", "en_US", "de_DE")
    assert (group.resource_name, group.locales) == ("Welcome", ["en_US", "de_DE"])

    await call(client.translations.delete, **WELCOME, locale="de_DE")
    await call(client.translations.groups.delete, **WELCOME)
    with pytest.raises(APIError) as refused:
        await call(client.translations.groups.retrieve, **WELCOME)
    assert refused.value.status_code == 404


# The oldest version of the client sends and reads no texts.
@pytest.mark.newer_client
async def test_texts_of_one_language(client: Novu) -> None:
    await make_workflow(client, is_translation_enabled=True)
    texts = {**WELCOME, "locale": "en_US", "content": {"hello": "Hello"}}
    created = await call(client.translations.create, create_translation_request_dto=texts)
    imported = await call(
        client.translations.master.import_master_json,
        import_master_json_request_dto={"locale": "de_DE", "master_json": GERMAN},
    )
    master = await call(client.translations.master.retrieve, locale="de_DE")

    assert created.content == {"hello": "Hello"}
    assert imported.success
    assert master.workflows == GERMAN["workflows"]


@pytest.mark.newer_client
async def test_files_of_texts(service: Service, tenant: Tenant, client: Novu) -> None:
    await make_workflow(client, is_translation_enabled=True)
    files = [models.Files(**as_file("en_US.json", {"hello": "Hi"}))]
    form = models.TranslationControllerUploadTranslationFilesRequestBody(**WELCOME, files=files)
    uploaded = (await send_form(service, tenant, "/v2/translations/upload", form)).json()
    master = await call(client.translations.master.retrieve, locale="en_US")
    one_file = models.File(**as_file("fr_FR.json", {"workflows": {"welcome": {"hello": "Salut"}}}))
    master_form = models.TranslationControllerUploadMasterJSONEndpointRequestBody(file=one_file)
    file = (await send_form(service, tenant, "/v2/translations/master-json/upload", master_form)).json()["data"]
    locales = (await call(client.translations.groups.retrieve, **WELCOME)).locales

    assert (uploaded["totalFiles"], uploaded["successfulUploads"], uploaded["errors"]) == (1, 1, [])
    assert master.workflows == {"welcome": {"hello": "Hi"}}
    assert file["success"]
    assert locales == ["en_US", "fr_FR"]


@pytest.mark.newer_client
async def test_an_update_that_does_not_mention_translations_keeps_them(client: Novu) -> None:
    await make_workflow(client, is_translation_enabled=True)
    texts = {"locale": "de_DE", "master_json": GERMAN}
    await call(client.translations.master.import_master_json, import_master_json_request_dto=texts)
    body = {"name": "Welcome", "steps": [], "origin": "novu-cloud", "preferences": {"user": None, "workflow": None}}

    updated = await call(client.workflows.update, workflow_id="welcome", update_workflow_dto=body)
    again = await call(
        client.workflows.patch, workflow_id="welcome", patch_workflow_dto={"is_translation_enabled": True}
    )

    assert (updated.is_translation_enabled, again.is_translation_enabled) == (False, True)
    assert (await call(client.translations.master.retrieve, locale="de_DE")).workflows == GERMAN["workflows"]


async def test_the_published_command_line_pulls_and_pushes(service: Service, tenant: Tenant, client: Novu) -> None:
    """Its requests, in their order; it reads `data` of every body."""
    await make_workflow(client, is_translation_enabled=True)
    headers = {"Authorization": f"ApiKey {tenant.key}"}
    async with httpx.AsyncClient(base_url=service.process.address, headers=headers) as http:
        user = (await http.get("/v1/users/me")).json()["data"]
        settings = (await http.get("/v1/organizations/settings")).json()["data"]
        locales = [settings["defaultLocale"], *settings["targetLocales"]]
        pulled = {
            one: (await http.get("/v2/translations/master-json", params={"locale": one})).json() for one in locales
        }
        content = json.dumps({"workflows": {"welcome": {"hello": "Hello"}}, "layouts": {}}).encode()
        files = {"file": ("en_US.json", content, "application/json")}
        pushed = (await http.post("/v2/translations/master-json/upload", files=files)).json()["data"]

    assert user["id"]
    assert {locale: body["data"]["workflows"] for locale, body in pulled.items()} == {"en_US": {}}
    assert (pushed["success"], pushed["successful"]) == (True, ["welcome"])
