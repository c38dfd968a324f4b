"""How soon the dashboard answers: what people do with it, with the time until the next paint and the CPU time it takes.

The time until the next paint includes waiting for the machine; the CPU time of the page does not, so it is what to
compare two versions by.
"""

import asyncio
import statistics
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct
from playwright.async_api import Page

from bench.browser import Window
from bench.content import ensure_workflow
from bench.systems import System
from bench.workloads.trigger import WORKFLOW

MAIL_WORKFLOW = "bench-mail"
"""A workflow with a mail, whose run has something to show in tabs."""

_MAIL = {"name": "Mail", "type": "email", "controlValues": {"subject": "Order", "body": "<h1>Hello</h1><p>Thanks</p>"}}
_TABS = ("Text", "Source", "Headers", "As sent")
_ROUNDS = 3
_SETTLED = 0.7
"""Seconds after which all has been drawn that an interaction leads to."""

# From the click to the frame after the one in which something is there.
_WATCH_SHOWN = """(selector) => {
    addEventListener("click", (event) => { window.clicked = event.timeStamp }, { capture: true, once: true });
    const frame = () => new Promise(requestAnimationFrame);
    window.shown = (async () => {
        while (!document.querySelector(selector)) await frame();
        await frame();
        return performance.now() - window.clicked;
    })();
}"""


class Sample(Struct, frozen=True):
    """What one kind of interaction took, each time that it was tried."""

    paints: list[float]
    """Milliseconds until the next paint, of those that took 16 or more."""
    cpu: list[float]
    """Milliseconds of CPU time of the page's main thread, with all that follows from the interaction."""
    shown: list[float]
    """Milliseconds until the content was there, where the interaction leads to another page."""

    def describe(self) -> str:
        paint = (
            f"{len(self.paints)} of 16 ms or more: median {statistics.median(self.paints):.0f}, "
            f"longest {max(self.paints):.0f}"
            if self.paints
            else "all below 16 ms"
        )
        shown = f"; shown after {statistics.median(self.shown):.0f} ms" if self.shown else ""
        return f"{paint}; CPU {statistics.median(self.cpu):.0f} ms{shown}"


Samples = dict[str, Sample]


async def prepare_mail(system: System) -> str:
    """Make a run with a mail, and return its id."""
    await system.request("POST", "/v1/integrations", {"providerId": "svc-email", "channel": "email", "active": True})
    await ensure_workflow(system, MAIL_WORKFLOW, [_MAIL])
    to = {"subscriberId": "mail-reader", "email": "reader@example.com"}
    await system.request("POST", "/v1/events/trigger", {"name": MAIL_WORKFLOW, "to": to})
    async with asyncio.timeout(30):
        while True:
            runs = await system.request("GET", f"/v1/runs?workflowId={MAIL_WORKFLOW}&status=completed")
            if runs["data"]:
                run: str = runs["data"][0]["_id"]
                return run
            await asyncio.sleep(0.1)


async def interact(window: Window, mail_run: str) -> Samples:
    """Do everything a few times."""
    samples: Samples = {}
    for _ in range(_ROUNDS):
        await _use_list(window, samples)
        await _use_run(window, samples, mail_run)
    return samples


def describe(samples: Mapping[str, Sample], when: str) -> list[tuple[str, str]]:
    return [(f"{name}, {when}", sample.describe()) for name, sample in samples.items()]


async def _use_list(window: Window, samples: Samples) -> None:
    page = window.page
    await window.open("/activity")
    await page.get_by_text("Live", exact=True).wait_for()
    await asyncio.sleep(_SETTLED)
    for label, text in (("Transaction", "order-1234"), ("Workflow", WORKFLOW)):
        await page.get_by_label(label).click()
        async with _measured(window, samples, "typing into filters"):
            await page.get_by_label(label).press_sequentially(text, delay=80)
        await page.get_by_label(label).fill("")
        await page.keyboard.press("Escape")
    await page.locator("h1").click()
    for name in ("pausing", "resuming"):
        async with _measured(window, samples, name):
            await page.keyboard.press("p")
    async with _measured(window, samples, "opening the palette"):
        await page.keyboard.press("Control+k")
        await page.get_by_role("dialog", name="Search, jump and act").wait_for()
    await page.keyboard.press("Escape")
    await page.keyboard.press("p")
    await asyncio.sleep(_SETTLED)
    async with _measured(window, samples, "opening a row", shown=".run"):
        await page.locator(".activity-runs tbody tr").nth(3).locator("td").first.click()


async def _use_run(window: Window, samples: Samples, run: str) -> None:
    page = window.page
    await window.show(f"/activity/{run}", ".run-message")
    async with _measured(window, samples, "opening a message"):
        await page.locator(".run-message summary").first.click()
        await page.get_by_role("tab", name=_TABS[0]).wait_for()
    for name in _TABS:
        async with _measured(window, samples, "switching tabs of a message"):
            await page.get_by_role("tab", name=name, exact=True).click()


@asynccontextmanager
async def _measured(window: Window, samples: Samples, name: str, *, shown: str | None = None) -> AsyncIterator[None]:
    page: Page = window.page
    if shown is not None:
        await page.evaluate(_WATCH_SHOWN, shown)
    await window.take_measured()
    before = await window.main_thread_seconds()
    yield
    took: Sequence[float] = [] if shown is None else [await page.evaluate("window.shown")]
    await asyncio.sleep(_SETTLED)
    used = await window.main_thread_seconds() - before
    sample = samples.setdefault(name, Sample([], [], []))
    sample.paints.extend((await window.take_measured()).interactions)
    sample.cpu.append(1000 * used)
    sample.shown.extend(took)
