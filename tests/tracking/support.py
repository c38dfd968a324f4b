"""Mails with links, as they are sent, and people who open them."""

import re
from typing import Any

import httpx

from clarion.ids import id_text
from clarion.tracking.recorder import TrackingRecorder
from tests.engine.providers import ADA, Account
from tests.engine.support import World, step

PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SHOP = "https://shop.example/tea?size=1&sort=new"
SHOWN_SHOP = "https://shop.example/tea?size=…&sort=…"
BODY = f"""<html><body><p>Hello</p><a class="b" href="{SHOP.replace("&", "&amp;")}">Tea</a>
<a href="mailto:help@shop.example">Help</a><a href="#top">Top</a></body></html>"""
MAIL = step("email", subject="Hi", body=BODY)
LATER = 60_000


async def set_tracking(world: World, tracking: Any) -> httpx.Response:
    return await world.api.patch(f"/v1/environments/{id_text(world.api.environment.id)}", json={"tracking": tracking})


async def switch_on(world: World, **tracking: Any) -> None:
    response = await set_tracking(world, {"opens": True, "clicks": True} | tracking)
    assert response.status_code == 200, response.text


async def send(world: World, account: Account, person: dict[str, Any] = ADA, **trigger: Any) -> str:
    """Trigger the workflow and return the HTML that the provider got."""
    await world.trigger(person, **trigger)
    await world.work()
    html: str = account.bodies[-1]["html"]
    return html


def list_links(html: str) -> list[str]:
    """The paths of tracked links."""
    return re.findall(r'href="http://[^/"]+(/t/c/[A-Za-z0-9_-]+)"', html)


def find_image(html: str) -> str:
    (path,) = re.findall(r'<img src="http://[^/"]+(/t/o/[A-Za-z0-9_-]+)"', html)
    return str(path)


async def visit(
    world: World, recorder: TrackingRecorder, path: str, *, method: str = "GET", **headers: str
) -> httpx.Response:
    """Ask for a link or an image as a person does, some time after the mail was sent, and let it be recorded."""
    world.clock.move(LATER)
    transport = world.api._transport
    async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test") as client:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = await client.request(method, path, headers={"user-agent": PERSON} | named)
    await recorder.record()
    return response


async def message(world: World) -> dict[str, Any]:
    (found,) = await world.messages(channel="email")
    return found
