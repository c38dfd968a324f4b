"""What happens at Larkspur Cycles in a week: triggers, canceled bookings, and visits of people to their inbox.

The same moment always has the same events.
"""

import random
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis, iso_text
from clarion.demo import company, people
from clarion.demo.company import WEBHOOK_HOST
from clarion.demo.vendors import POSTMARK_HOST, TWILIO_HOST, Outage

WEEK = Millis(7 * DAY)
SEED = 20_260_413

# How long before the end.
_NEWSLETTER = 5 * DAY
_MAIL_GLITCH = 4 * DAY + 7 * HOUR
_MAIL_OUTAGE = 3 * DAY + 4 * HOUR
_TEXT_OUTAGE = DAY + 2 * HOUR


class DemoTrigger(Struct, frozen=True, kw_only=True):
    at: Millis
    workflow: str
    to: Any
    transaction: str
    payload: dict[str, Any]
    actor: str | None = None


class Cancel(Struct, frozen=True, kw_only=True):
    at: Millis
    transaction: str


class Visit(Struct, frozen=True, kw_only=True):
    """Somebody opens their inbox, and reads, archives or puts off some of it."""

    at: Millis
    person: str


Event = DemoTrigger | Cancel | Visit


def list_outages(until: Millis) -> list[Outage]:
    """When vendors do not answer as they should.

    Postmark is down for most of an hour, and once for less than a minute; Twilio has too much to do for some minutes;
    the shop's own webhook fails just when the newsletter is sent.
    """
    return [
        _outage(POSTMARK_HOST, until - _MAIL_OUTAGE, 50 * MINUTE),
        _outage(POSTMARK_HOST, until - _MAIL_GLITCH, 70 * SECOND),
        _outage(TWILIO_HOST, until - _TEXT_OUTAGE, 4 * MINUTE),
        _outage(WEBHOOK_HOST, until - _NEWSLETTER, 12 * MINUTE),
    ]


def list_events(until: Millis) -> list[Event]:
    """Everything that happens in the week that ends at this moment, in order."""
    week = _Events(until)
    # In this order: they draw from one generator.
    events = [
        *week.newcomers(),
        *week.orders(),
        *week.payments(),
        *week.codes(),
        *week.comments(),
        *week.stock(),
        *week.bookings(),
        *week.newsletter(),
        *week.visits(),
    ]
    return sorted((event for event in events if until - WEEK <= event.at < until), key=lambda event: event.at)


class _Events:
    def __init__(self, until: Millis) -> None:
        self._until = until
        self._random = random.Random(SEED)  # noqa: S311 - not a secret

    def newcomers(self) -> Iterator[Event]:
        """People who joined, some with a bike in their account already."""
        joined = ("sara", "ken", "bohdan", "lucia", "kwame", "ruby", "chloe", "lan", "arjun", "ines")
        for number, person in enumerate(joined):
            at = self._ago(6 * DAY + 5 * HOUR - number * 15 * HOUR)
            payload = {"hasBike": number % 3 == 0}
            yield DemoTrigger(at=at, workflow="welcome", to=person, transaction=f"welcome-{person}", payload=payload)

    def orders(self) -> Iterator[Event]:
        """Orders, most of which are shipped a day later."""
        moments = [*self._moments(74), *(self._ago(one * MINUTE) for one in (2, 7, 19, 48)), self._ago(_MAIL_GLITCH)]
        # While the mail provider is down.
        moments += [self._ago(_MAIL_OUTAGE - one * MINUTE) for one in (3, 11, 16)]
        for number, at in enumerate(sorted(moments), 10_412):
            person = self._random.choice(people.CUSTOMER_KEYS)
            name = f"LC-{number}"
            payload = {"orderNumber": name, **self._basket()}
            key = f"order-{number}"
            yield DemoTrigger(
                at=at, workflow="order-confirmed", to=person, transaction=f"{key}-confirmed", payload=payload
            )
            later = Millis(at + self._random.randint(14 * HOUR, 30 * HOUR))
            shipped = {
                "orderNumber": name,
                "carrier": self._random.choice(("dhl", "ups", "postnord")),
                "tracking": f"{self._random.randrange(10**9, 10**10)}",
                "eta": self._random.choice(("tomorrow", "on Thursday", "in two days")),
                "express": self._random.random() < 0.35,
            }
            yield DemoTrigger(
                at=later, workflow="order-shipped", to=person, transaction=f"{key}-shipped", payload=shipped
            )

    def payments(self) -> Iterator[Event]:
        """Two of them while the mail provider is down."""
        while_down_and_now = (_MAIL_OUTAGE - 6 * MINUTE, _MAIL_OUTAGE - 21 * MINUTE, 26 * MINUTE)
        moments = [
            self._ago(one) for one in (*(hours * HOUR for hours in (139, 118, 93, 61, 44, 21)), *while_down_and_now)
        ]
        payers = ("thomas", "jonas", "mateo", "olena", "marcus", "giulia", "harriet", "amelia", "zanele")
        for number, (person, at) in enumerate(zip(payers, moments, strict=True), 871):
            payload = {
                "invoice": f"INV-{number}",
                "amount": self._random.choice((49, 129, 240, 1890)),
                "reason": self._random.choice(("your club membership", "order LC-10397", "a repair")),
                "keptUntil": iso_text(Millis(at + 7 * DAY)),
            }
            yield DemoTrigger(
                at=at, workflow="payment-failed", to=person, transaction=f"payment-{number}", payload=payload
            )

    def codes(self) -> Iterator[Event]:
        """Second factors; some people have no phone, and one has a number that is none."""
        with_phones = [one["subscriberId"] for one in people.PEOPLE if "phone" in one]
        moments = [*self._moments(34), *(self._ago(_TEXT_OUTAGE - one * MINUTE) for one in (1, 2))]
        asking = [self._random.choice(with_phones) for _ in moments]
        asking[3], asking[9], asking[14] = "lan", "naomi", "naomi"
        for number, (person, at) in enumerate(zip(asking, moments, strict=True), 1):
            payload = {"code": f"{self._random.randrange(10**6):06d}"}
            yield DemoTrigger(
                at=at, workflow="sign-in-code", to=person, transaction=f"code-{number:04d}", payload=payload
            )

    def comments(self) -> Iterator[Event]:
        """Threads of the community, with several comments within an hour; one of them goes on right now."""
        number = 0
        for thread, title, followers, begins in company.THREADS:
            at = self._ago(begins)
            for author, text in company.COMMENTS[thread]:
                number += 1
                others = [one for one in followers if one != author]
                payload = {"thread": thread, "threadTitle": title, "author": _first_name(author), "text": text}
                transaction = f"comment-{number:03d}"
                yield DemoTrigger(
                    at=at, workflow="new-comment", to=others, transaction=transaction, payload=payload, actor=author
                )
                at = Millis(at + self._random.randint(4 * MINUTE, 17 * MINUTE))

    def stock(self) -> Iterator[Event]:
        """The same part is often low several times in four hours."""
        for number, at in enumerate(self._moments(5)):
            part = company.PARTS[number % len(company.PARTS)]
            for times in range(3):
                again = Millis(at + times * 55 * MINUTE)
                payload = {"part": part, "left": 6 - 2 * times}
                to = {"type": "Topic", "topicKey": "workshop-team"}
                transaction = f"stock-{number}-{times}"
                yield DemoTrigger(at=again, workflow="stock-alert", to=to, transaction=transaction, payload=payload)

    def bookings(self) -> Iterator[Event]:
        """Appointments: of the reminders some were sent, some wait, and two are canceled."""
        for number, at in enumerate(self._moments(10), 301):
            person = self._random.choice(people.CLUB_KEYS)
            appointment = Millis((at + self._random.randint(2, 9) * DAY) // HOUR * HOUR)
            transaction = f"booking-{number}"
            payload = {
                "booking": f"B-{number}",
                "bike": self._random.choice(company.BIKES),
                "shop": self._random.choice(("Berlin", "Leeds", "Lyon", "Seoul")),
                "appointment": iso_text(appointment),
                "remindAt": iso_text(Millis(appointment - DAY)),
            }
            yield DemoTrigger(at=at, workflow="service-reminder", to=person, transaction=transaction, payload=payload)
            if number in (303, 308):
                yield Cancel(at=Millis(at + 5 * HOUR), transaction=transaction)

    def newsletter(self) -> Iterator[Event]:
        to = {"type": "Topic", "topicKey": "newsletter"}
        yield DemoTrigger(
            at=self._ago(_NEWSLETTER),
            workflow="newsletter",
            to=to,
            transaction="newsletter-15",
            payload=company.NEWSLETTER,
        )

    def visits(self) -> Iterator[Event]:
        for person in people.KEYS:
            for _ in range(self._random.choice((0, 1, 2, 3, 4))):
                yield Visit(at=self._moment(), person=person)
        yield Visit(at=self._ago(12 * MINUTE), person="ada")

    def _basket(self) -> dict[str, Any]:
        items = self._random.sample(company.ITEMS, self._random.randint(1, 3))
        lines = [(name, 1 if price > 100 else self._random.randint(1, 3), price) for name, price in items]
        return {
            "items": [{"name": name, "quantity": quantity, "price": price} for name, quantity, price in lines],
            "total": sum(quantity * price for _, quantity, price in lines),
        }

    def _moments(self, count: int) -> list[Millis]:
        return sorted(self._moment() for _ in range(count))

    def _moment(self) -> Millis:
        """Some time of the week, rather in the day than in the night of UTC."""
        while True:
            at = self._ago(self._random.randint(20 * MINUTE, WEEK - HOUR))
            if 6 <= at % DAY // HOUR < 22 or self._random.random() < 0.15:
                return at

    def _ago(self, length: int) -> Millis:
        """A moment before the end, with seconds that are not round."""
        return Millis(self._until - length + self._random.randint(1, 50 * SECOND))


def _outage(host: str, begins: int, length: int) -> Outage:
    return Outage(host, Millis(begins), Millis(begins + length))


def _first_name(key: str) -> str:
    return next(str(one["firstName"]) for one in people.PEOPLE if one["subscriberId"] == key)
