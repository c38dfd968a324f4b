"""Suppressed addresses: listed, added by hand, cleared, and found when sending."""

from typing import Any

from clarion.clock import SECOND, ManualClock, Millis
from clarion.db.port import Database
from clarion.sending.suppressions.model import Suppression, SuppressionReason
from clarion.sending.suppressions.store import insert_suppressions, list_suppressed
from clarion.vocabulary import Channel, Scope
from tests.records import NOW
from tests.support import Api, MakeApi


async def suppress(api: Api, address: str, channel: str = "email", **fields: Any) -> dict[str, Any]:
    response = await api.post("/v1/suppressions", json={"channel": channel, "address": address, **fields})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def addresses(api: Api, **query: Any) -> list[str]:
    response = await api.get("/v1/suppressions", params=query)
    assert response.status_code == 200, response.text
    return [one["address"] for one in response.json()["data"]]


async def test_an_address_is_added_by_hand(api: Api) -> None:
    made = await suppress(api, "Ada@Example.org", detail="Asked for it by letter")

    assert made == {
        "_environmentId": (await api.get("/v1/environments/me")).json()["_id"],
        "channel": "email",
        "address": "ada@example.org",
        "reason": "manual",
        "detail": "Asked for it by letter",
        "createdAt": "2026-01-01T00:00:00.000Z",
    }


async def test_an_address_that_is_suppressed_already_stays_as_it_is(api: Api, database: Database) -> None:
    bounced = Suppression(
        environment_id=api.environment.id,
        channel=Channel.EMAIL,
        address="ada@example.org",
        reason=SuppressionReason.BOUNCED,
        created_at=NOW,
    )
    await database.transaction(lambda db: insert_suppressions(db, [bounced, bounced]))

    made = await suppress(api, "ada@example.org")

    assert made["reason"] == "bounced"
    assert await addresses(api) == ["ada@example.org"]


async def test_addresses_are_listed_newest_first_in_pages(api: Api, clock: ManualClock) -> None:
    for number in range(5):
        await suppress(api, f"p{number}@example.org")
        clock.move(SECOND)

    first = (await api.get("/v1/suppressions", params={"limit": 2})).json()
    last = (await api.get("/v1/suppressions", params={"limit": 2, "page": 2})).json()

    assert ([one["address"] for one in first["data"]], first["hasMore"]) == (["p4@example.org", "p3@example.org"], True)
    assert ([one["address"] for one in last["data"]], last["hasMore"]) == (["p0@example.org"], False)


async def test_the_list_is_narrowed_by_channel_address_and_reason(api: Api, database: Database) -> None:
    await suppress(api, "ada@example.org")
    await suppress(api, "+44 20 7946 0000", "sms")
    complained = Suppression(
        environment_id=api.environment.id,
        channel=Channel.EMAIL,
        address="bob@example.org",
        reason=SuppressionReason.COMPLAINED,
        created_at=Millis(NOW + 1),
    )
    await database.transaction(lambda db: insert_suppressions(db, [complained]))

    assert await addresses(api, channel="email") == ["bob@example.org", "ada@example.org"]
    assert await addresses(api, reason="complained") == ["bob@example.org"]
    assert await addresses(api, channel="sms", address="0044 20 79460000") == ["442079460000"]
    assert (await api.get("/v1/suppressions", params={"address": "x"})).status_code == 422
    assert (await api.get("/v1/suppressions", params={"page": 1_000_000})).status_code == 422


async def test_an_address_is_cleared_in_any_spelling(api: Api) -> None:
    await suppress(api, "ada@example.org")

    cleared = await api.delete("/v1/suppressions/email/ADA%40example.org")
    again = await api.delete("/v1/suppressions/email/ada%40example.org")
    odd = await api.delete("/v1/suppressions/pigeon/ada")

    assert [one.status_code for one in (cleared, again, odd)] == [204, 404, 404]
    assert await addresses(api) == []


async def test_what_cannot_be_written_to_is_refused(api: Api) -> None:
    for channel, address in (("email", "ada"), ("sms", "none"), ("push", "token"), ("in_app", "ada")):
        response = await api.post("/v1/suppressions", json={"channel": channel, "address": address})
        assert response.status_code == 422, (channel, address)


async def test_whoever_sends_learns_which_addresses_are_suppressed(
    api: Api, other_api: Api, database: Database
) -> None:
    await suppress(api, "ada@example.org")
    await suppress(api, "+442079460000", "sms")
    asked = [
        (Channel.EMAIL, "Ada@Example.org"),
        (Channel.EMAIL, "bob@example.org"),
        (Channel.SMS, "0044 20 7946 0000"),
        (Channel.EMAIL, "442079460000"),
    ]

    found = await database.read(lambda db: list_suppressed(db, api.environment.id, asked))
    theirs = await database.read(lambda db: list_suppressed(db, other_api.environment.id, asked))
    nobody = await database.read(lambda db: list_suppressed(db, api.environment.id, []))

    assert found == {asked[0]: "manual", asked[2]: "manual"}
    assert theirs == nobody == {}


async def test_reading_and_changing_take_their_scopes(make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.MESSAGES_READ}))

    assert (await reader.get("/v1/suppressions")).status_code == 200
    body = {"channel": "email", "address": "ada@example.org"}
    assert (await reader.post("/v1/suppressions", json=body)).status_code == 403
