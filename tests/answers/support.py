"""Steps that ask, the links of their messages, and what is stored of answers."""

import re
from typing import Any

import httpx

from clarion.db.port import Database
from clarion.db.query import sql
from tests.engine.support import World, in_app, step

LINKS = in_app("{{answers.approval.approve}} {{answers.approval.reject}}")
SHOWN = in_app("{{steps.approval.answer}}/{{steps.approval.label}}/{{steps.approval.by}}/{{steps.approval.at}}")
CHOICES = [{"value": "approve", "label": "Approve {{payload.order}}"}, {"value": "reject"}]
ANSWER = {"action": "answer"}
LIST_ANSWERS = sql("""
    SELECT choice, label, way, answered_at FROM answers WHERE environment_id = :environment_id
""")


def ask(**controls: Any) -> dict[str, Any]:
    usual = {"question": "Order {{payload.order}}?", "choices": CHOICES, "timeout": {"amount": 2, "unit": "hours"}}
    return step("ask", "Approval", **usual | controls)


async def start(world: World, *steps: dict[str, Any], to: Any = "ada", **fields: Any) -> None:
    """Let a run come to its question; by default, its messages have the links, and then what was answered."""
    await world.make_workflow(*(steps or (LINKS, ask(), SHOWN)))
    await world.trigger(to, **{"payload": {"order": 7}} | fields)
    await world.work()


async def list_links(world: World, key: str = "ada") -> list[str]:
    """The links of the person's first message."""
    return re.findall(r"https://\S+", (await world.feed(key))[0])


def token_of(link: str) -> str:
    return link.partition("token=")[2]


async def confirm(browser: httpx.AsyncClient, link: str) -> httpx.Response:
    return await browser.post(link, data=ANSWER)


async def list_answers(world: World, database: Database) -> list[tuple[str, str, str]]:
    rows = await database.read(lambda db: db.fetch(LIST_ANSWERS, environment_id=world.api.environment.id))
    return [(row["choice"], row["label"], row["way"]) for row in rows]


async def run_id(world: World, place: int = 0) -> str:
    return str((await world.events())[place]["_id"])


async def answer_by_api(world: World, choice: str = "approve", **fields: Any) -> httpx.Response:
    body = {"stepId": "approval", "choice": choice, **fields}
    return await world.api.post(f"/v1/runs/{await run_id(world)}/answers", json=body)
