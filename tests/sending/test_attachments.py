"""Files in the payload of a trigger: attached to its e-mails, stored once, refused if they are none or too large."""

import base64
import json
from typing import Any

import pytest

from clarion.triggers.attachments import MAX_ATTACHED_BYTES
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import World

SMALL = base64.b64encode(b"small").decode()
LARGE = base64.b64encode(bytes(range(256)) * 8).decode()
BYTES = [0, 1, 255]


async def send(world: World, payload: dict[str, Any], **trigger: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the attachments of the e-mail, and the run."""
    async with account(world, "a") as mail:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA, payload={"n": 1, **payload}, **trigger)
        await world.work()
        (body,) = mail.bodies
    (event,) = await world.events()
    return body.get("attachments", []), event


async def test_files_of_the_payload_are_attached_beside_those_of_the_overrides(world: World) -> None:
    files = [
        {"name": "small.txt", "mime": "text/plain", "file": SMALL},
        {"name": "large.bin", "mime": "application/x-test", "file": LARGE, "cid": "logo"},
    ]
    override = {"name": "other.txt", "mime": "text/plain", "file": SMALL}

    attached, event = await send(world, {"attachments": files}, overrides={"email": {"attachments": [override]}})

    assert attached == [*files, override]
    shown = event["payload"]["attachments"]
    assert (shown[0]["file"], "file" in shown[1], shown[1]["fileLength"]) == (SMALL, False, len(LARGE))


@pytest.mark.parametrize("file", [{"type": "Buffer", "data": BYTES}, BYTES])
async def test_bytes_are_attached_as_well(world: World, file: Any) -> None:
    override = {"email": {"attachments": [{"name": "b", "file": file}]}}

    attached, _ = await send(world, {"attachments": [{"name": "a", "file": file}]}, overrides=override)

    assert [base64.b64decode(one["file"]) for one in attached] == [bytes(BYTES)] * 2


async def test_base64_with_line_breaks_is_attached(world: World) -> None:
    file = base64.encodebytes(bytes(200)).decode()

    attached, _ = await send(world, {"attachments": [{"name": "a", "file": file}]})

    assert base64.b64decode(attached[0]["file"]) == bytes(200)


async def test_a_file_for_other_channels_is_not_attached(world: World) -> None:
    files = [
        {"name": "a", "file": SMALL, "channels": ["sms"]},
        {"name": "b", "file": SMALL, "channels": ["email", "sms"]},
    ]

    attached, _ = await send(world, {"attachments": files})

    assert [one["name"] for one in attached] == ["b"]


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        (["https://example.com/a.pdf", {"name": "b", "file": SMALL}], ["payload.attachments.0"]),
        ({"name": "b", "file": SMALL}, ["payload.attachments"]),
    ],
)
async def test_what_has_no_file_is_named_in_a_warning(world: World, given: Any, paths: list[str]) -> None:
    _, event = await send(world, {"attachments": given})

    (warning,) = [one for one in event["jobs"][0]["executionDetails"] if one["status"] == "Warning"]
    assert warning["detail"] == "Attachments without a file were left out"
    assert json.loads(warning["raw"])["leftOut"] == paths


@pytest.mark.parametrize("file", ["not base64!", {"type": "Buffer"}, [256], {"data": BYTES}, 7])
@pytest.mark.parametrize(
    ("where", "path"),
    [
        (lambda files: {"payload": {"attachments": files}}, "payload.attachments.1.file"),
        (lambda files: {"overrides": {"email": {"attachments": files}}}, "overrides.email.attachments.1.file"),
    ],
)
async def test_what_is_no_file_is_refused_when_the_event_is_triggered(
    world: World, file: Any, where: Any, path: str
) -> None:
    await world.make_workflow(EMAIL)

    response = await world.post(ADA, **where([{"name": "a", "file": SMALL}, {"name": "b", "file": file}]))

    assert (response.status_code, list(response.json()["errors"])) == (422, [path])


async def test_files_that_are_too_large_are_refused_with_the_limit_alone_and_in_bulk(world: World) -> None:
    await world.make_workflow(EMAIL)
    half = base64.b64encode(bytes(MAX_ATTACHED_BYTES // 2)).decode()
    too_large: dict[str, Any] = {"payload": {"attachments": [{"file": half}, {"file": half[:-4]}, {"file": SMALL}]}}
    event = {"name": "welcome", "to": "ada"}

    alone = await world.post(ADA, **too_large)
    bulk = await world.api.post("/v1/events/trigger/bulk", json={"events": [event | too_large, event]})

    assert (alone.status_code, list(alone.json()["errors"])) == (422, ["payload.attachments"])
    assert str(MAX_ATTACHED_BYTES) in alone.text
    refused, taken = bulk.json()
    assert (refused["status"], taken["status"]) == ("error", "processed")
    assert str(MAX_ATTACHED_BYTES) in json.dumps(refused)


async def test_files_do_not_count_towards_the_limit_of_the_payload(world: World) -> None:
    file = base64.b64encode(bytes(300_000)).decode()

    attached, _ = await send(world, {"attachments": [{"name": "a", "file": file}]})

    assert [one["file"] for one in attached] == [file]
