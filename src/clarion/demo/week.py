"""Runs the week: sets the company up, makes the triggers, and runs the engine whenever something is due."""

import heapq
import random
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any
from urllib.parse import urlencode

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis, iso_text
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.demo import company, mails, people
from clarion.demo.api import DemoApi
from clarion.demo.events import SEED, Cancel, DemoTrigger, Event, Visit, list_events
from clarion.demo.texts import LAYOUT, list_translations
from clarion.demo.vendors import SentThrough, Vendors
from clarion.demo.workflows import ORDER_SHIPPED, WORKFLOWS, first_version_of_shipped
from clarion.ids import EnvironmentId
from clarion.providers.signing.signatures import hmac_base64
from clarion.secret import Secret

_NEXT_DUE = sql("""
    SELECT MIN(at) AS at FROM (
        SELECT MIN(due_at) AS at FROM jobs WHERE environment_id = :environment_id AND queue IS NOT NULL
        UNION ALL
        SELECT MIN(due_at) FROM webhook_deliveries WHERE environment_id = :environment_id AND status = 'queued'
        UNION ALL
        SELECT MIN(snoozed_until) FROM messages WHERE environment_id = :environment_id AND snoozed_until IS NOT NULL
    ) AS next
""")
_PATIENCE = 5 * SECOND
"""How long to wait for work that is due and cannot be done yet, such as while a circuit breaker is open."""

Action = Callable[[], Awaitable[None]]


class Week:
    """A clock that moves through the week, and what happens on the way."""

    def __init__(
        self, database: Database, environment_id: EnvironmentId, *, api: DemoApi, drain: Action, vendors: Vendors
    ) -> None:
        self._database = database
        self._environment_id = environment_id
        self._api = api
        self._drain = drain
        self._vendors = vendors
        self._clock = vendors.clock
        self._random = random.Random(SEED)  # noqa: S311 - not a secret
        self._numbers = count()
        self._coming: list[tuple[Millis, int, Action]] = []
        self._integration_ids: dict[str, str] = {}
        self._receipt_urls: dict[str, str] = {}
        self._webhook_id = ""

    async def run_until(self, until: Millis) -> None:
        """Everything from the first day to this moment."""
        await self._set_up()
        for event in list_events(until):
            self._plan(event.at, self._make_action(event))
        self._plan(Millis(until - 2 * DAY - 12 * HOUR), self._change_shipping)
        while self._coming and self._coming[0][0] < until:
            at, _, action = heapq.heappop(self._coming)
            await self._work_until(at)
            await action()
            await self._work()
        await self._work_until(until)
        await self._switch_to_outboxes()
        await self._work()

    def _plan(self, at: Millis, action: Action) -> None:
        heapq.heappush(self._coming, (at, next(self._numbers), action))

    async def _work_until(self, moment: Millis) -> None:
        """Do what is due before the moment, each at its time."""
        while (due := await self._find_next_due()) is not None:
            now = self._clock.now()
            at = due if due > now else Millis(now + _PATIENCE)
            if at >= moment:
                break
            self._clock.move(at - now)
            await self._work()
        self._clock.move(max(0, moment - self._clock.now()))

    async def _find_next_due(self) -> Millis | None:
        ids = {"environment_id": self._environment_id}
        row = await self._database.read(lambda db: db.fetch_one(_NEXT_DUE, **ids))
        return None if row is None else row["at"]

    async def _work(self) -> None:
        await self._drain()
        taken, self._vendors.sent = self._vendors.sent, []
        for one in taken:
            self._plan_receipts(one)

    async def _set_up(self) -> None:
        await self._api.post("/v1/subscribers/bulk", {"subscribers": people.PEOPLE})
        for key, (name, members) in people.TOPICS.items():
            await self._api.post("/v2/topics", {"key": key, "name": name})
            await self._api.post(f"/v2/topics/{key}/subscriptions", {"subscriberIds": members})
        for account in company.VENDORS:
            made = await self._api.post("/v1/integrations", account)
            self._integration_ids[account["providerId"]] = made["_id"]
        for provider in ("postmark", "twilio"):
            found = await self._api.get(f"/v1/integrations/{self._integration_ids[provider]}/receipts-address")
            self._receipt_urls[provider] = found["url"]
        await self._set_up_layout()
        for workflow in WORKFLOWS:
            first = first_version_of_shipped() if workflow is ORDER_SHIPPED else workflow
            await self._api.post("/v2/workflows", {"active": True, **first})
        for translation in list_translations():
            await self._api.post("/v2/translations", translation)
        self._webhook_id = (await self._api.post("/v1/webhooks/endpoints", company.WEBHOOK))["_id"]
        await self._set_up_people()

    async def _set_up_layout(self) -> None:
        named = {"name": "Larkspur", "isTranslationEnabled": True}
        await self._api.post("/v2/layouts", {"layoutId": LAYOUT, **named})
        values = {"email": {"editorType": "html", "body": mails.LAYOUT}}
        await self._api.put(f"/v2/layouts/{LAYOUT}", {**named, "controlValues": values})

    async def _set_up_people(self) -> None:
        for key, tokens in people.DEVICES.items():
            await self._give_credentials(key, "one-signal", {"deviceTokens": tokens})
        for key, url in people.CHAT_URLS.items():
            await self._give_credentials(key, "slack", {"webhookUrl": url})
        for key, changes in people.PREFERENCES.items():
            for change in changes:
                await self._api.patch(f"/v2/subscribers/{key}/preferences", change)
        for key, schedule in people.SCHEDULES.items():
            await self._api.patch(f"/v2/subscribers/{key}/preferences", {"schedule": schedule})
        for address in company.SUPPRESSED:
            await self._api.post("/v1/suppressions", address)

    async def _give_credentials(self, key: str, provider: str, credentials: dict[str, Any]) -> None:
        body = {"providerId": provider, "credentials": credentials}
        await self._api.put(f"/v1/subscribers/{key}/credentials", body)

    async def _change_shipping(self) -> None:
        """The text for express parcels is new since some days: a second version."""
        await self._api.put(f"/v2/workflows/{ORDER_SHIPPED['workflowId']}", {"active": True, **ORDER_SHIPPED})

    def _make_action(self, event: Event) -> Action:
        match event:
            case DemoTrigger():
                return lambda: self._trigger(event)
            case Cancel():
                return lambda: self._api.delete(f"/v1/events/trigger/{event.transaction}")
            case Visit():
                return lambda: self._visit(event.person)

    async def _trigger(self, event: DemoTrigger) -> None:
        body = {
            "name": event.workflow,
            "to": event.to,
            "transactionId": event.transaction,
            "payload": event.payload,
            **({} if event.actor is None else {"actor": event.actor}),
        }
        await self._api.post("/v1/events/trigger", body)

    async def _visit(self, person: str) -> None:
        """See everything, read most of it, archive some, and put one off until tomorrow now and then."""
        path = f"/v2/subscribers/{person}/notifications"
        page = await self._api.get(f"{path}?limit=20")
        await self._api.call("POST", f"{path}/seen", b"{}")
        for message in page["data"]:
            choice = self._random.random()
            if choice < 0.1:
                await self._api.call("PATCH", f"{path}/{message['id']}/archive")
            elif choice < 0.65:
                await self._api.call("PATCH", f"{path}/{message['id']}/read")
            elif choice < 0.7:
                moment = iso_text(Millis(self._clock.now() + 18 * HOUR))
                await self._api.patch(f"{path}/{message['id']}/snooze", {"snoozeUntil": moment})

    def _plan_receipts(self, sent: SentThrough) -> None:
        """What the vendor reports about a message that it took."""
        now, minutes = self._clock.now(), self._random.randint(12, 540)
        soon = Millis(now + self._random.randint(4 * SECOND, 80 * SECOND))
        if sent.provider_id == "twilio":
            fate = {"MessageStatus": "delivered"}
            if sent.to == company.LANDLINE:
                fate = {"MessageStatus": "undelivered", "ErrorCode": "30006"}
            self._plan(soon, lambda: self._report_twilio({"MessageSid": sent.id, "To": sent.to, **fate}))
            return
        report = {"MessageID": sent.id, "Recipient": sent.to}
        if sent.to in company.BOUNCING:
            text = "The server was unable to deliver your message (ex: unknown user, mailbox not found)."
            bounce = {"RecordType": "Bounce", "Type": "HardBounce", "Email": sent.to, "Description": text}
            self._plan(soon, lambda: self._report_postmark(report | bounce, "BouncedAt"))
            return
        self._plan(soon, lambda: self._report_postmark(report | {"RecordType": "Delivery"}, "DeliveredAt"))
        if self._random.random() < 0.45:
            opened = Millis(now + minutes * MINUTE)
            self._plan(opened, lambda: self._report_postmark(report | {"RecordType": "Open"}, "ReceivedAt"))
            if self._random.random() < 0.4:
                clicked = Millis(opened + 20 * SECOND)
                self._plan(clicked, lambda: self._report_postmark(report | {"RecordType": "Click"}, "ReceivedAt"))

    async def _report_postmark(self, report: dict[str, Any], time_field: str) -> None:
        await self._api.post(self._receipt_urls["postmark"], report | {time_field: iso_text(self._clock.now())})

    async def _report_twilio(self, report: dict[str, str]) -> None:
        url = self._receipt_urls["twilio"]
        signed = url + "".join(f"{name}{value}" for name, value in sorted(report.items()))
        signature = hmac_base64(Secret(company.TWILIO_TOKEN), signed.encode(), "sha1")
        headers = {"content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature}
        await self._api.call("POST", url, urlencode(report).encode(), headers=headers)

    async def _switch_to_outboxes(self) -> None:
        """From now on nothing leaves the machine: made-up accounts are switched off, outboxes take over."""
        for account in company.OUTBOXES:
            made = await self._api.post("/v1/integrations", account)
            await self._api.post(f"/v1/integrations/{made['_id']}/set-primary", {})
        for account in company.VENDORS:
            name = company.SWITCHED_OFF.format(name=account["name"])
            path = f"/v1/integrations/{self._integration_ids[account['providerId']]}"
            await self._api.put(path, {"active": False, "name": name})
        await self._api.patch(f"/v1/webhooks/endpoints/{self._webhook_id}", {"active": False})
